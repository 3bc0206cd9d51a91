"""Import an Inspect log: documents and events of one run, from one `.eval` or `.json` file.

Invariant: nothing is appended here, and reading the same bytes again gives the same documents and
the same events with the same ids, whatever the file is called; the log is read without inspect_ai.

The log is read twice: a first pass finds the planned slots, the questions and the kinds of scores,
a second one writes the events, one sample in memory at a time.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from trial_ledger.importing.emitting import Emitter, json_text, plain_text
from trial_ledger.importing.inspect_mapping_documents import (
    dataset_of,
    inspect_version,
    manifest_of,
    rubric_of,
)
from trial_ledger.importing.inspect_mapping_events import FORMAT, provenance
from trial_ledger.importing.inspect_mapping_judgments import Graders
from trial_ledger.importing.inspect_mapping_report import Tallies, losses_of, reported_of
from trial_ledger.importing.inspect_mapping_survey import Survey, survey
from trial_ledger.importing.inspect_mapping_trials import TrialWriter
from trial_ledger.importing.inspect_reader import (
    InspectHeader,
    InspectLog,
    Limits,
    open_inspect_log,
)
from trial_ledger.importing.lenient_json import JsonObject, json_bytes, text_at, utc_text
from trial_ledger.importing.source import SOURCE_KEYS, ImportedRun, run_name
from trial_ledger.submission import NewText, Submission

__all__ = ["IMPORTER", "import_inspect"]

IMPORTER = "inspect@1"
"""Importer and version; the version rises whenever the same log would give other events."""

STATUSES: Mapping[str, str] = {"success": "complete", "cancelled": "interrupted", "error": "failed"}
"""How a log's status reads as the end of a run; any other is a run that was interrupted."""


def import_inspect(path: Path, *, limits: Limits | None = None) -> ImportedRun:
    """Return the run that an Inspect log holds.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it is no Inspect log, is damaged, or unfolds to too much.
    """
    log = open_inspect_log(path, limits=limits)
    found = survey(log)
    label = log.source.label
    dataset = dataset_of(log.header, found, label=label)
    rubric = rubric_of(log.header, found, label=label)
    manifest = manifest_of(log.header, found, dataset=dataset, rubric=rubric, label=label)
    name = run_name(text_at(log.header.spec, "task") or "", log.source.blake3)
    keys = source_keys(log.header, found)

    def submissions(manifest_reference: str) -> Iterator[Submission]:
        writer = RunWriter(log, found, name=name, configuration=manifest.configuration, keys=keys)
        return writer.write(manifest_reference)

    return ImportedRun(
        name=name,
        source_format=FORMAT,
        source=log.source,
        dataset=dataset,
        rubric=rubric,
        manifest=manifest,
        submissions=submissions,
        source_keys=keys,
    )


def source_keys(header: InspectHeader, found: Survey) -> tuple[str, ...]:
    """Return what identifies the evaluation in its source, whatever the bytes of the log are.

    Logs before evaluations had ids are known by the ids of run and task together.
    """
    spec = header.spec
    keys = [f"sample:{uuid}" for uuid in found.uuids]
    eval_id, run_id, task_id = (text_at(spec, key) for key in ("eval_id", "run_id", "task_id"))
    if eval_id is not None:
        keys.insert(0, f"eval:{eval_id}")
    elif run_id is not None and task_id is not None:
        keys.insert(0, f"task:{run_id}/{task_id}")
    return tuple(dict.fromkeys(keys))


class RunWriter:
    """Writes the events of one run."""

    def __init__(
        self,
        log: InspectLog,
        found: Survey,
        *,
        name: str,
        configuration: str,
        keys: tuple[str, ...],
    ) -> None:
        self.log = log
        self.header = log.header
        self.found = found
        self.keys = keys
        self.tallies = Tallies()
        self.emitter = Emitter(source_format=FORMAT, run=name, digest=log.source.blake3, path="run")
        self.trials = TrialWriter(
            run=name,
            digest=log.source.blake3,
            configuration=configuration,
            metrics=found.metrics,
            graders=Graders.of(log.header.spec, version=inspect_version(log.header)),
            scored_by_source=bool(reported_of(log.header.results)),
            tallies=self.tallies,
        )

    def write(self, manifest: str) -> Iterator[Submission]:
        """Yield every event of the run, in order."""
        yield self.opened(manifest)
        for slot in self.found.lost:
            yield from self.trials.lost(slot)
        for record in self.log.samples():
            yield from self.trials.write(record)
        yield from self.notes()
        yield self.imported()
        yield self.closed()

    def opened(self, manifest: str) -> Submission:
        """Return the start of the run."""
        started = text_at(self.header.stats, "started_at") or text_at(self.header.spec, "created")
        return self.emitter.event(
            "run.opened", "start", {"manifest": manifest, "entry": "imported"}, at=utc_text(started)
        )

    def notes(self) -> Iterator[Submission]:
        """Yield what people changed about the log or the running evaluation, and its keys."""
        updates = {
            "log_updates": self.header.log_updates,
            "config_updates": self.header.config_updates,
        }
        for field, records in updates.items():
            for number, record in enumerate(records):
                yield self.note(f"{field}/{number}", field, record)
        if self.keys:
            yield self.emitter.event(
                "note.added",
                SOURCE_KEYS,
                {"about": SOURCE_KEYS, "text": json_text(list(self.keys))},
            )

    def note(self, place: str, about: str, record: JsonObject) -> Submission:
        """Return one later change, as the log states it."""
        by = record.get("provenance")
        actor, _, at = provenance(by if isinstance(by, dict) else {})
        return self.emitter.event(
            "note.added", place, {"about": about, "text": json_text(record)}, at=at, actor=actor
        )

    def imported(self) -> Submission:
        """Return where everything came from, and what is not here."""
        source = self.log.source
        counts = {**self.tallies.counts, "planned_slots": self.found.planned}
        return self.emitter.event(
            "source.imported",
            "source",
            {
                "format": FORMAT,
                "files": [
                    {
                        "name": f"{self.emitter.run}{self.log.suffix}",
                        "blake3": source.blake3,
                        "sha256": source.sha256,
                        "bytes": len(source.content),
                    }
                ],
                "content": NewText(
                    content=source.content, media="application/octet-stream", class_="gold"
                ),
                "importer": IMPORTER,
                "counts": counts,
                "losses": json_list(losses_of(self.log, self.found, self.tallies)),
                "reported": json_list(reported_of(self.header.results)),
            },
        )

    def closed(self) -> Submission:
        """Return the end of the run."""
        status = STATUSES.get(self.header.status, "interrupted")
        reason = text_at(self.header.error, "message")
        if reason is None and status != "complete":
            reason = f"the log's status is {self.header.status[:40]!r}"
        return self.emitter.event(
            "run.closed",
            "end",
            {"status": status, "reason": plain_text(reason)},
            at=utc_text(text_at(self.header.stats, "completed_at")),
        )


def json_list(value: object) -> NewText:
    """Return a list as a JSON text."""
    return NewText(content=json_bytes(value), media="application/json")
