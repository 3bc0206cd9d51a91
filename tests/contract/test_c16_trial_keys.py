"""C16: a trial's key is unique in its run; a slot may have several sessions."""

import pytest

from cli_cases import Here
from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.errors import RuleError


def test_c16_a_trial_starts_once(log: Log) -> None:
    """The same key is refused; another session in the slot is another trial."""
    log.trial("q1")
    with pytest.raises(RuleError, match=r"trial q1#1@s1 of run fast-01 exists \(C16\)") as caught:
        log.trial("q1")
    assert caught.value.hint == "another try at the slot is another session"
    log.trial("q1", session="s2")


@pytest.mark.parametrize(("question", "repetition"), [("q11", 1), ("q1", 2)])
def test_c16_only_planned_slots_are_tried(log: Log, question: str, repetition: int) -> None:
    """Neither a question nor a repetition that the manifest does not plan."""
    with pytest.raises(RuleError, match=rf"{question}#{repetition} is not planned .*\(C16\)"):
        log.trial(question, repetition=repetition)


def test_c16_two_sessions_are_two_trials_and_one_slot(here: Here, log: Log) -> None:
    """Both are listed; one counts, which is said, and the other choice is printed beside it."""
    log.act("trial.started", "q1", input="which?")
    fault = {"class_": "timeout", "fault": "model_provider", "impact": "trial_failed"}
    log.append("failure.occurred", "q1", {"occurrence": "f1", **fault})
    log.act("trial.finished", "q1", outcome="errored")
    log.trial("q1", session="s2")
    log.judge("q1", "judged", "correct", session="s2", reasoning="compared")
    rows = here("trials", RUN, "--format", "jsonl").rows[:2]
    assert [(row["trial"], row["counts"]) for row in rows] == [
        ("q1#1@s1", True), ("q1#1@s2", False),
    ]  # fmt: skip
    shown = here("scores", RUN).out
    assert "10 questions x 1 = 10 planned, 2 started" in shown
    assert "judged                0.0 %         0/10" in shown
    assert "  retries counted     10.0 %        1/10          beside, not instead\n" in shown
    assert here("explain", RUN, "judged", "--json").json["others"] == [
        {"trial": "q1#1@s2", "instead": "q1#1@s1", "outcome": "answered"}
    ]
