"""Remembers which blobs events name, and which event named each first, in bounded memory.

Invariant: memory does not grow beyond `HELD_BYTES` and the names of one part; what does not fit
lies in a temporary file. A name is known by its first 16 bytes: nobody can make another blob that
begins alike.
"""

import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

from trial_ledger import events
from trial_ledger.blobs import HASH_BYTES
from trial_ledger.errors import StorageError
from trial_ledger.events import TEXT_CLASSES
from trial_ledger.view import Stored

__all__ = ["NamedBlobs", "References"]

PARTS = 256
"""Names are kept by their first byte."""

PREFIX_BYTES = 16
SEQ_BYTES = 8
RECORD_BYTES = PREFIX_BYTES + SEQ_BYTES

HELD_BYTES = 16 * 1024 * 1024
"""Beyond this the names go to a temporary file."""


class NamedBlobs:
    """Names of blobs with the seq of an event that names them."""

    def __init__(self, *, held_bytes: int = HELD_BYTES) -> None:
        self.held_bytes = held_bytes
        self.parts = [bytearray() for _ in range(PARTS)]
        self.held = 0
        self.file: IO[bytes] | None = None
        self.spilled: list[list[tuple[int, int]]] = [[] for _ in range(PARTS)]

    def add(self, text: str, seq: int) -> str | None:
        """Remember that an event names a blob; return what is wrong with a name that is none.

        Call in the order of the log.
        """
        try:
            name = bytes.fromhex(text)
        except ValueError:
            name = b""
        if len(name) != HASH_BYTES:
            return f"names a blob {text[:HASH_BYTES]!r}, which is no hash"
        self.parts[name[0]] += name[:PREFIX_BYTES] + seq.to_bytes(SEQ_BYTES, "big")
        self.held += RECORD_BYTES
        if self.held >= self.held_bytes:
            self.spill()
        return None

    def spill(self) -> None:
        """Move everything held into the temporary file.

        Raises:
            StorageError: the folder for temporary files cannot be used or has no room.
        """
        try:
            if self.file is None:
                self.file = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
            for part, places in zip(self.parts, self.spilled, strict=True):
                places.append((self.file.tell(), len(part)))
                self.file.write(part)
                part.clear()
            self.file.flush()
        except OSError as error:
            message = f"no room for temporary files in {tempfile.gettempdir()}: {error.strerror}"
            raise StorageError(message, hint="name another folder with TMPDIR") from error
        self.held = 0

    def pieces(self, first: int) -> Iterator[bytes | bytearray]:
        """Yield the records of one part, oldest first."""
        if self.file is not None:
            end = self.file.tell()
            for place, length in self.spilled[first]:
                self.file.seek(place)
                yield self.file.read(length)
            self.file.seek(end)
        yield self.parts[first]

    def part(self, first: int) -> dict[bytes, int]:
        """Return the first naming event of every name that begins with a byte, by its prefix."""
        found: dict[bytes, int] = {}
        for piece in self.pieces(first):
            for place in range(0, len(piece), RECORD_BYTES):
                prefix = bytes(piece[place : place + PREFIX_BYTES])
                seq = piece[place + PREFIX_BYTES : place + RECORD_BYTES]
                found.setdefault(prefix, int.from_bytes(seq, "big"))
        return found

    def matched(
        self, stored: Iterable[tuple[bytes, bool]]
    ) -> Iterator[tuple[bytes, bool | None, int | None]]:
        """Yield (name, is erased, first naming seq) of every blob that is stored or named.

        A blob that is not stored has a prefix for a name and None for whether it is erased; one
        that no event names has no seq.

        Args:
            stored: (hash, is erased) of the stored blobs, in hash order.
        """
        first = 0
        named = self.part(first)
        for name, erased in stored:
            while first < name[0]:
                yield from missing(named)
                first += 1
                named = self.part(first)
            yield name, erased, named.pop(name[:PREFIX_BYTES], None)
        yield from missing(named)
        for later in range(first + 1, PARTS):
            yield from missing(self.part(later))

    def close(self) -> None:
        """Give up the temporary file."""
        if self.file is not None:
            self.file.close()


def missing(named: dict[bytes, int]) -> Iterator[tuple[bytes, None, int]]:
    """Yield what is left of the names of one part, once those stored were taken out."""
    for prefix, seq in named.items():
        yield prefix, None, seq


class References:
    """The blobs that events name, and which of them were redacted."""

    def __init__(self) -> None:
        self.named = NamedBlobs()
        self.gold = NamedBlobs()
        self.redacted: set[str] = set()

    def take(self, stored: Stored) -> list[str]:
        """Remember the blobs of one event; return what is wrong with their names."""
        data, seq = stored.event.data, stored.event.seq
        faults: list[str | None] = []
        for field in TEXT_CLASSES[stored.event.kind]:
            reference = getattr(data, field, None)
            if reference is not None:
                names = self.gold if reference.class_ == "gold" else self.named
                faults.append(names.add(reference.blob, seq))
        if isinstance(data, events.BlobRedacted):
            self.redacted.add(data.blob)
        if isinstance(data, events.DatasetRegistered) and data.canary is not None:
            faults.append(self.gold.add(data.canary, seq))
        return [fault for fault in faults if fault is not None]

    def close(self) -> None:
        """Give up what was remembered."""
        self.named.close()
        self.gold.close()
