"""Registers datasets and freezes rubrics and manifests, each once.

Invariant: freezing the same document again finds it; freezing another one under its name is
refused with what differs; gold never leaves the gold file (C1, C2, C9, C14).
"""

from collections.abc import Iterable

from trial_ledger.blobs import NewBlob, content_hash, sealed_blob
from trial_ledger.building import ACTOR, Acknowledgement
from trial_ledger.canonical import decode_event, event_hash
from trial_ledger.documents import manifest_structs as manifests
from trial_ledger.documents import rubric_structs as rubrics
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.dataset_structs import Dataset
from trial_ledger.documents.difference import (
    differences,
    next_version,
    render_differences,
)
from trial_ledger.documents.manifest_structs import Manifest, References
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.errors import RuleError, StorageError
from trial_ledger.events import Actor
from trial_ledger.intake import Draft, draft
from trial_ledger.submission import NewText, Submission
from trial_ledger.writer import Writer

__all__ = ["Freezer"]

JSON = "application/json"


class Freezer:
    """Documents into the ledger, inside a running write transaction."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def document(self, document: Dataset | Rubric | Manifest) -> Acknowledgement:
        """Register or freeze a document of any sort.

        Raises:
            RuleError: its name is taken by another document, or a reference is missing.
            StorageError: there is no gold file.
        """
        if isinstance(document, Dataset):
            return self.dataset(document)
        if isinstance(document, Rubric):
            return self.rubric(document)
        return self.manifest(document)

    def dataset(self, dataset: Dataset, *, actor: Actor = ACTOR) -> Acknowledgement:
        """Register a dataset, or find it registered.

        Raises:
            RuleError: the name and version mean other questions or other gold.
            StorageError: there is no gold file.
        """
        questions = dataset.questions_json()
        commitments = {
            question.id: self.commit_gold(question.id, dataset.gold.get(question.id))
            for question in dataset.questions
        }
        canary = None if dataset.canary is None else self.commit_canary(dataset.canary.encode())
        document = canonical_json(commitments)
        known = self.writer.known.registry.datasets.get(dataset.reference)
        if known is not None:
            same_questions = known.questions.blob == content_hash(questions).hex()
            same_gold = known.commitments.blob == content_hash(document).hex()
            if same_questions and same_gold and known.canary == canary:
                return self.existing(known.questions.blob)
            self.refuse_changed(
                "dataset",
                dataset.name,
                dataset.version,
                self.writer.known.registry.read_plain(known.questions),
                questions,
                otherwise="gold or canary differ",
            )
        warnings = dataset.warnings_json()
        data: dict[str, object] = {
            "name": dataset.name,
            "version": dataset.version,
            "reconstructed": dataset.reconstructed,
            "questions": NewText(content=questions, media=JSON),
            "count": len(dataset.questions),
            "by_shape": dataset.counts_by_shape(),
            "by_split": dataset.counts_by_split(),
            "commitments": NewText(content=document, media=JSON),
            "commitments_root": content_hash(document).hex(),
            "canary": canary,
            "leak_min_length": dataset.leak_min_length,
            "cutoff": dataset.cutoff,
            "warnings": None if warnings is None else NewText(content=warnings, media=JSON),
            "warning_count": len(dataset.warnings),
            "provenance": dataset.provenance,
        }
        return self.writer.prepare(self.drafted("dataset.registered", data, actor))

    def commit_gold(self, question: str, record: bytes | None) -> str | None:
        """Return the commitment of a question's gold record; None without one.

        A record that some registered dataset already commits to under this question keeps its
        commitment: registering again changes nothing, and two versions of a dataset show which
        gold they share.
        """
        if record is None:
            return None
        registry = self.writer.known.registry
        earlier = (registry.commitments(name).get(question) for name in registry.datasets)
        return self.commit(record, earlier)

    def commit_canary(self, canary: bytes) -> str:
        """Return the commitment of a canary, the earlier one where it was used before."""
        datasets = self.writer.known.registry.datasets.values()
        return self.commit(canary, (dataset.canary for dataset in datasets))

    def commit(self, content: bytes, earlier: Iterable[str | None]) -> str:
        """Return the commitment of a gold text, putting it in the gold file unless it is there.

        Raises:
            StorageError: there is no gold file.
        """
        gold = self.writer.gold
        if gold is None:
            message = "gold belongs in the gold file, which is missing"
            raise StorageError(message, hint="put the .gold file beside the ledger")
        digest = content_hash(content)
        for commitment in earlier:
            if commitment is not None and gold.blobs.digest(bytes.fromhex(commitment)) == digest:
                return commitment
        blob: NewBlob = sealed_blob(
            content, class_="gold", random_bytes=self.writer.tools.random_bytes
        )
        gold.add(blob)
        return blob.hash.hex()

    def rubric(self, rubric: Rubric, *, actor: Actor = ACTOR) -> Acknowledgement:
        """Freeze a rubric, or find it frozen.

        Raises:
            RuleError: the name and version mean another document.
        """
        document = rubrics.canonical(rubric)
        known = self.writer.known.registry.rubrics.get(f"{rubric.name}@{rubric.version}")
        if known is not None:
            if known.rubric_hash == rubrics.rubric_hash(rubric):
                return self.existing(known.rubric_hash)
            self.refuse_changed(
                "rubric",
                rubric.name,
                rubric.version,
                self.writer.known.registry.read_plain(known.document),
                document,
            )
        data: dict[str, object] = {
            "name": rubric.name,
            "version": rubric.version,
            "reconstructed": rubric.reconstructed,
            "document": NewText(content=document, media=JSON),
            "rubric_hash": rubrics.rubric_hash(rubric),
            "official": rubric.official,
        }
        return self.writer.prepare(self.drafted("rubric.frozen", data, actor))

    def manifest(self, manifest: Manifest, *, actor: Actor = ACTOR) -> Acknowledgement:
        """Freeze a manifest with the hashes of what it names, or find it frozen.

        Raises:
            RuleError: its dataset or rubric is not there, or its configuration is another system.
        """
        registry = self.writer.known.registry
        dataset = registry.dataset(manifest.dataset)
        rubric = registry.rubric(manifest.rubric)
        complete = manifests.with_references(
            manifest,
            References(
                questions=dataset.questions.blob,
                gold=dataset.commitments_root,
                cutoff=dataset.cutoff,
                rubric=rubric.rubric_hash,
            ),
        )
        digest = manifests.manifest_hash(complete)
        if digest in registry.manifests:
            return self.existing(digest)
        data: dict[str, object] = {
            "configuration": manifest.configuration,
            "manifest_hash": digest,
            "system_hash": manifests.system_hash(complete),
            "phase": manifest.phase,
            "dataset": manifest.dataset,
            "rubric": manifest.rubric,
            "document": NewText(content=manifests.canonical(complete), media=JSON),
            "supersedes": manifest.supersedes,
            "reconstructed": manifest.reconstructed,
        }
        return self.writer.prepare(self.drafted("manifest.frozen", data, actor))

    def drafted(self, kind: str, data: dict[str, object], actor: Actor) -> Draft:
        """Return the draft of one frozen document."""
        return draft(Submission(kind=kind, data=data, actor=actor))

    def existing(self, key: str) -> Acknowledgement:
        """Return the acknowledgement of a document that is there already."""
        seq = self.writer.known.registry.places[key]
        document = self.writer.document(seq)
        return Acknowledgement(
            seq=seq, id=decode_event(document).id, hash=event_hash(document), status="exists"
        )

    def refuse_changed(
        self, what: str, name: str, version: str, old: bytes, new: bytes, *, otherwise: str = ""
    ) -> None:
        """Refuse a changed document under a taken name, and say what changed.

        Raises:
            RuleError: always.
        """
        lines = render_differences(differences(old, new))
        changed = "; ".join(lines[:5]) or otherwise
        more = f"; {len(lines) - 5} more" if len(lines) > 5 else ""  # noqa: PLR2004 - a paragraph
        message = f"{what} {name}@{version} exists and differs: {changed}{more}"
        raise RuleError(
            message,
            clause="C1" if what == "dataset" else "C14",
            field="version",
            hint=f"a changed document is a new version, such as {next_version(version)}",
        )
