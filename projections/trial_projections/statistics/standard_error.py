"""The standard error of a mean, as sources publish it beside the mean.

Invariant: the variance is exact; only the square root is rounded, once, to 50 digits.
"""

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

from trial_ledger.exact import DECIMAL_DIGITS

__all__ = ["standard_error"]

CONTEXT = Context(prec=DECIMAL_DIGITS)
FEWEST = 2


def standard_error(values: Sequence[Fraction]) -> Decimal | None:
    """Return `sqrt(s^2 / n)`, s^2 the sample variance with n - 1 in the denominator.

    The formula of `mean_stderr` of the lm-evaluation-harness 0.4.13 and of Inspect's `stderr`
    without clusters: it takes the values for independent draws.

    Args:
        values: the scores, at least two.

    Returns:
        The standard error on the scale of the values, to 50 significant digits; None for fewer
        than two values, which have no variance.
    """
    count = len(values)
    if count < FEWEST:
        return None
    mean = sum(values, Fraction(0)) / count
    square = sum(((value - mean) ** 2 for value in values), Fraction(0)) / (count - 1) / count
    # One division and one root, each correctly rounded.
    quotient = CONTEXT.divide(Decimal(square.numerator), Decimal(square.denominator))
    return CONTEXT.sqrt(quotient)
