"""Notes of signed heads that lie in files: beside the ledger, or kept elsewhere.

Invariant: nothing is believed here; a note is handed on as its text and the name of its file, and
what cannot be read is a fault of that file and never left out.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from trial_ledger.errors import NotFoundError
from trial_ledger.heads import LONGEST_NOTE

__all__ = ["KeptNote", "kept_notes", "notes_in"]

PATTERN = "*.note"


class KeptNote(msgspec.Struct, frozen=True, kw_only=True):
    """A file that should hold a signed head."""

    source: str
    """Its name."""
    text: str = ""
    """What it holds."""
    fault: str | None = None
    """Why it could not be read; None where it was."""
    in_folder: bool = False
    """Whether it was found in a folder, where notes of other ledgers may lie too."""


def kept_notes(paths: Iterable[Path]) -> list[KeptNote]:
    """Return the notes of files, and of every file `*.note` in or below folders.

    Raises:
        NotFoundError: there is no such file, or a folder without one.
    """
    found: list[KeptNote] = []
    for path in paths:
        if not path.exists():
            message = f"no note {path}"
            raise NotFoundError(message, hint="name a file that ledger head --sign printed")
        if not path.is_dir():
            found.append(read_note(path))
            continue
        inside = sorted(file for file in path.rglob(PATTERN) if file.is_file())
        if not inside:
            message = f"no file {PATTERN} in {path}"
            raise NotFoundError(message, hint="name a folder of notes, such as a clone of heads/")
        found += [read_note(file, in_folder=True) for file in inside]
    return found


def notes_in(folder: Path, prefix: str) -> list[KeptNote]:
    """Return the notes of a folder whose names begin alike; none where there is no folder."""
    return [read_note(file) for file in sorted(folder.glob(f"{prefix}{PATTERN}"))]


def read_note(path: Path, *, in_folder: bool = False) -> KeptNote:
    """Return what a file holds, or why it cannot be read."""
    text, fault = "", None
    try:
        with path.open("rb") as stream:
            text = stream.read(LONGEST_NOTE + 1).decode()
    except OSError as error:
        fault = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        fault = "is no text"
    return KeptNote(source=str(path), text=text, fault=fault, in_folder=in_folder)
