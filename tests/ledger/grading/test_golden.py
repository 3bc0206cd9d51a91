"""What each grader decides about fixed answers, for ever.

`golden/graders.json` and `golden/official_graders.json` were written once. A failing test here
means that a grader now decides, counts or explains otherwise than judgments that stand in ledgers
under its name and version. That is another version: `NAME@2` beside `NAME@1`, with rows of its own;
rows are added and never changed.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grading_cases import graded
from trial_ledger.grading import facts
from trial_ledger.grading.graders import GRADERS

FOLDER = Path(__file__).parents[1] / "golden"
ROWS = (FOLDER / "graders.json", FOLDER / "official_graders.json")
Row = dict[str, Any]

FEWEST = 12
"""Rows of a grader."""


@cache
def golden() -> dict[str, list[Row]]:
    """Return the rows of every grader."""
    found: dict[str, list[Row]] = {}
    for file in ROWS:
        found |= json.loads(file.read_bytes())
    return found


def decided(name: str, row: Row) -> Row:
    """Return what a grader decides about the answer of a row."""
    settings = dict(row["settings"])
    if "judged" in settings:
        settings["judged"] = {int(place): label for place, label in settings["judged"].items()}
    grade = graded(name, row["gold"], row["answer"], row["measure"], **settings)
    found: Row = msgspec.to_builtins(grade)
    found["parts"] = [
        {key: value for key, value in part.items() if value is not None} for part in found["parts"]
    ]
    return found


def differences(name: str) -> list[tuple[Row, Row]]:
    """Return the rows about which a grader decides otherwise, with what it decides."""
    found = [(row, decided(name, row)) for row in golden()[name]]
    return [(row, grade) for row, grade in found if grade != row["grade"]]


def test_every_grader_has_its_rows() -> None:
    """No grader is without a record of what it decides, and no record without its grader."""
    assert set(golden()) == set(GRADERS)
    assert min(map(len, golden().values())) >= FEWEST


@pytest.mark.parametrize("name", sorted(GRADERS))
def test_c28_a_version_decides_for_ever_the_same(name: str) -> None:
    """Verdict, score, parts and reasoning are those of the first day."""
    assert differences(name) == []


def test_a_changed_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader that found words inside longer words would be another version."""
    monkeypatch.setattr(facts, "joins", lambda _text, _place: False)
    rows = differences("includes@1")
    assert {row["answer"] for row, _ in rows} == {"usable", "11 things", "1,5"}
    assert differences("normalised-match@1") == []
