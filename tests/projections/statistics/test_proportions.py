"""Intervals of proportions: published values, what they promise, and their ends."""

from decimal import Decimal
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.distributions import (
    normal_quantile,
    student_quantile,
    student_tail,
)
from trial_projections.statistics.proportions import (
    EVERYTHING,
    clopper_pearson,
    newcombe,
    proportion,
    wilson,
)
from trial_projections.statistics.result import Interval, undefined

PUBLISHED = (
    (81, 263, "0.2553", "0.3662", "0.2527", "0.3676"),
    (15, 148, "0.0624", "0.1605", "0.0578", "0.1617"),
    (0, 20, "0.0000", "0.1611", "0.0000", "0.1684"),
    (1, 29, "0.0061", "0.1718", "0.0009", "0.1776"),
)
"""k, n, and the score and exact limits of Newcombe 1998, table I."""


@pytest.mark.parametrize(("k", "n", "low", "high", "exact_low", "exact_high"), PUBLISHED)
def test_published_limits(
    k: int, n: int, low: str, high: str, exact_low: str, exact_high: str
) -> None:
    """To the four digits that the paper prints."""
    score, exact = wilson(k, n), clopper_pearson(k, n)
    limits = (score.low, score.high, exact.low, exact.high)
    found = [limit.quantize(Decimal("0.0001")) for limit in limits]
    assert found == [Decimal(text) for text in (low, high, exact_low, exact_high)]


def test_of_nothing_everything_is_possible() -> None:
    """And there is no estimate."""
    assert wilson(0, 0) == clopper_pearson(0, 0) == EVERYTHING
    assert proportion(0, 0) == undefined("there is nothing to count")
    assert newcombe(0, 0, 1, 2).interval == undefined("one of the two is of nothing")
    assert newcombe(1, 2, 0, 0).value == undefined("one of the two is of nothing")


counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_limits_hold_the_share_and_mirror_it(count: tuple[int, int]) -> None:
    """Failures have the mirrored one; an end is exactly 0 or 1 where nothing else was seen."""
    k, n = count
    for method in (wilson, clopper_pearson):
        found, other = method(k, n), method(n - k, n)
        assert 0 <= found.low <= Fraction(k, n) <= found.high <= 1
        assert (found.low == 0, found.high == 1) == (k == 0, k == n)
        assert abs(found.low + other.high - 1) < Decimal("1e-45")


@given(counts)
def test_exact_limits_leave_the_tails_that_they_promise(count: tuple[int, int]) -> None:
    """At the lower limit k or more have a probability of 1/40, counted exactly."""
    k, n = count
    p = Fraction(clopper_pearson(k, n).low)
    tail = sum((comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1)), Fraction(0))
    assert k == 0 or abs(tail - Fraction(1, 40)) < Fraction(1, 10**45)


@given(counts, counts)
def test_a_difference_has_a_sign(first: tuple[int, int], second: tuple[int, int]) -> None:
    """Exchanged, it is the negative, and so are its limits."""
    one, two = newcombe(*first, *second), newcombe(*second, *first)
    assert one.value.value is not None
    assert two.value.value == -one.value.value
    assert one.interval.value is not None
    assert two.interval.value is not None
    mirrored = (two.interval.value.high.copy_negate(), two.interval.value.low.copy_negate())
    assert Interval(*mirrored) == one.interval.value
    assert one.interval.value.low <= one.value.value <= one.interval.value.high


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
def test_students_quantile_falls_to_the_normal_one(level: Fraction) -> None:
    """Monotone in the degrees of freedom, and near the limit at many."""
    found = [student_quantile(df, level) for df in (1, 2, 3, 10, 100, 5000)]
    assert found == sorted(found, reverse=True)
    assert 0 < found[-1] - normal_quantile(level) < Decimal("0.01")


def test_a_level_is_neither_nothing_nor_certain() -> None:
    """A slip of a caller is refused at once."""
    for level in (Fraction(0), Fraction(1), Fraction(95)):
        with pytest.raises(AssertionError, match="a level"):
            student_quantile(3, level)
        with pytest.raises(AssertionError, match="a level"):
            normal_quantile(level)


@pytest.mark.parametrize("df", [1, 2, 3, 10, 163])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)])
def test_students_tail_is_what_its_quantile_leaves(df: int, level: Fraction) -> None:
    """One is the inverse of the other, to nearly all digits; beyond 0 lies everything."""
    tail = student_tail(student_quantile(df, level), df)
    assert abs(tail - Decimal((1 - level).numerator) / (1 - level).denominator) < Decimal("1e-45")
    assert student_tail(Decimal(0), df) == 1
