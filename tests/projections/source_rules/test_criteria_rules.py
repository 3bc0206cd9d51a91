"""Criteria of judgments: labels counted and pooled, trees weighted from their leaves upwards."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projection_cases import Log
from rule_cases import graded, ruled, value
from trial_projections.source_rules.criteria_rules import tree_value

TREE = {"1": "2", "2": "1", "1.1": "3", "1.2": "0.5"}


def judged(log: Log, question: str, *parts: Mapping[str, Any], score: str = "1/2") -> None:
    """Append a trial whose judgment names criteria."""
    log.trial(question)
    log.judge(question, "graded", score, parts=list(parts))


def labels(*names: str | None) -> list[dict[str, Any]]:
    """Return criteria with these labels."""
    return [{"name": f"c{number}", "outcome": name} for number, name in enumerate(names, 1)]


def test_pooled_criteria_weigh_alike_whatever_their_answer(tmp_path: Path) -> None:
    """Three met and one half met of six; a criterion without a label is none."""
    log = graded(tmp_path)
    judged(log, "q1", *labels("correct", "correct", "missing", "wrong_stale", None))
    judged(log, "q2", *labels("correct", "partial"))
    assert value(log, "criteria_pooled") == "7/12"
    assert ruled(log, "criteria_pooled").count == 6
    assert value(log, "criteria_total") == "6"
    assert value(log, "criteria_count:missing") == "1"
    assert value(log, "criteria_count:wrong_stale") == "1"
    log.ledger.close()


@pytest.mark.parametrize(
    "name", ["criteria_pooled", "criteria_total", "criteria_count:correct", "criteria_tree"]
)
def test_without_criteria_there_is_no_number(tmp_path: Path, name: str) -> None:
    """A judgment without parts, and a trial without a judgment, name none."""
    log = graded(tmp_path, {"weights": TREE})
    log.trial("q1")
    log.trial("q2")
    log.judge("q2", "graded", "1/2", reasoning="so")
    assert ruled(log, name).reason == "no judgment names its criteria"
    log.ledger.close()


def test_a_tree_is_weighted_from_its_leaves(tmp_path: Path) -> None:
    """Leaf 1.1 is met, 1.2 is not, 2 is met: (2 * 6/7 + 1) / 3."""
    log = graded(tmp_path, {"weights": TREE})
    leaves = {"1.1": 1, "1.2": 0, "2": 1}
    parts = [{"name": path, "numerator": met, "denominator": 1} for path, met in leaves.items()]
    judged(log, "q1", *parts)
    assert value(log, "criteria_tree") == "19/21"
    judged(log, "q2", *parts[:2])
    assert ruled(log, "criteria_tree").reason == "a leaf of q2#1 has no value"
    log.ledger.close()


def test_a_metric_without_weights_has_no_tree(tmp_path: Path) -> None:
    """The weights stand in the rubric or nowhere."""
    log = graded(tmp_path)
    judged(log, "q1", *labels("correct"))
    assert ruled(log, "criteria_tree").reason == "the metric names no weights of a tree"
    log.ledger.close()


def test_weights_of_zero_leave_a_node_without_a_value() -> None:
    """It is needed by nobody whose own weight is 0, and undefined where it is needed."""
    weights = {"1": Fraction(0), "2": Fraction(1), "1.1": Fraction(0)}
    leaves = {"1.1": Fraction(1), "2": Fraction(1, 3)}
    assert tree_value(weights, leaves) == Fraction(1, 3)
    assert tree_value({**weights, "1": Fraction(1)}, leaves) is None


weights = st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9)
values = st.fractions(min_value=0, max_value=1, max_denominator=9)


@given(
    st.lists(st.lists(st.tuples(weights, values), min_size=1, max_size=4), min_size=1, max_size=4)
)
def test_a_tree_of_two_levels_is_the_mean_of_means(nodes: list[list[tuple[Any, Any]]]) -> None:
    """Computed by hand, node by node; scaling the weights of one level changes nothing."""
    given_weights, leaves, means = {}, {}, []
    for first, children in enumerate(nodes, 1):
        given_weights[str(first)] = Fraction(first)
        for second, (weight, leaf) in enumerate(children, 1):
            given_weights[f"{first}.{second}"] = weight
            leaves[f"{first}.{second}"] = leaf
        total = sum(weight for weight, _ in children)
        means.append(sum(weight * leaf for weight, leaf in children) / total)
    expected = sum(place * mean for place, mean in enumerate(means, 1)) / sum(
        range(1, len(nodes) + 1)
    )
    assert tree_value(given_weights, leaves) == expected
    scaled = {path: weight * 7 if "." in path else weight for path, weight in given_weights.items()}
    assert tree_value(scaled, leaves) == expected
