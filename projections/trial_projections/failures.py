"""Every failure occurrence, recovered or not (C23, C26): the `failures` projection.

Invariant: an occurrence never leaves the list; recovery, assessment and surfacing are added to it.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from trial_ledger import events
from trial_ledger.keyed_file import KeyedFile
from trial_ledger.view import Stored
from trial_projections.fold import State, key_of
from trial_projections.records import Mark, OccurrenceRecord

__all__ = ["FailureCounts", "FailuresProjection", "OccurrenceState", "count_failures"]


KINDS = frozenset(
    {"call.started", "failure.occurred", "failure.recovered", "failure.assessed"}
    | {"failure.surfaced"}
)
"""Kinds that are failures, or tell where one happened."""


class OccurrenceState(msgspec.Struct, kw_only=True):
    """A record of this projection: an occurrence, or the calls of a trial."""

    occurrence: OccurrenceRecord | None = None
    """The occurrence."""
    calls: dict[str, tuple[str, str | None]] = {}
    """Purpose and endpoint of every call of a trial, by id."""


class FailuresProjection:
    """Keys: run, `occurrence`, trial, occurrence; and run, `calls`, trial."""

    name = "failures"
    version = 1

    def start(self, file: KeyedFile) -> State[OccurrenceState]:
        """Return its state."""
        return State(file, self.name, OccurrenceState)

    def apply(self, state: State[OccurrenceState], stored: Stored) -> None:
        """Take one event into account."""
        event = stored.event
        if event.kind not in KINDS or event.run is None:
            return
        trial = "" if event.trial is None else str(event.trial)
        match event.data:
            case events.CallStarted(call=call, purpose=purpose, endpoint=endpoint):
                key = key_of(event.run, "calls", trial)
                known = state.get(key)
                if known is None:
                    known = OccurrenceState()
                    state.put(key, known)
                known.calls[call] = (purpose, endpoint)
            case events.FailureOccurred() as data:
                self.occur(state, stored, data, event.run, trial)
            case data:
                assert isinstance(
                    data,
                    events.FailureRecovered | events.FailureAssessed | events.FailureSurfaced,
                ), "the other kinds were left out above"
                # Calls stay known, since a judge's may fail later.
                found = state.get(key_of(event.run, "occurrence", trial, data.occurrence))
                assert found is not None, "the guard looked the occurrence up"
                assert found.occurrence is not None, "keys of occurrences hold occurrences"
                update(found.occurrence, data, Mark(event.seq, stored.hash))

    def occur(
        self,
        state: State[OccurrenceState],
        stored: Stored,
        data: events.FailureOccurred,
        run: str,
        trial: str,
    ) -> None:
        """Add one occurrence."""
        known = None if data.call is None else state.get(key_of(run, "calls", trial))
        purpose, endpoint = (None, None)
        if known is not None and data.call is not None:
            purpose, endpoint = known.calls.get(data.call, (None, None))
        state.put(
            key_of(run, "occurrence", trial, data.occurrence),
            OccurrenceState(
                occurrence=OccurrenceRecord(
                    id=data.occurrence,
                    trial=trial or None,
                    mark=Mark(stored.event.seq, stored.hash),
                    at=stored.event.at,
                    class_=data.class_,
                    detail_class=data.detail_class,
                    fault=data.fault,
                    call=data.call,
                    purpose=purpose,
                    attempt=data.attempt,
                    endpoint=data.endpoint or endpoint,
                    message=data.message,
                    impact=data.impact,
                )
            ),
        )


def update(
    record: OccurrenceRecord,
    data: events.FailureRecovered | events.FailureAssessed | events.FailureSurfaced,
    mark: Mark,
) -> None:
    """Add news to an occurrence."""
    match data:
        case events.FailureRecovered(by=by):
            record.recovered, record.recovered_by = mark, by
        case events.FailureAssessed(impact=impact):
            record.impact = impact
        case _:
            record.surfaced = data.seen


class FailureCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Occurrences counted."""

    total: int
    """All of them."""
    recovered: int
    """Those made good."""
    unrecovered: int
    """Those that were not."""
    judge: int
    """Of the unrecovered, those whose fault or call is a judge's."""
    unsurfaced: int
    """Those nobody could have seen while the run executed (C25)."""
    by_class: dict[str, int]
    """All of them by failure class, most first."""
    example: int | None
    """Place of the first that ended a trial, else that was not recovered, else of any; None
    where nothing failed. `ledger trace` takes it."""


def count_failures(occurrences: Iterable[OccurrenceRecord]) -> FailureCounts:
    """Return the counts of some occurrences."""
    found = list(occurrences)
    recovered = sum(occurrence.recovered is not None for occurrence in found)
    judge = sum(
        occurrence.recovered is None
        and (occurrence.fault == "judge" or occurrence.purpose == "judge")
        for occurrence in found
    )
    by_class = Counter(occurrence.class_ for occurrence in found)
    worst = min(found, key=severity, default=None)
    return FailureCounts(
        total=len(found),
        recovered=recovered,
        unrecovered=len(found) - recovered,
        judge=judge,
        unsurfaced=sum(occurrence.surfaced is None for occurrence in found),
        by_class=dict(sorted(by_class.items(), key=lambda item: (-item[1], item[0]))),
        example=None if worst is None else worst.mark.seq,
    )


def severity(occurrence: OccurrenceRecord) -> tuple[bool, bool, int]:
    """Return what puts an occurrence that ended its trial first, one that was made good last."""
    is_recovered = occurrence.recovered is not None
    return is_recovered, occurrence.impact != "trial_failed", occurrence.mark.seq
