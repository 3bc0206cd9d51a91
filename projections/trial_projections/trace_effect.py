"""What one trial does to each metric: as it is, and had the trial been right.

Invariant: both numbers come from the same slots by the same rules and differ in one slot alone; a
failure that was made good, or that the trial did not lose by, is never said to have an effect.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from trial_projections.aggregate import Profile, Range, mean, moved, profile_of, views
from trial_projections.cells import MetricRules, Placed
from trial_projections.scores import RunInput, place_slots
from trial_projections.trace_facts import OccurrenceFacts

__all__ = ["Effect", "Ground", "effects_of"]

Ground = Literal["lost", "possible", "none"]
"""Whether the trial lost the metric by it, may have, or did not."""

Why = Literal[
    "trial_lost", "judgment_failed", "trial_itself", "impact_unknown", "impact_degraded",
    "impact_trial_failed", "recovered", "impact_none", "judging_only", "no_failure",
    "other_session", "invalidated", "not_planned", "unavailable", "not_started", "no_trial",
]  # fmt: skip

COMPLETED = frozenset({"answered", "abstained", "unknown"})
"""Outcomes of trials that a failure did not end, whatever somebody said of its impact."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial, or a failure in it, does to one metric."""

    metric: str
    """The metric."""
    scale: tuple[str, str]
    """Lowest and highest score."""
    outcome: str | None
    """Outcome class of the slot; null where the metric does not ask the question."""
    score: str | None
    """Its score; null where undecided or not counted."""
    judged: bool
    """Whether a judgment decides it."""
    as_it_is: Range | None
    """The number; null where there is none."""
    had_it_been_right: Range | None
    """The number with this one slot scored as right; null where it has no effect, or where no slot
    would count then."""
    ground: Literal["lost", "possible", "none"]
    """Whether the metric lost the slot by what is traced, may have, or did not."""
    why: Why
    """What that rests on: `trial_lost`, `judgment_failed`, `trial_itself` (lost or possible);
    `impact_unknown`, `impact_degraded`, `impact_trial_failed` (possible); `recovered`,
    `impact_none`, `judging_only`, `no_failure`, `other_session`, `invalidated`, `not_planned`,
    `not_started`, `no_trial`, `unavailable` (none)."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a metric."""

    slot: tuple[str, int] | None
    """Question and repetition; None for a run as a whole."""
    session: str | None
    """Session of the trial."""
    occurrences: Sequence[OccurrenceFacts] | None
    """The failures that are traced; None traces the trial itself."""


def effects_of(
    source: RunInput,
    tallies: Mapping[str, Counter[Profile]],
    *,
    slot: tuple[str, int] | None,
    session: str | None,
    occurrences: Sequence[OccurrenceFacts] | None,
) -> list[Effect]:
    """Return the effect on every metric, the primary first.

    Args:
        source: the run, with the slots of the trial's question only.
        tallies: by metric, how many questions of the run have each profile; not of metrics that
            can have no number.
        slot: question and repetition of the trial; None for a run as a whole.
        session: its session.
        occurrences: the failures that are traced; None for the trial itself, whatever failed.
    """
    asked = Question(slot=slot, session=session, occurrences=occurrences)
    names = sorted(source.rubric.metrics, key=lambda name: (name != source.rubric.primary, name))
    return [effect_of(source, name, tallies.get(name, Counter()), asked) for name in names]


def effect_of(source: RunInput, name: str, tally: Counter[Profile], asked: Question) -> Effect:
    """Return the effect on one metric."""
    placed = place_slots(source, name)
    here = next((slot for slot in placed if key_of_slot(slot) == asked.slot), None)
    headline = headline_of(source, name, tally)
    ground, why = ground_of(here, asked, name)
    if headline is None:
        ground, why = "none", "unavailable"
    right = None
    if ground != "none":
        assert here is not None, "only a slot has an effect"
        right = had_it_been_right(source, name, tally, placed, here)
    return Effect(
        metric=name,
        scale=source.rubric.metrics[name].scale,
        outcome=None if here is None else here.cell.outcome,
        score=None if here is None else here.cell.score,
        judged=here is not None and here.cell.basis == "judgment",
        as_it_is=headline,
        had_it_been_right=right,
        ground=ground,
        why=why,
    )


def key_of_slot(slot: Placed) -> tuple[str, int]:
    """Return question and repetition of a slot."""
    return slot.question, slot.repetition


def headline_of(source: RunInput, name: str, tally: Mapping[Profile, int]) -> Range | None:
    """Return the number of a metric; None where no slot counts."""
    if not any(cell.counts for profile in tally for cell in profile):
        return None
    metric = source.rubric.metrics[name]
    return mean(
        tally,
        views(metric.scale)["headline"],
        by_question=metric.aggregate == "question-mean",
    )


def had_it_been_right(
    source: RunInput, name: str, tally: Counter[Profile], placed: list[Placed], here: Placed
) -> Range | None:
    """Return a metric with one slot scored as right and everything else as it is.

    None where no slot would count.

    Args:
        source: the run.
        name: the metric.
        tally: how many questions have each profile.
        placed: the slots of one question.
        here: which of them.
    """
    assert here.trial is not None, "a slot without a trial was lost by none"
    right = MetricRules(source.rubric, name).right(here.trial)
    before = [slot.cell for slot in placed]
    after = [right if slot is here else slot.cell for slot in placed]
    return headline_of(source, name, moved(tally, profile_of(before), profile_of(after)))


def ground_of(here: Placed | None, asked: Question, metric: str) -> tuple[Ground, Why]:
    """Return whether a metric lost a slot by what is traced, and what that rests on."""
    away = why_away(here, asked)
    if away is not None:
        return "none", away
    assert here is not None, "the metric has the slot"
    if asked.occurrences is None:
        return ("possible" if here.cell.basis == "judgment" else "lost"), "trial_itself"
    grounds = [ground_by(one, here, metric) for one in asked.occurrences]
    return min(grounds, key=strength, default=("none", "no_failure"))


def why_away(here: Placed | None, asked: Question) -> Why | None:
    """Return why a trial has no part in a metric, or None."""
    if asked.slot is None:
        return "no_trial"
    if here is None:
        return "not_planned"
    if here.trial is None:
        return "not_started"
    if here.trial.session != asked.session:
        return "other_session"
    return "invalidated" if here.cell.outcome == "invalidated" else None


def strength(found: tuple[Ground, Why]) -> int:
    """Return what grounds are sorted by, the strongest first."""
    return ("lost", "possible", "none").index(found[0])


IMPACTS: Mapping[str, tuple[Ground, Why]] = {
    "none": ("none", "impact_none"),
    "degraded": ("possible", "impact_degraded"),
    "trial_failed": ("possible", "impact_trial_failed"),
    "unknown": ("possible", "impact_unknown"),
}
"""What the impact of a failure means for a trial that came to an end of its own."""


def ground_by(occurrence: OccurrenceFacts, here: Placed, metric: str) -> tuple[Ground, Why]:
    """Return whether a metric lost a slot by one failure."""
    assert here.trial is not None, "asked of a trial"
    if occurrence.recovered is not None:
        return "none", "recovered"
    if metric in occurrence.failed_metrics and here.cell.basis != "judgment":
        return "lost", "judgment_failed"
    if occurrence.failed_metrics or occurrence.data.fault == "judge":
        return "none", "judging_only"
    if occurrence.impact == "trial_failed" and here.trial.outcome not in COMPLETED:
        return "lost", "trial_lost"
    return IMPACTS[occurrence.impact]
