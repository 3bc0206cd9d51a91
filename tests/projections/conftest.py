"""Fixtures of the projections' tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from projection_cases import Log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A ledger with frozen documents and an empty run."""
    made = Log(tmp_path)
    yield made
    made.ledger.close()
