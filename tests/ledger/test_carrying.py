"""Which judgments still stand: those whose measure, grader, settings, prompt and gold are alike."""

from pathlib import Path
from typing import Any

import pytest

from document_cases import outcome_table
from ledger_cases import small_ledger, small_rubric
from policy_cases import EMPTY_SETS
from rescore_cases import METRICS, corrected, revised
from trial_ledger.carrying import carried_metrics, unchanged_questions, what_gives

JUDGE = {"model": "judge-model", "endpoint": "judge", "prompt": "{question} {answer}"}


def metrics(**changes: object) -> dict[str, Any]:
    """Return the metrics with one field of the judged one changed."""
    return {**METRICS, "judged": {**METRICS["judged"], **changes}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"outcomes": {**outcome_table(), "incorrect": {"score": "1/4"}}},
        {"max_undecided": "1/2", "primary": "judged"},
        {"metrics": metrics(scale=["-1", "1"], interval="cluster-t")},
        {"metrics": metrics(aggregate="trial-mean", interval="none")},
        {"metrics": metrics(outcomes={"incorrect": {"score": "1/4"}})},
        {"judge": {**JUDGE, "passes": 3, "canonical": "majority", "attempts": 2}},
        {"judge": {**JUDGE, "endpoint": "other"}},
    ],
)
def test_c28_a_verdict_stands_where_nothing_that_gave_it_changed(changes: dict[str, Any]) -> None:
    """What it counts, how verdicts are averaged and how often a judge is tried are other things."""
    assert carried_metrics(small_rubric(), revised(**changes)) == {"judged"}


@pytest.mark.parametrize(
    "changes",
    [
        {"judge": {**JUDGE, "prompt": "{answer} {question}"}},
        {"judge": {**JUDGE, "model": "another"}},
        {"judge": {**JUDGE, "sampling": {"temperature": "0"}}},
        {"metrics": metrics(grader="human")},
        {"metrics": metrics(options={"strict": True})},
        {"metrics": metrics(normaliser="squad")},
        {"metrics": metrics(measure="score", scale=["-1", "1"], interval="cluster-t")},
        {"metrics": metrics(measure="score")},
        {"metrics": {**METRICS, "judged": {"measure": "verdict", "grader": "choice@1"}}},
        {"metrics": {"exact": METRICS["exact"], "renamed": METRICS["judged"]}},
    ],
)
def test_c14_a_verdict_falls_with_anything_that_gave_it(changes: dict[str, Any]) -> None:
    """Another prompt, model, grader, setting, scale, measure or name: nobody said it under that."""
    assert carried_metrics(small_rubric(), revised(**changes)) == frozenset()


def test_a_score_belongs_to_its_scale() -> None:
    """A label is the same on any scale, a value is not."""
    known = [
        small_rubric(metrics=metrics(measure="score", scale=scale, interval="cluster-t"))
        for scale in (["0", "1"], ["0", "2"])
    ]
    assert carried_metrics(*known) == frozenset()
    assert carried_metrics(known[0], known[0]) == {"judged"}


def test_a_source_s_judgment_stands_without_a_judge() -> None:
    """Of a grader outside only its name and settings are known; a setting of null is none."""
    outside = {"measure": "verdict", "grader": "source", "options": {"model": None, "a": 1}}
    old = small_rubric(metrics={"exact": METRICS["exact"], "judged": outside})
    new = {**outside, "options": {"a": 1}}
    judge = {**JUDGE, "prompt": "another"}
    rubric = revised(metrics={"exact": METRICS["exact"], "judged": new}, judge=judge)
    assert carried_metrics(old, rubric) == {"judged"}


def test_c08_values_for_empty_sets_give_a_list_s_score() -> None:
    """Those of the metric's own measure, and of list measures only."""
    recall = {"measure": "list.recall", "grader": "outside@1"}
    both = {**METRICS, "recall": recall}
    old = small_rubric(metrics=both, empty_sets=EMPTY_SETS)
    for field, carried in (("recall", {"judged"}), ("f1", {"judged", "recall"})):
        case = {**EMPTY_SETS["both_empty"], field: "1"}
        new = revised(metrics=both, empty_sets={**EMPTY_SETS, "both_empty": case})
        assert carried_metrics(old, new) == carried
    assert what_gives(old, "judged")[-1] == {}


def test_c02_questions_with_the_same_words_and_gold_are_unchanged(tmp_path: Path) -> None:
    """Compared by commitments, so that no gold is read; None means that one dataset is both."""
    with small_ledger(tmp_path) as ledger:
        ledger.freeze([corrected(gold={"q1": "Merv", "q2": None}, q3="Which city is q3?")])
        registry = ledger.registry()
        unchanged = unchanged_questions(registry, "example@1", "example@2")
        assert unchanged is not None
        assert set(unchanged) == {"q4", "q5", "q6", "q7", "q8", "q9", "q10"}
        assert unchanged_questions(registry, "example@1", "example@1") is None
