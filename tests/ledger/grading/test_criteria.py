"""Research criteria: trees of weights, sub-scores by kind, ranges, whose verdict counts."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading_cases import graded, part, ratio
from ledger_cases import small_rubric
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.events import JudgmentRecorded
from trial_ledger.grading.criteria import MOST_NODES, values_of
from trial_ledger.grading.criteria_tree import ROOT, Criterion, node_bounds
from trial_ledger.grading.grader import Grade
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.kinds.judgments import Grader, ScorePart

KINDS = ("coverage", "correctness", "sourcing")


def criterion(name: str, weight: str = "1", kind: str = "coverage", **more: str) -> dict[str, Any]:
    """Return a criterion of gold."""
    return {"id": name, "text": name, "kind": kind, "weight": weight, **more}


TREE = {
    "criteria": [
        criterion("breadth", "2"),
        criterion("a", "1", parent="breadth"),
        criterion("b", "3", "sourcing", parent="breadth"),
        criterion("right", "3", "correctness"),
    ]
}


def added(gold: Mapping[str, Any], measure: str = "composite", **said: str) -> Grade:
    """Return what comes of adding up what was said of criteria."""
    values = msgspec.json.encode(said).decode()
    return graded("criteria@1", gold, values, f"research.{measure}", metrics=["judged"])


def test_c27_a_tree_is_the_weighted_mean_of_every_level() -> None:
    """(2 x (1 x 1 + 3 x 0) / 4 + 3 x 1) / 5, the inner node stated as a part."""
    found = added(TREE, a="1", b="0", right="1")
    assert (found.score, found.verdict) == ("7/10", None)
    assert found.parts[0].name == "composite"
    assert ratio(found, "node.breadth") == (1, 4)
    assert ratio(found, "criteria") == (3, 3)


@pytest.mark.parametrize(("measure", "score"), list(zip(KINDS, ("1", "1/2", "0"), strict=True)))
def test_c27_a_sub_score_is_made_of_its_own_kind(measure: str, score: str) -> None:
    """Coverage, correctness and sourcing stand apart, each by the weights of its own criteria."""
    found = added(TREE, measure, a="1", b="0", right="1/2")
    assert (found.score, ratio(found, "criteria")) == (score, (1, 1))


def test_c27_an_unjudged_criterion_widens_the_range_and_keeps_its_weight() -> None:
    """`b` may be worth nothing or all of its 3/10, and is not left out of the sum of weights."""
    found = added(TREE, a="1", right="1")
    assert (found.verdict, found.score) == ("not_gradable", None)
    assert (ratio(found, "composite"), part(found, "unjudged")) == ((7, 10), 3)
    assert ratio(found, "node.breadth from") == (1, 4)
    assert ratio(found, "node.breadth to") == (1, 1)
    assert found.reasoning == (
        "composite lies from 7/10 to 1: 2 of 3 criteria have a value, 'breadth' 1/4 to 1"
    )


def test_an_unjudged_criterion_without_weight_changes_nothing() -> None:
    """Its value may be anything; the number is known."""
    gold = {"criteria": [criterion("a"), criterion("b", "0")]}
    found = added(gold, a="1/3")
    assert (found.score, ratio(found, "criteria")) == ("1/3", (1, 2))


def test_a_node_that_was_judged_as_a_whole_needs_nothing_below() -> None:
    """What was said of it counts, and whatever was said below it does not."""
    found = added(TREE, breadth="1/2", a="1", right="1")
    assert (found.score, ratio(found, "criteria")) == ("4/5", (3, 3))
    assert added(TREE, "sourcing", breadth="1/2").score == "1/2"


def test_what_is_of_nothing_in_gold_is_counted() -> None:
    """A name that gold has not, and a value above 1, which leaves its criterion open."""
    found = added(TREE, a="2", b="0", right="1", other="1")
    assert (part(found, "unusable"), ratio(found, "criteria")) == (2, (2, 3))
    assert "2 verdicts are of nothing in gold or not from 0 to 1" in found.reasoning


def test_gold_that_weighs_nothing_has_no_value() -> None:
    """Nor has gold without criteria of the kind, and gold that does not say the kind."""
    for gold, measure in (
        ({"criteria": []}, "composite"),
        ({"criteria": [criterion("a", "0")]}, "composite"),
        ({"criteria": [criterion("a")]}, "sourcing"),
        ({"criteria": [criterion("p"), criterion("a", "0", parent="p")]}, "coverage"),
    ):
        found = added(gold, measure, a="1")
        assert (
            found.reasoning == f"undefined: gold has no criterion of {measure} that weighs anything"
        )
    nameless = {"criteria": [{**criterion("a"), "kind": None}]}
    assert added(nameless, a="1").reasoning == "gold has a criterion without id or kind"


def test_nodes_beyond_the_limit_are_counted() -> None:
    """A judgment has parts for so many nodes, and its words name the first ten."""
    pairs = [
        pair
        for number in range(MOST_NODES + 1)
        for pair in (criterion(f"n{number}"), criterion(f"l{number}", parent=f"n{number}"))
    ]
    found = added({"criteria": pairs}, **{f"n{number}": "1" for number in range(MOST_NODES + 1)})
    assert found.score == "1"
    assert sum(known.name.startswith("node.") for known in found.parts) == MOST_NODES
    assert found.reasoning.endswith(f", {MOST_NODES + 1 - 10} more nodes")
    long = {"criteria": [criterion("x" * 100), criterion("leaf", parent="x" * 100)]}
    assert ratio(added(long, leaf="1"), "node[1]") == (1, 1)


def test_terms_too_great_for_an_event_are_text_or_a_very_small_range() -> None:
    """A value is never cut off unseen: what cannot be stated exactly is rounded outward."""
    fine = Fraction(1, 3**40)
    found = added({"criteria": [criterion("a")]}, a=str(fine))
    assert (found.score, found.parts[0].outcome) == (str(fine), str(fine))
    finer = str(Fraction(1, 3**600))
    found = added({"criteria": [criterion("p"), criterion("a", parent="p")]}, a=finer)
    assert (found.verdict, part(found, "unjudged")) == ("not_gradable", 1)
    assert part(found, "node.p") == "long"
    assert found.reasoning.endswith(", 'p' about 0.000000000 %")
    half_open = {"criteria": [criterion("a"), criterion("b", str(fine))]}
    low, high = ratio(added(half_open, a="1/7"), "composite")
    assert high <= MAX_INTEGER
    assert Fraction(low, high) <= Fraction(1, 7) / (1 + fine)


def judgment(metric: str, pass_: int = 1, **fields: Any) -> JudgmentRecorded:  # noqa: ANN401
    """Return a judgment of criteria; parts are given as text: a ratio, or a label."""
    given_parts = fields.pop("parts", {})
    parts = tuple(
        ScorePart(name=name, numerator=value.numerator, denominator=value.denominator)
        if isinstance(value, Fraction)
        else ScorePart(name=name, outcome=value)
        for name, value in given_parts.items()
    )
    grader = Grader(name="judge")
    return JudgmentRecorded(
        judgment="j", metric=metric, pass_=pass_, by="model", grader=grader, parts=parts, **fields
    )


def listening(canonical: str = "first-valid", partial: str = "1/2") -> Rubric:
    """Return a rubric whose composite listens to two metrics."""
    metrics = {
        "criteria": {"measure": "score", "grader": "judge"},
        "breadth": {"measure": "score", "grader": "judge"},
        "total": {
            "measure": "research.composite", "grader": "criteria@1",
            "options": {"metrics": ["criteria", "breadth"], "partial": partial},
        },
    }  # fmt: skip
    judge = {"model": "m", "endpoint": "e", "prompt": "p", "passes": 3, "canonical": canonical}
    return small_rubric(metrics=metrics, primary="total", judge=judge)


def test_parts_and_labels_and_whole_judgments_speak_of_criteria() -> None:
    """A ratio, a verdict, half for what is partly met; a metric named as a criterion is one."""
    parts = {"a": Fraction(1, 3), "b": "partial", "c": "incorrect", "d": "not_gradable"}
    said = [
        judgment("criteria", parts=parts),
        judgment("breadth", score="3/4"),
        judgment("other", parts={"d": "correct"}),
    ]
    found = {"a": Fraction(1, 3), "b": Fraction(1, 2), "c": Fraction(0), "breadth": Fraction(3, 4)}
    assert values_of(listening(), "total", said) == found
    assert values_of(listening(partial="0"), "total", said)["b"] == 0
    assert values_of(listening(), "total", [judgment("breadth", verdict="correct")]) == {
        "breadth": Fraction(1)
    }


def test_of_several_passes_the_rubrics_rule_chooses() -> None:
    """The first that says anything of a criterion, or what more than half of them say."""
    said = [
        judgment("criteria", 2, parts={"a": "incorrect", "b": "correct"}),
        judgment("criteria", 1, parts={"a": "correct"}),
        judgment("criteria", 3, parts={"a": "incorrect", "b": "incorrect"}),
    ]
    assert values_of(listening(), "total", said) == {"a": Fraction(1), "b": Fraction(1)}
    assert values_of(listening("majority"), "total", said) == {"a": Fraction(0)}


def naive(tree: list[Criterion], values: Mapping[str, Fraction], name: str) -> Fraction:
    """Return the value of a node of a wholly judged tree, by the definition."""
    below = [node for node in tree if node.parent == name]
    if not below:
        return values[name]
    weight = sum(node.weight for node in below)
    total = sum((node.weight * naive(tree, values, node.id) for node in below), Fraction(0))
    return total / weight


@st.composite
def trees(draw: st.DrawFn) -> list[Criterion]:
    """Draw a tree of criteria with weights from 1."""
    found: list[Criterion] = []
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.sampled_from([ROOT, *(node.id for node in found)]))
        weight = Fraction(draw(st.integers(1, 9)), draw(st.integers(1, 4)))
        found.append(Criterion(id=f"n{number}", kind="coverage", weight=weight, parent=parent))
    return found


@settings(max_examples=30, deadline=None)
@given(tree=trees(), data=st.data())
def test_c27_however_the_rest_is_judged_every_node_lies_between(
    tree: list[Criterion], data: st.DataObject
) -> None:
    """The ends are those of nothing and everything met; judged wholly, a range is one value."""
    parents = {node.parent for node in tree}
    leaves = [node.id for node in tree if node.id not in parents]
    share = st.fractions(0, 1, max_denominator=6)
    values = {name: data.draw(share) for name in leaves}
    known = {name: value for name, value in values.items() if data.draw(st.booleans())}
    narrow = node_bounds(tree, values, None)
    wide = node_bounds(tree, known, None)
    assert set(narrow) == set(wide) == {ROOT, *(node.id for node in tree)}
    for name, (low, high) in narrow.items():
        assert low == high == naive(tree, values, name)
        assert 0 <= wide[name][0] <= low <= wide[name][1] <= 1
    for end, filling in ((0, Fraction(0)), (1, Fraction(1))):
        filled = node_bounds(tree, {name: known.get(name, filling) for name in leaves}, None)
        assert all(filled[name][end] == wide[name][end] for name in wide)
