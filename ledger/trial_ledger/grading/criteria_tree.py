"""The tree of a research rubric: criteria by weight, and between what each node lies (C27).

Invariant: a criterion of which nothing was said counts with its whole weight and may be worth
anything from 0 to 1; a weight is left out only where nothing of the wanted kind is below it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, cast

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.exact import parse_rational

__all__ = ["ROOT", "Bounds", "Criterion", "criteria_in", "node_bounds"]

ROOT = ""
"""What lies above the criteria that have no parent."""

Bounds: TypeAlias = tuple[Fraction, Fraction]
"""Least and greatest value of a node, equal where everything that weighs was judged."""


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """One node of a rubric's tree."""

    id: str
    """Its id."""
    kind: str
    """`coverage`, `correctness` or `sourcing`; counts where the node is a leaf."""
    weight: Fraction
    """Its weight among those with the same parent, which need not add up to 1."""
    parent: str
    """Id of the node above it; `ROOT` where there is none."""


def criteria_in(gold: Mapping[str, Json]) -> list[Criterion] | None:
    """Return the criteria of gold in its order; None where one has no id or kind."""
    tables = cast("list[dict[str, str | None]]", gold["criteria"])
    if any(table["id"] is None or table["kind"] is None for table in tables):
        return None
    return [
        Criterion(
            id=str(table["id"]),
            kind=str(table["kind"]),
            weight=parse_rational(str(table["weight"])),
            parent=table.get("parent") or ROOT,
        )
        for table in tables
    ]


def node_bounds(
    criteria: Sequence[Criterion], values: Mapping[str, Fraction], kind: str | None
) -> dict[str, Bounds]:
    """Return between what each node lies, by id and from the root down; `ROOT` is the whole.

    A node of which something was said has that value, whatever was said below it. A leaf of which
    nothing was said lies from 0 to 1; any other node is the mean of those below it by weight. A
    node below which nothing of the kind weighs has no value and is not among them.

    Args:
        criteria: the tree.
        values: what was said, from 0 to 1, by id.
        kind: only what leaves of this kind make; None for leaves of every kind.
    """
    below: defaultdict[str, list[Criterion]] = defaultdict(list)
    for criterion in criteria:
        below[criterion.parent].append(criterion)
    order = [Criterion(id=ROOT, kind="", weight=Fraction(1), parent=ROOT)]
    for node in order:
        order += below[node.id]
    found: dict[str, Bounds] = {}
    for node in reversed(order):
        own = values.get(node.id)
        if not below[node.id]:
            known = (own, own) if own is not None else (Fraction(0), Fraction(1))
            if node.id != ROOT and kind in {None, node.kind}:
                found[node.id] = known
            continue
        weighing = [child for child in below[node.id] if child.weight and child.id in found]
        total = sum((child.weight for child in weighing), Fraction(0))
        if weighing:
            low, high = (
                sum((child.weight * found[child.id][end] for child in weighing), Fraction(0))
                for end in (0, 1)
            )
            found[node.id] = (low / total, high / total) if own is None else (own, own)
    return {node.id: found[node.id] for node in order if node.id in found}
