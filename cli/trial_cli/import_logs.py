"""`ledger import`: other tools' logs into the ledger.

Invariant: a file is imported whole or not at all; importing it again appends nothing.
"""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import WIDTH, Screen, clean, emit, note, show_error
from trial_ledger.errors import LedgerError, NotFoundError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger

__all__ = ["command"]

SUFFIXES = (".eval", ".json")


@click.group("import", short_help="Bring in another tool's log")
def command() -> None:
    """Import another tool's log; nothing is judged again and nothing invented."""


@command.command("inspect")
@click.argument("paths", nargs=-1, required=True)
@ledger_option
@format_options
def import_inspect(paths: tuple[str, ...], *, output_format: str) -> int:
    """Import Inspect logs (.eval or .json): files, or folders of them."""
    files = log_files(paths)
    rows: list[dict[str, object]] = []
    code = 0
    with opened(write=True) as ledger:
        for file in files:
            try:
                rows.append(import_one(ledger, file))
            except LedgerError as error:
                note(f"{file}: not imported")
                code = show_error(error)
                rows.append(row_of(file, None))
    lines = [line_of(row) for row in rows]
    if len(rows) == 1:
        lines += [
            line
            for loss in cast("list[str]", rows[0]["losses"])
            for line in textwrap.wrap(
                clean(loss), WIDTH, initial_indent="  lost: ", subsequent_indent=" " * 8
            )
        ]
    total = sum(int(str(row["appended"])) for row in rows)
    imported = sum(row["run"] is not None for row in rows)
    lines.append(f"{imported} of {len(rows)} files, {total} events appended")
    last = next((row["run"] for row in reversed(rows) if row["run"] is not None), None)
    if last is not None:
        lines.append(f"next: ledger scores {last}")
    emit(
        Screen(schema="ledger.import/1", value={"files": rows}, rows=rows, lines=lines),
        output_format,
    )
    return code


def log_files(paths: tuple[str, ...]) -> list[Path]:
    """Return the files that the arguments name, folders searched for logs, sorted.

    Raises:
        NotFoundError: a path is not there, or a folder holds no log.
    """
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if path.is_dir():
            inside = sorted(
                file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file()
            )
            if not inside:
                message = f"no .eval or .json file under {name}"
                raise NotFoundError(message)
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            message = f"no file {name}"
            raise NotFoundError(message, hint="name .eval or .json files, or a folder of them")
    return found


def import_one(ledger: "Ledger", file: Path) -> dict[str, object]:
    """Import one file and return what came of it."""
    from trial_ledger.importing.appending import append_run  # noqa: PLC0415 - slow to import
    from trial_ledger.importing.inspect import import_inspect as read  # noqa: PLC0415 - likewise

    imported = read(file)
    before = ledger.store.size()
    acknowledged = append_run(ledger, imported)
    appended = ledger.store.size() - before
    return {
        **row_of(file, imported.name),
        "appended": appended,
        "existed": sum(one.status == "exists" for one in acknowledged),
        "losses": losses_in(ledger, imported.name),
    }


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
            found += msgspec.json.decode(ledger.blob(data.losses) or b"[]", type=list[str])
    return found


def line_of(row: dict[str, object]) -> str:
    """Return one imported file on one line."""
    if row["run"] is None:
        return f"{clean(row['file'])}: refused"
    state = f"{row['appended']} events" if row["appended"] else "was imported already"
    losses = cast("list[str]", row["losses"])
    lost = f", {len(losses)} losses" if losses else ""
    return f"{clean(row['run'])}  {state}{lost}  from {clean(Path(str(row['file'])).name)}"
