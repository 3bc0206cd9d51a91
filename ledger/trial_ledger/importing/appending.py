"""Imported runs into a ledger: documents frozen, events appended, related runs named.

Invariant: importing the same bytes again appends nothing, and either all events of the runs of a
file are appended or none. Documents that were frozen before a refusal stay, and change nothing.
"""

from collections.abc import Iterator, Sequence

import msgspec

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.events import Actor
from trial_ledger.importing.source import SOURCE_KEYS, ImportedRun, event_id
from trial_ledger.submission import Submission

__all__ = ["RELATION", "AppendedRun", "append_run", "append_runs", "related_runs"]

RELATION = "same source id, other bytes"
"""How a run is related to another import of the same evaluation."""


class AppendedRun(msgspec.Struct, kw_only=True):
    """What came of one imported run."""

    run: str
    """Its name."""
    documents: Sequence[Acknowledgement]
    """Dataset, rubric and manifest, in this order."""
    events: list[Acknowledgement]
    """Its events, then those that relate it to other runs."""

    def count(self, status: str) -> int:
        """Return how many documents and events were `appended`, or `exists` already."""
        return sum(one.status == status for one in (*self.documents, *self.events))


def append_run(ledger: Ledger, imported: ImportedRun) -> list[Acknowledgement]:
    """Freeze the documents of an imported run, append its events, and relate it to earlier ones.

    Raises:
        InvalidInputError: the source or an event of it has a wrong form.
        RuleError: a document of that name says something else.
        RefusedError: guards refuse some events; all refusals are reported.
        StorageError: the file is busy or failing.
    """
    (appended,) = append_runs(ledger, [imported])
    return appended.events


def append_runs(ledger: Ledger, runs: Sequence[ImportedRun]) -> list[AppendedRun]:
    """Append the runs of one file, all or none, in their order; see `append_run`.

    Raises:
        InvalidInputError: the source or an event of it has a wrong form.
        RuleError: a document of that name says something else.
        RefusedError: guards refuse some events; all refusals are reported.
        StorageError: the file is busy or failing.
    """
    assert runs, "a file that is imported holds a run"
    frozen = ledger.freeze(
        document for run in runs for document in (run.dataset, run.rubric, run.manifest)
    )
    found = [
        AppendedRun(run=run.name, documents=frozen[3 * index : 3 * index + 3], events=[])
        for index, run in enumerate(runs)
    ]
    owners: list[AppendedRun] = []

    def submissions() -> Iterator[Submission]:
        for run, appended in zip(runs, found, strict=True):
            for submission in run.submissions(manifest_hash(ledger, appended)):
                owners.append(appended)
                yield submission

    label = runs[0].source.label
    for owner, one in zip(owners, ledger.append_many(submissions(), what=label), strict=True):
        owner.events.append(one)
    for run, appended in zip(runs, found, strict=True):
        relations = [
            relation
            for other in related_runs(ledger, run)
            for relation in (related(run.name, other), related(other, run.name))
        ]
        appended.events += ledger.append_many(relations, what=run.source.label)
    return found


def manifest_hash(ledger: Ledger, appended: AppendedRun) -> str:
    """Return the hash of a run's manifest."""
    manifest = ledger.read(appended.documents[-1].seq).event.data
    assert isinstance(manifest, events.ManifestFrozen), "the last document is the manifest"
    return manifest.manifest_hash


def related_runs(ledger: Ledger, imported: ImportedRun) -> list[str]:
    """Return the runs of a ledger that share a source key with an imported one, in their order."""
    keys = set(imported.source_keys)
    found = (
        run for run, others in noted_keys(ledger) if run != imported.name and keys & set(others)
    )
    return list(dict.fromkeys(found))


def noted_keys(ledger: Ledger) -> Iterator[tuple[str, list[str]]]:
    """Yield every run that notes its source keys, with them."""
    for stored in ledger.events():
        note = stored.event.data
        if isinstance(note, events.NoteAdded) and note.about == SOURCE_KEYS and stored.event.run:
            content = ledger.blob(note.text)
            if content is not None:
                yield stored.event.run, msgspec.json.decode(content, type=list[str])


def related(run: str, other: str) -> Submission:
    """Return the event that names another run of the same source."""
    return Submission(
        kind="run.related",
        run=run,
        data={"run": other, "how": RELATION},
        id=event_id("run.related", run, other),
        actor=Actor(role="importer"),
    )
