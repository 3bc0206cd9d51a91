"""Estimates corrected for a judge: identities between the methods, coverage, and edges."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.correction import (
    Stratum,
    judge_accuracy,
    rogan_gladen,
    rogan_gladen_interval,
    stratified,
    stratified_mover,
)
from trial_projections.statistics.prediction import prediction_powered_mean
from trial_projections.statistics.result import Result, known, undefined

UNREVIEWED: Result[Fraction] = undefined("a stratum has no review")


def strata(least: int) -> st.SearchStrategy[Stratum]:
    """Return strata of which at least so many were reviewed."""
    return st.integers(least, 40).flatmap(
        lambda n: st.tuples(st.integers(n, 90), st.just(n), st.integers(0, n)).map(
            lambda row: Stratum(*row)
        )
    )


@given(strata(2), strata(2))
def test_weighted_accuracy_gives_the_stratified_estimate(passed: Stratum, failed: Stratum) -> None:
    """Rogan and Gladen with weights, the difference estimator and the strata are one number."""
    whole = passed.trials + failed.trials
    share = Fraction(passed.trials, whole)
    estimate = stratified([passed, failed]).value.value
    accuracy = judge_accuracy(passed, failed)
    assert accuracy.right.value == estimate
    se, sp = accuracy.sensitivity.value, accuracy.specificity.value
    if se is not None and sp is not None and se + sp > 1:
        assert rogan_gladen(share, se, sp).value == estimate


@given(strata(2), strata(2))
def test_limits_hold_the_estimate_and_stay_a_share(one: Stratum, two: Stratum) -> None:
    """Only a census has no width."""
    found = stratified_mover([one, two])
    assert found.value == stratified([one, two]).value
    assert found.value.value is not None
    assert found.interval.value is not None
    low, high = Fraction(found.interval.value.low), Fraction(found.interval.value.high)
    ulp = Fraction(1, 10**48)
    assert 0 <= low <= found.value.value + ulp <= high + 2 * ulp <= 1 + 2 * ulp
    census = all(s.reviewed == s.trials for s in (one, two))
    assert (low == high) == census


def test_what_was_not_reviewed_is_not_guessed() -> None:
    """A stratum with trials and no review leaves nothing; one without trials is none."""
    gap = [Stratum(70, 7, 6), Stratum(30, 0, 0)]
    for method in (stratified, stratified_mover):
        assert method(gap).value == UNREVIEWED
        assert method(gap).interval.reason == UNREVIEWED.reason
        assert method([]).value == undefined("there is no judged trial")
        assert method([Stratum(0, 0, 0), *gap[:1]]).value == known(Fraction(6, 7))
    accuracy = judge_accuracy(*gap)
    assert accuracy.sensitivity == accuracy.right == UNREVIEWED
    assert accuracy.agreement.kappa.value is None


def test_one_review_of_many_has_no_variance() -> None:
    """The normal interval is undefined; the other one is wide."""
    rows = [Stratum(70, 7, 6), Stratum(30, 1, 0)]
    found = stratified(rows)
    assert found.value.value is not None
    assert found.error == undefined("one review of a stratum has no spread")
    assert found.interval.reason == found.error.reason
    assert stratified_mover(rows).interval.value is not None
    assert stratified([Stratum(1, 1, 1)]).error.value == 0


def test_one_sided_reviews_have_half_an_accuracy() -> None:
    """Where reviewers found everything right, nothing says how a judge treats wrong ones."""
    found = judge_accuracy(Stratum(9, 9, 9), Stratum(0, 0, 0))
    assert found.sensitivity == known(Fraction(1))
    assert found.specificity == undefined("no reviewed trial is wrong")


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    """Neither estimate nor interval; and nothing comes of an empty set."""
    reason = "sensitivity and specificity add up to 1 or less: the judge is no better than chance"
    half = Fraction(1, 2)
    assert rogan_gladen(half, half, half) == undefined(reason)
    assert rogan_gladen_interval((half, 9), (half, 9), (half, 9)) == undefined(reason)
    nothing = prediction_powered_mean([], [], [1])
    assert nothing.value == undefined("a set has no trial")
    assert nothing.error.reason == nothing.interval.reason == nothing.value.reason


@pytest.mark.parametrize("weight", [0, Fraction(1, 2), 1])
def test_a_judge_who_agrees_adds_no_bias(weight: Fraction) -> None:
    """Where it says what people say on both sets alike, the estimate is their mean."""
    found = prediction_powered_mean([1, 0, 1], [1, 0, 1], [0, 1, 1], weight=weight)
    assert found.value == known(Fraction(2, 3))
