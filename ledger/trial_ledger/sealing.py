"""Turns the texts of a draft into blobs: scrubbed, classed, salted, collected for their file.

Invariant: a text that may show gold goes to the gold file, whatever its writer asked for (C2); a
secret is replaced before anything is hashed (C11).
"""

import msgspec

from trial_ledger.batch import FROZEN_KINDS
from trial_ledger.blobs import BlobTable, NewBlob, sealed_blob
from trial_ledger.documents.manifest_structs import secret_names
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.erasing import is_erased
from trial_ledger.errors import StorageError
from trial_ledger.events import (
    TEXT_CLASSES,
    AnyData,
    BlobClass,
    BlobRef,
    CallFinished,
    CallStarted,
    FailureOccurred,
)
from trial_ledger.goldfile import GoldFile
from trial_ledger.intake import Draft
from trial_ledger.lifecycle.states import RunState, TrialState
from trial_ledger.registry import Registry
from trial_ledger.scrubbing import Scrubber
from trial_ledger.store import Store
from trial_ledger.tools import Tools

__all__ = ["Sealer"]

SECRECY: tuple[BlobClass, ...] = ("plain", "sealed", "gold")
"""Blob classes from open to secret: a writer may raise a text's class, never lower it."""


class Sealer:
    """Makes and places blobs for one ledger."""

    def __init__(self, store: Store, gold: GoldFile | None, tools: Tools) -> None:
        self.store = store
        self.gold = gold
        self.tools = tools
        self.scrubbers: dict[tuple[str, str | None], Scrubber] = {}

    def scrub(self, draft: Draft, run: RunState | None, registry: Registry) -> None:
        """Replace secrets in a draft, in place.

        The frozen documents themselves are left as they are: their hash is known by now, and one
        that holds a secret was refused before.

        Raises:
            RuleError: a secret stands where nothing can be replaced.
        """
        if draft.kind in FROZEN_KINDS:
            return
        scrubber = self.scrubber(run, registry)
        draft.texts = {name: scrubber.text(name, text) for name, text in draft.texts.items()}
        draft.data = scrubber.data(draft.data)
        scrubber.refuse("actor", draft.actor)
        if draft.trial is not None:
            scrubber.refuse("trial", draft.trial)

    def scrubber(self, run: RunState | None, registry: Registry) -> Scrubber:
        """Return what knows the secrets of a run, or of every frozen document."""
        if run is None:
            return Scrubber(self.tools.environ, secret_names_of_all(registry))
        key = (run.opened.manifest, run.opened.rubric_hash)
        if key not in self.scrubbers:
            names = secret_names(run.manifest) | judge_secret(run.rubric)
            self.scrubbers[key] = Scrubber(self.tools.environ, names)
        return self.scrubbers[key]

    def seal(
        self, draft: Draft, data: AnyData, trial: TrialState | None
    ) -> tuple[AnyData, list[tuple[NewBlob, bool]]]:
        """Return the data with its real references, and (blob, is gold) for each text.

        Raises:
            StorageError: a text is gold and there is no gold file.
        """
        if not draft.texts:
            return data, []
        shows_gold = may_show_gold(data, trial)
        classes = TEXT_CLASSES[draft.kind]
        blobs: list[tuple[NewBlob, bool]] = []
        references: dict[str, BlobRef] = {}
        for name, text in draft.texts.items():
            class_ = max(text.class_ or classes[name], classes[name], key=SECRECY.index)
            if shows_gold:
                class_ = "gold"
            blob = sealed_blob(text.content, class_=class_, random_bytes=self.tools.random_bytes)
            references[name] = BlobRef(
                blob=blob.hash.hex(), bytes=len(text.content), media=text.media, class_=class_
            )
            blobs.append((blob, class_ == "gold"))
        if self.gold is None and any(is_gold for _, is_gold in blobs):
            message = f"{draft.kind} carries text that belongs in the gold file, which is missing"
            raise StorageError(
                message, hint="put the .gold file beside the ledger before you append to it"
            )
        return msgspec.structs.replace(data, **references), blobs

    def place(self, blob: NewBlob, *, is_gold: bool) -> None:
        """Collect a blob for the file it belongs in."""
        if is_gold:
            assert self.gold is not None, "seal refused it"
            self.gold.add(blob)
        else:
            self.store.blobs.add(blob)

    def digest_of(self, reference: BlobRef) -> bytes | None:
        """Return BLAKE3 of a stored blob's bytes; None where erased or where gold is missing."""
        table = self.table_of(reference)
        return None if table is None else table.digest(bytes.fromhex(reference.blob))

    def is_redacted(self, reference: BlobRef) -> bool:
        """Return whether a stored blob's bytes were erased, so that nothing can equal them."""
        table = self.table_of(reference)
        return table is not None and is_erased(table, bytes.fromhex(reference.blob)) is True

    def table_of(self, reference: BlobRef) -> BlobTable | None:
        """Return the table that a blob lies in; None where gold is missing."""
        if reference.class_ != "gold":
            return self.store.blobs
        return None if self.gold is None else self.gold.blobs


def secret_names_of_all(registry: Registry) -> frozenset[str]:
    """Return the environment variables that any frozen document of a ledger names as secret."""
    manifests = map(registry.manifest_document, registry.manifests.values())
    rubrics = map(registry.rubric_document, registry.rubrics.values())
    return frozenset().union(*map(secret_names, manifests), *map(judge_secret, rubrics))


def judge_secret(rubric: Rubric) -> frozenset[str]:
    """Return the environment variable that holds the judge's key, if there is one."""
    judge = rubric.judge
    return frozenset() if judge is None or judge.key_env is None else frozenset({judge.key_env})


def may_show_gold(data: AnyData, trial: TrialState | None) -> bool:
    """Return whether an event's texts come from or go to a judge, who is shown gold (C2)."""
    if isinstance(data, CallStarted):
        return data.purpose == "judge"
    if isinstance(data, FailureOccurred) and data.fault == "judge":
        return True
    if isinstance(data, CallFinished | FailureOccurred) and trial is not None:
        call = trial.calls.get(data.call or "")
        return call is not None and call.purpose == "judge"
    return False
