"""Paired comparisons: exact tests against counting everything, edges without a number."""

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.paired import mcnemar, paired_difference, sign_flip
from trial_projections.statistics.result import known, undefined


@given(st.lists(st.integers(-4, 4), max_size=8))
def test_a_sign_flip_counts_every_choice_of_signs(differences: list[int]) -> None:
    """One by one, the choices at least as far from 0 are as many."""
    seen = abs(sum(differences))
    sums = [
        sum(sign * each for sign, each in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    share = Fraction(sum(abs(total) >= seen for total in sums), len(sums))
    assert sign_flip(differences) == known(share)


@given(st.integers(0, 60), st.integers(0, 60))
def test_one_repetition_makes_it_mcnemars_test(b: int, c: int) -> None:
    """Both count the same choices; the mid-p-value takes half of what is as likely."""
    found = mcnemar(b, c)
    assert sign_flip([1] * b + [-1] * c) == known(found.exact)
    assert found.mid <= found.exact <= 1
    if b != c:
        assert found.exact - found.mid == Fraction(comb(b + c, b), 2 ** (b + c))
    else:
        assert found.exact == found.mid + (found.exact - found.mid) == 1


def test_no_pair_differs() -> None:
    """P is 1 and there is no statistic; a correction never goes beyond 0."""
    none = mcnemar(0, 0)
    assert none.exact == none.mid == 1
    assert none.statistic == none.corrected == undefined("no pair differs")
    assert mcnemar(4, 4).corrected == known(Fraction(0))


def test_too_many_to_count_is_said() -> None:
    """The limit is one of the caller's; a large case within it is counted."""
    assert sign_flip([3, -2], limit=4).reason is not None
    large = sign_flip([5, -4, 3, 0, 1] * 150)
    assert large.value is not None
    assert 0 < large.value < Fraction(1, 10**9)


@pytest.mark.parametrize(("n", "reason"), [(0, "there is no pair"), (1, "one pair has no spread")])
def test_too_few_pairs_have_no_error(n: int, reason: str) -> None:
    """One pair has a difference and nothing else."""
    found = paired_difference([1] * n, [0] * n)
    assert found.error == found.unpaired_error == found.correlation == undefined(reason)
    assert found.interval == undefined(reason)
    assert found.difference == (known(Fraction(1)) if n else undefined(reason))


means = st.lists(
    st.tuples(st.fractions(0, 1, max_denominator=5), st.fractions(0, 1, max_denominator=5)),
    min_size=2,
    max_size=8,
)


@given(means)
def test_pairing_takes_off_what_is_common(pairs: list[tuple[Fraction, Fraction]]) -> None:
    """SE² of the pairs is that of strangers less twice the covariance over n, never negative."""
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found, back = paired_difference(first, second), paired_difference(second, first)
    assert found.difference.value is not None
    assert back.difference.value == -found.difference.value
    assert back.error == found.error
    assert found.error.value is not None
    assert found.unpaired_error.value is not None
    if found.correlation.value is None:
        assert found.correlation == undefined("one side has no spread")
        assert found.error == found.unpaired_error
    else:
        assert -1 <= found.correlation.value <= 1
        assert (found.correlation.value > 0) == (found.error.value < found.unpaired_error.value)
