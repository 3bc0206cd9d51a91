"""Exact numbers as text: rationals for scores, decimals for money.

Invariant: no binary float ever passes through here; text in, `Fraction` or `Decimal` out, and the
text written back is canonical (lowest terms, no exponent, no trailing zeros).
"""

import re
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

__all__ = [
    "DECIMAL_DIGITS",
    "decimal_text",
    "fraction_from_decimal_text",
    "parse_decimal",
    "parse_rational",
    "percent_text",
    "rational_text",
]

DECIMAL_DIGITS = 50
"""Working precision of every Decimal computation (architecture, Projections)."""

CONTEXT = Context(prec=DECIMAL_DIGITS)
RATIONAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:/([1-9][0-9]*))?")
DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?"
)
MAX_EXPONENT = 400
"""Beyond this a decimal literal is refused: 1e999999999 would be a gigabyte of zeros."""


@lru_cache(maxsize=4_096)
def parse_rational(text: str) -> Fraction:
    """Return the number that a rational text such as `3/4`, `-1` or `0` means.

    Numbers are kept: a run of any length has few different scores.

    Raises:
        ValueError: the text is not of that form.
    """
    match = RATIONAL.fullmatch(text)
    if match is None:
        message = f"not a rational: {text[:40]!r}"
        raise ValueError(message)
    sign, numerator, denominator = match.groups()
    value = Fraction(int(numerator), int(denominator or 1))
    return -value if sign else value


def rational_text(value: Fraction | int) -> str:
    """Return the canonical text of a rational, in lowest terms: `3/4`, `2`, `-1/3`."""
    return str(Fraction(value))


def fraction_from_decimal_text(text: str) -> Fraction:
    """Return the exact value of a decimal literal as another tool wrote it (`0.1`, `1e-3`).

    Raises:
        ValueError: not a number, not finite, or beyond 400 digits.
    """
    return Fraction(parse_decimal(text))


def parse_decimal(text: str) -> Decimal:
    """Return a finite decimal of at most 400 digits either side of the point.

    Raises:
        ValueError: not a number, not finite, or out of that range.
    """
    # Decimal itself would also take 1_000, digits of other scripts, NaN, and a million digits.
    if DECIMAL.fullmatch(text) is None:
        message = f"not a decimal: {text[:40]!r}"
        raise ValueError(message)
    value = Decimal(text)
    if abs(value.adjusted()) > MAX_EXPONENT:
        message = f"not a decimal of reasonable size: {text[:40]!r}"
        raise ValueError(message)
    return value


def decimal_text(value: Decimal) -> str:
    """Return the canonical text of a decimal: plain notation, no trailing zeros, `0` for zero."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def percent_text(value: Fraction, digits: int = 1) -> str:
    """Return a value in [0, 1] as a percentage, rounded half up, without the sign: `68.1`."""
    scale = 10**digits
    scaled = value * 100 * scale
    rounded = (abs(scaled.numerator) * 2 + scaled.denominator) // (2 * scaled.denominator)
    sign = "-" if value < 0 and rounded else ""
    whole, part = divmod(rounded, scale)
    return f"{sign}{whole}.{part:0{digits}d}" if digits else f"{sign}{whole}"
