"""How one slot counts under one metric: its outcome class, its score, and on what ground.

Invariant: the precedence is that of the outcome policy (docs/events.md): invalidated before
judgment, not started, unfinished, cancelled, errored, refused, filtered, then the judgment; `limit`
and `abstained` count by their class only where there is no judgment.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from trial_ledger.documents.rubric import Metric, OutcomeRule, Rubric
from trial_projections.effective import effective_judgment
from trial_projections.records import JudgmentRecord, Mark, TrialOccurrence, TrialRecord

__all__ = [
    "ERRORED_CLASSES",
    "INFRASTRUCTURE_CLASSES",
    "UNDECIDED_CLASSES",
    "Cell",
    "Placed",
    "cell_of",
    "first_counting",
    "is_invalidated_after",
    "is_invalidated_before",
]

FAULT_CLASSES: Mapping[str, str] = {
    "agent": "trial_errored",
    "harness": "harness_fault",
    "search_provider": "search_provider_fault",
    "model_provider": "model_provider_fault",
    "environment": "environment_fault",
    "judge": "judge_failed",
}
"""Whose fault → the class of the trial that it ended."""

UNDECIDED_CLASSES = frozenset({"unjudged", "judge_failed", "not_gradable", "lost_in_source"})
"""Classes in which nobody knows whether the answer was right."""

INFRASTRUCTURE_CLASSES = frozenset({
    "harness_fault", "search_provider_fault", "model_provider_fault", "environment_fault",
    "cancelled", "unfinished", "not_started",
})  # fmt: skip
"""Classes in which the system under test had no fair try."""

ERRORED_CLASSES = INFRASTRUCTURE_CLASSES | {"trial_errored"}
"""What tools that leave errors out leave out."""

JUDGED_BY_OUTCOME = {"refused": "refused", "filtered": "filtered", "cancelled": "cancelled"}
CLASS_WITHOUT_JUDGMENT = {
    "limit": "limit",
    "abstained": "abstained",
    "answered": "unjudged",
    "unknown": "lost_in_source",
}


class Cell(msgspec.Struct, frozen=True, kw_only=True, order=True, gc=False):
    """All that a metric's number depends on in one slot; equal cells count alike."""

    outcome: str
    """Outcome class."""
    score: str | None
    """Its score, rational text; None where undecided or out of the denominator."""
    basis: Literal["judgment", "rule", "nothing"]
    """Decided by a judgment, by a rule of the rubric, or not at all."""
    counts: bool
    """Whether it is in the denominator."""
    invalidated: bool
    """Whether its trial was invalidated after its end or first judgment (C12)."""


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A slot, how it counts, and the events behind that."""

    question: str
    """Question id."""
    repetition: int
    """Which repetition."""
    trial: TrialRecord | None
    """The session that counts; None where none was started."""
    cell: Cell
    """How it counts."""
    judgment: JudgmentRecord | None
    """The judgment that decided it."""
    judged: TrialRecord | None
    """The record that holds its judgments; the same trial unless the run is derived."""
    sessions: int
    """How many sessions the slot has."""


def is_invalidated_before(trial: TrialRecord) -> bool:
    """Return whether a trial was invalidated before its end and its first judgment (C12)."""
    change = trial.changes[-1] if trial.changes else None
    if change is None or change.valid:
        return False
    ends: list[Mark] = [judgment.mark for judgment in trial.judgments]
    ends += [failed.mark for failed in trial.failed_judgments]
    if trial.finished is not None:
        ends.append(trial.finished)
    return all(change.mark.seq < end.seq for end in ends)


def is_invalidated_after(trial: TrialRecord) -> bool:
    """Return whether a trial is invalidated now, though it ended or was judged before."""
    return bool(trial.changes) and not trial.changes[-1].valid and not is_invalidated_before(trial)


def outcome_without_judgment(trial: TrialRecord | None, rubric: Rubric) -> str | None:
    """Return the class that comes before any judgment; None where a judgment decides."""
    if trial is None or trial.started is None:
        return "not_started"
    if is_invalidated_before(trial):
        return "invalidated"
    if trial.outcome is None:
        return "unfinished"
    if trial.outcome == "errored":
        return errored_class(trial, rubric)
    return JUDGED_BY_OUTCOME.get(trial.outcome)


def errored_class(trial: TrialRecord, rubric: Rubric) -> str:
    """Return the class of an errored trial, from its last unrecovered occurrence that ended it."""
    fatal = [
        occurrence
        for occurrence in trial.occurrences
        if occurrence.impact == "trial_failed" and occurrence.recovered is None
    ]
    if not fatal:
        return "trial_errored"
    last = fatal[-1]
    if last.fault is not None:
        return FAULT_CLASSES[last.fault]
    return mapped_failure(last, rubric)


def mapped_failure(occurrence: TrialOccurrence, rubric: Rubric) -> str:
    """Return the class that the rubric gives to a failure of unknown fault."""
    mapped = rubric.failure_outcomes.get(occurrence.class_, "trial_errored")
    if isinstance(mapped, str):
        return mapped
    return mapped.get(occurrence.purpose or "none", "trial_errored")


def judged_class(
    trial: TrialRecord, judged: TrialRecord, metric: str
) -> tuple[str, JudgmentRecord | None]:
    """Return the class of a trial whose judgment decides, and that judgment."""
    judgment = effective_judgment(judged, metric)
    if judgment is not None:
        return judgment.verdict or "scored", judgment
    failed = [known for known in judged.failed_judgments if known.metric == metric]
    if failed:
        return failed[-1].reason, None
    assert trial.outcome is not None, "an open trial has its class already"
    return CLASS_WITHOUT_JUDGMENT[trial.outcome], None


def cell_of(
    trial: TrialRecord | None,
    judged: TrialRecord | None,
    *,
    name: str,
    metric: Metric,
    rules: Mapping[str, OutcomeRule],
    rubric: Rubric,
) -> tuple[Cell, JudgmentRecord | None]:
    """Return how a slot counts under a metric, and the judgment behind it.

    Args:
        trial: the session that counts; None where none was started.
        judged: where its judgments are: the same, or the derived run's record of it.
        name: the metric's name.
        metric: the metric.
        rules: its outcome rules after overrides.
        rubric: the run's rubric.
    """
    outcome = outcome_without_judgment(trial, rubric)
    judgment = None
    if outcome is None:
        assert trial is not None, "a slot without a trial has its class"
        outcome, judgment = judged_class(trial, judged or EMPTY, name)
    invalidated = trial is not None and is_invalidated_after(trial)
    counted_by_value = (
        judgment is not None and metric.measure != "verdict" and judgment.score is not None
    )
    if counted_by_value:
        assert judgment is not None, "checked above"
        cell = Cell(
            outcome=outcome,
            score=judgment.score,
            basis="judgment",
            counts=True,
            invalidated=invalidated,
        )
        return cell, judgment
    rule = rules[outcome]
    if not rule.denominator:
        return (
            Cell(
                outcome=outcome, score=None, basis="nothing", counts=False, invalidated=invalidated
            ),
            judgment,
        )
    basis: Literal["judgment", "rule", "nothing"] = "rule" if judgment is None else "judgment"
    if rule.score is None:
        basis = "nothing"
    cell = Cell(
        outcome=outcome, score=rule.score, basis=basis, counts=True, invalidated=invalidated
    )
    return cell, judgment


EMPTY = TrialRecord(question="", repetition=0, session="")
"""A trial nobody judged."""


def first_counting(
    sessions: list[TrialRecord], rubric: Rubric, *, allows_retries: bool
) -> TrialRecord:
    """Return which session of a slot counts (C16).

    The first started does, unless an interruption left it without an answer and another followed,
    or its class is retryable and the manifest allowed retries beforehand.

    Args:
        sessions: every session of the slot, in the order they were started; at least one.
        rubric: the run's rubric, whose own rules say what is retryable.
        allows_retries: the manifest's session policy.
    """
    assert sessions, "a slot without a session has no counting one"
    for session in sessions[:-1]:
        interrupted = session.outcome in {None, "cancelled"} and session.answered is None
        outcome = outcome_without_judgment(session, rubric)
        retryable = outcome is not None and rubric.outcomes[outcome].retryable
        if not (interrupted or (allows_retries and retryable)):
            return session
    return sessions[-1]
