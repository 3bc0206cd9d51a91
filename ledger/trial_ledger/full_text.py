"""A full-text index over documents, in memory: what a local search endpoint searches.

Invariant: the same documents and the same words give the same hits in the same order; what is
looked for is words, never a query language.
"""

import re
import threading
from collections.abc import Iterable

import msgspec

from trial_ledger.sqlite import sqlite3

__all__ = ["Document", "FullText"]

WORD = re.compile(r"\w+")
MOST_WORDS = 64
"""Words of a query that are looked for; SQLite would take more, slower and slower."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One document that can be found."""

    name: str
    """Its address or name."""
    title: str | None = None
    """Its title."""
    text: str
    """What it says."""


class FullText:
    """An index (SQLite FTS5, ranked by BM25) that threads may share; it lives in memory."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.lock = threading.Lock()
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.connection.execute(
            "CREATE VIRTUAL TABLE document USING fts5"
            "(name, title, text, tokenize = 'unicode61 remove_diacritics 2')"
        )
        self.connection.executemany(
            "INSERT INTO document (name, title, text) VALUES (?, ?, ?)",
            ((one.name, one.title, one.text) for one in documents),
        )

    def close(self) -> None:
        """Forget everything."""
        self.connection.close()

    def search(self, words: str, limit: int) -> list[Document]:
        """Return the documents that hold any of the words, best first, at most `limit`."""
        sought = WORD.findall(words)[:MOST_WORDS]
        if not sought:
            return []
        query = " OR ".join(f'"{word}"' for word in sought)
        with self.lock:
            rows = self.connection.execute(
                "SELECT name, title, text FROM document WHERE document MATCH ?"
                " ORDER BY rank, rowid LIMIT ?",
                (query, limit),
            ).fetchall()
        return [Document(name=name, title=title, text=text) for name, title, text in rows]
