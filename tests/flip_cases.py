"""A ledger so small that every single bit of it can be flipped, and what two verifiers say then."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Iterable
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import zstandard

from attack_cases import checked, content_of, raw
from ledger_cases import PERSON, empty_ledger, note
from second_verifier import second_look
from signing_cases import notes_of, signing_tools
from trial_ledger.anchoring import sign_head
from trial_ledger.errors import LedgerError
from trial_ledger.goldfile import gold_path
from trial_ledger.submission import NewText, Submission

PAGE_BYTES = 512
HEADER_BYTES = 100
WORKERS = 2


class Flip(NamedTuple):
    """One bit of one file."""

    file: str
    """`ledger`, `gold` or `note`."""
    place: int
    """Byte, from 0."""
    bit: int


def tiny_ledger(folder: Path) -> Path:
    """Make a signed ledger with texts of every kind, on pages of 512 bytes; return its file."""
    with empty_ledger(folder, world=signing_tools(folder)) as ledger:
        ledger.append(note("a"))
        ledger.append(note("a text that is long enough to be compressed, " * 4))
        ledger.append(note(NewText(content=b"gold", class_="gold")))  # type: ignore[arg-type]
        erased = ledger.append(note("to be erased"))
        name = ledger.read(erased.seq).event.data.text.blob  # type: ignore[union-attr]
        data = {"blob": name, "reason": "asked to", "authority": "Ada"}
        ledger.append(Submission(kind="blob.redacted", data=data, actor=PERSON))
        ledger.append(note("b"))
        sign_head(ledger)
        path = ledger.store.path
    connection = raw(path)
    connection.execute(
        "UPDATE blob SET salt = NULL, content = NULL WHERE hash = ?", (bytes.fromhex(name),)
    )
    connection.execute(
        "DELETE FROM content WHERE id NOT IN (SELECT content FROM blob WHERE content NOT NULL)"
    )
    connection.close()
    for file in (path, gold_path(path)):
        connection = raw(file)
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("VACUUM")
        connection.close()
    return path


def files_of(path: Path) -> dict[str, Path]:
    """Return the three files whose bits count."""
    return {"ledger": path, "gold": gold_path(path), "note": notes_of(path)[0]}


def every_flip(path: Path, step: int = 1) -> list[Flip]:
    """Return every bit of the files, or every so many-th."""
    flips = [
        Flip(name, place, bit)
        for name, file in files_of(path).items()
        for place in range(file.stat().st_size)
        for bit in range(8)
    ]
    return flips[::step]


def unpacked(content: bytes) -> bytes:
    """Return what Zstandard packed."""
    return zstandard.ZstdDecompressor().decompress(content)


@cache
def honest_content(path: Path) -> object:
    """Return what the files say before anything is flipped."""
    return said_by(path)


def said_by(path: Path) -> object:
    """Return everything that the three files say, whatever lies between."""
    found: list[object] = []
    for file in (path, gold_path(path)):
        connection = raw(file)
        with contextlib.closing(connection):
            found += [
                connection.execute(f"PRAGMA {name}").fetchone()
                for name in ("application_id", "user_version")
            ]
        found.append(content_of(file))
    return [*found, notes_of(path)[0].read_bytes()]


def outcome(path: Path, flip: Flip, honest: object) -> str:
    """Flip a bit, let both verifiers look, put it back; return what came of it.

    Returns:
        `found`, `refused`, `slack` where the content is the same, `MISSED` where it is not and
        neither verifier says so, `DIFFER` where only one does.
    """
    file = files_of(path)[flip.file]
    before = file.read_bytes()
    changed = bytearray(before)
    changed[flip.place] ^= 1 << flip.bit
    file.write_bytes(changed)
    try:
        try:
            first = "intact" if checked(path).is_intact else "found"
        except LedgerError:
            first = "refused"
        second = second_look(path, decompress=unpacked)
        if (first == "intact") != (not second):
            return f"DIFFER: {first}, {second[:1]}"
        if first != "intact":
            return first
        return f"slack: {place_of(flip)}" if said_by(path) == honest else "MISSED"
    finally:
        file.write_bytes(before)


def place_of(flip: Flip) -> str:
    """Return where a flip lies that changed nothing."""
    return "header" if flip.place < HEADER_BYTES else "unused bytes, record of the tables' making"


def looked_at(job: tuple[str, str, list[Flip]]) -> Counter[tuple[str, str]]:
    """Return how often each outcome came in each file, in a folder of one's own."""
    source, target, flips = job
    shutil.copytree(source, target)
    path = next(Path(target).glob("*.ledger"))
    honest = said_by(path)
    counts: Counter[tuple[str, str]] = Counter()
    for flip in flips:
        try:
            found = outcome(path, flip, honest)
        except Exception as error:  # noqa: BLE001 - a crash of either is a fault to be listed
            found = f"MISSED: {error!r}"
        wrong = found.startswith(("MISSED", "DIFFER"))
        counts[flip.file, f"{found} at {flip}" if wrong else found] += 1
    return counts


def outcomes(path: Path, flips: Iterable[Flip], *, workers: int) -> Counter[tuple[str, str]]:
    """Return how often each outcome came, by several processes.

    Args:
        path: the ledger; it stays as it is.
        flips: which bits.
        workers: how many processes; 1 stays in this one.
    """
    chosen = list(flips)
    jobs = [
        (str(path.parent), f"{path.parent}-{number}", chosen[number::workers])
        for number in range(workers)
    ]
    counts: Counter[tuple[str, str]] = Counter()
    if workers == 1:
        return looked_at(jobs[0])
    with get_context("spawn").Pool(workers) as pool:
        for part in pool.imap_unordered(looked_at, jobs):
            counts.update(part)
    return counts
