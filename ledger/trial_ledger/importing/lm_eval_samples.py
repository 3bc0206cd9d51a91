"""Samples of the lm-evaluation-harness, read and checked against the results beside them.

Invariant: what was read is whole: every line is an object with what a judgment needs, every
document stands once under every filter, and there are as many as the results file counts. Nothing
but where its lines stand is kept of a document; they are read again when its events are written.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.importing.lenient_json import (
    JsonObject,
    list_at,
    mapping_at,
    parse_json,
    text_at,
    whole_text,
)
from trial_ledger.importing.lm_eval_results import WHAT, Measure, Results, problem_of
from trial_ledger.importing.source import SourceFile, safe_name
from trial_ledger.importing.zip_members import Limits
from trial_ledger.strict_json import shorten

__all__ = ["DAMAGED", "Document", "Samples", "read_samples"]

DAMAGED = "copy the file again from where lm_eval wrote it; then: ledger import lm-eval FOLDER"
MAX_PROBLEMS = 1000
"""Faults after which a samples file is not read any further."""
HASHES = ("doc_hash", "prompt_hash", "target_hash")


class Place(NamedTuple):
    """Where one line stands in a samples file."""

    line: int
    start: int
    end: int


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One document of a task, and where its lines are."""

    number: str
    """The source's `doc_id`."""
    question: str
    """The id of its question here."""
    hash: str | None
    """The source's hash of it."""
    lines: dict[str, Place]
    """Filter to line."""


class Samples(msgspec.Struct, frozen=True, kw_only=True):
    """The samples file of one task, checked."""

    source: SourceFile
    """Its bytes."""
    task: str
    """Its task."""
    documents: Mapping[str, Document]
    """Documents by question id, in the order of the file."""
    measures: Sequence[Measure]
    """Every metric and filter: those of the results, then those that only samples have."""
    hashes: Mapping[str, Sequence[object]]
    """Question id to the source's hashes of document, prompt and target."""
    task_hash: str
    """SHA-256 over all of these hashes in the order of the lines, as the harness makes it."""

    def lines(self, document: Document) -> Mapping[str, JsonObject]:
        """Return the lines of a document by filter, in the order of the measures."""
        found: dict[str, JsonObject] = {}
        for name in dict.fromkeys(measure.filter for measure in self.measures):
            place = document.lines[name]
            value = parse_json(self.source.content[place.start : place.end], source=self.task)
            assert isinstance(value, dict), "it was checked"
            found[name] = value
        return found


def read_samples(path: Path, task: str, results: Results, *, limits: Limits) -> Samples:
    """Return the samples of a task, checked line by line and against the results.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: with every fault of every line.
    """
    source = SourceFile.read(path, limit=limits.source_bytes)
    reader = SampleReader(source, task, results)
    for place in places_in(source.content):
        reader.take(place)
        if len(reader.problems) >= MAX_PROBLEMS:
            break
    else:
        reader.check_whole()
    if reader.problems:
        raise InvalidInputError(reader.problems, what=WHAT, hint=DAMAGED)
    return Samples(
        source=source,
        task=task,
        documents=reader.documents,
        measures=list(reader.measures),
        hashes=reader.hashes,
        task_hash=reader.digest.hexdigest(),
    )


def places_in(content: bytes) -> Iterator[Place]:
    """Yield where the lines of a file stand, blank ones left out."""
    start, line = 0, 1
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        if content[start:end].strip():
            yield Place(line, start, end)
        start, line = end + 1, line + 1


class SampleReader:
    """Takes the lines of one samples file, one after the other."""

    def __init__(self, source: SourceFile, task: str, results: Results) -> None:
        self.source = source
        self.task = task
        self.results = results
        self.problems: list[Problem] = []
        self.documents: dict[str, Document] = {}
        self.measures = dict.fromkeys(results.measures(task))
        self.filters = list(dict.fromkeys(measure.filter for measure in self.measures))
        self.hashes: dict[str, Sequence[object]] = {}
        self.digest = hashlib.sha256()

    def fault(self, place: Place, message: str, **further: str | None) -> None:
        """Report a fault of a line."""
        self.problems.append(problem_of(self.source, message, line=place.line, **further))

    def take(self, place: Place) -> None:
        """Take one line into account, or report what is wrong with it."""
        value = self.parsed(place)
        if value is None:
            return
        number, name = self.number_of(value, place), self.filter_of(value, place)
        for field, kind in (("resps", list), ("filtered_resps", list | str)):
            if not isinstance(value.get(field), kind):
                self.wrong(value, place, field, "a list of responses")
        if number is None or name is None:
            return
        self.take_metrics(value, place, name)
        self.digest.update("".join(str(value.get(key)) for key in HASHES).encode())
        question = safe_name(number)
        self.hashes.setdefault(question, [value.get(key) for key in HASHES])
        self.add(
            self.documents.setdefault(
                question,
                Document(
                    number=number, question=question, hash=text_at(value, "doc_hash"), lines={}
                ),
            ),
            name,
            text_at(value, "doc_hash"),
            place,
        )

    def parsed(self, place: Place) -> JsonObject | None:
        """Return the object of a line, None where it is none."""
        content = self.source.content[place.start : place.end]
        try:
            value = parse_json(content, source=self.source.label, line=place.line, what=WHAT)
        except InvalidInputError as error:
            cut = place.end == len(self.source.content)
            self.problems += [
                msgspec.structs.replace(
                    problem,
                    message="the file is cut off in this line" if cut else problem.message,
                    expected="one JSON object a line",
                )
                for problem in error.problems
            ]
            return None
        if not isinstance(value, dict):
            self.fault(place, "not an object", found=shorten(value), expected="one sample")
            return None
        return value

    def wrong(self, value: JsonObject, place: Place, field: str, expected: str) -> None:
        """Report a field that is missing or of another type than expected."""
        found = shorten(value[field]) if field in value else "no such field"
        self.fault(place, "wrong value", field=field, found=found, expected=expected)

    def number_of(self, value: JsonObject, place: Place) -> str | None:
        """Return the document's id, None where there is none."""
        number = value.get("doc_id")
        if isinstance(number, bool) or not isinstance(number, int | str) or number == "":
            self.wrong(value, place, "doc_id", "the number of a document")
            return None
        return whole_text(number)

    def filter_of(self, value: JsonObject, place: Place) -> str | None:
        """Return the line's filter, None where none is named; the only one needs no name."""
        if "filter" not in value and len(self.filters) == 1:
            return self.filters[0]
        name = text_at(value, "filter")
        if name is None or name not in self.filters:
            self.wrong(value, place, "filter", f"one of the results: {', '.join(self.filters)}")
            return None
        return name

    def take_metrics(self, value: JsonObject, place: Place, name: str) -> None:
        """Note the metrics that a line has, or report those that it names and has not."""
        for metric in list_at(value, "metrics"):
            if not isinstance(metric, str) or metric not in value:
                self.fault(
                    place,
                    "a metric without its value",
                    field="metrics",
                    found=shorten(metric),
                    expected="a field of that name in the same line",
                )
            else:
                self.measures.setdefault(Measure(metric, name))

    def add(self, document: Document, name: str, digest: str | None, place: Place) -> None:
        """Add a line to its document, or report that it cannot be one of its lines."""
        if name in document.lines:
            self.fault(
                place,
                "a document stands twice under one filter",
                field="doc_id",
                found=f"{document.number} under {name}, also in line {document.lines[name].line}",
                expected="each document once under each filter",
            )
        elif digest != document.hash:
            self.fault(
                place,
                "another document of the same id",
                field="doc_hash",
                found=shorten(digest),
                expected=shorten(document.hash),
            )
        else:
            document.lines[name] = place

    def check_whole(self) -> None:
        """Report documents that are missing altogether or under one of the filters."""
        counted = self.results.counted(self.task, "effective")
        there = len(self.documents)
        expected = there if counted is None else counted
        for name in self.filters:
            found = sum(name in document.lines for document in self.documents.values())
            if self.problems or (found == expected == there and found):
                continue
            self.problems.append(
                problem_of(
                    self.source,
                    f"not the documents that the results count under filter {name}",
                    found=f"{found} of {there} documents",
                    expected=f"{expected} documents" if expected else "at least one document",
                )
            )
        hashes = mapping_at(self.results.content, "task_hashes")
        declared, digest = text_at(hashes, self.task), self.digest.hexdigest()
        if declared is not None and declared != digest and not self.problems:
            self.problems.append(
                problem_of(
                    self.source,
                    "not the samples that the results were computed from: their hashes differ",
                    found=f"task hash {digest}",
                    expected=declared,
                )
            )
