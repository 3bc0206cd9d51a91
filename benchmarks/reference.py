"""The physical limits: a bare SQLite table that stores the same bytes, and a plain scan of a file.

Invariant: the table is written under the very settings of the product's connection, the same number
of events a commit; it has no index, no hash, no check. The scan reads the product's own file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.workload import Record
from trial_ledger.blobs import expanded
from trial_ledger.goldfile import gold_path
from trial_ledger.sqlite import Connection, connect_reader, connect_writer

__all__ = ["BareTable", "read_blobs", "read_documents"]

LEDGER_FIELDS: Record = {
    "ledger": "0" * 32,
    "link": {"n": 1, "prev": "0" * 64},
    "prev": "0" * 64,
    "recorded_at": "2026-10-01T00:00:00.000000Z",
    "seq": 1,
    "v": 1,
}
"""What the ledger adds to an event, so that the bare table stores as many bytes."""

ENCODER = msgspec.json.Encoder(order="sorted")


def document_of(record: Record) -> str:
    """Return an event with its texts inside and the fields that a ledger fills."""
    return ENCODER.encode({**record, **LEDGER_FIELDS}).decode("utf-8")


class BareTable:
    """One table in one file."""

    def __init__(self, path: Path) -> None:
        self.connection = connect_writer(path, create=True)
        self.connection.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY, doc TEXT)")
        self.size = 0

    def append(self, documents: Sequence[str], *, commit_every: int) -> None:
        """Store documents, so many a commit."""
        execute = self.connection.execute
        for start in range(0, len(documents), commit_every):
            group = documents[start : start + commit_every]
            execute("BEGIN IMMEDIATE")
            self.connection.executemany(
                "INSERT INTO event (seq, doc) VALUES (?, ?)",
                enumerate(group, self.size + 1),
            )
            execute("COMMIT")
            self.size += len(group)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def read_documents(path: Path) -> int:
    """Scan every document of a ledger and decode it to plain values; return how many."""
    connection = connect_reader(path)
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    count = 0
    for (document,) in connection.execute("SELECT doc FROM event ORDER BY seq"):
        decode(document)
        count += 1
    connection.close()
    return count


def read_blobs(path: Path) -> int:
    """Read and decompress every content of a ledger and of its gold file; return the bytes."""
    total = 0
    for file in (path, gold_path(path)):
        connection = connect_reader(file)
        total += contents(connection)
        connection.close()
    return total


def contents(connection: Connection) -> int:
    """Read and decompress every content of one file."""
    total = 0
    rows = connection.execute("SELECT encoding, data, bytes FROM content ORDER BY id")
    for encoding, data, size in rows:
        total += len(expanded(encoding, data, size))
    return total
