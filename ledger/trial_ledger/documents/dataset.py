"""Questions and gold, read from JSONL or from an existing format by a field map (C1, C2, C4, C5).

Invariant: a dataset is returned only if all of its records are good; its questions hold no gold,
and each question id stands once.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from trial_ledger.documents.canonical_form import Json, canonical_json
from trial_ledger.documents.dataset_structs import (
    AGENT_FIELDS,
    TASK_SHAPES,
    Dataset,
    DatasetWarning,
    Question,
    TaskShape,
    agent_view,
    decode_questions,
)
from trial_ledger.documents.field_map import FieldMap, parse_field_map
from trial_ledger.documents.gold import gold_warnings, read_day, read_gold
from trial_ledger.documents.leaks import find_leak, gold_terms
from trial_ledger.documents.mapped_records import read_mapped
from trial_ledger.documents.reading import Faults, Table, given, is_name
from trial_ledger.documents.records import Place, Record, read_lines
from trial_ledger.documents.toml_form import parse_table, plain_table
from trial_ledger.identifiers import Positive
from trial_ledger.strict_json import shorten

__all__ = [
    "AGENT_FIELDS",
    "TASK_SHAPES",
    "Dataset",
    "DatasetWarning",
    "FieldMap",
    "Question",
    "TaskShape",
    "agent_view",
    "build_dataset",
    "decode_questions",
    "find_leak",
    "gold_terms",
    "parse_dataset",
    "parse_field_map",
    "parse_meta",
]

HINT = "ledger init --template writes a dataset.jsonl to start from; --map reads other formats"
SHORTEST_CANARY = 8
"""A shorter canary would be found in innocent text."""


class DatasetMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What concerns the dataset as a whole."""

    cutoff: str | None = None
    canary: str | None = None
    leak_min_length: Positive = 4
    provenance: str | None = None
    splits: tuple[str, ...] | None = None


def parse_dataset(
    data: bytes,
    *,
    source: str | None,
    name: str,
    version: str,
    meta: Mapping[str, Json] | None = None,
    field_map: FieldMap | None = None,
    reconstructed: bool = False,
) -> Dataset:
    """Return the dataset of a JSONL document, one record a question, or of a mapped format.

    Numbers with a fraction become the text of their literal (`0.5` is kept as `"0.5"`), integers
    stay integers.

    Args:
        data: the document.
        source: file name for the messages.
        name: name of the dataset.
        version: its version.
        meta: cutoff, canary, leak_min_length, provenance, splits (the allowed ones).
        field_map: how to read a format that is not dataset.jsonl.
        reconstructed: whether everything but the ids may be missing.

    Raises:
        InvalidInputError: with every fault of every record.
    """
    faults = Faults(source=source, what="dataset", hint=HINT, lenient=reconstructed)
    if field_map is None:
        records = list(read_lines(data, faults))
    else:
        records = list(read_mapped(data, field_map, faults))
    return assemble(records, faults, name=name, version=version, meta=meta or {})


def build_dataset(
    records: Iterable[Mapping[str, object]],
    *,
    name: str,
    version: str,
    reconstructed: bool,
    provenance: str | None = None,
    source: str | None = None,
    meta: Mapping[str, Json] | None = None,
) -> Dataset:
    """Return the dataset of records that an importer has read, in the form of dataset.jsonl.

    Args:
        records: the records; decimals are text.
        name: name of the dataset.
        version: its version.
        reconstructed: whether everything but the ids may be missing.
        provenance: where the records come from.
        source: file name for the messages.
        meta: as for `parse_dataset`.

    Raises:
        InvalidInputError: with every fault of every record.
    """
    faults = Faults(source=source, what="dataset", hint=HINT, lenient=reconstructed)
    placed = []
    for index, values in enumerate(records):
        place = Place(None, f"[{index}]")
        placed.append(Record(place, plain_table(values, faults, path=place.path)))
    stated = dict(meta or {})
    if provenance is not None:
        stated["provenance"] = provenance
    return assemble(placed, faults, name=name, version=version, meta=stated)


def parse_meta(data: bytes, *, source: str | None) -> dict[str, Json]:
    """Return the table of a TOML or JSON document with what concerns a whole dataset.

    Raises:
        InvalidInputError: with every fault found.
    """
    values, faults = parse_table(data, source=source, what="dataset meta data")
    read_meta(Table(values, faults))
    faults.stop()
    return values


def read_meta(table: Table) -> dict[str, object]:
    canary = table.text("canary")
    if canary is not None and len(canary.strip()) < SHORTEST_CANARY:
        table.wrong("canary", f"at least {SHORTEST_CANARY} characters")
    meta = given(
        cutoff=read_day(table, "cutoff"),
        canary=canary,
        leak_min_length=table.integer("leak_min_length", least=1),
        provenance=table.text("provenance"),
        splits=table.names("splits"),
    )
    table.finish()
    return meta


def assemble(
    records: Iterable[Record],
    faults: Faults,
    *,
    name: str,
    version: str,
    meta: Mapping[str, Json],
) -> Dataset:
    """Return the dataset of records that have been read.

    Raises:
        InvalidInputError: with every fault of every record.
    """
    common = read_meta(Table(meta, faults, path="meta"))
    report_identity(name, version, faults)
    splits = common.get("splits")
    reader = RecordReader(faults, splits if isinstance(splits, tuple) else None)
    read = [reader.read(record) for record in records]
    faults.line = None
    if not read and not faults.problems:
        faults.add("holds no question")
    faults.stop()
    facts = msgspec.convert(common, type=DatasetMeta)
    questions = msgspec.convert([question for question, _ in read], type=tuple[Question, ...])
    paired = list(zip(questions, (gold for _, gold in read), strict=True))
    return Dataset(
        name=name,
        version=version,
        reconstructed=faults.lenient,
        cutoff=facts.cutoff,
        leak_min_length=facts.leak_min_length,
        canary=facts.canary,
        provenance=facts.provenance,
        questions=questions,
        gold={
            question.id: canonical_json({"id": question.id, **gold})
            for question, gold in paired
            if gold["gold"] is not None or gold["extra"] is not None
        },
        warnings=() if faults.lenient else tuple(warnings_of(paired)),
    )


def warnings_of(
    paired: Iterable[tuple[Question, Mapping[str, Json]]],
) -> Iterator[DatasetWarning]:
    for question, record in paired:
        gold = record["gold"]
        yield from gold_warnings(question, gold if isinstance(gold, dict) else None)


def report_identity(name: str, version: str, faults: Faults) -> None:
    for field, value in (("name", name), ("version", version)):
        if not is_name(value) or "@" in value:
            faults.add(
                "wrong value",
                field=field,
                found=shorten(value),
                expected="1 to 256 characters without @ and without control characters",
            )


class RecordReader:
    """Reads one record after the other and remembers which ids it has seen."""

    def __init__(self, faults: Faults, splits: tuple[str, ...] | None) -> None:
        self.faults = faults
        self.splits = splits
        self.places: dict[str, Place] = {}

    def read(self, record: Record) -> tuple[dict[str, object], dict[str, Json]]:
        """Return the fields of a `Question`, and its gold and extra."""
        self.faults.line = record.place.line
        table = Table(record.values, self.faults, path=record.place.path)
        table.require("id", clause="C1")
        table.want("question", "task_shape", clause="C1")
        shape = table.choice("task_shape", TASK_SHAPES)
        question = given(
            id=self.read_id(table, record.place),
            question=self.read_question(table),
            task_shape=shape,
            as_of=read_day(table, "as_of"),
            split=self.read_split(table),
            context=table.raw("context"),
        )
        inner = table.table("gold")
        # Where the shape is unknown there is a fault already, or gold is kept as it is.
        gold = None if inner is None else read_gold(inner, shape)
        if shape == "list" and gold is not None and isinstance(gold["exhaustive"], bool):
            question["exhaustive"] = gold["exhaustive"]
        extra = table.raw("extra")
        table.finish()
        return question, {"gold": gold, "extra": extra}

    def read_id(self, table: Table, place: Place) -> str | None:
        """Return the id as text, reporting one that an earlier record has."""
        value = table.values.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            table.known.add("id")
            name: str | None = str(value)
        else:
            name = table.name("id")
        if name is None:
            return None
        if name in self.places:
            self.faults.add(
                f"question id stands twice, first on {self.places[name]}",
                field=table.at("id"),
                found=shorten(name),
                clause="C1",
            )
        self.places.setdefault(name, place)
        return name

    def read_question(self, table: Table) -> str | None:
        """Return the question, which is never empty."""
        question = table.text("question")
        if question is not None and not question.strip():
            table.wrong("question", "a question")
        return question

    def read_split(self, table: Table) -> str | None:
        """Return the split, one of the declared ones where any are."""
        if self.splits is not None:
            return table.choice("split", self.splits)
        return table.name("split")
