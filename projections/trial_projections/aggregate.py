"""From cells to one number: exact means over trials or over questions, under several views.

Invariant: all arithmetic is exact; a sum, a count and a value are kept apart, so that 6/10 is never
shown as 3/5. The cost is that of the distinct questions, not of the trials: questions whose cells
are alike are computed once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import msgspec

from trial_ledger.exact import parse_rational, rational_text
from trial_projections.cells import (
    ERRORED_CLASSES,
    INFRASTRUCTURE_CLASSES,
    Cell,
)

__all__ = [
    "Profile",
    "Range",
    "Share",
    "View",
    "is_missing",
    "mean",
    "moved",
    "profile_of",
    "profiles_of",
    "views",
]

Profile = tuple[Cell, ...]
"""The cells of one question, sorted."""

View = Callable[[Cell], tuple[Fraction, Fraction] | None]
"""The lowest and highest score that a cell can have in a view; None leaves it out."""

rational = lru_cache(maxsize=4096)(parse_rational)


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A mean, as the sum and the count that it comes from."""

    sum: str
    """Sum, rational text."""
    count: int
    """How many trials, or questions where these weigh alike though their trials differ."""
    unit: Literal["trials", "questions"]
    """What is counted."""
    value: str | None
    """Sum over count, rational text; None where nothing counts."""


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """The lowest and highest value that what is undecided allows; equal where all is decided."""

    low: Share
    """Lowest."""
    high: Share
    """Highest."""

    @property
    def is_point(self) -> bool:
        """Whether there is one value."""
        return self.low == self.high


def profiles_of(cells_by_question: Mapping[str, list[Cell]]) -> Counter[Profile]:
    """Return how many questions have each profile."""
    return Counter(profile_of(cells) for cells in cells_by_question.values())


def profile_of(cells: list[Cell]) -> Profile:
    """Return the cells of one question, sorted where they differ."""
    return tuple(cells) if len(set(cells)) == 1 else tuple(sorted(cells, key=order))


def moved(
    tally: Counter[Profile], before: Profile | None, after: Profile | None
) -> Counter[Profile]:
    """Return a tally in which one question counts otherwise than before."""
    found = Counter(tally)
    if before is not None and after is not None:
        found[before] -= 1
        found[after] += 1
    return +found


def order(cell: Cell) -> tuple[object, ...]:
    """Return what cells are sorted by; None sorts as an empty text."""
    return (
        cell.outcome,
        cell.score or "",
        cell.basis,
        cell.counts,
        cell.invalidated,
        cell.leaked,
        cell.bounds or ("", ""),
    )


def is_missing(cell: Cell) -> bool:
    """Return whether nobody knows what the system would have scored: undecided, or no fair try."""
    return cell.score is None or cell.outcome in INFRASTRUCTURE_CLASSES


def bounds_of(texts: tuple[str, str]) -> tuple[Fraction, Fraction]:
    """Return the bounds of a cell of which so much is known."""
    return rational(texts[0]), rational(texts[1])


def views(scale: tuple[str, str]) -> dict[str, View]:
    """Return the headline and every sensitivity view, by name (docs/reference/events.md).

    Args:
        scale: lowest and highest score of the metric.
    """
    low, high = rational(scale[0]), rational(scale[1])

    def headline(cell: Cell) -> tuple[Fraction, Fraction] | None:
        if not cell.counts:
            return None
        if cell.score is None:
            return (low, high) if cell.bounds is None else bounds_of(cell.bounds)
        score = rational(cell.score)
        return score, score

    def errors_excluded(cell: Cell) -> tuple[Fraction, Fraction] | None:
        return None if cell.outcome in ERRORED_CLASSES else headline(cell)

    def complete_case(cell: Cell) -> tuple[Fraction, Fraction] | None:
        return headline(cell) if cell.basis == "judgment" else None

    def worst(cell: Cell) -> tuple[Fraction, Fraction] | None:
        return extreme(cell, low, 0)

    def best(cell: Cell) -> tuple[Fraction, Fraction] | None:
        return extreme(cell, high, 1)

    def extreme(cell: Cell, far: Fraction, end: int) -> tuple[Fraction, Fraction] | None:
        found = headline(cell)
        if found is None or not is_missing(cell):
            return found
        return (far, far) if cell.bounds is None else (found[end], found[end])

    def without_invalidated(cell: Cell) -> tuple[Fraction, Fraction] | None:
        return None if cell.invalidated else headline(cell)

    def without_leaks(cell: Cell) -> tuple[Fraction, Fraction] | None:
        return None if cell.leaked else headline(cell)

    return {
        "headline": headline,
        "errors_excluded": errors_excluded,
        "complete_case": complete_case,
        "worst": worst,
        "best": best,
        "without_invalidated": without_invalidated,
        "without_leaks": without_leaks,
    }


def mean(profiles: Mapping[Profile, int], view: View, *, by_question: bool) -> Range:
    """Return the exact mean of a view.

    Where every question has equally many counting trials, the mean of question means is the mean of
    trials, and it is given as such; otherwise sums are of question means. Questions without a
    counting trial are dropped from a mean of questions.

    Args:
        profiles: how many questions have each profile.
        view: which cells count, and with what.
        by_question: mean of question means (`question-mean`), or of trials (`trial-mean`).
    """
    rows = [
        (members, times)
        for profile, times in profiles.items()
        if (members := [bounds for cell in profile if (bounds := view(cell)) is not None])
    ]
    uneven = by_question and len({len(members) for members, _ in rows}) > 1
    return Range(
        low=share(rows, 0, by_mean=uneven),
        high=share(rows, 1, by_mean=uneven),
    )


def share(
    rows: Iterable[tuple[list[tuple[Fraction, Fraction]], int]], end: int, *, by_mean: bool
) -> Share:
    """Return the mean of one end of the bounds."""
    total, count = Fraction(0), 0
    for members, times in rows:
        row = sum((bounds[end] for bounds in members), Fraction(0))
        total += (row / len(members) if by_mean else row) * times
        count += times if by_mean else len(members) * times
    return Share(
        sum=rational_text(total),
        count=count,
        unit="questions" if by_mean else "trials",
        value=rational_text(total / count) if count else None,
    )
