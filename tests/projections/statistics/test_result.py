"""Results: a value or a reason; roundings of decimals, each once."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.decimals import (
    exact_total,
    root_of,
    round_places,
    shown_text,
)
from trial_projections.statistics.result import Result, because, known, ratio_of, undefined


def test_a_result_has_a_value_or_a_reason() -> None:
    """Neither both nor neither; 0 is a value."""
    with pytest.raises(AssertionError, match="either"):
        Result(None)
    with pytest.raises(AssertionError, match="either"):
        Result(1, "why")
    assert known(0).value == 0


def test_a_share_of_nothing_is_not_0() -> None:
    """It is undefined, and the reason is handed on."""
    nothing: Result[Fraction] = ratio_of(0, 0)
    assert nothing == undefined("there is nothing to count")
    handed: Result[Fraction] = because(known(1), nothing)
    assert handed == nothing
    assert ratio_of(0, 3) == known(Fraction(0))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(2, 3), "0.666666666667"),
        (7, "7"),
        (Decimal("0.0606155234123456789"), "0.0606155234123"),
        # Exactly between two: to the even one.
        (Decimal("1.000000000005"), "1"),
        (Decimal("1.000000000015"), "1.00000000002"),
        (Decimal(123456789012345), "123456789012000"),
    ],
)
def test_what_is_shown_has_twelve_digits(value: Decimal | Fraction | int, text: str) -> None:
    """Rounded once, half to even, and without an exponent."""
    assert shown_text(value) == text


def test_roundings_start_from_the_text() -> None:
    """A binary float would have made 0.135 less than it says."""
    assert [round_places(text, 2) for text in ("0.125", "0.135", "-0.125", "7")] == [
        "0.12", "0.14", "-0.12", "7.00",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="not a decimal"):
        round_places("NaN", 2)


def test_a_sum_does_not_depend_on_its_order() -> None:
    """Nothing is lost between large and small."""
    texts = ["1e16", "1", "-1e16", "0.1"]
    assert exact_total(texts) == exact_total(texts[::-1]) == Fraction(11, 10)


@given(st.fractions(0, 10**6))
def test_a_root_is_right_to_fifty_digits(square: Fraction) -> None:
    """Squared exactly, it is the number again."""
    found = Fraction(root_of(square))
    assert abs(found * found - square) <= square / 10**48
