"""Which configurations no other one beats on every axis, and how sure that is.

Invariant: what is equal on every axis stays; an unknown value is compared with nothing, so that it
neither wins nor loses; what cannot be beaten whatever the unknowns are is told from what may be.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from trial_projections.statistics.result import Number, Result, ratio_of

__all__ = [
    "Axis",
    "Bounds",
    "Direction",
    "Point",
    "certain_frontier",
    "frontier",
    "frontier_shares",
]

Direction = Literal["most", "least"]
"""Whether more is better on an axis, or less."""

Bounds = tuple[Number | None, Number | None]
"""The least and the most that a value can be; None for no bound."""

Axis = Sequence[Direction]
"""The direction of every axis."""

Point = Sequence[Number | None]
"""The value on every axis; None where it is unknown."""


def beats(first: Point, second: Point, axes: Axis) -> bool:
    """Return whether a point is nowhere worse and somewhere better; never with an unknown."""
    better = False
    for one, two, direction in zip(first, second, axes, strict=True):
        if one is None or two is None:
            return False
        ahead = one - two if direction == "most" else two - one
        if ahead < 0:
            return False
        better = better or ahead > 0
    return better


def frontier(points: Mapping[str, Point], axes: Axis) -> list[str]:
    """Return the names that no other point beats, in the order in which they were given.

    A beats B where it is nowhere worse and somewhere better (Pareto). Points that are equal beat
    neither the other.

    Args:
        points: name to values.
        axes: direction of every axis.
    """
    return [
        name
        for name, point in points.items()
        if not any(beats(other, point, axes) for other in points.values())
    ]


def certain_frontier(points: Mapping[str, Sequence[Bounds]], axes: Axis) -> list[str]:
    """Return the names that are not beaten for certain, where values are ranges.

    A beats B for certain where the worst of A beats the best of B: whoever is left out is beaten
    whatever the values are.

    Args:
        points: name to the least and most of every value.
        axes: direction of every axis.
    """
    worst = {
        name: [end(b, d, best=False) for b, d in zip(p, axes, strict=True)]
        for name, p in points.items()
    }
    best = {
        name: [end(b, d, best=True) for b, d in zip(p, axes, strict=True)]
        for name, p in points.items()
    }
    return [
        name
        for name in points
        if not any(beats(worst[other], best[name], axes) for other in points if other != name)
    ]


def end(bounds: Bounds, direction: Direction, *, best: bool) -> Number | None:
    """Return the better or the worse end of a range."""
    return bounds[1] if (direction == "most") == best else bounds[0]


def frontier_shares(
    drawn: Iterable[Mapping[str, Point]], axes: Axis
) -> dict[str, Result[Fraction]]:
    """Return in what share of replicates each name is on the frontier.

    Args:
        drawn: the points of every replicate of a bootstrap that draws questions for all
            configurations together; the same names in each.
        axes: direction of every axis.
    """
    counts: dict[str, int] = {}
    times = 0
    for points in drawn:
        times += 1
        for name in points:
            counts.setdefault(name, 0)
        for name in frontier(points, axes):
            counts[name] += 1
    return {name: ratio_of(count, times) for name, count in counts.items()}
