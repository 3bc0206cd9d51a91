"""Two configurations over the same questions: the difference, and tests of it.

Invariant: pairs are complete, and made by the caller; every p-value of a test is an exact fraction,
from counting and without a random number.
"""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import comb

import msgspec

from trial_projections.statistics.clusters import cluster_t, clusters_of, root_result
from trial_projections.statistics.decimals import rounded, wide, wide_ratio
from trial_projections.statistics.result import (
    LEVEL,
    Interval,
    Number,
    Result,
    known,
    ratio_of,
    total_of,
    undefined,
)

__all__ = [
    "EXACT_LIMIT",
    "McNemar",
    "PairedDifference",
    "mcnemar",
    "paired_difference",
    "sign_flip",
]

EXACT_LIMIT = 10_000
"""Sum of all differences up to which the sign-flip test takes well under a second."""
NO_PAIR = "there is no pair"
ONE_PAIR = "one pair has no spread"
TOO_LARGE = "too many differences to count; take the t interval of the pairs"
NO_DISCORDANT = "no pair differs"
CONSTANT = "one side has no spread"


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two configurations, from the means of the same questions."""

    pairs: int
    """Questions."""
    difference: Result[Fraction]
    """Mean of the first less mean of the second."""
    error: Result[Decimal]
    """Standard error of the difference, from the differences by question."""
    unpaired_error: Result[Decimal]
    """The same as if the questions were different ones: what pairing saves."""
    correlation: Result[Decimal]
    """Correlation of the two means over questions."""
    interval: Result[Interval]
    """The difference ± t with n-1 degrees of freedom times its standard error."""


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """McNemar's test of two configurations that answered every question once."""

    exact: Fraction
    """Two-sided p-value of the exact test."""
    mid: Fraction
    """Two-sided mid-p-value (Fagerland, Lydersen & Laake 2013)."""
    statistic: Result[Fraction]
    """(b-c)²/(b+c), to be compared with chi² of one degree."""
    corrected: Result[Fraction]
    """The same with Edwards' continuity correction, which never takes it beyond 0."""


def paired_difference(
    first: Sequence[Number], second: Sequence[Number], level: Fraction = LEVEL
) -> PairedDifference:
    """Return the difference of two configurations over the same questions.

    Miller 2024 (arXiv 2411.00640), section 4.2: SE² = var(d)/n = SE_A² + SE_B² - 2 cov/n.

    Args:
        first: the mean of every question under the first configuration.
        second: the mean of the same questions, in the same order, under the second.
        level: two-sided confidence.
    """
    n = len(first)
    assert n == len(second), "pairs are complete"
    found = cluster_t(clusters_of((a - b,) for a, b in zip(first, second, strict=True)), level)
    reason = NO_PAIR if n == 0 else ONE_PAIR
    none: Result[Decimal] = undefined(reason)
    error = unpaired = correlation = none
    if n > 1:
        one, two, both = products(first, first), products(second, second), products(first, second)
        degrees = n * (n - 1)
        error = root_result(known((one + two - 2 * both) / degrees))
        unpaired = root_result(known((one + two) / degrees))
        correlation = correlation_of(both, one * two)
    return PairedDifference(
        pairs=n,
        difference=found.mean if n else undefined(NO_PAIR),
        error=error,
        unpaired_error=unpaired,
        correlation=correlation,
        interval=found.interval if n > 1 else undefined(reason),
    )


def products(first: Sequence[Number], second: Sequence[Number]) -> Fraction:
    """Return the sum of products of distances from the means."""
    n = len(first)
    total = total_of(Fraction(a) * b for a, b in zip(first, second, strict=True))
    return total - Fraction(sum(first)) * sum(second) / n


def correlation_of(both: Fraction, square: Fraction) -> Result[Decimal]:
    """Return a correlation from a sum of products and the product of the sums of squares."""
    if not square:
        return undefined(CONSTANT)
    with wide():
        return known(rounded(wide_ratio(both) / wide_ratio(square).sqrt()))


def mcnemar(b: int, c: int) -> McNemar:
    """Return McNemar's test (1947, Psychometrika 12:153) of the pairs that differ.

    Args:
        b: questions that only the first configuration got right.
        c: questions that only the second one got right.

    Returns:
        p-values of 1 where b equals c; no statistic where no pair differs.
    """
    n, fewer = b + c, min(b, c)
    below = sum(comb(n, k) for k in range(fewer + 1))
    # Twice the tail less the middle term; it is 1 where both are equal.
    mid = Fraction(2 * below - comb(n, fewer), 2**n)
    apart = abs(b - c)
    return McNemar(
        exact=min(Fraction(1), Fraction(2 * below, 2**n)),
        mid=mid,
        statistic=ratio_of(apart**2, n, NO_DISCORDANT),
        corrected=ratio_of(max(0, apart - 1) ** 2, n, NO_DISCORDANT),
    )


def sign_flip(differences: Sequence[int], limit: int = EXACT_LIMIT) -> Result[Fraction]:
    """Return the exact two-sided p-value of the sign-flip test (Fisher 1935).

    The share of all choices of signs whose sum is at least as far from 0 as the one that was seen.
    Sums are counted as coefficients of a product of binomials, held in one integer. With one
    repetition it is McNemar's exact test.

    Args:
        differences: of every question, how many more the first configuration got right.
        limit: the sum of all absolute differences up to which is counted.

    Returns:
        1 where the sum is 0, and 2 in 2^n where all have one sign; else undefined beyond the limit.
    """
    magnitudes = Counter(abs(each) for each in differences if each)
    span = sum(size * times for size, times in magnitudes.items())
    n = magnitudes.total()
    seen = abs(sum(differences))
    if seen == 0:
        return known(Fraction(1))
    if seen == span:
        # All of one sign: only the two choices that keep them together are as far.
        return known(Fraction(2, 2**n))
    if span > limit:
        return undefined(TOO_LARGE)
    # Positive subsets that sum to s make 2s - span. Every s has a field of the integer, wide enough
    # for the 2^n subsets that there are; fields are alike from both ends.
    width = n // 8 + 1
    product = 1
    for size, times in sorted(magnitudes.items()):
        product *= packed_binomial(times, width * size)
    fields = product.to_bytes(width * (span + 1), "little")
    end = width * ((span - seen) // 2 + 1)
    count = sum(
        int.from_bytes(fields[start : start + width], "little") for start in range(0, end, width)
    )
    return known(Fraction(2 * count, 2**n))


def packed_binomial(times: int, width: int) -> int:
    """Return the coefficients of (1 + x)^times, each in a field of so many bytes."""
    fields = (comb(times, k).to_bytes(width, "little") for k in range(times + 1))
    return int.from_bytes(b"".join(fields), "little")
