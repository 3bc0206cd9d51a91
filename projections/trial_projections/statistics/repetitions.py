"""What repetitions of one question say together: passed in any of k tries, passed in all of k.

Invariant: both are the mean over every choice of k of the n repetitions there are, without
replacement and exactly; where there are fewer than k the number does not exist.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import comb

__all__ = ["mean_over_questions", "pass_at_k", "pass_hat_k"]

Estimator = Callable[[int, int, int], Fraction | None]
"""`pass_at_k` or `pass_hat_k`: of n, c and k."""


def pass_at_k(n: int, c: int, k: int) -> Fraction | None:
    """Return the share of choices of k of n repetitions in which at least one passed.

    `1 - C(n-c, k) / C(n, k)`, the unbiased estimator of Chen et al. 2021 (arXiv 2107.03374).

    Args:
        n: repetitions.
        c: how many of them passed.
        k: how many are chosen, at least 1.

    Returns:
        A fraction from 0 to 1; None where n is less than k.
    """
    assert 0 <= c <= n, "no more passed than there are"
    assert k >= 1, "a choice of none says nothing"
    return 1 - Fraction(comb(n - c, k), comb(n, k)) if n >= k else None


def pass_hat_k(n: int, c: int, k: int) -> Fraction | None:
    """Return the share of choices of k of n repetitions in which all passed.

    `C(c, k) / C(n, k)`, pass^k of tau-bench (arXiv 2406.12045).

    Args:
        n: repetitions.
        c: how many of them passed.
        k: how many are chosen, at least 1.

    Returns:
        A fraction from 0 to 1; None where n is less than k.
    """
    assert 0 <= c <= n, "no more passed than there are"
    assert k >= 1, "a choice of none says nothing"
    return Fraction(comb(c, k), comb(n, k)) if n >= k else None


def mean_over_questions(
    estimator: Estimator, counts: Iterable[tuple[int, int]], k: int
) -> Fraction | None:
    """Return the mean of an estimator over questions, which weigh alike.

    Args:
        estimator: `pass_at_k` or `pass_hat_k`.
        counts: (repetitions, how many passed) of every question.
        k: how many are chosen.

    Returns:
        None where there is no question, or one has fewer than k repetitions.
    """
    values: list[Fraction] = []
    for n, c in counts:
        value = estimator(n, c, k)
        if value is None:
            return None
        values.append(value)
    return sum(values, Fraction(0)) / len(values) if values else None
