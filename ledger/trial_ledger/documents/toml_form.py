"""Read the bytes of a TOML document without letting a number or a date change on the way.

Invariant: the table that is returned holds JSON values only; a bare float, a date or an integer
from 2^53 has been reported as a fault, with the quoted form as what was expected.
"""

import datetime as dt
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import cast

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.reading import Faults, locate
from trial_ledger.errors import InvalidInputError
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.strict_json import MAX_DEPTH, join_path, parse_json, shorten

__all__ = ["decode_text", "parse_table", "plain_table"]


class BareNumber(str):
    """A TOML float as it was written; refused, since binary would change it."""

    __slots__ = ()


def parse_table(data: bytes, *, source: str | None, what: str) -> tuple[dict[str, Json], Faults]:
    """Return the table of a TOML document, or of a JSON one if it starts with a brace.

    Bare floats and dates are reported and stand in as text, so that checking can go on.

    Raises:
        InvalidInputError: the bytes are neither.
    """
    if data.lstrip()[:1] == b"{":
        value = parse_json(data, source=source)
        faults = Faults(source=source, what=what)
        return cast("dict[str, Json]", value), faults
    text = decode_text(data, source=source, what=what)
    faults = Faults(source=source, what=what, text=text)
    try:
        table = tomllib.loads(text, parse_float=BareNumber)
    except ValueError as error:  # also an integer of more than 4,300 digits
        message = str(error)
        at = re.search(r"\(at line (\d+), column \d+\)", message)
        line = int(at[1]) if at else len(faults.lines)
        raise InvalidInputError.single(
            f"not TOML: {message}", what=what, source=source, line=line
        ) from error
    except RecursionError as error:
        raise InvalidInputError.single(
            f"nested deeper than {MAX_DEPTH} levels", what=what, source=source
        ) from error
    return cast("dict[str, Json]", plain_value(table, None, MAX_DEPTH, faults)), faults


def decode_text(data: bytes, *, source: str | None, what: str) -> str:
    """Return UTF-8 bytes as text, without a byte order mark.

    Raises:
        InvalidInputError: the bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError.single(
            f"not UTF-8 at byte {error.start}",
            what=what,
            source=source,
            line=data.count(b"\n", 0, error.start) + 1,
            found=shorten(data[error.start : error.start + 4]),
        ) from error


def plain_table(
    values: Mapping[str, object], faults: Faults, *, path: str | None = None
) -> dict[str, Json]:
    """Return a table that a program built as JSON, reporting floats, dates and large integers."""
    return cast("dict[str, Json]", plain_value(dict(values), path, MAX_DEPTH, faults))


def plain_value(value: object, path: str | None, levels: int, faults: Faults) -> Json:
    """Return a TOML value as JSON, reporting what has no exact form there."""
    if isinstance(value, dict | list | tuple):
        return plain_container(value, path, levels, faults)
    if isinstance(value, BareNumber | float):
        return quoted(str(value), "bare decimal", path, faults)
    if isinstance(value, dt.date | dt.time):
        return quoted(value.isoformat(), "bare date or time", path, faults)
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        faults.add(
            "integer beyond 2^53 - 1",
            field=path,
            found=shorten(hex(value))[1:-1],
            expected=f"an integer up to {MAX_INTEGER}, or text",
        )
        return None
    return cast("Json", value)


def plain_container(
    value: dict[str, object] | Sequence[object], path: str | None, levels: int, faults: Faults
) -> Json:
    if levels == 0:
        faults.add(f"nested deeper than {MAX_DEPTH} levels", field=path)
        return None
    if isinstance(value, dict):
        return {
            key: plain_value(member, join_path(path, key), levels - 1, faults)
            for key, member in value.items()
        }
    return [
        plain_value(member, join_path(path, index), levels - 1, faults)
        for index, member in enumerate(value)
    ]


def quoted(text: str, message: str, path: str | None, faults: Faults) -> str:
    """Report a literal that has to be quoted, and return it as the text it should have been."""
    shown = shorten(text)[1:-1]
    line = literal_line(faults.lines, text, locate(faults.lines, path) or 1)
    faults.add(message, field=path, line=line, found=shown, expected=f'"{shown}"')
    return text


def literal_line(lines: Sequence[str], literal: str, start: int) -> int | None:
    """Return the first line from `start` on in which a literal stands, None where none does."""
    pattern = re.compile(rf"(?<![\w.]){re.escape(literal)}(?![\w.])")
    return next((n for n in range(start, len(lines) + 1) if pattern.search(lines[n - 1])), None)
