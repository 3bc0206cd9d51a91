"""What trials cost, in total and for every one that was right, where some costs are unknown.

Invariant: an unknown cost is never 0: it leaves a lower bound, and an upper one only where a limit
was declared; a cost per right trial is a ratio of sums and never a mean of ratios.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

from trial_projections.statistics.clusters import root_result
from trial_projections.statistics.result import Number, Result, known, ratio_of, total_of, undefined

__all__ = ["RatioError", "Spending", "ratio_error", "spending"]

NOTHING_RIGHT = "no trial was right"
NO_LIMIT = "no cap declared"
ONE_QUESTION = "one question has no spread"
NO_WHOLE = "the sum that is divided by is 0"


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """A sum of costs, in the unit in which they came."""

    known: Fraction
    """Sum of the known costs."""
    unknown: int
    """How many are unknown."""
    total: Result[Fraction]
    """Sum of all; undefined where one is unknown."""
    lower: Fraction
    """The least that the sum can be, since no cost is below 0."""
    upper: Result[Fraction]
    """The most that it can be."""
    per_right_lower: Result[Fraction]
    """The least that a right trial cost, those that were wrong included."""
    per_right_upper: Result[Fraction]
    """The most that it cost."""


class RatioError(msgspec.Struct, frozen=True):
    """A ratio of sums."""

    value: Result[Fraction]
    """The ratio."""
    error: Result[Decimal]
    """Its standard error."""


def spending(costs: Sequence[Number | None], right: int, limit: Number | None = None) -> Spending:
    """Return what trials cost.

    Args:
        costs: of every trial, in whatever unit; None where it is unknown, 0 where it was free.
        right: how many trials were right.
        limit: the most that one trial can have cost, as its manifest declares; None for no limit.
    """
    total = total_of(Fraction(cost) for cost in costs if cost is not None)
    unknown = sum(cost is None for cost in costs)
    upper = known(total)
    if unknown:
        upper = undefined(NO_LIMIT) if limit is None else known(total + unknown * limit)
    per_upper = upper if right else undefined(NOTHING_RIGHT)
    if upper.value is not None:
        per_upper = ratio_of(upper.value, right, NOTHING_RIGHT)
    return Spending(
        known=total,
        unknown=unknown,
        total=undefined(f"{unknown} costs are unknown") if unknown else known(total),
        lower=total,
        upper=upper,
        per_right_lower=ratio_of(total, right, NOTHING_RIGHT),
        per_right_upper=per_upper,
    )


def ratio_error(parts: Sequence[Number], wholes: Sequence[Number]) -> RatioError:
    """Return the ratio of two sums over questions with its linearised standard error.

    Cochran 1977, section 6.4: the variance of (y - R x)/x̄ over questions.

    Args:
        parts: y of every question, as its costs.
        wholes: x of the same questions, in the same order, as its right trials.
    """
    assert len(parts) == len(wholes), "the same questions"
    n, whole = len(parts), Fraction(sum(wholes))
    value = ratio_of(sum(parts), whole, NO_WHOLE)
    if value.value is None:
        return RatioError(value, undefined(NO_WHOLE))
    rest = total_of((y - value.value * x) ** 2 for y, x in zip(parts, wholes, strict=True))
    square = ratio_of(rest * n, (n - 1) * whole**2, ONE_QUESTION)
    return RatioError(value, root_result(square))
