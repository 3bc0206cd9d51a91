"""Which runs, sessions and trials there are and count: the `runs` and `trials` projections.

Invariant: an invalidated run or trial stays, with who said so and why; nothing is dropped.
"""

from collections.abc import Iterator

import msgspec

from trial_ledger import events
from trial_ledger.keyed_file import KeyedFile
from trial_ledger.view import Stored
from trial_projections.effective import apply_judgment
from trial_projections.fold import State, key_of
from trial_projections.records import (
    DrawingRecord,
    Mark,
    PublicationRecord,
    RunRecord,
    StandingChange,
    TrialOccurrence,
    TrialRecord,
)

__all__ = ["RunsProjection", "TrialsProjection"]


def mark_of(stored: Stored) -> Mark:
    """Return an event by its place and hash."""
    return Mark(stored.event.seq, stored.hash)


class RunsProjection:
    """Key: run name."""

    name = "runs"
    version = 3

    def start(self, file: KeyedFile) -> State[RunRecord]:
        """Return its state."""
        return State(file, self.name, RunRecord)

    def apply(self, state: State[RunRecord], stored: Stored) -> None:
        """Take one event into account."""
        event = stored.event
        if event.run is None:
            return
        if isinstance(event.data, events.RunOpened):
            self.open(state, stored, event.run, event.data)
            return
        run = state.get(event.run)
        assert run is not None, "a run's first event is run.opened"
        run.last = mark_of(stored)
        if event.link is not None:
            run.links = event.link.n
        apply_to_run(run, stored)

    def open(
        self, state: State[RunRecord], stored: Stored, name: str, data: events.RunOpened
    ) -> None:
        """Begin the record of a run, and tell the runs it points at."""
        assert data.rubric is not None, "the ledger fills it"
        assert data.rubric_hash is not None, "the ledger fills it"
        assert data.dataset is not None, "the ledger fills it"
        assert data.planned is not None, "the ledger fills it"
        assert data.slots is not None, "the ledger fills it"
        origin = data.derived_from
        state.put(
            name,
            RunRecord(
                name=name,
                opened=mark_of(stored),
                at=stored.event.at,
                entry=data.entry,
                manifest=data.manifest,
                rubric=data.rubric,
                rubric_hash=data.rubric_hash,
                dataset=data.dataset,
                planned=data.planned,
                slots=data.slots,
                reason=data.reason,
                supersedes=data.supersedes,
                derived_from=None if origin is None else origin.run,
                derived_link=None if origin is None else origin.link,
                links=1,
                last=mark_of(stored),
            ),
        )
        if data.supersedes is not None:
            older = state.get(data.supersedes)
            if older is not None:  # A fold of one run alone does not see the others.
                older.superseded_by = name
        if origin is not None:
            parent = state.get(origin.run)
            if parent is not None:
                parent.derived.append(name)


def apply_to_run(run: RunRecord, stored: Stored) -> None:
    """Take one event of a run into account."""
    match stored.event.data:
        case events.TrialStarted():
            run.started += 1
        case events.TrialFinished():
            run.finished += 1
        case events.RunClosed(status=status, reason=reason):
            run.status, run.closing_reason = status, reason
        case events.RunResumed():
            run.status, run.closing_reason = "open", None
        case events.RunRelated(run=other, how=how):
            run.related.append((other, how))
        case events.RunInvalidated(reason=reason, superseded_by=other):
            run.changes.append(change_of(stored, reason, valid=False))
            run.superseded_by = other or run.superseded_by
        case events.RunReinstated(reason=reason):
            run.changes.append(change_of(stored, reason, valid=True))
        case events.SourceImported():
            run.imported.append(mark_of(stored))
        case events.ReviewRecorded():
            run.reviews += 1
        case events.ReviewDrawn(plan=plan, strata=strata):
            run.drawings.append(DrawingRecord(plan, mark_of(stored), strata))
        case events.MetricPublished() as data:
            run.published.extend(publication_of(stored, data))
        case _:
            pass  # Other kinds change a trial, not the run.


def publication_of(stored: Stored, data: events.MetricPublished) -> Iterator[PublicationRecord]:
    """Yield a published number; nothing where the event states none."""
    low, high = data.low or data.value, data.high or data.value
    if low is not None and high is not None:
        mark = mark_of(stored)
        yield PublicationRecord(data.metric, mark, low, high, data.derivation, data.size)


def change_of(stored: Stored, reason: events.BlobRef, *, valid: bool) -> StandingChange:
    """Return an invalidation or its opposite."""
    return StandingChange(mark_of(stored), valid, stored.event.actor.name, reason)


class TrialsProjection:
    """Key: run name, trial."""

    name = "trials"
    version = 4

    def start(self, file: KeyedFile) -> State[TrialRecord]:
        """Return its state."""
        return State(file, self.name, TrialRecord)

    def apply(self, state: State[TrialRecord], stored: Stored) -> None:
        """Take one event into account."""
        event = stored.event
        if event.run is None or event.trial is None:
            return
        key = key_of(event.run, str(event.trial))
        trial = state.get(key)
        if trial is None:
            trial = TrialRecord(
                question=event.trial.question,
                repetition=event.trial.repetition,
                session=event.trial.session,
            )
            state.put(key, trial)
        apply_life(trial, stored)


def apply_life(trial: TrialRecord, stored: Stored) -> None:
    """Take one event of a trial into account."""
    data = stored.event.data
    match data:
        case events.TrialStarted(leak_check=leak):
            trial.started, trial.started_at, trial.leak = mark_of(stored), stored.event.at, leak
        case events.AnswerSubmitted(abstained=abstained):
            trial.answered, trial.abstained = mark_of(stored), abstained
        case events.TrialFinished():
            trial.finished = mark_of(stored)
            trial.outcome, trial.reason = data.outcome, data.reason
            trial.duration_us = data.duration_us
        case events.TrialInvalidated(reason=reason):
            trial.changes += (change_of(stored, reason, valid=False),)
        case events.TrialReinstated(reason=reason):
            trial.changes += (change_of(stored, reason, valid=True),)
        case events.CallStarted(call=call, purpose=purpose):
            trial.calls[call] = purpose
        case events.RetrievalMissDeclared():
            trial.misses += (mark_of(stored),)
        case events.FailureOccurred() | events.FailureRecovered() | events.FailureAssessed():
            apply_failure(trial, stored, data)
        case _:
            apply_judgment(trial, stored, mark_of(stored))


def apply_failure(
    trial: TrialRecord,
    stored: Stored,
    data: events.FailureOccurred | events.FailureRecovered | events.FailureAssessed,
) -> None:
    """Take one event of a failure into account."""
    if isinstance(data, events.FailureOccurred):
        occurrence = TrialOccurrence(
            data.occurrence,
            mark_of(stored),
            data.class_,
            data.fault,
            trial.calls.get(data.call or ""),
            data.impact,
        )
        trial.occurrences += (occurrence,)
        if data.class_ == "gold_leak":
            trial.leak = "leak"
        return
    change: dict[str, object] = (
        {"recovered": mark_of(stored)}
        if isinstance(data, events.FailureRecovered)
        else {"impact": data.impact}
    )
    trial.occurrences = tuple(
        msgspec.structs.replace(known, **change) if known.id == data.occurrence else known
        for known in trial.occurrences
    )
