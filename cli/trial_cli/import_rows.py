"""`ledger import rows`: anybody's own records into the ledger, by a map.

Invariant: a file is imported whole or not at all; `--suggest` reads a file and writes nothing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.import_files import files_in, import_files
from trial_cli.options import format_options, ledger_option
from trial_cli.output import clean_lines, note

if TYPE_CHECKING:
    from trial_ledger.importing.source import ImportedRun

__all__ = ["command"]

SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


@click.command("rows")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True)
@click.option("--map", "map_path", metavar="MAP.toml", help="Says where everything stands.")
@click.option("--suggest", is_flag=True, help="Print a map for FILE to start from; import nothing.")
@ledger_option
@format_options
def command(
    paths: tuple[str, ...], *, map_path: str | None, suggest: bool, output_format: str
) -> int:
    """Import your own records: JSON, JSON lines, CSV or TSV, gzip too, by a map.

    A row is a trial, or a call of one. First: ledger import rows FILE --suggest > map.toml
    """
    if suggest == (map_path is not None):
        message = "give one of --map MAP.toml and --suggest, which prints a map to start from"
        raise click.UsageError(message)
    files = files_in(paths, is_rows_file, expected=".json, .jsonl or .csv file")
    if map_path is None:
        return suggested(files)
    from trial_ledger.importing.rows import load_row_map, rows_in  # noqa: PLC0415 - slow to import

    row_map = load_row_map(Path(map_path))

    def read(file: Path) -> "Sequence[ImportedRun]":
        return rows_in(file, row_map)

    return import_files(files, read, output_format=output_format)


def suggested(files: Sequence[Path]) -> int:
    """Print a map for the first file."""
    from trial_ledger.importing.rows_suggest import suggest_map  # noqa: PLC0415 - slow to import

    if len(files) > 1:
        note(f"from {files[0]} alone; the map may fit the others too")
    click.echo(clean_lines(suggest_map(files[0])), nl=False)
    return 0


def is_rows_file(file: Path) -> bool:
    """Return whether a file in a folder may hold rows."""
    return (file.with_suffix("") if file.suffix == ".gz" else file).suffix in SUFFIXES
