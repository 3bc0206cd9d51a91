"""The ledger file: append and read rows of events and tree nodes.

Invariant: rows reach the file only inside a transaction that this module began under the file lock;
what COMMIT returned for survives power loss; a crash before it leaves the file as it was, perhaps
with a hot journal that the next writer or `Store.reader` rolls back.
"""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from trial_ledger.blobs import BlobTable
from trial_ledger.errors import NotFoundError, StorageError
from trial_ledger.merkle import leaf_hash
from trial_ledger.schema import LEDGER_APPLICATION_ID, check_format, create_ledger_schema
from trial_ledger.sqlite import (
    Connection,
    FileLock,
    connect_reader,
    connect_writer,
    needs_recovery,
    translated,
)

__all__ = ["READ_CHUNK", "EventRow", "Store"]

READ_CHUNK = 500
"""Events a reader takes in one short transaction, so that no writer waits long for it."""


class EventRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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
    document: bytes
    """The canonical bytes."""


class Store:
    """One ledger file, open for reading or for writing."""

    def __init__(self, path: Path, connection: Connection, lock: FileLock) -> None:
        self.path = path
        self.connection = connection
        self.lock = lock
        self.blobs = BlobTable(connection, path)
        self.new_events: list[tuple[int, bytes, str, str | None, str | None, int | None, str]] = []
        self.new_nodes: list[tuple[int, int, bytes]] = []

    @classmethod
    def create(cls, path: Path) -> "Store":
        """Make a new, empty file.

        Raises:
            StorageError: something of that name exists, or it cannot be made.
        """
        if path.exists():
            message = f"{path} exists"
            raise StorageError(message, hint="choose another name with --ledger PATH")
        lock = FileLock(path.with_name(path.name + ".lock"))
        lock.acquire()
        try:
            connection = connect_writer(path, create=True)
            with translated(path):
                create_ledger_schema(connection)
        finally:
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
        connection = connect_writer(path)
        check_format(connection, path, LEDGER_APPLICATION_ID)
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
        connection = connect_reader(path)
        with translated(path):
            hot = needs_recovery(connection)
        if hot:
            connection.close()
            recover(path, lock)
            warn(f"{path}: rolled back what a crashed writer had not committed")
            connection = connect_reader(path)
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

    def commit(self) -> None:
        """Make everything flushed durable; on return it survives power loss.

        Raises:
            StorageError: SQLite refuses; the fate of the transaction is then unknown until the
                file is read again.
        """
        with translated(self.path):
            self.flush()
            self.connection.execute("COMMIT")

    def rollback(self) -> None:
        """Give up the running transaction, if there is one, and the lock."""
        self.new_events.clear()
        self.new_nodes.clear()
        self.blobs.discard()
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        self.lock.release()

    def flush(self) -> None:
        """Write the collected rows into the running transaction."""
        self.blobs.flush()
        self.connection.executemany(
            "INSERT INTO event (seq, id, kind, run, trial, link, doc) VALUES (?, ?, ?, ?, ?, ?, ?)",
            self.new_events,
        )
        self.connection.executemany(
            "INSERT INTO node (level, position, hash) VALUES (?, ?, ?)", self.new_nodes
        )
        self.new_events.clear()
        self.new_nodes.clear()

    def add_event(self, row: EventRow, nodes: list[tuple[int, int, bytes]]) -> None:
        """Collect one event and the tree nodes that it finished."""
        text = row.document.decode("utf-8")
        self.new_events.append((row.seq, row.id, row.kind, row.run, row.trial, row.link, text))
        self.new_nodes.extend(nodes)

    def size(self) -> int:
        """Return the number of events in the file."""
        row = self.connection.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()
        return int(row[0])

    def document(self, seq: int) -> bytes | None:
        """Return the stored document of an event, or None."""
        row = self.connection.execute(
            "SELECT CAST(doc AS BLOB) FROM event WHERE seq = ?", (seq,)
        ).fetchone()
        return None if row is None else row[0]

    def document_by_id(self, identifier: bytes) -> bytes | None:
        """Return the stored document of the event of that id, or None."""
        row = self.connection.execute(
            "SELECT CAST(doc AS BLOB) FROM event WHERE id = ?", (identifier,)
        ).fetchone()
        return None if row is None else row[0]

    def node(self, level: int, position: int) -> bytes:
        """Return a finished tree node; level 0 is computed from its document.

        Raises:
            NotFoundError: it is not stored.
        """
        if level == 0:
            document = self.document(position + 1)
            found = None if document is None else leaf_hash(document)
        else:
            row = self.connection.execute(
                "SELECT hash FROM node WHERE level = ? AND position = ?", (level, position)
            ).fetchone()
            found = None if row is None else row[0]
        if found is None:
            message = f"tree node {level}/{position} is missing"
            raise NotFoundError(message, hint="ledger verify")
        return found

    def nodes(self, level: int) -> Iterator[bytes]:
        """Yield the stored nodes of one level in order, in chunks; a gap ends them."""
        position = 0
        while True:
            rows = self.connection.execute(
                "SELECT position, hash FROM node WHERE level = ? AND position >= ?"
                " ORDER BY position LIMIT ?",
                (level, position, READ_CHUNK),
            ).fetchall()
            for found, digest in rows:
                if found != position:
                    return
                yield digest
                position += 1
            if len(rows) < READ_CHUNK:
                return

    def node_count(self) -> int:
        """Return how many tree nodes are stored."""
        row = self.connection.execute("SELECT count(*) FROM node").fetchone()
        return int(row[0])

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
        """Yield every document of a run in order, in chunks.

        The places are read first (8 bytes each): sorting the documents themselves by place in
        chunks would sort the whole run again for every chunk.
        """
        limit = self.size() if upto is None else upto
        places = array(
            "q",
            (
                row[0]
                for row in self.connection.execute(
                    "SELECT seq FROM event INDEXED BY event_scope WHERE run = ? AND seq <= ?",
                    (run, limit),
                )
            ),
        )
        for seq in sorted(places):
            row = self.connection.execute(
                "SELECT CAST(doc AS BLOB) FROM event WHERE seq = ?", (seq,)
            ).fetchone()
            yield row[0]

    def last_link(self, run: str) -> tuple[int, bytes] | None:
        """Return (n, document) of a run's last link, or None."""
        row = self.connection.execute(
            "SELECT link, CAST(doc AS BLOB) FROM event WHERE run = ? AND link IS NOT NULL"
            " ORDER BY link DESC LIMIT 1",
            (run,),
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def seq_of_link(self, run: str, link: int) -> int | None:
        """Return the seq of a run's link, or None."""
        row = self.connection.execute(
            "SELECT seq FROM event WHERE run = ? AND link = ?", (run, link)
        ).fetchone()
        return None if row is None else int(row[0])

    def first_of_kind(self, run: str, kind: str) -> int | None:
        """Return the seq of a run's first linked event of a kind, or None."""
        row = self.connection.execute(
            "SELECT seq FROM event INDEXED BY event_link WHERE run = ? AND link IS NOT NULL"
            " AND kind = ? ORDER BY link LIMIT 1",
            (run, kind),
        ).fetchone()
        return None if row is None else int(row[0])

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
        with translated(self.path):
            limit = self.size() if upto is None else upto
            while after < limit:
                rows = self.connection.execute(
                    "SELECT seq, id, kind, run, trial, link, CAST(doc AS BLOB) FROM event"
                    " WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
                    (after, limit, READ_CHUNK),
                ).fetchall()
                if not rows:
                    return
                for seq, identifier, kind, run, trial, link, document in rows:
                    yield EventRow(
                        seq=seq,
                        id=identifier,
                        kind=kind,
                        run=run,
                        trial=trial,
                        link=link,
                        document=document,
                    )
                after = rows[-1][0]


def require_file(path: Path) -> None:
    """Refuse a path without a file, with the command that makes one.

    Raises:
        NotFoundError: there is none.
    """
    if not path.is_file():
        message = f"no ledger at {path}"
        raise NotFoundError(message, hint="ledger init, or name the file with --ledger PATH")


def recover(path: Path, lock: FileLock) -> None:
    """Roll back a hot journal: open read-write once, under the lock.

    Raises:
        StorageError: the medium is read-only, or another writer holds the lock.
    """
    lock.acquire()
    try:
        connection = connect_writer(path)
        try:
            with translated(path):
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        finally:
            connection.close()
    finally:
        lock.release()
