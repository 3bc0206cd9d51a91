"""`ledger backup`: a copy of the ledger that verified.

Invariant: nothing is overwritten, and nothing is called a copy that did not verify.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, clean, emit
from trial_cli.words import wrapped

if TYPE_CHECKING:
    from trial_ledger.backup import Backup

__all__ = ["command"]


@click.command("backup", short_help="A copy that is verified")
@click.argument("file")
@click.option("--without-gold", is_flag=True, help="Leave the gold file out, as for sharing.")
@ledger_option
@format_options
def command(file: str, *, without_gold: bool, output_format: str) -> None:
    """Copy the ledger, its gold file and its newest signed head to FILE, and verify the copy.

    Others may go on appending: they wait only while the pages are copied. Nothing is overwritten.
    A text that is redacted later stays in the copy.
    """
    from trial_ledger.backup import backup  # noqa: PLC0415 - slow to import

    with opened() as ledger:
        done = backup(ledger, Path(file), with_gold=not without_gold)
    rows: list[dict[str, object]] = [
        {"file": name, "bytes": size} for name, size in done.files.items()
    ]
    emit(
        Screen(
            schema="ledger.backup/1",
            value=msgspec.to_builtins(done),
            rows=rows,
            lines=lines_of(done),
        ),
        output_format,
    )


def lines_of(done: "Backup") -> list[str]:
    """Return the text form."""
    lines = [f"{'copied':<10}{done.head.size} events, and verified: every byte of the copy"]
    lines += [f"{'file':<10}{size:>12} bytes  {clean(name)}" for name, size in done.files.items()]
    lines += [
        f"{'ledger':<10}{done.head.ledger}",
        f"{'root':<10}{done.head.root}",
        f"{'gold':<10}{done.gold}",
    ]
    signed = "none" if done.signed is None else f"of {done.signed} events, as a note beside it"
    lines += wrapped(f"{'signed':<10}", signed)
    lines += wrapped(
        f"{'keep':<10}",
        f"apart from the ledger; {done.redacted} texts are redacted in it, and what is redacted"
        " later stays in this copy",
    )
    return lines
