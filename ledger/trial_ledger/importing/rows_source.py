"""The rows of a JSON, JSON lines or CSV file, gzip too, each with its place and surroundings.

Invariant: a row is yielded with the values that the file has, numbers with a fraction as the text
of their literal and a missing cell missing; what cannot be read is a fault with its place, and a
file that unfolds to too much is refused before it is read.
"""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.records import Place
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.rows_faults import RowFaults
from trial_ledger.importing.rows_structs import ANY_KEY, RowMap, RowsPath
from trial_ledger.strict_json import join_path, shorten

__all__ = [
    "MAX_SOURCE_BYTES",
    "UTF_16_MARKS",
    "Row",
    "decoded",
    "inner_rows",
    "parse_text",
    "read_source_rows",
    "unfold",
]

MAX_SOURCE_BYTES = 512 * 1024 * 1024
MAX_UNFOLDED_BYTES = 1024 * 1024 * 1024
MAX_ROWS = 2_000_000
MAX_DEPTH = 100
MAX_CELL_BYTES = 64 * 1024 * 1024
WHAT = "rows"
GZIP = b"\x1f\x8b"
UTF_8 = "utf-8"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
NO_TEXT = {b"PK\x03\x04": "a ZIP file, as spreadsheets are", b"PAR1": "a Parquet file"}
"""First bytes of files that people have their rows in and that hold no text."""
INTEGER_DIGITS = 16
SURROGATE = re.compile("[\ud800-\udfff]")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class Row(NamedTuple):
    """One row and what lies around it."""

    place: Place
    """Where it stands."""
    values: Mapping[str, Json]
    """What it says."""
    document: Json
    """The document, or the line, that it stands in."""
    enclosing: Sequence[Mapping[str, Json]]
    """The objects around it, the nearest first."""
    keys: Sequence[str]
    """The keys that `*` matched on the way to it."""
    number: int = 0
    """Which row of the file it is, from 1."""


def unfold(content: bytes, *, source: str) -> bytes:
    """Return the bytes of a file, decompressed where they are gzip.

    Raises:
        InvalidInputError: damaged, or more than 1 GiB.
    """
    if not content.startswith(GZIP):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            unfolded = stream.read(MAX_UNFOLDED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError.single(
            f"damaged gzip: {error}", what=WHAT, source=source
        ) from error
    if len(unfolded) > MAX_UNFOLDED_BYTES:
        raise InvalidInputError.single(
            "unfolds to too much",
            what=WHAT,
            source=source,
            expected=f"<= {MAX_UNFOLDED_BYTES} bytes",
        )
    return unfolded


def read_source_rows(content: bytes, row_map: RowMap, faults: RowFaults) -> Iterator[Row]:
    """Yield the rows of a file in their order.

    Raises:
        InvalidInputError: the file as a whole cannot be read, or has too many rows.
    """
    text = decoded(content, source=faults.source, encoding=row_map.encoding)
    if row_map.format == "csv":
        rows = csv_rows(text, row_map, faults)
    elif row_map.format == "jsonl":
        rows = line_rows(text, row_map, faults)
    else:
        document = parse_text(text, faults, Place(None, None))
        rows = iter(()) if faults.problems else document_rows(document, row_map.rows, None, faults)
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise InvalidInputError.single(
                "too many rows", what=WHAT, source=faults.source, expected=f"<= {MAX_ROWS}"
            )
        yield row._replace(number=number)


def decoded(content: bytes, *, source: str, encoding: str = UTF_8) -> str:
    """Return the bytes of a file as text: UTF-8, by its mark UTF-16, or what the map names.

    Raises:
        InvalidInputError: they are another encoding, or no text at all.
    """
    for mark, what in NO_TEXT.items():
        if content.startswith(mark):
            raise InvalidInputError.single(
                f"no text but {what}",
                what=WHAT,
                source=source,
                expected="JSON or CSV, as other programs can save",
            )
    if content[:2] in UTF_16_MARKS:
        encoding = "utf-16"
    try:
        return content.decode("utf-8-sig" if encoding == UTF_8 else encoding)
    except UnicodeDecodeError as error:
        raise InvalidInputError.single(
            f"not {encoding.upper()} at byte {error.start}",
            what=WHAT,
            source=source,
            line=content.count(b"\n", 0, error.start) + 1,
            found=shorten(content[error.start : error.start + 4]),
            expected='UTF-8, or encoding = "cp1252" in the map',
        ) from error


def parse_text(text: str, faults: RowFaults, place: Place) -> Json:
    """Return the value of a JSON text; None where it is none, which is reported.

    Numbers with a fraction, NaN and integers beyond 2^53 are the text of their literals, since no
    binary number may change them.
    """
    repeated: list[str] = []
    value: object = None

    def members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [key for key, _ in pairs]
            repeated.extend(key for key in found if names.count(key) > 1)
        return found

    try:
        value = json.loads(
            text,
            object_pairs_hook=members,
            parse_float=str,
            parse_int=lambda digits: digits if len(digits) > INTEGER_DIGITS - 1 else int(digits),
            parse_constant=str,
        )
        too_deep = is_deeper(value, MAX_DEPTH)
    except json.JSONDecodeError as error:
        where = place if place.line is not None else Place(error.lineno, None)
        faults.add(f"not JSON: {error.msg} at column {error.colno}", place=where)
        return None
    except RecursionError:
        too_deep = True
    if too_deep:
        faults.add(f"nested deeper than {MAX_DEPTH} levels", place=place)
        return None
    for key in repeated:
        faults.add("key stands twice in one object", place=place, field=key)
    if SURROGATE_ESCAPE.search(text):
        value = without_surrogates(value)
    return cast("Json", value)


def is_deeper(value: object, levels: int) -> bool:
    """Return whether a value is nested deeper than some levels; walks level by level."""
    level = [value]
    for _ in range(levels + 1):
        level = [member for parent in level for member in containers(parent)]
        if not level:
            return False
    return True


def containers(value: object) -> Sequence[object]:
    """Return the lists and objects directly below a value."""
    members: Sequence[object] = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        members = list(value.values())
    return [member for member in members if isinstance(member, dict | list)]


def without_surrogates(value: object) -> object:
    """Return the value with every lone surrogate replaced, so that it can be written as UTF-8."""
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {
            str(without_surrogates(key)): without_surrogates(member)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [without_surrogates(member) for member in value]
    return value


def csv_rows(text: str, row_map: RowMap, faults: RowFaults) -> Iterator[Row]:
    """Yield the rows of a CSV file under the names of its header."""
    lines = io.StringIO(text, newline="")
    for _ in range(row_map.skip_lines):
        lines.readline()
    csv.field_size_limit(MAX_CELL_BYTES)
    quoting: Literal[0, 3] = 0 if row_map.quotes else 3  # QUOTE_MINIMAL, QUOTE_NONE
    rows = csv.reader(lines, delimiter=row_map.delimiter, strict=True, quoting=quoting)
    header: list[str] | None = None
    line = row_map.skip_lines + 1
    try:
        for cells in rows:
            place = Place(line, None)
            line = row_map.skip_lines + rows.line_num + 1
            if header is None:
                header = checked_header(cells, place, row_map, faults)
                if faults.problems:
                    return  # Rows under a wrong header would be faults too, all of them.
            elif len(cells) != len(header) and cells:
                faults.add(
                    "another number of cells than the header has",
                    place=place,
                    found=len(cells),
                    expected=str(len(header)),
                )
            elif cells:
                values: dict[str, Json] = dict(zip(header, cells, strict=True))
                yield Row(place, values, values, (), ())
    except csv.Error as error:
        faults.add(
            f"not CSV: {error}",
            place=Place(line, None),
            expected="quotation marks doubled in quoted cells, or quotes = false in the map",
        )


def checked_header(
    cells: Sequence[str], place: Place, row_map: RowMap, faults: RowFaults
) -> list[str]:
    """Return the names of the columns, reporting those that stand twice and a wrong delimiter."""
    for name in sorted({name for name in cells if cells.count(name) > 1}):
        faults.add("two columns of one name", place=place, found=name)
    if len(cells) == 1:
        other = next((mark for mark in "\t;,|" if mark in cells[0]), None)
        if other is not None and other != row_map.delimiter:
            faults.add(
                f"one column only, and {other!r} in its name",
                place=place,
                found=cells[0],
                expected=f'format = "csv" with delimiter = {json.dumps(other)}',
            )
    return list(cells)


def line_rows(text: str, row_map: RowMap, faults: RowFaults) -> Iterator[Row]:
    """Yield the rows of JSON lines; blank lines are passed over."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        before = len(faults.problems)
        value = parse_text(line, faults, Place(number, None))
        if len(faults.problems) == before:
            yield from document_rows(value, row_map.rows, number, faults)


def document_rows(
    document: Json, path: RowsPath, line: int | None, faults: RowFaults
) -> Iterator[Row]:
    """Yield the rows of one JSON document."""
    found = False
    for row in inner_rows(document, path, Row(Place(line, None), {}, document, (), ())):
        found = True
        if isinstance(row.values, dict):
            yield row
        else:
            faults.add("not an object", place=row.place, found=row.values, expected="a row")
    if not found:
        faults.add(
            "no rows here",
            place=Place(line, None),
            field=path_text(path),
            expected=f"rows = {nearby(document)}",
        )


def inner_rows(value: Json, path: RowsPath, around: Row) -> Iterator[Row]:
    """Yield what stands at the end of a path below a value; members of a list one by one.

    `values` of what is yielded is whatever stands there, an object or not.
    """
    if isinstance(value, list) and (not path or isinstance(path[0], str)):
        path = (None, *path)
    if not path:
        if value is not None:
            yield around._replace(values=value)  # type: ignore[arg-type] # the caller looks at it
        return
    step, rest = path[0], path[1:]
    inside = around
    if isinstance(value, dict):
        inside = around._replace(enclosing=(value, *around.enclosing))
        for key in value if step == ANY_KEY else [step]:
            if isinstance(key, str) and key in value:
                keys = (*inside.keys, key) if step == ANY_KEY else inside.keys
                place = Place(around.place.line, join_path(around.place.path, key))
                member = value[key]
                if step != ANY_KEY or isinstance(member, dict | list):
                    yield from inner_rows(member, rest, inside._replace(place=place, keys=keys))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            if step is None or step == index:
                place = Place(around.place.line, join_path(around.place.path, index))
                yield from inner_rows(member, rest, inside._replace(place=place))


def path_text(path: RowsPath) -> str | None:
    """Return a path as a message shows it."""
    text = None
    for step in path:
        if step is None or step == ANY_KEY:
            text = f"{text or ''}[*]" if step is None else f"{text}.*" if text else "*"
        else:
            text = join_path(text, step)
    return text


def nearby(document: Json) -> str:
    """Return where a document has lists of objects, for a message."""
    if isinstance(document, dict):
        for key, value in document.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                return f'"{join_path(None, key)}", where there is a list of objects'
    return '"path.to.the.rows"'
