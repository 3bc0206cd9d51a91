"""Adjusted p-values of a family of comparisons.

Invariant: the family is what was planned: a comparison that could not be tested keeps no p-value,
and still counts.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from trial_projections.statistics.result import Result, known, total_of, undefined

__all__ = ["Method", "adjust"]

Method = Literal["bonferroni", "holm", "bh", "by"]
"""Bonferroni, Holm 1979, Benjamini & Hochberg 1995, Benjamini & Yekutieli 2001."""

UNTESTED = "the comparison was not tested"


def adjust(p_values: Sequence[Fraction | None], method: Method) -> list[Result[Fraction]]:
    """Return the p-values of a family, adjusted, in the order in which they were given.

    `bonferroni` and `holm` (Scandinavian Journal of Statistics 6:65) bound the chance of a single
    false rejection; `bh` (JRSS B 57:289) bounds the expected share of false rejections, `by`
    (Annals of Statistics 29:1165) does so under any dependence. An adjusted value at or
    below a bound means that the comparison is rejected at that bound.

    Args:
        p_values: of every planned comparison; None for one that could not be tested.
        method: the rule.

    Returns:
        Exact values from 0 to 1, which do not depend on the order of ties.
    """
    m = len(p_values)
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[Result[Fraction]] = [undefined(UNTESTED)] * m
    ups = method in {"bh", "by"}
    best = Fraction(1 if ups else 0)
    harmonic = total_of(Fraction(1, i) for i in range(1, m + 1)) if method == "by" else 1
    ranked = list(enumerate(tested, 1))
    for rank, (p, place) in reversed(ranked) if ups else ranked:
        if ups:
            best = min(best, p * m * harmonic / rank)
        elif method == "holm":
            best = max(best, min(Fraction(1), p * (m - rank + 1)))
        else:
            best = min(Fraction(1), p * m)
        found[place] = known(best)
    return found
