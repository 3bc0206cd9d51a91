"""The paired difference where some questions are undecided: what holds however they are decided.

Invariant: the interval covers that of every way to decide what is undecided, and the p-value is not
below that of any; where everything is decided both are the usual ones, exactly.

Differences by question are ranges; to decide them is to choose a place in each. The mean less t
standard errors is concave in the differences, so it is least where every one is at an end of its
range; the same holds for the mean over its error. Ranges that are alike make the corners few.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import gcd, lcm, prod
from typing import Literal

import msgspec

from trial_projections.statistics.decimals import root_of, rounded, wide, wide_ratio
from trial_projections.statistics.distributions import student_quantile, student_tail
from trial_projections.statistics.paired import sign_flip
from trial_projections.statistics.result import (
    LEVEL,
    Interval,
    Result,
    known,
    total_of,
    undefined,
)

__all__ = ["LEAST_P", "RangedTest", "Span", "ranged_interval", "ranged_test"]

Span = tuple[Fraction, Fraction]
"""The least and the most that a difference can be."""

Corner = tuple[Fraction, Fraction]
"""Mean of some differences, and the square of its standard error."""

MOST_CORNERS = 2_000
"""Corners up to which all are looked at: well under a second."""
LEAST_P = Fraction(1, 10**40)
"""What a smaller p-value is told as: Student's series is not right beyond it."""
NO_SPREAD = "all questions score alike, which shows no spread"


class RangedTest(msgspec.Struct, frozen=True, kw_only=True):
    """A two-sided test of the mean difference being 0."""

    name: Literal["sign-flip", "paired t"]
    """Exact, or where counting takes too long by Student's t."""
    p: Fraction
    """The largest p-value of any way to decide what is undecided; at least 10^-40."""


def corners(spans: Sequence[Span]) -> Iterator[Corner]:
    """Yield mean and squared error for every choice of ends; for too many only what covers them.

    What covers them is the least and the most mean, each with the largest error there can be.

    Args:
        spans: of every question, two or more.
    """
    n = len(spans)
    groups = Counter(spans)
    open_groups = [(span, times) for span, times in groups.items() if span[0] != span[1]]
    lows = total_of(low for low, _ in spans)
    highs = total_of(high for _, high in spans)
    if prod(times + 1 for _, times in open_groups) > MOST_CORNERS:
        middle = (lows + highs) / (2 * n)
        apart = total_of(max((low - middle) ** 2, (high - middle) ** 2) for low, high in spans)
        square = apart / (n * (n - 1))
        yield from ((lows / n, square), (highs / n, square))
        return
    squares = total_of(low * low for low, _ in spans)
    for chosen in product(*(range(times + 1) for _, times in open_groups)):
        total, power = lows, squares
        for (span, _), raised in zip(open_groups, chosen, strict=True):
            total += (span[1] - span[0]) * raised
            power += (span[1] ** 2 - span[0] ** 2) * raised
        yield total / n, (power - total * total / n) / (n * (n - 1))


def ranged_interval(spans: Sequence[Span], level: Fraction = LEVEL) -> Result[Interval]:
    """Return what covers the paired t interval of every way to decide what is undecided.

    Args:
        spans: the difference of every question, two or more.
        level: two-sided confidence.

    Returns:
        Undefined where all differences are alike under one of those ways.
    """
    quantile = student_quantile(len(spans) - 1, level)
    found: list[Interval] = []
    for mean, square in set(corners(spans)):
        if not square:
            return undefined(NO_SPREAD)
        with wide():
            middle, half = wide_ratio(mean), quantile * wide_ratio(square).sqrt()
            found.append(Interval(rounded(middle - half), rounded(middle + half)))
    return known(Interval(min(each.low for each in found), max(each.high for each in found)))


def ranged_test(spans: Sequence[Span]) -> RangedTest:
    """Return the sign-flip test where it can be counted, else Student's.

    A difference moved away from 0, on the side of the mean, never raises the sign-flip p-value: it
    is largest where all are at the end nearest to 0. Where even the side is undecided it is 1.

    Args:
        spans: the difference of every question, one or more.
    """
    lows = total_of(low for low, _ in spans)
    highs = total_of(high for _, high in spans)
    if lows <= 0 <= highs:
        return RangedTest(name="sign-flip", p=Fraction(1))
    nearest = [low if lows > 0 else high for low, high in spans]
    unit = lcm(*(each.denominator for each in nearest))
    whole = [int(each * unit) for each in nearest]
    common = gcd(*whole)
    exact = sign_flip([each // common for each in whole])
    if exact.value is not None:
        return RangedTest(name="sign-flip", p=max(LEAST_P, exact.value))
    # Differences that are all alike were counted, so that some corner has a spread.
    statistic = min(mean * mean / square for mean, square in corners(spans) if square)
    tail = student_tail(root_of(statistic), len(spans) - 1)
    return RangedTest(name="paired t", p=max(LEAST_P, Fraction(tail)))
