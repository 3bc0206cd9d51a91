"""Strict JSON: what two readers would understand differently is refused, all of it at once."""

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_cases import fields_of, problems_of
from trial_ledger.strict_json import MAX_DEPTH, join_path, parse_json, shorten

LARGEST = 2**53 - 1

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_good_values_come_back(value: object, escaped: bool) -> None:
    """What the profile allows is read as it was written, escaped or not."""
    text = json.dumps(value, ensure_ascii=escaped)
    assert parse_json(text) == value
    assert parse_json(text.encode()) == value


def test_every_fault_of_a_text_is_reported_with_its_path() -> None:
    """Duplicate keys, decimals, NaN, infinity, overflow, large integers and surrogates together."""
    text = (
        '{"a":1,"a":2,"half":0.5,"list":[NaN,-Infinity,1e400,9007199254740992,'
        '{"deep":"\\ud800"}],"\\udc00":[],"a.b":{"c":Infinity}}'
    )
    problems = problems_of(lambda: parse_json(text, source="in.jsonl", line=7))
    assert {problem.field: problem.message for problem in problems} == {
        "a": "key stands twice in one object",
        "half": "bare decimal",
        "list[0]": "not a JSON number",
        "list[1]": "not a JSON number",
        "list[2]": "number out of range",
        "list[3]": "integer beyond 2^53 - 1",
        "list[4].deep": "holds a lone surrogate",
        '"\\udc00"': "key holds a lone surrogate",
        '"a.b".c': "not a JSON number",
    }
    assert {(problem.source, problem.line) for problem in problems} == {("in.jsonl", 7)}
    assert {p.expected for p in problems if p.field == "half"} == {'the quoted form "0.5"'}


def test_what_is_good_beside_a_fault_is_not_reported() -> None:
    """A repeated key alone is found, and its good neighbours are left in peace."""
    text = '{"a":1,"b":{"a":"x","a":[2,0.5,true]}}'
    assert fields_of(lambda: parse_json(text, allow_decimals=True)) == {"b.a"}


@pytest.mark.parametrize("literal", ["0.10", "1e3", "-2.5E-7", "1E308"])
def test_allowed_decimals_keep_their_literal(literal: str) -> None:
    """A decimal that is allowed becomes the text that stood there, digit by digit."""
    assert parse_json(f"[{literal}]", allow_decimals=True) == [literal]


@pytest.mark.parametrize("literal", ["1e309", "1e400", "1e-99999", "1e+0001000000000", "NaN"])
def test_decimals_out_of_range_are_refused_even_where_decimals_are_allowed(literal: str) -> None:
    """What another reader would see as infinity or zero is no value."""
    assert fields_of(lambda: parse_json(f'{{"x":{literal}}}', allow_decimals=True)) == {"x"}


@pytest.mark.parametrize(
    ("literal", "accepted"),
    [
        (str(LARGEST), True),
        (str(-LARGEST), True),
        (str(LARGEST + 1), False),
        (str(-LARGEST - 1), False),
        ("9" * 5000, False),
        ("1" + "0" * 15, True),
    ],
)
def test_integers_end_below_two_to_the_53(literal: str, accepted: bool) -> None:
    """The largest integer that every reader keeps is accepted, the next one is not."""
    if accepted:
        assert parse_json(literal) == int(literal)
    else:
        assert [problem.message for problem in problems_of(lambda: parse_json(literal))] == [
            "integer beyond 2^53 - 1"
        ]


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_depth_ends_at_32(opening: str, closing: str) -> None:
    """32 levels are read, the 33rd is refused, and so are 100,000."""
    innermost = "[]"

    def nested(levels: int) -> str:
        return opening * (levels - 1) + innermost + closing * (levels - 1)

    parse_json(nested(MAX_DEPTH))
    for levels in (MAX_DEPTH + 1, 100_000):
        problems = problems_of(partial(parse_json, nested(levels)))
        assert [problem.message for problem in problems] == ["nested deeper than 32 levels"]


def test_many_brackets_side_by_side_are_not_depth() -> None:
    """A wide text with more than 32 brackets is accepted."""
    assert parse_json("[" + ",".join(["[]"] * 40) + "]") == [[]] * 40


def test_bytes_that_are_not_utf8_name_the_byte_and_the_line() -> None:
    """The line is the file's own where the text is a whole file."""
    (problem,) = problems_of(lambda: parse_json(b'{\n"a":"\xff"}', source="x.json"))
    assert (problem.line, problem.message) == (2, "not UTF-8 at byte 7")
    (problem,) = problems_of(lambda: parse_json(b'{"a":"\xff"}', line=9))
    assert problem.line == 9


def test_syntax_errors_name_line_and_column() -> None:
    """A text that is no JSON is refused where it goes wrong."""
    (problem,) = problems_of(lambda: parse_json('{"a":\n tru}', source="x"))
    assert (problem.line, problem.message) == (2, "not JSON: Expecting value at column 2")
    (problem,) = problems_of(lambda: parse_json("{", line=4))
    assert problem.line == 4


def test_a_lone_surrogate_in_decoded_text_is_refused() -> None:
    """A surrogate that came in as a character, not as an escape, is found as well."""
    assert fields_of(lambda: parse_json('{"a":["\udfff", true]}')) == {"a[0]"}


def test_surrogate_pairs_are_text() -> None:
    """An escaped pair is one character beyond the basic plane."""
    assert parse_json('["\\ud83d\\ude00", 1]') == ["\U0001f600", 1]


def test_paths_quote_keys_that_are_not_plain() -> None:
    """A key with a dot or a control character cannot be mistaken for a path."""
    assert join_path(None, "a") == "a"
    assert join_path("a", 2) == "a[2]"
    assert join_path(None, 0) == "[0]"
    assert join_path("a", "b.c\n") == 'a."b.c\\n"'


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        ("a\x1b[31m", "'a\\x1b[31m'"),
        (b"\xff", "b'\\xff'"),
        ("x" * 100, "'" + "x" * 56 + "..."),
    ],
)
def test_shown_values_are_short_and_printable(value: object, shown: str) -> None:
    """A message shows at most 60 characters, none of them a control character."""
    assert shorten(value) == shown
    assert len(shown) <= 60


@pytest.mark.parametrize("text", ['{"score": 0.5, "half', "[NaN, oops", '{"a":1,"a":2', "[1e400,"])
def test_a_cut_text_with_an_earlier_fault_is_not_json(text: str) -> None:
    """A text that breaks off after a bad number is reported as broken, not as a program error."""
    (problem,) = problems_of(lambda: parse_json(text, source="in.jsonl", line=3))
    assert problem.message.startswith("not JSON: ")
    assert problem.line == 3


def test_depth_after_an_earlier_fault_is_reported() -> None:
    """A fault before a bottomless list does not hide it, nor exhaust the stack."""
    text = "[NaN," + "[" * 100_000 + "]" * 100_000 + "]"
    (problem,) = problems_of(lambda: parse_json(text))
    assert problem.message == f"nested deeper than {MAX_DEPTH} levels"
