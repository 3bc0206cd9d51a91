"""What repetitions of one question say together: passed in any of k tries, passed in all of k.

Invariant: both are the mean over every choice of k of the n repetitions there are, without
replacement and exactly; where there are fewer than k the number does not exist.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import comb

from trial_projections.statistics.result import Result, known, ratio_of, total_of, undefined

__all__ = ["mean_over_questions", "pass_at_k", "pass_hat_k"]

Estimator = Callable[[int, int, int], Result[Fraction]]
"""`pass_at_k` or `pass_hat_k`: of n, c and k."""


def pass_at_k(n: int, c: int, k: int) -> Result[Fraction]:
    """Return the share of choices of k of n repetitions in which at least one passed.

    `1 - C(n-c, k) / C(n, k)`, the unbiased estimator of Chen et al. 2021 (arXiv 2107.03374).

    Args:
        n: repetitions.
        c: how many of them passed.
        k: how many are chosen, at least 1.

    Returns:
        A fraction from 0 to 1; undefined where n is less than k.
    """
    assert 0 <= c <= n, "no more passed than there are"
    assert k >= 1, "a choice of none says nothing"
    return known(1 - Fraction(comb(n - c, k), comb(n, k))) if n >= k else too_few(n, k)


def pass_hat_k(n: int, c: int, k: int) -> Result[Fraction]:
    """Return the share of choices of k of n repetitions in which all passed.

    `C(c, k) / C(n, k)`, pass^k of tau-bench (arXiv 2406.12045).

    Args:
        n: repetitions.
        c: how many of them passed.
        k: how many are chosen, at least 1.

    Returns:
        A fraction from 0 to 1; undefined where n is less than k.
    """
    assert 0 <= c <= n, "no more passed than there are"
    assert k >= 1, "a choice of none says nothing"
    return known(Fraction(comb(c, k), comb(n, k))) if n >= k else too_few(n, k)


def too_few(n: int, k: int) -> Result[Fraction]:
    """Return that so many repetitions leave no choice."""
    return undefined(f"{n} repetitions, and {k} are chosen")


def mean_over_questions(
    estimator: Estimator, counts: Iterable[tuple[int, int]], k: int
) -> Result[Fraction]:
    """Return the mean of an estimator over questions, which weigh alike.

    Args:
        estimator: `pass_at_k` or `pass_hat_k`.
        counts: (repetitions, how many passed) of every question.
        k: how many are chosen.

    Returns:
        Undefined where there is no question, or one has fewer than k repetitions.
    """
    values: list[Fraction] = []
    for n, c in counts:
        found = estimator(n, c, k)
        if found.value is None:
            return found
        values.append(found.value)
    return ratio_of(total_of(values), len(values), "there is no question")
