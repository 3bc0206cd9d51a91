"""Pair what was returned with what is right, as many as can be paired (C7).

Invariant: the number of pairs is the greatest possible, whatever the order of the two sides.
Pairing the first that fits would lose right items where one name fits two.
"""

from collections import deque
from collections.abc import Mapping, Sequence

__all__ = ["maximum_matching"]


def maximum_matching(fits: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return a greatest set of pairs in which each member of either side stands at most once.

    Args:
        fits: each member of one side, with the members of the other that it fits.
    """
    partner: dict[int, str] = {}
    chosen: dict[str, int] = {}
    for member, others in fits.items():
        free = next((other for other in others if other not in partner), None)
        if free is not None:
            partner[free] = member
            chosen[member] = free
    for member in fits:
        if member not in chosen:
            augment(member, fits, chosen, partner)
    return chosen


def augment(
    start: str,
    fits: Mapping[str, Sequence[int]],
    chosen: dict[str, int],
    partner: dict[int, str],
) -> None:
    """Pair one more member, if moving others along a shortest path makes room for it."""
    reached_from: dict[int, str] = {}
    waiting = deque([start])
    while waiting:
        member = waiting.popleft()
        for other in fits[member]:
            if other in reached_from:
                continue
            reached_from[other] = member
            if other not in partner:
                move(other, reached_from, chosen, partner)
                return
            waiting.append(partner[other])


def move(
    free: int, reached_from: Mapping[int, str], chosen: dict[str, int], partner: dict[int, str]
) -> None:
    """Give each member on the path the one after it, from the free end back to the start."""
    other: int | None = free
    while other is not None:
        member = reached_from[other]
        following = chosen.get(member)
        chosen[member] = other
        partner[other] = member
        other = following
