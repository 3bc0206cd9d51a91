"""What a file of unknown layout looks like: its form, where its rows stand, its columns.

Invariant: nothing is decided about meaning here; every column is described by its values alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal

import msgspec
from msgspec.structs import replace

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.records import Place
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.rows_faults import RowFaults
from trial_ledger.importing.rows_map_values import text_of
from trial_ledger.importing.rows_source import (
    UTF_16_MARKS,
    Row,
    decoded,
    parse_text,
    read_source_rows,
)
from trial_ledger.importing.rows_structs import ANY_KEY, RowMap, RowsPath, Value
from trial_ledger.importing.rows_suggest_names import TELLING
from trial_ledger.importing.rows_values import decimal_of

__all__ = ["Column", "Sample", "sample_of"]

HINT = "ledger help formats says which forms are read"
DELIMITERS = "\t,;|"
FIRST_LINES = 1000
MAX_ROWS = 50_000
MAX_DISTINCT = 1000
MAX_COLUMNS = 200
PATH_DEPTH = 5
COLUMN_DEPTH = 3
SIMILAR = 2
"""Of the keys of two objects, one in so many at least is shared where they are of one kind."""
GROUPS = frozenset({"systems", "models", "agents", "configurations", "arms", "runs", "variants"})
"""Keys under which even one member is one of several."""


class Column(msgspec.Struct, kw_only=True):
    """One column of the rows."""

    path: tuple[str, ...]
    """Keys that lead to it in a row."""
    total: int = 0
    """How many rows there are."""
    rows: int = 0
    """In how many of them it is."""
    empty: int = 0
    """In how many of them it is null or an empty text."""
    blank: int = 0
    """How many of those are an empty text that a map without `empty` takes for a value."""
    numbers: int = 0
    """How many values are numbers, as JSON or as text."""
    truths: int = 0
    """How many are truth values."""
    lists: int = 0
    """How many are lists."""
    distinct: dict[str, int] = {}
    """How often each value stands there, of at most 1,000."""

    @property
    def name(self) -> str:
        """Return its keys in one lower-case name, words parted by underscores."""
        text = "_".join(self.path).lower()
        return "_".join("".join(c if c.isalnum() else " " for c in text).split())

    @property
    def known(self) -> int:
        """Return in how many rows it has a value."""
        return self.rows - self.empty

    @property
    def is_whole(self) -> bool:
        """Return whether every row has a value."""
        return self.known == self.total

    @property
    def is_number(self) -> bool:
        """Return whether all of its values are numbers."""
        return self.known > 0 and self.numbers == self.known


class Sample(msgspec.Struct, kw_only=True):
    """What a file looks like."""

    format: str
    """json, jsonl, csv or tsv."""
    delimiter: str | None
    """What separates its cells, where that is neither a comma nor a tab."""
    encoding: str
    """How its text is written as bytes."""
    quotes: bool
    """Whether quotation marks enclose its cells."""
    faults: Sequence[str]
    """What is wrong with the file itself, in sentences."""
    rows: Sequence[Row]
    """Its rows, at most 50,000."""
    path: RowsPath
    """Where they stand."""
    columns: Sequence[Column]
    """Their columns, in the order in which they appear."""


def sample_of(content: bytes, *, source: str) -> Sample:
    """Return what the bytes of a file look like, after decompression.

    Raises:
        InvalidInputError: there are no rows to be found.
    """
    encoding = encoding_of(content)
    text = decoded(content, source=source, encoding=encoding)
    form, delimiter = form_of(text, source=source)
    path: RowsPath = ()
    if form == "json" or (form == "jsonl" and len(filled_lines(text)) == 1):
        path = rows_path_of(text, source=source)
    row_map = RowMap(
        digest="",
        document=b"",
        format=form,
        encoding=encoding,
        rows=path,
        delimiter=delimiter,
        configuration=Value(field="configuration", const=""),
        metrics={},
    )
    rows, faults = rows_of(content, row_map, source=source)
    quotes = True
    if faults.problems and form == "csv":
        plain, fewer = rows_of(content, replace(row_map, quotes=False), source=source)
        if not fewer.problems:
            rows, faults, quotes = plain, fewer, False
    if not rows:
        faults.stop(hint=HINT)
        raise InvalidInputError.single("holds no row", what="rows", source=source, hint=HINT)
    return Sample(
        format="tsv" if delimiter == "\t" else form,
        delimiter=None if delimiter in {",", "\t"} else delimiter,
        encoding=encoding,
        quotes=quotes,
        faults=[str(problem) for problem in faults.problems],
        rows=rows,
        path=path,
        columns=columns_of(rows, blank=form != "csv"),
    )


def encoding_of(content: bytes) -> str:
    """Return the encoding that a file most likely has: UTF-8, else that of Western Windows."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        is_text = b"\0" not in content and content[:2] not in UTF_16_MARKS
        return "cp1252" if is_text else "utf-8"
    return "utf-8"


def rows_of(content: bytes, row_map: RowMap, *, source: str) -> tuple[list[Row], RowFaults]:
    """Return the first rows of a file, and what is wrong with them."""
    faults = RowFaults(source=source)
    return list(islice(read_source_rows(content, row_map, faults), MAX_ROWS)), faults


def form_of(text: str, *, source: str) -> tuple[Literal["json", "jsonl", "csv"], str]:
    """Return the form of a text, and what separates its cells where it is CSV."""
    lines = filled_lines(text)
    start = text.lstrip()[:1]
    if start in {"{", "["}:
        alone = RowFaults(source=source)
        parse_text(lines[0], alone, Place(1, None))
        is_lines = start == "{" and not alone.problems
        if is_lines and (len(lines) > 1 or is_named_lines(source)):
            return "jsonl", ","
        return "json", ","
    header = lines[0] if lines else ""
    delimiter = max(DELIMITERS, key=header.count)
    return "csv", delimiter if delimiter in header else ","


def filled_lines(text: str) -> list[str]:
    """Return the first lines of a text that are not blank."""
    return [line for line in islice(text.split("\n"), FIRST_LINES) if line.strip()]


def is_named_lines(source: str) -> bool:
    """Return whether a file is called JSON lines, which matters where it has one line only."""
    return source.removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def rows_path_of(text: str, *, source: str) -> RowsPath:
    """Return where the rows of a JSON document most likely stand.

    Raises:
        InvalidInputError: the text is not JSON.
    """
    faults = RowFaults(source=source)
    document = parse_text(text, faults, Place(None, None))
    faults.stop(hint=HINT)
    found: dict[RowsPath, list[Json]] = {}
    for path, objects in candidates(document, (), None):
        found.setdefault(path, []).extend(objects)
    return max(found, key=lambda path: (is_telling(found[path][0]), len(found[path])), default=())


def is_telling(value: Json) -> bool:
    """Return whether an object has a key that rows of results have."""
    assert isinstance(value, dict), "candidates are objects"
    columns = [Column(path=path) for path, _ in leaves(value, ())]
    return any({one.name, Column(path=one.path[-1:]).name} & TELLING for one in columns)


def candidates(
    value: Json, path: RowsPath, parent: str | None
) -> Iterator[tuple[RowsPath, list[Json]]]:
    """Yield every path to a list of objects, or to objects that are alike, and those objects."""
    if len(path) > PATH_DEPTH:
        return
    if isinstance(value, list):
        if value and all(isinstance(member, dict) for member in value):
            yield path, value
        return
    if not isinstance(value, dict):
        return
    members = list(value.values())
    grouped = parent in GROUPS and all(isinstance(member, dict) for member in members)
    if members and (grouped or are_alike(members)):
        inner = [
            found for member in members for found in candidates(member, (*path, ANY_KEY), None)
        ]
        yield from inner
        if not inner:
            yield (*path, ANY_KEY), members
        return
    for key, member in value.items():
        yield from candidates(member, (*path, key), key)


def are_alike(members: Sequence[Json]) -> bool:
    """Return whether several values are objects with much the same keys."""
    objects = [member for member in members if isinstance(member, dict)]
    if len(objects) != len(members) or len(objects) < SIMILAR or not objects[0]:
        return False
    first = set(objects[0])
    return all(len(first & set(one)) * SIMILAR >= len(first | set(one)) for one in objects)


def columns_of(rows: Sequence[Row], *, blank: bool) -> list[Column]:
    """Return the columns of rows, objects in them opened.

    Args:
        rows: the rows.
        blank: whether an empty text is a value in this form of file.
    """
    columns: dict[tuple[str, ...], Column] = {}
    for row in rows:
        for path, value in leaves(row.values, ()):
            if path not in columns and len(columns) >= MAX_COLUMNS:
                continue
            column = columns.setdefault(path, Column(path=path, total=len(rows), distinct={}))
            column.blank += blank and value == ""
            take(column, value)
    return list(columns.values())


def leaves(
    values: Mapping[str, Json], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Yield every value in a row that is no object, with its path."""
    for key, value in values.items():
        inner = (*path, key)
        if isinstance(value, dict) and value and len(inner) < COLUMN_DEPTH:
            yield from leaves(value, inner)
        else:
            yield inner, value


def take(column: Column, value: Json) -> None:
    """Take one value of a column into account."""
    column.rows += 1
    if value is None or value == "":
        column.empty += 1
        return
    text = text_of(value)
    column.numbers += decimal_of(value) is not None
    column.truths += isinstance(value, bool)
    column.lists += isinstance(value, list)
    if text in column.distinct or len(column.distinct) < MAX_DISTINCT:
        column.distinct[text] = column.distinct.get(text, 0) + 1
