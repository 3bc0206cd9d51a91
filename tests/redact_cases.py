"""Texts that are redacted in tests, and the search for what is left of them in any byte."""

import contextlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from attack_cases import raw
from ledger_cases import HARNESS, PERSON, tools
from trial_ledger.book import Ledger
from trial_ledger.events import BlobRef
from trial_ledger.goldfile import gold_path
from trial_ledger.redaction import Redaction, redact
from trial_ledger.submission import NewText, Submission

WINDOW = 64
SEEDS = count(1_000)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Ledger]:
    """Open a closed ledger for writing, without pins; every time with other ids and salts."""
    world = tools(path.parent, seed=next(SEEDS), pins=False)
    with Ledger.open(path, write=True, tools=world) as ledger:
        yield ledger


def noted(ledger: Ledger, text: bytes, *, class_: str = "sealed") -> BlobRef:
    """Append a note and return the reference of its text."""
    content = NewText(content=text, class_=class_)  # type: ignore[arg-type]
    data = {"about": "x", "text": content}
    seq = ledger.append(Submission(kind="note.added", data=data, actor=HARNESS)).seq
    reference: BlobRef = ledger.read(seq).event.data.text  # type: ignore[union-attr]
    return reference


def redacted(ledger: Ledger, reference: BlobRef, **options: bool) -> Redaction:
    """Redact a text."""
    return redact(
        ledger, reference.blob, reason="asked to", authority="owner", actor=PERSON, **options
    )


def stored_traces(path: Path, reference: BlobRef) -> set[bytes]:
    """Return what a closed ledger stores of a text: its bytes as they lie there, salt, digest."""
    file = gold_path(path) if reference.class_ == "gold" else path
    with contextlib.closing(raw(file)) as connection:
        row = connection.execute(
            "SELECT blob.salt, content.hash, content.data FROM blob"
            " JOIN content ON content.id = blob.content WHERE blob.hash = ?",
            (bytes.fromhex(reference.blob),),
        ).fetchone()
    salt, digest, data = row
    return {salt, digest} | windows(data)


def windows(content: bytes) -> set[bytes]:
    """Return every piece of 64 bytes, or the whole where it is shorter."""
    count = max(len(content) - WINDOW, 0) + 1
    return {content[start : start + WINDOW] for start in range(count)}


def files_with(folder: Path, pieces: set[bytes]) -> list[str]:
    """Return the files of a folder, and of those below it, in which any of some pieces stands."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if any(piece in content for piece in pieces):
                found.append(path.name)
    return found
