"""The metrics of a run: sessions, denominators, sensitivity, what is unavailable."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger_cases import RUN, full_ledger
from policy_cases import policy_ledger, read_side
from projection_cases import Log
from trial_ledger.book import Ledger
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import Submission
from trial_projections.aggregate import Range
from trial_projections.reading import ReadModel
from trial_projections.scores import MetricScore, place_slots, score_metric, score_run


def shown(found: Range | None) -> str:
    """Return a range as `sum/count` or `low-high/count`, with its unit where it is questions."""
    assert found is not None
    low = found.low.sum
    ends = low if found.is_point else f"{low}..{found.high.sum}"
    return f"{ends}/{found.low.count}" + (" questions" if found.low.unit == "questions" else "")


def test_the_sample_run_has_its_numbers(tmp_path: Path) -> None:
    """q10 is right by override, q8 was invalidated after its verdict and still counts."""
    with full_ledger(tmp_path) as ledger:
        model = ReadModel.open(ledger)
        found = score_run(model.score_input(model.run(RUN)))
        model.close()
    assert list(found) == ["exact", "judged"]
    exact, judged = found["exact"], found["judged"]
    assert shown(exact.headline) == "6/10"
    assert shown(judged.headline) == "6..7/10"
    assert {name: shown(ends) for name, ends in judged.sensitivity.items()} == {
        "errors_excluded": "6..7/8",
        "complete_case": "6/7",
        "worst": "6/10",
        "best": "9/10",
        "without_invalidated": "5..6/9",
    }
    assert (judged.by_rule, judged.decided, judged.invalidated_after) == (2, 9, 1)
    assert judged.undecided == {"judge_failed": 1}


def test_the_primary_metric_comes_first(log: Log) -> None:
    """The others follow by name."""
    with log.model() as model:
        source = model.score_input(model.run(RUN))
    source.rubric.metrics.update({"z": source.rubric.metrics["judged"]})
    source.rubric.metrics.update({"a": source.rubric.metrics["judged"]})
    assert list(score_run(source)) == ["exact", "a", "judged", "z"]


def test_outcomes_are_listed_in_the_order_of_the_policy(log: Log) -> None:
    """Classes of values without a label come first, then as the rubric has them."""
    log.trial("q1", outcome="errored")
    for question in ("q2", "q3"):
        log.trial(question)
    log.judge("q2", "exact", "1")
    assert list(log.score("exact").outcomes.items()) == [
        ("scored", 1), ("unjudged", 1), ("trial_errored", 1), ("not_started", 7),
    ]  # fmt: skip


RETRIED = {"session": "first-unless-retryable"}


def failed_by_provider(log: Log, question: str, session: str = "s1") -> None:
    """Append a session that its model provider ended."""
    log.append("trial.started", question, {"input": "which?"}, session=session)
    failure = {"occurrence": "f1", "class": "timeout", "fault": "model_provider"}
    data = {**failure, "impact": "trial_failed"}
    log.append("failure.occurred", question, data, session=session)
    log.append("trial.finished", question, {"outcome": "errored"}, session=session)


@pytest.fixture
def retrying(tmp_path: Path) -> Iterator[Log]:
    """A run whose manifest allows retries."""
    made = Log(tmp_path, manifest=RETRIED)
    yield made
    made.ledger.close()


def test_c16_the_first_session_counts_and_the_other_choice_stands_beside_it(log: Log) -> None:
    """Without declared retries a second try changes nothing; what it would give is printed."""
    failed_by_provider(log, "q1")
    log.trial("q1", session="s2")
    log.judge("q1", "judged", "correct", session="s2")
    score = log.score("judged")
    assert (shown(score.headline), score.retried) == ("0/10", 0)
    assert shown(score.sensitivity["retries_counted"]) == "1/10"
    assert "first_sessions" not in score.sensitivity


def test_c16_a_declared_retry_counts_and_the_first_sessions_stand_beside_it(retrying: Log) -> None:
    """The slot is counted as retried, and the metric over first sessions is printed."""
    failed_by_provider(retrying, "q1")
    retrying.trial("q1", session="s2")
    retrying.judge("q1", "judged", "correct", session="s2")
    score = retrying.score("judged")
    assert (shown(score.headline), score.retried) == ("1/10", 1)
    assert shown(score.sensitivity["first_sessions"]) == "0/10"
    assert "retries_counted" not in score.sensitivity


def test_c16_an_error_of_the_agent_is_no_reason_to_try_again(retrying: Log) -> None:
    """Only what the rubric calls retryable gives way."""
    retrying.trial("q1", outcome="errored")
    retrying.trial("q1", session="s2")
    retrying.judge("q1", "judged", "correct", session="s2")
    score = retrying.score("judged")
    assert (shown(score.headline), score.retried) == ("0/10", 0)


@pytest.mark.parametrize("outcome", [None, "cancelled"])
def test_c16_an_interrupted_session_gives_way_to_its_resumption(
    log: Log, outcome: str | None
) -> None:
    """Under every policy, where it submitted no answer; it is counted as retried."""
    log.trial("q1", outcome=outcome, answer=None)
    log.trial("q1", session="s2")
    log.judge("q1", "judged", "correct", session="s2")
    score = log.score("judged")
    assert (shown(score.headline), score.retried) == ("1/10", 1)
    assert shown(score.sensitivity["first_sessions"]) == "0/10"
    assert "retries_counted" not in score.sensitivity


def test_c16_an_interrupted_session_that_answered_stays(log: Log) -> None:
    """An answer is not asked for twice."""
    log.trial("q1", outcome="cancelled")
    log.trial("q1", session="s2")
    log.judge("q1", "judged", "correct", session="s2")
    assert log.score("judged").outcomes == {"cancelled": 1, "not_started": 9}


def test_c12_invalidated_before_the_end_leaves_the_denominator(log: Log) -> None:
    """Nine slots count, and the tenth is listed as a question without a member."""
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    score = log.score("judged")
    assert (score.planned, score.denominator, shown(score.headline)) == (10, 9, "0/9")
    assert score.dropped_questions == ["q1"]
    log.act("trial.finished", "q1", outcome="answered")
    assert log.score("judged").denominator == 9
    log.act("trial.reinstated", "q1", reason="it was not")
    assert log.score("judged").denominator == 10


def test_c12_invalidated_after_its_verdict_stays_and_both_numbers_are_there(log: Log) -> None:
    """The metric with it is the headline, the one without it stands beside."""
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.act("trial.invalidated", "q1", reason="the wrong page")
    score = log.score("judged")
    assert (shown(score.headline), score.invalidated_after) == ("1/10", 1)
    assert shown(score.sensitivity["without_invalidated"]) == "0/9"
    assert score.dropped_questions == []


def test_a_mean_of_trials_drops_no_question(tmp_path: Path) -> None:
    """Only a mean over questions has questions to drop."""
    metrics = {"judged": {"measure": "verdict", "grader": "judge", "aggregate": "trial-mean"}}
    log = Log(tmp_path, rubric={"metrics": metrics, "primary": "judged"})
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    score = log.score("judged")
    assert (shown(score.headline), score.dropped_questions) == ("0/9", [])
    log.ledger.close()


def test_c20_where_no_slot_counts_there_is_no_number(tmp_path: Path) -> None:
    """An empty denominator is no 0 %: the metric is unavailable and says why."""
    log = Log(tmp_path, manifest={"questions": ["q1"]})
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    score = log.score("judged")
    assert (score.headline, score.sensitivity) == (None, {})
    assert (score.unavailable, score.undecided_share) == ("no planned slot counts", "0")
    log.ledger.close()


def test_c20_the_gate_fails_above_the_rubrics_share(tmp_path: Path) -> None:
    """A share that is exactly as large as allowed is met."""
    log = Log(tmp_path, rubric={"max_undecided": "1/10"})
    log.trial("q1")
    assert (log.score("judged").undecided_share, log.score("judged").gate_decided) == ("1/10", True)
    log.trial("q2")
    assert (log.score("judged").undecided_share, log.score("judged").gate_decided) == ("1/5", False)
    log.ledger.close()


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger with two lists, one of which is not complete, asked in two runs."""
    ledger = policy_ledger(tmp_path_factory.mktemp("lists"))
    for name in ("complete", "all"):
        configuration = f"usual-first-{name}"
        opened = {"manifest": configuration, "entry": "appended"}
        ledger.append(Submission(kind="run.opened", run=name, data=opened))
        key = TrialKey(question="q2", configuration=configuration, repetition=1)
        for kind, data in (
            ("trial.started", {"input": "which?"}),
            ("trial.finished", {"outcome": "answered"}),
            (
                "judgment.recorded",
                {
                    "judgment": "j1", "metric": "recall", "by": "code",
                    "grader": {"name": "list-match"}, "score": "1/2",
                },
            ),
        ):  # fmt: skip
            ledger.append(Submission(kind=kind, run=name, trial=key, data=data))
    yield ledger
    ledger.close()


def recall_of(ledger: Ledger, run: str) -> MetricScore:
    """Return the recall of a run."""
    with read_side(ledger) as model:
        return score_metric(model.score_input(model.run(run)), "recall")


def test_c06_complete_lists_give_recall(lists: Ledger) -> None:
    """The slots of other shapes are not planned for it."""
    recall = recall_of(lists, "complete")
    assert (recall.planned, shown(recall.headline), recall.unavailable) == (2, "1/2/2", None)


def test_c06_an_incomplete_list_gives_no_recall(lists: Ledger) -> None:
    """The metric is unavailable with the reason, never a number; what happened is still counted."""
    recall = recall_of(lists, "all")
    assert recall.unavailable == "1 of 2 gold lists not exhaustive"
    assert (recall.headline, recall.sensitivity, recall.interval) == (None, {}, None)
    assert recall.outcomes == {"scored": 1, "not_started": 3}


def test_slots_are_placed_in_planned_order(lists: Ledger) -> None:
    """Question by question, repetition by repetition, each with all its sessions."""
    with read_side(lists) as model:
        placed = place_slots(model.score_input(model.run("all")), "judged")
    assert [(slot.question, slot.repetition) for slot in placed] == [
        (question, repetition) for question in ("q1", "q2", "q3", "q4") for repetition in (1, 2)
    ]
    assert [len(slot.sessions) for slot in placed] == [0, 0, 1, 0, 0, 0, 0, 0]
