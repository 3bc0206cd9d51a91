"""The page about graders: its options are those that there are, its examples come out as shown."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grading_cases import graded
from trial_ledger.documents.gold import COMPARATORS
from trial_ledger.documents.grader_options import BUILT_IN, NORMALISERS
from trial_ledger.grading.accepted import LONGEST_ANSWER
from trial_ledger.grading.comparators import LIST_COMPARATORS
from trial_ledger.grading.normalisers import normalise
from trial_ledger.grading.records import OUTCOMES
from trial_ledger.strict_json import MAX_DEPTH

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "reference"
PAGE = (FOLDER / "graders.md").read_text("utf-8")
OFFICIAL = (FOLDER / "official-graders.md").read_text("utf-8")
Table = list[dict[str, str]]

MEASURES = {
    "list-match@1": "list.precision",
    "record-match@1": "structured.field_accuracy",
    "criteria@1": "research.composite",
    "judge-reply@1": "verdict",
}
"""The measure of the examples, where it is not that of facts."""

EXAMPLES = ["settings", "gold", "answer", "judgment", "reasoning"]
OPTIONS = ["option", "values", "default", "meaning"]


def chapter(name: str) -> str:
    """Return the text below a heading."""
    return (PAGE + OFFICIAL).partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def table(text: str, columns: list[str]) -> Table:
    """Return the rows of the table with these columns; none where there is no such table."""
    head = f"| {' | '.join(columns)} |\n"
    found: Table = []
    for line in text.partition(head)[2].split("\n")[1:]:
        if not line.startswith("| "):
            break
        cells = [cell.strip() for cell in line.strip()[1:-1].split("|")]
        found.append(dict(zip(columns, cells, strict=True)))
    return found


def code(cell: str) -> str:
    """Return what stands in a cell as code."""
    assert cell.startswith("`")
    assert cell.endswith("`")
    return cell[1:-1]


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_examples_come_out_as_the_page_shows(name: str) -> None:
    """Each row of a grader's examples is graded."""
    rows = table(chapter(name), EXAMPLES)
    assert len(rows) >= 2
    for row in rows:
        settings: dict[str, Any] = json.loads(code(row["settings"]))
        if name == "choice@1":
            settings["context"] = {"choices": ["Rome", "Paris"]}
        gold = json.loads(code(row["gold"]))
        measure = MEASURES.get(name, "fact.correctness")
        found = graded(name, gold, code(row["answer"]), measure, **settings)
        shown = (code(row["judgment"]), row["reasoning"])
        assert (found.verdict or found.score, found.reasoning) == shown


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_options_are_those_that_there_are(name: str) -> None:
    """With their values and defaults; a row may stand for those of another grader."""
    form = BUILT_IN[name]
    found: set[str] = set()
    for row in table(chapter(name), OPTIONS):
        names = re.findall(r"`(\w+)`", row["option"])
        found.update(names)
        if len(names) > 1:
            assert all(
                form.options[known] == BUILT_IN["number@1"].options[known] for known in names
            )
            continue
        option = form.options[names[0]]
        assert json.loads(code(row["default"])) == option.default
        if option.choices:
            assert row["values"] == ", ".join(f"`{choice}`" for choice in option.choices)
    assert found == set(form.options)


def test_the_overview_names_every_grader_with_its_measures() -> None:
    """In the order in which they are declared."""
    columns = ["grader", "measures", "compares"]
    rows = table(PAGE, columns) + table(OFFICIAL, columns)
    assert [re.findall(r"`([^`]+)`", row["grader"])[0] for row in rows] == list(BUILT_IN)
    facts = BUILT_IN["normalised-match@1"].measures
    for row in rows:
        name = re.findall(r"`([^`]+)`", row["grader"])[0]
        said = tuple(re.findall(r"`([^`]+)`", row["measures"]))
        assert (said or facts) == BUILT_IN[name].measures


def test_normalisers_do_what_the_page_shows() -> None:
    """Each form in the table is what the normaliser makes of the text above it."""
    texts = ["The U.S.A.", "co-operate", "5,000", "M\u00fcller\u2019s"]
    rows = table(PAGE, ["normaliser", "does", *(f"`{text}`" for text in texts)])
    assert [code(row["normaliser"]) for row in rows] == list(NORMALISERS)
    for row in rows:
        for text in texts:
            assert code(row[f"`{text}`"]) == normalise(text, code(row["normaliser"])), row


def test_the_page_names_every_outcome_comparator_and_limit() -> None:
    """Nothing that a reader meets in a judgment is unexplained."""
    text = chapter("record-match@1")
    assert [name for name in OUTCOMES if f"`{name}`" not in text] == []
    said = {
        name
        for row in table(text, ["comparator", "right where"])
        for name in re.findall(r"`(\w+)`", row["comparator"])
    }
    assert said == set(COMPARATORS) >= LIST_COMPARATORS
    assert f"{LONGEST_ANSWER:,} characters" in PAGE
    assert f"{MAX_DEPTH}\nlevels" in PAGE or f"{MAX_DEPTH} levels" in PAGE
