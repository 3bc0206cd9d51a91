"""What a review says about all judged trials: agreement by weight, and the corrected share.

Invariant: every reviewed trial stands for as many as were judged in its stratum for each review; a
corrected share is given only where the whole draw was reviewed and decided, and stands beside the
judge's own, never for it.
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from trial_ledger.exact import decimal_text, rational_text
from trial_projections.statistics.chance import table_agreement
from trial_projections.statistics.correction import Stratum, stratified_mover
from trial_projections.statistics.result import Result

__all__ = ["ReviewEstimate", "ReviewedStratum", "estimate_of"]

NOT_COMPLETE = "not all drawn trials are reviewed"
NOT_DECIDED = "a reviewer could not decide a trial"
NO_REVIEW = "a stratum has no review"
RIGHT = "correct"


class ReviewedStratum(msgspec.Struct, frozen=True):
    """A stratum, and what was found of the trials that count as its reviews."""

    judged: int
    """How many trials it has."""
    needed: int
    """How many of them are drawn."""
    pairs: Sequence[tuple[str, str]]
    """(automated verdict, reviewer's verdict) of every reviewed one."""


class ReviewEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a review says about all judged trials; rationals and decimals as text."""

    agree: str | None
    """Share of judged trials on which both would agree; None where a stratum has no review."""
    kappa: str | None
    """Cohen's kappa by weight; None where that is undefined."""
    ac1: str | None
    """Gwet's AC1 by weight, which a rare label does not draw down."""
    alpha: str | None
    """Krippendorff's alpha by weight."""
    right: str | None
    """Share of judged trials that people would find right; None for the reason below."""
    low: str | None
    """Lower end of its 95 % interval (MOVER with Wilson limits)."""
    high: str | None
    """Upper end."""
    reason: str | None
    """Why there is no corrected share; None where there is one."""


def estimate_of(strata: Sequence[ReviewedStratum]) -> ReviewEstimate:
    """Return what the reviews of some strata say about all of their trials.

    Agreement: cells weighted by the inverse of the sampling rate. The corrected share: Zou & Donner
    2008 (Stat Med 27:1693), with the finite population of each stratum. It says what a review of
    everything would say of these trials.

    Args:
        strata: the strata that hold trials.
    """
    reviewed = bool(strata) and all(stratum.pairs for stratum in strata)
    agree = kappa = ac1 = alpha = None
    if reviewed:
        found = table_agreement(weighted_table(strata), 2 * sum(len(s.pairs) for s in strata))
        agree, kappa = rational(found.observed), rational(found.kappa)
        ac1, alpha = rational(found.ac1), rational(found.alpha)
    reason = None if reviewed else NO_REVIEW
    if reviewed and any(len(stratum.pairs) < stratum.needed for stratum in strata):
        reason = NOT_COMPLETE
    elif any(label == "not_gradable" for stratum in strata for _, label in stratum.pairs):
        reason = NOT_DECIDED
    right = low = high = None
    if reason is None:
        parts = [
            Stratum(s.judged, len(s.pairs), sum(label == RIGHT for _, label in s.pairs))
            for s in strata
        ]
        estimate = stratified_mover(parts)
        interval = estimate.interval.value
        assert interval is not None, "every stratum is reviewed"
        right = rational(estimate.value)
        low, high = decimal_text(interval.low), decimal_text(interval.high)
    return ReviewEstimate(
        agree=agree,
        kappa=kappa,
        ac1=ac1,
        alpha=alpha,
        right=right,
        low=low,
        high=high,
        reason=reason,
    )


def rational(result: Result[Fraction]) -> str | None:
    """Return a result as rational text; None where it is undefined."""
    return None if result.value is None else rational_text(result.value)


def weighted_table(strata: Sequence[ReviewedStratum]) -> list[list[Fraction]]:
    """Return how many judged trials each pair of verdicts stands for."""
    labels = sorted({label for stratum in strata for pair in stratum.pairs for label in pair})
    place = {label: position for position, label in enumerate(labels)}
    table = [[Fraction(0)] * len(labels) for _ in labels]
    for stratum in strata:
        weight = Fraction(stratum.judged, len(stratum.pairs))
        for first, second in stratum.pairs:
            table[place[first]][place[second]] += weight
    return table
