"""The projections file: keyed states of projections, disposable, in SQLite.

Invariant: a state is tagged with the ledger, the size and the root that it was folded from, in the
same transaction; a crash leaves the old state with the old tag. Nothing here is a source of truth:
the file may be deleted at any time.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from operator import itemgetter
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from trial_ledger.errors import LedgerError, StorageError
from trial_ledger.locking import LOCK_WAIT_SECONDS
from trial_ledger.sqlite import (
    Connection,
    closed_on_error,
    sqlite3,
    storage_error,
)

__all__ = ["DISPOSABLE", "KeyedFile", "StateTag", "projections_path"]

DISPOSABLE = "delete it: ledger replay makes a new one"
"""What to do about a projections file that cannot be read."""
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
"""SQLite error name prefixes of a file that is no database, or not a sound one."""

APPLICATION_ID = 0x54725031
"""`application_id` of a projections file: "TrP1"."""

PAGE_CACHE = "PRAGMA cache_size=-32768"
"""32 MB: a fold comes back to the records of all runs and trials, not only to the last ones."""

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS tag (projection TEXT PRIMARY KEY, version INTEGER NOT NULL,"
        " ledger TEXT NOT NULL, size INTEGER NOT NULL, root TEXT NOT NULL) STRICT, WITHOUT ROWID"
    ),
    (
        "CREATE TABLE IF NOT EXISTS state (projection TEXT NOT NULL, key TEXT NOT NULL,"
        " value BLOB NOT NULL, PRIMARY KEY (projection, key)) STRICT, WITHOUT ROWID"
    ),
    f"PRAGMA application_id = {APPLICATION_ID}",
)


class StateTag(msgspec.Struct, frozen=True, kw_only=True):
    """What a state was folded from."""

    projection: str
    """Name of the projection."""
    version: int
    """Its version."""
    ledger: str
    """Id of the ledger."""
    size: int
    """Events folded."""
    root: str
    """Root of the tree over them."""


def projections_path(ledger: Path) -> Path:
    """Return where a ledger's projections lie: `trials.ledger` → `trials.ledger.projections`."""
    return ledger.with_name(ledger.name + ".projections")


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def trouble(path: Path, error: sqlite3.Error) -> LedgerError:
    """Return our error for one of SQLite's; no fault of this file is a reason to doubt the ledger.

    An error without a name of SQLite's is Python's: a text is not UTF-8.
    """
    name: str | None = getattr(error, "sqlite_errorname", None)
    if name is not None and not name.startswith(DAMAGED):
        return storage_error(path, error)
    message = f"{path} is not a projections file, or damaged: {error}"
    return StorageError(message, hint=DISPOSABLE)


def told(
    method: Callable[Concatenate["KeyedFile", Arguments], Result],
) -> Callable[Concatenate["KeyedFile", Arguments], Result]:
    """Turn SQLite's errors into ours in a method."""

    @wraps(method)
    def call(file: "KeyedFile", /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return method(file, *args, **kwargs)
        except sqlite3.Error as error:
            raise trouble(file.path, error) from error

    return call


class KeyedFile:
    """States by projection and key; an empty path keeps them in a temporary file of SQLite's."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    @classmethod
    def temporary(cls) -> "KeyedFile":
        """Return states that vanish with the object."""
        connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        connection.execute(PAGE_CACHE)
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        for statement in SCHEMA:
            connection.execute(statement)
        return cls(connection, Path("temporary"))

    @classmethod
    def open(cls, path: Path) -> "KeyedFile":
        """Open or make a projections file.

        Raises:
            StorageError: it is something else, or cannot be written.
        """
        try:
            connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=LOCK_WAIT_SECONDS
            )
            with closed_on_error(connection):
                connection.execute(PAGE_CACHE)
                connection.execute("PRAGMA journal_mode=TRUNCATE")
                connection.execute("PRAGMA synchronous=NORMAL")
                if is_empty(connection):
                    make_tables(connection)
                found = connection.execute("PRAGMA application_id").fetchone()[0]
                if found != APPLICATION_ID:
                    message = f"{path} is not a projections file"
                    raise StorageError(message, hint="move it away; ledger replay makes a new one")
        except sqlite3.Error as error:
            raise trouble(path, error) from error
        return cls(connection, path)

    @told
    def begin(self) -> None:
        """Begin the transaction in which a fold is saved."""
        self.connection.execute("BEGIN IMMEDIATE")

    @told
    def do_not_wait(self) -> None:
        """Give up at once, from here on, where another process uses the file."""
        self.connection.execute("PRAGMA busy_timeout=0")

    @told
    def hold(self) -> None:
        """Begin to read: from the first look on nothing changes until `rollback` or `close`."""
        self.connection.execute("BEGIN")

    @told
    def commit(self) -> None:
        """Make the fold and its tags durable together."""
        self.connection.execute("COMMIT")

    def rollback(self) -> None:
        """Go back to the states before `begin`."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @told
    def tags(self) -> dict[str, StateTag]:
        """Return the tag of every projection by name."""
        rows = self.connection.execute(
            "SELECT projection, version, ledger, size, root FROM tag"
        ).fetchall()
        return {
            row[0]: StateTag(
                projection=row[0], version=row[1], ledger=row[2], size=row[3], root=row[4]
            )
            for row in rows
        }

    @told
    def set_tag(self, tag: StateTag) -> None:
        """Say what the states of a projection were folded from."""
        self.connection.execute(
            "INSERT OR REPLACE INTO tag (projection, version, ledger, size, root)"
            " VALUES (?, ?, ?, ?, ?)",
            (tag.projection, tag.version, tag.ledger, tag.size, tag.root),
        )

    @told
    def clear(self, projection: str) -> None:
        """Forget the states and the tag of a projection."""
        self.connection.execute("DELETE FROM state WHERE projection = ?", (projection,))
        self.connection.execute("DELETE FROM tag WHERE projection = ?", (projection,))

    @told
    def get(self, projection: str, key: str) -> bytes | None:
        """Return one state, or None."""
        row = self.connection.execute(
            "SELECT value FROM state WHERE projection = ? AND key = ?", (projection, key)
        ).fetchone()
        return None if row is None else row[0]

    @told
    def put_many(self, projection: str, items: Iterable[tuple[str, bytes]]) -> None:
        """Replace states in one transaction: one a row takes longer the larger the file is."""
        statement = "INSERT OR REPLACE INTO state (projection, key, value) VALUES (?, ?, ?)"
        rows = ((projection, key, value) for key, value in items)
        if self.connection.in_transaction:
            self.connection.executemany(statement, rows)
            return
        self.connection.execute("BEGIN")
        try:
            self.connection.executemany(statement, rows)
        except BaseException:
            self.rollback()
            raise
        self.connection.execute("COMMIT")

    def scan(self, projection: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """Yield (key, value) of every key with that prefix, in key order."""
        return self.select("key, value", projection, prefix)

    def values(self, projection: str, prefix: str = "") -> Iterator[bytes]:
        """Yield the value of every key with that prefix, in key order."""
        return map(itemgetter(0), self.select("value", projection, prefix))

    def select(self, columns: str, projection: str, prefix: str) -> Iterator[Any]:
        """Yield rows of the states whose key has that prefix, in key order."""
        try:
            yield from self.connection.execute(
                f"SELECT {columns} FROM state"  # noqa: S608 - two literals above
                " WHERE projection = ? AND key >= ? AND key < ? ORDER BY key",
                (projection, prefix, prefix + "\U0010ffff"),
            )
        except sqlite3.Error as error:
            raise trouble(self.path, error) from error


def is_empty(connection: Connection) -> bool:
    """Return whether a database has no table yet."""
    return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_schema").fetchone()[0])


def make_tables(connection: Connection) -> None:
    """Make the tables, unless another process makes them at the same time."""
    connection.execute("BEGIN IMMEDIATE")
    if is_empty(connection):
        for statement in SCHEMA:
            connection.execute(statement)
    connection.execute("COMMIT")
