"""What each kind of fault does to each metric: the trials that it cost, scored as right."""

from pathlib import Path

import pytest

from document_cases import outcome_table
from projection_cases import Log
from trial_projections.fault_effects import FaultEffect, fault_effects


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run."""
    return Log(tmp_path)


def lost(log: Log, question: str, fault: str, *, recovered: bool = False) -> None:
    """Append a trial that failed, or that went on after a failure that was made good."""
    log.act("trial.started", question, input="which?")
    log.act(
        "failure.occurred", question, occurrence=f"f-{question}", class_="server_error",
        fault=fault, impact="none" if recovered else "trial_failed",
    )  # fmt: skip
    if recovered:
        log.act("failure.recovered", question, occurrence=f"f-{question}", by="retry")
        log.act("answer.submitted", question, answer="Babylon")
    log.act("trial.finished", question, outcome="answered" if recovered else "errored")


def effects_of(log: Log) -> list[FaultEffect]:
    """Return the effects in the run."""
    with log.model() as model:
        return fault_effects(model.score_input(model.run(log.run)))


def told(effect: FaultEffect) -> tuple[str, str, int, str | None, str | None]:
    """Return metric, outcome, how many slots, and the upper ends of both numbers."""
    before, after = (
        None if found is None else found.high.sum
        for found in (effect.as_it_is, effect.had_they_been_right)
    )
    return effect.metric, effect.outcome, effect.slots, before, after


def test_c20_each_fault_by_itself(log: Log) -> None:
    """Two lost to the harness, one to a provider; what was made good is no loss."""
    lost(log, "q1", "harness")
    lost(log, "q2", "harness")
    lost(log, "q3", "search_provider")
    lost(log, "q4", "search_provider", recovered=True)
    log.judge("q4", "judged", "incorrect")
    log.trial("q5")
    log.judge("q5", "judged", "correct")
    found = [told(effect) for effect in effects_of(log) if effect.metric == "judged"]
    assert found == [
        ("judged", "harness_fault", 2, "1", "3"),
        ("judged", "search_provider_fault", 1, "1", "2"),
    ]
    assert effects_of(log)[0].metric == "exact"


def test_c28_a_judge_that_failed_is_a_fault_of_its_own(log: Log) -> None:
    """The verdict is undecided: its lower end is what moves."""
    log.trial("q1")
    log.act(
        "failure.occurred", "q1", occurrence="f1", class_="judge_error", fault="judge",
        impact="none",
    )  # fmt: skip
    log.act(
        "judgment.failed", "q1", judgment="j1", metric="judged", reason="judge_failed",
        occurrence="f1",
    )  # fmt: skip
    (effect,) = [effect for effect in effects_of(log) if effect.metric == "judged"]
    assert effect.outcome == "judge_failed"
    assert effect.as_it_is is not None
    assert effect.had_they_been_right is not None
    assert (effect.as_it_is.low.sum, effect.as_it_is.high.sum) == ("0", "1")
    assert effect.had_they_been_right.low.sum == "1"


def test_c20_a_fault_that_is_left_out_of_the_denominator_would_be_in_it(tmp_path: Path) -> None:
    """With every other slot left out as well there is no number without it."""
    outcomes = outcome_table() | {
        "harness_fault": {"denominator": False}, "not_started": {"denominator": False},
    }  # fmt: skip
    log = Log(tmp_path, rubric={"outcomes": outcomes})
    lost(log, "q1", "harness")
    (effect,) = [effect for effect in effects_of(log) if effect.metric == "judged"]
    assert effect.as_it_is is None
    assert effect.had_they_been_right is not None
    assert (effect.had_they_been_right.low.sum, effect.had_they_been_right.low.count) == ("1", 1)


def test_a_metric_without_a_number_has_no_effect(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recall against a list that is not complete cannot be raised by anything."""
    lost(log, "q1", "harness")
    monkeypatch.setattr(
        "trial_projections.fault_effects.unavailable_reason",
        lambda _, metric: "not exhaustive" if metric.grader == "judge" else None,
    )
    assert {effect.metric for effect in effects_of(log)} == {"exact"}
