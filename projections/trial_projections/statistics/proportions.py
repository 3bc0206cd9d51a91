"""Intervals of a proportion of independent units: Wilson, Clopper-Pearson, and of a difference.

Invariant: limits lie from 0 to 1; none of n has a lower limit of exactly 0, all of n an upper limit
of exactly 1; of no unit at all the interval is everything.

Repetitions of a question are no independent units: for these see `clusters`.
"""

from decimal import Decimal
from fractions import Fraction
from math import comb

import msgspec

from trial_projections.statistics.decimals import rounded, solve, wide, wide_ratio
from trial_projections.statistics.distributions import normal_quantile
from trial_projections.statistics.result import LEVEL, Interval, Number, Result, ratio_of

__all__ = [
    "EVERYTHING",
    "Difference",
    "clopper_pearson",
    "newcombe",
    "proportion",
    "wilson",
    "wilson_limits",
]

ZERO, ONE = Decimal(0), Decimal(1)
EVERYTHING = Interval(ZERO, ONE)
"""The interval of a proportion about which nothing is known."""
NEGLIGIBLE = Decimal(10) ** -75


class Difference(msgspec.Struct, frozen=True):
    """A difference of two proportions."""

    value: Result[Fraction]
    """First less second; undefined where one is of nothing."""
    interval: Result[Interval]
    """Its interval."""


def proportion(k: int, n: int) -> Result[Fraction]:
    """Return k of n as a fraction; undefined for none of nothing."""
    assert 0 <= k <= n, "a part of a whole"
    return ratio_of(k, n)


def wilson(k: int, n: int, level: Fraction = LEVEL) -> Interval:
    """Return Wilson's score interval of k successes in n independent units.

    Wilson 1927 (JASA 22:209); recommended by Newcombe 1998 (Stat Med 17:857).

    Args:
        k: successes.
        n: units; without one, everything is possible.
        level: two-sided confidence.
    """
    assert 0 <= k <= n, "a part of a whole"
    return wilson_limits(Fraction(k, n), Decimal(n), level) if n else EVERYTHING


def wilson_limits(
    share: Number, size: Decimal, level: Fraction = LEVEL, *, z: Decimal | None = None
) -> Interval:
    """Return Wilson's interval of a share and a size, which need be neither whole nor a count.

    Args:
        share: the proportion, from 0 to 1.
        size: the number of units, or the effective number of them; above 0.
        level: two-sided confidence.
        z: the quantile to take instead of the level's.
    """
    quantile = normal_quantile(level) if z is None else z
    with wide():
        p, square = wide_ratio(share), quantile * quantile
        below = 1 + square / size
        centre = (p + square / (2 * size)) / below
        spread = p * (1 - p) / size + square / (4 * size * size)
        half = quantile / below * spread.sqrt()
        return Interval(
            ZERO if share == 0 else max(ZERO, rounded(centre - half)),
            ONE if share == 1 else min(ONE, rounded(centre + half)),
        )


def clopper_pearson(k: int, n: int, level: Fraction = LEVEL) -> Interval:
    """Return the exact, conservative interval of k successes in n independent units.

    Clopper & Pearson 1934 (Biometrika 26:404): the lower limit makes k or more as unlikely as the
    upper limit makes k or fewer, (1 - level)/2 each.

    Args:
        k: successes.
        n: units; without one, everything is possible.
        level: two-sided confidence.
    """
    assert 0 <= k <= n, "a part of a whole"
    if n == 0:
        return EVERYTHING
    start = wilson(k, n, level)
    half = (1 - level) / 2
    with wide():
        return Interval(
            ZERO if k == 0 else rounded(limit_of(n, k, half, start.low)),
            # At most k successes are at least n - k failures.
            ONE if k == n else rounded(1 - limit_of(n, n - k, half, 1 - start.high)),
        )


def limit_of(n: int, k: int, half: Fraction, start: Decimal) -> Decimal:
    """Return at which probability k or more of n have a probability; in the caller's context."""
    ways = Decimal(comb(n, k))

    def curve(p: Decimal) -> tuple[Decimal, Decimal]:
        odds = p / (1 - p)
        term = total = ways * p**k * (1 - p) ** (n - k)
        slope = term * k / p
        for i in range(k, n):
            term = term * (n - i) * odds / (i + 1)
            total += term
            if term <= NEGLIGIBLE * total:
                break
        return total, slope

    return solve(curve, wide_ratio(half), ZERO, ONE, start)


def newcombe(k1: int, n1: int, k2: int, n2: int, level: Fraction = LEVEL) -> Difference:
    """Return the difference of two proportions of independent sets of units.

    Newcombe's hybrid score interval (1998, Stat Med 17:873, method 10): the distances to the
    limits of the two Wilson intervals, squared and added.

    Args:
        k1: successes of the first.
        n1: units of the first.
        k2: successes of the second.
        n2: units of the second.
        level: two-sided confidence.
    """
    first, second = proportion(k1, n1), proportion(k2, n2)
    if first.value is None or second.value is None:
        reason = "one of the two is of nothing"
        return Difference(Result(None, reason), Result(None, reason))
    difference = first.value - second.value
    one, two = wilson(k1, n1, level), wilson(k2, n2, level)
    with wide():
        middle, p, q = (wide_ratio(each) for each in (difference, first.value, second.value))
        low = middle - ((p - one.low) ** 2 + (two.high - q) ** 2).sqrt()
        high = middle + ((one.high - p) ** 2 + (q - two.low) ** 2).sqrt()
        return Difference(Result(difference), Result(Interval(rounded(low), rounded(high))))
