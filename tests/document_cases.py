"""Complete documents for tests to change in one place, and how to get at the faults."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trial_ledger.documents.outcomes import (
    UNDECIDED,
    default_failure_outcomes,
    default_outcomes,
)
from trial_ledger.errors import InvalidInputError, Problem

Table = dict[str, Any]


def problems_of(call: Callable[[], object]) -> tuple[Problem, ...]:
    """Return the faults with which a call refuses its input."""
    with pytest.raises(InvalidInputError) as caught:
        call()
    return caught.value.problems


def fields_of(call: Callable[[], object]) -> set[str | None]:
    """Return the fields that a call refuses."""
    return {problem.field for problem in problems_of(call)}


def outcome_table() -> Table:
    """Return the usual outcome policy as a rubric writes it."""
    table: Table = {"failures": default_failure_outcomes()}
    for name, rule in default_outcomes().items():
        if rule.denominator:
            table[name] = {"score": rule.score or UNDECIDED, "retryable": rule.retryable}
        else:
            table[name] = {"denominator": False}
    return table


def rubric_table(**changes: object) -> Table:
    """Return a small valid rubric with these fields changed; None takes one away."""
    table: Table = {
        "name": "quality",
        "version": "1",
        "primary": "correct",
        "metrics": {"correct": {"measure": "fact.correctness"}},
        "outcomes": outcome_table(),
        "review": {"seed": "seven"},
    }
    return changed(table, changes)


def manifest_table(**changes: object) -> Table:
    """Return a small valid manifest with these fields changed; None takes one away."""
    table: Table = {
        "configuration": "local",
        "phase": "final",
        "dataset": "example@1",
        "rubric": "quality@1",
        "repetitions": 2,
        "agent": {"kind": "external", "target": "my harness"},
        "models": {"main": {"name": "m", "endpoint": "model"}},
        "endpoints": {"model": {"url": "http://127.0.0.1:8080/v1", "key_env": "MODEL_KEY"}},
    }
    return changed(table, changes)


def question_record(**changes: object) -> Table:
    """Return a valid fact question with these fields changed; None takes one away."""
    table: Table = {
        "id": "q1",
        "question": "Which town is meant?",
        "task_shape": "fact",
        "as_of": "2026-10-01",
        "gold": {
            "answer": "Samarkand",
            "evidence": [{"url": "https://example.org/a", "verified_at": "2026-10-02"}],
        },
    }
    return changed(table, changes)


def changed(table: Table, changes: dict[str, object]) -> Table:
    """Return the table with fields replaced, or removed where the change is None."""
    merged = {**table, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def real_data(path: str) -> bytes:
    """Return a file of the real evaluation records, skipping the test where they are absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    root = Path(os.environ.get("LEDGER_REAL_DATA", beside))
    file = root / path
    if not file.is_file():
        pytest.skip(f"real evaluation records are not here: set LEDGER_REAL_DATA ({path})")
    return file.read_bytes()
