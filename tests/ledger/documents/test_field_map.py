"""Field maps: the form of a map, all faults at once."""

import pytest

from document_cases import fields_of
from trial_ledger.documents.field_map import (
    FieldMap,
    ListRule,
    ObjectRule,
    Path,
    Rule,
    parse_field_map,
)

HEAD = 'format = "jsonl"\nid = "id"\n'


def parsed(text: str) -> FieldMap:
    """Return the map of a TOML text that begins with format and id."""
    return parse_field_map((HEAD + text).encode(), source="map.toml")


def rule(text: str) -> object:
    """Return the rule of the context."""
    return parsed(f"context = {text}\n").fields["context"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", ("a",)),
        ("a.b c.d", ("a", "b c", "d")),
        ("a[0][12].b", ("a", 0, 12, "b")),
        ("[0].a", (0, "a")),
        ("a[*].b", ("a", None, "b")),
        ('a."b.c"[1]', ("a", "b.c", 1)),
        (r'"a\"b"', ('a"b',)),
        (".", ()),
    ],
)
def test_paths(text: str, path: Path) -> None:
    """Keys, indexes, every member, quoted keys, and the record itself."""
    assert rule(f"'{text}'") == Rule(path=path)


@pytest.mark.parametrize(
    "text", ["", "a.", ".a", "a..b", "a[", "a[x]", "a[-1]", 'a"', "a[0]b", '""']
)
def test_paths_that_cannot_be_read_are_refused(text: str) -> None:
    """A path that has two readings, or none, is a fault of the map."""
    assert fields_of(lambda: rule(f"'{text}'")) == {"context"}


def test_rules_may_be_lists_objects_and_steps() -> None:
    """A table with path or const is a rule, any other an object of rules."""
    assert rule('["a", {const = 1}]') == ListRule(rules=(Rule(path=("a",)), Rule(const=1)))
    assert rule('{x = "a", y = {z = "b"}}') == ObjectRule(
        fields={"x": Rule(path=("a",)), "y": ObjectRule(fields={"z": Rule(path=("b",))})}
    )
    assert rule(
        '{path = "a", json = true, split = ";", take = "values", entries = ["k", "v"], '
        'types = {null = 1}, map = {A = 2}, text = true, each = "b", wrap = "url"}'
    ) == Rule(
        path=("a",),
        json=True,
        split=";",
        take="values",
        entries=("k", "v"),
        types={"null": 1},
        translate={"A": 2},
        text=True,
        each=Rule(path=("b",)),
        wrap="url",
    )
    assert rule('{path = "a", take = "keys"}') == Rule(path=("a",), take="keys")


def test_gold_goes_by_shape_where_every_key_is_one() -> None:
    """`[gold.fact]` holds for facts only, `[gold]` for every question."""
    by_shape = parsed('[gold.fact]\nanswer = "a"\n[gold.list]\nitems = "b"\n')
    assert (by_shape.gold, set(by_shape.gold_by_shape)) == (None, {"fact", "list"})
    same = parsed('[gold]\nanswer = "a"\n')
    assert same.gold == ObjectRule(fields={"answer": Rule(path=("a",))})
    assert (parsed("").gold, parsed("").gold_by_shape) == (None, {})


def test_empty_cells_mean_no_value_in_csv_only() -> None:
    """A CSV file cannot say null otherwise; JSON can, and may be told to."""
    csv = parse_field_map(
        b'format = "csv"\nid = "id"\ndelimiter = "\\t"\nskip_lines = 2', source=None
    )
    assert (csv.empty, csv.delimiter, csv.skip_lines) == ("null", "\t", 2)
    assert parsed("").empty == "keep"
    assert parsed('empty = "null"').empty == "null"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('delimiter = ";;"', "delimiter"),
        ('questions = "q"', "questions"),
        ("split = 3", "split"),
        ("context = []\nextra = [3]", "extra[0]"),
        ('context = {path = "a", const = 1}', "context"),
        ('context = {path = "a", wrp = "url"}', "context.wrp"),
        ('context = {path = "a", split = ""}', "context.split"),
        ('context = {path = "a", take = "all"}', "context.take"),
        ('context = {path = "a", entries = ["k"]}', "context.entries"),
        ('context = {path = "a", types = {number = 1}}', "context.types"),
        ('context = {path = "a", each = 3}', "context.each"),
        ("context = {const = 0.5}", "context.const"),
        ("[gold.fact]\nanswer = 3", "gold.fact.answer"),
        ("gold = 3", "gold"),
    ],
)
def test_each_part_of_a_map_is_checked(text: str, field: str) -> None:
    """What cannot be read is named by its path."""
    assert fields_of(lambda: parsed(text)) == {field}


def test_format_and_id_are_needed() -> None:
    """Without them nothing can be read."""
    assert fields_of(lambda: parse_field_map(b'format = "xml"', source=None)) == {"format", "id"}
    assert fields_of(lambda: parse_field_map(b"", source=None)) == {"format", "id"}
