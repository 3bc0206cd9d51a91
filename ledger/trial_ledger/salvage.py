"""Reads what can still be read of a damaged ledger, and says up to where it is intact.

Invariant: an event is given away exactly as it stands in the file; the intact beginning ends before
the first event that is not what was written or cannot be read.
"""

from collections.abc import Iterator

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.checking import EventChecker
from trial_ledger.errors import LedgerError, StorageError
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.merkle import Frontier, leaf_hash
from trial_ledger.store import EventRow

__all__ = ["Prefix", "intact_prefix", "is_passing", "readable_rows"]


PASSING = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_NOMEM", "SQLITE_READONLY")
"""What SQLite says that may be otherwise in a minute; the last where a writer crashed just now."""


class Prefix(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a log with which nothing is wrong."""

    size: int
    """Number of its events."""
    root: str
    """Root of the tree over them."""


def is_passing(error: LedgerError) -> bool:
    """Return whether an error says nothing about the content of a file: it is busy, or full."""
    if not isinstance(error, StorageError):
        return False
    name: str | None = getattr(error.__cause__, "sqlite_errorname", None)
    return name is None or name.startswith(PASSING)


def intact_prefix(ledger: Ledger) -> Prefix:
    """Return the longest beginning of a log in which every event is what was written.

    That an event was changed can be known as late as two events later, by what follows it. Where
    nothing follows, and one of two was changed, neither counts as intact.
    """
    checker = EventChecker(ledger.id)
    leaves: list[bytes] = []
    bad: list[int] = []
    for seq, row in readable_rows(ledger):
        if row is None:
            bad.append(seq)
            break
        _, findings = checker.check(row)
        bad += [finding.seq or seq for finding in findings]
        leaves.append(leaf_hash(row.document))
        if bad and checker.doubted is None:
            break
    if checker.doubted is not None:
        bad.append(checker.doubted - 1)  # nothing behind the two says which of them was changed
    size = min([*bad, len(leaves) + 1]) - 1
    frontier = Frontier(0, [])
    for leaf in leaves[:size]:
        frontier.append(leaf)
    return Prefix(size=size, root=frontier.root().hex())


def readable_rows(
    ledger: Ledger, *, after: int = 0, upto: int | None = None
) -> Iterator[tuple[int, EventRow | None]]:
    """Yield (seq, row) of a range of the log in order; None for a row that cannot be read.

    Of rows that are missing in a row the first is named. Where not even the end of the log can be
    read, the first row that cannot is the last.

    Args:
        ledger: a ledger, damaged or not.
        after: only after this seq.
        upto: only up to this seq; None for all.

    Raises:
        StorageError: the file is busy, which says nothing about it.
    """
    size = end_of(ledger)
    end = min(limit for limit in (upto, size, MAX_INTEGER) if limit is not None)
    while after < end:
        rows = next_rows(ledger, after, end)
        if rows is None:
            alone = next_rows(ledger, after, after + 1)
            after += 1
            yield after, alone[0] if alone else None
            if not alone and size is None:
                return
            continue
        for row in rows:
            if row.seq > after + 1:
                yield after + 1, None
            yield row.seq, row
            after = row.seq
        if not rows:
            yield after + 1, None
            return


def end_of(ledger: Ledger) -> int | None:
    """Return the seq of the last event; None where a damaged file does not tell.

    Raises:
        StorageError: the file is busy, which says nothing about it.
    """
    try:
        return ledger.store.size()
    except LedgerError as error:
        if is_passing(error):
            raise
        return None


def next_rows(ledger: Ledger, after: int, upto: int) -> list[EventRow] | None:
    """Return the next rows of a range; None where any of them cannot be read.

    Raises:
        StorageError: the file is busy, which says nothing about it.
    """
    try:
        return next(ledger.store.chunks(after=after, upto=upto), [])
    except LedgerError as error:
        if is_passing(error):
            raise
        return None
