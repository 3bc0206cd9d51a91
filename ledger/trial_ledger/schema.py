"""Tables, triggers and migrations of the two files: the ledger and its gold file.

Invariant: every statement that the files may contain stands here, so that `verify` can compare the
whole list of schema objects; triggers refuse what an append-only log must refuse, also from a
program that knows nothing of us.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from trial_ledger.errors import StorageError, UnsupportedFormatError
from trial_ledger.sqlite import Connection, translated

if TYPE_CHECKING:
    from sqlite_utils import Database

__all__ = [
    "FORMAT_VERSION",
    "GOLD_APPLICATION_ID",
    "LEDGER_APPLICATION_ID",
    "check_format",
    "create_gold_schema",
    "create_ledger_schema",
    "schema_differences",
]

FORMAT_VERSION = 1
"""`user_version` of both files."""

LEDGER_APPLICATION_ID = 0x54724C31
"""`application_id` of a ledger: "TrL1"."""

GOLD_APPLICATION_ID = 0x54724731
"""`application_id` of a gold file: "TrG1"."""

EVENT_TABLE = """
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  kind TEXT NOT NULL,
  run TEXT,
  trial TEXT,
  link INTEGER,
  nodes BLOB NOT NULL CHECK (length(nodes) % 32 = 0),
  doc TEXT NOT NULL CHECK (length(CAST(doc AS BLOB)) <= 65535)
) STRICT"""

BLOB_TABLES = (
    """
CREATE TABLE content (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  encoding TEXT NOT NULL CHECK (encoding IN ('raw', 'zstd')),
  data BLOB NOT NULL
) STRICT""",
    """
CREATE TABLE blob (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  salt BLOB CHECK (salt IS NULL OR length(salt) = 32),
  content INTEGER REFERENCES content (id)
) STRICT, WITHOUT ROWID""",
)

HEAD_TABLE = """
CREATE TABLE head (
  size INTEGER PRIMARY KEY CHECK (size >= 1),
  note TEXT NOT NULL
) STRICT"""

INDEXES = (
    "CREATE INDEX event_scope ON event (run, trial)",
    "CREATE UNIQUE INDEX event_link ON event (run, link) WHERE link IS NOT NULL",
    "CREATE INDEX event_redaction ON event (kind) WHERE kind = 'blob.redacted'",
)


def refuse(name: str, table: str, operation: str, *, when: str = "", message: str) -> str:
    """Return a trigger that aborts an operation on a table."""
    condition = f"\nWHEN {when}" if when else ""
    return (
        f"CREATE TRIGGER {name} BEFORE {operation} ON {table}{condition}\n"
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    )


# No JSON function: with trusted_schema off SQLite 3.40 refuses them in a trigger. In canonical form
# the erased blob stands right before the reason, and a quotation mark inside a text is escaped.
REDACTED = """EXISTS (
  SELECT 1 FROM event WHERE kind = 'blob.redacted'
  AND instr(doc, '"blob":"' || lower(hex(OLD.hash)) || '","reason":') > 0)"""

LEDGER_TRIGGERS = (
    refuse("event_no_update", "event", "UPDATE", message="events are never changed"),
    refuse("event_no_delete", "event", "DELETE", message="events are never deleted"),
    # INSERT OR REPLACE deletes without firing DELETE triggers unless recursive_triggers is on,
    # which another program need not have: so the insert itself is refused, for every unique key.
    refuse(
        "event_in_order",
        "event",
        "INSERT",
        when=(
            "NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM event)"
            " OR EXISTS (SELECT 1 FROM event WHERE id = NEW.id)"
            " OR EXISTS (SELECT 1 FROM event WHERE run = NEW.run AND link = NEW.link)"
        ),
        message="an event must be the next one and new",
    ),
    refuse("head_no_update", "head", "UPDATE", message="signed heads are never changed"),
    refuse("head_no_delete", "head", "DELETE", message="signed heads are never deleted"),
    refuse(
        "head_new",
        "head",
        "INSERT",
        when="EXISTS (SELECT 1 FROM head WHERE size = NEW.size)",
        message="this signed head exists",
    ),
)


def blob_triggers(*, erasing: str) -> tuple[str, ...]:
    """Return the triggers of blob and content, given when a blob may be erased."""
    return (
        refuse("content_no_update", "content", "UPDATE", message="contents are never changed"),
        refuse(
            "content_no_delete",
            "content",
            "DELETE",
            when="EXISTS (SELECT 1 FROM blob WHERE content = OLD.id)",
            message="a blob still needs this content",
        ),
        refuse(
            "content_new",
            "content",
            "INSERT",
            when=(
                "NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM content)"
                " OR EXISTS (SELECT 1 FROM content WHERE hash = NEW.hash)"
            ),
            message="a content must be the next one and new",
        ),
        refuse("blob_no_delete", "blob", "DELETE", message="blobs are never deleted, only erased"),
        refuse(
            "blob_only_erased",
            "blob",
            "UPDATE",
            when=(
                "NEW.hash IS NOT OLD.hash OR NEW.salt IS NOT NULL"
                f" OR NEW.content IS NOT NULL OR NOT {erasing}"
            ),
            message="a blob can only be erased, after blob.redacted",
        ),
        refuse(
            "blob_new",
            "blob",
            "INSERT",
            when="EXISTS (SELECT 1 FROM blob WHERE hash = NEW.hash)",
            message="this blob exists",
        ),
    )


LEDGER_STATEMENTS = (
    EVENT_TABLE,
    *BLOB_TABLES,
    HEAD_TABLE,
    *INDEXES,
    *LEDGER_TRIGGERS,
    *blob_triggers(erasing=REDACTED),
)

# The gold file has no events to look at; that an erasure was recorded is checked by `verify`.
GOLD_STATEMENTS = (*BLOB_TABLES, *blob_triggers(erasing="1"))


def create_ledger_schema(connection: Connection) -> None:
    """Create the objects of a ledger, in one transaction."""
    migrate(connection, "trial-ledger", LEDGER_STATEMENTS, LEDGER_APPLICATION_ID)


def create_gold_schema(connection: Connection) -> None:
    """Create the objects of a gold file, in one transaction."""
    migrate(connection, "trial-ledger-gold", GOLD_STATEMENTS, GOLD_APPLICATION_ID)


def migrate(
    connection: Connection, name: str, statements: tuple[str, ...], application_id: int
) -> None:
    """Apply the migrations of one file; each commits together with the record of it."""
    from sqlite_utils import Database  # noqa: PLC0415 - slow to import, needed only to create
    from sqlite_utils.migrations import Migrations  # noqa: PLC0415 - likewise

    migrations = Migrations(name)

    @migrations(name="format-1")
    def format_1(database: "Database") -> None:
        for statement in statements:
            database.execute(statement.strip())
        database.execute(f"PRAGMA application_id = {application_id}")
        database.execute(f"PRAGMA user_version = {FORMAT_VERSION}")

    migrations.apply(Database(connection, execute_plugins=False))


def check_format(connection: Connection, path: Path, application_id: int) -> None:
    """Refuse a file that is not ours or is newer than we are.

    Raises:
        StorageError: not a database, or another program's.
        UnsupportedFormatError: written by a newer version.
    """
    with translated(path):
        found: int = connection.execute("PRAGMA application_id").fetchone()[0]
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found != application_id:
        what = "a gold file" if application_id == GOLD_APPLICATION_ID else "a ledger"
        message = f"{path} is not {what}: its application id is {found:#x}"
        raise StorageError(message, hint="ledger init --ledger PATH makes one")
    if version < 1:
        message = f"{path} says that it is of format {version}, which there never was"
        raise StorageError(message, hint="put back a copy of the file")
    if version > FORMAT_VERSION:
        raise UnsupportedFormatError.single(
            "the file is of a newer format",
            what=str(path),
            found=f"format {version}",
            expected=f"at most {FORMAT_VERSION}",
            hint="install a newer trial-ledger",
        )


def schema_rows(connection: Connection) -> set[tuple[str, str, str, str | None]]:
    """Return every schema object as (type, name, table, SQL)."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return {(row[0], row[1], row[2], row[3]) for row in rows}


def schema_differences(connection: Connection, *, gold: bool = False) -> list[str]:
    """Return a line for every schema object that is missing, foreign or changed, sorted."""
    from trial_ledger.sqlite import sqlite3  # noqa: PLC0415 - keeps the name out of this module

    with sqlite3.connect(":memory:", isolation_level=None) as reference:
        (create_gold_schema if gold else create_ledger_schema)(reference)
        expected = schema_rows(reference)
    reference.close()
    found = schema_rows(connection)
    names = {(row[0], row[1]) for row in expected}
    lines = [
        f"{row[0]} {row[1]} changed" if (row[0], row[1]) in names else f"foreign {row[0]} {row[1]}"
        for row in found - expected
    ]
    present = {(row[0], row[1]) for row in found}
    lines += [
        f"{row[0]} {row[1]} missing" for row in expected - found if (row[0], row[1]) not in present
    ]
    return sorted(lines)
