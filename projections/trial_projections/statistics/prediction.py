"""Estimates from a judge's scores of many trials and people's scores of other ones.

Invariant: the two sets are independent; where reviewed trials are some of the judged ones, as in a
ledger, `correction` is right and this is not.
"""

from collections.abc import Sequence
from fractions import Fraction

from trial_projections.statistics.correction import Estimate, normal_estimate
from trial_projections.statistics.result import LEVEL, Number, Result, total_of, undefined

__all__ = ["prediction_powered_mean"]

NO_VALUE = "a set has no trial"


def prediction_powered_mean(
    scores: Sequence[Number],
    judged: Sequence[Number],
    others: Sequence[Number],
    *,
    weight: Number = 1,
    level: Fraction = LEVEL,
) -> Estimate:
    """Return a mean score from few trials that people scored and many that only a judge did.

    Prediction-powered inference (Angelopoulos et al. 2023, Science 382:669), with the variances of
    the populations, divisor n, as in ppi_py.

    Args:
        scores: of the trials that people scored.
        judged: the judge's scores of the same, in the same order.
        others: the judge's scores of the trials that nobody else scored.
        weight: λ, how far the judge is trusted: 0 leaves it out.
        level: two-sided confidence.
    """
    assert len(scores) == len(judged), "the same trials"
    if not scores or not others:
        none: Result[Fraction] = undefined(NO_VALUE)
        return Estimate(value=none, error=undefined(NO_VALUE), interval=undefined(NO_VALUE))
    rest = [Fraction(a) - weight * b for a, b in zip(scores, judged, strict=True)]
    trusted = [Fraction(weight) * b for b in others]
    (first, one), (second, two) = mean_and_variance(rest), mean_and_variance(trusted)
    return normal_estimate(first + second, one / len(rest) + two / len(trusted), level)


def mean_and_variance(values: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Return the mean and the variance with divisor n."""
    mean = total_of(values) / len(values)
    return mean, total_of((each - mean) ** 2 for each in values) / len(values)
