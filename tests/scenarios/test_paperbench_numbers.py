"""Two rubric trees graded by people: the published roots come out of leaves and weights."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters import paperbench
from cli_cases import ledger
from source_cases import (
    REAL_DATA,
    WHOLE,
    Read,
    Row,
    Value,
    appended,
    names_of,
    needs,
    published,
    reading,
)
from trial_projections.source_rules.explaining import explain_all

FOLDER = REAL_DATA / "paperbench-human-rubrics"
ROWS = published("paperbench")

pytestmark = needs("paperbench-human-rubrics")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger into which both trees were appended."""
    made = tmp_path_factory.mktemp("paperbench")
    appended(made, paperbench.adapt(list(FOLDER.glob("*.json"))))
    return made


@pytest.fixture(scope="module")
def read(folder: Path) -> Iterator[Read]:
    """Its read side."""
    with reading(folder) as found:
        yield found


def value_of(read: Read, row: Row) -> Value:
    """Return the root of a tree, from its leaves."""
    run = row.quantity.removesuffix(".json root from leaves")
    return Value(read.value(run, "criteria_tree"), WHOLE)


def test_every_row_is_asked_for() -> None:
    """As many as the set has; an empty list would prove nothing."""
    assert len(ROWS) == 2


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_a_published_root_comes_out_of_the_ledger(read: Read, row: Row) -> None:
    """To the last digit of the source's binary float."""
    assert value_of(read, row).holds(row)


def test_the_exact_root_stands_beside_the_stored_one(read: Read) -> None:
    """The source stored 0.9099999999999999, which is our headline; its leaves give 91/100."""
    run = "semantic-self-consistency"
    assert read.value(run, "criteria_tree") * 100 == 91
    assert read.ours(run) == "9099999999999999/10000000000000000 of 1"
    (told,) = explain_all(read.model, read.model.run(run))
    assert (told.rule, told.by_name) == ("criteria_tree", True)
    assert [len(parts) for _, parts in read.facts(run).parts] == [79]
    assert [len(parts) for _, parts in read.facts("all-in-one").parts] == [174]


def first_leaf(node: dict[str, Any]) -> dict[str, Any]:
    """Return the first leaf of a tree."""
    return first_leaf(node["sub_tasks"][0]) if node["sub_tasks"] else node


@pytest.mark.parametrize("row", ROWS, ids=names_of(ROWS))
def test_one_leaf_or_weight_changes_the_root(tmp_path: Path, row: Row) -> None:
    """In a copy whose first leaf says the opposite, no root is the published one."""
    name = row.quantity.partition(" ")[0]
    tree = json.loads((FOLDER / name).read_text("utf-8"))
    leaf = first_leaf(tree)
    leaf["score"] = 1.0 - leaf["score"]
    (tmp_path / name).write_text(json.dumps(tree), "utf-8")
    appended(tmp_path, paperbench.adapt([tmp_path / name]))
    with reading(tmp_path) as found:
        assert not value_of(found, row).holds(row)


def test_a_leaf_that_nobody_could_grade_leaves_the_root_open(tmp_path: Path) -> None:
    """It is neither met nor unmet."""
    tree = json.loads((FOLDER / "all-in-one.json").read_text("utf-8"))
    first_leaf(tree)["valid_score"] = False
    (tmp_path / "all-in-one.json").write_text(json.dumps(tree), "utf-8")
    appended(tmp_path, paperbench.adapt([tmp_path / "all-in-one.json"]))
    with reading(tmp_path) as found:
        computed = found.computed("all-in-one", "criteria_tree")
    assert (computed.value, computed.reason) == (None, "a leaf of all-in-one#1 has no value")


def test_everything_verifies(folder: Path) -> None:
    """The log is intact."""
    assert ledger(folder, "verify").code == 0
