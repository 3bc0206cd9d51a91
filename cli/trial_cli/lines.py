"""Reads JSON lines from a file or a pipe, bounded in size, as entries to append.

Invariant: a line is one event or one fault with its place; no line can use more memory than its
limit, and blank lines are passed over.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
from blake3 import blake3

from trial_ledger.batch import Entry
from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    NotFoundError,
    Problem,
    StorageError,
)
from trial_ledger.exact import fraction_from_decimal_text, rational_text
from trial_ledger.intake import parse_record
from trial_ledger.strict_json import parse_json
from trial_ledger.submission import Submission

__all__ = ["DerivedIds", "collected", "entry_of", "input_stream", "line_groups", "whole_lines"]

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longest line: far above any text that a harness should send in one event."""

READ_BYTES = 256 * 1024

SPOOL_BYTES = 8 * 1024 * 1024
"""A pipe up to this size is kept in memory, a larger one in a temporary file."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def input_stream(name: str) -> Iterator[BinaryIO]:
    """Open a named file, or standard input for `-`.

    Raises:
        NotFoundError: there is no such file.
        StorageError: it cannot be read.
    """
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(name).open("rb")  # noqa: SIM115 - closed below, where errors are others'
    except FileNotFoundError:
        message = f"no file {name}"
        raise NotFoundError(message, hint="name a JSONL file, or - for standard input") from None
    except OSError as error:
        message = f"cannot read {name}: {error.strerror}"
        raise StorageError(message, hint="name a JSONL file, or - for standard input") from error
    with stream:
        yield stream


@contextmanager
def collected(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Give the whole of a pipe from a temporary file, once it has ended.

    What is appended whole is appended under the file's lock; a slow writer at the other end of the
    pipe must not keep it from everybody else.
    """
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as copy:
        shutil.copyfileobj(stream, copy, READ_BYTES)
        copy.seek(0)
        yield cast("BinaryIO", copy)


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream; a line over the limit comes cut one byte above it."""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        yield line
        is_cut = len(line) > MAX_LINE_BYTES and not line.endswith(b"\n")
        while is_cut:
            line = stream.readline(READ_BYTES)
            is_cut = line != b"" and not line.endswith(b"\n")


def line_groups(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the complete lines of each read: what has arrived is one group, so one commit.

    A line over the limit comes cut above it.
    """
    descriptor = stream.fileno()
    rest = PartialLine()
    while chunk := os.read(descriptor, READ_BYTES):
        first, *others = chunk.split(b"\n")
        rest.add(first)
        if others:
            yield [rest.take(), *others[:-1]]
            rest.add(others[-1])
    if last := rest.take():
        yield [last]


class PartialLine:
    """The beginning of a line that has not arrived whole."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, part: bytes) -> None:
        """Add what arrived, as long as the line is not over the limit."""
        if self.size <= MAX_LINE_BYTES:
            self.parts.append(part)
            self.size += len(part)

    def take(self) -> bytes:
        """Return the line and begin the next one."""
        line = b"".join(self.parts)
        self.parts, self.size = [], 0
        return line


class DerivedIds:
    """Ids from content and how many-th identical line of the input it is (`--derive-ids`)."""

    def __init__(self) -> None:
        self.seen: dict[bytes, int] = {}

    def of(self, line: bytes) -> str:
        """Return the id of the next occurrence of a line."""
        digest = blake3(line).digest()
        occurrence = self.seen.get(digest, 0) + 1
        self.seen[digest] = occurrence
        return blake3(digest + occurrence.to_bytes(8, "big")).hexdigest()[:32]


def entry_of(line: bytes, *, source: str, number: int, derived: DerivedIds | None) -> Entry | None:
    """Return the entry of one line; None for a blank one."""
    text = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).strip()
    if not text:
        return None
    found: Submission | LedgerError
    about: Submission | None = None
    record: object = None
    try:
        if len(line.removesuffix(b"\n")) > MAX_LINE_BYTES:
            raise InvalidInputError.single(
                "line too long",
                source=source,
                line=number,
                found=f"over {MAX_LINE_BYTES} bytes",
                expected="one event a line",
            )
        record = parse_json(text, source=source, line=number)
        found = parse_record(record, source=source, line=number)
    except InvalidInputError as error:
        found = InvalidInputError([with_rational(p) for p in error.problems], hint=error.hint)
        about = scope_of(record)
    if derived is not None and isinstance(found, Submission) and found.id is None:
        found = with_id(found, derived.of(text))
    return Entry(submission=found, source=source, line=number, about=about)


def with_rational(problem: Problem) -> Problem:
    """Return a fault that says, of a bare decimal, how an event writes such numbers."""
    if problem.message != "bare decimal" or problem.found is None:
        return problem
    try:
        rational = rational_text(fraction_from_decimal_text(problem.found))
    except ValueError:
        return problem  # Too long to be shown whole, so its value is not known here.
    expected = f'text: "{rational}" as a score, "{problem.found}" as money'
    return msgspec.structs.replace(problem, expected=expected)


def scope_of(record: object) -> Submission | None:
    """Return kind, run and trial of a record that is not acceptable; None where it has none."""
    if not isinstance(record, dict):
        return None
    try:
        return parse_record(
            {key: record[key] for key in ("kind", "run", "trial") if key in record},
            source=None,
            line=None,
        )
    except InvalidInputError:
        return None


def with_id(submission: Submission, identifier: str) -> Submission:
    """Return a submission with an id."""
    return msgspec.structs.replace(submission, id=identifier)
