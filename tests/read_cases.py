"""The sample ledger for tests of commands that read, made once and copied."""

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ledger_cases import files_of, full_ledger, tools

LEDGER = "trials.ledger"
WIDTH = 80


@cache
def sample_files() -> tuple[bytes, bytes]:
    """Return the bytes of the sample ledger and of its gold file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full_ledger(folder, world=tools(folder, pins=False)).close()
        book, gold = files_of(folder / LEDGER)
        return book.read_bytes(), gold.read_bytes()


def sample(folder: Path) -> Path:
    """Put the sample ledger into a folder; return its path."""
    path = folder / LEDGER
    for file, content in zip(files_of(path), sample_files(), strict=True):
        file.write_bytes(content)
    return path


def too_long(text: str) -> list[str]:
    """Return the lines of a screen that are wider than 80 columns."""
    return [line for line in text.splitlines() if len(line) > WIDTH]


def without(text: str, parts: Iterable[str]) -> list[str]:
    """Return which of some parts a text lacks."""
    return [part for part in parts if part not in text]
