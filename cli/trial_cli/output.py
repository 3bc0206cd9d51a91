"""Writes what a command found: text, JSON, JSON lines, CSV or Markdown; and what went wrong.

Invariant: data goes to standard output, messages to standard error; text from logs is stripped of
control characters and never read as markup; JSON names its schema and version.
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import click
import msgspec

from trial_ledger.errors import InvalidInputError, LedgerError, Problem, RefusedError, StorageError

__all__ = ["WIDTH", "Screen", "clean", "columns", "emit", "fit", "note", "show_error", "table"]

WIDTH = 80
MAX_PROBLEMS = 50
BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


class Screen(msgspec.Struct, kw_only=True):
    """What a command shows, in every form."""

    schema: str
    """Name and version of the JSON form, as `ledger.runs/1`."""
    value: object
    """The JSON form, without its schema."""
    rows: list[dict[str, object]]
    """The tabular form, for JSON lines, CSV and Markdown."""
    lines: list[str]
    """The text form."""


def clean(value: object) -> str:
    """Return a value as one line of harmless text: control and direction characters replaced."""
    text = "" if value is None else str(value)
    return "".join(
        " " if char in "\n\r\t" else "\ufffd" if is_hostile(char) else char for char in text
    )


def is_hostile(char: str) -> bool:
    """Return whether a character could move a cursor, hide text or turn its direction."""
    return char in BIDI or unicodedata.category(char) in {"Cc", "Cs", "Co", "Zl", "Zp"}


def fit(value: object, width: int) -> str:
    """Return a value as harmless text of at most that many characters."""
    text = clean(value)
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def columns(rows: Sequence[Mapping[str, object]], names: Sequence[str]) -> list[str]:
    """Return rows as aligned columns with a heading; numbers to the right.

    The last column may be as long as it is; the others are as wide as their widest cell.
    """
    cells = [[clean(row.get(name)) for name in names] for row in rows]
    right = [
        bool(rows) and all(isinstance(row.get(name), int | None) for row in rows) for name in names
    ]
    widths = [
        max([len(name)] + [len(line[position]) for line in cells])
        for position, name in enumerate(names)
    ]
    return [
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in [list(names), *cells]
    ]


def table(rows: Sequence[Mapping[str, object]], names: Sequence[str], empty: str) -> list[str]:
    """Return rows as aligned columns, or a sentence where there are none."""
    return columns(rows, names) if rows else [empty]


def emit(screen: Screen, output_format: str) -> None:
    """Write a screen in the form that was asked for."""
    if output_format == "json":
        value = msgspec.to_builtins(screen.value)
        body = value if isinstance(value, dict) else {"rows": value}
        document = msgspec.json.encode({"schema": screen.schema, **body})
        click.echo(msgspec.json.format(document, indent=2))
    elif output_format == "jsonl":
        for row in screen.rows:
            click.echo(msgspec.json.encode(row).decode("utf-8"))
    elif output_format == "csv":
        click.echo(csv_text(screen.rows), nl=False)
    elif output_format == "md":
        click.echo("\n".join(markdown(screen.rows)))
    else:
        click.echo("\n".join(screen.lines))


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as CSV (RFC 4180); cells that a spreadsheet would run get an apostrophe."""
    stream = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.writer(stream)
    if names:
        writer.writerow(names)
    for row in rows:
        writer.writerow([csv_cell(row.get(name)) for name in names])
    return stream.getvalue()


def csv_cell(value: object) -> str:
    """Return a cell as harmless text."""
    text = clean(flat(value))
    return "'" + text if text[:1] in {"=", "+", "@"} else text


def markdown(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return rows as a Markdown table."""
    names = list(rows[0]) if rows else []
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)] if names else []
    lines += [
        "| " + " | ".join(markdown_cell(row.get(name)) for name in names) + " |" for row in rows
    ]
    return lines


def markdown_cell(value: object) -> str:
    """Return a cell in which nothing is markup."""
    text = clean(flat(value))
    for char in "\\`*_{}[]<>|#!~&":
        text = text.replace(char, "\\" + char)
    return text


def flat(value: object) -> object:
    """Return a value that fits into one cell."""
    if isinstance(value, list | dict | tuple):
        return msgspec.json.encode(value).decode("utf-8")
    return value


def note(message: str) -> None:
    """Write a message for the person at the terminal."""
    click.echo(message, err=True)


def show_error(error: Exception) -> int:
    """Write what went wrong and what to try next; return the exit code."""
    if not isinstance(error, LedgerError):
        detail = StorageError.exit_code if isinstance(error, OSError) else LedgerError.exit_code
        note(f"Error: {type(error).__name__}: {clean(error)}")
        note("hint: LEDGER_DEBUG=1 shows where; please report it")
        return detail
    if isinstance(error, InvalidInputError | RefusedError):
        for line in problem_lines(error.problems):
            note(line)
    note(f"Error: {clean(error.message)}")
    if error.hint:
        note(f"hint: {clean(error.hint)}")
    return error.exit_code


def problem_lines(problems: Iterable[Problem]) -> list[str]:
    """Return one line a fault, and how many more there are."""
    found = list(problems)
    lines = [clean(problem) for problem in found[:MAX_PROBLEMS]]
    if len(found) > MAX_PROBLEMS:
        lines.append(f"… and {len(found) - MAX_PROBLEMS} more")
    return lines
