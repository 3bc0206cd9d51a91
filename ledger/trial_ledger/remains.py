"""Looks for what is left of erased bytes in the files themselves, below SQLite.

Invariant: a file is read only while this process has no database connection to it: closing a
handle would drop SQLite's locks on the file (sqlite.org/howtocorrupt.html, 2.2).
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from trial_ledger.errors import StorageError

__all__ = ["WINDOW_BYTES", "Search", "files_beside", "needles_of", "search"]

WINDOW_BYTES = 64
"""Long enough to stand nowhere by chance."""

WINDOW_STEP = 2048
"""So far apart, any page's worth of the bytes holds a whole window."""

MOST_WINDOWS = 256
"""Of bytes beyond half a megabyte so many windows, further apart, are looked for."""

CHUNK_BYTES = 16 * 1024 * 1024


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What a search through some files found."""

    files: list[str]
    """Files that were searched, by name."""
    bytes: int
    """How many bytes they have together."""
    found: list[tuple[str, int]]
    """(file, place of its first byte) of everything that is left."""


def needles_of(content: bytes) -> list[bytes]:
    """Return pieces of some bytes, from their beginning to their end, to look for.

    Bytes shorter than a window are their own piece; none are none.
    """
    last = len(content) - WINDOW_BYTES
    if last <= 0:
        return [content] if content else []
    step = max(WINDOW_STEP, -(-last // (MOST_WINDOWS - 1)))
    return [content[start : start + WINDOW_BYTES] for start in [*range(0, last, step), last]]


def files_beside(ledger: Path) -> list[Path]:
    """Return every file whose name begins with the ledger's: gold, journals, projections, lock."""
    try:
        found = [path for path in ledger.parent.iterdir() if path.name.startswith(ledger.name)]
        return sorted(path for path in found if path.is_file())
    except OSError as error:
        message = f"cannot look through {ledger.parent}: {error.strerror}"
        raise StorageError(message, hint="check the rights of the folder") from error


def search(files: Sequence[Path], needles: Iterable[bytes]) -> Search:
    """Look for pieces of erased bytes in every byte of some files.

    Raises:
        StorageError: a file cannot be read.
    """
    wanted = sorted(set(needles))
    found: list[tuple[str, int]] = []
    size = 0
    overlap = max(map(len, wanted), default=1) - 1
    for path in files:
        left, end = set(wanted), 0
        for start, piece in pieces(path, overlap):
            end = start + len(piece)
            for needle in sorted(left):
                place = piece.find(needle)
                if place >= 0:
                    found.append((path.name, start + place))
                    left.remove(needle)
        size += end
    return Search(files=[path.name for path in files], bytes=size, found=sorted(found))


def pieces(path: Path, overlap: int) -> Iterator[tuple[int, bytes]]:
    """Yield (place, bytes) of a file, each piece beginning with the end of the one before.

    Raises:
        StorageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            start, kept = 0, b""
            while new := file.read(CHUNK_BYTES):
                piece = kept + new
                yield start, piece
                kept = piece[max(len(piece) - overlap, 0) :]
                start += len(piece) - len(kept)
    except OSError as error:
        message = f"cannot search {path}: {error.strerror}"
        raise StorageError(message, hint="check the rights of the file") from error
