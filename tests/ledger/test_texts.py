"""Text fields: strings and bytes become blobs of an accepted size, or faults with their field."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger import texts
from trial_ledger.errors import Problem
from trial_ledger.submission import NewText
from trial_ledger.texts import kind_of, nearest, parse_text, placeholder, shown


def parsed(value: object) -> tuple[NewText, dict[str | None, str]]:
    """Return what a text field holds, and what is wrong with it by field."""
    problems: list[Problem] = []
    text = parse_text(value, "input", problems)
    return text, {problem.field: problem.message for problem in problems}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_string_is_its_bytes(value: str) -> None:
    """A string, alone or in an object, becomes exactly its UTF-8 bytes."""
    expected = NewText(content=value.encode())
    assert parsed(value) == (expected, {})
    assert parsed({"text": value}) == (expected, {})


@pytest.mark.parametrize("class_", ["sealed", "gold"])
def test_an_object_names_class_and_media(class_: Literal["sealed", "gold"]) -> None:
    """Class and media type are taken from the object."""
    value = {"text": "{}", "class": class_, "media": "application/json"}
    expected = NewText(content=b"{}", class_=class_, media="application/json")
    assert parsed(value) == (expected, {})
    assert parsed(expected) == (expected, {})


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        (5, {"data.input": "not a text"}),
        ({}, {"data.input": "not a text"}),
        ({"text": "x", "tetx": "y"}, {"data.input.tetx": "unknown field"}),
        ({"text": "x", "class": "plain"}, {"data.input.class": "unknown class"}),
        ({"text": "x", "class": ["gold"]}, {"data.input.class": "unknown class"}),
        ({"text": "x", "media": 7}, {"data.input.media": "not acceptable"}),
        ("\ud800", {"data.input": "lone surrogate"}),
        (
            {"text": None, "class": 1, "a": 2},
            {
                "data.input": "not a text",
                "data.input.class": "unknown class",
                "data.input.a": "unknown field",
            },
        ),
    ],
)
def test_what_is_no_text_is_a_fault(value: object, faults: dict[str, str]) -> None:
    """Every fault of a text is found, and what comes out has an accepted type."""
    text, found = parsed(value)
    assert found == faults
    assert isinstance(text.content, bytes)
    assert isinstance(text.media, str)


@pytest.mark.parametrize("value", ["12345", {"text": "12345"}, NewText(content=b"12345")])
def test_a_text_over_the_limit_is_refused(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is given, a text is at most as long as a blob may be."""
    monkeypatch.setattr(texts, "MAX_BLOB_BYTES", 4)
    assert parsed(value)[1] == {"data.input": "text too long"}
    assert parsed("1234")[1] == {}


def test_a_placeholder_has_the_size_and_class_of_the_text() -> None:
    """Before it is sealed a text is referred to by zeros, with what is known of it."""
    reference = placeholder(NewText(content=b"abc"), "sealed")
    assert (reference.blob, reference.bytes, reference.class_) == ("0" * 64, 3, "sealed")
    assert placeholder(NewText(content=b"", class_="gold"), "sealed").class_ == "gold"


def test_the_nearest_name_is_offered() -> None:
    """A mistyped name gets the nearest known one; any other gets all of them."""
    assert nearest("outcom", ("reason", "outcome")) == "perhaps outcome"
    assert nearest("x" * 1_000_000, {"b": 1, "a": 2}) == "one of a, b"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\x1b[2J\u202eb", r"'a\x1b[2J\u202eb'"),
        ("y" * 1_000_000, "'" + "y" * 56 + "..."),
        ({"a": 1}, "an object"),
        ([1], "an array"),
        ((1,), "an array"),
        (None, "null"),
        (True, "true"),
        (7, "7"),
    ],
)
def test_a_value_is_shown_on_one_harmless_line(value: object, expected: str) -> None:
    """Values stand in messages shortened and escaped; lists and objects by what they are."""
    assert shown(value) == expected


def test_kinds_are_named_as_json_does() -> None:
    """A type has the name that JSON gives it, a foreign one its own."""
    values: tuple[object, ...] = (True, 1, "", None, [], {}, 0.5)
    assert [kind_of(value) for value in values] == [
        "a boolean",
        "an integer",
        "a string",
        "null",
        "an array",
        "an object",
        "float",
    ]
