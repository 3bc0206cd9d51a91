"""What a review says about all judged trials: weighted agreement and the corrected share."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.exact import fraction_from_decimal_text, parse_rational
from trial_projections.review_estimate import ReviewedStratum, estimate_of

Pair = tuple[str, str]
BOTH: Pair = ("correct", "correct")
LOST: Pair = ("correct", "incorrect")
WRONG: Pair = ("incorrect", "incorrect")
FOUND: Pair = ("incorrect", "correct")


def test_every_reviewed_trial_stands_for_its_stratum() -> None:
    """90 judged right, of 10 reviewed one is wrong; 10 judged wrong, of 5 reviewed one is right."""
    strata = [
        ReviewedStratum(90, 10, [BOTH] * 9 + [LOST]),
        ReviewedStratum(10, 5, [WRONG] * 4 + [FOUND]),
    ]
    found = estimate_of(strata)
    assert (found.agree, found.right, found.reason) == ("89/100", "83/100", None)
    # Observed 89/100, chance 90/100*83/100 + 10/100*17/100 = 191/250.
    assert found.kappa == str((Fraction(89, 100) - Fraction(191, 250)) / (1 - Fraction(191, 250)))
    assert found.low is not None
    assert found.high is not None
    low, high = map(fraction_from_decimal_text, (found.low, found.high))
    assert low < Fraction(83, 100) < high
    assert high - low > Fraction(1, 10)


def test_where_all_are_reviewed_nothing_is_uncertain() -> None:
    """The share is exact, and its interval a point."""
    found = estimate_of([ReviewedStratum(4, 4, [BOTH] * 3 + [LOST])])
    assert (found.right, found.low, found.high) == ("3/4", "0.75", "0.75")


@pytest.mark.parametrize(
    ("strata", "reason"),
    [
        ([], "a stratum has no review"),
        ([ReviewedStratum(9, 5, [BOTH] * 5), ReviewedStratum(1, 1, [])], "a stratum has no review"),
        ([ReviewedStratum(9, 5, [BOTH] * 4)], "not all drawn trials are reviewed"),
        (
            [ReviewedStratum(1, 1, [("correct", "not_gradable")])],
            "a reviewer could not decide a trial",
        ),
    ],
)
def test_no_share_without_the_whole_draw(strata: list[ReviewedStratum], reason: str) -> None:
    """What is unknown is null, with its reason."""
    found = estimate_of(strata)
    assert (found.right, found.low, found.high, found.reason) == (None, None, None, reason)


@given(st.lists(st.sampled_from([BOTH, LOST]), min_size=1, max_size=12), st.integers(0, 40))
def test_the_share_lies_in_its_interval_and_the_interval_in_0_to_1(
    pairs: list[Pair], more: int
) -> None:
    """Of any review of one stratum."""
    found = estimate_of([ReviewedStratum(len(pairs) + more, len(pairs), pairs)])
    assert found.right is not None
    assert found.low is not None
    assert found.high is not None
    low, high = map(fraction_from_decimal_text, (found.low, found.high))
    slack = Fraction(1, 10**9)
    assert -slack <= low <= parse_rational(found.right) + slack
    assert parse_rational(found.right) - slack <= high <= 1 + slack
