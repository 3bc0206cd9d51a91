"""How one slot counts under one metric: its outcome class, its score, and on what ground.

Invariant: the precedence is that of the outcome policy (docs/reference/events.md): invalidated
before judgment, not started, unfinished, cancelled, errored, refused, filtered, then the judgment;
`limit` and `abstained` count by their class only where there is no judgment.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

import msgspec

from trial_ledger.documents.rubric_structs import Rubric, metric_outcomes
from trial_ledger.exact import parse_rational, rational_text
from trial_projections.effective import deciding_judgment, standing_judgments
from trial_projections.records import JudgmentRecord, SessionRecord, TrialOccurrence

__all__ = [
    "ERRORED_CLASSES",
    "INFRASTRUCTURE_CLASSES",
    "SCORED",
    "Cell",
    "MetricRules",
    "Placed",
    "ending_occurrence",
    "first_counting",
    "is_invalidated_after",
    "is_invalidated_before",
]

Session = TypeVar("Session", bound=SessionRecord)

FAULT_CLASSES: Mapping[str, str] = {
    "agent": "trial_errored",
    "harness": "harness_fault",
    "search_provider": "search_provider_fault",
    "model_provider": "model_provider_fault",
    "environment": "environment_fault",
    "judge": "judge_failed",
}
"""Whose fault → the class of the trial that it ended."""

INFRASTRUCTURE_CLASSES = frozenset({
    "harness_fault", "search_provider_fault", "model_provider_fault", "environment_fault",
    "cancelled", "unfinished", "not_started",
})  # fmt: skip
"""Classes in which the system under test had no fair try."""

ERRORED_CLASSES = INFRASTRUCTURE_CLASSES | {"trial_errored"}
"""What tools that leave errors out leave out."""

BEFORE_JUDGMENT = frozenset({"cancelled", "refused", "filtered"})
"""Outcomes that are their own class whatever was judged."""

WITHOUT_JUDGMENT: Mapping[str, str] = {
    "limit": "limit",
    "abstained": "abstained",
    "answered": "unjudged",
    "unknown": "lost_in_source",
}
"""Outcome → class where nothing was judged."""

SCORED = "scored"
"""Shown as the class of a judgment that gives a value and no label."""


class Cell(msgspec.Struct, frozen=True, kw_only=True, order=True, gc=False, cache_hash=True):
    """All that a metric's number depends on in one slot; equal cells count alike."""

    outcome: str
    """Outcome class."""
    score: str | None
    """Its score in lowest terms; None where undecided or out of the denominator."""
    basis: Literal["judgment", "rule", "nothing"]
    """Decided by a judgment, by a rule of the rubric, or not at all."""
    counts: bool
    """Whether it is in the denominator."""
    invalidated: bool
    """Whether its trial was invalidated after its end or first judgment (C12)."""
    leaked: bool
    """Whether gold was found where the agent could see or use it (C3)."""
    bounds: tuple[str, str] | None = None
    """Of an undecided one, between what its score lies; None for anywhere on the scale (C6)."""


class Placed(msgspec.Struct, frozen=True, gc=False):
    """A slot, how it counts, and the events behind that."""

    question: str
    """Question id."""
    repetition: int
    """Which repetition."""
    sessions: Sequence[SessionRecord]
    """Every session of it, in the order they were started."""
    trial: SessionRecord | None
    """The session that counts; None where none was started."""
    judged: SessionRecord | None
    """The record that holds its judgments; the same trial unless the run is derived."""
    judgment: JudgmentRecord | None
    """The judgment that decided it."""
    cell: Cell
    """How it counts."""


def is_invalidated_before(trial: SessionRecord) -> bool:
    """Return whether a trial was invalidated before its end and its first judgment (C12)."""
    if not trial.changes or trial.changes[-1].valid:
        return False
    seq = trial.changes[-1].mark.seq
    ends = [judgment.mark for judgment in trial.judgments]
    ends += [failed.mark for failed in trial.failed_judgments]
    if trial.finished is not None:
        ends.append(trial.finished)
    return all(seq < end.seq for end in ends)


def is_invalidated_after(trial: SessionRecord) -> bool:
    """Return whether a trial is invalidated now, though it ended or was judged before."""
    return bool(trial.changes) and not trial.changes[-1].valid and not is_invalidated_before(trial)


def outcome_before_judgment(trial: SessionRecord | None, rubric: Rubric) -> str | None:
    """Return the class that comes before any judgment; None where a judgment decides."""
    if trial is None:
        return "not_started"
    if trial.changes and is_invalidated_before(trial):
        return "invalidated"
    outcome = trial.outcome
    if outcome is None:
        return "unfinished"
    if outcome == "errored":
        return errored_class(trial, rubric)
    return outcome if outcome in BEFORE_JUDGMENT else None


def ending_occurrence(trial: SessionRecord) -> TrialOccurrence | None:
    """Return the failure that ended a trial: the last unrecovered one said to have failed it."""
    fatal = [
        occurrence
        for occurrence in trial.occurrences
        if occurrence.impact == "trial_failed" and occurrence.recovered is None
    ]
    return fatal[-1] if fatal else None


def errored_class(trial: SessionRecord, rubric: Rubric) -> str:
    """Return the class of an errored trial, from the occurrence that ended it."""
    last = ending_occurrence(trial)
    if last is None:
        return "trial_errored"
    if last.fault is not None:
        return FAULT_CLASSES[last.fault]
    return mapped_failure(last, rubric)


def mapped_failure(occurrence: TrialOccurrence, rubric: Rubric) -> str:
    """Return the class that the rubric gives to a failure of unknown fault."""
    mapped = rubric.failure_outcomes[occurrence.class_]
    return mapped if isinstance(mapped, str) else mapped[occurrence.purpose or "none"]


CellKey = tuple[str, str | None, bool, bool, bool, tuple[str, str] | None]
"""What a cell is made of: outcome, value, judged, invalidated, leaked, bounds."""


class MetricRules:
    """How one metric of a rubric counts slots; each way to count is one cell, made once."""

    def __init__(self, rubric: Rubric, name: str) -> None:
        metric = rubric.metrics[name]
        self.name = name
        self.rubric = rubric
        self.metric = metric
        self.outcomes = metric_outcomes(rubric, name)
        self.by_value = metric.measure != "verdict"
        judge = rubric.judge if metric.grader == "judge" else None
        self.majority = judge is not None and judge.canonical == "majority"
        self.cells: dict[CellKey, Cell] = {}

    def place(
        self, trial: SessionRecord | None, judged: SessionRecord | None
    ) -> tuple[Cell, JudgmentRecord | None]:
        """Return how a slot counts, and the judgment behind it.

        Args:
            trial: the session that counts; None where none was started.
            judged: where its judgments are: the same, or the derived run's record of it.
        """
        outcome = outcome_before_judgment(trial, self.rubric)
        judgment = None
        if outcome is None:
            assert trial is not None, "a slot without a trial has its class"
            outcome, judgment = self.judged(trial, judged)
        return self.cell(outcome, judgment, trial), judgment

    def judged(
        self, trial: SessionRecord, judged: SessionRecord | None
    ) -> tuple[str, JudgmentRecord | None]:
        """Return the class of a trial whose judgment decides, and that judgment."""
        assert trial.outcome is not None, "an open trial has its class already"
        if judged is not None:
            standing = standing_judgments(judged, self.name)
            if standing:
                judgment = deciding_judgment(standing, majority=self.majority)
                if judgment is None:
                    return "not_gradable", None
                return judgment.verdict or SCORED, judgment
            failed = [known for known in judged.failed_judgments if known.metric == self.name]
            if failed:
                return failed[-1].reason, None
        # An answer that declines is an abstention, however its trial ended, but at its limit.
        declined = trial.abstained and trial.outcome != "limit"
        return "abstained" if declined else WITHOUT_JUDGMENT[trial.outcome], None

    def cell(
        self, outcome: str, judgment: JudgmentRecord | None, trial: SessionRecord | None
    ) -> Cell:
        """Return the cell of a class, by value where the judgment gives one that counts."""
        value, bounds = None, None
        if self.by_value and judgment is not None:
            value, bounds = judgment.score, self.bounds_in(judgment)
        invalidated = trial is not None and is_invalidated_after(trial)
        leaked = trial is not None and trial.leak == "leak"
        key = (outcome, value, judgment is not None, invalidated, leaked, bounds)
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cells[key] = self.new_cell(*key)
        return cell

    def bounds_in(self, judgment: JudgmentRecord) -> tuple[str, str] | None:
        """Return between what a judged score lies; None where it is not within the scale."""
        if judgment.low is None or judgment.high is None:
            return None
        least, most = map(parse_rational, self.metric.scale)
        is_within = least <= parse_rational(judgment.low) <= parse_rational(judgment.high) <= most
        return (judgment.low, judgment.high) if is_within else None

    def right(self, trial: SessionRecord) -> Cell:
        """Return how the slot of a trial would count, had the trial been judged right.

        Where the label counts it is the rule of `correct`, else the best end of the metric's scale.
        """
        low, high = self.metric.scale
        best = high if self.metric.direction == "higher" else low
        return self.new_cell(
            SCORED if self.by_value else "correct",
            best if self.by_value else None,
            judged=True,
            invalidated=is_invalidated_after(trial),
            leaked=trial.leak == "leak",
        )

    def new_cell(
        self,
        outcome: str,
        value: str | None,
        judged: bool,
        invalidated: bool,
        leaked: bool,
        bounds: tuple[str, str] | None = None,
    ) -> Cell:
        """Return how a class counts: by its value where there is one, else by its rule."""
        counts, score = True, None if value is None else rational_text(parse_rational(value))
        if value is None:
            rule = self.outcomes[outcome]
            counts = rule.denominator
            score = rule.score if counts else None
        basis: Literal["judgment", "rule", "nothing"] = "judgment" if judged else "rule"
        return Cell(
            outcome=outcome,
            score=score,
            basis="nothing" if score is None else basis,
            counts=counts,
            invalidated=invalidated,
            leaked=leaked,
            bounds=bounds if counts and score is None else None,
        )


def first_counting(sessions: Sequence[Session], rubric: Rubric, *, allows_retries: bool) -> Session:
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
        outcome = outcome_before_judgment(session, rubric)
        retryable = outcome is not None and rubric.outcomes[outcome].retryable
        if not (interrupted or (allows_retries and retryable)):
            return session
    return sessions[-1]
