"""Agreement corrected for chance, of tables and of many raters, weighted where units are.

Invariant: coefficients are exact fractions; where chance alone would give the agreement that was
seen, as with one category, a coefficient is undefined and never 1.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

import msgspec

from trial_projections.statistics.result import Number, Result, known, ratio_of, total_of, undefined

__all__ = [
    "Distance",
    "TableAgreement",
    "WeightedAgreement",
    "krippendorff_alpha",
    "table_agreement",
    "weighted_agreement",
]

Distance = Literal["nominal", "ordinal", "interval", "ratio"]
"""How far two values of a scale differ (Krippendorff 2019, section 12.3)."""

Table = Sequence[Sequence[Number]]

Label = Number | str
"""A label; a number, where distances matter."""

NO_UNIT = "nothing was labelled by both"
ONE_CATEGORY = "all labels are the same"
NO_PAIR = "no unit has two labels"
FEWEST = 2


class TableAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How two raters agree, by a table of what one and what the other said."""

    observed: Result[Fraction]
    """Share of units with the same label."""
    kappa: Result[Fraction]
    """Cohen's kappa (1960): chance from each rater's own shares."""
    pi: Result[Fraction]
    """Scott's pi (1955): chance from the shares of both together."""
    pabak: Result[Fraction]
    """(q·observed - 1)/(q - 1) for q categories (Byrt 1993)."""
    ac1: Result[Fraction]
    """Gwet's AC1 (2008): not drawn down by a rare category."""
    alpha: Result[Fraction]
    """Krippendorff's alpha for nominal labels."""


class WeightedAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How many raters agree, with partial credit."""

    observed: Result[Fraction]
    """Mean over units of the credit of their pairs of labels."""
    chance: Result[Fraction]
    """What chance would give."""
    coefficient: Result[Fraction]
    """Gwet's AC2; AC1 where only equal labels have credit."""


def corrected(observed: Fraction, chance: Fraction) -> Result[Fraction]:
    """Return (observed - chance)/(1 - chance)."""
    return ratio_of(observed - chance, 1 - chance, ONE_CATEGORY)


def table_agreement(table: Table, labels: int | None = None) -> TableAgreement:
    """Return how two raters agree.

    Cells may be weights: of a review drawn at different rates, give each unit the inverse of its
    rate, so that the table stands for all units and not for those that were drawn.

    Args:
        table: for every label of the first rater, how often each label of the second went with it;
            as many columns as rows.
        labels: how many labels were given in all, twice the number of units; what alpha's factor
            for few labels depends on. From the table itself where it holds counts.
    """
    whole = total_of(total_of(row) for row in table)
    q = len(table)
    if not whole:
        none: Result[Fraction] = undefined(NO_UNIT)
        return TableAgreement(**dict.fromkeys(TableAgreement.__struct_fields__, none))
    observed = total_of(Fraction(table[i][i]) for i in range(q)) / whole
    rows = [total_of(row) / whole for row in table]
    columns = [total_of(row[i] for row in table) / whole for i in range(q)]
    both = [(row + column) / 2 for row, column in zip(rows, columns, strict=True)]
    chance = total_of(r * c for r, c in zip(rows, columns, strict=True))
    pooled = total_of(share * share for share in both)
    pi = corrected(observed, pooled)
    count = 2 * whole if labels is None else labels
    alpha = pi if pi.value is None else known(1 - (1 - pi.value) * (count - 1) / count)
    spread = total_of(share * (1 - share) for share in both)
    return TableAgreement(
        observed=known(observed),
        kappa=corrected(observed, chance),
        pi=pi,
        pabak=corrected(observed, Fraction(1, q)),
        ac1=undefined(ONE_CATEGORY) if q == 1 else corrected(observed, spread / (q - 1)),
        alpha=alpha,
    )


def weighted_agreement(counts: Table, credit: Table | None = None) -> WeightedAgreement:
    """Return how many raters agree, by Gwet's AC2 (2014, Handbook, chapter 4).

    Units with one label enter what chance would give, and not what was observed.

    Args:
        counts: of every unit, how many raters gave it each of q labels.
        credit: q rows of q credits, 1 for a label with itself; None for equal labels only.
    """
    rated = [row for row in counts if any(row)]
    several = [row for row in rated if sum(row) >= FEWEST]
    if not several:
        return WeightedAgreement(
            observed=undefined(NO_PAIR), chance=undefined(NO_PAIR), coefficient=undefined(NO_PAIR)
        )
    q = len(several[0])
    weights = credit or [[int(i == j) for j in range(q)] for i in range(q)]
    observed = Fraction(0)
    for row in several:
        near = [
            total_of(Fraction(w) * n for w, n in zip(line, row, strict=True)) for line in weights
        ]
        pairs = total_of(n * (each - 1) for n, each in zip(row, near, strict=True))
        total = sum(row)
        observed += pairs / (total * (total - 1)) / len(several)
    shares = [total_of(Fraction(row[i]) / sum(row) for row in rated) / len(rated) for i in range(q)]
    if q == 1:
        none: Result[Fraction] = undefined(ONE_CATEGORY)
        return WeightedAgreement(observed=known(observed), chance=none, coefficient=none)
    spread = total_of(share * (1 - share) for share in shares)
    total_credit = total_of(total_of(line) for line in weights)
    chance = total_credit * spread / (q * (q - 1))
    return WeightedAgreement(
        observed=known(observed), chance=known(chance), coefficient=corrected(observed, chance)
    )


def krippendorff_alpha(
    units: Iterable[Sequence[Label | None]], distance: Distance = "nominal"
) -> Result[Fraction]:
    """Return Krippendorff's alpha (2011, Computing Krippendorff's Alpha-Reliability).

    Args:
        units: the labels that each unit was given, None for none. Numbers for all but nominal.
        distance: how far two labels differ.

    Returns:
        1 - D_o/D_e from the pairs within units; a unit with fewer than two labels has none.
        Undefined where no two labels differ.
    """
    pairs: dict[tuple[Label, Label], Fraction] = {}
    totals = Counter[Label]()
    for unit in units:
        found = Counter(label for label in unit if label is not None)
        size = found.total()
        if size < FEWEST:
            continue
        for first, times in found.items():
            totals[first] += times
            for second, others in found.items():
                weight = Fraction(times * (others - (first == second)), size - 1)
                pairs[first, second] = pairs.get((first, second), Fraction(0)) + weight
    n = totals.total()
    if not n:
        return undefined(NO_PAIR)
    apart = distances(totals, distance)
    seen = total_of(pairs[pair] * apart[pair] for pair in pairs)
    expected = total_of(totals[a] * totals[b] * apart[a, b] for a, b in apart)
    ratio = ratio_of(seen * (n - 1), expected, ONE_CATEGORY)
    return ratio if ratio.value is None else known(1 - ratio.value)


def distances(
    totals: Mapping[Label, int], distance: Distance
) -> dict[tuple[Label, Label], Fraction]:
    """Return the squared distance of every two labels that occur."""
    if distance == "nominal":
        return {(a, b): Fraction(a != b) for a in totals for b in totals}
    numbers = {label: Fraction(label) for label in totals}
    ordered = sorted(totals, key=numbers.__getitem__)
    below, running = {}, Fraction(0)
    for label in ordered:
        # How many labels lie below the middle of this one's.
        below[label] = running + Fraction(totals[label], 2)
        running += totals[label]
    scale = below if distance == "ordinal" else numbers
    found = {(a, b): (scale[a] - scale[b]) ** 2 for a in ordered for b in ordered}
    if distance == "ratio":
        found = {
            (a, b): apart / (numbers[a] + numbers[b]) ** 2 if apart else apart
            for (a, b), apart in found.items()
        }
    return found
