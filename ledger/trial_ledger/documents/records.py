"""The records of a dataset file, each with its place, before anything is known about them.

Invariant: a record that cannot be read is reported and left out; the others keep their order.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.reading import Faults
from trial_ledger.errors import InvalidInputError
from trial_ledger.strict_json import parse_json, shorten

__all__ = ["Place", "Record", "read_lines"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Place(NamedTuple):
    """Where a record stands in its source."""

    line: int | None
    """Line, from 1; None where the format has no lines."""
    path: str | None
    """Path of the record inside its document; None where it is a line of its own."""

    def __str__(self) -> str:
        """Return the place in words."""
        return f"line {self.line}" if self.line is not None else f"record {self.path}"


class Record(NamedTuple):
    """One record as its source has it."""

    place: Place
    """Where it stands."""
    values: Mapping[str, Json]
    """What it says."""


def read_lines(data: bytes, faults: Faults) -> Iterator[Record]:
    """Yield the records of a JSONL document, leaving out blank lines and reporting bad ones."""
    for number, line in enumerate(data.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line, source=faults.source, line=number, allow_decimals=True)
        except InvalidInputError as error:
            faults.problems.extend(error.problems)
            continue
        if isinstance(value, dict):
            yield Record(Place(number, None), value)
        else:
            faults.add("not an object", line=number, found=shorten(value), expected="one question")
