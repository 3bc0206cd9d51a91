"""The ledger that the guards are asked in; nothing is ever appended to it."""

from collections.abc import Iterator

import pytest

from guard_cases import guards_ledger
from trial_ledger.book import Ledger


@pytest.fixture(scope="session")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """Return a ledger with frozen documents and no run."""
    with guards_ledger(tmp_path_factory.mktemp("guards")) as ledger:
        yield ledger
