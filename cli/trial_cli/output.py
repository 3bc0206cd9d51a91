"""Writes what a command found: text, JSON, JSON lines, CSV or Markdown; and what went wrong.

Invariant: data goes to standard output, messages to standard error; text from logs is stripped of
control characters and never read as markup; JSON names its schema and version.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import click
import msgspec

from trial_ledger.errors import InvalidInputError, LedgerError, Problem, RefusedError, StorageError

__all__ = [
    "WIDTH",
    "Screen",
    "clean",
    "clean_lines",
    "columns",
    "emit",
    "fit",
    "json_text",
    "note",
    "problem_lines",
    "show_error",
    "table",
]

WIDTH = 80
MAX_PROBLEMS = 50
HOSTILE = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069"
    "\\ud800-\\udfff\\ue000-\\uf8ff\\U000f0000-\\U0010ffff]"
)
"""A character that could move a cursor, hide text, turn its direction or cannot be written."""
NUMBER = re.compile(r"-[0-9]+([./][0-9]+)?( %)?")
"""What may begin with a minus and is no formula."""


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
    """Return a value as one line of harmless text: hostile characters replaced."""
    text = "" if value is None else str(value)
    return HOSTILE.sub(lambda found: " " if found[0] in "\n\r\t" else "\ufffd", text)


def clean_lines(text: str) -> str:
    """Return a text of several lines without hostile characters in any of them."""
    return "\n".join(clean(line) for line in text.split("\n"))


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON in which every hostile character is escaped: the same data."""
    document = msgspec.json.encode(value)
    if indent is not None:
        document = msgspec.json.format(document, indent=indent)
    return HOSTILE.sub(
        lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1],
        document.decode("utf-8"),
    )


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
        click.echo(json_text({"schema": screen.schema, **body}, indent=2))
    elif output_format == "jsonl":
        for row in screen.rows:
            click.echo(json_text(row))
    elif output_format == "csv":
        click.echo(csv_text(screen.rows), nl=False)
    elif output_format == "md":
        click.echo("\n".join(markdown(screen.rows)))
    else:
        click.echo(clean_lines("\n".join(screen.lines)))


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
    first = unicodedata.normalize("NFKC", text[:1])
    is_formula = first in {"=", "+", "@"} or (first == "-" and NUMBER.fullmatch(text) is None)
    return "'" + text if is_formula else text


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
    click.echo(clean_lines(message), err=True)


def show_error(error: Exception) -> int:
    """Write what went wrong and what to try next; return the exit code."""
    if not isinstance(error, LedgerError):
        error = known_error(error)
    if isinstance(error, InvalidInputError | RefusedError):
        for line in problem_lines(error.problems):
            note(line)
    note(f"Error: {clean(error.message)}")
    if error.hint:
        note(f"hint: {clean(error.hint)}")
    return error.exit_code


def known_error(error: Exception) -> LedgerError:
    """Return our error for one of the world's, or for a fault of this program."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInputError.single(
            "text that is not Unicode", what="command line", found=ascii(error.object[:60])
        )
    if isinstance(error, OSError):
        return StorageError(
            f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}",
            hint="check that the file and its folder can be written and are not full",
        )
    return LedgerError(
        f"{type(error).__name__}: {error}", hint="LEDGER_DEBUG=1 shows where; please report it"
    )


def problem_lines(problems: Iterable[Problem]) -> list[str]:
    """Return one line a fault, and how many more there are."""
    found = list(problems)
    lines = [clean(problem) for problem in found[:MAX_PROBLEMS]]
    if len(found) > MAX_PROBLEMS:
        lines.append(f"… and {len(found) - MAX_PROBLEMS} more")
    return lines
