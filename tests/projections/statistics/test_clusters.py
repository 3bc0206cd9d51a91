"""Clustered standard errors and intervals: against definitions written out, and their edges."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.clusters import (
    cluster_errors,
    cluster_t,
    cluster_wilson,
    clusters_of,
    question_means,
)
from trial_projections.statistics.proportions import wilson
from trial_projections.statistics.result import Result, known, undefined

ONE = "one question says nothing about the spread between questions"
Scores = list[list[Fraction]]

scores = st.fractions(0, 1, max_denominator=6)
questions = st.lists(st.lists(scores, min_size=1, max_size=4), min_size=2, max_size=6)


def squares(rows: Scores) -> tuple[Fraction, Fraction, Fraction]:
    """Return the naive, the CR1 and Miller's squared standard error, as they are defined."""
    flat = [score for row in rows for score in row]
    n, c = len(flat), len(rows)
    mean = sum(flat, Fraction(0)) / n
    naive = sum(((s - mean) ** 2 for s in flat), Fraction(0)) / (n * (n - 1))
    between = sum((sum((s - mean for s in row), Fraction(0)) ** 2 for row in rows), Fraction(0))
    apart = Fraction(0)
    for row in rows:
        for i, first in enumerate(row):
            for j, second in enumerate(row):
                apart += (first - mean) * (second - mean) * (i != j)
    return naive, between * Fraction(c, c - 1) / n**2, naive + apart / n**2


def is_root(found: Result[Decimal], square: Fraction) -> bool:
    """Return whether a result is the root of a square, to 48 digits."""
    assert found.value is not None
    return abs(Fraction(found.value) ** 2 - square) <= square / 10**48


@given(questions)
def test_errors_are_what_their_definitions_say(rows: Scores) -> None:
    """Sums over kinds of clusters give the same as sums over all pairs of scores."""
    found = cluster_errors(clusters_of(rows))
    naive, robust, miller = squares(rows)
    assert is_root(found.naive, naive)
    assert is_root(found.cr1, robust)
    assert is_root(found.miller, miller)
    if naive:
        assert found.design_effect == known(robust / naive)
    else:
        assert found.design_effect == undefined("all scores are equal")


@given(questions)
def test_questions_alike_weigh_alike(rows: Scores) -> None:
    """With as many repetitions everywhere, means of questions have the error of all scores."""
    even = [(row * 4)[:4] for row in rows]
    one, two = cluster_errors(clusters_of(even)), cluster_errors(question_means(clusters_of(even)))
    assert (one.mean, one.cr1) == (two.mean, two.cr1)


@given(questions)
def test_a_wilson_interval_holds_the_mean(rows: Scores) -> None:
    """Within 0 and 1, whichever mean is asked for; its effective number is at most all scores."""
    for by_question in (False, True):
        found = cluster_wilson(clusters_of(rows), by_question=by_question)
        assert found.interval.value is not None
        assert found.mean.value is not None
        assert 0 <= found.interval.value.low <= found.mean.value <= found.interval.value.high <= 1
        assert found.effective.value is not None
        assert 0 < found.effective.value <= sum(map(len, rows))


def test_all_right_is_never_certain() -> None:
    """A hundred trials of twenty questions tell as much as twenty, and none right likewise."""
    for score in (0, 1):
        found = cluster_wilson(clusters_of([[score] * 5] * 20))
        assert found.interval == known(wilson(20 * score, 20))
        assert found.effective == known(Decimal(20))


def test_equal_questions_tell_as_much_as_all_trials() -> None:
    """Where each question is right half of the time, nothing speaks for fewer units."""
    found = cluster_wilson(clusters_of([[0, 1]] * 8))
    assert found.interval == known(wilson(8, 16))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([], "there is no value"), ([[]], "there is no value"), ([[1, 0, 1]], ONE)],
)
def test_one_question_has_no_interval(rows: Sequence[Sequence[int]], reason: str) -> None:
    """Nor has none: unknown is not a width of 0."""
    clusters = clusters_of(rows)
    for found in (cluster_wilson(clusters), cluster_t(clusters)):
        assert found.interval == undefined(reason)
    assert cluster_errors(clusters).cr1 == undefined(reason)


def test_one_value_has_no_error() -> None:
    """Other tools say 0."""
    found = cluster_errors(clusters_of([[1]]))
    assert found.mean == known(Fraction(1))
    assert found.naive == found.miller == undefined("one value has no spread")
    assert found.cr1 == undefined(ONE)
    assert found.design_effect == undefined("one value has no spread")
    nothing = cluster_errors({})
    assert nothing.mean == nothing.design_effect == undefined("there is no value")


def test_a_t_interval_of_equal_questions_is_no_point() -> None:
    """Where nothing varies, t says nothing; on another scale it is wide on both sides."""
    alike = cluster_t(clusters_of([[2], [2], [2]]))
    assert alike.interval == undefined("all questions score alike, which shows no spread")
    found = cluster_t(clusters_of([[-3], [5], [10]]))
    assert found.interval.value is not None
    assert found.interval.value.low + found.interval.value.high == 8
    assert found.effective.reason == "a t interval has no effective number"


def test_wilson_is_for_scores_from_0_to_1() -> None:
    """A mean beyond has none."""
    found = cluster_wilson(clusters_of([[2], [3]]))
    assert found.interval == undefined("scores are not from 0 to 1")
    assert found.mean == known(Fraction(5, 2))
