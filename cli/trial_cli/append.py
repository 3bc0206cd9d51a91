"""`ledger append`: events as JSON lines in, acknowledgements as JSON lines out.

Invariant: what is acknowledged is durable; by default a file is appended whole or not at all.
"""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import click

from trial_cli.options import ledger_option, opened
from trial_cli.output import json_text, note, problem_lines
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
    from trial_cli.lines import DerivedIds, collected, input_stream  # noqa: PLC0415 - slow to import

    if stream and dry_run:
        message = "--stream and --dry-run exclude each other"
        raise click.UsageError(message)
    derived = DerivedIds() if derive_ids else None
    name = "standard input" if file == "-" else file
    if stream:
        with input_stream(file) as source, opened(write=True) as ledger:
            return append_stream(ledger, source, name, derived)
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(input_stream(file))
        if file == "-":
            source = stack.enter_context(collected(source))
        ledger = stack.enter_context(opened(write=True))
        acknowledged = ledger.append_all(entries(source, name, derived), what=name, dry_run=dry_run)
    if dry_run:
        note(f"{len(acknowledged)} events acceptable, nothing written")
        return 0
    for acknowledgement in acknowledged:
        click.echo(json_text(acknowledgement))
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
    """Append what arrives, group by group; return the exit code that all lines together have.

    It is the one that the same lines would have had without `--stream`: a fault of form outweighs
    a refusal by a rule.
    """
    from trial_cli.lines import entry_of, line_groups  # noqa: PLC0415 - slow to import

    number = 0
    codes: set[int] = set()
    for lines in line_groups(source):
        found = (
            entry_of(line, source=name, number=place, derived=derived)
            for place, line in enumerate(lines, number + 1)
        )
        group = [entry for entry in found if entry is not None]
        number += len(lines)
        for entry, result in zip(group, ledger.append_group(group), strict=True):
            click.echo(json_text(answer(entry, result)))
            if isinstance(result, LedgerError):
                codes.add(exit_code_of(result))
        sys.stdout.flush()
    return min(codes, default=0)


def exit_code_of(refusal: LedgerError) -> int:
    """Return 2 for a fault of form, 3 for anything that the state of the ledger refuses."""
    is_form = isinstance(refusal, InvalidInputError)
    return InvalidInputError.exit_code if is_form else RefusedError.exit_code


def answer(entry: "Entry", result: "Acknowledgement | LedgerError") -> object:
    """Return what a line is answered with: its acknowledgement, or why it was refused."""
    from trial_ledger.batch import Faults  # noqa: PLC0415 - loaded with the ledger

    if not isinstance(result, LedgerError):
        return result
    faults = Faults()
    faults.add(result, entry)
    return {
        "status": "refused",
        "line": entry.line,
        "exit_code": exit_code_of(result),
        "clause": result.clause if isinstance(result, RuleError) else None,
        "problems": problem_lines(faults.problems),
        "hint": result.hint,
    }
