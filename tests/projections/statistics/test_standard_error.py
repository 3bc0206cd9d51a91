"""The standard error of a mean: known values, and what changing the sample does to it."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.result import Result, undefined
from trial_projections.statistics.standard_error import standard_error

FRACTIONS = st.fractions(min_value=0, max_value=1, max_denominator=100)
SAMPLES = st.lists(FRACTIONS, min_size=2, max_size=30)


def ones(right: int, of: int) -> list[Fraction]:
    """Return scores of which some are 1 and the others 0."""
    return [Fraction(1)] * right + [Fraction(0)] * (of - right)


@pytest.mark.parametrize(
    ("right", "of", "digits"),
    [
        (38, 301, "0.0191753168810734"),
        (97, 301, "0.0269819807365408"),
        (51, 100, "0.0502418393795691"),
        (55, 100, "0.0500000000000000"),
        (0, 301, "0"),
    ],
)
def test_known_values(right: int, of: int, digits: str) -> None:
    """What the lm-evaluation-harness prints for these shares, to the digits that a double holds."""
    found = standard_error(ones(right, of)).value
    assert found is not None
    assert found.quantize(Decimal(digits)) == Decimal(digits)


def test_one_value_has_no_spread() -> None:
    """Unknown is not 0."""
    few: Result[Decimal] = undefined("fewer than two values have no spread")
    assert standard_error([]) == standard_error([Fraction(1)]) == few


@given(SAMPLES)
def test_its_square_is_the_exact_variance_over_n(values: list[Fraction]) -> None:
    """The sum over all pairs gives the same variance without a mean, to 48 digits."""
    found = standard_error(values).value
    assert found is not None
    count = len(values)
    pairs = sum((one - other) ** 2 for one in values for other in values)
    exact = Fraction(pairs) / (2 * count * (count - 1) * count)
    with localcontext(prec=120):
        assert abs(Fraction(found) ** 2 - exact) <= exact / 10**48


@given(SAMPLES, FRACTIONS)
def test_a_shift_changes_nothing_and_a_scale_scales(values: list[Fraction], by: Fraction) -> None:
    """It measures spread, not place."""
    found = standard_error(values).value
    assert found is not None
    assert standard_error([value + by for value in values]).value == found
    doubled = standard_error([2 * value for value in values]).value
    assert doubled is not None
    assert abs(Fraction(doubled) - 2 * Fraction(found)) <= Fraction(doubled) / 10**48
