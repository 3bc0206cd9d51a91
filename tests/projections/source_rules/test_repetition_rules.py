"""pass@k and pass^k of a run: over planned repetitions, undecided ones told apart."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from projection_cases import Log
from rule_cases import ruled, value
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.registry import all_names


@pytest.fixture
def repeated(tmp_path: Path) -> Iterator[Log]:
    """Two questions, three repetitions each: two of three passed, none of three passed."""
    log = Log(tmp_path, manifest={"repetitions": 3, "questions": ["q1", "q2"], "splits": None})
    for question, scores in (("q1", "110"), ("q2", "000")):
        for repetition, score in enumerate(scores, 1):
            log.trial(question, repetition=repetition)
            if (question, repetition) != ("q2", 3):
                judge(log, question, repetition, score)
    yield log
    log.ledger.close()


def judge(log: Log, question: str, repetition: int, score: str) -> None:
    """Append a score of one repetition."""
    data = {
        "judgment": "j1", "metric": "exact", "by": "code", "score": score,
        "grader": {"name": "exact", "version": "1"}, "parts": [{"name": "equal"}],
    }  # fmt: skip
    log.append("judgment.recorded", question, data, repetition=repetition)


def test_an_undecided_repetition_leaves_no_number(repeated: Log) -> None:
    """Nobody knows whether the third try at q2 passed; only a rule that says so counts it."""
    assert ruled(repeated, "pass_at_k:2").reason == "1 trials are undecided"
    found = ruled(repeated, "pass_at_k_nulls_against:2")
    assert (found.value, found.count) == ("1/2", 2)
    assert found.assumed == {"undecided as not passed": 1}


def test_both_statistics_over_every_k(repeated: Log) -> None:
    """q1 passes two of three: any two contain one, one of three pairs holds both."""
    judge(repeated, "q2", 3, "1/2")
    assert [value(repeated, f"pass_at_k:{k}") for k in (1, 2, 3)] == ["1/3", "1/2", "1/2"]
    assert [value(repeated, f"pass_hat_k:{k}") for k in (1, 2, 3)] == ["1/3", "1/6", "0"]
    found = ruled(repeated, "pass_hat_k:4")
    assert (found.value, found.reason) == (None, "2 of 2 questions have fewer than 4 repetitions")


def test_the_score_that_most_repetitions_have(repeated: Log, tmp_path: Path) -> None:
    """Two of three right is right; of as many of each the first counts; undecided is no score."""
    (tmp_path / "other").mkdir()
    log = Log(tmp_path / "other", manifest={"repetitions": 2, "questions": ["q1", "q2"]})
    for question, scores in (("q1", "10"), ("q2", "00")):
        for repetition, score in enumerate(scores, 1):
            log.trial(question, repetition=repetition)
            judge(log, question, repetition, score)
    assert value(log, "mode") == "1/2"
    with log.model() as model:
        names = set(all_names(RunFacts(model, model.run(log.run))))
    assert {"mode", "standard_error:mode", "standard_error:pass_hat_k:2"} <= names
    log.ledger.close()
    assert ruled(repeated, "mode").reason == "1 of 2 questions are undecided"
    judge(repeated, "q2", 3, "1/2")
    found = ruled(repeated, "mode")
    assert (found.value, found.count) == ("1/2", 2)


def test_a_mode_says_something_where_questions_are_repeated(log: Log) -> None:
    """With one repetition it would be our headline under another name."""
    with log.model() as model:
        assert "mode" not in set(all_names(RunFacts(model, model.run(log.run))))
    for number in range(1, 11):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        log.act("trial.invalidated", f"q{number}", reason="leaked")
    assert ruled(log, "mode").reason == "0 of 0 questions are undecided"
