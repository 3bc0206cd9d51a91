"""Exact numbers: what is read is what was written, and nothing passes through binary floats."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.exact import (
    decimal_text,
    fraction_from_decimal_text,
    parse_decimal,
    parse_rational,
    percent_text,
    rational_text,
)

RATIONALS = st.fractions(max_denominator=10**30)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40)


@given(RATIONALS)
def test_a_rational_is_read_as_it_was_written(value: Fraction) -> None:
    """Parsing the canonical text returns the value."""
    assert parse_rational(rational_text(value)) == value


def test_a_whole_number_has_no_denominator() -> None:
    """Integers and reduced fractions have one text form each."""
    assert [rational_text(x) for x in (2, Fraction(4, 2), Fraction(-2, 6), 0)] == [
        "2", "2", "-1/3", "0",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["3/4", "6/8", "-1", "0", "-0", "10/1"])
def test_accepted_rationals(text: str) -> None:
    """A source need not have reduced its fraction."""
    assert parse_rational(text) == Fraction(text)


@pytest.mark.parametrize(
    "text",
    ["", "1.5", "+1", "01", "1/0", "1/-2", "1 /2", " 1", "1\n", "\u0661", "1/2/3", "1e3", "--1"],
)
def test_refused_rationals(text: str) -> None:
    """Anything but sign, digits and one slash is refused."""
    with pytest.raises(ValueError, match="not a rational"):
        parse_rational(text)


@given(DECIMALS)
def test_a_decimal_is_read_as_it_was_written(value: Decimal) -> None:
    """The canonical text means the same number and has neither exponent nor trailing zeros."""
    text = decimal_text(value)
    assert parse_decimal(text) == value
    assert "e" not in text.lower()
    assert "." not in text or text[-1] not in "0."
    assert decimal_text(parse_decimal(text)) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("+2.50", Fraction(5, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-0", Fraction(0)),
        ("1E400", Fraction(10) ** 400),
    ],
)
def test_decimal_literals_are_exact(text: str, value: Fraction) -> None:
    """A literal means its digits, not the nearest binary number."""
    assert fraction_from_decimal_text(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "1_000", "\u0661\u0662", "NaN", "Infinity", "-inf", "2/3", " 1", "1 ", "0x1", "1e", "e5",
     ".", "1e401", "1e-401", "1e99999999999999999999", "1." + "0" * 401, "1" * 401],
)  # fmt: skip
def test_refused_decimals(text: str) -> None:
    """What is no finite decimal of reasonable size never becomes a number."""
    with pytest.raises(ValueError, match="not a decimal"):
        parse_decimal(text)


def test_a_million_digits_are_refused_before_they_are_computed_with() -> None:
    """A long fraction is refused by its form, whatever its magnitude."""
    with pytest.raises(ValueError, match="not a decimal"):
        parse_decimal("0." + "3" * 1_000_000)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(143, 210), 1, "68.1"),
        (Fraction(1, 8), 1, "12.5"),
        (Fraction(1, 8), 0, "13"),
        (Fraction(1, 2000), 1, "0.1"),
        (Fraction(1, 2001), 1, "0.0"),
        (Fraction(-1, 2001), 1, "0.0"),
        (Fraction(-286, 10000), 2, "-2.86"),
        (Fraction(1), 1, "100.0"),
        (Fraction(0), 2, "0.00"),
    ],
)
def test_percentages_round_half_up(value: Fraction, digits: int, text: str) -> None:
    """Half is rounded away from zero, and a rounded zero has no sign."""
    assert percent_text(value, digits) == text


@given(st.fractions(min_value=-1, max_value=1), st.integers(min_value=0, max_value=6))
def test_a_percentage_is_within_half_a_unit(value: Fraction, digits: int) -> None:
    """No percentage is further from its value than rounding allows."""
    shown = Fraction(percent_text(value, digits))
    assert abs(shown - value * 100) <= Fraction(1, 2 * 10**digits)
