"""`ledger scan`: credentials, secrets and canaries where they do not belong.

Invariant: what is found is never shown, only where it is and of what form.
"""

from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, clean, emit
from trial_cli.words import wrapped
from trial_ledger.errors import GateError

if TYPE_CHECKING:
    from trial_ledger.scanning import Scan, ScanFinding

__all__ = ["command"]

SHOWN = 50
LABEL = 12


@click.command("scan", short_help="Look for credentials and canaries")
@click.option("--canaries", is_flag=True, help="Look for canaries of datasets only.")
@ledger_option
@format_options
def command(*, canaries: bool, output_format: str) -> int:
    """Look through every document and text for what should not be in a ledger.

    Looked for are keys of known forms, fields named like a credential, the values of the variables
    that manifests name, as they are set here, and the canaries of registered datasets. Each finding
    names the command that redacts it. What looks like a credential in a response or an answer is
    evidence and is kept; anything else ends with exit code 5.
    """
    from trial_ledger.scanning import scan  # noqa: PLC0415 - slow to import

    with opened() as ledger:
        found = scan(ledger, credentials=not canaries)
    rows: list[dict[str, object]] = [msgspec.to_builtins(finding) for finding in found.findings]
    value = {"leaks": found.leaks, "scan": found}
    emit(
        Screen(schema="ledger.scan/1", value=value, rows=rows, lines=lines_of(found)), output_format
    )
    return GateError.exit_code if found.leaks else 0


def lines_of(found: "Scan") -> list[str]:
    """Return the text form."""
    lines = [headline(found)]
    for finding in found.findings[:SHOWN]:
        lines += finding_lines(finding)
    more = len(found.findings) + found.unlisted - SHOWN
    if more > 0:
        lines.append(f"… and {more} more (--json lists up to 1000)")
    lines += told("looked at", looked_words(found))
    if found.secrets or found.unset:
        lines += told("secrets", names_words(found.secrets, found.unset, "not set here"))
    if found.canaries or found.unknown_canaries:
        lines += told(
            "canaries",
            names_words(found.canaries, found.unknown_canaries, "not known without the gold file"),
        )
    return lines


def headline(found: "Scan") -> str:
    """Return how much was found, in one line."""
    kept = f", {found.evidence} kept as evidence" if found.evidence else ""
    if not found.leaks:
        return f"{label('clean')}nothing that does not belong here{kept}"
    return f"{label('FOUND')}{found.leaks} that do not belong here{kept}"


def finding_lines(finding: "ScanFinding") -> list[str]:
    """Return one finding: where it is, what it is, what to do."""
    place = "" if finding.place is None else f" at byte {finding.place}"
    where = f"{finding.field} of seq {finding.seq}, {finding.kind}{place}: {finding.what}"
    lines = told("evidence" if finding.is_evidence else finding.sort, where)
    if finding.command is not None:
        return [*lines, f"{label('')}{finding.command}"]
    why = "a document cannot be erased" if finding.blob is None else "a frozen text stays"
    return [*lines, f"{label('')}{why}: revoke it"]


def looked_words(found: "Scan") -> str:
    """Return what was looked at."""
    words = f"{found.events} events, {found.texts} texts, {found.bytes} bytes"
    if found.redacted:
        words += f"; {found.redacted} texts are redacted"
    if found.absent:
        words += f"; {found.absent} gold texts are not here"
    return words


def names_words(looked: list[str], missing: list[str], why: str) -> str:
    """Return what was looked for by name, and what could not be."""
    parts = [", ".join(map(clean, looked)) if looked else "none"]
    if missing:
        parts.append(f"{why}: {', '.join(map(clean, missing))}")
    return "; ".join(parts)


def told(word: str, text: str) -> list[str]:
    """Return a labelled text on as many lines as it needs."""
    return wrapped(label(word), text, indent=LABEL)


def label(word: str) -> str:
    """Return the word that begins a line, as wide as all of them."""
    return f"{word:<{LABEL}}"
