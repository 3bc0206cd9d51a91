"""Remembers which blobs events name, and which event named each first, in bounded memory.

Invariant: memory does not grow beyond `HELD_RECORDS` names; what does not fit lies sorted in a
temporary file. A name is known by its first 16 bytes: nobody can make another blob that begins
alike.
"""

import heapq
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import IO

from trial_ledger import events
from trial_ledger.blobs import HASH_BYTES
from trial_ledger.errors import StorageError
from trial_ledger.events import TEXT_CLASSES, AnyData, BlobRef
from trial_ledger.view import Stored

__all__ = ["TEXTS_OF", "NamedBlobs", "References"]

PREFIX_BYTES = 16
SEQ_BYTES = 8
RECORD_BYTES = PREFIX_BYTES + SEQ_BYTES

HELD_RECORDS = 131_072
"""Beyond this the names go to a temporary file; they take about 10 MB."""

READ_RECORDS = 4_096
"""Names that are read from the temporary file at once."""

AFTER_ALL = b"\xff" * (PREFIX_BYTES + 1)
"""Sorts behind the prefix of any name."""


class NamedBlobs:
    """Names of blobs with the seq of an event that names them."""

    def __init__(self, *, held_records: int = HELD_RECORDS) -> None:
        self.held_records = held_records
        self.records: list[bytes] = []
        self.file: IO[bytes] | None = None
        self.runs: list[tuple[int, int]] = []

    def add(self, text: str, seq: int) -> str | None:
        """Remember that an event names a blob; return what is wrong with a name that is none."""
        try:
            name = bytes.fromhex(text)
        except ValueError:
            name = b""
        if len(name) != HASH_BYTES:
            return f"names a blob {text[:HASH_BYTES]!r}, which is no hash"
        self.records.append(name[:PREFIX_BYTES] + seq.to_bytes(SEQ_BYTES, "big"))
        if len(self.records) >= self.held_records:
            self.spill()
        return None

    def spill(self) -> None:
        """Move everything held into the temporary file, as one sorted run.

        Raises:
            StorageError: the folder for temporary files cannot be used or has no room.
        """
        self.records.sort()
        try:
            if self.file is None:
                self.file = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
            start = self.file.tell()
            self.file.writelines(self.records)
            self.file.flush()
        except OSError as error:
            message = f"no room for temporary files in {tempfile.gettempdir()}: {error.strerror}"
            raise StorageError(message, hint="name another folder with TMPDIR") from error
        self.runs.append((start, self.file.tell()))
        self.records.clear()

    def run(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the records of one run of the temporary file."""
        assert self.file is not None, "a run was written"
        for place in range(start, end, READ_RECORDS * RECORD_BYTES):
            length = min(READ_RECORDS * RECORD_BYTES, end - place)
            piece = os.pread(self.file.fileno(), length, place)
            for offset in range(0, length, RECORD_BYTES):
                yield piece[offset : offset + RECORD_BYTES]

    def names(self) -> Iterator[tuple[bytes, int]]:
        """Yield (prefix, first naming seq) of every name, in the order of prefixes."""
        self.records.sort()
        runs = [self.run(start, end) for start, end in self.runs]
        last = b""
        for record in heapq.merge(*runs, self.records) if runs else self.records:
            prefix = record[:PREFIX_BYTES]
            if prefix != last:  # Of a name's records that of the lowest seq comes first.
                yield prefix, int.from_bytes(record[PREFIX_BYTES:], "big")
                last = prefix

    def matched(
        self, stored: Iterable[tuple[bytes, bool]]
    ) -> Iterator[tuple[bytes, bool | None, int | None]]:
        """Yield (name, is erased, first naming seq) of every blob that is stored or named.

        A blob that is not stored has a prefix for a name and None for whether it is erased; one
        that no event names has no seq.

        Args:
            stored: (hash, is erased) of the stored blobs, in hash order.
        """
        named = self.names()
        end = (AFTER_ALL, 0)
        prefix, seq = next(named, end)
        for name, erased in stored:
            wanted = name[:PREFIX_BYTES]
            while prefix < wanted:
                yield prefix, None, seq
                prefix, seq = next(named, end)
            if prefix == wanted:
                yield name, erased, seq
                prefix, seq = next(named, end)
            else:
                yield name, erased, None
        while prefix != AFTER_ALL:
            yield prefix, None, seq
            prefix, seq = next(named, end)

    def close(self) -> None:
        """Give up the temporary file."""
        if self.file is not None:
            self.file.close()


TEXTS_OF: Mapping[str, Callable[[AnyData], tuple[BlobRef | None, ...]]] = {
    # A name twice makes a tuple where there is one alone.
    kind: attrgetter(next(iter(fields)), *fields)
    for kind, fields in TEXT_CLASSES.items()
    if fields
}
"""Kind → what takes its texts, the first of them twice."""


class References:
    """The blobs that events name, and which of them were redacted."""

    def __init__(self) -> None:
        self.named = NamedBlobs()
        self.gold = NamedBlobs()
        self.redacted: set[str] = set()

    def take(self, stored: Stored) -> list[str]:
        """Remember the blobs of one event; return what is wrong with their names."""
        data, seq = stored.event.data, stored.event.seq
        texts_of = TEXTS_OF.get(stored.event.kind)
        faults = [] if texts_of is None else self.take_texts(texts_of(data)[1:], seq)
        if isinstance(data, events.BlobRedacted):
            self.redacted.add(data.blob)
        if isinstance(data, events.DatasetRegistered) and data.canary is not None:
            fault = self.gold.add(data.canary, seq)
            faults += [] if fault is None else [fault]
        return faults

    def take_texts(self, texts: Iterable[BlobRef | None], seq: int) -> list[str]:
        """Remember the texts of one event; return what is wrong with their names."""
        faults: list[str] = []
        for text in texts:
            if text is not None:
                names = self.gold if text.class_ == "gold" else self.named
                fault = names.add(text.blob, seq)
                if fault is not None:
                    faults.append(fault)
        return faults

    def close(self) -> None:
        """Give up what was remembered."""
        self.named.close()
        self.gold.close()
