"""Means of scores that come in clusters: standard errors and intervals by question.

Invariant: repetitions of one question are never taken for independent; variances are exact
fractions, of which only the root is rounded; one cluster, or one value, has no standard error.

Everything depends on a cluster's size, sum and sum of squares alone, and clusters that are alike
are computed once: a run of five repetitions has at most six kinds of questions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

from trial_projections.statistics.decimals import root_of, rounded, wide, wide_ratio
from trial_projections.statistics.distributions import normal_quantile, student_quantile
from trial_projections.statistics.proportions import wilson_limits
from trial_projections.statistics.result import (
    LEVEL,
    Interval,
    Number,
    Result,
    because,
    known,
    ratio_of,
    total_of,
    undefined,
)

__all__ = [
    "Cluster",
    "ClusterErrors",
    "ClusterInterval",
    "Clusters",
    "Moments",
    "cluster_errors",
    "cluster_t",
    "cluster_wilson",
    "clusters_of",
    "mean_error",
    "moments_of",
    "question_means",
]

NO_VALUE = "there is no value"
ONE_VALUE = "one value has no spread"
ONE_CLUSTER = "one question says nothing about the spread between questions"
NO_SPREAD = "all questions score alike, which shows no spread"
OFF_SCALE = "scores are not from 0 to 1"


class Cluster(msgspec.Struct, frozen=True, order=True):
    """What matters of the scores of one question."""

    size: int
    """How many scores, at least 1."""
    total: Fraction
    """Their sum."""
    squares: Fraction
    """The sum of their squares."""


Clusters = Mapping[Cluster, int]
"""How many clusters there are of each kind."""


class Moments(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over clusters that every statistic here comes from."""

    clusters: int
    """How many clusters."""
    values: int
    """How many scores."""
    mean: Fraction
    """Mean of the scores."""
    within: Fraction
    """Sum over scores of the squared distance from the mean."""
    between: Fraction
    """Sum over clusters of the squared sum of distances from the mean."""


class ClusterErrors(msgspec.Struct, frozen=True, kw_only=True):
    """A mean and its standard error under several rules, on the scale of the scores."""

    mean: Result[Fraction]
    """Mean of the scores."""
    naive: Result[Decimal]
    """As if all scores were independent: root of s²/n. Shown to be compared with."""
    miller: Result[Decimal]
    """The naive square plus the products of distances within clusters over n² (Miller 2024)."""
    cr0: Result[Decimal]
    """Root of the squared sums of distances by cluster, over n²."""
    cr1: Result[Decimal]
    """CR0 times the root of C/(C-1), for C clusters: what is recommended."""
    design_effect: Result[Fraction]
    """CR1 squared over the naive square: by how much clustering multiplies the variance."""


class ClusterInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A mean with its interval by question."""

    mean: Result[Fraction]
    """The mean."""
    clusters: int
    """Questions."""
    effective: Result[Decimal]
    """Number of independent units that would tell as much; undefined for the t interval."""
    interval: Result[Interval]
    """The interval."""


def clusters_of(values: Iterable[Sequence[Number]]) -> Counter[Cluster]:
    """Return the clusters of scores, counted by kind; those without a score are left out.

    Args:
        values: the scores of every question.
    """
    return Counter(
        Cluster(
            len(scores),
            total_of(scores),
            total_of(score * score for score in scores),
        )
        for scores in values
        if scores
    )


def question_means(clusters: Clusters) -> Counter[Cluster]:
    """Return the same questions with one score each, its mean: so they weigh alike."""
    means = Counter[Cluster]()
    for cluster, times in clusters.items():
        mean = cluster.total / cluster.size
        means[Cluster(1, mean, mean * mean)] += times
    return means


def moments_of(clusters: Clusters) -> Moments | None:
    """Return the sums over clusters; None where there is no score."""
    count = sum(clusters.values())
    values = sum(cluster.size * times for cluster, times in clusters.items())
    if not values:
        return None
    total = total_of(cluster.total * times for cluster, times in clusters.items())
    squares = total_of(cluster.squares * times for cluster, times in clusters.items())
    mean = total / values
    between = Fraction(0)
    for cluster, times in clusters.items():
        between += (cluster.total - mean * cluster.size) ** 2 * times
    return Moments(
        clusters=count,
        values=values,
        mean=mean,
        within=squares - total * mean,
        between=between,
    )


def mean_error(clusters: Clusters) -> tuple[Result[Fraction], Result[Fraction]]:
    """Return the mean, and the square of its standard error by cluster (CR1).

    The cluster-robust estimate of Liang & Zeger 1986 with the factor C/(C-1), which Inspect's
    `stderr(cluster=…)` computes as well. Clusters of one score give the usual s²/n.

    Args:
        clusters: the scores by question; with `question_means` questions weigh alike, else scores.
    """
    moments = moments_of(clusters)
    if moments is None:
        return undefined(NO_VALUE), undefined(NO_VALUE)
    square: Result[Fraction] = undefined(ONE_CLUSTER)
    if moments.clusters > 1:
        factor = Fraction(moments.clusters, moments.clusters - 1)
        square = known(moments.between * factor / moments.values**2)
    return known(moments.mean), square


def cluster_errors(clusters: Clusters) -> ClusterErrors:
    """Return the mean of scores with its standard error under several rules.

    Miller 2024 (arXiv 2411.00640), section 2, and the cluster-robust CR0 and CR1.

    Args:
        clusters: the scores by question.
    """
    mean, square = mean_error(clusters)
    moments = moments_of(clusters)
    if moments is None:
        none: Result[Decimal] = undefined(NO_VALUE)
        return ClusterErrors(
            mean=mean,
            naive=none,
            miller=none,
            cr0=none,
            cr1=none,
            design_effect=undefined(NO_VALUE),
        )
    n = moments.values
    naive = ratio_of(moments.within, n * (n - 1), ONE_VALUE)
    apart = (moments.between - moments.within) / n**2
    return ClusterErrors(
        mean=mean,
        naive=root_result(naive),
        miller=root_result(naive if naive.value is None else known(naive.value + apart)),
        cr0=known(root_of(moments.between / n**2)),
        cr1=root_result(square),
        design_effect=design_effect(naive, square),
    )


def design_effect(naive: Result[Fraction], square: Result[Fraction]) -> Result[Fraction]:
    """Return by how much clustering multiplies the variance."""
    if naive.value is None or square.value is None:
        return because(naive, square)
    return ratio_of(square.value, naive.value, "all scores are equal")


def root_result(square: Result[Fraction]) -> Result[Decimal]:
    """Return the root of a square, where there is one."""
    if square.value is None:
        return because(square)
    return known(root_of(square.value))


def cluster_t(clusters: Clusters, level: Fraction = LEVEL) -> ClusterInterval:
    """Return the mean ± t with C-1 degrees of freedom times the standard error CR1.

    Args:
        clusters: the scores by question; with `question_means` questions weigh alike, else scores.
        level: two-sided confidence.

    Returns:
        Limits on the scale of the scores, which may lie beyond its ends. No interval where there is
        one question, or where all are alike, which would make it a point.
    """
    mean, square = mean_error(clusters)
    count = sum(clusters.values())
    interval: Result[Interval] = undefined(NO_SPREAD)
    if mean.value is None or square.value is None:
        interval = because(square)
    elif square.value:
        quantile = student_quantile(count - 1, level)
        with wide():
            middle, half = wide_ratio(mean.value), quantile * wide_ratio(square.value).sqrt()
            interval = known(Interval(rounded(middle - half), rounded(middle + half)))
    return ClusterInterval(
        mean=mean,
        clusters=count,
        effective=undefined("a t interval has no effective number"),
        interval=interval,
    )


def cluster_wilson(
    clusters: Clusters, level: Fraction = LEVEL, *, by_question: bool = False
) -> ClusterInterval:
    """Return Wilson's interval at the effective number of independent units.

    The effective number is m(1-m)/SE² (z/t)², with the standard error CR1 and t of C-1 degrees of
    freedom, and at most the number of scores (Korn & Graubard 1998; Franco et al. 2019). Where all
    scores are 0, or all 1, it is the number of questions.

    Args:
        clusters: the scores by question, each from 0 to 1.
        level: two-sided confidence.
        by_question: the mean of questions, which weigh alike; else of scores.
    """
    mean, square = mean_error(question_means(clusters) if by_question else clusters)
    count = sum(clusters.values())
    if mean.value is None or square.value is None:
        return unavailable(mean, count, because(square))
    if not 0 <= mean.value <= 1:
        return unavailable(mean, count, undefined(OFF_SCALE))
    most = sum(cluster.size * times for cluster, times in clusters.items())
    spread = mean.value * (1 - mean.value)
    size = Decimal(count if spread == 0 else most)
    if spread and square.value:
        ratio = (normal_quantile(level), student_quantile(count - 1, level))
        with wide():
            quotient = ratio[0] / ratio[1]
            size = min(size, wide_ratio(spread / square.value) * quotient * quotient)
    return ClusterInterval(
        mean=mean,
        clusters=count,
        effective=known(rounded(size)),
        interval=known(wilson_limits(mean.value, size, level)),
    )


def unavailable(mean: Result[Fraction], count: int, why: Result[Decimal]) -> ClusterInterval:
    """Return that there is no interval, and why."""
    return ClusterInterval(mean=mean, clusters=count, effective=why, interval=because(why))
