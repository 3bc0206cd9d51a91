"""Failure occurrences by class, fault, endpoint and minute, with counts and references (C26).

Invariant: every occurrence is in exactly one group, also one of unknown fault, endpoint or time; a
lost trial is counted where the failure is that ended it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from trial_projections.cells import ending_occurrence
from trial_projections.records import OccurrenceRecord, SessionRecord

__all__ = ["GROUP_KEYS", "FailureGroup", "FailureReference", "group_failures"]

MINUTE = len("2026-10-01T12:00")


def minute_of(occurrence: OccurrenceRecord) -> str | None:
    """Return the minute of an occurrence, UTC; None where its time is unknown."""
    return None if occurrence.at is None else occurrence.at[:MINUTE]


GROUP_KEYS: Mapping[str, Callable[[OccurrenceRecord], str | None]] = {
    "class": lambda occurrence: occurrence.class_,
    "fault": lambda occurrence: occurrence.fault,
    "endpoint": lambda occurrence: occurrence.endpoint,
    "minute": minute_of,
}
"""What occurrences can be grouped by; None is unknown."""


class FailureReference(msgspec.Struct, frozen=True, kw_only=True):
    """An occurrence by its place, as `ledger trace` takes it."""

    occurrence: str
    """Its id."""
    trial: str | None
    """Its trial; null for the run as a whole."""
    seq: int
    """Place of its failure.occurred."""
    hash: str
    """BLAKE3 of that document."""


class FailureGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Occurrences that agree in what they are grouped by."""

    key: dict[str, str | None]
    """What they agree in, by name; null is unknown."""
    count: int
    """How many they are."""
    recovered: int
    """Of these, those made good."""
    unrecovered: int
    """Of these, those that were not."""
    trials_lost: int
    """Errored trials that one of these ended."""
    first: FailureReference
    """The first in the log."""
    last: FailureReference
    """The last in the log."""


def group_failures(
    occurrences: Iterable[OccurrenceRecord], trials: Iterable[SessionRecord], by: Sequence[str]
) -> list[FailureGroup]:
    """Return occurrences in groups: by their first minute where that is asked, else most first.

    Args:
        occurrences: in the order of the log.
        trials: those of the run, of which the occurrences may have ended some.
        by: keys of `GROUP_KEYS`; none puts all into one group.
    """
    ended = {
        last.mark.seq
        for trial in trials
        if trial.outcome == "errored" and (last := ending_occurrence(trial)) is not None
    }
    groups: dict[tuple[str | None, ...], list[OccurrenceRecord]] = {}
    for occurrence in occurrences:
        key = tuple(GROUP_KEYS[name](occurrence) for name in by)
        groups.setdefault(key, []).append(occurrence)
    found = [
        FailureGroup(
            key=dict(zip(by, key, strict=True)),
            count=len(members),
            recovered=sum(known.recovered is not None for known in members),
            unrecovered=sum(known.recovered is None for known in members),
            trials_lost=sum(known.mark.seq in ended for known in members),
            first=reference_to(members[0]),
            last=reference_to(members[-1]),
        )
        for key, members in groups.items()
    ]
    return sorted(found, key=order_by_minute if "minute" in by else order_by_count)


def order_by_count(group: FailureGroup) -> tuple[int, int]:
    """Return what puts the largest group first, then the earliest."""
    return -group.count, group.first.seq


def order_by_minute(group: FailureGroup) -> tuple[bool, str, int, int]:
    """Return what puts the earliest minute first, an unknown one last, then the largest group."""
    minute = group.key["minute"]
    return minute is None, minute or "", *order_by_count(group)


def reference_to(occurrence: OccurrenceRecord) -> FailureReference:
    """Return an occurrence by its place."""
    return FailureReference(
        occurrence=occurrence.id,
        trial=occurrence.trial,
        seq=occurrence.mark.seq,
        hash=occurrence.mark.hash,
    )
