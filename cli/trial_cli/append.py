"""`ledger append`: events as JSON lines in, acknowledgements as JSON lines out.

Invariant: what is acknowledged is durable; by default a file is appended whole or not at all.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import click
import msgspec

from trial_cli.options import ledger_option, opened
from trial_cli.output import note, problem_lines
from trial_ledger.errors import InvalidInputError, LedgerError, RefusedError, RuleError

if TYPE_CHECKING:
    from trial_cli.lines import DerivedIds
    from trial_ledger.batch import Entry
    from trial_ledger.book import Ledger
    from trial_ledger.building import Acknowledgement

__all__ = ["command"]


@click.command("append", short_help="Append events from JSON lines")
@click.argument("file", default="-")
@ledger_option
@click.option(
    "--stream", is_flag=True, help="Acknowledge line by line; a refused line stops nothing."
)
@click.option("--dry-run", is_flag=True, help="Check everything, write nothing.")
@click.option(
    "--derive-ids", is_flag=True, help="Ids from content, so that the same input adds nothing."
)
def command(file: str, *, stream: bool, dry_run: bool, derive_ids: bool) -> int:
    """Append events, one JSON object a line, from FILE or standard input.

    A line holds kind, run, trial, data and optionally id, at, actor. All lines are appended or
    none, unless --stream is given.
    """
    from trial_cli.lines import DerivedIds, input_stream  # noqa: PLC0415 - slow to import

    if stream and dry_run:
        message = "--stream and --dry-run exclude each other"
        raise click.UsageError(message)
    derived = DerivedIds() if derive_ids else None
    name = "standard input" if file == "-" else file
    with input_stream(file) as source, opened(write=True) as ledger:
        if stream:
            return append_stream(ledger, source, file, derived)
        acknowledged = ledger.append_all(entries(source, file, derived), what=name, dry_run=dry_run)
    if dry_run:
        note(f"{len(acknowledged)} events acceptable, nothing written")
        return 0
    for acknowledgement in acknowledged:
        click.echo(msgspec.json.encode(acknowledgement))
    return 0


def entries(source: BinaryIO, name: str, derived: "DerivedIds | None") -> "Iterator[Entry]":
    """Yield the entries of an input."""
    from trial_cli.lines import entry_of, whole_lines  # noqa: PLC0415 - slow to import

    for number, line in enumerate(whole_lines(source), 1):
        entry = entry_of(line, source=name, number=number, derived=derived)
        if entry is not None:
            yield entry


def append_stream(
    ledger: "Ledger", source: BinaryIO, name: str, derived: "DerivedIds | None"
) -> int:
    """Append what arrives, group by group; return the exit code of the worst refusal."""
    from trial_cli.lines import entry_of, line_groups  # noqa: PLC0415 - slow to import

    number = 0
    code = 0
    for lines in line_groups(source):
        found = (
            entry_of(line, source=name, number=place, derived=derived)
            for place, line in enumerate(lines, number + 1)
        )
        group = [entry for entry in found if entry is not None]
        number += len(lines)
        for entry, result in zip(group, ledger.append_group(group), strict=True):
            click.echo(msgspec.json.encode(answer(entry, result)))
            if isinstance(result, LedgerError):
                code = code or result.exit_code
        sys.stdout.flush()
    return code


def answer(entry: "Entry", result: "Acknowledgement | LedgerError") -> object:
    """Return what a line is answered with: its acknowledgement, or why it was refused."""
    if not isinstance(result, LedgerError):
        return result
    problems = [result.message]
    if isinstance(result, InvalidInputError | RefusedError):
        problems = problem_lines(result.problems)
    return {
        "status": "refused",
        "line": entry.line,
        "exit_code": result.exit_code,
        "clause": result.clause if isinstance(result, RuleError) else None,
        "problems": problems,
        "hint": result.hint,
    }
