"""Answers are read in the declared form or named as having another one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading_cases import metric_of
from trial_ledger.documents.grader_options import settings_of
from trial_ledger.grading.answers import Unread, read_items, read_json, read_objects


def items(answer: str, **options: str) -> object:
    """Return the items of an answer, or why they are not read."""
    found = read_items(answer, settings_of(metric_of("list-match@1", **options)))
    return found.reason if isinstance(found, Unread) else found


@pytest.mark.parametrize(
    ("answer", "options", "found"),
    [
        ('["a", 1, true, 0.50, ""]', {}, ["a", "1", "true", "0.50", ""]),
        (" \n ", {}, []),
        ("[]", {}, []),
        ('{"a": 1}', {}, "the answer is no JSON array"),
        ('["a", null]', {}, "member 2 of the array is no name"),
        ('[["a"]]', {}, "member 1 of the array is no name"),
        ("a, b", {"items": "separated"}, ["a", "b"]),
        ("a;;  b;", {"items": "separated", "separator": ";"}, ["a", "b"]),
        (
            "- a\n\n* b\n 3. c\n4) d\n\u2022 e\n-f\n",
            {"items": "lines"},
            ["a", "b", "c", "d", "e", "-f"],
        ),
        ("- a\n2. b", {"items": "lines", "bullets": "kept"}, ["- a", "2. b"]),
        ("- - a", {"items": "lines"}, ["- a"]),
        ("a, b", {"items": "lines"}, ["a, b"]),
        ('Here:\n```json\n["a"]\n```\nDone.', {"json": "fenced"}, ["a"]),
        ('["a"]', {"json": "fenced"}, ["a"]),
        ('```\n["a"]', {"json": "fenced"}, ["a"]),
        (
            "```\n[]\n```\n```\n[]\n```",
            {"json": "fenced"},
            "the answer has 2 fenced blocks, and one is read",
        ),
    ],
)
def test_items_are_read_as_declared(answer: str, options: dict[str, str], found: object) -> None:
    """JSON, lines or separated; a blank answer lists nothing in any of them."""
    assert items(answer, **options) == found


@pytest.mark.parametrize("form", ["whole", "fenced"])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("a, b", "the answer is no acceptable JSON: 'Expecting value: line 1 column 1 (char 0)'"),
        (
            '{"a": 1, "a": 2}',
            "the answer is no acceptable JSON: 'a key stands twice in one object'",
        ),
        ("[NaN]", "the answer is no acceptable JSON: 'NaN is no number'"),
        ("[" * 100_000, "the answer is no acceptable JSON: nested too deeply"),
        ("[" * 40 + "]" * 40, "the answer is nested deeper than 32 levels"),
        ('{"a":' * 40 + "1" + "}" * 40, "the answer is nested deeper than 32 levels"),
        (" " * 1_000_001, "the answer has 1000001 characters, of which at most 1000000 are read"),
    ],
)
def test_hostile_json_is_refused_with_the_reason(form: str, answer: str, why: str) -> None:
    """Neither nesting nor size nor ambiguity gets through."""
    found = read_json(answer, form)
    assert isinstance(found, Unread)
    assert found.reason == why
    objects = read_objects(answer, form)
    assert isinstance(objects, Unread)
    assert objects.reason == why


def test_numbers_beyond_the_profile_stay_as_they_were_written() -> None:
    """No digit of an answer is lost, and a large number makes no answer unreadable."""
    text = (
        "[9007199254740991, 9007199254740992, -90071992547409910, 1.50, 1e999, " + "9" * 5000 + "]"
    )
    assert read_json(text, "whole") == [
        9007199254740991,
        "9007199254740992",
        "-90071992547409910",
        "1.50",
        "1e999",
        "9" * 5000,
    ]


def test_records_are_one_object_or_an_array_of_them() -> None:
    """Anything else in the array is named by its place."""
    assert read_objects('{"a": 1}', "whole") == [{"a": 1}]
    assert read_objects('[{"a": 1}, {}]', "whole") == [{"a": 1}, {}]
    for answer, number in (("3", 1), ('[{}, "x"]', 2)):
        found = read_objects(answer, "whole")
        assert isinstance(found, Unread)
        assert found.reason == f"member {number} of the answer is no JSON object"


def test_items_of_an_endless_answer_are_not_read() -> None:
    """The limit holds for every form."""
    for form in ("json", "lines", "separated"):
        assert "1000001 characters" in str(items("x" * 1_000_001, items=form))


@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_json_array_of_names_is_read_back(names: list[str]) -> None:
    """Whatever is in the names."""
    assert items(json.dumps(names)) == names
    fenced = f"Sure:\n```json\n{json.dumps(names)}\n```"
    assert items(fenced, json="fenced") == names


@given(text=st.text(), shape=st.sampled_from(["{}", "[{}]", "```\n{}"]))
def test_reading_never_fails(text: str, shape: str) -> None:
    """Any text is read or named."""
    answer = shape.replace("{}", text)
    for form in ("whole", "fenced"):
        read_json(answer, form)
    for form in ("json", "lines", "separated"):
        items(answer, items=form)
