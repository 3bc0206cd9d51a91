"""The parts of a comparison: pairs of runs, their metrics question by question, the frontier.

Invariant: these are values only; how they are found stands in `comparison` and in
`comparison_frontier`. A pair that cannot be judged has reasons for it and no verdict.
"""

from typing import Literal

import msgspec

from trial_projections.aggregate import Range
from trial_projections.bridge_structs import Bridge

__all__ = [
    "Bounds",
    "Comparison",
    "Flip",
    "Frontier",
    "FrontierPoint",
    "MissingOutcomes",
    "Pair",
    "PairedMetric",
    "SettingChange",
    "Verdict",
]

Verdict = Literal["higher", "lower", "no difference shown"]
"""Of the second run's number, against the first one's."""


class SettingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field in which two manifests differ."""

    path: str
    """Dotted path."""
    old: object
    """Its value in the first one; None where it has no such field."""
    new: object
    """Its value in the second one; None where it has no such field."""


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """A question whose mean differs between two runs, or may."""

    question: str
    """Question id."""
    way: Literal["up", "down", "undecided"]
    """Whether the second run's mean is above the first one's."""
    first_low: str
    """Least mean under the first run, rational text."""
    first_high: str
    """Most."""
    second_low: str
    """Least mean under the second run."""
    second_high: str
    """Most."""
    first_trials: list[str]
    """Trials that count for it in the first run, as `trace` takes them; none where none started."""
    second_trials: list[str]
    """Those of the second run."""


class MissingOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """What is undecided or had no fair try, over the questions that count in both runs."""

    first: int
    """How many such outcomes the first run has."""
    second: int
    """How many the second one has."""
    lost_first: int
    """Of the first run's, how many had no fair try: a fault of harness, provider or environment."""
    lost_second: int
    """Of the second run's."""
    low: str
    """Least mean difference, had they been anything on the scale, rational text."""
    high: str
    """Most; where 0 lies between the two, the order of the runs may turn."""
    lost_p: str | None
    """Two-sided p-value of both runs losing alike, by question; None where neither lost any."""


class PairedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of two runs, question by question; the difference is second less first."""

    metric: str
    """Its name in both rubrics."""
    scale: tuple[str, str]
    """Lowest and highest score."""
    first: Range | None
    """Headline of the first run; None where it has no number."""
    second: Range | None
    """Headline of the second run."""
    pairs: int
    """Questions that count in both."""
    only_first: list[str]
    """Questions that count in the first one only."""
    only_second: list[str]
    """Questions that count in the second one only."""
    up: int
    """Pairs of which the second mean is higher, whatever is undecided."""
    down: int
    """Pairs of which it is lower."""
    same: int
    """Pairs that are equal."""
    undecided: int
    """Pairs of which what is undecided decides."""
    low: str | None
    """Least mean difference by question, rational text; None without a pair."""
    high: str | None
    """Most."""
    interval_low: str | None
    """Lower end of its 95 % interval (paired t), decimal text; the least of all ways to decide."""
    interval_high: str | None
    """Upper end; the most of all ways to decide what is undecided."""
    error: str | None
    """Standard error of the paired difference; None where something is undecided."""
    unpaired_error: str | None
    """The same as if the questions were different ones."""
    correlation: str | None
    """Correlation of both runs' means over questions."""
    test: Literal["sign-flip", "paired t"] | None
    """How the p-value was found: exact, or where that takes too long by Student's t."""
    p: str | None
    """Two-sided p-value, decimal text, at least 10^-40; the largest of all ways to decide."""
    p_adjusted: str | None
    """The same, adjusted for the family of comparisons; None without a p-value."""
    adjusted_by: Literal["holm", "bh"]
    """Holm for the primary metric; Benjamini and Hochberg for all others together."""
    family: int
    """Comparisons that were asked for and are adjusted together, tested or not."""
    reason: str | None
    """Why there is no number, no interval, or no test; None where there are all three."""
    verdict: Verdict | None
    """What is shown at 5 %, after adjustment; None where a pair has no verdict."""
    missing: MissingOutcomes | None
    """What missing outcomes can do to the difference; None where none is missing."""
    flips: list[Flip]
    """Pairs that are not equal, in planned order."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs."""

    first: str
    """The run that the others are compared with."""
    second: str
    """The other run."""
    no_verdict: list[str]
    """Why the two give no verdict; empty where they do."""
    notes: list[str]
    """What nobody recorded and a verdict takes for granted."""
    settings: list[SettingChange]
    """What their manifests differ in."""
    metrics: list[PairedMetric]
    """Metrics of both rubrics, the first one's primary before the others."""
    bridges: list[Bridge]
    """Across rubrics or datasets: the way from the first number to the second, for every metric."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Between what a value lies."""

    low: str | None
    """The least that it can be, rational text; None for no bound."""
    high: str | None
    """The most."""


class FrontierPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A run on the axes of the frontier."""

    run: str
    """The run."""
    quality: Bounds
    """Headline of the primary metric, by question over those that all runs share."""
    cost: Bounds
    """Cost of a planned trial, judging apart."""
    latency: Bounds
    """Median time of the trials that came to an end, microseconds."""
    is_beaten: bool
    """Whether another run is for certain nowhere worse and somewhere better."""
    share: str
    """In what share of the replicates it is not beaten for certain, rational text."""


class Frontier(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs no other one beats in quality, cost and latency."""

    metric: str
    """The metric that stands for quality."""
    axes: list[str]
    """Of quality, cost and latency those of which something is known."""
    currency: str | None
    """Currency of the costs; None where none is known, or the runs differ in it."""
    questions: int
    """Questions that count in every run."""
    replicates: int
    """Replicates of the bootstrap, which draws questions for all runs together."""
    seed: str
    """Its seed: that of the first rubric's review plan, else the rubric's name."""
    points: list[FrontierPoint]
    """The runs, in the order in which they were named."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two or more runs."""

    ledger: str
    """Id of the ledger."""
    size: int
    """Events in the log."""
    pairs: list[Pair]
    """The first run with each of the others."""
    frontier: Frontier | None
    """Which runs no other one beats; None where there is a reason."""
    no_frontier: str | None
    """Why there is none; None where there is one, or nobody asked."""
