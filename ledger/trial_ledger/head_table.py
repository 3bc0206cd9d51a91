"""The signed heads that a ledger keeps of itself, one note a size.

Invariant: a head is only ever added, in the transaction that made the log as long as it says.
"""

from pathlib import Path

from trial_ledger.sqlite import Connection, translating

__all__ = ["HeadTable"]


class HeadTable:
    """The head table of one ledger file."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    @translating
    def newest(self) -> str | None:
        """Return the note of the newest signed head; None where nobody signed."""
        row = self.connection.execute("SELECT note FROM head ORDER BY size DESC LIMIT 1").fetchone()
        return None if row is None else str(row[0])

    @translating
    def all(self) -> list[tuple[int, str]]:
        """Return size and note of every signed head, oldest first."""
        rows = self.connection.execute("SELECT size, note FROM head ORDER BY size")
        return [(int(size), str(note)) for size, note in rows]

    @translating
    def add(self, size: int, note: str) -> None:
        """Keep a signed head; the caller is inside a write transaction."""
        self.connection.execute("INSERT INTO head (size, note) VALUES (?, ?)", (size, note))
