"""JSON lines for programs, a table for people, and what machine it was.

Invariant: every row stands in both forms; a verdict is never printed without its spread.
"""

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from benchmarks.measuring import Row
from trial_ledger.sqlite import sqlite3

__all__ = ["Machine", "keep", "machine", "number", "table", "write_lines"]

PACKAGES = ("trial-ledger", "msgspec", "blake3", "zstandard", "click", "sqlite-utils")
BEGIN = "<!-- last run -->"
END = "<!-- end of last run -->"
COLUMNS = ("goal", "what", "events", "figure", "goal is", "verdict", "spread", "clock", "us each")


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Where and with what it was measured."""

    processor: str
    """Name of the processor."""
    cores: int | None
    """How many this process may see."""
    load: tuple[float, float, float]
    """Load over 1, 5 and 15 minutes when it began."""
    system: str
    """Operating system and release."""
    file_system: str
    """Kind of file system that the files lay on."""
    python: str
    """Version of Python."""
    sqlite: str
    """Version of SQLite."""
    packages: dict[str, str]
    """Versions of packages."""


def machine(directory: Path) -> Machine:
    """Return what is known of this machine."""
    return Machine(
        processor=processor(),
        cores=os.cpu_count(),
        load=os.getloadavg(),
        system=f"{platform.system()} {platform.release()}",
        file_system=file_system(directory),
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        packages={name: version(name) for name in PACKAGES},
    )


def processor() -> str:
    """Return the processor's name."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def file_system(directory: Path) -> str:
    """Return the kind of file system of a folder, where the kernel tells."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    best, kind = "", "unknown"
    for line in mounts.read_text("utf-8").splitlines():
        point, type_ = line.split()[1:3]
        if directory.resolve().is_relative_to(point) and len(point) >= len(best):
            best, kind = point, type_
    return kind


def write_lines(path: Path, header: Machine, rows: Iterable[Row]) -> None:
    """Write the machine and every row as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    encode = msgspec.json.encode
    path.write_bytes(b"".join(encode(one) + b"\n" for one in (header, *rows)))


def table(header: Machine, rows: Sequence[Row]) -> list[str]:
    """Return the machine, the rows as a table, and notes below it."""
    packages = ", ".join(f"{name} {number}" for name, number in header.packages.items())
    load = "/".join(f"{value:.1f}" for value in header.load)
    cells = [cells_of(row) for row in rows]
    widths = [
        max(len(line[column]) for line in [COLUMNS, *cells]) for column in range(len(COLUMNS))
    ]
    lines = [
        f"{header.processor}, {header.cores} cores, load {load}, {header.system}",
        f"Python {header.python}, SQLite {header.sqlite}, {header.file_system}, {packages}",
        "",
        joined(COLUMNS, widths),
        joined(["-" * width for width in widths], widths),
        *(joined(line, widths) for line in cells),
        "",
    ]
    return [*lines, *notes(rows)]


def notes(rows: Sequence[Row]) -> list[str]:
    """Return the notes below the table; one that several rows of a goal share, once."""
    subjects: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row.note:
            subjects.setdefault((row.goal, row.note), set()).add(row.what)
    return [
        f"goal {goal}, {found.pop()}: {note}" if len(found) == 1 else f"goal {goal}: {note}"
        for (goal, note), found in subjects.items()
    ]


def keep(path: Path, lines: Sequence[str]) -> None:
    """Put the lines in the place of the last run that a document keeps."""
    before, found, rest = path.read_text("utf-8").partition(BEGIN)
    _, also_found, after = rest.partition(END)
    assert found, f"{path} has lost its {BEGIN}"
    assert also_found, f"{path} has lost its {END}"
    block = "\n".join([BEGIN, "```", *lines, "```", END])
    path.write_text(f"{before}{block}{after}", "utf-8")


def joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return cells side by side."""
    pairs = zip(cells, widths, strict=True)
    return "  ".join(cell.ljust(width) for cell, width in pairs).rstrip()


def cells_of(row: Row) -> tuple[str, ...]:
    """Return one row as text."""
    spread = ""
    if row.low is not None and row.high is not None:
        spread = f"{number(row.low)}..{number(row.high)} ({row.rounds})"
    clock = ""
    if row.wall is not None:
        clock = f"{number(row.wall)} {row.wall_verdict or ''}".strip()
    each = ""
    if row.product is not None and row.reference is not None:
        each = f"{number(row.product)} : {number(row.reference)}"
    unit = "" if row.unit == "x" else f" {row.unit}"
    return (
        row.goal,
        row.what,
        "" if row.events is None else str(row.events),
        f"{number(row.value)}{unit}",
        row.limit,
        row.verdict,
        spread,
        clock,
        each,
    )


def number(value: float) -> str:
    """Return three digits of a number, more where it is larger."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
