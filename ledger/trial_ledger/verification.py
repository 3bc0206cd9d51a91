"""The whole check of a ledger: what `ledger verify` says.

Invariant: nothing is trusted but the bytes and the head pin; everything that is wrong is listed,
the first bad event named first. That the tail was cut cannot be seen from the file: only a head
pin or a signed head kept elsewhere shows it.

Levels: `tail_check` has the two that do not look at the whole log; this one does, and holds it
against notes kept elsewhere and against a policy where they are given.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence

import msgspec

from trial_ledger.blobs import BlobTable
from trial_ledger.book import Ledger
from trial_ledger.checking import EventChecker, Finding
from trial_ledger.errors import LedgerError, VerificationError
from trial_ledger.events import DatasetRegistered, Event
from trial_ledger.head_policy import HeadPolicy
from trial_ledger.named_blobs import NamedBlobs, References
from trial_ledger.note_files import KeptNote
from trial_ledger.pairing import Pairing
from trial_ledger.pin import Pin
from trial_ledger.salvage import intact_prefix, is_passing
from trial_ledger.schema import schema_differences
from trial_ledger.signed_heads import HeadCheck, HeadState, KeysInForce
from trial_ledger.sqlite import integrity_faults, translated
from trial_ledger.store import BEFORE_ALL

__all__ = ["Verification", "verify"]

MAX_FINDINGS = 1_000
"""After so many the rest is counted, not listed."""

EVENTS = "events"
"""Where a finding is that made the rest of the log unreadable."""

PROGRESS_EVENTS = 10_000
"""How often progress is told."""


class Verification(msgspec.Struct, kw_only=True):
    """What a check found."""

    ledger: str
    """Id of the ledger."""
    size: int
    """Events checked."""
    root: str
    """Root recomputed over them."""
    findings: list[Finding]
    """What is wrong, in the order of the log, then of the file's other parts."""
    unlisted: int = 0
    """Findings beyond those listed."""
    redacted: int = 0
    """Blobs erased after a blob.redacted: a state of its own, not a fault."""
    unerased: list[str] = []
    """Blobs that a blob.redacted names and whose bytes are still there: a crash came between."""
    intact_upto: int | None = None
    """Up to which seq events are what was written; None where nothing is wrong with any."""
    intact_root: str | None = None
    """Root over those events."""
    open_trials: list[str] = []
    """Trials and calls that have not ended, in runs that do not claim to be complete."""
    pin: str = "none"
    """`matches`, `none` (this user never appended), `not kept`, or what is wrong with it."""
    gold: str = "checked"
    """`checked`, `absent`, or `not checked`."""
    orphans: int = 0
    """Blobs no event names: left by an append that was interrupted, or is running; harmless."""
    blobs_checked: bool = True
    """Whether the bytes of every blob were checked."""
    level: str = "full"
    """`full`; `open` or `since head`, which look at the end of the log only."""
    since: int = 0
    """Events at the beginning that were not looked at again, but for the root over them."""
    trusted: str = ""
    """Whose word for these events was taken; empty where nobody's was."""
    heads: HeadState = msgspec.field(default_factory=HeadState)
    """What signed heads say of the log."""

    @property
    def is_intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def add(self, finding: Finding) -> None:
        """Add a finding."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
        else:
            self.unlisted += 1

    def put_in_order(self) -> None:
        """Put what is wrong with events first, in the order of the log."""
        self.findings.sort(key=lambda finding: (finding.seq is None, finding.seq or 0))


def verify(
    ledger: Ledger,
    *,
    fast: bool = False,
    progress: Callable[[int, int], None] | None = None,
    against: Sequence[KeptNote] = (),
    policy: HeadPolicy | None = None,
) -> Verification:
    """Check everything that can be checked, signed heads included.

    Args:
        ledger: an open ledger; only read.
        fast: leave out SQLite's own check and the bytes of blobs.
        progress: told (events checked, events) now and then.
        against: notes of signed heads that were kept elsewhere.
        policy: who must have signed; it comes from elsewhere than the ledger.

    Returns:
        What was found; never raises for what is wrong with the content.
    """
    report = Verification(ledger=ledger.id, size=0, root="", findings=[], blobs_checked=not fast)
    pin = read_pin(ledger, report)
    keys = KeysInForce()
    with contextlib.closing(References()) as references:
        with content_faults(report, EVENTS):
            root = check_events(ledger, report, references, keys, pin=pin, progress=progress)
            check_pin(report, pin, root)
        find_intact(ledger, report)
        with content_faults(report, "blobs"):
            check_references(ledger, report, references)
    with content_faults(report, "schema"):
        check_schema(ledger, report)
    with content_faults(report, "heads"):
        check_heads(ledger, report, keys, against=against, policy=policy)
    if not fast:
        with content_faults(report, "database"):
            check_database(ledger, report)
        with content_faults(report, "blobs"):
            check_blobs(ledger, report)
    report.put_in_order()
    return report


def find_intact(ledger: Ledger, report: Verification) -> None:
    """Say up to where the events are what was written, where something is wrong with any."""
    if any(found.seq is not None or found.place == EVENTS for found in report.findings):
        prefix = intact_prefix(ledger)
        report.intact_upto, report.intact_root = prefix.size, prefix.root


@contextlib.contextmanager
def content_faults(report: Verification, place: str) -> Iterator[None]:
    """Turn what makes a part of the file unreadable into a finding, so that the rest is checked.

    Raises:
        StorageError: the file is busy, or the check itself lacks room: that says nothing about the
            content.
    """
    try:
        yield
    except LedgerError as error:
        if is_passing(error):
            raise
        report.add(Finding(place=place, what=error.message))


def check_schema(ledger: Ledger, report: Verification) -> None:
    """Compare the whole list of schema objects of both files."""
    with translated(ledger.store.path):
        for line in schema_differences(ledger.store.connection):
            report.add(Finding(place="schema", what=line))
    if ledger.gold is None:
        report.gold = "absent"
        return
    with translated(ledger.gold.path):
        for line in schema_differences(ledger.gold.connection, gold=True):
            report.add(Finding(place="gold schema", what=line))


def check_database(ledger: Ledger, report: Verification) -> None:
    """Let SQLite check the pages of both files."""
    with translated(ledger.store.path):
        for fault in integrity_faults(ledger.store.connection):
            report.add(Finding(place="database", what=fault))
    if ledger.gold is not None:
        with translated(ledger.gold.path):
            for fault in integrity_faults(ledger.gold.connection):
                report.add(Finding(place="gold database", what=fault))


def check_events(
    ledger: Ledger,
    report: Verification,
    references: References,
    keys: KeysInForce,
    *,
    pin: Pin | None,
    progress: Callable[[int, int], None] | None,
) -> str:
    """Check every event and every tree node; return the root at the size of the head pin."""
    total = ledger.store.size()
    checker = EventChecker(ledger.id, None if pin is None else pin.size)
    pairing = Pairing()
    found: list[Finding] = []
    for rows in ledger.store.chunks(after=BEFORE_ALL):
        for row, (stored, findings) in zip(rows, checker.check_all(rows), strict=True):
            found += findings
            if stored is not None:
                faults = pairing.take(stored) + references.take(stored) + keys.take(stored)
                if isinstance(stored.event.data, DatasetRegistered):
                    faults += commitment_faults(ledger, references, stored.event)
                found += [Finding(seq=row.seq, what=fault) for fault in faults]
            if progress is not None and row.seq % PROGRESS_EVENTS == 0:
                progress(row.seq, total)
        report.size = checker.frontier.size
        if checker.doubted is None:
            add_sorted(report, found)
    found += checker.resolve(None)
    add_sorted(report, found)
    report.root = checker.frontier.root().hex()
    report.open_trials = [what for _, what in pairing.still_open()]
    if report.size == 0:
        report.add(Finding(place="event", what="no events, not even ledger.opened"))
    return "" if checker.pinned_root is None else checker.pinned_root.hex()


def add_sorted(report: Verification, found: list[Finding]) -> None:
    """Move findings into the report in the order of the log.

    Which of two events was changed is known one event later, so they come out of order.
    """
    for finding in sorted(found, key=lambda finding: finding.seq or 0):
        report.add(finding)
    found.clear()


def commitment_faults(ledger: Ledger, references: References, event: Event) -> list[str]:
    """Remember the gold records that a dataset commits to; return what is wrong with them."""
    assert isinstance(event.data, DatasetRegistered), "the caller looked"
    try:
        content = ledger.document_bytes(event.data.commitments)
        commitments = msgspec.json.decode(content, type=dict[str, str | None])
    except LedgerError as error:
        return [error.message]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return [f"its commitments cannot be read: {error}"]
    faults = [
        references.gold.add(commitment, event.seq)
        for commitment in commitments.values()
        if commitment is not None
    ]
    return [fault for fault in faults if fault is not None]


def check_references(ledger: Ledger, report: Verification, references: References) -> None:
    """Check that every named blob is there or was redacted, and count those nobody names."""
    check_table(report, "ledger", ledger.store.blobs, references.named, references.redacted)
    if ledger.gold is not None:
        check_table(report, "gold file", ledger.gold.blobs, references.gold, references.redacted)


def check_table(
    report: Verification, file: str, table: BlobTable, named: NamedBlobs, redacted: set[str]
) -> None:
    """Compare the blobs of one file with those that events name."""
    for name, erased, seq in named.matched(table.names()):
        if erased is None:
            report.add(Finding(seq=seq, what=f"blob {name.hex()}… is missing from the {file}"))
            continue
        if seq is None:
            report.orphans += 1
        if name.hex() in redacted:
            report.redacted += erased
            report.unerased += [] if erased else [name.hex()]
        elif erased:
            report.add(Finding(place=f"blob {name.hex()}", what="erased without a blob.redacted"))


def check_blobs(ledger: Ledger, report: Verification) -> None:
    """Check the bytes of every blob in both files."""
    for place, what in ledger.store.blobs.faults():
        report.add(Finding(place=place, what=what))
    if ledger.gold is not None:
        for place, what in ledger.gold.blobs.faults():
            report.add(Finding(place=f"gold {place}", what=what))


def check_heads(
    ledger: Ledger,
    report: Verification,
    keys: KeysInForce,
    *,
    against: Sequence[KeptNote],
    policy: HeadPolicy | None,
) -> None:
    """Hold the log against every signed head there is."""
    check = HeadCheck(ledger.id, ledger.store, report.size, keys, policy)
    try:
        report.heads = check.run(against)
    finally:
        for finding in check.findings:
            report.add(finding)


def read_pin(ledger: Ledger, report: Verification) -> Pin | None:
    """Return the head pin, or None where there is none to compare with.

    Raises:
        StorageError: the file system refuses to show it.
    """
    if ledger.pin is None:
        report.pin = "not kept"
        return None
    try:
        pin = ledger.pin.read()
    except VerificationError as error:
        report.pin = "unreadable"
        report.add(Finding(place="head pin", what=error.message))
        return None
    if pin is not None:
        report.pin = "not checked"
    return pin


def check_pin(report: Verification, pin: Pin | None, root: str) -> None:
    """Compare the file with what this user has seen of it.

    Args:
        report: takes what was found.
        pin: what was seen, if anything.
        root: the root at its size, just recomputed.
    """
    if pin is None:
        return
    if pin.size > report.size:
        report.pin = f"behind: {report.size} events, {pin.size} were seen"
        report.add(
            Finding(
                place="head pin",
                what=f"the file has {report.size} events, {pin.size} were seen: the tail was cut"
                " or an older copy put back",
            )
        )
    elif root != pin.root:
        report.pin = "another past"
        report.add(
            Finding(place="head pin", what=f"the first {pin.size} events are not those seen before")
        )
    else:
        report.pin = "matches"
