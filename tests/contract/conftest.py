"""Fixtures of the contract's tests: commands in this process, and a ledger beside them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_cases import Here
from projection_cases import Log


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """Run commands in this process, in a folder of their own."""
    return Here(tmp_path, monkeypatch, capsys)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A ledger with frozen documents and an empty live run, beside which commands run."""
    made = Log(tmp_path, entry="live")
    yield made
    made.ledger.close()
