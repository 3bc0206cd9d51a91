"""The standard error of a mean, as sources publish it beside the mean.

Invariant: the variance is exact; only the square root is rounded, once, to 50 digits.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from trial_projections.statistics.decimals import root_of
from trial_projections.statistics.result import Result, known, total_of, undefined

__all__ = ["standard_error"]

FEWEST = 2


def standard_error(values: Sequence[Fraction]) -> Result[Decimal]:
    """Return `sqrt(s^2 / n)`, s^2 the sample variance with n - 1 in the denominator.

    The formula of `mean_stderr` of the lm-evaluation-harness 0.4.13 and of Inspect's `stderr`
    without clusters: it takes the values for independent draws.

    Args:
        values: the scores, at least two.

    Returns:
        The standard error on the scale of the values, to 50 significant digits; undefined
        for fewer than two values, which have no variance.
    """
    count = len(values)
    if count < FEWEST:
        return undefined("fewer than two values have no spread")
    mean = total_of(values) / count
    square = total_of((value - mean) ** 2 for value in values) / (count - 1) / count
    return known(root_of(square))
