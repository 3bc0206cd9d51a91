"""Means of scores: our headline, and what other rules leave out or take for known."""

from pathlib import Path

from projection_cases import Log
from rule_cases import judge_failed, labelled, ruled, value


def ten_trials(log: Log) -> None:
    """Append q1, q2 errored, q3 without a verdict, q4 to q8 right, q9, q10 wrong."""
    for question in ("q1", "q2"):
        log.append("trial.started", question, {"input": "which?"})
        failure = {"occurrence": "f1", "class": "overloaded", "fault": "search_provider"}
        log.append("failure.occurred", question, {**failure, "impact": "trial_failed"})
        log.append("trial.finished", question, {"outcome": "errored"})
    judge_failed(log, "q3", "judged")
    labelled(log, *["-"] * 3, *["correct"] * 5, *["incorrect"] * 2)


def test_ten_trials_under_every_rule(log: Log) -> None:
    """The scenario that separates tools has a number for each of them."""
    ten_trials(log)
    expected = {
        "headline": None,
        "null_counts_against": "1/2",
        "errors_excluded": None,
        "decided_only": "5/9",
        "complete_case": "5/7",
        "worst": "1/2",
        "best": "4/5",
    }
    assert {name: value(log, name, "judged") for name in expected} == expected
    assert {name: value(log, f"{name}:trials", "judged") for name in expected} == expected


def test_every_rule_says_what_it_did(log: Log) -> None:
    """What was left out, what was taken for known, or why there is no number."""
    ten_trials(log)
    assert ruled(log, "headline", "judged").reason == "1 undecided: from 1/2 to 3/5"
    against = ruled(log, "null_counts_against", "judged")
    assert (against.left_out, against.assumed) == ({}, {"judge_failed as the lowest score": 1})
    best = ruled(log, "best", "judged")
    assert best.assumed == {
        "search_provider_fault as the highest score": 2,
        "judge_failed as the highest score": 1,
    }
    complete = ruled(log, "complete_case", "judged")
    assert complete.left_out == {"search_provider_fault": 2, "judge_failed": 1}
    assert (complete.rule, complete.count) == ("complete_case", 7)


def test_a_view_that_nothing_is_left_in_has_no_number(log: Log) -> None:
    """Nothing was started, so nothing was judged."""
    assert ruled(log, "complete_case").reason == "no trial is left"


def test_a_metric_that_is_unavailable_says_why(log: Log) -> None:
    """Every planned slot was invalidated."""
    for number in range(1, 11):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        log.act("trial.invalidated", f"q{number}", reason="leaked")
    assert ruled(log, "headline").reason == "no planned slot counts"


def test_means_of_trials_and_of_questions_differ_where_questions_do(tmp_path: Path) -> None:
    """q1 keeps two trials and q2 one: 2/3 of the trials, 3/4 of the questions."""
    log = Log(tmp_path, manifest={"repetitions": 2, "questions": ["q1", "q2"], "splits": None})
    for question, repetition, score in (("q1", 1, "1"), ("q1", 2, "0"), ("q2", 1, "1")):
        log.trial(question, repetition=repetition)
        grader = {"name": "exact", "version": "1"}
        data = {"judgment": "j1", "metric": "exact", "by": "code", "grader": grader, "score": score}
        log.append(
            "judgment.recorded", question, {**data, "parts": [{"name": "equal"}]},
            repetition=repetition,
        )  # fmt: skip
    assert value(log, "complete_case") == "3/4"
    assert value(log, "complete_case:trials") == "2/3"
    log.ledger.close()
