"""What a review of some judged trials says about all of them: estimates corrected for the judge.

Invariant: a stratum of which nobody reviewed anything leaves no estimate; a stratum that was
reviewed whole adds no uncertainty; a corrected number stands beside the judge's and never for it.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

from trial_projections.statistics.chance import TableAgreement, table_agreement
from trial_projections.statistics.decimals import root_of, rounded, wide, wide_ratio
from trial_projections.statistics.distributions import normal_quantile
from trial_projections.statistics.proportions import wilson_limits
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
    "Estimate",
    "JudgeAccuracy",
    "Stratum",
    "judge_accuracy",
    "rogan_gladen",
    "rogan_gladen_interval",
    "stratified",
    "stratified_mover",
]

NO_TRIAL = "there is no judged trial"
UNREVIEWED = "a stratum has no review"
ONE_REVIEWED = "one review of a stratum has no spread"
NO_BETTER = "sensitivity and specificity add up to 1 or less: the judge is no better than chance"


class Stratum(msgspec.Struct, frozen=True):
    """Trials among which reviews were drawn alike."""

    trials: int
    """N, how many there are."""
    reviewed: int
    """n, how many of them were drawn and reviewed."""
    right: int
    """k, how many of these the reviewers found right."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A corrected share of right trials."""

    value: Result[Fraction]
    """The estimate."""
    error: Result[Decimal]
    """Its standard error, where the method has one."""
    interval: Result[Interval]
    """Its interval."""


class JudgeAccuracy(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge compares with the reviewers."""

    sensitivity: Result[Fraction]
    """Of the trials that reviewers find right, the share that the judge passed."""
    specificity: Result[Fraction]
    """Of those that reviewers find wrong, the share that the judge failed."""
    right: Result[Fraction]
    """Share of right trials."""
    agreement: TableAgreement
    """Agreement of judge and reviewers."""


def weights_of(strata: Sequence[Stratum]) -> tuple[list[tuple[Fraction, Stratum]], str | None]:
    """Return the strata that hold trials with their shares, and why they give no estimate."""
    assert all(s.right <= s.reviewed <= s.trials for s in strata), "parts of a whole"
    whole = sum(stratum.trials for stratum in strata)
    if not whole:
        return [], NO_TRIAL
    found = [(Fraction(s.trials, whole), s) for s in strata if s.trials]
    return found, None if all(s.reviewed for _, s in found) else UNREVIEWED


def estimate_of(weighted: Sequence[tuple[Fraction, Stratum]]) -> Fraction:
    """Return the sum of the strata's reviewed shares, by weight."""
    parts = (weight * Fraction(s.right, s.reviewed) for weight, s in weighted)
    return total_of(parts)


def nothing(reason: str) -> Estimate:
    """Return that there is no estimate."""
    return Estimate(value=undefined(reason), error=undefined(reason), interval=undefined(reason))


def stratified(strata: Sequence[Stratum], level: Fraction = LEVEL) -> Estimate:
    """Return what a review of everything would say, with the usual normal interval.

    Cochran 1977, sections 5.3 to 5.6, with the finite-population correction. Where the strata are
    the judge's verdicts it equals the difference estimator, and Rogan & Gladen's with weighted
    sensitivity and specificity. Of small reviews the interval is far too short, and a point where
    nothing disagrees: take `stratified_mover`.

    Args:
        strata: trials, reviews and right ones of every stratum.
        level: two-sided confidence.
    """
    weighted, reason = weights_of(strata)
    if reason is not None:
        return nothing(reason)
    estimate, square = estimate_of(weighted), Fraction(0)
    for weight, s in weighted:
        if s.reviewed == s.trials:
            continue
        if s.reviewed == 1:
            error: Result[Decimal] = undefined(ONE_REVIEWED)
            return Estimate(value=known(estimate), error=error, interval=undefined(ONE_REVIEWED))
        p = Fraction(s.right, s.reviewed)
        part = p * (1 - p) / (s.reviewed - 1) * (1 - Fraction(s.reviewed, s.trials))
        square += weight * weight * part
    return normal_estimate(estimate, square, level)


def normal_estimate(estimate: Fraction, square: Fraction, level: Fraction) -> Estimate:
    """Return an estimate ± z times its standard error."""
    with wide():
        middle, half = wide_ratio(estimate), normal_quantile(level) * wide_ratio(square).sqrt()
        interval = Interval(rounded(middle - half), rounded(middle + half))
    return Estimate(value=known(estimate), error=known(root_of(square)), interval=known(interval))


def stratified_mover(strata: Sequence[Stratum], level: Fraction = LEVEL) -> Estimate:
    """Return what a review of everything would say, with limits that never shrink to a point.

    The distances from each stratum's share to its Wilson limits, squared, weighted and added
    (MOVER, Zou & Donner 2008, Stat Med 27:1693). The size of a stratum's review is
    n(N-1)/(N-n), which grows without bound as the review becomes a census.

    Args:
        strata: trials, reviews and right ones of every stratum; judged right and judged wrong at
            least.
        level: two-sided confidence.

    Returns:
        An estimate of what full review of these trials would say; for the population of questions,
        add the spread between these.
    """
    weighted, reason = weights_of(strata)
    if reason is not None:
        return nothing(reason)
    estimate = estimate_of(weighted)
    with wide():
        below = above = Decimal(0)
        for weight, s in weighted:
            if s.reviewed == s.trials:
                continue
            size = wide_ratio(Fraction(s.reviewed * (s.trials - 1), s.trials - s.reviewed))
            share = Fraction(s.right, s.reviewed)
            limits, p, w = wilson_limits(share, size, level), wide_ratio(share), wide_ratio(weight)
            below += (w * (p - limits.low)) ** 2
            above += (w * (limits.high - p)) ** 2
        middle = wide_ratio(estimate)
        low, high = rounded(middle - below.sqrt()), rounded(middle + above.sqrt())
    return Estimate(
        value=known(estimate),
        error=undefined("limits that are not alike have no standard error"),
        interval=known(Interval(low, high)),
    )


def judge_accuracy(passed: Stratum, failed: Stratum, *, weighted: bool = True) -> JudgeAccuracy:
    """Return how a judge compares with reviewers of some of its verdicts.

    Begg & Greenes 1983 (Biometrics 39:207): every reviewed trial stands for N/n of its stratum.
    Without weights the numbers are those of the reviews alone, which differ wherever the two
    verdicts were reviewed at different rates.

    Args:
        passed: the trials that the judge passed.
        failed: the trials that the judge failed.
        weighted: let reviewed trials stand for their strata.
    """
    strata = (passed, failed)
    whole, reason = weights_of(strata)
    if reason is not None:
        none: Result[Fraction] = undefined(reason)
        return JudgeAccuracy(
            sensitivity=none, specificity=none, right=none, agreement=table_agreement([])
        )
    table: list[tuple[Fraction, Fraction]] = []
    for s in strata:
        each = Fraction(s.trials, s.reviewed) if weighted and s.reviewed else Fraction(1)
        table.append((each * s.right, each * (s.reviewed - s.right)))
    (hit, false), (lost, quiet) = table
    labels = 2 * sum(s.reviewed for _, s in whole)
    return JudgeAccuracy(
        sensitivity=ratio_of(hit, hit + lost, "no reviewed trial is right"),
        specificity=ratio_of(quiet, quiet + false, "no reviewed trial is wrong"),
        right=ratio_of(hit + lost, hit + lost + false + quiet),
        agreement=table_agreement(table, labels),
    )


def rogan_gladen(
    passed: Number, sensitivity: Number, specificity: Number, *, clip: bool = True
) -> Result[Fraction]:
    """Return the share of right trials from the share that a judge passed.

    Rogan & Gladen 1978 (American Journal of Epidemiology 107:71): (p + sp - 1)/(se + sp - 1). For
    sensitivity and specificity of another set of trials; from a review of the same trials they need
    weights, and then `stratified` says the same.

    Args:
        passed: share of trials that the judge passed.
        sensitivity: of right trials, the share that it passes.
        specificity: of wrong trials, the share that it fails.
        clip: keep the estimate from 0 to 1; the raw one beyond says that something does not fit.
    """
    power = sensitivity + specificity - 1
    if power <= 0:
        return undefined(NO_BETTER)
    raw = (Fraction(passed) + specificity - 1) / power
    return known(min(max(raw, Fraction(0)), Fraction(1)) if clip else raw)


def rogan_gladen_interval(
    passed: tuple[Number, int],
    sensitivity: tuple[Number, int],
    specificity: tuple[Number, int],
    level: Fraction = LEVEL,
) -> Result[Interval]:
    """Return an interval of the corrected share, for calibration on other trials.

    Lee et al. 2025 (arXiv 2511.21140): shares are drawn towards one half first (by z²/2 of z², and
    by 1 of 2), and the middle is shifted by what the correction bends.

    Args:
        passed: share of trials that the judge passed, and how many trials.
        sensitivity: as measured, and on how many right trials.
        specificity: as measured, and on how many wrong trials.
        level: two-sided confidence.

    Returns:
        Limits from 0 to 1.
    """
    z = normal_quantile(level)
    (p, n), (q1, m1), (q0, m0) = passed, sensitivity, specificity
    if q0 + q1 <= 1:
        return undefined(NO_BETTER)
    with wide():
        square = z * z
        size = n + square
        share = (n * wide_ratio(p) + square / 2) / size
        right = wide_ratio((m1 * Fraction(q1) + 1) / (m1 + 2))
        wrong = wide_ratio((m0 * Fraction(q0) + 1) / (m0 + 2))
        power = right + wrong - 1
        middle = (share + wrong - 1) / power
        from_wrong, from_right = wrong * (1 - wrong) / (m0 + 2), right * (1 - right) / (m1 + 2)
        shift = 2 * square * (middle * from_right - (1 - middle) * from_wrong)
        variance = share * (1 - share) / size + (1 - middle) ** 2 * from_wrong
        variance += middle**2 * from_right
        half = z * variance.sqrt() / power
        low, high = (
            min(max(end, Decimal(0)), Decimal(1))
            for end in (middle + shift - half, middle + shift + half)
        )
        return known(Interval(rounded(low), rounded(high)))
