"""What somebody with the file in hand can do to it: raw SQL, raw bytes, and a rewritten history."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import rfc8785

from ledger_cases import tools
from trial_ledger.blobs import expanded
from trial_ledger.book import Ledger
from trial_ledger.canonical import ZERO_HASH, event_hash
from trial_ledger.merkle import Frontier, leaf_hash
from trial_ledger.sqlite import Connection, sqlite3
from trial_ledger.verification import Verification, verify

Document = dict[str, Any]


def raw(path: Path) -> Connection:
    """Open a file without any of the settings of this program."""
    return sqlite3.connect(path, isolation_level=None)


@contextlib.contextmanager
def tampering(path: Path) -> Iterator[Connection]:
    """Open a file with its triggers out of the way; they are put back afterwards."""
    connection = raw(path)
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    yield connection
    for _, statement in triggers:
        connection.execute(statement)
    connection.close()


@contextlib.contextmanager
def without_types(path: Path) -> Iterator[Connection]:
    """Open a file whose tables take any type for a while: STRICT is cut out of the schema."""
    with tampering(path) as connection:
        schema = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT%'"
        ).fetchall()
        loosened = {
            name: statement.replace(" STRICT,", "").replace(" STRICT", "").replace(" NOT NULL", "")
            for name, statement in schema
        }
        set_schema(connection, loosened)
        loose = raw(path)
        loose.execute("PRAGMA ignore_check_constraints = ON")
        yield loose
        set_schema(loose, dict(schema))
        loose.close()


def set_schema(connection: Connection, statements: dict[str, str]) -> None:
    """Overwrite the schema text of tables and nothing else."""
    connection.execute("PRAGMA writable_schema = ON")
    for name, statement in statements.items():
        connection.execute(
            "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?", (statement, name)
        )
    connection.execute("PRAGMA writable_schema = OFF")


def document_of(connection: Connection, seq: int) -> Document:
    """Return the stored document of an event as a plain value."""
    row = connection.execute("SELECT doc FROM event WHERE seq = ?", (seq,)).fetchone()
    found: Document = msgspec.json.decode(row[0])
    return found


def put_document(connection: Connection, seq: int, document: Document | str) -> None:
    """Overwrite the document of an event and nothing else."""
    text = document if isinstance(document, str) else rfc8785.dumps(document).decode()
    connection.execute("UPDATE event SET doc = ? WHERE seq = ?", (text, seq))


def seqs_of(connection: Connection, kind: str) -> list[int]:
    """Return where the events of a kind stand."""
    rows = connection.execute("SELECT seq FROM event WHERE kind = ? ORDER BY seq", (kind,))
    return [row[0] for row in rows.fetchall()]


def rewrite(
    path: Path,
    change: Callable[[list[Document]], list[Document]],
    *,
    relink: bool = True,
    encode: Callable[[Document], bytes] = rfc8785.dumps,
) -> None:
    """Write the whole history anew, as an owner can who has this program's source.

    Every hash, place, tree node and column is computed again, so that the file is consistent.

    Args:
        path: the ledger.
        change: from the documents to those that are to be there instead.
        relink: whether the links of the runs are made consistent as well.
        encode: the bytes of a document.
    """
    with tampering(path) as connection:
        rows = connection.execute("SELECT doc FROM event ORDER BY seq").fetchall()
        documents = change([msgspec.json.decode(row[0]) for row in rows])
        connection.execute("DELETE FROM event")
        previous = ZERO_HASH
        frontier = Frontier(0, [])
        links: dict[str, tuple[int, str]] = {}
        for seq, document in enumerate(documents, 1):
            document.update(seq=seq, prev=previous)
            link = document["link"]
            if link is not None and relink:
                number, digest = links.get(document["run"], (0, ZERO_HASH))
                link.update(n=number + 1, prev=digest)
            stored = encode(document)
            previous = event_hash(stored)
            if link is not None:
                links[document["run"]] = (link["n"], previous)
            insert(connection, document, stored, frontier.append(leaf_hash(stored)))


def insert(
    connection: Connection,
    document: Document,
    stored: bytes,
    nodes: list[tuple[int, int, bytes]],
) -> None:
    """Insert the row of a document with columns that fit it."""
    trial = document["trial"]
    connection.execute(
        "INSERT INTO event (seq, id, kind, run, trial, link, nodes, doc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document["seq"],
            bytes.fromhex(document["id"]),
            document["kind"],
            document["run"],
            trial and f"{trial['question']}#{trial['repetition']}@{trial['session']}",
            document["link"] and document["link"]["n"],
            b"".join(digest for _, _, digest in nodes),
            stored.decode(),
        ),
    )


def checked(path: Path, *, pins: Path | None = None, fast: bool = False) -> Verification:
    """Verify a file as somebody else would, or as the user whose head pins lie in a folder."""
    world = tools(path.parent if pins is None else pins, pins=pins is not None)
    with Ledger.open(path, tools=world) as ledger:
        return verify(ledger, fast=fast)


def first_place(found: Verification) -> str:
    """Return where the first finding is: a seq, or the place."""
    assert not found.is_intact, "the attack went unnoticed"
    finding = found.findings[0]
    return f"seq {finding.seq}" if finding.seq is not None else str(finding.place)


ROWS = {
    "event": "SELECT * FROM event ORDER BY seq",
    "blob": "SELECT * FROM blob ORDER BY hash",
    "head": "SELECT * FROM head ORDER BY size",
}
"""Table → everything in it."""


def content_of(path: Path) -> object:
    """Return everything that a ledger or gold file says, whatever pages it lies on."""
    connection = raw(path)
    connection.text_factory = bytes
    with contextlib.closing(connection):
        schema = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
        ).fetchall()
        tables = {row[1].decode() for row in schema}
        rows = {
            name: connection.execute(statement).fetchall()
            for name, statement in ROWS.items()
            if name in tables
        }
        contents = [
            (row[0], row[1], row[2], expanded(row[3].decode(), row[4], row[2]))
            for row in connection.execute(
                "SELECT id, hash, bytes, encoding, data FROM content ORDER BY id"
            )
        ]
        return schema, rows, contents
