"""Looks at what a crash left of a recorded ledger: all that was acknowledged, and nothing else.

The whole life was recorded, so the state in the end says what each event, blob, signed head, note
and pin must be, byte for byte. A state is sound when it holds a prefix of the log that ends with a
commit: at least what was acknowledged, at most that and the one commit in flight.

Two lookers. The quick one opens the two databases as SQLite does (a hot journal is rolled back),
compares every row with the final one, and reads pin and notes; a state that was seen before is not
looked at twice. The whole one lets the product do it: `Ledger.open` as a reader, `verify`, and one
append by a writer who goes on.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from blake3 import blake3

from commit_path_cases import BOOK
from crash_cases import Image
from ledger_cases import note
from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError, NotFoundError, StorageError, VerificationError
from trial_ledger.goldfile import gold_path
from trial_ledger.pin import HeadPin
from trial_ledger.signing import heads_folder
from trial_ledger.tools import Tools, now_text

EVENTS = "SELECT seq, id, kind, run, trial, link, nodes, doc FROM event ORDER BY seq"
BLOBS = "SELECT b.hash, b.salt, c.data FROM blob b JOIN content c ON c.id = b.content"
HEADS = "SELECT size, note FROM head"
MADE = 5
"""Objects of a schema; before, there is only the table in which its making is noted."""
KEY = "config/trial-ledger/key.pem"
"""Where the key lies, below the root."""
STATE = "state/trial-ledger"
"""Where pins lie, below the root."""


class Fault(Exception):  # noqa: N818 - it is what was found, not what went wrong here
    """Something is lost, doubled or changed."""


class Tables(NamedTuple):
    """What two files of a ledger hold."""

    events: list[Any]
    heads: dict[int, str]
    blobs: dict[bytes, Any]
    gold: dict[bytes, Any]


def tables(book: Path) -> Tables:
    """Read both files of a ledger."""
    events, heads, blobs = read(book, (EVENTS, HEADS, BLOBS))
    (gold,) = read(gold_path(book), (BLOBS,))
    return Tables(
        events,
        dict(heads),
        {row[0]: row[1:] for row in blobs},
        {row[0]: row[1:] for row in gold},
    )


def read(path: Path, queries: tuple[str, ...]) -> list[list[Any]]:
    """Return what each query finds in a file; nothing where its tables were never made.

    Raises:
        Fault: SQLite finds the file damaged.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    with contextlib.closing(connection):
        try:
            if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] < MADE:
                return [[] for _ in queries]
            said = connection.execute("PRAGMA integrity_check").fetchall()
            found = [connection.execute(query).fetchall() for query in queries]
        except sqlite3.DatabaseError as error:
            raise Fault(f"{path.name} cannot be read: {error}") from error
    if said != [("ok",)]:
        raise Fault(f"{path.name}: {said[0][0]}")
    return found


def references(document: str) -> Iterator[tuple[str, str]]:
    """Yield (class, hash) of every blob that a document names."""
    waiting: list[Any] = [json.loads(document)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.keys() >= {"blob", "bytes", "media", "class"}:
                yield value["class"], value["blob"]
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


class Life:
    """Everything that a recorded ledger held in the end."""

    def __init__(self, final: Image, folder: Path) -> None:
        """Learn what there was.

        Args:
            final: the state after the last operation.
            folder: an empty one, to look into states.
        """
        self.folder = folder
        write_image(final, folder)
        self.final = tables(folder / BOOK)
        with Ledger.open(folder / BOOK, tools=world(folder)) as ledger:
            assert ledger.verify().is_intact
            self.ledger = ledger.id
        self.notes = {
            name: content
            for name, content in final.items()
            if name.startswith(f"{heads_folder(Path(BOOK))}/")
        }
        self.key = final[KEY]
        self.named = [named_by(row[-1]) for row in self.final.events]
        assert all([self.final.gold, self.final.heads, self.notes]), "the life had everything"
        self.sizes: dict[bytes, int] = {}
        self.kept_gold: dict[bytes, frozenset[bytes]] = {}
        self.outside: set[tuple[bytes, int, bool]] = set()

    def size_of(self, image: Image, *, has_key: bool = True) -> int:
        """Return how many events a state holds, everything that belongs to them included.

        Each file is looked at once for each content that it can have.

        Args:
            image: the state.
            has_key: whether the making of the key was acknowledged.

        Raises:
            Fault: something is wrong with it.
        """
        gold_name = gold_path(Path(BOOK)).as_posix()
        gold = {name: image[name] for name in image if name.startswith(gold_name)}
        book = {name: image[name] for name in image if name.startswith(BOOK) and name not in gold}
        rest = {name: image[name] for name in image if name not in gold and name not in book}
        key = digest_of(book)
        if key not in self.sizes:
            self.sizes[key] = self.look_at_book(book)
        size = self.sizes[key]
        key = digest_of(gold)
        if key not in self.kept_gold:
            self.kept_gold[key] = self.look_at_gold(gold)
        for seq, (_, needed) in enumerate(self.named[:size], 1):
            if not needed <= self.kept_gold[key]:
                raise Fault(f"a gold text of event {seq} is missing")
        place = digest_of(rest), size, has_key
        if place not in self.outside:
            self.look_outside(rest, size, has_key=has_key)
            self.outside.add(place)
        return size

    def look_at_book(self, book: Image) -> int:
        """Return how many events the ledger file holds, texts and heads with them."""
        if BOOK not in book:
            return 0
        write_image(book, self.folder)
        events, heads, blobs = read(self.folder / BOOK, (EVENTS, HEADS, BLOBS))
        size = len(events)
        if events != self.final.events[:size]:
            raise Fault("an event is not the one that was appended")
        here = compared("blob", blobs, self.final.blobs)
        for seq, (needed, _) in enumerate(self.named[:size], 1):
            if not needed <= here:
                raise Fault(f"a text of event {seq} is missing")
        if dict(heads) != {at: text for at, text in self.final.heads.items() if at <= size}:
            raise Fault("the signed heads are not those of this size")
        return size

    def look_at_gold(self, gold: Image) -> frozenset[bytes]:
        """Return the names of the texts in the gold file."""
        name = gold_path(Path(BOOK)).as_posix()
        if name not in gold:
            return frozenset()
        write_image(gold, self.folder)
        (blobs,) = read(self.folder / name, (BLOBS,))
        return compared("gold blob", blobs, self.final.gold)

    def look_outside(self, rest: Image, size: int, *, has_key: bool) -> None:
        """Compare what lies beside the ledger: it speaks of nothing that is not there."""
        write_image(rest, self.folder)
        try:
            pin = HeadPin(self.folder / STATE, self.ledger).read()
        except LedgerError as error:
            raise Fault(error.message) from error
        if pin is not None and pin.size > size:
            raise Fault(f"the pin saw {pin.size} events, {size} are there")
        if has_key and rest.get(KEY) != self.key:
            raise Fault("the key of the ledger is not the one that was made")
        for name, content in rest.items():
            file = Path(name)
            if file.parent != heads_folder(Path(BOOK)) or file.name.startswith("."):
                continue
            if self.notes.get(name) != content:
                raise Fault(f"the note {file.name} is not the one that was signed")
            if int(file.stem.partition("-")[2]) > size:
                raise Fault(f"the note {file.name} is ahead of the ledger")


def named_by(document: str) -> tuple[set[bytes], set[bytes]]:
    """Return the texts that a document names: those in the ledger, those in the gold file."""
    found: dict[str, set[bytes]] = {"plain": set(), "sealed": set(), "gold": set()}
    for class_, name in references(document):
        found[class_].add(bytes.fromhex(name))
    return found["plain"] | found["sealed"], found["gold"]


def compared(what: str, found: list[Any], final: dict[bytes, Any]) -> frozenset[bytes]:
    """Return the names of texts, each of which is the one that was stored."""
    if any(final.get(row[0]) != row[1:] for row in found):
        raise Fault(f"a {what} is not the one that was stored")
    return frozenset(row[0] for row in found)


def digest_of(image: Image) -> bytes:
    """Return a digest of some files and their names."""
    digest = blake3()
    for name in sorted(image):
        digest.update(f"{name} {len(image[name])}\n".encode())
        digest.update(image[name])
    return digest.digest()


def write_image(image: Image, folder: Path) -> None:
    """Make the files of a state, and no other."""
    wanted = {folder / name: content for name, content in image.items()}
    for file in [path for path in folder.rglob("*") if path.is_file() and path not in wanted]:
        file.unlink()
    for file, content in wanted.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def world(root: Path) -> Tools:
    """Return a world whose pins lie below a root."""
    return Tools(
        clock=now_text,
        random_bytes=os.urandom,
        environ={},
        state_directory=root / STATE,
        warn=lambda _: None,
    )


def look_with_the_product(image: Image, folder: Path, size: int) -> None:
    """Let the product open a state, check it, and go on.

    Args:
        image: the state.
        folder: an empty one.
        size: how many events it holds; with none there is no ledger yet, and that is said.

    Raises:
        Fault: it does not.
    """
    write_image(image, folder)
    book = folder / BOOK
    if size == 0:
        for write in (False, True):
            try:
                Ledger.open(book, write=write, tools=world(folder)).close()
            except (NotFoundError, StorageError, VerificationError) as error:
                if error.hint is None:
                    raise Fault(f"no hint: {error.message}") from error
            else:
                raise Fault("it opens, and was never finished")
        return
    with Ledger.open(book, tools=world(folder)) as ledger:
        found = ledger.verify()
        if found.findings or found.size != size or found.gold != "checked":
            raise Fault(f"verify finds {found.size} events, {list(map(str, found.findings))}")
    with Ledger.open(book, write=True, tools=world(folder)) as ledger:
        if ledger.append(note("goes on")).seq != size + 1:
            raise Fault("it does not go on at the next place")
