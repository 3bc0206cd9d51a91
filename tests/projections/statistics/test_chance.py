"""Agreement beyond chance: tables, many raters, weights, and what one category leaves undefined."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.agreement import agreement
from trial_projections.statistics.chance import (
    krippendorff_alpha,
    table_agreement,
    weighted_agreement,
)
from trial_projections.statistics.result import Result, known, undefined

tables = st.integers(2, 4).flatmap(
    lambda q: st.lists(st.lists(st.integers(0, 5), min_size=q, max_size=q), min_size=q, max_size=q)
)
Table = list[list[int]]


def pairs_of(table: Table) -> list[tuple[int, int]]:
    """Return the pairs that a table counts."""
    return [
        (first, second)
        for first, row in enumerate(table)
        for second, times in enumerate(row)
        for _ in range(times)
    ]


@given(tables.filter(lambda table: any(map(any, table))))
def test_a_table_says_what_its_pairs_say(table: Table) -> None:
    """Kappa is that of the pairs, alpha that of the units, AC1 that of two raters."""
    found, pairs = table_agreement(table), pairs_of(table)
    assert found.kappa.value == agreement(pairs).kappa.value
    assert found.alpha.value == krippendorff_alpha(pairs).value
    assert found.observed.value == agreement(pairs).share.value
    q = len(table)
    counts = [[pair.count(label) for label in range(q)] for pair in pairs]
    assert weighted_agreement(counts).coefficient == found.ac1


@given(tables.filter(lambda table: any(map(any, table))), st.integers(2, 5))
def test_weights_that_are_alike_change_nothing(table: Table, weight: int) -> None:
    """A table of shares has the coefficients of the counts, where the labels are counted apart."""
    labels = 2 * sum(map(sum, table))
    weighted = [[Fraction(cell, weight) for cell in row] for row in table]
    assert table_agreement(weighted, labels) == table_agreement(table)


def test_one_category_is_no_agreement_beyond_chance() -> None:
    """Other tools say 1, or not-a-number; nothing at all has no coefficient either."""
    found = table_agreement([[7]])
    alike: Result[Fraction] = undefined("all labels are the same")
    assert found.kappa == found.pi == found.pabak == found.ac1 == found.alpha == alike
    assert found.observed == known(Fraction(1))
    nothing = table_agreement([[0, 0], [0, 0]])
    assert nothing.kappa == nothing.observed == undefined("nothing was labelled by both")
    assert krippendorff_alpha([[1, 1], [1, 1]]) == alike
    assert krippendorff_alpha([[1, None], []]) == undefined("no unit has two labels")
    assert weighted_agreement([[1, 0]]).coefficient == undefined("no unit has two labels")
    assert weighted_agreement([[2], [3]]).coefficient == alike


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_perfect_agreement_is_1(distance: str) -> None:
    """On every scale, and what was labelled once changes nothing."""
    units = [[1, 1], [2, 2, None], [4, 4], [9]]
    assert krippendorff_alpha(units, distance) == known(Fraction(1))  # type: ignore[arg-type]


def test_near_labels_are_nearer_on_a_scale() -> None:
    """A miss by one is worse than nothing in common only where labels have no order."""
    units = [[1, 2], [2, 3], [3, 4], [4, 5], [1, 1], [5, 5]]
    nominal, interval = krippendorff_alpha(units), krippendorff_alpha(units, "interval")
    assert nominal.value is not None
    assert interval.value is not None
    assert nominal.value < Fraction(1, 3) < interval.value
