"""Checked fields: every fault once, with place, nearest word and without made-up values."""

import pytest

from document_cases import problems_of
from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.reading import Faults, Table, given, is_name, locate, nearest


def table_of(**values: Json) -> Table:
    """Return a table of these values with no faults yet."""
    return Table(values, Faults(source="d.toml", what="document"))


def expected(table: Table) -> list[tuple[str | None, str | None]]:
    """Return field and expectation of each fault of a table."""
    return [(problem.field, problem.expected) for problem in table.faults.problems]


def test_good_values_come_back_and_missing_ones_are_none() -> None:
    """A reader returns what stands there; null and absent both read as None."""
    table = table_of(t="x", n=3, b=False, l=["a", "b"], c="red", m={"k": 1}, null=None)
    assert table.text("t") == table.name("t") == "x"
    assert table.integer("n") == 3
    assert table.boolean("b") is False
    assert table.names("l") == ("a", "b")
    assert table.choice("c", ("red", "blue")) == "red"
    assert table.mapping("m") == {"k": 1}
    assert (table.text("null"), table.integer("absent"), table.boolean("absent")) == (None,) * 3
    assert (table.names("absent"), table.table("absent")) == (None, None)
    assert (table.mapping("absent"), table.tables("absent"), table.listed("absent")) == ({}, {}, [])
    assert table.faults.problems == []
    table.finish()
    assert table.faults.problems == []


@pytest.mark.parametrize(
    ("method", "value", "wanted"),
    [
        ("text", 3, "text"),
        ("name", "", "1 to 256 characters, none of them a control character"),
        ("name", "a\nb", "1 to 256 characters, none of them a control character"),
        ("name", "x" * 257, "1 to 256 characters, none of them a control character"),
        ("integer", True, "an integer from 0"),
        ("integer", "3", "an integer from 0"),
        ("integer", -1, "an integer from 0"),
        ("boolean", 1, "true or false"),
        ("names", "a", "a list of names"),
        ("table", [1], "a table"),
        ("mapping", [1], "a table"),
        ("listed", {"a": 1}, "a list of tables"),
        ("tables", 1, "a table"),
    ],
)
def test_wrong_values_are_reported_once(method: str, value: Json, wanted: str) -> None:
    """A value of another type is a fault with what would be accepted, told a single time."""
    table = table_of(x=value)
    getattr(table, method)("x")
    getattr(table, method)("x")
    assert expected(table) == [("x", wanted)]


def test_members_of_lists_are_checked_one_by_one() -> None:
    """A bad member is named by its index; a repeated one is told."""
    table = table_of(names=["a", "a", 3, ""], parts=[{"k": 1}, 2])
    assert table.names("names") == ("a",)
    assert [part.path for part in table.listed("parts")] == ["parts[0]"]
    assert [(p.field, p.message, p.found) for p in table.faults.problems] == [
        ("names[1]", "stands twice", "'a'"),
        ("names[2]", "wrong value", "3"),
        ("names[3]", "wrong value", "''"),
        ("parts[1]", "wrong value", "2"),
    ]


def test_named_tables_need_tables_and_printable_names() -> None:
    """A name with a control character and a value that is no table are faults."""
    table = table_of(models={"main": {"a": 1}, "b\x00": {}, "c": 1})
    assert set(table.tables("models")) == {"main"}
    assert [field for field, _ in expected(table)] == ['models."b\\u0000"', "models.c"]


def test_unknown_words_name_the_nearest_known_one() -> None:
    """A typing error is answered with the word that was probably meant, else with all words."""
    table = table_of(colour="rad", other="xyzzy", timeout_m=1, zzz=2)
    table.choice("colour", ("red", "blue"))
    table.choice("other", ("red", "blue"))
    table.integer("timeout_ms")
    table.finish()
    assert expected(table) == [
        ("colour", "red"),
        ("other", "one of red, blue"),
        ("timeout_m", "timeout_ms"),
        ("zzz", "one of colour, other, timeout_ms"),
    ]


def test_required_fields_are_missing_when_null_and_wanted_ones_only_when_strict() -> None:
    """In a reconstructed document a field that is only wanted may be unknown."""
    table = table_of(a=None)
    table.require("a", clause="C1")
    table.want("b")
    table.faults.lenient = True
    table.want("c")
    assert [(p.field, p.clause) for p in table.faults.problems] == [("a", "C1"), ("b", None)]


def test_faults_stop_with_all_of_them_and_a_hint() -> None:
    """`stop` passes where nothing is wrong and raises everything where something is."""
    faults = Faults(source="f", what="rubric", hint="ledger init --template")
    faults.stop()
    faults.add("one", line=3)
    faults.line = 9
    faults.add("two", field="x")
    problems = problems_of(faults.stop)
    assert [(problem.message, problem.line) for problem in problems] == [("one", 3), ("two", 9)]


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("top", 1),
        ("limits", 2),
        ("limits.timeout_ms", 3),
        ("models.main.name", 6),
        ("limits.inline.deep", 4),
        ("limits.absent", 2),
        ('limits."quoted"', 7),
        ("nowhere", None),
        (None, None),
    ],
)
def test_lines_are_found_by_the_names_of_the_field(field: str | None, line: int | None) -> None:
    """The deepest part of the path that can be found gives the line."""
    text = 'top = 1|[limits]|timeout_ms = 2|inline = {deep = 3}|[models.main]|name = 1|"quoted" = 1'
    assert locate(text.split("|"), field) == line


def test_small_helpers() -> None:
    """Nearest word, name check, and fields without None."""
    assert nearest("corect", ("correct", "incorrect")) == "correct"
    assert nearest("zzz", ("correct",)) is None
    assert is_name("Zürich 1")
    assert not is_name("a\u2028b")
    assert given(a=1, b=None, c=False) == {"a": 1, "c": False}
