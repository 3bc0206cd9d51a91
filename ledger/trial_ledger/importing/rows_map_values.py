"""Read the places, conditions and values that a row map is made of.

Invariant: whatever is wrong is reported with its key, and reading goes on.
"""

import re
from typing import Literal, cast

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.field_map import STEP, WHOLE_PATH, Path, step
from trial_ledger.documents.reading import Table
from trial_ledger.importing.rows_structs import ANY_KEY, Condition, RowsPath, Unit, Value, Where
from trial_ledger.strict_json import join_path

__all__ = ["read_condition", "read_rows_path", "read_value", "read_values", "words"]

ROOTED = re.compile(r"(\$|\^{1,9})(?:\.(?=.)|(?=\[)|\Z)(.*)", re.DOTALL)
MATCHED = re.compile(r"\*([1-9]?)")
OFFSET = re.compile(r"[+-](?:0\d|1[0-4]):[0-5]\d")
UNITS: tuple[Unit, ...] = ("s", "ms", "us")
PAIR = 2
ONE_OF = "path, or const, or row = true"
PATH = 'a path such as answer, "a key".part, $.in_the_document, ^.around_the_row or *'


def read_where(table: Table, key: str) -> Where | None:
    """Return the place that a text names, reporting one that cannot be read."""
    text = table.text(key)
    if text is None:
        return None
    matched = MATCHED.fullmatch(text)
    if matched:
        return Where(origin="key", level=int(matched[1] or 1), text=text)
    rooted = ROOTED.fullmatch(text)
    origin: Literal["row", "document", "enclosing"] = "row"
    rest, level = text, 1
    if rooted:
        origin = "document" if rooted[1] == "$" else "enclosing"
        rest, level = rooted[2], len(rooted[1])
    path = parse_path(rest)
    if path is None:
        table.wrong(key, PATH)
        return None
    return Where(origin=origin, level=level, path=path, text=text)


def parse_path(text: str) -> Path | None:
    """Return the steps of a path below some place, None where it is none; `` and `.` are ()."""
    if text in {"", "."}:
        return ()
    if not WHOLE_PATH.fullmatch(text):
        return None
    return tuple(step(part) for part in STEP.findall(text))


def read_rows_path(table: Table, key: str) -> RowsPath:
    """Return the steps to the rows, `*` for every key of an object; reports a bad one."""
    text = table.text(key)
    if text is None or text == ".":
        return ()
    if not WHOLE_PATH.fullmatch(text):
        table.wrong(key, "a path such as systems.*.records")
        return ()
    return tuple(ANY_KEY if part == "*" else step(part) for part in STEP.findall(text))


def words(table: Table, key: str) -> tuple[str, ...] | None:
    """Return a list of values as the texts that values of rows are compared with."""
    value = table.raw(key)
    if value is None:
        return None
    members = value if isinstance(value, list) else [value]
    for index, member in enumerate(members):
        if isinstance(member, list | dict):
            table.faults.add(
                "wrong value",
                field=join_path(table.at(key), index),
                expected="a text, a number or a truth value",
            )
    return tuple(text_of(member) for member in members)


def text_of(value: Json) -> str:
    """Return a value as the text that maps and lists of words name it by."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def read_condition(table: Table, key: str) -> Condition | None:
    """Return a condition `{path, is | not | starts}`, reporting one that says nothing."""
    inner = table.table(key)
    if inner is None:
        return None
    inner.require("path")
    condition = {
        "values": words(inner, "is"),
        "others": words(inner, "not"),
        "prefix": inner.text("starts"),
    }
    where = read_where(inner, "path")
    if all(part is None for part in condition.values()) and not inner.reported("starts"):
        table.faults.add("says nothing", field=inner.path, expected="is, not or starts")
    inner.finish()
    if where is None:
        return None
    return Condition(where=where, **condition)  # type: ignore[arg-type] # read by name


def read_values(table: Table, key: str) -> tuple[Value, ...]:
    """Return a value, or a list of values that are joined to one."""
    if not isinstance(table.values.get(key), list):
        value = read_value(table, key)
        return () if value is None else (value,)
    members = table.positions(key)
    found = [read_value(members, name) for name in members.values]
    return tuple(value for value in found if value is not None)


def read_value(table: Table, key: str) -> Value | None:
    """Return the value that stands under a key; None where there is none, or it was reported."""
    value = table.raw(key)
    field = table.at(key)
    if value is None:
        return None
    if isinstance(value, str):
        where = read_where(table, key)
        return None if where is None else Value(field=field, where=where)
    if not isinstance(value, dict):
        table.wrong(key, 'a path, or a table such as {const = "x"}')
        return None
    return read_steps(Table(value, table.faults, path=field), field)


def read_steps(inner: Table, field: str) -> Value | None:
    given = [key for key in ("path", "const", "row") if inner.has(key)]
    if len(given) != 1:
        found = ", ".join(given) or "none"
        inner.faults.add(
            "says where a value stands once", field=field, found=found, expected=ONE_OF
        )
    where = read_where(inner, "path")
    if inner.boolean("row"):
        where = Where(origin="number", text="the number of the row")
    at = inner.text("at")
    steps = None if at is None else parse_path(at)
    if at is not None and steps is None:
        inner.wrong("at", PATH)
    offset = inner.text("offset")
    if offset is not None and not OFFSET.fullmatch(offset):
        inner.wrong("offset", '"+00:00" or another offset from UTC')
    split = inner.text("split")
    if split == "":
        inner.wrong("split", "a separator")
    first = inner.integer("from")
    value = Value(
        field=field,
        where=where,
        const=inner.raw("const"),
        json=inner.boolean("json") or False,
        at=steps,
        unknown=words(inner, "unknown"),
        when=read_condition(inner, "when"),
        parts=read_parts(inner),
        split=split or None,
        translate=dict(inner.mapping("map")) if inner.has("map") else None,
        unit=cast("Unit | None", inner.choice("unit", UNITS)),
        offset=offset,
        first=1 if first is None else first,
        optional=inner.boolean("optional") or False,
    )
    inner.known.add("map")
    inner.finish()
    return value if where is not None or inner.has("const") else None


def read_parts(table: Table) -> tuple[tuple[str, int], ...]:
    """Return the cuts `[[separator, part], ...]`; one cut may stand without the outer list."""
    value = table.raw("parts")
    if value is None:
        return ()
    cuts: list[Json] = value if isinstance(value, list) else [value]
    found = [cut for cut in map(read_cut, [cuts]) if cut is not None]
    found = found or [cut for cut in map(read_cut, cuts) if cut is not None]
    if not found or (len(found) != len(cuts) and read_cut(cuts) is None):
        table.wrong("parts", 'cuts such as [".", -2]: at each dot, the last part but one')
    return tuple(found)


def read_cut(cut: Json) -> tuple[str, int] | None:
    """Return a separator and which part, None where it is none."""
    if not isinstance(cut, list) or len(cut) != PAIR:
        return None
    separator, index = cut
    if not isinstance(separator, str) or not separator:
        return None
    if not isinstance(index, int) or isinstance(index, bool):
        return None
    return separator, index
