"""The values that a row map takes from a row: looked up, freed of unknowns, of a checked form.

Invariant: what the source does not know is None and never 0 or empty; what has another form than
the map expects is a fault with its row, never a guess. No number passes through a binary float.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.mapped_records import follow
from trial_ledger.documents.reading import nearest
from trial_ledger.exact import decimal_text, parse_decimal, parse_rational
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.importing.rows_faults import RowFaults
from trial_ledger.importing.rows_map_values import text_of
from trial_ledger.importing.rows_source import Row, parse_text
from trial_ledger.importing.rows_structs import Condition, Unit, Value, Where

__all__ = ["MISSING", "RowReader"]


class Missing:
    """The type of `MISSING`."""


MISSING: Final = Missing()
"""Stands for a value of which the row has not even the key."""

MICROSECONDS: Mapping[Unit | None, int] = {None: 10**6, "s": 10**6, "ms": 1000, "us": 1}
MAX_MICROSECONDS = 10**15
COST_DIGITS = 30
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MOMENT = 253_402_300_799_999_999
"""The last microsecond of the year 9999."""


class RowReader:
    """Reads values from the rows of one file, and remembers which were ever found."""

    def __init__(self, faults: RowFaults, *, empty_is_null: bool) -> None:
        self.faults = faults
        self.empty_is_null = empty_is_null
        self.asked: dict[str, Where] = {}
        self.found: set[str] = set()
        self.unknown: dict[str, int] = {}
        self.without_offset: dict[str, int] = {}
        self.columns: dict[str, None] = {}

    def look(self, where: Where, row: Row) -> Json | Missing:
        """Return what stands at a place; MISSING where it leads nowhere."""
        if where.origin == "key":
            keys = row.keys
            return keys[where.level - 1] if where.level <= len(keys) else MISSING
        if where.origin == "number":
            return row.number
        start: Json | Mapping[str, Json] = row.values
        if where.origin == "document":
            start = row.document
        elif where.origin == "enclosing":
            if where.level > len(row.enclosing):
                return MISSING
            start = row.enclosing[where.level - 1]
        value = follow(start, where.path)
        return value if value is not None or is_there(start, where) else MISSING

    def holds(self, condition: Condition, row: Row) -> bool:
        """Return whether a condition holds in a row; what is missing is `null`."""
        where = condition.where
        self.asked.setdefault(where.text, where)
        value = self.look(where, row)
        if isinstance(value, Missing):
            value = None
        else:
            self.found.add(where.text)
        text = text_of(value)
        if condition.values is not None and not among(text, condition.values):
            return False
        if condition.others is not None and among(text, condition.others):
            return False
        prefix = condition.prefix
        return prefix is None or (isinstance(value, str) and value.startswith(prefix))

    def raw(self, value: Value | None, row: Row) -> Json:
        """Return a value after all its steps, None where it is unknown."""
        if value is None:
            return None
        if value.where is None:
            return value.const  # type: ignore[return-value] # read from a document
        if not value.optional:
            self.asked.setdefault(value.where.text, value.where)
        found = self.look(value.where, row)
        if isinstance(found, Missing):
            found = None
        else:
            self.found.add(value.where.text)
        found = self.opened(value, found, row)
        if self.is_unknown(value, found, row):
            self.unknown[value.field] = self.unknown.get(value.field, 0) + 1
            return None
        empty = found == "" and self.empty_is_null
        if value.translate is not None:
            return self.translated(value, found, row)
        if found is None or empty:
            return None
        return self.cut(value, found, row)

    def opened(self, value: Value, found: Json, row: Row) -> Json:
        """Return a value after `json` and `at`."""
        if value.json and isinstance(found, str) and found.strip():
            found = parse_text(found, self.faults, row.place)
        return found if value.at is None else follow(found, value.at)

    def is_unknown(self, value: Value, found: Json, row: Row) -> bool:
        """Return whether the map says that this value means unknown here."""
        if value.unknown is None and value.when is None:
            return False
        if value.unknown is not None and not among(text_of(found), value.unknown):
            return False
        return value.when is None or self.holds(value.when, row)

    def cut(self, value: Value, found: Json, row: Row) -> Json:
        """Return a text after `parts` and `split`."""
        for separator, index in value.parts:
            pieces = text_of(found).split(separator)
            if not -len(pieces) <= index < len(pieces):
                self.wrong(value, row, found, f"a part {index} at {separator!r}")
                return None
            found = pieces[index]
        if value.split is not None and isinstance(found, str):
            return [part.strip() for part in found.split(value.split) if part.strip()]
        return found

    def translated(self, value: Value, found: Json, row: Row) -> Json:
        """Return what the map says for a value; a value without an entry is a fault."""
        assert value.translate is not None, "the caller looked"
        if value.parts and found is not None:
            found = self.cut(value, found, row)
        text = text_of(found)
        key = match(text, value.translate)
        if key is not None:
            return value.translate[key]  # type: ignore[return-value] # read from a document
        if found is None or (found == "" and self.empty_is_null):
            return None
        if number_of(text) is not None:
            return found  # A number means itself unless the map says otherwise.
        close = nearest(text, value.translate)
        known = ", ".join(value.translate)
        self.wrong(value, row, found, f"{close or known}, as {value.field}.map knows")
        return None

    def wrong(self, value: Value, row: Row, found: Json, expected: str) -> None:
        """Report a value that is not acceptable."""
        where = value.where.text if value.where is not None else None
        self.faults.add(
            f"wrong value for {value.field}",
            place=row.place,
            field=where,
            found=found,
            expected=expected,
        )

    def text(self, value: Value | None, row: Row) -> str | None:
        """Return a value as text; objects and lists as JSON."""
        found = self.raw(value, row)
        return None if found is None else text_of(found)

    def texts(self, value: Value | None, row: Row) -> list[str] | None:
        """Return a value as a list of texts, a single one as a list of one."""
        found = self.raw(value, row)
        if found is None:
            return None
        members = found if isinstance(found, list) else [found]
        return [text_of(member) for member in members if member is not None]

    def decimal(self, value: Value | None, row: Row) -> Decimal | None:
        """Return a value that is a finite number."""
        found = self.raw(value, row)
        if value is None or found is None:
            return None
        number = decimal_of(found)
        if number is None:
            self.wrong(value, row, found, "a number such as 0.25")
        return number

    def count(self, value: Value | None, row: Row) -> int | None:
        """Return a value that is an integer from 0 to 2^53 - 1; `12.0` is 12."""
        number = self.decimal(value, row)
        if value is None or number is None:
            return None
        if number != number.to_integral_value() or not 0 <= number <= MAX_INTEGER:
            self.wrong(value, row, decimal_text(number), "an integer from 0")
            return None
        return int(number)

    def position(self, value: Value | None, row: Row) -> int | None:
        """Return a repetition or an attempt, from 1 whatever the source begins with."""
        number = self.count(value, row)
        if value is None or number is None:
            return None
        if number < value.first:
            expected = f"an integer from {value.first}; from = 0 if the source counts from 0"
            self.wrong(value, row, str(number), expected)
            return None
        return number - value.first + 1

    def cost(self, value: Value | None, row: Row) -> str | None:
        """Return a value that is an amount of money, as decimal text."""
        number = self.decimal(value, row)
        if value is None or number is None:
            return None
        text = decimal_text(number)
        whole, _, fraction = text.partition(".")
        if number < 0 or len(whole) > COST_DIGITS or len(fraction) > COST_DIGITS:
            self.wrong(value, row, text, f"an amount from 0 with at most {COST_DIGITS} digits")
            return None
        return text

    def duration(self, value: Value | None, row: Row) -> int | None:
        """Return a value that is a length of time, in microseconds; seconds without a unit."""
        number = self.decimal(value, row)
        if value is None or number is None:
            return None
        length = number * MICROSECONDS[value.unit]
        if not 0 <= length <= MAX_MICROSECONDS:
            self.wrong(value, row, decimal_text(number), "a length of time from 0")
            return None
        return int(length.to_integral_value())

    def moment(self, value: Value | None, row: Row) -> datetime | None:
        """Return a value that is a time, in UTC; one without an offset is unknown and counted."""
        found = self.raw(value, row)
        if value is None or found is None:
            return None
        if value.unit is not None:
            return self.since_1970(value, found, row)
        try:
            time = datetime.fromisoformat(text_of(found).strip())
        except ValueError:
            self.wrong(value, row, found, 'an ISO 8601 time, or unit = "s" (ms, us) since 1970')
            return None
        if time.tzinfo is None and value.offset is not None:
            time = datetime.fromisoformat(f"{time.isoformat()}{value.offset}")
        if time.tzinfo is None:
            self.without_offset[value.field] = self.without_offset.get(value.field, 0) + 1
            return None
        try:
            return time.astimezone(UTC)
        except OverflowError:
            self.wrong(value, row, found, "a time between the years 1 and 9999")
            return None

    def since_1970(self, value: Value, found: Json, row: Row) -> datetime | None:
        """Return a time that is a number of seconds, or of parts of them, since 1970."""
        number = decimal_of(found)
        length = -1 if number is None else number * MICROSECONDS[value.unit]
        if not 0 <= length <= LAST_MOMENT:
            self.wrong(value, row, found, f"a number of {value.unit} since 1970")
            return None
        return EPOCH + timedelta(microseconds=int(length))


def is_there(start: object, where: Where) -> bool:
    """Return whether the last step of a path leads to something that is null."""
    assert where.path, "a row, and what is around it, is never null"
    last = where.path[-1]
    holder = follow(start, where.path[:-1])
    if isinstance(last, str):
        return isinstance(holder, Mapping) and last in holder
    return isinstance(holder, list)


def decimal_of(value: Json) -> Decimal | None:
    """Return the number that a value is, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return parse_decimal(str(value).strip())
    except ValueError:
        return None


def number_of(text: str) -> Fraction | None:
    """Return the rational or decimal that a text is, None where it is none."""
    try:
        return parse_rational(text)
    except ValueError:
        number = decimal_of(text)
        return None if number is None else Fraction(number)


def match(text: str, known: Mapping[str, object] | tuple[str, ...]) -> str | None:
    """Return the known word that a text is, numbers by their value; None where it is none."""
    if text in known:
        return text
    number = decimal_of(text)
    if number is None:
        return None
    return next((word for word in known if decimal_of(word) == number), None)


def among(text: str, known: tuple[str, ...]) -> bool:
    """Return whether a text is one of some words, numbers compared by their value."""
    return match(text, known) is not None
