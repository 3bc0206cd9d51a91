"""No single flipped bit changes what a ledger says without being found."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from flip_cases import Flip, every_flip, outcome, outcomes, said_by, tiny_ledger
from trial_ledger import checking, verification

IS_SOAK = os.environ.get("LEDGER_SOAK") == "1"
STEP = 1 if IS_SOAK else 613
"""Every so many-th bit: a prime, so that every bit of a byte is hit."""
LEAST = 90_000
"""As many bits must the files have."""


@pytest.mark.soak
def test_no_flipped_bit_changes_what_is_said(tmp_path: Path) -> None:
    """Each is found by both verifiers, or refused, or lies where nothing is said."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    path = tiny_ledger(folder)
    flips = every_flip(path, STEP)
    assert len(every_flip(path)) >= LEAST
    counts = outcomes(path, flips, workers=os.cpu_count() or 1 if IS_SOAK else 1)
    print(f"{len(flips)} flips", dict(counts))  # noqa: T201 - figures of a soak
    wrong = [what for _, what in counts if what.startswith(("MISSED", "DIFFER"))]
    assert wrong == []
    by_outcome: Counter[str] = Counter()
    for (_, what), count in counts.items():
        by_outcome[what.partition(":")[0]] += count
    assert sum(by_outcome.values()) == len(flips)
    assert by_outcome["found"] + by_outcome["refused"] > len(flips) // 3
    assert by_outcome["slack"] > 0


def test_every_bit_of_a_note_counts(tmp_path: Path) -> None:
    """Not one bit of a signed head beside the ledger can change."""
    path = tiny_ledger(tmp_path)
    honest = said_by(path)
    flips = [flip for flip in every_flip(path) if flip.file == "note"]
    step = 1 if IS_SOAK else 29
    assert {outcome(path, flip, honest) for flip in flips[::step]} == {"found"}


def in_column(path: Path) -> Flip:
    """Return a bit of a column that says the kind, which its document says too."""
    content = path.read_bytes()
    place = next(
        found.start()
        for found in re.finditer(b"note.added", content)
        if content[found.end() : found.end() + 1] != b'"'
    )
    return Flip("ledger", place, 0)


def test_a_verifier_that_does_not_look_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a check taken out of the first, the second differs: neither hides the other's gap."""
    path = tiny_ledger(tmp_path)
    honest = said_by(path)
    column = in_column(path)
    assert outcome(path, column, honest) == "found"
    with monkeypatch.context() as blind:
        blind.setattr(checking, "is_as_said", lambda *_: True)
        blind.setattr(verification, "check_database", lambda *_: None)
        assert outcome(path, column, honest).startswith("DIFFER: intact, [")
