"""Rubrics that declare official grading as the pins have it."""

from document_cases import Table, rubric_table
from trial_ledger.documents.official_pins import PINS

UNREAD = "cd" * 32
"""What an author states of a file that the pin never saw."""


def section(pinned: str, **changes: object) -> Table:
    """Return the section `official` that a pin asks for, with changes."""
    pin = PINS[pinned]
    table: Table = {
        "benchmark": pin.benchmark,
        "grader": pinned,
        "repository": pin.repository,
        "commit": pin.commit,
        "digests": {name: digest or UNREAD for name, digest in pin.files.items()},
    }
    return {**table, **changes}


def official_table(grader: str = "squad-1.1@1", **changes: object) -> Table:
    """Return a rubric of a benchmark whose grader is code, with changes."""
    metrics = {"correct": {"measure": "fact.correctness", "grader": grader}}
    return rubric_table(**{"metrics": metrics, "official": section(grader), **changes})
