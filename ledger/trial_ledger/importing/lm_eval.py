"""Import an evaluation of the lm-evaluation-harness: one run a task, from results and samples.

Invariant: nothing is appended here, and reading the same bytes again gives the same documents and
the same events with the same ids, wherever the files lie; they are read without the harness.

A results file covers several tasks, each with its own configuration, version and samples file. The
digest of a run is that of both its files; each file is kept byte for byte.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from blake3 import blake3

from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.emitting import Emitter, json_text
from trial_ledger.importing.lenient_json import decimal_at
from trial_ledger.importing.lm_eval_documents import (
    dataset_of,
    harness_version,
    manifest_of,
    model_name,
    rubric_of,
)
from trial_ledger.importing.lm_eval_files import evaluation_files, is_samples_file, siblings_of
from trial_ledger.importing.lm_eval_report import Tallies, losses_of, reported_of
from trial_ledger.importing.lm_eval_results import HINT, WHAT, Results, read_results
from trial_ledger.importing.lm_eval_samples import DAMAGED, Samples, read_samples
from trial_ledger.importing.lm_eval_trials import FORMAT, TrialWriter
from trial_ledger.importing.lm_eval_values import Metric, metrics_of
from trial_ledger.importing.source import SOURCE_KEYS, ImportedRun, SourceFile, run_name
from trial_ledger.importing.zip_members import Limits
from trial_ledger.submission import NewText, Submission

__all__ = ["IMPORTER", "import_lm_eval", "read_lm_eval"]

IMPORTER = "lm-eval@1"
"""Importer and version; the version rises whenever the same files would give other events."""
HASHES = "document hashes"
"""`about` of the note that holds the source's hashes of every document, prompt and target."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = Decimal(253402300799)
"""The last second of the year 9999."""


def read_lm_eval(path: Path, *, limits: Limits | None = None) -> list[ImportedRun]:
    """Return the runs of a results file, or of every results file in a folder, one run a task.

    Args:
        path: a results file, a samples file (which stands for its results file), or a folder.
        limits: how large the files may be.

    Raises:
        NotFoundError: there is nothing of that name, or nothing in that folder.
        InvalidInputError: the files are damaged or do not belong together; all faults of a results
            file and of its samples files at once.
    """
    return [run for file in evaluation_files(path) for run in import_lm_eval(file, limits=limits)]


def import_lm_eval(file: Path, *, limits: Limits | None = None) -> list[ImportedRun]:
    """Return the runs of one results file, one a task, in the order of the file.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: the files are damaged or do not belong together.
    """
    bounds = limits or Limits()
    if is_samples_file(file):
        raise InvalidInputError.single(
            "samples without results",
            what=WHAT,
            source=str(file),
            found="no results file beside it",
            expected="results_<date>.json with the date of the samples",
            hint=HINT,
        )
    results = read_results(file, limits=bounds)
    beside = siblings_of(file)
    problems = list(beside.problems(results.tasks))
    if problems:
        raise InvalidInputError(problems, what=WHAT, hint=HINT)
    read: list[Samples] = []
    for task in results.tasks:
        (samples,) = beside.samples_of(task)
        try:
            read.append(read_samples(samples, task, results, limits=bounds))
        except InvalidInputError as error:
            problems += error.problems
    if problems:
        raise InvalidInputError(problems, what=WHAT, hint=DAMAGED)
    return [run_of(results, samples) for samples in read]


def run_of(results: Results, samples: Samples) -> ImportedRun:
    """Return the run of one task."""
    metrics = metrics_of(results, samples)
    dataset = dataset_of(results, samples)
    rubric = rubric_of(metrics, samples)
    manifest = manifest_of(results, samples, dataset=dataset, rubric=rubric)
    digest = pair_digest(results.source, samples.source)
    name = run_name(samples.task, digest)
    keys = source_keys(results, samples.task)
    shows_context = frozenset(
        question.id for question in dataset.questions if question.context is not None
    )

    def submissions(manifest_reference: str) -> Iterator[Submission]:
        writer = RunWriter(results, samples, metrics, name=name, digest=digest)
        trials = TrialWriter(
            run=name,
            digest=digest,
            configuration=manifest.configuration,
            metrics=metrics,
            shows_context=shows_context,
            model=model_name(results),
            version=harness_version(results),
            tallies=writer.tallies,
        )
        return writer.write(manifest_reference, trials, keys)

    return ImportedRun(
        name=name,
        source_format=FORMAT,
        source=results.source,
        dataset=dataset,
        rubric=rubric,
        manifest=manifest,
        submissions=submissions,
        source_keys=keys,
    )


def pair_digest(results: SourceFile, samples: SourceFile) -> str:
    """Return the digest of two files together: BLAKE3 over their digests."""
    return blake3(f"{results.blake3}\0{samples.blake3}".encode()).hexdigest()


def source_keys(results: Results, task: str) -> tuple[str, ...]:
    """Return what identifies the evaluation, whatever the bytes are: start, model and task.

    The harness gives no ids; its start has the digits of a clock that counts parts of microseconds.
    """
    date = decimal_at(results.content, "date")
    return () if date is None else (f"start:{date}/{model_name(results)}/{task}",)


def start_of(results: Results) -> str | None:
    """Return when the evaluation started, UTC, whole microseconds; None where it does not say."""
    date = decimal_at(results.content, "date")
    if date is None or not 0 <= date <= LATEST:
        return None
    moment = EPOCH + timedelta(microseconds=int(date * 10**6))
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class RunWriter:
    """Writes the events of one run."""

    def __init__(
        self,
        results: Results,
        samples: Samples,
        metrics: Sequence[Metric],
        *,
        name: str,
        digest: str,
    ) -> None:
        self.results = results
        self.samples = samples
        self.metrics = metrics
        self.tallies = Tallies()
        self.emitter = Emitter(source_format=FORMAT, run=name, digest=digest, path="run")

    def write(
        self, manifest: str, trials: TrialWriter, keys: Sequence[str]
    ) -> Iterator[Submission]:
        """Yield every event of the run, in order."""
        yield self.emitter.event(
            "run.opened",
            "start",
            {"manifest": manifest, "entry": "imported"},
            at=start_of(self.results),
        )
        for document in self.samples.documents.values():
            yield from trials.write(document, self.samples.lines(document))
        yield self.note(HASHES, json_text(self.samples.hashes, gold=True))
        if keys:
            yield self.note(SOURCE_KEYS, json_text(list(keys)))
        yield self.imported(
            "samples",
            self.samples.source,
            suffix=".jsonl",
            counts=self.counts(),
            losses=json_text(losses_of(self.results, self.samples, self.metrics, self.tallies)),
        )
        yield self.imported(
            "results",
            self.results.source,
            suffix=".json",
            reported=json_text(reported_of(self.results, self.samples.task, self.metrics)),
        )
        yield self.emitter.event("run.closed", "end", {"status": "complete"})

    def note(self, about: str, text: NewText) -> Submission:
        """Return a remark about the whole run."""
        return self.emitter.event("note.added", about, {"about": about, "text": text})

    def counts(self) -> dict[str, int]:
        """Return how many of what were written."""
        lines = sum(len(document.lines) for document in self.samples.documents.values())
        return {**self.tallies.counts, "lines": lines, "planned_slots": len(self.samples.documents)}

    def imported(
        self, which: str, source: SourceFile, *, suffix: str, **further: object
    ) -> Submission:
        """Return where a part of the events came from; each file is an event with its bytes."""
        return self.emitter.event(
            "source.imported",
            which,
            {
                "format": FORMAT,
                "files": [
                    {
                        "name": f"{self.emitter.run}.{which}{suffix}",
                        "blake3": source.blake3,
                        "sha256": source.sha256,
                        "bytes": len(source.content),
                    }
                ],
                "content": NewText(
                    content=source.content, media="application/octet-stream", class_="gold"
                ),
                "importer": IMPORTER,
                **further,
            },
        )
