"""What the ledger as a whole knows: registered datasets, frozen rubrics and manifests, by name.

Invariant: a name and version means one document for ever; a configuration has one `system_hash` in
a ledger (C9, C10, C14).
"""

from collections.abc import Callable, Mapping

import msgspec

from trial_ledger import events
from trial_ledger.documents.dataset_structs import Question, decode_questions
from trial_ledger.documents.manifest_structs import Manifest, decode_manifest
from trial_ledger.documents.rubric_structs import Rubric, decode_rubric
from trial_ledger.errors import AmbiguousError, RuleError
from trial_ledger.events import AnyData, BlobRef, Event

__all__ = ["Registry"]

ReadPlain = Callable[[BlobRef], bytes]


class Registry:
    """Documents of one ledger, decoded on demand and kept."""

    def __init__(self, read_plain: ReadPlain) -> None:
        self.read_plain = read_plain
        self.datasets: dict[str, events.DatasetRegistered] = {}
        self.rubrics: dict[str, events.RubricFrozen] = {}
        self.manifests: dict[str, events.ManifestFrozen] = {}
        self.configurations: dict[str, list[str]] = {}
        self.questions_by_blob: dict[str, dict[str, Question]] = {}
        self.commitments_by_blob: dict[str, dict[str, str | None]] = {}
        self.rubric_by_hash: dict[str, Rubric] = {}
        self.manifest_by_hash: dict[str, Manifest] = {}
        self.places: dict[str, int] = {}
        self.keys: list[str] = []

    def apply(self, event: Event) -> None:
        """Take one event that belongs to no run into account."""
        match event.data:
            case events.DatasetRegistered() as data:
                self.datasets[f"{data.name}@{data.version}"] = data
                self.places[data.questions.blob] = event.seq
            case events.RubricFrozen() as data:
                self.rubrics[f"{data.name}@{data.version}"] = data
                self.places[data.rubric_hash] = event.seq
            case events.ManifestFrozen() as data:
                self.manifests[data.manifest_hash] = data
                self.places[data.manifest_hash] = event.seq
                self.configurations.setdefault(data.configuration, []).append(data.manifest_hash)
            case events.LedgerOpened() as data:
                self.keys.extend(data.public_keys)
            case events.KeyRotated() as data:
                self.keys.append(data.new_public_key)
            case _:
                pass  # Notes and the like name no document.

    def check(self, data: AnyData) -> None:
        """Refuse a document whose name is taken, or whose own references are missing.

        Raises:
            RuleError: with the clause.
        """
        match data:
            case events.DatasetRegistered():
                refuse_taken("dataset", data.name, data.version, self.datasets, clause="C1")
            case events.RubricFrozen():
                refuse_taken("rubric", data.name, data.version, self.rubrics, clause="C14")
            case events.ManifestFrozen():
                self.check_manifest(data)
            case events.KeyRotated():
                self.check_rotation(data)
            case _:
                pass  # Nothing else names a document of the whole ledger.

    @property
    def current_key(self) -> str | None:
        """The key that may sign heads now, as people hand it out; None where there is none."""
        return self.keys[-1] if self.keys else None

    def check_rotation(self, data: events.KeyRotated) -> None:
        """Refuse to hand over from another key than the present one, or to the same."""
        if data.old_public_key != self.current_key:
            message = "the key handed over is not the ledger's present key"
            raise RuleError(message, field="data.old_public_key", hint="ledger key show")
        if data.new_public_key in self.keys:
            message = "the new key is one that this ledger had before"
            raise RuleError(message, field="data.new_public_key", hint="ledger key new")

    def check_manifest(self, data: events.ManifestFrozen) -> None:
        """Refuse a manifest that is frozen already, dangling, or of another system."""
        if data.manifest_hash in self.manifests:
            message = f"manifest {data.configuration}@{data.manifest_hash[:8]} is frozen already"
            raise RuleError(message, clause="C9")
        self.dataset(data.dataset)
        self.rubric(data.rubric)
        for known in self.configurations.get(data.configuration, []):
            system = self.manifests[known].system_hash
            if system != data.system_hash:
                message = (
                    f"configuration {data.configuration} is system {system[:8]} in this ledger,"
                    f" this manifest describes system {data.system_hash[:8]}"
                )
                raise RuleError(
                    message,
                    clause="C9",
                    field="configuration",
                    hint="a changed system gets a new configuration name",
                )

    def dataset(self, reference: str) -> events.DatasetRegistered:
        """Return a registered dataset by `name@version`.

        Raises:
            RuleError: there is none.
        """
        found = self.datasets.get(reference)
        if found is None:
            message = f"dataset {reference} is not registered"
            raise RuleError(
                message, clause="C9", field="dataset", hint=listing("dataset", self.datasets)
            )
        return found

    def rubric(self, reference: str) -> events.RubricFrozen:
        """Return a frozen rubric by `name@version`.

        Raises:
            RuleError: there is none.
        """
        found = self.rubrics.get(reference)
        if found is None:
            message = f"rubric {reference} is not frozen"
            raise RuleError(
                message, clause="C14", field="rubric", hint=listing("rubric", self.rubrics)
            )
        return found

    def manifest(self, reference: str) -> events.ManifestFrozen:
        """Return a frozen manifest by hash, hash prefix, `configuration` or `configuration@prefix`.

        Raises:
            RuleError: there is none (C9).
            AmbiguousError: there are several.
        """
        configuration, at, prefix = reference.rpartition("@")
        if not at:
            configuration, prefix = reference, ""
        candidates = [
            value
            for value in self.configurations.get(configuration, [])
            if value.startswith(prefix)
        ] or [value for value in self.manifests if value.startswith(reference)]
        if not candidates:
            message = f"manifest {reference} is not frozen"
            raise RuleError(
                message,
                clause="C9",
                field="data.manifest",
                hint=listing("manifest", self.configurations),
            )
        if len(candidates) > 1:
            raise AmbiguousError("manifest", reference, candidates)
        return self.manifests[candidates[0]]

    def questions(self, reference: str) -> dict[str, Question]:
        """Return the questions of a registered dataset by id, in its order."""
        blob = self.dataset(reference).questions
        if blob.blob not in self.questions_by_blob:
            questions = decode_questions(self.read_plain(blob))
            self.questions_by_blob[blob.blob] = {question.id: question for question in questions}
        return self.questions_by_blob[blob.blob]

    def commitments(self, reference: str) -> dict[str, str | None]:
        """Return the commitment of every question's gold record; None where it has no gold."""
        blob = self.dataset(reference).commitments
        if blob.blob not in self.commitments_by_blob:
            self.commitments_by_blob[blob.blob] = msgspec.json.decode(
                self.read_plain(blob), type=dict[str, str | None]
            )
        return self.commitments_by_blob[blob.blob]

    def rubric_document(self, data: events.RubricFrozen) -> Rubric:
        """Return the frozen rubric itself."""
        if data.rubric_hash not in self.rubric_by_hash:
            self.rubric_by_hash[data.rubric_hash] = decode_rubric(self.read_plain(data.document))
        return self.rubric_by_hash[data.rubric_hash]

    def manifest_document(self, data: events.ManifestFrozen) -> Manifest:
        """Return the frozen manifest itself."""
        if data.manifest_hash not in self.manifest_by_hash:
            document = self.read_plain(data.document)
            self.manifest_by_hash[data.manifest_hash] = decode_manifest(document)
        return self.manifest_by_hash[data.manifest_hash]


def refuse_taken(
    what: str, name: str, version: str, known: Mapping[str, object], *, clause: str
) -> None:
    """Refuse a second document of one name and version.

    Raises:
        RuleError: it is there already.
    """
    if f"{name}@{version}" in known:
        message = f"{what} {name}@{version} exists with other content"
        raise RuleError(
            message,
            clause=clause,
            field="version",
            hint="a changed document is a new version: --version",
        )


def listing(what: str, known: Mapping[str, object]) -> str:
    """Return a hint that lists what there is, or how to make one."""
    names = sorted(known)
    if not names:
        return f"ledger freeze {what} FILE"
    return f"there is {', '.join(names[:5])}" + (", …" if len(names) > 5 else "")  # noqa: PLR2004 - a line
