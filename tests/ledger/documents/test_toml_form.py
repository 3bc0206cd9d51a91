"""TOML: bare floats and dates are refused with the quoted form, and everything at once."""

import pytest

from document_cases import problems_of
from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.reading import Faults
from trial_ledger.documents.toml_form import decode_text, parse_table, plain_table
from trial_ledger.errors import Problem


def parsed(data: bytes) -> tuple[dict[str, Json], list[Problem]]:
    """Return the table and the faults of a document."""
    values, faults = parse_table(data, source="d.toml", what="document")
    return values, faults.problems


def test_bare_numbers_and_dates_are_reported_with_their_quoted_form() -> None:
    """Each names its field, its line and what to write instead; the rest is still read."""
    values, problems = parsed(
        b"# 0.5 in a comment\n[a]\nhalf = 0.5\nwhole = 1\nday = 2026-10-01\n"
        b"at = 2026-10-01T12:00:00Z\nnoon = 12:00:00\nlist = [nan, {x = inf}]\n"
    )
    assert [(p.field, p.line, p.found, p.expected) for p in problems] == [
        ("a.half", 3, "0.5", '"0.5"'),
        ("a.day", 5, "2026-10-01", '"2026-10-01"'),
        ("a.at", 6, "2026-10-01T12:00:00+00:00", '"2026-10-01T12:00:00+00:00"'),
        ("a.noon", 7, "12:00:00", '"12:00:00"'),
        ("a.list[0]", 8, "nan", '"nan"'),
        ("a.list[1].x", 8, "inf", '"inf"'),
    ]
    assert values["a"] == {
        "half": "0.5",
        "whole": 1,
        "day": "2026-10-01",
        "at": "2026-10-01T12:00:00+00:00",
        "noon": "12:00:00",
        "list": ["nan", {"x": "inf"}],
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = \n", 1), ("a = 1\nb = 2\nb = 3\n", 3), ("x = 1\ny = " + "9" * 5000, 2), ("a", 1)],
)
def test_syntax_errors_name_the_line(text: str, line: int) -> None:
    """What is no TOML is refused with the line where it goes wrong."""
    (problem,) = problems_of(lambda: parsed(text.encode()))
    assert problem.line == line
    assert problem.source == "d.toml"


def test_large_integers_and_deep_tables_are_reported() -> None:
    """An integer from 2^53 and a 33rd level have no place in a document."""
    deep = ".".join(f"k{level}" for level in range(40))
    values, problems = parsed(f"big = {2**53}\nhuge = 0x{'f' * 40}\n[{deep}]\nx = 1\n".encode())
    assert [problem.message for problem in problems] == [
        "integer beyond 2^53 - 1",
        "integer beyond 2^53 - 1",
        "nested deeper than 32 levels",
    ]
    assert values["big"] is None


def test_nesting_beyond_the_parser_is_refused() -> None:
    """A document that exhausts the parser's stack is one fault, not a crash."""
    (problem,) = problems_of(lambda: parsed(b"a = " + b"[" * 100_000))
    assert problem.message == "nested deeper than 32 levels"


def test_a_document_that_starts_with_a_brace_is_json() -> None:
    """Programs may write JSON; it is read as strictly."""
    assert parsed(b'  {"a": {"b": 1}}') == ({"a": {"b": 1}}, [])
    (problem,) = problems_of(lambda: parsed(b'{"a": 0.5}'))
    assert problem.field == "a"


def test_text_is_utf8_with_or_without_a_byte_order_mark() -> None:
    """A byte order mark is dropped, other bytes that are no UTF-8 name their line."""
    assert decode_text(b"\xef\xbb\xbfa", source=None, what="x") == "a"
    (problem,) = problems_of(lambda: decode_text(b"a\n\xff", source="f", what="x"))
    assert (problem.line, problem.found) == (2, "b'\\xff'")


def test_tables_of_programs_are_held_to_the_same_profile() -> None:
    """A float or a large integer in a table that a program built is reported like in TOML."""
    faults = Faults(source=None, what="document")
    assert plain_table({"a": (1, 0.5), "b": 2**60}, faults, path="r") == {
        "a": [1, "0.5"],
        "b": None,
    }
    assert [problem.field for problem in faults.problems] == ["r.a[1]", "r.b"]
