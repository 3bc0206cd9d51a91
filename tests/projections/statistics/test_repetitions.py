"""pass@k and pass^k: reference cases of the published code, bounds, order."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.repetitions import mean_over_questions, pass_at_k, pass_hat_k
from trial_projections.statistics.result import Result, known, undefined

AT_CASES = (
    (10, 3, 5, "11/12"),
    (200, 13, 10, "78115540005393/157000030132960"),
    (4, 0, 2, "0"),
    (4, 4, 2, "1"),
    (5, 2, 1, "2/5"),
    (5, 2, 2, "7/10"),
)
"""n, c, k and pass@k as the published `estimate_pass_at_k` gives it (openai/human-eval)."""
HAT_CASES = (
    (4, 0, 1, "0"),
    (4, 3, 2, "1/2"),
    (4, 3, 3, "1/4"),
    (4, 3, 4, "0"),
    (8, 6, 4, "3/14"),
)
"""n, c, k and pass^k as the published `pass_hat_k` gives it (sierra-research/tau2-bench)."""


@pytest.mark.parametrize(("n", "c", "k", "value"), AT_CASES)
def test_pass_at_k_is_the_unbiased_estimator(n: int, c: int, k: int, value: str) -> None:
    """What the code of its paper gives, exactly."""
    assert pass_at_k(n, c, k) == known(Fraction(value))


@pytest.mark.parametrize(("n", "c", "k", "value"), HAT_CASES)
def test_pass_hat_k_is_that_of_its_benchmark(n: int, c: int, k: int, value: str) -> None:
    """What the benchmark's own code gives, exactly."""
    assert pass_hat_k(n, c, k) == known(Fraction(value))


def test_fewer_repetitions_than_k_have_no_number() -> None:
    """Neither 0 nor the number of a smaller k."""
    few: Result[Fraction] = undefined("2 repetitions, and 3 are chosen")
    assert pass_at_k(2, 1, 3) == pass_hat_k(2, 1, 3) == few
    assert mean_over_questions(pass_at_k, [(4, 1), (2, 1)], 3) == few
    assert mean_over_questions(pass_at_k, [], 1) == undefined("there is no question")


def test_questions_weigh_alike() -> None:
    """The mean of three questions, and of a benchmark that lost one of four tries."""
    assert mean_over_questions(pass_at_k, [(4, 3), (4, 1), (4, 4)], 2) == known(Fraction(5, 6))
    whole, lost = [(4, 3), (4, 1), (4, 4)], [(4, 3), (4, 1), (4, 3)]
    assert mean_over_questions(pass_hat_k, whole, 3) == known(Fraction(5, 12))
    assert mean_over_questions(pass_hat_k, whole, 4) == known(Fraction(1, 3))
    assert [mean_over_questions(pass_hat_k, lost, k).value for k in (1, 2, 3, 4)] == [
        Fraction(7, 12),
        Fraction(1, 3),
        Fraction(1, 6),
        0,
    ]


tries = st.lists(st.booleans(), min_size=1, max_size=7)


@given(tries, st.integers(1, 7))
def test_both_are_the_mean_over_every_choice(passed: list[bool], k: int) -> None:
    """Counting every choice one by one gives the same."""
    n, c = len(passed), sum(passed)
    choices = list(combinations(passed, k))
    expected = (
        (
            Fraction(sum(map(any, choices)), len(choices)),
            Fraction(sum(map(all, choices)), len(choices)),
        )
        if choices
        else (None, None)
    )
    assert (pass_at_k(n, c, k).value, pass_hat_k(n, c, k).value) == expected
