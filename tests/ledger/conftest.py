"""One ledger with everything in it, made once, and copies of it to do harm to."""

from pathlib import Path

import pytest

from ledger_cases import copied, full_ledger


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a closed ledger of 128 events; its owner's head pin lies in the same folder."""
    folder = tmp_path_factory.mktemp("honest")
    with full_ledger(folder) as ledger:
        return ledger.store.path


@pytest.fixture
def victim(honest: Path, tmp_path: Path) -> Path:
    """Return a copy of the honest ledger to do harm to."""
    return copied(honest, tmp_path / "victim")
