"""Import rows: the runs that somebody's own JSON, JSON lines or CSV file holds, by a map.

Invariant: nothing is appended here, and the same bytes under the same map give the same runs with
the same event ids, whatever the files are called. One file gives one run for each configuration and
for each value of the map's `run`; several files never share a run, so that adding a file changes
none that was imported before.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from blake3 import blake3

from trial_ledger.documents.reading import nearest
from trial_ledger.importing.rows_documents import dataset_of, manifest_of, rubric_of
from trial_ledger.importing.rows_events import FORMAT, Described, RunWriter
from trial_ledger.importing.rows_faults import RowFaults
from trial_ledger.importing.rows_map import parse_row_map
from trial_ledger.importing.rows_report import losses_of, reported_of
from trial_ledger.importing.rows_runs import QuestionFacts, RunFacts, runs_of
from trial_ledger.importing.rows_source import MAX_SOURCE_BYTES, read_source_rows, unfold
from trial_ledger.importing.rows_structs import RowMap
from trial_ledger.importing.rows_values import RowReader
from trial_ledger.importing.source import ImportedRun, SourceFile, run_name
from trial_ledger.submission import Submission

__all__ = ["load_row_map", "read_rows", "rows_in"]

MAX_MAP_BYTES = 1024 * 1024
MAX_RUNS = 1000


def read_rows(path: Path, map_path: Path) -> list[ImportedRun]:
    """Return the runs that a file of rows holds, in the order in which they begin there.

    Args:
        path: a JSON, JSON lines, CSV or TSV file, or one of these in gzip.
        map_path: the TOML file that says where everything stands in it.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: the map or the rows are not acceptable; with every fault found.
    """
    return rows_in(path, load_row_map(map_path))


def load_row_map(path: Path) -> RowMap:
    """Return the row map of a TOML file.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: with every fault of the map.
    """
    file = SourceFile.read(path, limit=MAX_MAP_BYTES)
    return parse_row_map(file.content, source=file.label)


def rows_in(path: Path, row_map: RowMap) -> list[ImportedRun]:
    """Return the runs that a file of rows holds under a map that was read before.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: the rows are not acceptable; with every fault found.
    """
    source = SourceFile.read(path, limit=MAX_SOURCE_BYTES)
    faults = RowFaults(source=source.label)
    reader = RowReader(faults, empty_is_null=row_map.empty == "null")
    content = unfold(source.content, source=source.label)
    runs, questions = runs_of(read_source_rows(content, row_map, faults), row_map, reader)
    reported = [reported_of(row_map, run, reader) for run in runs]
    report_places(reader)
    if len(runs) > MAX_RUNS:
        faults.add("too many runs in one file", found=len(runs), expected=f"<= {MAX_RUNS}")
    faults.stop()
    names = run_names(row_map, runs, digest_of(source.blake3, row_map.digest))
    return [
        imported(
            run,
            questions,
            row_map,
            Described(
                source=source,
                suffix=f".{row_map.format}" + (".gz" if content is not source.content else ""),
                map_document=row_map.document,
                losses=losses_of(row_map, run, reader),
                reported=numbers,
                keeps_missing=row_map.planned.missing == "lost",
            ),
            name=name,
        )
        for run, numbers, name in zip(runs, reported, names, strict=True)
    ]


def report_places(reader: RowReader) -> None:
    """Report every place of the map that leads nowhere in all rows."""
    if not reader.columns:
        return
    for text, where in reader.asked.items():
        if text in reader.found:
            continue
        reader.faults.withdraw(text)
        column = where.path[0] if where.origin == "row" and where.path else None
        close = nearest(str(column), reader.columns) if column is not None else None
        columns = ", ".join(list(reader.columns)[:12])
        expected = close or (
            f"one of {columns}" if where.origin == "row" else "a place in the file"
        )
        reader.faults.add(
            "the map names a place that no row has",
            found=text,
            expected=f"{expected}; optional = true allows it",
        )


def run_names(row_map: RowMap, runs: list[RunFacts], digest: str) -> list[str]:
    """Return a name for each run: of the evaluation, then of what tells it from the others."""
    parts: list[str] = []
    for run in runs:
        others = len({other.configuration for other in runs}) > 1
        words = [row_map.name, run.value, run.configuration if others else None]
        parts.append("-".join(word for word in words if word))
    names = [run_name(part, digest) for part in parts]
    return [
        name
        if names.count(name) == 1
        else run_name(part, digest_of(digest, run.value, run.configuration))
        for name, part, run in zip(names, parts, runs, strict=True)
    ]


def digest_of(*parts: str | None) -> str:
    """Return one digest of several texts, some of which may not be there."""
    return blake3(msgspec.json.encode(parts)).hexdigest()


def imported(
    run: RunFacts,
    questions: dict[str, QuestionFacts],
    row_map: RowMap,
    described: Described,
    *,
    name: str,
) -> ImportedRun:
    """Return one run of a file."""
    label = described.source.label
    dataset = dataset_of(row_map, run, questions, label=label)
    rubric = rubric_of(row_map, label=label)
    manifest = manifest_of(row_map, run, dataset=dataset, rubric=rubric, label=label)
    digest = digest_of(described.source.blake3, row_map.digest, run.value, run.configuration)

    keys = () if run.value is None else (f"rows:{row_map.name}/{run.value}/{run.configuration}",)

    def submissions(manifest_reference: str) -> Iterator[Submission]:
        writer = RunWriter(
            run,
            described,
            name=name,
            digest=digest,
            configuration=manifest.configuration,
            keys=keys,
        )
        return writer.write(manifest_reference)

    return ImportedRun(
        name=name,
        source_format=FORMAT,
        source=described.source,
        dataset=dataset,
        rubric=rubric,
        manifest=manifest,
        submissions=submissions,
        source_keys=keys,
    )
