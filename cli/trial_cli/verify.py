"""`ledger verify`: whether the file is what was written, and what cannot be known from it.

Invariant: exit code 4 if anything is wrong; what a check cannot see is said, not left out.
"""

import sys
from typing import TYPE_CHECKING

import click

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, clean, emit
from trial_ledger.errors import VerificationError

if TYPE_CHECKING:
    from trial_ledger.checking import Finding
    from trial_ledger.verification import Verification

__all__ = ["command"]

SHOWN = 20


@click.command("verify", short_help="Check that the file is what was written")
@ledger_option
@format_options
@click.option("--fast", is_flag=True, help="Leave out the bytes of blobs and SQLite's own check.")
def command(*, fast: bool, output_format: str) -> int:
    """Check every event, node, blob, column and schema object, and the head pin."""
    from trial_ledger.verification import verify  # noqa: PLC0415 - slow to import

    progress = Progress()
    with opened() as ledger:
        found = verify(ledger, fast=fast, progress=progress if sys.stderr.isatty() else None)
    progress.end()
    row: dict[str, object] = {
        "ledger": found.ledger,
        "intact": found.is_intact,
        "size": found.size,
        "root": found.root,
        "findings": len(found.findings) + found.unlisted,
        "first": str(found.findings[0]) if found.findings else None,
        "redacted": found.redacted,
        "pin": found.pin,
        "gold": found.gold,
    }
    value = {"intact": found.is_intact, "verification": found}
    emit(
        Screen(schema="ledger.verify/1", value=value, rows=[row], lines=lines_of(found)),
        output_format,
    )
    return 0 if found.is_intact else VerificationError.exit_code


class Progress:
    """Shows how far the check is, on a terminal."""

    def __init__(self) -> None:
        self.is_shown = False

    def __call__(self, done: int, total: int) -> None:
        """Write over what was shown before."""
        click.echo(f"\rverifying {done}/{total}", nl=False, err=True)
        self.is_shown = True

    def end(self) -> None:
        """Begin a new line where anything was shown."""
        if self.is_shown:
            click.echo(err=True)


def place_of(finding: "Finding") -> str:
    """Return where a finding is, in a few words."""
    return f"seq {finding.seq}" if finding.seq is not None else clean(finding.place)


def lines_of(found: "Verification") -> list[str]:
    """Return the text form."""
    count = len(found.findings) + found.unlisted
    checked = "every byte checked" if found.blobs_checked else "bytes not checked (--fast)"
    if found.is_intact:
        lines = [f"intact    {found.size} events: bytes, chain, links, tree, columns, schema"]
    else:
        findings = "1 finding" if count == 1 else f"{count} findings"
        lines = [f"NOT WHAT WAS WRITTEN: {findings}, the first at {place_of(found.findings[0])}"]
        lines += [f"  {clean(finding)}" for finding in found.findings[:SHOWN]]
        if count > SHOWN:
            lines.append(f"  … and {count - SHOWN} more (--json lists up to 1000)")
    lines += [
        f"ledger    {found.ledger}",
        f"root      {found.root}",
        f"blobs     {checked}, {found.redacted} redacted, {found.orphans} named by no event",
        f"gold      {found.gold}",
        f"pin       {found.pin}",
    ]
    if found.open_trials:
        more = ", …" if len(found.open_trials) > 1 else ""
        lines.append(f"open      {len(found.open_trials)}: {clean(found.open_trials[0])}{more}")
    lines.append("not seen  a cut tail, without a head pin or a signed head kept elsewhere;")
    lines.append("          a history rewritten as a whole by the owner of the file and the pin")
    return lines
