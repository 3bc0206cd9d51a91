"""The protocol of projections and the one loop that runs them all.

Invariant: a projection is a pure function of the events, in order: the same events give the same
states, byte for byte, whether they are folded in one go or resumed (C33).

A state is a table of small records by key, so that resuming after one event touches one record and
a fold of any length fits in memory.
"""

import struct
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from blake3 import blake3

from trial_ledger.errors import StorageError
from trial_ledger.keyed_file import DISPOSABLE, KeyedFile
from trial_ledger.view import Stored

__all__ = ["SEPARATOR", "Part", "Projection", "State", "fold", "key_of", "state_digest"]

CACHE_RECORDS = 4_096
"""Records of one projection kept in memory during a fold; the rest lies in the file."""

FOLD_EVENTS = 256
"""Events that are given to one projection after another, instead of each event to all of them."""

SCAN_RECORDS = 1_024
"""Records that are decoded at once: as the items of one array, since every call costs."""
ARRAY = struct.Struct(">BI")
"""Head of a MessagePack array: its type, 0xdd, and how many items follow."""

SEPARATOR = "\x1f"
"""Between the parts of a key; names hold no control characters."""

Record = TypeVar("Record", bound=msgspec.Struct)
Part = TypeVar("Part", bound=msgspec.Struct)


def key_of(*parts: str) -> str:
    """Return the key of a record from its parts."""
    return SEPARATOR.join(parts)


class State(Generic[Record]):
    """The records of one projection by key, read on demand and written back in batches."""

    def __init__(self, file: KeyedFile, name: str, record: type[Record]) -> None:
        self.file = file
        self.name = name
        self.record = record
        self.encoder = msgspec.msgpack.Encoder(order="deterministic")
        self.decoder = msgspec.msgpack.Decoder(record)
        self.cache: dict[str, Record] = {}

    def get(self, key: str) -> Record | None:
        """Return a record, which the projection may change in place, or None."""
        found = self.cache.get(key)
        if found is None:
            value = self.file.get(self.name, key)
            if value is not None:
                found = self.decoded(value)
                self.put(key, found)
        return found

    def damaged(self, error: msgspec.MsgspecError) -> StorageError:
        """Return what is said of stored bytes that are no record: somebody changed the file."""
        return StorageError(f"{self.file.path} is damaged: {error}", hint=DISPOSABLE)

    def decoded(self, value: bytes) -> Record:
        """Return the record of stored bytes.

        Raises:
            StorageError: they are none.
        """
        try:
            return self.decoder.decode(value)
        except msgspec.MsgspecError as error:
            raise self.damaged(error) from error

    def put(self, key: str, record: Record) -> None:
        """Set a record."""
        self.cache[key] = record

    def trim(self) -> None:
        """Save when memory holds enough; only between events, since a projection may hold one."""
        if len(self.cache) >= CACHE_RECORDS:
            self.save()

    def save(self) -> None:
        """Write every record in memory into the file's running transaction, in the order of keys.

        The file's table is ordered by key, so that neighbours go to one page.
        """
        encode = self.encoder.encode
        self.file.put_many(
            self.name, ((key, encode(self.cache[key])) for key in sorted(self.cache))
        )
        self.cache.clear()

    def scan(self, *parts: str) -> Iterator[Record]:
        """Yield every record whose key begins with these parts, in the order of keys.

        Call it only when nothing is unsaved.
        """
        return self.scan_as(self.record, *parts)

    def scan_as(self, record: type[Part], *parts: str) -> Iterator[Part]:
        """Yield what `scan` does, reading only the fields of a smaller record.

        Args:
            record: a type whose fields are some of the record's.
            *parts: what the keys begin with.
        """
        assert not self.cache, "a scan reads the file"
        prefix = key_of(*parts, "") if parts else ""
        decoder = msgspec.msgpack.Decoder(list[record])  # type: ignore[valid-type]
        values = self.file.values(self.name, prefix)
        while chunk := list(islice(values, SCAN_RECORDS)):
            try:
                yield from decoder.decode(ARRAY.pack(0xDD, len(chunk)) + b"".join(chunk))
            except msgspec.MsgspecError as error:
                raise self.damaged(error) from error

    def keys(self, *parts: str, begin: str = "") -> Iterator[tuple[str, ...]]:
        """Yield the parts of every key that begins with these, in the order of keys.

        Args:
            *parts: what the keys begin with.
            begin: what the part after these begins with.
        """
        for key, _ in self.file.scan(self.name, key_of(*parts, begin)):
            yield tuple(key.split(SEPARATOR))

    def items(self, *parts: str) -> Iterator[tuple[tuple[str, ...], Record]]:
        """Yield key, in parts, and record of what `keys` yields."""
        for key, value in self.file.scan(self.name, key_of(*parts, "")):
            yield tuple(key.split(SEPARATOR)), self.decoded(value)

    def read(self, key: str) -> Record | None:
        """Return a record without keeping it."""
        value = self.file.get(self.name, key)
        return None if value is None else self.decoded(value)


class Projection(Protocol[Record]):
    """A pure fold of events into keyed records."""

    name: str
    """Its name."""
    version: int
    """Its version: another rule is another number, so that old states are rebuilt."""

    def start(self, file: KeyedFile) -> State[Record]:
        """Return its state in a file, empty or as it was left."""

    def apply(self, state: State[Record], stored: Stored) -> None:
        """Take one event into account."""


def fold(
    projections: Iterable[tuple[Projection[Any], State[Any]]], events: Iterable[Stored]
) -> int:
    """Feed events to projections, each event once; return how many there were."""
    pairs = [(projection.apply, state) for projection, state in projections]
    count = 0
    remaining = iter(events)
    while chunk := list(islice(remaining, FOLD_EVENTS)):
        for apply, state in pairs:
            for stored in chunk:
                apply(state, stored)
            state.trim()
        count += len(chunk)
    for _, state in pairs:
        state.save()
    return count


def state_digest(file: KeyedFile, names: Iterable[str]) -> str:
    """Return BLAKE3 over every record of these projections, by name and key."""
    hasher = blake3()
    for name in sorted(names):
        for key, value in file.scan(name):
            parts = (name.encode(), key.encode(), value)
            lengths = (len(part).to_bytes(8, "big") for part in parts)
            hasher.update(b"".join(chain.from_iterable(zip(lengths, parts, strict=True))))
    return hasher.hexdigest()
