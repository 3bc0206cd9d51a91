"""Variance, power, families of tests, draws: definitions written out, and what has no number."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.drawing import draw, quota, quotas
from trial_projections.statistics.multiplicity import adjust
from trial_projections.statistics.power import (
    Needed,
    PairedVariance,
    detectable_difference,
    questions_needed,
    questions_needed_once,
)
from trial_projections.statistics.result import Result, known, undefined
from trial_projections.statistics.variance import (
    nested_components,
    variance_components,
    variance_of_mean,
)

SPREAD = PairedVariance(
    questions=Fraction(1, 9), first=0, second=0, first_repetitions=1, second_repetitions=1
)
p_values = st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=8)


@given(p_values)
def test_adjusted_values_keep_the_order_and_grow_with_caution(values: list[Fraction]) -> None:
    """Bonferroni is never below Holm, nor Holm or the dependent rule below Benjamini-Hochberg."""
    found = {
        method: [each.value for each in adjust(values, method)]
        for method in ("bonferroni", "holm", "bh", "by")
    }
    for place, p in enumerate(values):
        one, holm, bh, by = (found[method][place] for method in found)
        assert one is not None
        assert holm is not None
        assert bh is not None
        assert by is not None
        assert p <= bh <= holm <= one <= 1
        assert bh <= by <= 1
    for adjusted in found.values():
        ordered = [value for _, value in sorted(zip(values, adjusted, strict=True))]
        assert all(a is not None and b is not None and a <= b for a, b in pairwise(ordered))


def test_an_untested_comparison_still_counts() -> None:
    """It was planned, so the others are judged among two; of none there is nothing."""
    assert adjust([Fraction(1, 50), None], "holm") == [
        known(Fraction(1, 25)),
        undefined("the comparison was not tested"),
    ]
    assert adjust([], "by") == []


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=6))
def test_components_make_up_the_variance_of_the_mean(groups: list[list[int]]) -> None:
    """Between plus within over K, over n, is the mean square of questions over all scores."""
    found = variance_components(groups)
    assert found.between_square.value is not None
    assert found.between_raw.value is not None
    assert found.within.value is not None
    whole = variance_of_mean(found.between_raw.value, found.within.value, 2, len(groups))
    assert whole == found.between_square.value / (2 * len(groups))
    nested = nested_components([[[score] for score in group] for group in groups])
    assert nested.question_square == found.between_square
    assert nested.repetition_square == found.within_square
    assert nested.judge == undefined("one pass has no spread")


def test_what_a_design_cannot_tell_apart_has_no_value() -> None:
    """One question, one repetition, equal scores, uneven passes, nothing."""
    one = variance_components([[1, 0]])
    assert one.between == one.size == undefined("one question has no spread between questions")
    assert one.within == known(Fraction(1, 2))
    single = variance_components([[1], [0]])
    assert (
        single.within
        == single.between
        == undefined("one repetition has no spread within a question")
    )
    equal = variance_components([[1, 1], [1, 1]])
    assert equal.correlation == undefined("all scores are equal")
    assert variance_components([]).between_square.value is None
    designs: list[Sequence[Sequence[Sequence[int]]]]
    designs = [[], [[]], [[[]]], [[[1]], [[1], [0]]], [[[1, 0]], [[1]]]]
    for data in designs:
        uneven = nested_components(data)
        assert uneven.mean == undefined("questions have different numbers of repetitions or passes")
    lone = nested_components([[[1, 0], [1, 1]]])
    assert lone.mean == undefined("one question has no spread between questions")


@given(st.integers(2, 5000))
def test_needed_and_detectable_are_inverse(count: int) -> None:
    """So many questions show a difference for which so many are needed."""
    difference = detectable_difference(count, SPREAD).value
    assert difference is not None
    needed = questions_needed(Fraction(difference), SPREAD).value
    assert needed is not None
    assert abs(needed.exact - count) < Fraction(1, 10**40)
    assert needed.count in {count, count + 1}


def test_no_number_shows_no_difference() -> None:
    """And no question shows any."""
    none: Result[Needed] = undefined("no number of questions shows a difference of 0")
    assert questions_needed(0, SPREAD) == questions_needed_once(Fraction(1, 5), 0) == none
    assert detectable_difference(0, SPREAD) == undefined("there is no question")
    with pytest.raises(AssertionError, match="power"):
        questions_needed(1, SPREAD, power=Fraction(1, 2))


@given(st.lists(st.integers(0, 300), max_size=5), st.integers(0, 20))
def test_quotas_are_a_tenth_of_each_and_of_all(sizes: list[int], floor: int) -> None:
    """And the floor of each, as far as there are as many."""
    found = quotas({str(place): size for place, size in enumerate(sizes)}, floor)
    assert all(10 * found[str(place)] >= size for place, size in enumerate(sizes))
    assert 10 * sum(found.values()) >= sum(sizes)
    assert all(quota(size, floor) >= min(size, floor) for size in sizes)


@given(st.sets(st.text(max_size=5), max_size=12), st.text(max_size=4), st.integers(0, 12))
def test_a_draw_depends_on_seed_and_names_alone(names: set[str], seed: str, count: int) -> None:
    """In any order the same; a larger one only adds."""
    found = draw(sorted(names), seed, count)
    assert found == draw(sorted(names, reverse=True), seed, count)
    assert found == draw(names, seed, count + 1)[:count]
    assert len(found) == min(count, len(names))
