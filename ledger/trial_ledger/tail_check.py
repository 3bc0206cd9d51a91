"""The two checks that look at the end of a log only: at once, and since a head that is trusted.

Invariant: what was not looked at is said; the events before the beginning are vouched for by the
root of a head that the checker trusts, or by nothing, and then the report says so.

The tree is what carries the trust: the stored nodes that lead to the trusted root are compared with
it, so that whatever was changed below them is not seen by this check, and is seen by any proof.
"""

from collections.abc import Callable, Sequence

from trial_ledger.book import Ledger
from trial_ledger.canonical import ZERO_HASH, event_hash
from trial_ledger.checking import EventChecker, Finding
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.events import BlobRedacted
from trial_ledger.head_policy import HeadPolicy
from trial_ledger.merkle import Frontier, root_at
from trial_ledger.named_blobs import TEXTS_OF
from trial_ledger.note_files import KeptNote
from trial_ledger.signed_heads import KeysInForce
from trial_ledger.store import EventRow
from trial_ledger.verification import (
    PROGRESS_EVENTS,
    Verification,
    add_sorted,
    check_heads,
    check_pin,
    check_schema,
    content_faults,
    read_pin,
)
from trial_ledger.view import Stored, stored_event

__all__ = ["verify_end", "verify_since_head"]


def verify_end(ledger: Ledger) -> Verification:
    """Check the schema, the last event and the head pin, which opening a file can afford.

    The time that it takes does not grow with the log. Opening itself has compared the ids.

    Args:
        ledger: an open ledger; only read.
    """
    report = started(ledger, "open")
    report.since = max(0, report.size - 1)
    with content_faults(report, "events"):
        hold_against_pin(ledger, report)
        Tail(ledger, report).check(None)
    return finished(ledger, report)


def verify_since_head(
    ledger: Ledger,
    *,
    progress: Callable[[int, int], None] | None = None,
    against: Sequence[KeptNote] = (),
    policy: HeadPolicy | None = None,
) -> Verification:
    """Check the events after the newest head that the checker trusts, and the texts they name.

    Args:
        ledger: an open ledger; only read.
        progress: told (events checked, events) now and then.
        against: notes of signed heads that were kept elsewhere.
        policy: who must have signed; without it the checker's own head pin is what is trusted.

    Raises:
        NotFoundError: there is neither a policy nor a head pin.
    """
    report = started(ledger, "since head")
    keys, redacted = KeysInForce(), set[str]()
    with content_faults(report, "events"):
        for document in ledger.store.scope(None, None):
            stored = stored_event(document)
            keys.take(stored)
            if isinstance(stored.event.data, BlobRedacted):
                redacted.add(stored.event.data.blob)
    with content_faults(report, "heads"):
        check_heads(ledger, report, keys, against=against, policy=policy)
    pinned = 0
    with content_faults(report, "events"):
        pinned = hold_against_pin(ledger, report)
    if policy is None and report.pin in {"none", "not kept"}:
        message = "no head to begin from: no policy was given and you have no head pin"
        raise NotFoundError(message, hint="ledger verify checks the whole log")
    report.since = max(report.heads.accepted, pinned)
    if report.since:
        report.trusted = "head pin" if report.since == pinned else "policy"
    with content_faults(report, "events"):
        Tail(ledger, report).check(redacted, progress=progress)
    return finished(ledger, report)


def started(ledger: Ledger, level: str) -> Verification:
    """Return a report about the end of a log, with nothing in it."""
    size = ledger.store.size()
    return Verification(
        ledger=ledger.id, size=size, root="", findings=[], level=level, blobs_checked=False
    )


def finished(ledger: Ledger, report: Verification) -> Verification:
    """Add what is wrong with the schema, and put everything in order."""
    with content_faults(report, "schema"):
        check_schema(ledger, report)
    report.gold = "absent" if ledger.gold is None else "not checked"
    report.put_in_order()
    return report


def hold_against_pin(ledger: Ledger, report: Verification) -> int:
    """Compare the log with the head pin; return how many events it vouches for, 0 for none."""
    pin = read_pin(ledger, report)
    if pin is None:
        return 0
    is_there = pin.size <= report.size
    root = root_at(pin.size, ledger.store.node).hex() if is_there else ""
    check_pin(report, pin, root)
    return pin.size if report.pin == "matches" else 0


class Tail:
    """The events of a log after those that its report takes for granted."""

    def __init__(self, ledger: Ledger, report: Verification) -> None:
        self.ledger = ledger
        self.report = report
        self.runs: set[str | None] = {None}
        after = report.since
        last = ledger.store.document(after) if after else None
        if after and last is None:
            message = f"seq {after} is missing"
            raise VerificationError(message)
        self.checker = EventChecker(ledger.id)
        self.checker.frontier = Frontier.load(after, ledger.store.node)
        self.checker.previous = ZERO_HASH if last is None else event_hash(last)

    def check(
        self,
        redacted: set[str] | None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Check every event, and the bytes of its texts.

        Args:
            redacted: blobs that were redacted; None leaves the texts out.
            progress: told (events checked, events) now and then.
        """
        report, found = self.report, list[Finding]()
        for rows in self.ledger.store.chunks(after=report.since, upto=report.size):
            self.load_links(rows)
            for row, (stored, findings) in zip(rows, self.checker.check_all(rows), strict=True):
                found += findings
                if stored is not None and redacted is not None:
                    found += self.text_findings(stored, redacted)
                if progress is not None and row.seq % PROGRESS_EVENTS == 0:
                    progress(row.seq, report.size)
        found += self.checker.resolve(None)
        add_sorted(report, found)
        report.size = self.checker.frontier.size
        report.root = self.checker.frontier.root().hex()

    def load_links(self, rows: Sequence[EventRow]) -> None:
        """Remember the last link, before this tail, of every run that occurs in it."""
        for run in {row.run for row in rows} - self.runs:
            self.runs.add(run)
            assert run is not None, "None was there from the start"
            last = self.ledger.store.last_link(run, upto=self.report.since)
            if last is not None:
                self.checker.links[run] = (last[0], event_hash(last[1]))

    def text_findings(self, stored: Stored, redacted: set[str]) -> list[Finding]:
        """Return what is wrong with the texts of one event."""
        texts_of = TEXTS_OF.get(stored.event.kind)
        found: list[Finding] = []
        for text in () if texts_of is None else texts_of(stored.event.data)[1:]:
            if text is None or (text.class_ == "gold" and self.ledger.gold is None):
                continue
            try:
                content = self.ledger.blob(text)
            except VerificationError as error:
                found.append(Finding(seq=stored.event.seq, what=error.message))
                continue
            if content is None and text.blob in redacted:
                self.report.redacted += 1
            elif content is None:
                what = f"blob {text.blob} is erased without a blob.redacted"
                found.append(Finding(seq=stored.event.seq, what=what))
        return found
