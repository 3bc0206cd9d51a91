"""Read an existing dataset format as it is, by a map from its fields to ours (C1).

Invariant: a map only moves, splits and names values; it computes nothing, and what it cannot read
in a record is a fault of that record, never a guess.

A rule says where a value comes from:

- `"answer"`, `"data.qas[0].answer"`, `"source[*].url"`, `"."`: a path in the record, a key quoted
  where it holds a dot, `[*]` for every member of a list, `.` for the record itself;
- a list of rules: the values of those that give one;
- a table with `path` or `const` and the steps of `Rule`, in the order in which they stand there;
- any other table: an object with a rule for each of its keys.
"""

import re
from typing import Literal, TypeAlias

import msgspec

from trial_ledger.documents.dataset_structs import TASK_SHAPES
from trial_ledger.documents.reading import Table, given
from trial_ledger.documents.toml_form import parse_table

__all__ = ["AnyRule", "FieldMap", "ListRule", "ObjectRule", "Path", "Rule", "parse_field_map"]

HINT = "ledger help formats describes field maps"
TARGETS = ("id", "question", "task_shape", "as_of", "split", "context", "extra")
KEY = r'"(?:[^"\\]|\\.)+"|[^.\[\]"]+'
MEMBER = r"\[(?:[0-9]{1,9}|\*)\]"
WHOLE_PATH = re.compile(rf"(?:{KEY}|{MEMBER})(?:\.(?:{KEY})|{MEMBER})*")
STEP = re.compile(rf"{KEY}|{MEMBER}")
PAIR = 2
JSON_TYPES = ("object", "array", "text", "integer", "boolean", "null")
"""Types of a value; a decimal is a text here."""

Path: TypeAlias = tuple[str | int | None, ...]
"""Steps into a record: a key, an index, or None for every member of a list."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, tag="rule"):
    """Where one value comes from and what is done with it, in this order."""

    path: Path | None = None
    """Where it stands; None takes `const`."""
    const: object = None
    """A fixed value."""
    json: bool = False
    """The text is JSON: take its value."""
    split: str | None = None
    """The text is a list: take the stripped parts between this separator, without empty ones."""
    take: Literal["keys", "values"] | None = None
    """The value is an object: take the list of its keys or of its values."""
    entries: tuple[str, str] | None = None
    """The value is an object: take one `{first: key, second: value}` for each member."""
    types: dict[str, object] | None = None
    """Take the value that stands here under the type of the value found."""
    translate: dict[str, object] | None = msgspec.field(name="map", default=None)
    """Take what stands here under the text of the value found."""
    text: bool = False
    """Take numbers and truth values as text."""
    each: "AnyRule | None" = None
    """The value is a list (or one member): apply this rule to each member as a record."""
    wrap: str | None = None
    """The value is a list (or one member): take `{wrap: member}` for each."""


class ListRule(msgspec.Struct, frozen=True, kw_only=True, tag="list"):
    """The values of several rules, those that give none left out."""

    rules: tuple["AnyRule", ...]
    """The rules."""


class ObjectRule(msgspec.Struct, frozen=True, kw_only=True, tag="object"):
    """An object, keys whose rule gives nothing left out."""

    fields: dict[str, "AnyRule"]
    """A rule for each key."""


AnyRule: TypeAlias = Rule | ListRule | ObjectRule


class FieldMap(msgspec.Struct, frozen=True, kw_only=True):
    """How to read one existing format."""

    format: Literal["jsonl", "json", "csv"]
    """Form of the file."""
    records: Path = ()
    """Where the list of records stands in a JSON document."""
    skip_lines: int = 0
    """Lines before the header of a CSV file."""
    delimiter: str = ","
    """What separates the cells of a CSV file."""
    empty: Literal["null", "keep"] = "keep"
    """Whether an empty text means that there is no value; `null` is the default for CSV."""
    fields: dict[str, AnyRule]
    """A rule for each field of a question."""
    gold: AnyRule | None = None
    """Rule of the gold, the same for every shape; None where it goes by shape, or without gold."""
    gold_by_shape: dict[str, AnyRule] = {}
    """Rule of the gold by task shape."""


def parse_field_map(data: bytes, *, source: str | None) -> FieldMap:
    """Return the field map of a TOML document.

    Raises:
        InvalidInputError: with every fault found.
    """
    values, faults = parse_table(data, source=source, what="field map")
    faults.hint = HINT
    table = Table(values, faults)
    table.require("format", "id")
    form = table.choice("format", ("jsonl", "json", "csv"))
    delimiter = table.text("delimiter")
    if delimiter is not None and not re.fullmatch(r"[\t -~]", delimiter):
        table.wrong("delimiter", "one ASCII character")
    fields = {key: read_rule(table, key) for key in TARGETS if table.has(key)}
    table.known.update(TARGETS)
    gold, by_shape = read_gold_rules(table)
    document = given(
        format=form,
        records=read_path(table, "records"),
        skip_lines=table.integer("skip_lines"),
        delimiter=delimiter,
        empty=table.choice("empty", ("null", "keep")) or ("null" if form == "csv" else "keep"),
        fields={key: rule for key, rule in fields.items() if rule is not None},
        gold=gold,
        gold_by_shape=by_shape,
    )
    table.finish()
    faults.stop()
    return msgspec.convert(document, type=FieldMap)


def read_gold_rules(table: Table) -> tuple[AnyRule | None, dict[str, AnyRule]]:
    inner = table.values.get("gold")
    if isinstance(inner, dict) and inner and set(inner) <= set(TASK_SHAPES):
        shapes = table.table("gold")
        assert shapes is not None, "a dictionary reads as a table"
        found = {shape: read_rule(shapes, shape) for shape in inner}
        return None, {shape: rule for shape, rule in found.items() if rule is not None}
    return (read_rule(table, "gold") if table.has("gold") else None), {}


def read_rule(table: Table, key: str) -> AnyRule | None:
    """Return the rule that stands in a field, None where it is none (and was reported)."""
    value = table.raw(key)
    if isinstance(value, str):
        path = read_path(table, key)
        return None if path is None else Rule(path=path)
    if isinstance(value, list):
        members = table.positions(key)
        rules = [read_rule(members, name) for name in members.values]
        return ListRule(rules=tuple(rule for rule in rules if rule is not None))
    inner = table.table(key)
    if inner is None:
        table.wrong(key, "a path, a list of rules or a table")
        return None
    if "path" in inner.values or "const" in inner.values:
        return read_steps(inner)
    found = {name: read_rule(inner, name) for name in inner.values}
    return ObjectRule(fields={name: rule for name, rule in found.items() if rule is not None})


def read_steps(table: Table) -> Rule:
    if table.has("path") and table.has("const"):
        table.faults.add("both path and const", field=table.path, expected="one of them")
    entries = table.names("entries")
    if entries is not None and len(entries) != PAIR:
        table.wrong("entries", "two names, for key and value")
    types = table.table("types")
    for name in types.values if types is not None else ():
        if name not in JSON_TYPES:
            table.wrong("types", f"keys of {', '.join(JSON_TYPES)}")
    split = table.text("split")
    if split == "":
        table.wrong("split", "a separator")
    rule = Rule(
        path=read_path(table, "path"),
        const=table.raw("const"),
        json=table.boolean("json") or False,
        split=split or None,
        take=read_take(table),
        entries=None if entries is None or len(entries) != PAIR else (entries[0], entries[1]),
        types=None if types is None else dict(types.values),
        translate=dict(table.mapping("map")) if table.has("map") else None,
        text=table.boolean("text") or False,
        each=read_rule(table, "each") if table.has("each") else None,
        wrap=table.name("wrap"),
    )
    table.known.update(("map", "each"))
    table.finish()
    return rule


def read_take(table: Table) -> Literal["keys", "values"] | None:
    word = table.choice("take", ("keys", "values"))
    return None if word is None else ("keys" if word == "keys" else "values")


def read_path(table: Table, key: str) -> Path | None:
    """Return the steps of a path, reporting one that cannot be read."""
    text = table.text(key)
    if text is None:
        return None
    if text == ".":
        return ()
    if not WHOLE_PATH.fullmatch(text):
        table.wrong(key, 'a path such as answers[0]."short answer"')
        return None
    return tuple(step(part) for part in STEP.findall(text))


def step(part: str) -> str | int | None:
    """Return one step of a path from its text."""
    if part.startswith("["):
        return None if part == "[*]" else int(part[1:-1])
    return re.sub(r"\\(.)", r"\1", part[1:-1]) if part.startswith('"') else part
