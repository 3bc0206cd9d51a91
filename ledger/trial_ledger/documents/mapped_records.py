"""Apply a field map to a file: its records in the form of dataset.jsonl, each with its place.

Invariant: a record in which a rule failed is reported and still yielded, so that all faults of a
file come out at once.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.field_map import AnyRule, FieldMap, ListRule, ObjectRule, Path, Rule
from trial_ledger.documents.reading import Faults, kind_or_value
from trial_ledger.documents.records import Place, Record, read_lines
from trial_ledger.documents.toml_form import decode_text
from trial_ledger.errors import InvalidInputError
from trial_ledger.strict_json import join_path, parse_json, shorten

__all__ = ["read_mapped"]


def read_mapped(data: bytes, field_map: FieldMap, faults: Faults) -> Iterator[Record]:
    """Yield the records of a file in the form of dataset.jsonl.

    Raises:
        InvalidInputError: the file as a whole cannot be read.
    """
    for place, values in read_source(data, field_map, faults):
        faults.line = place.line
        mapper = Mapper(field_map, faults, place)
        yield Record(place, mapper.record(values))
    faults.line = None


def read_source(data: bytes, field_map: FieldMap, faults: Faults) -> Iterator[Record]:
    """Yield the records of a file as they are."""
    if field_map.format == "csv":
        return read_rows(data, field_map, faults)
    if field_map.format == "json":
        return read_document(data, field_map, faults)
    return read_lines(data, faults)


def read_document(data: bytes, field_map: FieldMap, faults: Faults) -> Iterator[Record]:
    text = decode_text(data, source=faults.source, what=faults.what)
    document = parse_json(text, source=faults.source, allow_decimals=True)
    found = follow(document, field_map.records)
    if not isinstance(found, list):
        shown = kind_or_value(found)
        faults.add("no list of records", field="records", found=shown, expected="a list")
        return
    start = path_text(field_map.records)
    for index, member in enumerate(found):
        place = Place(None, join_path(start, index))
        if isinstance(member, dict):
            yield Record(place, member)
        else:
            faults.add("not an object", field=place.path, found=kind_or_value(member))


def path_text(path: Path) -> str | None:
    text = None
    for step in path:
        text = join_path(text, "*" if step is None else step)
    return text


def read_rows(data: bytes, field_map: FieldMap, faults: Faults) -> Iterator[Record]:
    """Yield the rows of a CSV file under the names of its header."""
    text = decode_text(data, source=faults.source, what=faults.what)
    lines = io.StringIO(text, newline="")
    for _ in range(field_map.skip_lines):
        lines.readline()
    rows = csv.reader(lines, delimiter=field_map.delimiter, strict=True)
    header: list[str] | None = None
    line = field_map.skip_lines + 1
    try:
        for row in rows:
            place = Place(line, None)
            line = field_map.skip_lines + rows.line_num + 1
            if header is None:
                header = row
                report_header(header, place, faults)
            elif len(row) > len(header):
                faults.add(
                    "more cells than the header has",
                    line=place.line,
                    found=str(len(row)),
                    expected=str(len(header)),
                )
            elif row:
                yield Record(place, dict(zip(header, row, strict=False)))
    except csv.Error as error:
        faults.add(f"not CSV: {error}", line=line)


def report_header(header: Sequence[str], place: Place, faults: Faults) -> None:
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        names = ", ".join(shorten(name) for name in repeated)
        faults.add(f"columns stand twice: {names}", line=place.line)


class Mapper:
    """Applies the rules of a map to one record."""

    def __init__(self, field_map: FieldMap, faults: Faults, place: Place) -> None:
        self.map = field_map
        self.faults = faults
        self.place = place

    def record(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Return the record in the form of dataset.jsonl; what no rule gives is left out."""
        found = {
            target: self.value(rule, values, target) for target, rule in self.map.fields.items()
        }
        rule = self.map.gold
        if self.map.gold_by_shape:
            rule = self.map.gold_by_shape.get(str(found.get("task_shape")))
        if rule is not None:
            found["gold"] = self.value(rule, values, "gold")
        return {target: value for target, value in found.items() if value is not None}

    def value(self, rule: AnyRule, source: Json | Mapping[str, Json], target: str) -> Json:
        """Return what a rule gives, None where it gives nothing."""
        match rule:
            case Rule():
                return self.single(rule, source, target)
            case ListRule():
                members = [
                    self.value(inner, source, join_path(target, index))
                    for index, inner in enumerate(rule.rules)
                ]
                return [member for member in members if member is not None]
            case ObjectRule():
                found = {
                    key: self.value(inner, source, join_path(target, key))
                    for key, inner in rule.fields.items()
                }
                return {key: value for key, value in found.items() if value is not None} or None
            case _ as unreachable:
                assert_never(unreachable)

    def single(self, rule: Rule, source: Json | Mapping[str, Json], target: str) -> Json:
        """Return the value of one rule after all its steps."""
        if rule.path is None:
            return rule.const  # type: ignore[return-value] # read from a document
        value = follow(source, rule.path)
        if value == "" and self.map.empty == "null":
            value = None
        if rule.json and isinstance(value, str):
            value = self.decoded(value, target)
        value = self.named(rule, value, target)
        if value is None:
            return None
        value = reshaped(rule, value)
        if rule.each is not None:
            each = rule.each
            value = [
                self.value(each, member, join_path(target, index))
                for index, member in enumerate(as_list(value))
            ]
        return [{rule.wrap: member} for member in as_list(value)] if rule.wrap else value

    def decoded(self, text: str, target: str) -> Json:
        try:
            return parse_json(  # type: ignore[return-value] # it returns JSON
                text, source=self.faults.source, line=self.place.line, allow_decimals=True
            )
        except InvalidInputError as error:
            for problem in error.problems:
                inner = target if problem.field is None else f"{target}.{problem.field}"
                self.fault(problem.message, inner, found=problem.found)
            return None

    def named(self, rule: Rule, value: Json, target: str) -> Json:
        """Return the value after `types` and `map`, reporting one that stands in neither."""
        for table, name_of in ((rule.types, type_name), (rule.translate, text_of)):
            if table is None:
                continue
            key = name_of(value)
            if key not in table:
                if value is not None:
                    known = ", ".join(table)
                    self.fault("no rule of the map for it", target, found=key, expected=known)
                return None
            value = table[key]  # type: ignore[assignment] # read from a document
        return value

    def fault(
        self, message: str, target: str, *, found: str | None, expected: str | None = None
    ) -> None:
        path = target if self.place.path is None else f"{self.place.path}.{target}"
        shown = None if found is None else shorten(found)
        self.faults.add(message, field=path, found=shown, expected=expected)


def follow(value: object, path: Path) -> Json:
    """Return the value at the end of a path, None where a step leads nowhere."""
    for number, step in enumerate(path):
        if step is None:
            members = value if isinstance(value, list) else ()
            rest = path[number + 1 :]
            found = [follow(member, rest) for member in members]
            flat: list[Json] = [part for part in found if part is not None]
            if None in rest:
                flat = [inner for part in flat for inner in as_list(part)]
            return flat
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value  # type: ignore[return-value] # what lies in a document is JSON


def reshaped(rule: Rule, value: Json) -> Json:
    """Return the value after `split`, `take`, `entries` and `text`."""
    if rule.split is not None and isinstance(value, str):
        value = [part.strip() for part in value.split(rule.split) if part.strip()]
    if isinstance(value, dict):
        if rule.take is not None:
            value = list(value) if rule.take == "keys" else list(value.values())
        elif rule.entries is not None:
            first, second = rule.entries
            value = [{first: key, second: member} for key, member in value.items()]
    return as_text(value) if rule.text else value


def as_text(value: Json) -> Json:
    if isinstance(value, list):
        return [as_text(member) for member in value]
    if isinstance(value, dict):
        return {key: as_text(member) for key, member in value.items()}
    return None if value is None else text_of(value)


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def text_of(value: Json) -> str:
    """Return a value as the text that a map translates."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def type_name(value: Json) -> str:
    if value is None:
        return "null"
    names = {str: "text", bool: "boolean", int: "integer", list: "array", dict: "object"}
    return names[type(value)]
