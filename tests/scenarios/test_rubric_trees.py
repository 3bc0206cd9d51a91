"""Every inner node of the graded trees and every dimension of the judged reports comes out.

The ledger adds the leaves up by itself: its code grader writes each node into its judgment. What
the sources stored for the nodes is read here only, to compare.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from adapters import paperbench, race
from cli_cases import LEDGER
from source_cases import FLOAT_NOISE, REAL_DATA, appended, here, needs, published, reading
from trial_ledger.book import Ledger
from trial_ledger.events import JudgmentRecorded
from trial_ledger.grading.criteria_tree import Bounds

TREES = REAL_DATA / "paperbench-human-rubrics"
REPORTS = REAL_DATA / "drb-race-claude37"
PAPERS = ("all-in-one", "semantic-self-consistency")
INNER = {"all-in-one": 60, "semantic-self-consistency": 23}
"""Nodes with others below them, roots among them."""

Node = dict[str, Any]


def graded(folder: Path, run: str) -> None:
    """Let the ledger grade a run by code."""
    done = here(folder, "grade", run)
    assert done.code == 0, done.err


def judgments(folder: Path, run: str, metric: str) -> dict[str, JudgmentRecorded]:
    """Return the judgments by code of a metric, by question."""
    with Ledger.open(folder / LEDGER) as opened:
        return {
            stored.event.trial.question: stored.event.data
            for stored in opened.events()
            if isinstance(stored.event.data, JudgmentRecorded)
            and stored.event.trial is not None
            and (stored.event.run, stored.event.data.metric) == (run, metric)
            and stored.event.data.by == "code"
        }


def nodes_in(judgment: JudgmentRecorded) -> dict[str, Bounds]:
    """Return between what each inner node lies, as the parts of a judgment state it."""
    found: dict[str, dict[str, Fraction]] = {}
    for part in judgment.parts:
        kind, _, rest = part.name.partition(".")
        if kind == "node":
            name, _, end = rest.partition(" ")
            assert part.denominator is not None or part.outcome is not None
            text = part.outcome or f"{part.numerator}/{part.denominator}"
            found.setdefault(name, {})[end] = Fraction(text)
    return {
        name: (
            ends.get("from", ends.get("", Fraction(-1))),
            ends.get("to", ends.get("", Fraction(2))),
        )
        for name, ends in found.items()
    }


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger in which both trees were added up."""
    folder = tmp_path_factory.mktemp("trees")
    appended(folder, paperbench.adapt(list(TREES.glob("*.json"))))
    for paper in PAPERS:
        graded(folder, paper)
    return folder


def stored(paper: str) -> Iterator[tuple[str, Node]]:
    """Yield the inner nodes of a tree as the source stored them, by path."""
    root = json.loads((TREES / f"{paper}.json").read_text("utf-8"))
    return ((path, node) for path, node in paperbench.nodes(root) if node["sub_tasks"])


@needs("paperbench-human-rubrics")
@pytest.mark.parametrize("paper", PAPERS)
def test_c27_every_inner_node_of_a_tree_is_reproduced(trees: Path, paper: str) -> None:
    """83 nodes of both trees, to the last digit of the source's binary floats."""
    (judgment,) = judgments(trees, paper, paperbench.TREE).values()
    assert judgment.score is not None
    ours = {"": (Fraction(judgment.score),) * 2, **nodes_in(judgment)}
    theirs = {path: Fraction(node["score"]) for path, node in stored(paper)}
    assert set(ours) == set(theirs)
    assert len(ours) == INNER[paper]
    wrong = [path for path, value in theirs.items() if abs(ours[path][0] - value) > FLOAT_NOISE]
    assert wrong == []
    assert all(low == high for low, high in ours.values())


@needs("paperbench-human-rubrics")
@pytest.mark.parametrize("row", published("paperbench"), ids=lambda row: row.quantity)
def test_c27_a_published_root_is_a_metric_of_its_run(trees: Path, row: Any) -> None:  # noqa: ANN401
    """Scored as any other metric, beside what the source stored."""
    paper = row.quantity.removesuffix(".json root from leaves")
    rows = here(trees, "scores", paper, "--format", "jsonl").rows
    (found,) = [known for known in rows if known["metric"] == paperbench.TREE]
    assert found["low"] == found["high"]
    assert abs(Fraction(found["low"]) - Fraction(row.text)) <= FLOAT_NOISE


def last_leaf(node: Node) -> Node:
    """Return the last leaf of a tree."""
    return last_leaf(node["sub_tasks"][-1]) if node["sub_tasks"] else node


@needs("paperbench-human-rubrics")
def test_c27_an_invalid_leaf_widens_all_that_stands_above_it_and_nothing_else(
    tmp_path: Path,
) -> None:
    """The published value of each node lies in its range; only those above the leaf have one."""
    paper = "all-in-one"
    tree = json.loads((TREES / f"{paper}.json").read_text("utf-8"))
    leaf = last_leaf(tree)
    leaf["valid_score"] = False
    (tmp_path / f"{paper}.json").write_text(json.dumps(tree), "utf-8")
    appended(tmp_path, paperbench.adapt([tmp_path / f"{paper}.json"]))
    graded(tmp_path, paper)
    (judgment,) = judgments(tmp_path, paper, paperbench.TREE).values()
    assert judgment.verdict == "not_gradable"
    found = nodes_in(judgment)
    place = next(path for path, node in paperbench.nodes(tree) if node is leaf)
    above = {path for path, (low, high) in found.items() if low != high}
    assert above == {path for path in found if place.startswith(f"{path}.")}
    assert len(above) >= 2
    for path, node in stored(paper):
        if path:
            low, high = found[path]
            assert low - FLOAT_NOISE <= Fraction(node["score"]) <= high + FLOAT_NOISE
    with reading(tmp_path) as read:
        headline = read.score(paper, paperbench.TREE).headline
    assert headline is not None
    assert 0 < Fraction(headline.low.sum) < Fraction(headline.high.sum) < 1


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger in which the dimensions of 100 reports were added up."""
    folder = tmp_path_factory.mktemp("reports")
    appended(folder, race.adapt([REPORTS / "criteria.jsonl", REPORTS / "raw_results.jsonl"]))
    graded(folder, race.RUN)
    return folder


def raw() -> dict[str, Node]:
    """Return what the source recorded of each report, decimals as the text they are."""
    text = (REPORTS / "raw_results.jsonl").read_text("utf-8")
    records = [json.loads(line, parse_float=str) for line in text.splitlines()]
    return {str(record["id"]): record for record in records}


@needs("drb-race-claude37")
def test_c27_every_dimension_of_every_report_is_reproduced(reports: Path) -> None:
    """400 of 400 to the last digit; 2,517 criteria are covered by their dimension."""
    found = judgments(reports, race.RUN, "composite")
    results = raw()
    assert found.keys() == results.keys()
    criteria = 0
    for name, judgment in found.items():
        nodes = nodes_in(judgment)
        assert set(nodes) == set(race.KINDS)
        for dimension, (low, high) in nodes.items():
            assert low == high == Fraction(results[name][dimension])
        (counted,) = [part for part in judgment.parts if part.name == "criteria"]
        assert counted.numerator == counted.denominator
        criteria += counted.denominator or 0
    assert criteria == 2517


@needs("drb-race-claude37")
def test_c27_the_weights_of_each_task_make_its_composite(reports: Path) -> None:
    """Off the source's overall score by at most 0.0052, as SOURCE.md says: it normalises first."""
    found = judgments(reports, race.RUN, "composite")
    gaps = [
        abs(Fraction(judgment.score or -1) - Fraction(raw_score))
        for judgment, raw_score in (
            (found[name], result[race.OVERALL]) for name, result in raw().items()
        )
    ]
    assert round(max(gaps), 4) == Fraction("0.0052")
    assert min(gaps) > 0
    rows = here(reports, "scores", race.RUN, "--format", "jsonl").rows
    means = {row["metric"]: (row["low"], row["high"]) for row in rows}
    for row in published("drb"):
        name = row.quantity.lower().replace(" ", "_")
        low, high = map(Fraction, means[name])
        assert low == high
        assert abs(low - Fraction(row.text)) <= Fraction(1, 20_000)
    composite, overall = (Fraction(means[name][0]) for name in ("composite", race.OVERALL))
    assert 0 < abs(composite - overall) < Fraction("0.0052")


@needs("drb-race-claude37")
def test_c27_coverage_and_correctness_stand_apart(reports: Path) -> None:
    """Each of its own two dimensions by the weights of the task; together they make the whole."""
    whole, coverage, correctness = (
        judgments(reports, race.RUN, metric) for metric in ("composite", "coverage", "correctness")
    )
    text = (REPORTS / "criteria.jsonl").read_text("utf-8")
    for line in text.splitlines():
        task = json.loads(line, parse_float=str)
        name = str(task["id"])
        weight = {"coverage": Fraction(0), "correctness": Fraction(0)}
        for dimension, kind in race.KINDS.items():
            weight[kind] += Fraction(str(task["dimension_weight"][dimension]))
        total = sum(weight.values())
        parts = {"coverage": coverage[name], "correctness": correctness[name]}
        added = sum(weight[kind] * Fraction(known.score or -1) for kind, known in parts.items())
        assert added / total == Fraction(whole[name].score or -1)
