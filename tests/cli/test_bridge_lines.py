"""The way between two numbers on a screen: signs, ends, groups, and what is not named."""

from typing import Any

import pytest

from read_cases import too_long
from trial_cli.bridge_lines import bridge_lines, cause_text, change_lines, change_row
from trial_projections.aggregate import Range, Share
from trial_projections.bridge_structs import CAUSES, Bridge, Cause, Move, Side, SlotChange, Step
from trial_projections.derivation import EventReference

SHARE = ("0", "1")


def number(low: str, high: str | None = None) -> Range:
    """Return a number of ten slots, or a range."""
    return Range(low=tenth(low), high=tenth(high or low))


def tenth(total: str) -> Share:
    """Return a tenth of a sum."""
    return Share(sum=total, count=10, value=f"{total}/10", unit="trials")


def side(
    outcome: str, score: str | None, *, seq: int | None = None, high: str | None = None
) -> Side:
    """Return how a slot counts."""
    event = None if seq is None else EventReference("judgment", seq, "ab" * 32)
    return Side(
        trial="q1#1@s1", outcome=outcome, low=score, high=high or score,
        judgment=None if seq is None else "j1", by=None if seq is None else "model",
        grader=None if seq is None else "judge@1", event=event,
    )  # fmt: skip


def change(slot: str, old: Side | None, new: Side | None, *moves: Move) -> SlotChange:
    """Return a slot that counts otherwise."""
    return SlotChange(slot=slot, old=old, new=new, moves=list(moves))


def move(cause: Cause, *because: str) -> Move:
    """Return a cause's part."""
    return Move(cause=cause, low="1", high="1", because=list(because))


def bridge(low: str, high: str, *steps: Step, **fields: Any) -> Bridge:  # noqa: ANN401 - any field
    """Return a bridge of these steps; the other causes do nothing."""
    known = {step.cause: step for step in steps}
    still = {"slots": 0, "up": 0, "down": 0, "low": "0", "high": "0"}
    values: dict[str, Any] = {
        "old_run": "one", "old_metric": "exact", "old": number("4"),
        "new_run": "two", "new_metric": "exact", "new": number("5"), "low": low, "high": high,
        "steps": [known.get(cause) or Step(cause=cause, **still) for cause in CAUSES],  # type: ignore[arg-type]
        "unmoved": 10, "changes": [], "rubric": [],
    }  # fmt: skip
    return Bridge(**{**values, **fields})


def step(cause: Cause, low: str, high: str, *, up: int = 0, down: int = 0, level: int = 0) -> Step:
    """Return a cause's part in the difference."""
    return Step(cause=cause, slots=up + down + level, up=up, down=down, low=low, high=high)


def test_nothing_moved_is_said_in_two_lines() -> None:
    """Of one metric or of two, with the rules that changed without any effect."""
    same = {"old": number("5")}
    assert bridge_lines(bridge("0", "0", **same), SHARE) == [
        "same  exact of one and two", "      50.0 %  5/10",
    ]  # fmt: skip
    other = bridge("0", "0", **same, old_metric="strict", rubric=["aggregate: a -> b"])
    assert bridge_lines(other, SHARE) == [
        "same  strict and exact of one and two",
        "      50.0 %  5/10",
        "rule  aggregate: a -> b",
    ]


def test_one_cause_needs_no_sum() -> None:
    """Its line is the difference; causes that did nothing are not listed."""
    lines = bridge_lines(bridge("1/10", "1/10", step("gold", "1/10", "1/10", up=2, down=1)), SHARE)
    assert lines == [
        "from  exact of one",
        "      40.0 %  4/10",
        f"{'slots':>52}{'points':>10}",
        "  gold              2 up, 1 down                   3    +10.00",
        "to    exact of two",
        "      50.0 %  5/10",
    ]


def test_several_causes_are_summed_at_both_ends() -> None:
    """Of ranges both ends are shown; a slot whose range closed is neither up nor down."""
    parts = (
        step("answers changed", "1/5", "1/5", up=2),
        step("denominator", "-1/10", "0", level=3),
    )
    found = bridge("1/10", "1/5", *parts, old=number("4", "6"), new=number("5", "8"))
    lines = bridge_lines(found, SHARE)
    assert lines[1:6] == [
        "      40.0-60.0 %  4-6/10",
        f"{'slots':>52}{'lower':>10}{'upper':>10}",
        "  answers changed   2 up                           2    +20.00    +20.00",
        "  denominator                                      3    -10.00      0.00",
        "  together                                              +10.00    +20.00",
    ]
    assert too_long("\n".join(lines)) == []


def test_another_scale_is_shown_in_its_own_values() -> None:
    """Percent points are for shares alone."""
    found = bridge("-1/10", "-1/10", step("judge", "-1/10", "-1/10", down=1))
    lines = bridge_lines(found, ("-1", "1"))
    assert lines[2].split() == ["slots", "value"]
    assert lines[3].split() == ["judge", "1", "down", "1", "-0.100"]


def test_slots_alike_stand_together_and_the_rest_is_counted() -> None:
    """Those that a cause moved come first; what is not named is counted, even whole groups."""
    right, wrong = side("correct", "1", seq=7), side("incorrect", "0", seq=9)
    moved = [change(f"q{name}#1", wrong, right, move("gold")) for name in range(3)]
    alone = change("q7#1", None, side("not started", "0"))
    assert change_lines([alone, *moved], most=2) == [
        "  3 slots     incorrect 0 [judge@1] -> correct 1 [judge@1]",
        "              by gold",
        "              q0#1 seq 9 -> 7, q1#1 seq 9 -> 7",
        "  … 2 more: --json names all 4",
    ]
    assert change_lines([alone, *moved], most=None)[-2:] == [
        "  1 slot      not planned -> not started 0",
        "              q7#1",
    ]
    assert change_lines([]) == []


def test_a_slot_and_its_places_stay_on_one_line() -> None:
    """However long ids are, a line is broken between slots only, and none runs into the words."""
    sides = (side("incorrect", "0", seq=1234), side("correct", "1", seq=5678))
    moved = [change(f"{name}-0360a0d607c70e64#1", *sides, move("gold")) for name in "abc"]
    lines = change_lines(moved)
    assert lines[0] == "  3 slots     incorrect 0 [judge@1] -> correct 1 [judge@1]"
    assert lines[2:] == [
        f"              {name}-0360a0d607c70e64#1 seq 1234 -> 5678{end}"
        for name, end in (("a", ","), ("b", ","), ("c", ""))
    ]
    assert too_long("\n".join(lines)) == []


def test_a_slot_that_is_undecided_or_left_out_says_so() -> None:
    """With the range that it allows, and where its judgments stand."""
    open_ = side("judge_failed", "0", high="1")
    gone = side("invalidated", None)
    assert change_lines([change("a#1", open_, side("correct", "1", seq=4), move("judge"))]) == [
        "  1 slot      judge failed 0 to 1 -> correct 1 [judge@1]",
        "              by judge",
        "              a#1 seq none -> 4",
    ]
    assert change_lines([change("a#1", open_, gone)]) == [
        "  1 slot      judge failed 0 to 1 -> invalidated left out",
        "              a#1",
    ]


def test_text_of_a_log_is_cleaned_and_long_rules_are_named_only() -> None:
    """No terminal is moved by a question's id; above the slots the rules stand whole."""
    lines = change_lines([change("q\x1b[2J#1", None, side("correct", "1"))])
    assert "\x1b" not in "".join(lines)
    rules = [f"options.{name}: {'x' * 30} -> {'y' * 30}" for name in ("one", "two")]
    assert cause_text("rubric", rules) == "rubric (options.one, options.two)"
    assert cause_text("rubric", ["a: 1 -> 2"]) == "rubric (a: 1 -> 2)"
    assert cause_text("gold", []) == "gold"


@pytest.mark.parametrize("old", [None, side("correct", "1", seq=3)])
def test_a_row_has_both_sides(old: Side | None) -> None:
    """What is not planned is null in every cell."""
    row = change_row(change("q1#1", old, side("incorrect", "0"), move("gold", "x"), move("judge")))
    assert (row["slot"], row["causes"], row["because"]) == ("q1#1", ["gold", "judge"], ["x"])
    assert row["old_outcome"] == (None if old is None else "correct")
    assert row["old_seq"] == (None if old is None else 3)
    assert (row["new_outcome"], row["new_seq"], row["low"]) == ("incorrect", None, ["1", "1"])
