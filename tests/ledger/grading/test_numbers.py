"""Numbers: read exactly by declared rules, or not at all."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading_cases import fact, graded, part
from trial_ledger.grading.numbers import (
    PLAIN,
    NumberLiteral,
    NumberRules,
    Tolerance,
    find_numbers,
    gold_number,
    is_close,
    read_number,
    value_number,
)

COMMAS = NumberRules(thousands="comma", percent="hundredth", units=("$", "km", "US$", "m"))
EUROPE = NumberRules(decimal="comma", thousands="point", percent="unit", units=("EUR",))


@pytest.mark.parametrize(
    ("text", "rules", "value"),
    [
        ("42", PLAIN, "42"),
        (" -0.50 ", PLAIN, "-1/2"),
        ("+.5", PLAIN, "1/2"),
        ("\N{MINUS SIGN}3", PLAIN, "-3"),
        ("1e3", PLAIN, "1000"),
        ("25E-1", PLAIN, "5/2"),
        ("3/4", PLAIN, "3/4"),
        ("007", PLAIN, "7"),
        ("1,234", PLAIN, None),
        ("5%", PLAIN, None),
        ("$5", PLAIN, None),
        ("5.", PLAIN, None),
        ("", PLAIN, None),
        ("--5", PLAIN, None),
        ("1_000", PLAIN, None),
        ("\u0663", PLAIN, None),
        ("NaN", PLAIN, None),
        ("1e401", PLAIN, None),
        ("1e99999", PLAIN, None),
        ("9" * 401, PLAIN, None),
        ("9" * 400, PLAIN, "9" * 400),
        ("1/0", PLAIN, None),
        ("1,234,567.5", COMMAS, "2469135/2"),
        ("1234", COMMAS, "1234"),
        ("12,34", COMMAS, None),
        ("1,2345", COMMAS, None),
        ("12.5 %", COMMAS, "1/8"),
        ("$1,000", COMMAS, "1000"),
        ("-$5", COMMAS, "-5"),
        ("US$ -5", COMMAS, "-5"),
        ("-$-5", COMMAS, None),
        ("5km", COMMAS, "5"),
        ("5 m", COMMAS, "5"),
        ("5 miles", COMMAS, None),
        ("1.234,5", EUROPE, "2469/2"),
        ("1.5", EUROPE, None),
        ("5 %", EUROPE, "5"),
        ("7 EUR", EUROPE, "7"),
        ("1\u202f000", NumberRules(thousands="blank"), "1000"),
        ("1'000.5", NumberRules(thousands="apostrophe"), "2001/2"),
    ],
)
def test_numbers_are_read_by_declared_rules(
    text: str, rules: NumberRules, value: str | None
) -> None:
    """A separator, unit or percent sign that nobody declared makes a text no number."""
    assert read_number(text, rules) == (None if value is None else Fraction(value))


@pytest.mark.parametrize(
    ("text", "rules", "values"),
    [
        ("It is 42.", PLAIN, ["42"]),
        ("from -3 to 1.5e2, then 7", PLAIN, ["-3", "150", "7"]),
        ("B12 and v2 and x_3", PLAIN, []),
        ("1,234 and 5% and 2nd", PLAIN, [None, None, None]),
        ("3.5.2", PLAIN, [None]),
        ("350-460", PLAIN, ["350", "460"]),
        ("5 miles", COMMAS, ["5"]),
        ("5 m, 6 km and $7", COMMAS, ["5", "6", "7"]),
        ("about 10.5 %, i.e. 1,050", COMMAS, ["21/200", "1050"]),
        ("none", PLAIN, []),
        ("in 2020 100 people", NumberRules(thousands="blank"), ["2020", "100"]),
        ("1 000 000 people", NumberRules(thousands="blank"), ["1000000"]),
        ("9" * 1000, PLAIN, [None]),
    ],
)
def test_numbers_are_found_in_texts(
    text: str, rules: NumberRules, values: list[str | None]
) -> None:
    """What begins with a digit counts, readable or not."""
    wanted = [None if value is None else Fraction(value) for value in values]
    assert find_numbers(text, rules) == wanted


@pytest.mark.parametrize(
    ("answer", "find", "verdict", "reason"),
    [
        ("42", "whole", "correct", "42 is answer 42 within 0 absolute or 0 relative"),
        ("It is 42.", "whole", "incorrect", "'It is 42.' is no number as declared"),
        ("It is 42.", "only", "correct", "42 is answer 42 within 0 absolute or 0 relative"),
        ("41 or 42", "only", "incorrect", "the answer has 2 numbers in it, and one is asked for"),
        ("41, no: 42", "last", "correct", "42 is answer 42 within 0 absolute or 0 relative"),
        ("42, or 4%", "last", "incorrect", "the number in the answer is not written as declared"),
        ("no idea", "last", "incorrect", "the answer has no number in it"),
        (
            "43",
            "whole",
            "incorrect",
            "43 is none of 1 accepted numbers within 0 absolute or 0 relative",
        ),
    ],
)
def test_c27_a_number_is_found_as_declared(
    answer: str, find: str, verdict: str, reason: str
) -> None:
    """The whole answer, its only number or its last one; the reasoning says what was read."""
    found = graded("number@1", fact(42), answer, find=find)
    assert (found.verdict, found.reasoning) == (verdict, reason)
    assert part(found, "match") in {"answer", "none", None}


def test_gold_may_be_in_plain_notation_or_in_the_declared_one() -> None:
    """Datasets keep a decimal as it stands in JSON; what could be two numbers decides nothing."""
    assert gold_number("1.5", EUROPE) == Fraction(3, 2)
    assert gold_number("1,5", EUROPE) == Fraction(3, 2)
    assert gold_number("1.500,0", EUROPE) == 1500
    assert gold_number("1.500", EUROPE) is None
    assert gold_number("1.500", PLAIN) == Fraction(3, 2)
    assert gold_number(7, EUROPE) == 7
    assert gold_number(True, PLAIN) is None
    assert gold_number(None, PLAIN) is None
    for text in ("many", "1.500"):
        europe: dict[str, Any] = {"decimal": "comma", "thousands": "point"}
        assert graded("number@1", fact(text), "3", **europe).verdict == "not_gradable"
        assert graded("number@1", fact(text, 3), "3", **europe).verdict == "correct"


def test_a_json_number_of_an_answer_has_the_notation_of_json() -> None:
    """The declared notation is that of texts."""
    assert value_number(NumberLiteral("1.500"), EUROPE) == Fraction(3, 2)
    assert value_number("1.500", EUROPE) == 1500
    assert value_number(1500, EUROPE) == 1500
    assert value_number([], EUROPE) is None


@given(
    number=st.decimals(
        allow_nan=False, allow_infinity=False, places=8, min_value=-(10**9), max_value=10**9
    ),
    distance=st.fractions(min_value=0, max_value=1000),
    more=st.fractions(min_value=0, max_value=1000),
)
def test_tolerances_are_exact_and_only_widen(
    number: Decimal, distance: Fraction, more: Fraction
) -> None:
    """At exactly the tolerance a number is right, beyond it by any amount wrong."""
    right = Fraction(number)
    at = Tolerance(absolute=distance, relative=Fraction(0))
    assert is_close(right + distance, right, at)
    assert is_close(right - distance, right, at)
    assert is_close(right + distance + more, right, at) == (more == 0)
    wider = Tolerance(absolute=distance + more, relative=more)
    assert is_close(right + distance, right, wider)
    assert is_close(
        right + more * abs(right), right, Tolerance(absolute=Fraction(0), relative=more)
    )


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_every_decimal_is_read_exactly(number: Decimal) -> None:
    """No digit is lost on the way from text to number."""
    text = format(number, "f")
    assert read_number(text, PLAIN) == Fraction(number)
    assert find_numbers(f"it is {text}!", PLAIN) == [Fraction(number)]


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_grouped_digits_are_read_back(number: int) -> None:
    """Thousands separators say the same number."""
    assert read_number(f"{number:,}", COMMAS) == number
    assert read_number(f"{number:,}".replace(",", "."), EUROPE) == number


@pytest.mark.parametrize("unit", ["1", "1,", "1,234", "-$", "1 ", "e1", "1e", ".1", "%"])
def test_no_text_makes_reading_slow(unit: str) -> None:
    """A text of 300,000 characters that nearly is a number is gone through once; the test ends."""
    text = unit * (300_000 // len(unit))
    for rules in (PLAIN, COMMAS, EUROPE, NumberRules(thousands="blank")):
        read_number(text, rules)
        find_numbers(text + "x", rules)
