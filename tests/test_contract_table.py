"""The table of the contract against the tests that are named after its clauses."""

from pathlib import Path

import pytest
from contract_table import faults, named_tests, read_rows, refreshed_table

from trial_ledger.events import KINDS

ROOT = Path(__file__).resolve().parents[1]
TABLE = (ROOT / "docs" / "contract.md").read_text("utf-8")


def test_every_clause_that_is_not_open_names_tests_that_exist() -> None:
    """The table holds C1 to C36, and every state is backed by tests."""
    assert faults(read_rows(TABLE), named_tests(ROOT / "tests")) == []


def test_the_events_of_a_clause_exist() -> None:
    """Every event kind in the table is one of the union, or a family of it."""
    families = {tag.partition(".")[0] for tag in KINDS}
    named = {
        word.strip("` ")
        for row in read_rows(TABLE)
        for word in row.cells[1].split(",")
        if "`" in word
    }
    unknown = {
        tag
        for tag in named
        if tag not in KINDS and not (tag.endswith(".*") and tag[:-2] in families)
    }
    assert unknown == set()


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("| C2 | demand | `x.y` | where | - | done |", "C2 is done, but no test is named"),
        (
            "| C2 | demand | `x.y` | where | - | partly: half |",
            "C2 is partly, but no test is named",
        ),
        ("| C2 | demand | `x.y` | where | `test_c02_gone` | done |", "C2 names test_c02_gone"),
        ("| C2 | demand | `x.y` | where | `test_c03_there` | done |", "C2 names test_c03_there"),
        ("| C2 | demand | `x.y` | where | - | nearly |", "C2: no state 'nearly'"),
        ("| C2 | demand | `x.y` | where | - | open |", "the table has ['C2'], expected C1 to C36"),
    ],
)
def test_a_planted_fault_of_the_table_is_found(row: str, fault: str) -> None:
    """A state without a test, a dead name, a name of another clause, a missing clause."""
    found = faults(read_rows(row), {"C3": ["test_c03_there"]})
    assert any(line.startswith(fault) for line in found)


def test_the_names_are_brought_up_to_date() -> None:
    """The generator writes the names that there are, and leaves the rest of a row alone."""
    row = "| C2 | demand | `x.y` | where | `test_c02_old` | done |"
    text = refreshed_table(row, {"C2": ["test_c02_one", "test_c02_two"]})
    assert text == "| C2 | demand | `x.y` | where | `test_c02_one`<br>`test_c02_two` | done |"
    assert refreshed_table(text, {}) == "| C2 | demand | `x.y` | where | - | done |"
