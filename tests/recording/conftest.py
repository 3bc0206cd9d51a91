"""Fixtures of the tests of recording."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger_cases import small_ledger
from recorder_cases import world
from trial_ledger.book import Ledger


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with frozen documents, open for recording."""
    with small_ledger(tmp_path, world=world(tmp_path)) as ledger:
        yield ledger
