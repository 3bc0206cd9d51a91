"""Roots, quotients and roundings in decimal arithmetic, alike on every machine.

Invariant: every rounding is half-even, at a precision that is named here; nothing passes through a
binary float or the C mathematics library, and the context of the calling thread has no influence.

Numbers that are not rational are worked out to 70 significant digits and handed over rounded to 50;
what is stored or shown is rounded once more, to 12 (statistics.md, section 23).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import (
    MIN_EMIN,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    localcontext,
)
from fractions import Fraction

from trial_ledger.exact import DECIMAL_DIGITS, decimal_text, parse_decimal
from trial_projections.statistics.result import Number, Result, total_of

__all__ = [
    "SHOWN_DIGITS",
    "exact_total",
    "root_of",
    "round_places",
    "rounded",
    "shown_result",
    "shown_text",
    "solve",
    "wide",
    "wide_ratio",
]

SHOWN_DIGITS = 12
"""Significant digits of a decimal that is stored or shown."""
GUARD_DIGITS = 20
"""Digits beyond the 50 in which is computed, so that their last one is right."""
TRAPS = [DivisionByZero, InvalidOperation]
WIDE = Context(
    prec=DECIMAL_DIGITS + GUARD_DIGITS, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, traps=TRAPS
)
CONTEXT = Context(prec=DECIMAL_DIGITS, rounding=ROUND_HALF_EVEN, traps=TRAPS)
SHOWN = Context(prec=SHOWN_DIGITS, rounding=ROUND_HALF_EVEN, traps=TRAPS)
CLOSE = Decimal(10) ** -(DECIMAL_DIGITS + GUARD_DIGITS // 2)
"""Relative distance from which on a solution is good."""

Curve = Callable[[Decimal], tuple[Decimal, Decimal]]
"""A function and its derivative at a place."""


def wide() -> AbstractContextManager[Context]:
    """Return a context in which decimals are computed to 70 digits, half-even."""
    return localcontext(WIDE)


def wide_ratio(value: Number) -> Decimal:
    """Return a fraction to 70 significant digits."""
    exact = Fraction(value)
    return WIDE.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def rounded(value: Decimal) -> Decimal:
    """Return a decimal to 50 significant digits."""
    return CONTEXT.plus(value)


def root_of(square: Number) -> Decimal:
    """Return the root of a number from 0 on, to 50 significant digits."""
    return rounded(WIDE.sqrt(wide_ratio(square)))


def shown_text(value: Decimal | Number) -> str:
    """Return a number to 12 significant digits, as decimal text without an exponent."""
    if isinstance(value, Decimal):
        return decimal_text(SHOWN.plus(value))
    exact = Fraction(value)
    return decimal_text(SHOWN.divide(Decimal(exact.numerator), Decimal(exact.denominator)))


def shown_result(found: Result[Decimal] | Result[Fraction]) -> str | None:
    """Return a result to 12 significant digits as decimal text; None where it is undefined."""
    return None if found.value is None else shown_text(found.value)


def round_places(text: str, places: int) -> str:
    """Return a decimal literal rounded half-even to a number of places, from its exact value.

    Raises:
        ValueError: the text is no decimal of reasonable size.
    """
    exact = parse_decimal(text)
    return format(exact.quantize(Decimal(1).scaleb(-places), context=WIDE), "f")


def exact_total(texts: "list[str]") -> Fraction:
    """Return the exact sum of decimal literals, in whatever order they come.

    Raises:
        ValueError: one is no decimal of reasonable size.
    """
    return total_of(Fraction(parse_decimal(text)) for text in texts)


def solve(curve: Curve, target: Decimal, low: Decimal, high: Decimal, start: Decimal) -> Decimal:
    """Return where a rising function reaches a value, to 60 digits, in the context of the caller.

    Newton's step where it stays inside the bracket, else half of it.

    Args:
        curve: the function and its derivative, which is above 0 between the ends.
        target: the value.
        low: a place where the function is below it; never looked at.
        high: a place where it is above it; never looked at.
        start: where to begin, between the two.
    """
    place = start
    while True:
        value, slope = curve(place)
        low, high = (place, high) if value <= target else (low, place)
        step = (target - value) / slope
        if abs(step) <= CLOSE * abs(place):
            return place + step
        place += step
        if not low < place < high:
            place = (low + high) / 2
