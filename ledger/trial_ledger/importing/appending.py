"""An imported run into a ledger: documents frozen, events appended, related runs named.

Invariant: importing the same bytes again appends nothing, and either all events of a run are
appended or none. Documents that were frozen before a refusal stay, and change nothing.
"""

from collections.abc import Iterator

import msgspec

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.events import Actor
from trial_ledger.importing.source import SOURCE_KEYS, ImportedRun, event_id
from trial_ledger.submission import Submission

__all__ = ["RELATION", "append_run", "related_runs"]

RELATION = "same source id, other bytes"
"""How a run is related to another import of the same evaluation."""


def append_run(ledger: Ledger, imported: ImportedRun) -> list[Acknowledgement]:
    """Freeze the documents of an imported run, append its events, and relate it to earlier ones.

    Raises:
        InvalidInputError: the source or an event of it has a wrong form.
        RuleError: a document of that name says something else.
        RefusedError: guards refuse some events; all refusals are reported.
        StorageError: the file is busy or failing.
    """
    frozen = ledger.freeze([imported.dataset, imported.rubric, imported.manifest])
    manifest = ledger.read(frozen[-1].seq).event.data
    assert isinstance(manifest, events.ManifestFrozen), "the last document is the manifest"
    acknowledged = ledger.append_many(
        imported.submissions(manifest.manifest_hash), what=imported.source.label
    )
    relations = [
        relation
        for other in related_runs(ledger, imported)
        for relation in (related(imported.name, other), related(other, imported.name))
    ]
    return acknowledged + ledger.append_many(relations, what=imported.source.label)


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
