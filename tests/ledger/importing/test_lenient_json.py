"""Exact numbers, NaN literals and lenient fields of Inspect's JSON."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.lenient_json import (
    count_at,
    decimal_at,
    elapsed_us,
    fits,
    json_bytes,
    list_at,
    mapping_at,
    mappings_at,
    parse_json,
    seconds_us,
    text_at,
    utc_text,
    whole_text,
)

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.decimals(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=10,
)


def plain(value: object) -> object:
    """Return the value with every decimal as text, so that digits are compared and not amounts."""
    if isinstance(value, Decimal):
        return f"decimal {value}"
    if isinstance(value, list):
        return [plain(member) for member in value]
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return value


@given(VALUES)
def test_what_is_written_is_read_back_with_every_digit(value: object) -> None:
    """Writing and reading change nothing; decimals without a point come back as integers."""
    again = parse_json(json_bytes(value), source="x")
    assert parse_json(json_bytes(again), source="x") == again
    assert plain(parse_json(json_bytes(again), source="x")) == plain(again)


def test_a_decimal_keeps_its_digits_and_never_becomes_binary() -> None:
    """Trailing zeros and digits beyond a double's survive."""
    text = b'{"a":0.10,"b":0.1234567890123456789}'
    value = parse_json(text, source="x")
    assert value == {"a": Decimal("0.10"), "b": Decimal("0.1234567890123456789")}
    assert json_bytes(value) == text


def test_nan_and_infinities_become_markers_and_are_written_as_text() -> None:
    """Literals that JSON does not have stay what they say."""
    value = parse_json(b'{"a": [NaN, -Infinity, 1], "b": {"c": Infinity}}', source="x")
    assert json_bytes(value) == b'{"a":["NaN","-Infinity",1],"b":{"c":"Infinity"}}'


def test_equal_values_give_equal_bytes_when_ordered() -> None:
    """Keys are sorted on request only."""
    assert json_bytes({"b": 1, "a": 2}, ordered=True) == b'{"a":2,"b":1}'
    assert json_bytes({"b": 1, "a": 2}) == b'{"b":1,"a":2}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "not UTF-8"),
        (b"{", "not JSON"),
        (b"[" * 300 + b"]" * 300, "nested deeper than 200 levels"),
        (b"[" * 100_000, "nested deeper than 200 levels"),
        (b"1" * 5000, "not JSON"),
    ],
)
def test_what_is_no_json_is_refused(content: bytes, message: str) -> None:
    """Every way of not being readable has its own words."""
    with pytest.raises(InvalidInputError) as caught:
        parse_json(content, source="log.json")
    assert caught.value.problems[0].message == message
    assert caught.value.problems[0].source == "log.json"


def test_lone_surrogates_are_replaced_wherever_they_stand() -> None:
    """Half a character cannot be written as UTF-8; whole ones stay."""
    text = rb'{"\ud800": ["\udfff", 1, "\ud83d\ude00"]}'
    assert parse_json(text, source="x") == {"\ufffd": ["\ufffd", 1, "\U0001f600"]}


def test_fields_of_another_type_read_as_unknown() -> None:
    """Missing and misshapen fields are no error, they are unknown."""
    record = {"text": 1, "list": {}, "map": [], "count": -1, "number": "1", "flag": True}
    assert text_at(record, "text") is None
    assert text_at({"text": ""}, "text") is None
    assert list_at(record, "list") == []
    assert mapping_at(record, "map") == {}
    assert mappings_at({"list": [1, {"a": 1}]}, "list") == [{"a": 1}]
    assert count_at(record, "count") is None
    assert count_at(record, "flag") is None
    assert count_at({"count": 3}, "count") == 3
    assert decimal_at(record, "number") is None
    assert decimal_at({"number": 2}, "number") == 2
    assert decimal_at({"number": Decimal("NaN")}, "number") is None
    assert decimal_at({"number": Decimal("0.5")}, "number") == Decimal("0.5")


def test_whole_text_is_the_text_or_the_json_of_a_value() -> None:
    """A text is not quoted; nothing stays nothing."""
    assert [whole_text(value) for value in (None, "a", [1])] == [None, "a", "[1]"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01T01:00:00.5+01:00", "2026-01-01T00:00:00.500000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("2026-01-01T00:00:00", None),
        ("0001-01-01T00:00:00+10:00", None),
        ("yesterday", None),
        (17, None),
    ],
)
def test_times_become_utc_with_six_digits_or_stay_unknown(
    text: object, expected: str | None
) -> None:
    """A time without an offset could be any; it is not guessed."""
    assert utc_text(text) == expected


def test_a_time_can_be_moved_but_not_beyond_the_calendar() -> None:
    """A duration is added exactly."""
    assert utc_text("2026-01-01T00:00:00Z", plus_us=1) == "2026-01-01T00:00:00.000001Z"
    assert utc_text("9999-12-31T23:59:59Z", plus_us=10**15) is None


def test_elapsed_time_is_known_only_between_two_times_in_order() -> None:
    """A clock that ran backwards tells nothing."""
    early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01.000001Z"
    assert elapsed_us(early, late) == 1_000_001
    assert [elapsed_us(late, early), elapsed_us(None, late), elapsed_us(early, "?")] == [None] * 3


def test_seconds_become_whole_microseconds() -> None:
    """Unknown, negative and absurd durations stay unknown."""
    assert seconds_us(Decimal("1.0000005")) == 1_000_000
    assert [seconds_us(value) for value in (None, Decimal(-1), Decimal("1e30"))] == [None] * 3


def test_a_size_is_bounded_without_writing_it() -> None:
    """Shared texts count as often as they would be written."""
    long = "x" * 100
    assert fits({"a": [long, 1]}, 1000)
    assert not fits({"a": [long] * 20}, 1000)
    assert not fits({long * 20: 1}, 1000)
