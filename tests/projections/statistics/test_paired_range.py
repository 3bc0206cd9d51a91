"""Differences of which some are undecided: nothing that may be decided is beyond what is told."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trial_projections.statistics import paired_range
from trial_projections.statistics.paired import paired_difference, sign_flip
from trial_projections.statistics.paired_range import LEAST_P, ranged_interval, ranged_test
from trial_projections.statistics.result import Result

EIGHTH = Fraction(1, 8)
numbers = st.integers(-8, 8).map(lambda number: number * EIGHTH)
spans = st.lists(st.tuples(numbers, numbers).map(lambda pair: (min(pair), max(pair))), min_size=2,
                 max_size=5)  # fmt: skip
places = st.lists(st.sampled_from([Fraction(0), EIGHTH, Fraction(1, 2), Fraction(1)]), min_size=5,
                  max_size=5)  # fmt: skip
Spans = list[tuple[Fraction, Fraction]]


def chosen(found: Spans, where: list[Fraction]) -> list[Fraction]:
    """Return one way to decide what is undecided."""
    return [low + (high - low) * part for (low, high), part in zip(found, where, strict=False)]


@settings(max_examples=60)
@given(spans, places, st.sampled_from([1, 2_000]))
def test_the_interval_covers_that_of_every_way_to_decide(
    found: Spans, where: list[Fraction], most: int
) -> None:
    """Ends, eighths and halves; where corners are too many it is wider, and never narrower."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired_range, "MOST_CORNERS", most)
        told = ranged_interval(found)
    one = chosen(found, where)
    interval = paired_difference(one, [Fraction(0)] * len(one)).interval
    if told.value is None:
        ends = (chosen(found, list(ends)) for ends in product((Fraction(0), Fraction(1)), repeat=5))
        assert any(len(set(differences)) == 1 for differences in ends)
    elif interval.value is not None:
        assert told.value.low <= interval.value.low
        assert interval.value.high <= told.value.high
        if all(low == high for low, high in found):
            assert told == interval


@settings(max_examples=60)
@given(spans, places)
def test_no_way_to_decide_has_a_larger_p_value(found: Spans, where: list[Fraction]) -> None:
    """Every one is counted; the one that is told is that of some way, or 1."""
    told = ranged_test(found)
    whole = [int(each * 64) for each in chosen(found, where)]
    assert told.name == "sign-flip"
    p = sign_flip(whole).value
    assert p is not None
    assert p <= told.p
    if all(low == high for low, high in found):
        assert p == told.p


@settings(max_examples=40)
@given(spans, places, st.sampled_from([1, 2_000]))
def test_students_p_value_is_the_largest_as_well(
    found: Spans, where: list[Fraction], most: int
) -> None:
    """Where counting takes too long; the mean over its error is least at a corner."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired_range, "MOST_CORNERS", most)
        patch.setattr(paired_range, "sign_flip", uncounted)
        told = ranged_test(found)
        one = chosen(found, where)
        single = ranged_test([(each, each) for each in one])
    if {told.name, single.name} == {"paired t"} and len(set(one)) > 1:
        assert single.p <= told.p


def uncounted(differences: list[int]) -> Result[Fraction]:
    """Count nothing but differences of one sign."""
    return sign_flip(differences, limit=0)


def test_the_spread_between_the_ends_is_looked_at() -> None:
    """The interval of the most difference reaches lower than that of the least one."""
    half, one = Fraction(1, 2), Fraction(1)
    found = [(half, half)] * 8 + [(half - EIGHTH, one)]
    least, most = (
        paired_difference([span[end] for span in found], [Fraction(0)] * 9).interval.value
        for end in (0, 1)
    )
    told = ranged_interval(found).value
    assert told is not None
    assert least is not None
    assert most is not None
    assert most.low < least.low
    assert (told.low, told.high) == (most.low, most.high)


def test_thousands_that_all_changed_are_counted_all_the_same() -> None:
    """All of one sign is 2 in 2^n however many; a p-value below 10^-40 is told as that."""
    one, zero = Fraction(1), Fraction(0)
    assert sign_flip([3] * 20_000).value == Fraction(2, 2**20_000)
    told = ranged_test([(one, one)] * 20_000)
    assert (told.name, told.p) == ("sign-flip", LEAST_P)
    assert ranged_test([(one, one)] * 5 + [(zero, zero)]).p == Fraction(1, 16)
    far = ranged_test([(one, one)] * 19_000 + [(-one, -one)])
    assert (far.name, far.p) == ("paired t", LEAST_P)
