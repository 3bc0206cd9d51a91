"""Agreement of two sequences of labels, and majorities: reference cases and symmetry."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.agreement import agreement, majority
from trial_projections.statistics.result import undefined

TABLES = (
    (((20, 5), (10, 15)), Fraction(7, 10), Fraction(2, 5)),
    (((118, 5), (2, 0)), Fraction(118, 125), Fraction(-4, 171)),
    (((7, 0), (0, 0)), Fraction(1), None),
    (((0, 5), (5, 0)), Fraction(0), Fraction(-1)),
)
"""Counts of label pairs, share of equal ones, Cohen's kappa (scikit-learn, irrCAC)."""

Table = tuple[tuple[int, ...], ...]


def pairs_of(table: Table) -> Iterator[tuple[int, int]]:
    """Yield the pairs that a table counts."""
    for first, row in enumerate(table):
        for second, times in enumerate(row):
            yield from [(first, second)] * times


@pytest.mark.parametrize(("table", "share", "kappa"), TABLES)
def test_kappa_of_reference_tables(table: Table, share: Fraction, kappa: Fraction | None) -> None:
    """The published values; where every label is the same there is none."""
    found = agreement(pairs_of(table))
    assert (found.share.value, found.kappa.value) == (share, kappa)


def test_nothing_in_common_is_no_agreement_of_zero() -> None:
    """Without a pair every number is undefined."""
    found = agreement([])
    assert (found.count, found.equal) == (0, 0)
    assert found.share == found.chance == found.kappa == undefined("nothing is labelled by both")


labels = st.sampled_from("abc")
pairs = st.lists(st.tuples(labels, labels), max_size=20)


@given(pairs)
def test_agreement_has_no_first_and_second(given_pairs: list[tuple[str, str]]) -> None:
    """Exchanged sequences agree alike; kappa never exceeds 1, and is 1 only where all is equal."""
    found = agreement(given_pairs)
    assert found == agreement([(second, first) for first, second in given_pairs])
    if found.kappa.value is not None:
        assert found.kappa.value <= 1
        assert (found.kappa.value == 1) == (found.equal == found.count)


def test_a_majority_is_more_than_half() -> None:
    """A tie, a three-way split and nothing at all have none."""
    assert majority(["a", "b", "a"]) == "a"
    assert majority(["a", "b"]) is None
    assert majority(["a", "b", "c"]) is None
    assert majority([]) is None
