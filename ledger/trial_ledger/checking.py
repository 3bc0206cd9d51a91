"""Checks one event after another against everything before it: bytes, chain, link, tree, columns.

Invariant: what passes is exactly what an honest writer would have stored; a check never trusts a
column or a node, it recomputes them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.canonical import (
    ENCODER,
    ZERO_HASH,
    canonical_bytes,
    decode_event,
    event_hash,
    profile_fault,
    recanonicalised,
)
from trial_ledger.errors import LedgerError, VerificationError
from trial_ledger.events import LINKED_KINDS, Actor, Event
from trial_ledger.forms import FORMS, fits, form_problems, is_well_formed
from trial_ledger.identifiers import TrialKey
from trial_ledger.merkle import Frontier, leaf_hash
from trial_ledger.store import EventRow
from trial_ledger.view import Stored

__all__ = ["EventChecker", "Finding", "verified_events"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is not what was written."""

    what: str
    """What is wrong, in one clause."""
    seq: int | None = None
    """At which event; None where it is none of them."""
    place: str | None = None
    """Which schema object, blob, node, pin or run; None where it is an event."""

    def __str__(self) -> str:
        """Return the finding on one line."""
        where = f"seq {self.seq}" if self.seq is not None else self.place
        return f"{where}: {self.what}" if where else self.what


class EventChecker:
    """Checks rows in order; keeps only the edges of chain, links and tree.

    Args:
        ledger: id of the ledger.
        pinned: a size at which the root is wanted.
    """

    def __init__(self, ledger: str, pinned: int | None = None) -> None:
        self.ledger = ledger
        self.pinned = pinned
        self.pinned_root: bytes | None = None
        self.previous = ZERO_HASH
        self.frontier = Frontier(0, [])
        self.links: dict[str, tuple[int, str]] = {}
        self.doubted: int | None = None

    def check_all(self, rows: Sequence[EventRow]) -> list[tuple[Stored | None, list[Finding]]]:
        """Return for each of some rows its event and what is wrong with it, as `check` does.

        Rows that are all sound, as nearly all are, take half the time together.
        """
        sound = self.sound(rows)
        if sound is None:
            return [self.check(row) for row in rows]
        return [(stored, []) for stored in sound]

    def sound(self, rows: Sequence[EventRow]) -> list[Stored] | None:
        """Return the events of rows with which nothing at all is wrong, and move past them.

        None where anything is, or might be; then nothing was moved.
        """
        size = self.frontier.size
        if self.doubted is not None or size < (self.pinned or 0) <= size + len(rows):
            return None
        documents = [row.document for row in rows]
        try:
            events = [decode_event(document) for document in documents]
        except LedgerError:
            return None
        digests = [event_hash(document) for document in documents]
        moved = EventChecker(self.ledger)
        runs = {event.run for event in events}
        moved.links = {run: self.links[run] for run in self.links.keys() & runs}
        moved.frontier = Frontier(size, [*self.frontier.peaks])
        previous = self.previous
        for row, event, digest in zip(rows, events, digests, strict=True):
            nodes = moved.frontier.append(leaf_hash(row.document))
            if (
                event.prev != previous
                or not moved.is_in_place(event, row)
                or not is_as_said(event, row)
                or node_findings(row, nodes)
            ):
                return None
            if event.link is not None and event.run is not None:
                moved.links[event.run] = (event.link.n, digest)
            previous = digest
        if not are_canonical(events, documents):
            return None
        self.links.update(moved.links)
        self.frontier, self.previous = moved.frontier, previous
        return [
            Stored(event=event, hash=digest, document=document)
            for event, digest, document in zip(events, digests, documents, strict=True)
        ]

    def check(self, row: EventRow) -> tuple[Stored | None, list[Finding]]:
        """Return the event and what is wrong with it; None where it cannot be read at all."""
        document = row.document
        digest = event_hash(document)
        finished = self.frontier.append(leaf_hash(document))
        if self.frontier.size == self.pinned:
            self.pinned_root = self.frontier.root()
        try:
            event = decode_event(document)
        except LedgerError as error:
            findings = [*self.resolve(None), Finding(seq=row.seq, what=error.message)]
            self.previous = digest
            return None, findings + node_findings(row, finished)
        findings = [] if self.doubted is None else self.resolve(event.prev)
        if event.prev != self.previous:
            self.doubted = row.seq
        if not (self.is_in_place(event, row) and is_as_written(event, row)):
            faults = self.place_faults(event, row) + document_faults(event, document)
            faults += column_faults(event, row)
            findings += [Finding(seq=row.seq, what=fault) for fault in faults]
        findings += node_findings(row, finished)
        if event.link is not None and event.run is not None:
            self.links[event.run] = (event.link.n, digest)
        self.previous = digest
        return Stored(event=event, hash=digest, document=document), findings

    def is_in_place(self, event: Event, row: EventRow) -> bool:
        """Return whether an event stands where its own words put it, but for the chain."""
        if event.seq != self.frontier.size or row.seq != event.seq or event.ledger != self.ledger:
            return False
        link = event.link
        if link is None:
            return event.run is None or event.kind not in LINKED_KINDS
        number, digest = self.links.get(event.run or "", (0, ZERO_HASH))
        return link.n == number + 1 and link.prev == digest and event.kind in LINKED_KINDS

    def place_faults(self, event: Event, row: EventRow) -> list[str]:
        """Return what is wrong with the event's place in the log and in its run."""
        faults: list[str] = []
        if event.seq != self.frontier.size or row.seq != event.seq:
            faults.append(
                f"is number {self.frontier.size} in the log, row {row.seq}, says {event.seq}"
            )
        if event.ledger != self.ledger:
            faults.append(f"belongs to ledger {event.ledger}")
        if (event.kind in LINKED_KINDS and event.run is not None) != (event.link is not None):
            faults.append(f"{event.kind} {'lacks' if event.link is None else 'has'} a link")
        if event.link is not None:
            number, digest = self.links.get(event.run or "", (0, ZERO_HASH))
            if (event.link.n, event.link.prev) != (number + 1, digest):
                faults.append(
                    f"link {event.link.n} of run {event.run} does not follow link {number}"
                )
        return faults

    def resolve(self, prev: str | None) -> list[Finding]:
        """Return which of two events was changed, where one did not follow the other.

        The event after the two vouches for the later one: where it follows that, the later one is
        as it was written, so the earlier one was changed. Where nothing vouches, the later one
        may be the changed one.

        Args:
            prev: what the next event follows; None where there is none or it cannot be read.
        """
        if self.doubted is None:
            return []
        later, self.doubted = self.doubted, None
        if prev == self.previous:
            return [Finding(seq=later - 1, what=f"is not the event that seq {later} follows")]
        return [Finding(seq=later, what=f"does not follow seq {later - 1}: prev is not its hash")]


def node_findings(row: EventRow, finished: list[tuple[int, int, bytes]]) -> list[Finding]:
    """Return whether the tree nodes stored with an event are those of the events below them."""
    if row.nodes == b"".join([node for _, _, node in finished]):
        return []
    return [Finding(seq=row.seq, what="its tree nodes are not those of the events below them")]


def is_as_written(event: Event, row: EventRow) -> bool:
    """Return whether the bytes and columns of a readable event are those an honest writer stores.

    The newest type reproduces the bytes of every event that it wrote itself; only an event written
    before a field existed needs the slower look of `document_faults`.
    """
    return canonical_bytes(event) == row.document and is_as_said(event, row)


def are_canonical(events: Sequence[Event], documents: Sequence[bytes]) -> bool:
    """Return whether documents are the canonical bytes of their events.

    All are encoded in one call. Equal as a whole means equal one by one: each is one JSON object,
    whose end its own brackets tell.
    """
    return ENCODER.encode(events) == b"[%b]" % b",".join(documents)


def is_as_said(event: Event, row: EventRow) -> bool:
    """Return whether columns are those of the document, and every short text has its form."""
    return (
        row.kind == event.kind
        and row.run == event.run
        and row.id.hex() == event.id
        and row.link == (None if event.link is None else event.link.n)
        and is_trial(event.trial, row.trial)
        and fits("time", event.recorded_at)
        and (event.at is None or event.at == event.recorded_at or fits("time", event.at))
        and is_well_formed(event.data)
        and is_actor(event.actor)
    )


@lru_cache
def is_trial(trial: TrialKey | None, column: str | None) -> bool:
    """Return whether a trial has its form and its column; kept, since its events lie together."""
    if trial is None:
        return column is None
    return column == str(trial) and is_well_formed(trial)


@lru_cache
def is_actor(actor: Actor) -> bool:
    """Return whether an actor has its form; kept, since there are few."""
    return is_well_formed(actor)


def document_faults(event: Event, document: bytes) -> list[str]:
    """Return what is wrong with the stored bytes of a readable event."""
    if recanonicalised(document) != document:
        return ["its bytes are not canonical"]
    fault = profile_fault(msgspec.json.decode(document))
    faults = [] if fault is None else [f"its document holds {fault}"]
    times = (("at", event.at), ("recorded_at", event.recorded_at))
    faults += [
        f"{name} is {time!a}, not a time in {FORMS['time'].expected}"
        for name, time in times
        if time is not None and not fits("time", time)
    ]
    parts = (("data", event.data), ("actor", event.actor), ("trial", event.trial))
    for name, part in parts:
        if part is not None:
            faults += [str(problem) for problem in form_problems(part, name)]
    return faults


def column_faults(event: Event, row: EventRow) -> list[str]:
    """Return the columns that say something else than the document."""
    expected = (
        ("id", event.id, row.id.hex()),
        ("kind", event.kind, row.kind),
        ("run", event.run, row.run),
        ("trial", None if event.trial is None else str(event.trial), row.trial),
        ("link", None if event.link is None else event.link.n, row.link),
    )
    return [
        f"column {name} says {found!r}, its document {wanted!r}"
        for name, wanted, found in expected
        if wanted != found
    ]


def verified_events(ledger: Ledger, *, upto: int | None = None) -> Iterator[Stored]:
    """Yield every event in order, each checked before it is given away.

    Raises:
        VerificationError: at the first event or tree node that is not what was written.
    """
    checker = EventChecker(ledger.id)
    for rows in ledger.store.chunks(upto=upto):
        sound = checker.sound(rows)
        yield from first_sound(checker, rows) if sound is None else sound


def first_sound(checker: EventChecker, rows: Iterable[EventRow]) -> Iterator[Stored]:
    """Yield the events of some rows up to the first that is not what was written.

    Raises:
        VerificationError: at that one.
    """
    for row in rows:
        stored, findings = checker.check(row)
        if checker.doubted is not None:
            findings += checker.resolve(None)
        if findings or stored is None:
            raise VerificationError(str(findings[0]), hint="ledger verify lists everything")
        yield stored
