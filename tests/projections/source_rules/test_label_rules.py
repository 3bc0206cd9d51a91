"""Counts and shares of labels, as short-answer benchmarks publish them."""

from fractions import Fraction

import pytest

from projection_cases import Log
from rule_cases import judge_failed, labelled, ruled, value

CASES = (
    ((420, 380, 200), "21/50", "21/40", "7/15"),
    ((10, 0, 0), "1", "1", "1"),
    ((0, 10, 0), "0", "0", "0"),
    ((0, 0, 10), "0", None, "0"),
)
"""(C, I, not attempted) and what the published formulas give (openai/simple-evals)."""


@pytest.mark.parametrize(("counts", "rate", "attempted", "f1"), CASES)
def test_short_answer_numbers(
    log: Log, counts: tuple[int, int, int], rate: str, attempted: str | None, f1: str
) -> None:
    """Reference values, scaled to ten questions where they are thousands."""
    scale = sum(counts) // 10
    correct, incorrect, abstained = (count // scale for count in counts)
    exact = all(count % scale == 0 for count in counts)
    labelled(log, *["correct"] * correct, *["incorrect"] * incorrect, *["abstained"] * abstained)
    if exact:
        assert value(log, "correct_rate", "judged") == rate
        assert value(log, "accuracy_given_attempted", "judged") == attempted
        assert value(log, "attempted_f1", "judged") == f1
    total = 10
    assert value(log, "count:abstained", "judged") == str(abstained)
    assert ruled(log, "rate:incorrect", "judged").fraction == Fraction(incorrect, total)


def test_nothing_attempted_is_undefined_and_a_source_says_0(log: Log) -> None:
    """Both rules have a name; the source's says what it assumes."""
    labelled(log, *["abstained"] * 10)
    found = ruled(log, "accuracy_given_attempted", "judged")
    assert (found.value, found.reason) == (None, "no trial is correct or incorrect")
    zero = ruled(log, "accuracy_given_attempted:or_zero", "judged")
    assert (zero.value, zero.assumed) == ("0", {"nothing attempted as 0": 1})


def test_what_is_left_out_is_counted(log: Log) -> None:
    """A failed judge and questions that never started are neither right nor wrong."""
    labelled(log, "correct", "incorrect", "abstained")
    judge_failed(log, "q4", "judged")
    found = ruled(log, "accuracy_given_attempted", "judged")
    assert (found.value, found.count) == ("1/2", 2)
    assert found.left_out == {"abstained": 1, "judge_failed": 1, "not_started": 6}
    assert value(log, "count:judge_failed", "judged") == "1"


def test_a_share_of_no_slot_has_no_number(log: Log) -> None:
    """Every trial was invalidated before its end."""
    for number in range(1, 11):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        log.act("trial.invalidated", f"q{number}", reason="leaked")
    for name in ("rate:correct", "attempted_f1"):
        found = ruled(log, name, "judged")
        assert (found.value, found.reason) == (None, "no planned slot counts")
