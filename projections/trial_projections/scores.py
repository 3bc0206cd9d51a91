"""The metrics of a run, exactly as docs/events.md defines them (C6, C13, C16, C20).

Invariant: the denominator is the planned slots of the metric's shapes, less trials invalidated
before their end and first judgment; any undecided trial leaves a range and no point value; every
excluded, retried or undecided trial is counted somewhere that is shown.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction

import msgspec

from trial_ledger.documents.dataset import Question
from trial_ledger.documents.rubric import Metric, Rubric, metric_outcomes
from trial_ledger.exact import parse_rational, rational_text
from trial_ledger.lifecycle.states import Slots
from trial_projections.aggregate import Range, is_missing, mean, profiles_of, views
from trial_projections.cells import Cell, Placed, cell_of, first_counting
from trial_projections.records import TrialRecord

__all__ = ["MetricScore", "RunInput", "place_slots", "score_metric", "score_run"]

NEEDS_EXHAUSTIVE_GOLD = frozenset({"list.recall", "list.f1"})
"""Measures that an incomplete reference list cannot give (C6)."""


class RunInput(msgspec.Struct, kw_only=True):
    """Everything that the scores of a run depend on."""

    rubric: Rubric
    """The run's rubric."""
    slots: Slots
    """Its planned slots."""
    questions: Mapping[str, Question]
    """The dataset's questions by id."""
    allows_retries: bool
    """Whether the manifest allowed retryable sessions to be followed by others."""
    sessions: Mapping[tuple[str, int], list[TrialRecord]]
    """Started sessions of every slot, in the order they were started."""
    judged: Mapping[tuple[str, int, str], TrialRecord] | None = None
    """For a derived run, its own records by question, repetition, session; else None."""


class MetricScore(msgspec.Struct, kw_only=True):
    """One metric of one run."""

    name: str
    """The metric's name."""
    measure: str
    """Its measure."""
    grader: str
    """Its grader."""
    aggregate: str
    """question-mean or trial-mean."""
    scale: tuple[str, str]
    """Lowest and highest score."""
    unavailable: str | None = None
    """Why there is no number; None where there is one."""
    headline: Range | None = None
    """The number, or the range of what is undecided."""
    planned: int
    """Planned slots of its shapes."""
    denominator: int
    """Of these, how many count."""
    decided: int
    """Of these, how many have a score."""
    by_rule: int
    """Of the decided, how many by a rule of the rubric and no judgment."""
    undecided: dict[str, int]
    """Outcome class to number of undecided trials."""
    missing: int
    """Undecided trials, and those without a fair try: what best and worst move."""
    undecided_share: str
    """Undecided over denominator, rational text."""
    gate_decided: bool
    """Whether no more than the rubric's share is undecided."""
    outcomes: dict[str, int]
    """Outcome class to number of planned slots, in the order of the policy."""
    sensitivity: dict[str, Range] = {}
    """The same number under other rules, by name; never a headline."""
    invalidated_after: int = 0
    """Trials that count although they were invalidated after their end or first judgment."""
    retried: int = 0
    """Slots whose first session gave way to another one."""
    dropped_questions: list[str] = []
    """Questions without a counting trial, which a mean over questions leaves out."""
    interval: None = None
    """Not computed yet."""


def place_slots(source: RunInput, name: str, *, first_only: bool = False) -> list[Placed]:
    """Return every planned slot of a metric's shapes and how it counts, in planned order.

    Args:
        source: the run.
        name: the metric.
        first_only: take the first session of every slot, whatever the policy says.
    """
    metric = source.rubric.metrics[name]
    rules = metric_outcomes(source.rubric, name)
    placed: list[Placed] = []
    for question in source.slots.questions:
        if metric.shapes and source.questions[question].task_shape not in metric.shapes:
            continue
        for repetition in range(1, source.slots.repetitions + 1):
            sessions = source.sessions.get((question, repetition), [])
            trial = counting_session(source, sessions, first_only=first_only)
            judged = trial
            if trial is not None and source.judged is not None:
                judged = source.judged.get((question, repetition, trial.session))
            cell, judgment = cell_of(
                trial, judged, name=name, metric=metric, rules=rules, rubric=source.rubric
            )
            placed.append(
                Placed(
                    question=question,
                    repetition=repetition,
                    trial=trial,
                    cell=cell,
                    judgment=judgment,
                    judged=judged,
                    sessions=len(sessions),
                )
            )
    return placed


def counting_session(
    source: RunInput, sessions: list[TrialRecord], *, first_only: bool
) -> TrialRecord | None:
    """Return the session of a slot that counts, or None where none was started."""
    if len(sessions) <= 1 or first_only:
        return sessions[0] if sessions else None
    return first_counting(sessions, source.rubric, allows_retries=source.allows_retries)


def score_run(source: RunInput) -> dict[str, MetricScore]:
    """Return every metric of a run by name, the primary first."""
    names = sorted(source.rubric.metrics, key=lambda name: (name != source.rubric.primary, name))
    return {name: score_metric(source, name) for name in names}


def score_metric(source: RunInput, name: str) -> MetricScore:
    """Return one metric of a run."""
    metric = source.rubric.metrics[name]
    placed = place_slots(source, name)
    counted = [slot.cell for slot in placed if slot.cell.counts]
    undecided = Counter(cell.outcome for cell in counted if cell.score is None)
    missing = sum(undecided.values())
    share = Fraction(missing, len(counted)) if counted else Fraction(0)
    retried = sum(
        slot.sessions > 1 and slot.trial is not first_session(source, slot) for slot in placed
    )
    score = MetricScore(
        name=name,
        measure=metric.measure,
        grader=metric.grader,
        aggregate=metric.aggregate,
        scale=metric.scale,
        unavailable=unavailable_reason(source, metric),
        planned=len(placed),
        denominator=len(counted),
        decided=len(counted) - missing,
        by_rule=sum(cell.basis == "rule" for cell in counted),
        undecided=dict(sorted(undecided.items())),
        missing=sum(is_missing(cell) for cell in counted),
        undecided_share=rational_text(share),
        gate_decided=share <= parse_rational(source.rubric.max_undecided or "1"),
        outcomes=ordered_outcomes(placed, source.rubric),
        invalidated_after=sum(cell.invalidated for cell in counted),
        retried=retried,
        dropped_questions=questions_without_member(placed),
    )
    if score.unavailable is None:
        add_numbers(score, source, metric, placed)
    return score


def first_session(source: RunInput, slot: Placed) -> TrialRecord | None:
    """Return the session of a slot that was started first."""
    sessions = source.sessions.get((slot.question, slot.repetition), [])
    return sessions[0] if sessions else None


def add_numbers(score: MetricScore, source: RunInput, metric: Metric, placed: list[Placed]) -> None:
    """Add the headline and the sensitivity of a metric that has numbers."""
    by_question = metric.aggregate == "question-mean"
    profiles = profiles_of(cells_by_question(placed))
    table = views(metric.scale)
    score.headline = mean(profiles, table["headline"], by_question=by_question)
    names = ["errors_excluded", "complete_case", "worst", "best"]
    if score.invalidated_after:
        names.append("without_invalidated")
    score.sensitivity = {
        name: mean(profiles, table[name], by_question=by_question) for name in names
    }
    if score.retried:
        first = profiles_of(cells_by_question(place_slots(source, score.name, first_only=True)))
        score.sensitivity["first_sessions"] = mean(
            first, table["headline"], by_question=by_question
        )
    if score.headline.low.value is None:
        score.headline, score.sensitivity = None, {}
        score.unavailable = "no planned slot counts"


def unavailable_reason(source: RunInput, metric: Metric) -> str | None:
    """Return why a metric can have no number, or None (C6)."""
    if metric.measure not in NEEDS_EXHAUSTIVE_GOLD:
        return None
    lists = [
        source.questions[name]
        for name in source.slots.questions
        if source.questions[name].task_shape == "list"
    ]
    incomplete = sum(not question.exhaustive for question in lists)
    return f"{incomplete} of {len(lists)} gold lists not exhaustive" if incomplete else None


def ordered_outcomes(placed: list[Placed], rubric: Rubric) -> dict[str, int]:
    """Return the number of slots by outcome class, in the order of the policy."""
    counts = Counter(slot.cell.outcome for slot in placed)
    order = {name: position for position, name in enumerate(rubric.outcomes)}
    return dict(sorted(counts.items(), key=lambda item: (order.get(item[0], -1), item[0])))


def cells_by_question(placed: list[Placed]) -> dict[str, list[Cell]]:
    """Return the cells of every question."""
    found: defaultdict[str, list[Cell]] = defaultdict(list)
    for slot in placed:
        found[slot.question].append(slot.cell)
    return found


def questions_without_member(placed: list[Placed]) -> list[str]:
    """Return the questions none of whose slots count, in planned order."""
    return [
        question
        for question, cells in cells_by_question(placed).items()
        if not any(cell.counts for cell in cells)
    ]
