"""What every `ledger import` command does: import each file, print a row for each run in it.

Invariant: a file is imported whole or not at all; importing it again appends nothing. A file that
cannot be imported is told and keeps no other file out.
"""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from trial_cli.options import opened
from trial_cli.output import WIDTH, Screen, clean, emit, note, show_error
from trial_ledger.errors import LedgerError, NotFoundError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.importing.source import ImportedRun

__all__ = ["Reader", "files_in", "import_files"]

Reader = Callable[[Path], "Sequence[ImportedRun]"]
"""What reads one file: every run that it holds, at least one."""


def import_files(files: Sequence[Path], read: Reader, *, output_format: str) -> int:
    """Import every file into the ledger of the command, print what came of it.

    Args:
        files: what to import, in this order.
        read: reads one file.
        output_format: as `--format` says.

    Returns:
        The exit code: that of the last file that could not be imported, else 0.
    """
    rows: list[dict[str, object]] = []
    code = imported = 0
    with opened(write=True) as ledger:
        for file in files:
            try:
                rows += import_one(ledger, file, read)
                imported += 1
            except LedgerError as error:
                note(f"{file}: not imported")
                code = show_error(error)
                rows.append(row_of(file, None))
    lines = [line for row in rows for line in lines_of(row)]
    if len(rows) == 1:
        lines += loss_lines(rows[0])
    lines += closing_lines(rows, imported=imported, files=len(files))
    emit(
        Screen(schema="ledger.import/1", value={"files": rows}, rows=rows, lines=lines),
        output_format,
    )
    return code


def loss_lines(row: dict[str, object]) -> list[str]:
    """Return what the source of a run had already lost, in lines."""
    return [
        line
        for loss in cast("list[str]", row["losses"])
        for line in textwrap.wrap(
            clean(loss), WIDTH, initial_indent="  lost: ", subsequent_indent=" " * 8
        )
    ]


def closing_lines(rows: Sequence[dict[str, object]], *, imported: int, files: int) -> list[str]:
    """Return how many files and runs came in, and what to look at next."""
    runs = [row["run"] for row in rows if row["run"] is not None]
    total = sum(int(str(row["appended"])) for row in rows)
    several = f" with {len(runs)} runs" if len(runs) != imported else ""
    lines = [f"{imported} of {files} files{several}, {total} events appended"]
    if runs:
        lines.append(f"next: ledger scores {runs[-1]}")
    return lines


def files_in(paths: Sequence[str], wanted: Callable[[Path], bool], *, expected: str) -> list[Path]:
    """Return the files that arguments name, folders searched for wanted ones, sorted.

    Args:
        paths: files, taken as they are, and folders.
        wanted: whether a file of a folder is one to import.
        expected: what a wanted file is, as `.eval or .json file`.

    Raises:
        NotFoundError: a path is not there, or a folder holds no wanted file.
    """
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if wanted(file) and file.is_file())
            if not inside:
                raise NotFoundError(f"no {expected} under {name}")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise NotFoundError(f"no file {name}", hint=f"name {expected}s, or a folder of them")
    return found


def import_one(ledger: "Ledger", file: Path, read: Reader) -> list[dict[str, object]]:
    """Import one file and return what came of it, a row for each run."""
    from trial_ledger.importing.appending import append_runs  # noqa: PLC0415 - slow to import

    return [
        {
            **row_of(file, one.run),
            "appended": one.count("appended"),
            "existed": one.count("exists"),
            "losses": losses_in(ledger, one.run),
        }
        for one in append_runs(ledger, read(file))
    ]


def row_of(file: Path, run: str | None) -> dict[str, object]:
    """Return the row of a file before anything is known of it but its run."""
    return {"file": clean(file), "run": run, "appended": 0, "existed": 0, "losses": []}


def losses_in(ledger: "Ledger", run: str) -> list[str]:
    """Return what the source of a run had already lost, in sentences."""
    import msgspec  # noqa: PLC0415 - loaded with the ledger

    from trial_ledger.events import SourceImported  # noqa: PLC0415 - likewise

    found: list[str] = []
    for stored in ledger.events(run=run):
        data = stored.event.data
        if isinstance(data, SourceImported) and data.losses is not None:
            content = ledger.blob(data.losses)
            if content is None:
                found.append("a list of losses, which was redacted")
            else:
                found += msgspec.json.decode(content, type=list[str])
    return found


def lines_of(row: dict[str, object]) -> list[str]:
    """Return one imported run on one line, its file on a second one where both are too long."""
    if row["run"] is None:
        return [f"{clean(row['file'])}: refused"]
    state = f"{row['appended']} events" if row["appended"] else "was imported already"
    losses = cast("list[str]", row["losses"])
    lost = f", {len(losses)} losses" if losses else ""
    found = f"{clean(row['run'])}  {state}{lost}"
    source = f"  from {clean(Path(str(row['file'])).name)}"
    return [found + source] if len(found + source) <= WIDTH else [found, source]
