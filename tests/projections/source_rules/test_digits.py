"""When a value is the one that was published: roundings, percentages, floats in full."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.source_rules.digits import parse_published

AGREE = (
    ("0.767", "23/30"),
    ("0.062", "1/16"),
    ("0.063", "1/16"),
    ("0.85", "8520/10000"),
    ("0.7", "7/10"),
    ("36.0", "35955/1000"),
    ("37", "37"),
    ("23.13%", "37/160"),
    ("7 %", "71/1000"),
    ("0.09999999999999999", "1/10"),
    ("5e-1", "1/2"),
)
DIFFER = (
    ("0.767", "22/30"),
    ("0.7", "20/30"),
    ("37", "38"),
    ("37", "371/10"),
    ("23.13%", "38/160"),
    ("0.09999999999999999", "1/11"),
    ("7 %", "8/100"),
)


@pytest.mark.parametrize(("text", "value"), AGREE)
def test_a_value_agrees_where_it_rounds_to_the_text(text: str, value: str) -> None:
    """Ties either way; the last digits of a float in full are noise; 0.7 may be 0.70."""
    published = parse_published(text)
    assert published is not None
    assert published.agrees(Fraction(value))


@pytest.mark.parametrize(("text", "value"), DIFFER)
def test_another_value_does_not(text: str, value: str) -> None:
    """One trial more or less shows in the digits; a count is exact."""
    published = parse_published(text)
    assert published is not None
    assert not published.agrees(Fraction(value))


@pytest.mark.parametrize("text", ["", "nan", "n/a", "%", "0.7 ± 0.1", "1e999999"])
def test_what_is_no_number_is_none(text: str) -> None:
    """Nothing is made up for a text."""
    assert parse_published(text) is None


@given(st.fractions(0, 1, max_denominator=400), st.integers(2, 6))
def test_every_value_agrees_with_its_own_rounding(value: Fraction, places: int) -> None:
    """Whatever the number of places from two on."""
    rounded = round(value, places)
    text = f"{int(rounded)}.{int(rounded % 1 * 10**places):0{places}d}"
    published = parse_published(text)
    assert published is not None
    assert published.agrees(value)
    assert not published.agrees(value + Fraction(2, 10**places))
