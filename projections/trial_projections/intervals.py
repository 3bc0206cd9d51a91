"""The confidence interval of a metric, by question, as its rubric asks for it (C20, C35).

Invariant: the clusters are the questions with a counting trial, each with all of its repetitions;
an interval that cannot be had says why; limits are decimal text and never a binary float.

The interval says what other questions of the same kind might have given. What is undecided widens
it, since it reaches from the lower limit of the lowest value to the upper limit of the highest.
"""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import msgspec

from trial_ledger.exact import parse_rational, rational_text
from trial_projections.aggregate import Profile, View
from trial_projections.statistics.clusters import (
    Cluster,
    ClusterInterval,
    cluster_t,
    cluster_wilson,
    question_means,
)
from trial_projections.statistics.decimals import shown_text
from trial_projections.statistics.result import LEVEL

__all__ = ["IntervalMethod", "ScoreInterval", "score_interval"]

IntervalMethod = Literal["cluster-wilson", "cluster-t", "none"]
"""How a rubric asks for an interval to be made."""

NOT_ASKED = "the rubric asks for none"


class ScoreInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A two-sided confidence interval of a metric, by question."""

    method: IntervalMethod
    """How it is made: Wilson's at the effective number of independent units, or t of the clustered
    standard error (statistics, clusters)."""
    level: str
    """Confidence, rational text."""
    low: str | None = None
    """Lower limit on the metric's scale, decimal text of 12 significant digits; None where there is
    no interval."""
    high: str | None = None
    """Upper limit likewise."""
    clusters: int
    """Questions with a counting trial."""
    of: Literal["point", "range"]
    """Of a value, or from the lower limit of a range's lowest value to the upper of its highest."""
    unavailable: str | None = None
    """Why there is none; None where there is one."""


def score_interval(
    method: IntervalMethod,
    profiles: Mapping[Profile, int],
    view: View,
    *,
    by_question: bool,
    scale: tuple[str, str],
) -> ScoreInterval:
    """Return the interval of a metric.

    Args:
        method: what the rubric asks for.
        profiles: how many questions have each profile.
        view: which cells count, and with what.
        by_question: of the mean of question means, in which questions weigh alike; else of trials.
        scale: lowest and highest score; no limit goes beyond.
    """
    ends = [clusters_at(profiles, view, end) for end in (0, 1)]
    is_point = ends[0] == ends[1]
    bare = ScoreInterval(
        method=method,
        level=rational_text(LEVEL),
        clusters=sum(ends[0].values()),
        of="point" if is_point else "range",
    )
    if method == "none":
        return msgspec.structs.replace(bare, unavailable=NOT_ASKED)
    found = [interval_of(method, ends[0], by_question=by_question)]
    found.append(found[0] if is_point else interval_of(method, ends[1], by_question=by_question))
    low, high = found[0].interval, found[1].interval
    if low.value is None or high.value is None:
        return msgspec.structs.replace(bare, unavailable=low.reason or high.reason)
    least, most = (parse_rational(end) for end in scale)
    return msgspec.structs.replace(
        bare,
        low=limit_text(low.value.low, least, most),
        high=limit_text(high.value.high, least, most),
    )


def clusters_at(profiles: Mapping[Profile, int], view: View, end: int) -> Counter[Cluster]:
    """Return the questions as clusters of scores, at the lowest or highest of what is undecided."""
    found = Counter[Cluster]()
    for profile, times in profiles.items():
        scores = [bounds[end] for cell in profile if (bounds := view(cell)) is not None]
        if scores:
            total = sum(scores, Fraction(0))
            squares = sum((score * score for score in scores), Fraction(0))
            found[Cluster(len(scores), total, squares)] += times
    return found


def interval_of(
    method: IntervalMethod, clusters: Counter[Cluster], *, by_question: bool
) -> ClusterInterval:
    """Return the interval of clusters."""
    if method == "cluster-wilson":
        return cluster_wilson(clusters, by_question=by_question)
    return cluster_t(question_means(clusters) if by_question else clusters)


def limit_text(limit: Decimal, least: Fraction, most: Fraction) -> str:
    """Return a limit as decimal text; beyond the scale there is no score."""
    return shown_text(min(max(Fraction(limit), least), most))
