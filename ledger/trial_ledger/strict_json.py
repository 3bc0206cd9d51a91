"""Read JSON from outside without accepting what two readers would understand differently.

Invariant: what is returned holds only strings, booleans, null, integers below 2^53, lists and
objects with unique keys, at most 32 levels deep, without lone surrogates; everything else is
refused, and all such faults of one text are reported at once, each with its field path.

Good input takes one pass of the standard library's scanner; only a text in which something is wrong
is read a second time, to find out where.
"""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple, NoReturn

from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.identifiers import MAX_INTEGER

__all__ = ["MAX_DEPTH", "join_path", "parse_json", "shorten"]

MAX_DEPTH = 32
"""Deepest nesting of the profile (architecture, The event)."""

LARGEST_EXPONENT = 308
"""A decimal beyond this overflows a double, so that other readers would see infinity."""

INTEGER_DIGITS = len(str(MAX_INTEGER))
SHOWN_CHARACTERS = 60
SIMPLE_KEY = re.compile(r"[A-Za-z0-9_-]+")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
SURROGATE = re.compile("[\ud800-\udfff]")


def join_path(parent: str | None, key: str | int) -> str:
    """Return the dotted path of a member: `data.items[2]`, `aliases."a.b"`."""
    if isinstance(key, int):
        return f"{parent or ''}[{key}]"
    part = key if SIMPLE_KEY.fullmatch(key) else json.dumps(key[:SHOWN_CHARACTERS])
    return f"{parent}.{part}" if parent else part


def shorten(value: object) -> str:
    """Return a value as one printable line of at most 60 characters, for a message."""
    if value is None or isinstance(value, bool):
        text = json.dumps(value)
    else:
        text = ascii(value[:SHOWN_CHARACTERS]) if isinstance(value, str) else ascii(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 3]}..."


def parse_json(
    data: bytes | str,
    *,
    source: str | None = None,
    line: int | None = None,
    allow_decimals: bool = False,
) -> object:
    """Return the value of one JSON text.

    Args:
        data: the text, or its UTF-8 bytes.
        source: file name for the messages.
        line: line number for the messages, where the text is one line of a file; None takes the
            line inside the text for errors of syntax.
        allow_decimals: whether a number with a fraction or an exponent becomes the text of its
            literal (`0.5` becomes `"0.5"`) instead of being refused.

    Raises:
        InvalidInputError: with every fault of the text.
    """
    place = Place(source, line)
    text = decoded(data, place) if isinstance(data, bytes) else data
    reader = DECIMAL_READER if allow_decimals else STRICT_READER
    try:
        try:
            value: object = reader.decode(text)
            if not is_suspect(text, value):
                return value
        except SuspectError:
            pass  # The second reading says where; it may come upon more than the first.
        found = list(faults(text, place, allow_decimals))
    except json.JSONDecodeError as error:
        raise InvalidInputError([syntax_problem(error, place)], what="JSON") from error
    except RecursionError as error:
        raise InvalidInputError([place.problem(TOO_DEEP, None)], what="JSON") from error
    raise InvalidInputError(found, what="JSON")


TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


class Place(NamedTuple):
    """Where the text stands."""

    source: str | None
    line: int | None

    def problem(
        self, message: str, field: str | None, found: str | None = None, expected: str | None = None
    ) -> Problem:
        """Return a fault at this place."""
        return Problem(
            message=message,
            source=self.source,
            line=self.line,
            field=field,
            found=found,
            expected=expected,
        )


class SuspectError(Exception):
    """Something in the text is not acceptable; which, the second reading finds out."""


def decoded(data: bytes, place: Place) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = place.line or data.count(b"\n", 0, error.start) + 1
        problem = Problem(
            message=f"not UTF-8 at byte {error.start}",
            source=place.source,
            line=line,
            found=shorten(data[error.start : error.start + 4]),
        )
        raise InvalidInputError([problem], what="JSON") from error


def syntax_problem(error: json.JSONDecodeError, place: Place) -> Problem:
    return Problem(
        message=f"not JSON: {error.msg} at column {error.colno}",
        source=place.source,
        line=place.line or error.lineno,
    )


def unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise SuspectError
    return members


def refuse(_literal: str) -> NoReturn:
    raise SuspectError


def parse_integer(literal: str) -> int:
    if len(literal) < INTEGER_DIGITS:
        return int(literal)
    if is_large(literal):
        raise SuspectError
    return int(literal)


def is_large(literal: str) -> bool:
    return len(literal) > INTEGER_DIGITS + 1 or abs(int(literal)) > MAX_INTEGER


def parse_decimal_literal(literal: str) -> str:
    if overflows(literal):
        raise SuspectError
    return literal


def overflows(literal: str) -> bool:
    exponent = literal.lower().partition("e")[2].lstrip("+-").lstrip("0")
    if len(exponent) > len(str(LARGEST_EXPONENT)):
        return True
    return abs(Decimal(literal).adjusted()) > LARGEST_EXPONENT


def reader_with(parse_float: Callable[[str], object]) -> json.JSONDecoder:
    """Return a reader; one serves every text, since making it costs more than a short text."""
    return json.JSONDecoder(
        object_pairs_hook=unique_members,
        parse_float=parse_float,
        parse_int=parse_integer,
        parse_constant=refuse,
    )


STRICT_READER = reader_with(refuse)
"""Refuses every number that is no integer."""

DECIMAL_READER = reader_with(parse_decimal_literal)
"""Keeps a decimal as the text of its literal."""


def is_suspect(text: str, value: object) -> bool:
    # A text with few brackets cannot be deep; most lines take this branch.
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deep(value, MAX_DEPTH):
        return True
    # Looking at the text as a whole is cheaper than looking at each value in it.
    escaped = SURROGATE_ESCAPE.search(text) is not None
    if not escaped and (text.isascii() or SURROGATE.search(text) is None):
        return False
    return has_surrogate(value)


def is_deep(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        return levels == 0 or any(is_deep(member, levels - 1) for member in value.values())
    if isinstance(value, list):
        return levels == 0 or any(is_deep(member, levels - 1) for member in value)
    return False


def has_surrogate(value: object) -> bool:
    if isinstance(value, str):
        return SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(has_surrogate(key) or has_surrogate(member) for key, member in value.items())
    return isinstance(value, list) and any(has_surrogate(member) for member in value)


class Members(list[tuple[str, object]]):
    """An object with its repeated keys, as the second reading sees it."""


class Literal(NamedTuple):
    """A number that the second reading left as it was written."""

    text: str
    is_integer: bool


def faults(text: str, place: Place, allow_decimals: bool) -> Iterator[Problem]:
    """Yield every fault of a text that is well-formed JSON."""
    value = json.loads(
        text,
        object_pairs_hook=Members,
        parse_float=lambda literal: Literal(literal, is_integer=False),
        parse_int=lambda literal: Literal(literal, is_integer=True),
        parse_constant=lambda literal: Literal(literal, is_integer=False),
    )
    yield from faults_of(value, None, MAX_DEPTH, place, allow_decimals)


def faults_of(
    value: object, path: str | None, levels: int, place: Place, allow_decimals: bool
) -> Iterator[Problem]:
    if isinstance(value, str):
        if SURROGATE.search(value):
            yield place.problem("holds a lone surrogate", path, shorten(value), "Unicode text")
    elif isinstance(value, Literal):
        yield from number_faults(value, path, place, allow_decimals)
    elif isinstance(value, list) and levels == 0:
        yield place.problem(TOO_DEEP, path)
    elif isinstance(value, Members):
        yield from key_faults(value, path, place)
        for key, member in value:
            inner = join_path(path, key)
            yield from faults_of(member, inner, levels - 1, place, allow_decimals)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            inner = join_path(path, index)
            yield from faults_of(member, inner, levels - 1, place, allow_decimals)


def key_faults(members: Members, path: str | None, place: Place) -> Iterator[Problem]:
    seen: set[str] = set()
    for key, _ in members:
        if key in seen:
            yield place.problem("key stands twice in one object", join_path(path, key))
        elif SURROGATE.search(key):
            yield place.problem("key holds a lone surrogate", join_path(path, key))
        seen.add(key)


def number_faults(
    number: Literal, path: str | None, place: Place, allow_decimals: bool
) -> Iterator[Problem]:
    shown = shorten(number.text)[1:-1]
    if number.is_integer:
        if is_large(number.text):
            expected = f"an integer up to {MAX_INTEGER}, or text"
            yield place.problem("integer beyond 2^53 - 1", path, shown, expected)
    elif number.text in {"NaN", "Infinity", "-Infinity"}:
        yield place.problem("not a JSON number", path, shown, "null where unknown")
    elif overflows(number.text):
        yield place.problem("number out of range", path, shown, "text")
    elif not allow_decimals:
        expected = f'the quoted form "{shown}"'
        yield place.problem("bare decimal", path, shown, expected)
