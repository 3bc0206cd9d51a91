"""Compare the value of one structured field with gold, as its comparator says (C4, C27).

Invariant: values of different kinds are different unless the comparator reads both as the same
thing: under `exact` and `normalised` the text "5" is not the number 5, under `numeric` it is.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.gold import FIELD_TYPES
from trial_ledger.grading.normalisers import comparable
from trial_ledger.grading.numbers import (
    PLAIN,
    NumberRules,
    Tolerance,
    gold_number,
    is_close,
    value_number,
)

__all__ = [
    "FieldRule",
    "LeafForm",
    "Reading",
    "field_rules",
    "fits",
    "gold_form",
    "is_readable",
    "key_form",
    "leaf_form",
]

LIST_COMPARATORS = frozenset({"any_of", "unordered", "ordered"})
ISO_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
NUMERIC_DATE = re.compile(r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How the values of one metric's fields are read."""

    normaliser: str = "squad"
    """How texts are normalised."""
    notation: NumberRules = PLAIN
    """How numbers are written, in gold and in the answer, where they are texts."""
    tolerance: Tolerance = Tolerance(absolute=Fraction(0), relative=Fraction(0))
    """How far numbers may be apart."""
    dates: str = "iso"
    """Which dates are read beside ISO 8601: `iso` none, `day-first`, `month-first`."""
    empty_text: str = "value"
    """Whether an empty text is a `value` or `null`."""

    def is_null(self, value: Json) -> bool:
        """Return whether a value stands for none."""
        return value is None or (value == "" and self.empty_text == "null")


class FieldRule(msgspec.Struct, frozen=True, kw_only=True):
    """What gold says about one field."""

    kind: str = "text"
    """Its type, a key of `FIELD_TYPES`."""
    comparator: str = "normalised"
    """How it is compared."""
    absent_is_null: bool = False
    """Whether an absent key is as good as null (`missing = "allowed"`)."""


LeafForm: TypeAlias = Callable[[Json, str, Reading], Hashable]
"""What reads a single value: `gold_form` or `leaf_form`."""


def field_rules(gold: Mapping[str, Json]) -> dict[str, FieldRule]:
    """Return the rule of every field that gold declares."""
    fields = gold.get("fields")
    found: dict[str, FieldRule] = {}
    for name, field in (fields if isinstance(fields, dict) else {}).items():
        said = field if isinstance(field, dict) else {}
        kind = str(said.get("type") or "text")
        found[name] = FieldRule(
            kind=kind,
            comparator=str(said.get("comparator") or FIELD_TYPES.get(kind, "normalised")),
            absent_is_null=said.get("missing") == "allowed",
        )
    return found


def leaf_of(rule: FieldRule) -> str:
    """Return how a single value of a field is compared, inside a list too."""
    if rule.comparator not in LIST_COMPARATORS:
        return rule.comparator
    kind = FIELD_TYPES.get(rule.kind, "normalised")
    return "normalised" if kind in LIST_COMPARATORS else kind


def is_readable(rule: FieldRule, gold: Json, reading: Reading) -> bool:
    """Return whether a gold value, which is not null, is what its comparator compares."""
    if rule.comparator not in LIST_COMPARATORS:
        return gold_form(gold, leaf_of(rule), reading) is not None
    return isinstance(gold, list) and are_readable(gold, leaf_of(rule), reading)


def are_readable(value: Json, leaf: str, reading: Reading) -> bool:
    """Return whether every single value in a gold value is null or can be read."""
    if isinstance(value, list | dict):
        members = value.values() if isinstance(value, dict) else value
        return all(are_readable(member, leaf, reading) for member in members)
    return gold_form(value, leaf, reading) is not None


def fits(rule: FieldRule, gold: Json, found: Json, reading: Reading) -> bool | None:
    """Return whether a value, which is not null, is what gold says; None where nobody can say.

    Gold that is not what its comparator compares, as the number `RM 9.00` where no unit is
    declared, is still the same as the same text. That another text is wrong is not known.

    Args:
        rule: the field's rule.
        gold: the gold value, which is not null.
        found: the answer's value.
        reading: how values are read.
    """
    leaf = leaf_of(rule)
    if not is_readable(rule, gold, reading):
        several = gold if rule.comparator == "any_of" and isinstance(gold, list) else [gold]
        forms = (leaf, "normalised")
        same = any(is_same(member, found, form, reading) for form in forms for member in several)
        return True if same else None
    if rule.comparator == "any_of" and isinstance(gold, list):
        return any(is_same(member, found, leaf, reading) for member in gold)
    if rule.comparator == "unordered" and isinstance(gold, list):
        return isinstance(found, list) and has_same_members(gold, found, leaf, reading)
    return is_same(gold, found, leaf, reading)


def is_same(gold: Json, found: Json, leaf: str, reading: Reading) -> bool:
    """Return whether two values are the same, lists and objects member by member."""
    if isinstance(gold, list):
        return (
            isinstance(found, list)
            and len(gold) == len(found)
            and all(is_same(*pair, leaf, reading) for pair in zip(gold, found, strict=True))
        )
    if isinstance(gold, dict):
        return (
            isinstance(found, dict)
            and gold.keys() == found.keys()
            and all(is_same(gold[key], found[key], leaf, reading) for key in gold)
        )
    right, other = gold_form(gold, leaf, reading), leaf_form(found, leaf, reading)
    if isinstance(right, Fraction) and isinstance(other, Fraction):
        return is_close(other, right, reading.tolerance)
    return right is not None and right == other


def has_same_members(gold: list[Json], found: list[Json], leaf: str, reading: Reading) -> bool:
    """Return whether two lists have the same members, each as often, in any order."""
    if len(gold) != len(found):
        return False
    wanted = [whole_form(member, leaf, reading, gold_form) for member in gold]
    given = [whole_form(member, leaf, reading, leaf_form) for member in found]
    if rest_of(wanted) != rest_of(given):
        return False
    # In order of size is the best pairing, as no tolerance reaches over a closer number.
    pairs = zip(numbers_of(wanted), numbers_of(given), strict=True)
    return all(is_close(other, right, reading.tolerance) for right, other in pairs)


def numbers_of(forms: Sequence[Hashable]) -> list[Fraction]:
    """Return the numbers among some forms, the smallest first."""
    return sorted(form for form in forms if isinstance(form, Fraction))


def rest_of(forms: Sequence[Hashable]) -> Counter[Hashable]:
    """Return what is no number among some forms, each with how often it stands there."""
    return Counter(form for form in forms if not isinstance(form, Fraction))


def whole_form(value: Json, leaf: str, reading: Reading, form: LeafForm) -> Hashable:
    """Return what two values that are the same have in common, whatever is in them."""
    if isinstance(value, list):
        return ("list", *(whole_form(member, leaf, reading, form) for member in value))
    if isinstance(value, dict):
        return frozenset((key, whole_form(value[key], leaf, reading, form)) for key in value)
    return form(value, leaf, reading)


def key_form(rule: FieldRule, value: Json, reading: Reading, form: LeafForm) -> Hashable:
    """Return what identifies a record in one of its key fields; None where nothing does.

    Args:
        rule: the field's rule.
        value: its value.
        reading: how values are read.
        form: `gold_form` or `leaf_form`, by the side that the record is of.
    """
    if reading.is_null(value) or isinstance(value, list | dict):
        return None
    return form(value, leaf_of(rule), reading)


def gold_form(value: Json, leaf: str, reading: Reading) -> Hashable:
    """Return the form of a single gold value that is compared; None where it cannot be read so."""
    if leaf == "numeric" and not reading.is_null(value):
        return gold_number(value, reading.notation)
    return leaf_form(value, leaf, reading)


def leaf_form(value: Json, leaf: str, reading: Reading) -> Hashable:
    """Return the form of an answer's single value; None where it cannot be read so."""
    if reading.is_null(value):
        return ("null", None)
    if isinstance(value, list | dict):
        return None
    if leaf == "numeric":
        return value_number(value, reading.notation)
    if leaf == "date":
        return None if isinstance(value, bool) else read_date(str(value), reading.dates)
    if isinstance(value, str):
        return ("text", comparable(value, reading.normaliser) if leaf == "normalised" else value)
    return (type(value).__name__, value)


def read_date(text: str, dates: str) -> Hashable:
    """Return the day, month, year or moment that a text names; None where it names none.

    Year, month and day are compared with the precision they are written in: a month is not one of
    its days. Years of two digits are not read, since nobody can tell the century.
    """
    text = text.strip()
    numbers: tuple[int, ...] = ()
    iso = ISO_DATE.fullmatch(text)
    other = NUMERIC_DATE.fullmatch(text) if dates != "iso" else None
    if iso is not None:
        numbers = tuple(int(part) for part in iso.groups() if part is not None)
    elif other is not None:
        first, second, year = (int(other[group]) for group in (1, 3, 4))
        numbers = (year, second, first) if dates == "day-first" else (year, first, second)
    try:
        if not numbers:
            return dt.datetime.fromisoformat(text)
        dt.date(*(*numbers, 1, 1)[:3])
    except ValueError:
        return None
    return numbers
