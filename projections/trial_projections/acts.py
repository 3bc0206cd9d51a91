"""What an act of a person changes: metrics and marks before and after it (C12, C31).

Invariant: the number after an act is, to the last digit, the one that counting every trial anew
gives; an act changes one question at most, and only that question is read.
"""

from collections import Counter

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.canonical import ZERO_HASH
from trial_ledger.events import Event, Link
from trial_ledger.intake import draft
from trial_ledger.submission import Submission
from trial_ledger.upcasting import newest_version
from trial_ledger.view import Stored
from trial_projections.addresses import About
from trial_projections.aggregate import Profile, Range, mean, moved, profiles_of, views
from trial_projections.fold import key_of
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord, SessionRecord
from trial_projections.scores import (
    NOTHING_COUNTS,
    RunInput,
    cells_by_question,
    place_slots,
    unavailable_reason,
)
from trial_projections.trust import derivation_marks

__all__ = [
    "MarkChange",
    "MetricChange",
    "MetricValue",
    "Seen",
    "announced",
    "look",
    "mark_changes",
    "metric_changes",
]


class MetricValue(msgspec.Struct, frozen=True, kw_only=True):
    """A metric at one size of the log."""

    unavailable: str | None
    """Why there is no number; None where there is one."""
    headline: Range | None
    """The number, or the range of what is undecided."""
    without_invalidated: Range | None
    """The number without trials that were invalidated after their end or verdict; None where there
    are none."""


class MetricChange(msgspec.Struct, frozen=True, kw_only=True):
    """A metric before and after an act."""

    run: str
    """The run."""
    metric: str
    """The metric."""
    scale: tuple[str, str]
    """Lowest and highest score."""
    before: MetricValue
    """Before."""
    after: MetricValue
    """After."""


class MarkChange(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside every number of a run, before and after an act."""

    run: str
    """The run: the one acted on, or one derived from it."""
    before: list[str]
    """Marks before."""
    after: list[str]
    """Marks after."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an act can change, at one size of the log."""

    size: int
    """Events in the log."""
    run: RunRecord
    """The run."""
    trial: SessionRecord | None
    """The trial; None where the act is about the run, or the trial has no event."""
    plan: RunInput
    """The run without its trials."""
    tallies: dict[str, Counter[Profile]]
    """By metric: how many questions have each profile; not of metrics that can have no number."""
    profiles: dict[str, Profile]
    """By metric: the profile of the trial's question, where the metric asks it."""
    marks: dict[str, list[str]]
    """Marks by run."""


def look(model: ReadModel, about: About, *, earlier: Seen | None = None) -> Seen:
    """Return what an act can change, as it is now.

    Args:
        model: the read side.
        about: what the act is about.
        earlier: what was seen one event before; then only the act's own question is read.
    """
    run = model.run(about.run)
    plan = model.input_of(run, model.slots(run), [], None)
    profiles: dict[str, Profile] = {}
    tallies: dict[str, Counter[Profile]] = {}
    trial = source = None
    if about.trial is not None:
        source = model.question_input(run, about.trial.question)
        trial = model.state("trials").read(key_of(run.name, str(about.trial)))
    for name in countable_metrics(plan):
        profile = None if source is None else profile_in(source, name)
        if profile is not None:
            profiles[name] = profile
        tally = tally_in(model, run, name, about) if earlier is None else earlier.tallies.get(name)
        if earlier is not None and tally is not None and about.metric in {None, name}:
            tally = moved(tally, earlier.profiles.get(name), profile)
        if tally is not None:
            tallies[name] = tally
    model.remember(run, tallies)
    return Seen(
        size=model.size,
        run=run,
        trial=trial,
        plan=plan,
        tallies=tallies,
        profiles=profiles,
        marks=marks_of(model, run, about),
    )


def countable_metrics(plan: RunInput) -> list[str]:
    """Return the metrics of a run that can have a number."""
    metrics = plan.rubric.metrics
    return [name for name in metrics if unavailable_reason(plan, metrics[name]) is None]


def tally_in(model: ReadModel, run: RunRecord, name: str, about: About) -> Counter[Profile] | None:
    """Return the tally of a metric; of one that the act cannot change only where it is kept."""
    if about.metric in {None, name}:
        return model.tally(run, name)
    return model.kept_tally(run, name)


def metric_names(plan: RunInput) -> list[str]:
    """Return the metrics of a run, the primary first."""
    primary = plan.rubric.primary
    return sorted(plan.rubric.metrics, key=lambda name: (name != primary, name))


def profile_in(source: RunInput, name: str) -> Profile | None:
    """Return the profile of the one question of an input; None where it is not asked."""
    profiles = profiles_of(cells_by_question(place_slots(source, name)))
    return next(iter(profiles), None)


def marks_of(model: ReadModel, run: RunRecord, about: About) -> dict[str, list[str]]:
    """Return what stands beside every number of a run and of those derived from it, by run.

    Of the run itself only that it does not count; an act about a judgment changes no mark.
    """
    if about.judgment is not None:
        return {}
    found = {run.name: [] if run.is_valid else ["INVALID"]}
    for name in run.derived:
        found[name] = derivation_marks(model, model.run(name))
    return found


def value_of(seen: Seen, name: str) -> MetricValue:
    """Return a metric as it was seen."""
    metric = seen.plan.rubric.metrics[name]
    tally = seen.tallies.get(name)
    if tally is None:
        reason = unavailable_reason(seen.plan, metric)
        return MetricValue(unavailable=reason, headline=None, without_invalidated=None)
    table, by_question = views(metric.scale), metric.aggregate == "question-mean"
    counting = [cell for profile in tally for cell in profile if cell.counts]
    if not counting:
        return MetricValue(unavailable=NOTHING_COUNTS, headline=None, without_invalidated=None)
    without = None
    if any(cell.invalidated for cell in counting):
        without = mean(tally, table["without_invalidated"], by_question=by_question)
    return MetricValue(
        unavailable=None,
        headline=mean(tally, table["headline"], by_question=by_question),
        without_invalidated=without,
    )


def metric_changes(before: Seen, after: Seen, about: About) -> list[MetricChange]:
    """Return every metric that an act could change, before and after it, the primary first."""
    names = metric_names(before.plan) if about.metric is None else [about.metric]
    return [
        MetricChange(
            run=before.run.name,
            metric=name,
            scale=before.plan.rubric.metrics[name].scale,
            before=value_of(before, name),
            after=value_of(after, name),
        )
        for name in names
    ]


def mark_changes(before: Seen, after: Seen) -> list[MarkChange]:
    """Return the runs whose marks an act changed."""
    return [
        MarkChange(run=name, before=before.marks[name], after=after.marks[name])
        for name in before.marks
        if before.marks[name] != after.marks.get(name)
    ]


def announced(
    ledger: Ledger, run: RunRecord, submission: Submission, found: Acknowledgement
) -> Stored:
    """Return an event that was checked and not written, as projections would see it.

    Args:
        ledger: an open ledger.
        run: the run just before it.
        submission: what was submitted, an event of the run.
        found: what checking it said of its place.
    """
    made = draft(submission)
    now = ledger.tools.clock()
    event = Event(
        actor=made.actor,
        at=now,
        data=made.data,
        id=found.id,
        kind=made.kind,
        ledger=ledger.id,
        link=Link(n=run.links + 1, prev=ZERO_HASH),
        prev=ZERO_HASH,
        recorded_at=now,
        run=made.run,
        seq=found.seq,
        trial=made.trial,
        v=newest_version(made.kind),
    )
    return Stored(event=event, hash=found.hash, document=b"")
