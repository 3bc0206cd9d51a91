"""Output: data in five forms, messages beside it, and nothing hostile in any of them."""

import csv
import io
import json
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_cli.output import (
    MAX_PROBLEMS,
    Screen,
    clean,
    clean_lines,
    columns,
    csv_cell,
    emit,
    fit,
    json_text,
    markdown_cell,
    note,
    problem_lines,
    show_error,
    table,
)
from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    NotFoundError,
    Problem,
    RefusedError,
    StorageError,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
HARMFUL = {"Cc", "Cs", "Co", "Zl", "Zp"}
BIDI = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
ROWS = [{"name": "a|b", "count": 3, "list": [1, 2]}, {"name": "=1+1", "count": None, "list": []}]


def is_harmless(text: str) -> bool:
    """Return whether no character of a text controls a terminal or turns a text."""
    return not any(
        unicodedata.category(char) in HARMFUL or unicodedata.bidirectional(char) in BIDI
        for char in text
    )


def screen(**changes: object) -> Screen:
    """Return a screen of two rows."""
    values: dict[str, object] = {
        "schema": "ledger.test/1",
        "value": {"rows": ROWS},
        "rows": ROWS,
        "lines": ["first", "second"],
        **changes,
    }
    return Screen(**values)  # type: ignore[arg-type]


@given(TEXTS)
def test_clean_text_is_one_harmless_line(text: str) -> None:
    """Whatever comes in, one line comes out that controls nothing; good text stays as it is."""
    cleaned = clean(text)
    assert is_harmless(cleaned)
    assert len(cleaned) == len(text)
    assert clean(cleaned) == cleaned
    if is_harmless(text):
        assert cleaned == text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (7, "7"),
        ("a\nb\tc\r", "a b c "),
        ("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"),
        ("\u202egold\u202c", "\ufffdgold\ufffd"),
        ("\x9b2J\u061c\u2066\u200f", "\ufffd2J\ufffd\ufffd\ufffd"),
        ("\udcff\ue000\U000f0000", "\ufffd\ufffd\ufffd"),
        (
            "na\u00efve \u4e2d\u6587 \U0001f600 a\u200db",
            "na\u00efve \u4e2d\u6587 \U0001f600 a\u200db",
        ),
    ],
)
def test_clean_replaces_what_is_hostile(value: object, expected: str) -> None:
    """Control, direction and private characters are replaced, other scripts are not."""
    assert clean(value) == expected


@given(st.lists(TEXTS))
def test_clean_lines_keeps_the_lines(texts: list[str]) -> None:
    """A text of several lines keeps them, and nothing hostile inside."""
    joined = "\n".join(texts)
    cleaned = clean_lines(joined)
    assert cleaned.count("\n") == joined.count("\n")
    assert all(is_harmless(line) for line in cleaned.split("\n"))


@given(st.dictionaries(TEXTS, TEXTS), st.sampled_from([None, 2]))
def test_json_says_the_same_without_harm(value: dict[str, str], indent: int | None) -> None:
    """JSON with every hostile character escaped decodes to the same value."""
    text = json_text(value, indent=indent)
    assert json.loads(text) == value
    assert is_harmless(text.replace("\n", ""))


@given(TEXTS, st.integers(1, 20))
def test_fit_never_exceeds_its_width(text: str, width: int) -> None:
    """A text is cut to its width, with a sign that it was."""
    fitted = fit(text, width)
    assert len(fitted) <= width
    assert fitted == clean(text) or fitted.endswith("…")


def test_columns_are_aligned() -> None:
    """Numbers stand to the right, texts to the left, unknown numbers are blank."""
    rows: list[dict[str, object]] = [
        {"name": "long name", "count": 3},
        {"name": "b", "count": None},
        {"count": 120},
    ]
    assert columns(rows, ("name", "count")) == [
        "name       count",
        "long name      3",
        "b",
        "             120",
    ]
    assert columns([], ("name", "count")) == ["name  count"]
    assert table([], ("name",), "nothing yet") == ["nothing yet"]
    assert table(rows[:1], ("name",), "nothing yet") == ["name", "long name"]


def test_every_form_of_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """The same screen as text, JSON, JSON lines, CSV and Markdown."""
    said: dict[str, str] = {}
    for form in ("text", "json", "jsonl", "csv", "md"):
        emit(screen(), form)
        said[form] = capsys.readouterr().out
    assert said["text"] == "first\nsecond\n"
    assert json.loads(said["json"]) == {"schema": "ledger.test/1", "rows": ROWS}
    assert [json.loads(line) for line in said["jsonl"].splitlines()] == ROWS
    assert list(csv.reader(io.StringIO(said["csv"]))) == [
        ["name", "count", "list"],
        ["a|b", "3", "[1,2]"],
        ["'=1+1", "", "[]"],
    ]
    assert said["md"].splitlines() == [
        "| name | count | list |",
        "| --- | --- | --- |",
        r"| a\|b | 3 | \[1,2\] |",
        r"| =1+1 |  | \[\] |",
    ]


def test_a_value_that_is_no_object_stands_under_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is always an object with a schema."""
    emit(screen(value=[1, 2]), "json")
    assert json.loads(capsys.readouterr().out) == {"schema": "ledger.test/1", "rows": [1, 2]}


def test_no_rows_are_empty_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """Without rows CSV is empty and Markdown a blank line."""
    emit(screen(rows=[]), "csv")
    emit(screen(rows=[]), "md")
    emit(screen(rows=[]), "jsonl")
    assert capsys.readouterr().out == "\n"


def test_lines_of_a_screen_are_cleaned_once_more(capsys: pytest.CaptureFixture[str]) -> None:
    """What a command forgot to clean does no harm either."""
    emit(screen(lines=["a\x1b[2J", "b\u202e\nc"]), "text")
    assert capsys.readouterr().out == "a\ufffd[2J\nb\ufffd\nc\n"


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("@x", "'@x"),
        ("-1+cmd|x", "'-1+cmd|x"),
        ("\uff1d1", "'\uff1d1"),
        ("-12", "-12"),
        ("-1/2", "-1/2"),
        ("-0.5 %", "-0.5 %"),
        (-3, "-3"),
        ("a=b", "a=b"),
        ("", ""),
        (None, ""),
        ("\t=1", " =1"),
    ],
)
def test_no_cell_is_a_formula(value: object, cell: str) -> None:
    """What a spreadsheet would run gets an apostrophe; numbers stay numbers."""
    assert csv_cell(value) == cell


@given(TEXTS)
def test_markdown_cells_hold_no_markup(text: str) -> None:
    """Every character that means something in Markdown is escaped."""
    cell = markdown_cell(text)
    bare = cell.replace("\\\\", "")
    for char in "`*_{}[]<>|#!~&":
        assert bare.count(char) == bare.count("\\" + char)


def test_notes_go_beside_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    """Messages are on standard error, cleaned."""
    note("a\x1b\nb")
    assert capsys.readouterr() == ("", "a\ufffd\nb\n")


def test_an_error_is_one_clause_and_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    """The message, then what to try; without a hint only the message."""
    assert show_error(NotFoundError("no run 'x\x1b'", hint="ledger runs")) == 6
    assert capsys.readouterr().err == "Error: no run 'x\ufffd'\nhint: ledger runs\n"
    assert show_error(LedgerError("no")) == 1
    assert capsys.readouterr().err == "Error: no\n"


def test_faults_stand_before_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Every fault has a line of its own, then the error and its hint."""
    problems = [Problem(message="one", line=1), Problem(message="two\n", field="b")]
    assert show_error(InvalidInputError(problems, what="in.jsonl", hint="help")) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["1: one", "b: two "]
    assert said[2].startswith("Error: in.jsonl not acceptable: 2 faults")
    assert said[3:] == ["hint: help"]
    assert show_error(RefusedError(problems[:1], what="in.jsonl")) == 3


def test_many_faults_are_counted() -> None:
    """Only the first fifty are listed."""
    problems = [Problem(message=str(number)) for number in range(MAX_PROBLEMS + 2)]
    found = problem_lines(problems)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "… and 2 more"
    assert problem_lines(iter(problems[:MAX_PROBLEMS]))[-1] == str(MAX_PROBLEMS - 1)


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (OSError(28, "No space left on device"), 7, "Error: No space left on device\nhint: check"),
        (PermissionError(13, "Permission denied", "a\x1b"), 7, "Permission denied: a\ufffd\n"),
        (OSError("odd"), 7, "Error: odd\n"),
        (ValueError("odd"), 1, "Error: ValueError: odd\nhint: LEDGER_DEBUG=1"),
        (
            UnicodeEncodeError("utf-8", "x\udcff", 1, 2, "surrogates not allowed"),
            2,
            r"text that is not Unicode, found 'x\udcff'",
        ),
        (StorageError("busy"), 7, "Error: busy\n"),
    ],
)
def test_errors_of_the_world_are_ours(
    error: Exception, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors of the system are storage, text that is no Unicode is input, the rest is our fault."""
    assert show_error(error) == code
    assert says in capsys.readouterr().err


def test_structures_are_shown_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A structure as the value of a screen becomes its JSON."""

    class Value(msgspec.Struct):
        name: str = "x"

    emit(screen(value=Value()), "json")
    assert json.loads(capsys.readouterr().out) == {"schema": "ledger.test/1", "name": "x"}
