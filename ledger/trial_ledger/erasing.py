"""Takes the bytes of a blob out of a file: its salt, and its content where nothing else needs it.

Invariant: what is erased is overwritten in the file (`secure_delete`), in a transaction of the
caller's; the triggers of the ledger refuse it before a blob.redacted names the blob.
"""

from collections.abc import Iterator

import msgspec

from trial_ledger.blobs import BlobTable, expanded
from trial_ledger.sqlite import translated

__all__ = ["Traces", "compact", "contents", "equal_names", "erase", "is_erased"]


class Traces(msgspec.Struct, frozen=True, kw_only=True):
    """What stood in a file about an erased blob, to look for what is left of it."""

    salt: bytes | None
    """Its salt; None for a blob that had none."""
    digest: bytes | None
    """BLAKE3 of its bytes; None where another blob still needs them."""
    data: bytes
    """Its bytes as they were stored, compressed or not; empty where they are still needed."""


def is_erased(table: BlobTable, name: bytes) -> bool | None:
    """Return whether a blob's bytes are gone; None where the file has no such blob."""
    with translated(table.path):
        row = table.connection.execute(
            "SELECT salt IS NULL AND content IS NULL FROM blob WHERE hash = ?", (name,)
        ).fetchone()
    return None if row is None else bool(row[0])


def equal_names(table: BlobTable, digest: bytes) -> list[bytes]:
    """Return the blobs of a file that hold bytes of a BLAKE3 hash, in hash order."""
    with translated(table.path):
        rows = table.connection.execute(
            "SELECT blob.hash FROM blob JOIN content ON content.id = blob.content"
            " WHERE content.hash = ? ORDER BY blob.hash",
            (digest,),
        ).fetchall()
    return [bytes(row[0]) for row in rows]


def erase(table: BlobTable, name: bytes) -> Traces:
    """Erase a blob that is there, inside the transaction that has begun.

    Raises:
        StorageError: no blob.redacted names it.
    """
    with translated(table.path):
        run = table.connection.execute
        salt, content, digest, data = run(
            "SELECT blob.salt, content.id, content.hash, content.data"
            " FROM blob LEFT JOIN content ON content.id = blob.content WHERE blob.hash = ?",
            (name,),
        ).fetchone()
        run("UPDATE blob SET salt = NULL, content = NULL WHERE hash = ?", (name,))
        gone = run(
            "DELETE FROM content WHERE id = ?1"
            " AND NOT EXISTS (SELECT 1 FROM blob WHERE content = ?1)",
            (content,),
        ).rowcount
    return Traces(salt=salt, digest=digest if gone else None, data=data if gone else b"")


def compact(table: BlobTable) -> None:
    """Write a file anew, without the pages and rests of pages that hold nothing.

    The caller holds the ledger's lock and no transaction. A crash leaves the file as it was.
    """
    with translated(table.path):
        table.connection.execute("VACUUM")


def contents(table: BlobTable) -> Iterator[tuple[bytes, bytes]]:
    """Yield (hash, bytes) of every blob of a file that is not erased, in hash order.

    Raises:
        VerificationError: the file is damaged.
    """
    after = b""
    while rows := table.stored_rows(after):
        for row in rows:
            if row.data is not None and row.encoding is not None and row.size is not None:
                yield row.name, expanded(row.encoding, row.data, row.size)
        after = rows[-1].name
