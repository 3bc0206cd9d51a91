"""The ledger file: append and read rows of events and tree nodes.

Invariant: rows reach the file only inside a transaction that this module began under the file lock;
what COMMIT returned for survives power loss; a crash before it leaves the file as it was, perhaps
with a hot journal that the next writer or `Store.reader` rolls back.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, starmap
from pathlib import Path

import msgspec

from trial_ledger.blobs import BlobTable
from trial_ledger.durable import is_there, remove_unfinished
from trial_ledger.errors import NotFoundError, StorageError, VerificationError
from trial_ledger.head_table import HeadTable
from trial_ledger.locking import FileLock
from trial_ledger.merkle import leaf_hash
from trial_ledger.schema import LEDGER_APPLICATION_ID, check_format, create_ledger_schema
from trial_ledger.sqlite import (
    Connection,
    closed_on_error,
    connect_writer,
    open_reader,
    translated,
    translating,
)

__all__ = ["BEFORE_ALL", "READ_CHUNK", "EventRow", "Store"]

BEFORE_ALL = -(2**63)
"""Before every seq that SQLite can hold, below 1 as well."""

NODE_BYTES = 32
"""Length of a SHA-256 digest."""

FLUSH_EVENTS = 256
FLUSH_BYTES = 4 * 1024 * 1024
"""After either, collected rows go into the running transaction; the most that one group holds."""

READ_CHUNK = 500
"""Events a reader takes in one short transaction, so that no writer waits long for it."""


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """One row of the event table; all but `document` are copies for look-up."""

    seq: int
    """Place in the log, from 1."""
    id: bytes
    """16 bytes."""
    kind: str
    """Tag of the kind."""
    run: str | None
    """Run, where the event belongs to one."""
    trial: str | None
    """Trial within the run, as `question#repetition@session`."""
    link: int | None
    """Number of its link in the run."""
    nodes: bytes
    """Hashes of the subtrees that this event finishes, 32 bytes each, lowest level first."""
    document: bytes
    """The canonical bytes."""


class Store:
    """One ledger file, open for reading or for writing."""

    def __init__(self, path: Path, connection: Connection, lock: FileLock) -> None:
        self.path = path
        self.connection = connection
        self.lock = lock
        self.blobs = BlobTable(connection, path)
        self.heads = HeadTable(connection, path)
        self.new_events: list[tuple[object, ...]] = []

    @classmethod
    def create(cls, path: Path) -> "Store":
        """Make a new, empty file.

        Raises:
            StorageError: something of that name exists, or it cannot be made.
        """
        lock = FileLock(path.with_name(path.name + ".lock"))
        with closed_on_error(lock):
            lock.acquire()
            if is_there(path):
                message = f"{path} exists"
                raise StorageError(message, hint="choose another name with --ledger PATH")
            try:
                connection = connect_writer(path, create=True)
                with closed_on_error(connection), translated(path):
                    create_ledger_schema(connection)
            except BaseException:
                remove_unfinished(path)
                raise
        lock.release()
        return cls(path, connection, lock)

    @classmethod
    def writer(cls, path: Path) -> "Store":
        """Open an existing file for appending.

        Raises:
            NotFoundError: there is no such file.
            StorageError: not a ledger, or it cannot be written.
            UnsupportedFormatError: of a newer format.
        """
        require_file(path)
        connection = connect_writer(
            path, check=lambda found: check_format(found, path, LEDGER_APPLICATION_ID)
        )
        return cls(path, connection, FileLock(path.with_name(path.name + ".lock")))

    @classmethod
    def reader(cls, path: Path, *, warn: Callable[[str], None]) -> "Store":
        """Open an existing file for reading; roll back first what a crashed writer left.

        Args:
            path: the ledger file.
            warn: told in one clause when a rollback was needed.

        Raises:
            NotFoundError: there is no such file.
            StorageError: not a ledger, or a needed rollback cannot be written.
            UnsupportedFormatError: of a newer format.
        """
        require_file(path)
        lock = FileLock(path.with_name(path.name + ".lock"))
        with closed_on_error(lock):
            connection = open_reader(path, lock, warn=warn)
            with closed_on_error(connection):
                check_format(connection, path, LEDGER_APPLICATION_ID)
        return cls(path, connection, lock)

    def close(self) -> None:
        """Close the file and the lock."""
        self.connection.close()
        self.lock.close()

    def begin(self) -> int:
        """Take the lock, begin a write transaction, return the number of events.

        Raises:
            StorageError: another writer holds the lock, or SQLite refuses.
        """
        self.lock.acquire()
        try:
            with translated(self.path):
                self.connection.execute("BEGIN IMMEDIATE")
            self.blobs.begin()
            return self.size()
        except BaseException:
            self.rollback()
            raise

    @translating
    def commit(self) -> None:
        """Make everything flushed durable; on return it survives power loss.

        Raises:
            StorageError: SQLite refuses; the fate of the transaction is then unknown until the
                file is read again.
        """
        self.flush()
        self.connection.execute("COMMIT")

    @translating
    def rollback(self) -> None:
        """Give up the running transaction, if there is one, and the lock."""
        self.new_events.clear()
        self.blobs.discard()
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        finally:
            self.lock.release()

    @translating
    def flush(self) -> None:
        """Write the collected rows into the running transaction."""
        self.blobs.flush()
        self.connection.executemany(
            "INSERT INTO event (seq, id, kind, run, trial, link, nodes, doc)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            self.new_events,
        )
        self.new_events.clear()

    def add_event(self, row: EventRow) -> None:
        """Collect one event."""
        text = row.document.decode("utf-8")
        self.new_events.append(
            (row.seq, row.id, row.kind, row.run, row.trial, row.link, row.nodes, text)
        )

    @translating
    def size(self) -> int:
        """Return the number of events in the file."""
        row = self.connection.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()
        return int(row[0])

    @translating
    def document(self, seq: int) -> bytes | None:
        """Return the stored document of an event, or None."""
        row = self.connection.execute(
            "SELECT CAST(doc AS BLOB) FROM event WHERE seq = ?", (seq,)
        ).fetchone()
        return None if row is None else row[0]

    @translating
    def document_by_id(self, identifier: bytes) -> bytes | None:
        """Return the stored document of the event of that id, or None."""
        row = self.connection.execute(
            "SELECT CAST(doc AS BLOB) FROM event WHERE id = ?", (identifier,)
        ).fetchone()
        return None if row is None else row[0]

    @translating
    def node(self, level: int, position: int) -> bytes:
        """Return a finished tree node; level 0 is computed from its document.

        The node at (level, position) stands in the row of the event that finished it.

        Raises:
            VerificationError: it is not stored.
        """
        row = self.connection.execute(
            "SELECT coalesce(CAST(nodes AS BLOB), x''), coalesce(CAST(doc AS BLOB), x'')"
            " FROM event WHERE seq = ?",
            ((position + 1) << level,),
        ).fetchone()
        found = b""
        if row is not None:
            found = leaf_hash(row[1]) if level == 0 else row[0][(level - 1) * 32 : level * 32]
        if len(found) != NODE_BYTES:
            message = f"tree node {level}/{position} is missing"
            raise VerificationError(message, hint="ledger verify")
        return found

    @translating
    def scope(
        self, run: str | None, trial: str | None, *, after: int = 0, upto: int | None = None
    ) -> list[bytes]:
        """Return the documents of one trial, of a run's own events, or of no run, in order.

        Args:
            run: the run; None for events that belong to none.
            trial: the trial; None for events that belong to the run as a whole.
            after: only events after this seq.
            upto: only events up to this seq.
        """
        rows = self.connection.execute(
            "SELECT CAST(doc AS BLOB) FROM event INDEXED BY event_scope WHERE run IS ?"
            " AND trial IS ? AND seq > ? AND seq <= ? ORDER BY seq",
            (run, trial, after, self.size() if upto is None else upto),
        )
        return [row[0] for row in rows]

    def run_documents(self, run: str, *, upto: int | None = None) -> Iterator[bytes]:
        """Yield every document of a run in order.

        The places are read first (8 bytes each): sorting the documents themselves by place in
        chunks would sort the whole run again for every chunk.
        """
        for seq in self.run_places(run, self.size() if upto is None else upto):
            document = self.document(seq)
            assert document is not None, "what was appended stays"
            yield document

    @translating
    def run_places(self, run: str, upto: int) -> Sequence[int]:
        """Return the seqs of a run's events in order."""
        rows = self.connection.execute(
            "SELECT seq FROM event INDEXED BY event_scope WHERE run = ? AND seq <= ? ORDER BY seq",
            (run, upto),
        )
        return array("q", (row[0] for row in rows))

    @translating
    def last_link(self, run: str, *, upto: int | None = None) -> tuple[int, bytes] | None:
        """Return (n, document) of a run's last link among the events up to a seq, or None."""
        row = self.connection.execute(
            "SELECT link, CAST(doc AS BLOB) FROM event WHERE run = ? AND link IS NOT NULL"
            " AND seq <= ? ORDER BY link DESC LIMIT 1",
            (run, self.size() if upto is None else upto),
        ).fetchone()
        return None if row is None else (row[0], row[1])

    @translating
    def seq_of_link(self, run: str, link: int) -> int | None:
        """Return the seq of a run's link, or None."""
        row = self.connection.execute(
            "SELECT seq FROM event WHERE run = ? AND link = ?", (run, link)
        ).fetchone()
        return None if row is None else int(row[0])

    def link_documents(
        self, run: str, kinds: tuple[str, ...], *, upto: int | None = None
    ) -> Iterator[bytes]:
        """Yield the documents of some linked kinds of a run, in order.

        Args:
            run: the run.
            kinds: kinds that are links of their run.
            upto: only up to this link; None for all.
        """
        for seq in self.link_places(run, kinds, upto):
            document = self.document(seq)
            assert document is not None, "what was appended stays"
            yield document

    @translating
    def link_places(self, run: str, kinds: tuple[str, ...], upto: int | None) -> Sequence[int]:
        """Return the seqs of some linked kinds of a run, in order."""
        rows = self.connection.execute(
            "SELECT seq FROM event INDEXED BY event_link WHERE run = ? AND link IS NOT NULL"
            " AND link <= ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY link",
            (run, self.size() if upto is None else upto, json.dumps(kinds)),
        )
        return array("q", (row[0] for row in rows))

    @translating
    def first_of_kind(self, run: str, kind: str) -> int | None:
        """Return the seq of a run's first linked event of a kind, or None."""
        row = self.connection.execute(
            "SELECT seq FROM event INDEXED BY event_link WHERE run = ? AND link IS NOT NULL"
            " AND kind = ? ORDER BY link LIMIT 1",
            (run, kind),
        ).fetchone()
        return None if row is None else int(row[0])

    @translating
    def run_names(self, prefix: str) -> list[str]:
        """Return the names of the runs that begin with a prefix, sorted."""
        rows = self.connection.execute(
            "SELECT DISTINCT run FROM event INDEXED BY event_scope WHERE run >= ? AND run < ?"
            " ORDER BY run",
            (prefix, prefix + "\U0010ffff"),
        )
        return [row[0] for row in rows]

    @translating
    def unbalanced_trials(self, run: str) -> list[str]:
        """Return the trials whose starts and ends, or those of their calls, differ in number.

        A response lost after its call finished makes them differ without anything being open, so
        this is a superset of the trials with something open.
        """
        rows = self.connection.execute(
            "SELECT trial FROM event INDEXED BY event_scope WHERE run = ? AND trial IS NOT NULL"
            " GROUP BY trial HAVING sum(kind = 'trial.started') <> sum(kind = 'trial.finished')"
            " OR sum(kind = 'call.started') <> sum(kind IN ('call.finished', 'response.lost'))"
            " ORDER BY trial",
            (run,),
        )
        return [row[0] for row in rows]

    def rows(self, *, after: int = 0, upto: int | None = None) -> Iterator[EventRow]:
        """Yield rows in order, each chunk in a short transaction of its own."""
        return chain.from_iterable(self.chunks(after=after, upto=upto))

    def chunks(self, *, after: int = 0, upto: int | None = None) -> Iterator[list[EventRow]]:
        """Yield what `rows` does in lists, never an empty one.

        Id and document are bytes whatever type a damaged page gives them.
        """
        with translated(self.path):
            limit = self.size() if upto is None else upto
            while after < limit:
                rows = self.connection.execute(
                    "SELECT seq, coalesce(CAST(id AS BLOB), x''), kind, run, trial, link,"
                    " coalesce(CAST(nodes AS BLOB), x''), coalesce(CAST(doc AS BLOB), x'')"
                    " FROM event"
                    " WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
                    (after, limit, READ_CHUNK),
                ).fetchall()
                if not rows:
                    return
                yield list(starmap(EventRow, rows))
                if rows[-1][0] <= after:
                    message = f"events are out of order: seq {rows[-1][0]} follows {after}"
                    raise VerificationError(message, hint="ledger verify")
                after = rows[-1][0]


def require_file(path: Path) -> None:
    """Refuse a path without a file, with the command that makes one.

    Raises:
        NotFoundError: there is none.
        StorageError: its folder may not be looked into.
    """
    if not is_there(path, kind=Path.is_file):
        message = f"no ledger at {path}"
        raise NotFoundError(message, hint="ledger init, or name the file with --ledger PATH")
