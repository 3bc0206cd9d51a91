"""Lenient reading of other tools' JSON: exact numbers, NaN literals, accessors that never raise.

Invariant: no number passes through a binary float. A decimal literal becomes `Decimal` with its
digits kept, and the literals NaN, Infinity and -Infinity become the `Decimal` of that name, which
is the explicit marker of an unscored value. A field that is missing or of another type than
expected reads as unknown (None, or nothing in it), because a log of another version is not wrong.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TypeAlias

import msgspec

from trial_ledger.errors import InvalidInputError
from trial_ledger.identifiers import MAX_INTEGER

__all__ = [
    "JsonObject",
    "count_at",
    "decimal_at",
    "elapsed_us",
    "fits",
    "json_bytes",
    "list_at",
    "mapping_at",
    "mappings_at",
    "parse_json",
    "seconds_us",
    "text_at",
    "utc_text",
    "whole_text",
]

JsonObject = Mapping[str, object]
"""A JSON object as it was read."""

SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
MAX_DEPTH = 200
"""Nesting beyond this is refused; Inspect's own logs stay below 40."""
MAX_SECONDS = Decimal(10**9)
ENCODER = msgspec.json.Encoder(decimal_format="number")
SORTING_ENCODER = msgspec.json.Encoder(decimal_format="number", order="sorted")
NODE_SIZE = 8


def parse_json(
    content: bytes, *, source: str, line: int | None = None, what: str = "Inspect log"
) -> object:
    """Return the value of a JSON text, decimals exact, lone surrogates replaced by U+FFFD.

    Args:
        content: the text.
        source: file name for the messages.
        line: line number for the messages, where the text is one line of a file.
        what: what the file is, for the messages.

    Raises:
        InvalidInputError: not UTF-8, not JSON, or nested deeper than 200 levels.
    """

    def unreadable(message: str, found: str | None) -> InvalidInputError:
        return InvalidInputError.single(message, what=what, source=source, line=line, found=found)

    try:
        text = content.decode("utf-8")
        value: object = json.loads(text, parse_float=Decimal, parse_constant=Decimal)
        check_depth(value)
    except UnicodeDecodeError as error:
        raise unreadable("not UTF-8", f"byte {error.start}") from error
    except RecursionError as error:
        raise unreadable(f"nested deeper than {MAX_DEPTH} levels", None) from error
    except ValueError as error:
        raise unreadable("not JSON", str(error)[:120]) from error
    return without_surrogates(value) if SURROGATE_ESCAPE.search(text) else value


Container: TypeAlias = dict[str, object] | list[object]


def check_depth(value: object) -> None:
    """Raise RecursionError where a value is nested too deeply; walks level by level."""
    level: Sequence[Container] = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise RecursionError


def without_surrogates(value: object) -> object:
    """Return the value with every lone surrogate replaced, so that it can be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {
            str(without_surrogates(key)): without_surrogates(member)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [without_surrogates(member) for member in value]
    return value


def json_bytes(value: object, *, ordered: bool = False) -> bytes:
    """Return the value as JSON, decimals with the digits they came with, NaN as the text `NaN`.

    Args:
        value: what `parse_json` returned, or a part of it.
        ordered: whether keys are sorted, so that equal values give equal bytes.
    """
    encoder = SORTING_ENCODER if ordered else ENCODER
    try:
        return encoder.encode(value)
    except ValueError:
        return encoder.encode(with_named_constants(value))


def fits(value: object, limit: int) -> bool:
    """Return whether a value stays below a size as JSON, without writing it.

    Resolved references share their texts, so that a small log can mean a huge request.
    """
    stack = [value]
    size = 0
    while stack and size <= limit:
        item = stack.pop()
        size += NODE_SIZE
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, dict):
            size += sum(len(key) for key in item)
            stack += item.values()
        elif isinstance(item, list):
            stack += item
    return size <= limit


def with_named_constants(value: object) -> object:
    """Return the value with NaN and infinities as text, since JSON has no word for them."""
    if isinstance(value, Decimal) and not value.is_finite():
        return str(value)
    if isinstance(value, dict):
        return {key: with_named_constants(member) for key, member in value.items()}
    if isinstance(value, list):
        return [with_named_constants(member) for member in value]
    return value


def text_at(mapping: JsonObject, key: str) -> str | None:
    """Return the text of a field, None where it is missing, empty or something else."""
    value = mapping.get(key)
    return value if isinstance(value, str) and value else None


def whole_text(value: object) -> str | None:
    """Return a text as it is and anything else as JSON; None stays None."""
    if value is None or isinstance(value, str):
        return value
    return json_bytes(value).decode()


def mapping_at(mapping: JsonObject, key: str) -> JsonObject:
    """Return the object of a field, an empty one where there is none."""
    value = mapping.get(key)
    return value if isinstance(value, dict) else {}


def list_at(mapping: JsonObject, key: str) -> Sequence[object]:
    """Return the list of a field, an empty one where there is none."""
    value = mapping.get(key)
    return value if isinstance(value, list) else []


def mappings_at(mapping: JsonObject, key: str) -> Sequence[JsonObject]:
    """Return the objects in the list of a field, whatever else is in it left out."""
    return [member for member in list_at(mapping, key) if isinstance(member, dict)]


def count_at(mapping: JsonObject, key: str) -> int | None:
    """Return a field that is an integer from 0 to 2^53 - 1, else None."""
    value = mapping.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_INTEGER:
        return value
    return None


def decimal_at(mapping: JsonObject, key: str) -> Decimal | None:
    """Return a field that is a finite number, else None."""
    value = mapping.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    return value if isinstance(value, Decimal) and value.is_finite() else None


def moment(text: object) -> datetime | None:
    """Return the instant that an ISO 8601 text with an offset names, None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        value = datetime.fromisoformat(text)
        return value.astimezone(UTC) if value.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def utc_text(text: object, *, plus_us: int = 0) -> str | None:
    """Return a source's time as UTC with six digits; None where it has no offset or is no time."""
    value = moment(text)
    if value is None:
        return None
    try:
        value += timedelta(microseconds=plus_us)
    except OverflowError:
        return None
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def elapsed_us(start: object, end: object) -> int | None:
    """Return the microseconds between two times, None where one is unknown or they are reversed."""
    first, last = moment(start), moment(end)
    if first is None or last is None or last < first:
        return None
    return (last - first) // timedelta(microseconds=1)


def seconds_us(seconds: Decimal | None) -> int | None:
    """Return a number of seconds as whole microseconds, None where unknown or out of range."""
    if seconds is None or not 0 <= seconds <= MAX_SECONDS:
        return None
    return int((seconds * 10**6).to_integral_value())
