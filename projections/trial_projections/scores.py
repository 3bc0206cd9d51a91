"""The metrics of a run, exactly as docs/reference/events.md defines them (C6, C13, C16, C20).

Invariant: the denominator is the planned slots of the metric's shapes, less trials invalidated
before their end and first judgment; any undecided trial leaves a range and no point value; every
excluded, retried or undecided trial is counted somewhere that is shown.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

import msgspec

from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.outcome_structs import OUTCOME_CLASSES
from trial_ledger.documents.rubric_structs import Metric, Rubric
from trial_ledger.exact import parse_rational, rational_text
from trial_ledger.lifecycle.states import Slots
from trial_projections.aggregate import Profile, Range, is_missing, mean, profiles_of, views
from trial_projections.cells import SCORED, Cell, MetricRules, Placed, first_counting
from trial_projections.intervals import ScoreInterval, score_interval
from trial_projections.records import SessionRecord

__all__ = [
    "NOTHING_COUNTS",
    "MetricScore",
    "RunInput",
    "cells_by_question",
    "place_slots",
    "score_metric",
    "score_run",
    "unavailable_reason",
]

NEEDS_EXHAUSTIVE_GOLD = frozenset({"list.recall", "list.f1"})
"""Measures that an incomplete reference list cannot give (C6)."""

NOTHING_COUNTS = "no planned slot counts"
"""Why a metric without a denominator has no number."""


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
    sessions: Mapping[tuple[str, int], Sequence[SessionRecord]]
    """Started sessions of every slot, in the order they were started."""
    judged: Mapping[tuple[str, int, str], SessionRecord] | None = None
    """For a derived run, its own records by question, repetition, session; else None."""
    tallies: dict[str, Counter[Profile]] = {}
    """What scoring found, by metric: how many questions have each profile of cells."""
    placed: dict[str, list[Placed]] = {}
    """What placing found, by metric, under the session policy."""


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
    leaked: int = 0
    """Counting trials in which gold was found where the agent could see or use it (C3)."""
    retried: int = 0
    """Slots whose first session gave way to another one."""
    dropped_questions: list[str] = []
    """Questions without a counting trial, which a mean over questions leaves out."""
    interval: ScoreInterval | None = None
    """Its confidence interval by question, or why it has none; None where there is no number."""


NO_SESSIONS: Sequence[SessionRecord] = ()

Sessions = Literal["policy", "first", "retried"]
"""Which session of a slot counts: as the manifest says, always the first, or as if retries were
allowed."""


def place_slots(source: RunInput, name: str, *, sessions: Sessions = "policy") -> list[Placed]:
    """Return every planned slot of a metric's shapes and how it counts, in planned order.

    Args:
        source: the run.
        name: the metric.
        sessions: which session of a slot counts.
    """
    if sessions == "policy" and name in source.placed:
        return source.placed[name]
    shapes = source.rubric.metrics[name].shapes
    rules = MetricRules(source.rubric, name)
    not_started, _ = rules.place(None, None)
    placed: list[Placed] = []
    for question in source.slots.questions:
        if shapes and source.questions[question].task_shape not in shapes:
            continue
        for repetition in range(1, source.slots.repetitions + 1):
            known = source.sessions.get((question, repetition))
            if known is None:
                placed.append(
                    Placed(question, repetition, NO_SESSIONS, None, None, None, not_started)
                )
                continue
            trial = known[0] if len(known) == 1 else counting_session(source, known, sessions)
            judged: SessionRecord | None = trial
            if source.judged is not None:
                judged = source.judged.get((question, repetition, trial.session))
            cell, judgment = rules.place(trial, judged)
            placed.append(Placed(question, repetition, known, trial, judged, judgment, cell))
    if sessions == "policy":
        source.placed[name] = placed
    return placed


def counting_session(
    source: RunInput, known: Sequence[SessionRecord], sessions: Sessions
) -> SessionRecord:
    """Return which of several sessions of a slot counts."""
    if sessions == "first":
        return known[0]
    retries = source.allows_retries or sessions == "retried"
    return first_counting(known, source.rubric, allows_retries=retries)


def score_run(source: RunInput) -> dict[str, MetricScore]:
    """Return every metric of a run by name, the primary first."""
    names = sorted(source.rubric.metrics, key=lambda name: (name != source.rubric.primary, name))
    return {name: score_metric(source, name) for name in names}


def score_metric(source: RunInput, name: str) -> MetricScore:
    """Return one metric of a run."""
    return score_placed(source, name, place_slots(source, name))


def score_placed(source: RunInput, name: str, placed: list[Placed]) -> MetricScore:
    """Return one metric of a run whose slots were placed under it."""
    metric = source.rubric.metrics[name]
    cells = Counter(slot.cell for slot in placed)
    counted = {cell: times for cell, times in cells.items() if cell.counts}
    undecided = Counter[str]()
    for cell, times in counted.items():
        if cell.score is None:
            undecided[cell.outcome] += times
    denominator, open_count = sum(counted.values()), undecided.total()
    share = Fraction(open_count, denominator) if denominator else Fraction(0)
    score = MetricScore(
        name=name,
        measure=metric.measure,
        grader=metric.grader,
        aggregate=metric.aggregate,
        scale=metric.scale,
        unavailable=unavailable_reason(source, metric),
        planned=len(placed),
        denominator=denominator,
        decided=denominator - open_count,
        by_rule=sum(times for cell, times in counted.items() if cell.basis == "rule"),
        undecided=dict(sorted(undecided.items())),
        missing=sum(times for cell, times in counted.items() if is_missing(cell)),
        undecided_share=rational_text(share),
        gate_decided=share <= parse_rational(source.rubric.max_undecided),
        outcomes=ordered_outcomes(cells),
        invalidated_after=sum(times for cell, times in counted.items() if cell.invalidated),
        leaked=sum(times for cell, times in counted.items() if cell.leaked),
        retried=sum(
            len(slot.sessions) > 1 and slot.trial is not slot.sessions[0] for slot in placed
        ),
    )
    if score.unavailable is None:
        add_numbers(score, source, placed)
    return score


def add_numbers(score: MetricScore, source: RunInput, placed: list[Placed]) -> None:
    """Add the headline and the sensitivity of a metric that has numbers."""
    by_question = score.aggregate == "question-mean"
    cells = cells_by_question(placed)
    profiles, table = profiles_of(cells), views(score.scale)
    source.tallies[score.name] = profiles
    if not score.denominator:
        score.unavailable = NOTHING_COUNTS
        return
    score.headline = mean(profiles, table["headline"], by_question=by_question)
    score.interval = score_interval(
        source.rubric.metrics[score.name].interval,
        profiles,
        table["headline"],
        by_question=by_question,
        scale=score.scale,
    )
    if by_question:
        score.dropped_questions = questions_without_member(cells)
    names = ["errors_excluded", "complete_case", "worst", "best"]
    if score.invalidated_after:
        names.append("without_invalidated")
    if score.leaked:
        names.append("without_leaks")
    score.sensitivity = {
        name: mean(profiles, table[name], by_question=by_question) for name in names
    }
    for name, sessions in other_sessions(source, score, placed).items():
        other = profiles_of(cells_by_question(place_slots(source, score.name, sessions=sessions)))
        score.sensitivity[name] = mean(other, table["headline"], by_question=by_question)


def other_sessions(
    source: RunInput, score: MetricScore, placed: list[Placed]
) -> dict[str, Sessions]:
    """Return the other choices of sessions that a number is also shown under, by name (C16)."""
    others: dict[str, Sessions] = {}
    if score.retried:
        others["first_sessions"] = "first"
    if not source.allows_retries and any(
        slot.trial is not counting_session(source, slot.sessions, "retried")
        for slot in placed
        if len(slot.sessions) > 1
    ):
        others["retries_counted"] = "retried"
    return others


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


def ordered_outcomes(cells: Mapping[Cell, int]) -> dict[str, int]:
    """Return the number of slots by outcome class: values without a label, then by the policy."""
    counts = Counter[str]()
    for cell, times in cells.items():
        counts[cell.outcome] += times
    return {name: counts[name] for name in (SCORED, *OUTCOME_CLASSES) if counts[name]}


def cells_by_question(placed: list[Placed]) -> dict[str, list[Cell]]:
    """Return the cells of every question."""
    found: defaultdict[str, list[Cell]] = defaultdict(list)
    for slot in placed:
        found[slot.question].append(slot.cell)
    return found


def questions_without_member(cells: Mapping[str, list[Cell]]) -> list[str]:
    """Return the questions none of whose slots count, in planned order."""
    return [
        question for question, members in cells.items() if not any(cell.counts for cell in members)
    ]
