"""Typing faults: every fault of a plain value that should be of a type, in a person's words."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from event_cases import EVENTS
from trial_ledger.amounts import Usage
from trial_ledger.events import KINDS, TEXT_CLASSES, CallFinished, Event, JudgmentRecorded
from trial_ledger.forms import NameForm
from trial_ledger.identifiers import MAX_INTEGER, Count
from trial_ledger.kinds.base import Text
from trial_ledger.typing_faults import described, member_faults, typing_faults


def faults(value: object, expected: object) -> dict[str | None, tuple[str, str | None, str | None]]:
    """Return message, found and expected by field."""
    return {
        problem.field: (problem.message, problem.found, problem.expected)
        for problem in typing_faults(value, expected, "data")
    }


@given(EVENTS)
def test_a_good_value_has_no_fault(event: Event) -> None:
    """The data of any event, as plain values, is of its type in whole and in part."""
    plain = msgspec.to_builtins(event.data)
    assert typing_faults(plain, type(event.data), "data") == []
    assert member_faults(plain, type(event.data), "data") == []


@given(EVENTS, st.data())
def test_a_spoiled_field_is_the_fault_that_is_found(event: Event, data: st.DataObject) -> None:
    """Whatever field of an event is given another type, exactly that field is reported."""
    plain = msgspec.to_builtins(event.data)
    names = [name for name in plain if name not in TEXT_CLASSES[event.kind]]
    if not names:
        return
    name = data.draw(st.sampled_from(sorted(names)))
    plain[name] = 0.5  # no field is a float
    (problem,) = typing_faults(plain, KINDS[event.kind], "data")
    assert problem.field == f"data.{name}"


def test_a_field_that_may_be_left_out_is_described_by_what_it_holds() -> None:
    """Nobody is asked for what stands for an absent field."""
    name = "1 to 256 characters without control characters"
    found = faults({"carried_from": 5, "metric": "m"}, JudgmentRecorded)
    assert found["data.carried_from"] == ("not acceptable", "5", name)


def test_faults_are_found_as_deep_as_they_lie() -> None:
    """Structures, lists and mappings are looked into; each fault has its own place and value."""
    value = {
        "judgment": "j",
        "metric": 5,
        "by": "coin",
        "grader": {"version": "\x00"},
        "parts": [{"name": "a"}, {"nam": "b", "numerator": -1}],
        "calls": ["c1", None],
        "usage": {"units": {"searches": "2", "x": 1}},
        "cost": {"amount": "1.", "currency": "USD", "basis": "reported"},
    }
    name = "1 to 256 characters without control characters"
    assert faults(value, JudgmentRecorded) == {
        "data.metric": ("not acceptable", "5", name),
        "data.by": ("not acceptable", "'coin'", "one of code, model, human"),
        "data.grader.name": ("missing", None, name),
        "data.grader.version": ("not acceptable", r"'\x00'", name),
        "data.parts[1].nam": ("unknown field", None, "perhaps name"),
        "data.parts[1].name": ("missing", None, name),
        "data.parts[1].numerator": (
            "not acceptable",
            "-1",
            f"an integer from 0 to {MAX_INTEGER}",
        ),
        "data.calls[1]": ("not acceptable", "null", name),
        "data.usage.units.searches": (
            "not acceptable",
            "'2'",
            f"an integer from 0 to {MAX_INTEGER}",
        ),
        "data.cost.amount": (
            "not acceptable",
            "'1.'",
            'a decimal as text, such as "0.0025"',
        ),
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [("x", "an object"), ([1], "an object"), (5, "an object"), ([], "an object")],
)
def test_a_value_of_another_kind_is_one_fault(value: object, expected: str) -> None:
    """What is no object at all is reported as a whole."""
    (fault,) = faults(value, CallFinished).values()
    assert fault[2] == expected


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (str, "a string"),
        (bool, "true or false"),
        (Count, f"an integer from 0 to {MAX_INTEGER}"),
        (Count | None, f"an integer from 0 to {MAX_INTEGER}"),
        (NameForm | None, "1 to 256 characters without control characters"),
        (Literal["a", "b"] | None, "one of a, b"),
        (Text, "a text"),
        (Usage | None, "an object"),
        (dict[str, int], "an object"),
        (tuple[str, ...], "an array"),
        (str | int, "a string or an integer"),
        (Annotated[str, msgspec.Meta(max_length=3)], "a string"),
    ],
)
def test_types_are_described_in_words(expected: Any, words: str) -> None:  # noqa: ANN401 - any type
    """What was expected is said as a person would say it."""
    assert described(expected) == words
