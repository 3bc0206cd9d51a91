"""Quantiles by rank, their intervals, and times that were cut off."""

from fractions import Fraction
from math import comb

from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.order_statistics import (
    censored_quantile,
    quantile,
    quantile_ranks,
)
from trial_projections.statistics.result import known, undefined

MEDIAN, P95 = Fraction(1, 2), Fraction(19, 20)

values = st.lists(st.integers(0, 50), min_size=1, max_size=30).map(sorted)
shares = st.fractions(0, 1, max_denominator=40)


@given(values, shares)
def test_the_nearest_rank_is_the_least_value_that_enough_lie_at_or_below(
    ordered: list[int], p: Fraction
) -> None:
    """Type 1 is the inverse of the share of values up to one."""
    n = len(ordered)
    first = next(x for x in ordered if Fraction(sum(y <= x for y in ordered), n) >= p)
    assert quantile(ordered, p) == known(Fraction(first))


@given(values, shares, st.integers(1, 9))
def test_every_definition_stays_between_the_ends(
    ordered: list[int], p: Fraction, kind: int
) -> None:
    """And never falls as p rises; from 7 on it is the median at one half."""
    found = quantile(ordered, p, kind).value
    assert found is not None
    assert ordered[0] <= found <= ordered[-1]
    following = quantile(ordered, min(p + Fraction(1, 9), Fraction(1)), kind).value
    assert following is not None
    assert found <= following
    if kind in {2, 5, 6, 7, 8, 9}:
        n = len(ordered)
        middle = Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)
        assert quantile(ordered, MEDIAN, kind) == known(middle)


def test_of_no_value_there_is_no_quantile() -> None:
    """Neither a rank nor a bound."""
    assert quantile([], MEDIAN) == undefined("there is no value")
    assert quantile_ranks(0, MEDIAN).coverage == undefined("there is no value")
    found = censored_quantile([], [], MEDIAN)
    assert found.value == found.low == found.high == undefined("there is no value")
    assert (found.at_least, found.at_most, found.count) == (None, None, 0)


@given(st.integers(1, 60), st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20))
def test_ranks_cover_what_they_promise(n: int, p: Fraction) -> None:
    """Counted exactly; one rank further in would leave too much outside."""
    found = quantile_ranks(n, p)

    def below(rank: int) -> Fraction:
        terms = (comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(rank))
        return sum(terms, Fraction(0))

    tail = Fraction(1, 40)
    low = below(found.lower) if found.lower else Fraction(0)
    high = below(found.upper) if found.upper else Fraction(1)
    assert found.coverage.value is not None
    assert abs(Fraction(found.coverage.value) - (high - low)) < Fraction(1, 10**45)
    assert low <= tail
    assert high >= 1 - tail
    assert below((found.lower or 0) + 1) > tail
    assert found.upper is None or below(found.upper - 1) < 1 - tail


def test_a_time_out_is_a_bound_and_no_time() -> None:
    """A quantile among those that were cut off is at least the time-out."""
    times, outs = list(range(1, 15)), [60] * 6
    middle, late = (censored_quantile(times, outs, p) for p in (MEDIAN, P95))
    assert middle.value == known(10)
    assert (middle.at_least, middle.at_most) == (10, 10)
    assert late.value == undefined("times that were cut off could be it")
    assert late.high == undefined("20 values are too few")
    assert (late.at_least, late.at_most) == (60, None)
    assert (late.count, late.censored) == (20, 6)
    assert middle.low == known(6)
    assert middle.high == undefined("times that were cut off could be it")


def test_an_early_cut_leaves_a_range() -> None:
    """Cut off at 5, a time may lie on either side of one of 100."""
    found = censored_quantile([1, 2, 100], [5], Fraction(3, 4))
    assert found.value.reason is not None
    assert (found.at_least, found.at_most) == (5, 100)
    assert found.low == known(1)
    assert found.high == undefined("4 values are too few")


@given(st.lists(st.integers(0, 30), min_size=1, max_size=25), shares.filter(lambda p: 0 < p < 1))
def test_without_time_outs_it_is_the_usual_quantile(times: list[int], p: Fraction) -> None:
    """The nearest rank, in whatever order the times come."""
    found = censored_quantile(times, [], p)
    assert found == censored_quantile(times[::-1], [], p)
    assert found.value.value == quantile(sorted(times), p).value == found.at_most
