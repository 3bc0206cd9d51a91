"""How far two people or judges give the same labels, and what most of several say.

Invariant: only what both labelled is compared; chance agreement of 1 leaves kappa undefined.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

import msgspec

from trial_projections.statistics.result import Result, known, ratio_of, undefined

__all__ = ["Agreement", "agreement", "majority"]

NO_PAIR = "nothing is labelled by both"

Label = TypeVar("Label", bound=Hashable)


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How two sequences of labels agree."""

    count: int
    """Pairs of labels."""
    equal: int
    """Pairs of the same label."""
    chance: Result[Fraction]
    """Agreement expected by chance from each one's own shares; undefined without a pair."""
    kappa: Result[Fraction]
    """Cohen's kappa; undefined without a pair, and where chance alone would agree always."""

    @property
    def share(self) -> Result[Fraction]:
        """Return the share of pairs of the same label; undefined without a pair."""
        return ratio_of(self.equal, self.count, NO_PAIR)


def agreement(pairs: Iterable[tuple[Hashable, Hashable]]) -> Agreement:
    """Return how two sequences of nominal labels agree (Cohen 1960).

    kappa = (observed - chance) / (1 - chance), where chance is the sum over labels of the product
    of the two shares. It is undefined where both gave one and the same label throughout.

    Args:
        pairs: the labels of both, of everything that both labelled.
    """
    table = Counter(pairs)
    count = table.total()
    equal = sum(times for (first, second), times in table.items() if first == second)
    if not count:
        return Agreement(count=0, equal=0, chance=undefined(NO_PAIR), kappa=undefined(NO_PAIR))
    rows, columns = Counter[Hashable](), Counter[Hashable]()
    for (first, second), times in table.items():
        rows[first] += times
        columns[second] += times
    chance = Fraction(sum(times * columns[label] for label, times in rows.items()), count**2)
    observed = Fraction(equal, count)
    kappa = ratio_of(observed - chance, 1 - chance, "all labels are the same")
    return Agreement(count=count, equal=equal, chance=known(chance), kappa=kappa)


def majority(labels: Sequence[Label]) -> Label | None:
    """Return the label that more than half gave; None where no label has so many."""
    for label, times in Counter(labels).most_common(1):
        if 2 * times > len(labels):
            return label
    return None
