"""The whole check of a ledger: what `ledger verify` says.

Invariant: nothing is trusted but the bytes and the head pin; everything that is wrong is listed,
the first bad event named first. That the tail was cut cannot be seen from the file: only a head
pin or a signed head kept elsewhere shows it.
"""

from collections.abc import Callable

import msgspec

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.checking import EventChecker, Finding
from trial_ledger.errors import LedgerError, VerificationError
from trial_ledger.events import TEXT_CLASSES, BlobRef
from trial_ledger.pin import Pin
from trial_ledger.schema import schema_differences
from trial_ledger.sqlite import integrity_faults, sqlite3, storage_error
from trial_ledger.view import Stored

__all__ = ["Verification", "verify"]

MAX_FINDINGS = 1_000
"""After so many the rest is counted, not listed."""


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
    open_trials: list[str] = []
    """Trials and calls that have not ended, in runs that do not claim to be complete."""
    pin: str = "none"
    """`matches`, `none` (this user never appended), `not kept`, or what contradicts it."""
    gold: str = "checked"
    """`checked`, `absent`, or `not checked`."""
    orphans: int = 0
    """Blobs no event names: left by an append that was interrupted; harmless."""
    blobs_checked: bool = True
    """Whether the bytes of every blob were checked."""

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


class References:
    """The blobs that events name, and which of them were redacted."""

    def __init__(self) -> None:
        self.named: dict[bytes, int] = {}
        self.gold: dict[bytes, int] = {}
        self.redacted: set[bytes] = set()

    def take(self, stored: Stored) -> list[BlobRef]:
        """Remember the blobs of one event; return those that hold commitments."""
        data = stored.event.data
        for field in TEXT_CLASSES[stored.event.kind]:
            reference = getattr(data, field, None)
            if reference is not None:
                table = self.gold if reference.class_ == "gold" else self.named
                table.setdefault(bytes.fromhex(reference.blob), stored.event.seq)
        if isinstance(data, events.BlobRedacted):
            self.redacted.add(bytes.fromhex(data.blob))
        if isinstance(data, events.DatasetRegistered):
            if data.canary is not None:
                self.gold.setdefault(bytes.fromhex(data.canary), stored.event.seq)
            return [data.commitments]
        return []


class Pairing:
    """Which trials and calls are open, and which runs say that they are complete."""

    def __init__(self) -> None:
        self.trials: dict[tuple[str, str], bool] = {}
        self.calls: dict[tuple[str, str], set[str]] = {}
        self.complete: dict[str, int] = {}

    def take(self, stored: Stored) -> list[str]:
        """Take one event into account; return what no guard would have let pass."""
        event = stored.event
        if event.run is None:
            return []
        if isinstance(event.data, events.RunClosed) and event.data.status == "complete":
            self.complete[event.run] = event.seq
        if isinstance(event.data, events.RunResumed):
            self.complete.pop(event.run, None)
        if event.trial is None:
            return []
        return self.take_trial((event.run, str(event.trial)), event.data)

    def take_trial(self, key: tuple[str, str], data: events.AnyData) -> list[str]:
        """Take one event of a trial into account."""
        match data:
            case events.TrialStarted():
                self.trials[key] = True
            case events.TrialFinished():
                if not self.trials.pop(key, False):
                    return ["ends a trial that is not open"]
            case events.CallStarted(call=call):
                self.calls.setdefault(key, set()).add(call)
            case events.CallFinished(call=call):
                if call not in self.calls.get(key, ()):
                    return [f"ends call {call}, which is not open"]
                self.end(key, call)
            case events.ResponseLost(call=call):
                self.end(key, call)
            case _:
                pass  # Nothing else opens or ends.
        return []

    def end(self, key: tuple[str, str], call: str) -> None:
        """Forget an open call, and the trial's entry with its last one."""
        calls = self.calls.get(key, set())
        calls.discard(call)
        if not calls:
            self.calls.pop(key, None)

    def still_open(self) -> list[tuple[str, str]]:
        """Return (run, what) of everything open, in order."""
        found = [(run, f"trial {trial} of run {run}") for run, trial in self.trials]
        found += [
            (run, f"call {call} of trial {trial} of run {run}")
            for (run, trial), calls in self.calls.items()
            for call in calls
        ]
        return sorted(found)


def verify(
    ledger: Ledger,
    *,
    fast: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Check everything that can be checked without a signed head.

    Args:
        ledger: an open ledger; only read.
        fast: leave out SQLite's own check and the bytes of blobs.
        progress: told (events checked, events) now and then.

    Returns:
        What was found; never raises for what is wrong with the content.
    """
    report = Verification(ledger=ledger.id, size=0, root="", findings=[], blobs_checked=not fast)
    try:
        check_schema(ledger, report)
        if not fast:
            for fault in integrity_faults(ledger.store.connection):
                report.add(Finding(place="database", what=fault))
        pin = read_pin(ledger, report)
        references, pairing = References(), Pairing()
        check_events(
            ledger,
            report,
            references,
            pairing,
            pin_size=0 if pin is None else pin.size,
            progress=progress,
        )
        check_pairing(report, pairing)
        check_references(ledger, report, references)
        if not fast:
            check_blobs(ledger, report)
        if pin is not None:
            check_pin(report, pin)
    except sqlite3.Error as error:
        report.add(Finding(place="database", what=str(storage_error(ledger.store.path, error))))
    except LedgerError as error:
        report.add(Finding(place="database", what=error.message))
    return report


def check_schema(ledger: Ledger, report: Verification) -> None:
    """Compare the whole list of schema objects of both files."""
    for line in schema_differences(ledger.store.connection):
        report.add(Finding(place="schema", what=line))
    if ledger.gold is None:
        report.gold = "absent"
        return
    for line in schema_differences(ledger.gold.connection, gold=True):
        report.add(Finding(place="gold schema", what=line))


def check_events(
    ledger: Ledger,
    report: Verification,
    references: References,
    pairing: Pairing,
    *,
    pin_size: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Check every event and every tree node; keep the root at the size of the head pin."""
    total = ledger.store.size()
    checker = EventChecker(ledger.id)
    found: list[Finding] = []
    for row in ledger.store.rows():
        stored, findings = checker.check(row)
        faults: list[str] = []
        if stored is not None:
            faults += pairing.take(stored)
            for blob in references.take(stored):
                faults += take_commitments(ledger, references, stored, blob)
        found += findings + [Finding(seq=row.seq, what=fault) for fault in faults]
        if checker.frontier.size == pin_size:
            report.pin = checker.frontier.root().hex()
        if checker.doubted is None:
            add_sorted(report, found)
        if progress is not None and row.seq % 10_000 == 0:
            progress(row.seq, total)
    found += checker.resolve(None)
    add_sorted(report, found)
    report.size = checker.frontier.size
    report.root = checker.frontier.root().hex()
    if report.size == 0:
        report.add(Finding(place="event", what="no events, not even ledger.opened"))


def add_sorted(report: Verification, found: list[Finding]) -> None:
    """Move findings into the report in the order of the log.

    Which of two events was changed is known one event later, so they come out of order.
    """
    for finding in sorted(found, key=lambda finding: finding.seq or 0):
        report.add(finding)
    found.clear()


def take_commitments(
    ledger: Ledger, references: References, stored: Stored, blob: BlobRef
) -> list[str]:
    """Remember the gold records that a dataset commits to."""
    try:
        content = ledger.document_bytes(blob)
    except VerificationError as error:
        return [error.message]
    commitments: dict[str, str | None] = msgspec.json.decode(content)
    for commitment in commitments.values():
        if commitment is not None:
            references.gold.setdefault(bytes.fromhex(commitment), stored.event.seq)
    return []


def check_pairing(report: Verification, pairing: Pairing) -> None:
    """Say what is open: a fault in a run that claims to be complete, a state elsewhere."""
    for run, what in pairing.still_open():
        if run in pairing.complete:
            report.add(
                Finding(
                    seq=pairing.complete[run], what=f"calls run {run} complete, but {what} is open"
                )
            )
        else:
            report.open_trials.append(what)


def check_references(ledger: Ledger, report: Verification, references: References) -> None:
    """Check that every named blob is there or was redacted, and count those nobody names."""
    tables = [("ledger", ledger.store.blobs, references.named)]
    if ledger.gold is not None:
        tables.append(("gold file", ledger.gold.blobs, references.gold))
    for file, table, named in tables:
        missing = dict(named)
        for name, erased in table.names():
            if name not in named:
                report.orphans += 1
            missing.pop(name, None)
            if not erased:
                continue
            if name in references.redacted:
                report.redacted += 1
            else:
                report.add(
                    Finding(place=f"blob {name.hex()}", what="erased without a blob.redacted")
                )
        for name, seq in sorted(missing.items(), key=lambda item: item[1]):
            report.add(Finding(seq=seq, what=f"blob {name.hex()} is missing from the {file}"))


def check_blobs(ledger: Ledger, report: Verification) -> None:
    """Check the bytes of every blob in both files."""
    for place, what in ledger.store.blobs.faults():
        report.add(Finding(place=place, what=what))
    if ledger.gold is None:
        return
    for fault in integrity_faults(ledger.gold.connection):
        report.add(Finding(place="gold database", what=fault))
    for place, what in ledger.gold.blobs.faults():
        report.add(Finding(place=f"gold {place}", what=what))


def read_pin(ledger: Ledger, report: Verification) -> Pin | None:
    """Return the head pin, or None where there is none to compare with."""
    if ledger.pin is None:
        report.pin = "not kept"
        return None
    try:
        return ledger.pin.read()
    except VerificationError as error:
        report.pin = "unreadable"
        report.add(Finding(place="head pin", what=error.message))
        return None


def check_pin(report: Verification, pin: Pin) -> None:
    """Compare the file with what this user has seen of it; its root there was just recomputed."""
    if pin.size > report.size:
        report.pin = f"behind: {report.size} events, {pin.size} were seen"
        report.add(
            Finding(
                place="head pin",
                what=f"the file has {report.size} events, {pin.size} were seen: the tail was cut"
                " or an older copy put back",
            )
        )
    elif report.pin != pin.root:
        report.pin = "another past"
        report.add(
            Finding(place="head pin", what=f"the first {pin.size} events are not those seen before")
        )
    else:
        report.pin = "matches"
