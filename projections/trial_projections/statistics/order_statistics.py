"""Quantiles of what was observed, and intervals of them between two observations.

Invariant: ranks come from exact fractions; a value beyond which nothing was seen is a bound and
never a number; the interval of a quantile has an end only where enough observations lie beyond it.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

import msgspec

from trial_projections.statistics.decimals import rounded, wide, wide_ratio
from trial_projections.statistics.result import (
    LEVEL,
    Number,
    Result,
    known,
    level_named,
    undefined,
)

__all__ = [
    "CensoredQuantile",
    "QuantileRanks",
    "censored_quantile",
    "quantile",
    "quantile_ranks",
]

NO_VALUE = "there is no value"
CENSORED = "times that were cut off could be it"
NEAREST_RANK, AVERAGED, NEAREST_EVEN = 1, 2, 3
HALF = Fraction(1, 2)


class QuantileRanks(msgspec.Struct, frozen=True, kw_only=True):
    """Between which observations a quantile lies."""

    lower: int | None
    """Rank of the lower end, from 1; None where no observation is low enough."""
    upper: int | None
    """Rank of the upper end; None where no observation is high enough."""
    coverage: Result[Decimal]
    """Probability with which the quantile lies between them."""


class CensoredQuantile(msgspec.Struct, frozen=True, kw_only=True):
    """A quantile of times of which some only are known to be longer than a limit."""

    value: Result[int]
    """The observation; undefined where times that were cut off could be it."""
    at_least: int | None
    """The least that it can be; None without a time."""
    at_most: int | None
    """The most that it can be; None where a time that was cut off may lie anywhere beyond."""
    low: Result[int]
    """Lower end of its interval."""
    high: Result[int]
    """Upper end of its interval."""
    coverage: Result[Decimal]
    """Probability with which the interval holds the quantile."""
    count: int
    """How many times, those that were cut off among them."""
    censored: int
    """How many were cut off."""


def quantile(ordered: Sequence[Number], p: Fraction, kind: int = NEAREST_RANK) -> Result[Fraction]:
    """Return a quantile of sorted values, by one of the nine definitions.

    Hyndman & Fan 1996 (American Statistician 50:361). Type 1, the nearest rank, is an observed
    value; 7 is the default of numpy and pandas.

    Args:
        ordered: the values, in rising order.
        p: which quantile, from 0 to 1; `Fraction(19, 20)`, never the binary 0.95.
        kind: the definition, from 1 to 9.
    """
    assert 0 <= p <= 1, "a quantile lies from 0 to 1"
    n = len(ordered)
    if n == 0:
        return undefined(NO_VALUE)
    place = n * p + shift_of(kind, p)
    rank = floor(place)
    part = place - rank
    if kind == NEAREST_RANK:
        part = Fraction(1 if part else 0)
    elif kind == AVERAGED:
        part = Fraction(1) if part else HALF
    elif kind == NEAREST_EVEN:
        part = Fraction(0 if part == 0 and rank % 2 == 0 else 1)
    low, high = (Fraction(ordered[min(max(at, 1), n) - 1]) for at in (rank, rank + 1))
    return known(low + part * (high - low))


def shift_of(kind: int, p: Fraction) -> Fraction:
    """Return the m of a definition: the place is n·p + m."""
    shifts = {
        1: Fraction(0),
        2: Fraction(0),
        3: -HALF,
        4: Fraction(0),
        5: HALF,
        6: p,
        7: 1 - p,
        8: (p + 1) / 3,
        9: p / 4 + Fraction(3, 8),
    }
    return shifts[kind]


def quantile_ranks(n: int, p: Fraction, level: Fraction = LEVEL) -> QuantileRanks:
    """Return the ranks of the observations between which a quantile lies.

    The interval of order statistics (David & Nagaraja 2003, section 7.1): how many of n lie below
    the quantile is binomial. Each end leaves out at most (1 - level)/2; where no rank does so, that
    end is open, as for the 95 % quantile of 20 values.

    Args:
        n: observations, independent ones.
        p: which quantile, between 0 and 1.
        level: two-sided confidence.
    """
    assert 0 < p < 1, "the ends have no interval"
    if n == 0:
        return QuantileRanks(lower=None, upper=None, coverage=undefined(NO_VALUE))
    with wide():
        tail = wide_ratio((1 - level_named(level)) / 2)
        terms = binomial_terms(n, p)
        lower, below = outside(terms, tail)
        from_above, above = outside(terms[::-1], tail)
        upper = n + 1 - from_above
        return QuantileRanks(
            lower=lower or None,
            # Where fewer than u of n lie below the quantile, the u-th observation is beyond it.
            upper=upper if from_above else None,
            coverage=known(rounded(1 - below - above)),
        )


def outside(terms: list[Decimal], tail: Decimal) -> tuple[int, Decimal]:
    """Return how many leading terms stay within a tail, and their sum."""
    total, place = Decimal(0), 0
    while total + terms[place] <= tail:
        total += terms[place]
        place += 1
    return place, total


def binomial_terms(n: int, p: Fraction) -> list[Decimal]:
    """Return the probabilities of 0 to n successes, in the context of the caller."""
    success, odds = wide_ratio(p), wide_ratio(p / (1 - p))
    term = (1 - success) ** n
    terms = [term]
    for k in range(n):
        term = term * odds * (n - k) / (k + 1)
        terms.append(term)
    return terms


def censored_quantile(
    observed: Sequence[int],
    limits: Sequence[int],
    p: Fraction,
    level: Fraction = LEVEL,
) -> CensoredQuantile:
    """Return a quantile, of type 1, of times some of which were cut off.

    A time that was cut off is as long as its time-out, or longer by any length. What has no time at
    all is no member here, and to be counted elsewhere.

    Args:
        observed: the times that came to an end, in any order.
        limits: the time-outs of those that did not.
        p: which quantile, between 0 and 1.
        level: two-sided confidence.
    """
    n = len(observed) + len(limits)
    ranks = quantile_ranks(n, p, level)
    least, most = sorted((*observed, *limits)), sorted(observed)
    few: Result[int] = undefined(f"{n} values are too few" if n else NO_VALUE)
    low = few if ranks.lower is None else known(least[ranks.lower - 1])
    high = few if ranks.upper is None else observed_at(most, ranks.upper)
    value: Result[int] = undefined(NO_VALUE)
    at_least = at_most = None
    if n:
        rank = ceil(n * p)
        at_least, upper = least[rank - 1], observed_at(most, rank)
        at_most = upper.value
        value = upper if at_least == at_most else undefined(CENSORED)
    return CensoredQuantile(
        value=value,
        at_least=at_least,
        at_most=at_most,
        low=low,
        high=high,
        coverage=ranks.coverage,
        count=n,
        censored=len(limits),
    )


def observed_at(ordered: list[int], rank: int) -> Result[int]:
    """Return the observation of a rank; undefined beyond the last one that came to an end."""
    return known(ordered[rank - 1]) if rank <= len(ordered) else undefined(CENSORED)
