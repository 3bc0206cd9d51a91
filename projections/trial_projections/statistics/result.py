"""A number that is there, or the reason why it is not; and the interval around one.

Invariant: a result has either a value or a reason, never both and never neither; what is undefined
is never 0, 1 or not-a-number.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeVar

import msgspec

__all__ = [
    "LEVEL",
    "NOTHING",
    "Interval",
    "Number",
    "Result",
    "because",
    "known",
    "level_named",
    "ratio_of",
    "total_of",
    "undefined",
]

Value = TypeVar("Value")

Number = Fraction | int
"""An exact number."""

LEVEL = Fraction(19, 20)
"""Confidence level where nothing else is asked for, two-sided."""

LEAST_LEVEL = Fraction(1, 1_000_000)
"""How far a level stays from 0 and from 1; beyond, quantiles would lose digits."""

NOTHING = "there is nothing to count"
"""Why a share of nothing is undefined."""


class Result(msgspec.Struct, Generic[Value], frozen=True):
    """A value, or why there is none."""

    value: Value | None
    """The value; None where it is undefined or not available."""
    reason: str | None = None
    """Why there is none, as a clause; None where there is one."""

    def __post_init__(self) -> None:
        """Refuse a value with a reason, and neither."""
        assert (self.value is None) != (self.reason is None), "either a value or a reason"


class Interval(msgspec.Struct, frozen=True):
    """A two-sided interval, ends included."""

    low: Decimal
    """Lower limit, to 50 significant digits."""
    high: Decimal
    """Upper limit, not below the lower one."""


def known(value: Value) -> Result[Value]:
    """Return a result that there is."""
    return Result(value)


def undefined(reason: str) -> "Result[Value]":
    """Return that there is no number, and why."""
    return Result(None, reason)


def because(*results: "Result[Any]") -> "Result[Value]":
    """Return that there is no number for the reason of the first of some that is undefined."""
    return Result(None, next(found.reason for found in results if found.value is None))


def ratio_of(part: Number, whole: Number, reason: str = NOTHING) -> Result[Fraction]:
    """Return a part over a whole; undefined, for a reason, where the whole is 0."""
    return known(Fraction(part) / whole) if whole else undefined(reason)


def total_of(values: Iterable[Number]) -> Fraction:
    """Return the exact sum of numbers; 0 of none."""
    total = Fraction(0)
    for value in values:
        total += value
    return total


def level_named(level: Fraction) -> Fraction:
    """Return a confidence level, which is neither nothing nor certainty."""
    assert LEAST_LEVEL <= level <= 1 - LEAST_LEVEL, "a level is neither nothing nor certainty"
    return level
