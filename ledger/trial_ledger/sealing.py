"""Turns the texts of a draft into blobs: scrubbed, classed, salted, collected for their file.

Invariant: a text that may show gold goes to the gold file, whatever its writer asked for (C2); a
secret is replaced before anything is hashed (C11).
"""

import msgspec

from trial_ledger.blobs import NewBlob, sealed_blob
from trial_ledger.documents.manifest import secret_names
from trial_ledger.errors import StorageError
from trial_ledger.events import (
    TEXT_CLASSES,
    AnyData,
    BlobRef,
    CallFinished,
    CallStarted,
    FailureOccurred,
)
from trial_ledger.goldfile import GoldFile
from trial_ledger.intake import Draft
from trial_ledger.lifecycle.states import RunState, TrialState
from trial_ledger.scrubbing import Scrubber
from trial_ledger.store import Store
from trial_ledger.tools import Tools

__all__ = ["Sealer"]


class Sealer:
    """Makes and places blobs for one ledger."""

    def __init__(self, store: Store, gold: GoldFile | None, tools: Tools) -> None:
        self.store = store
        self.gold = gold
        self.tools = tools
        self.scrubbers: dict[str, Scrubber] = {}

    def scrub(self, draft: Draft, run: RunState | None) -> None:
        """Replace secrets in a draft, in place; only runs name where secrets are."""
        if run is None:
            return
        scrubber = self.scrubbers.get(run.opened.manifest)
        if scrubber is None:
            names = secret_names(run.manifest)
            judge = run.rubric.judge
            if judge is not None and judge.key_env is not None:
                names |= {judge.key_env}
            scrubber = Scrubber(self.tools.environ, names)
            self.scrubbers[run.opened.manifest] = scrubber
        draft.texts = {name: scrubber.text(name, text) for name, text in draft.texts.items()}
        draft.data = scrubber.data(draft.data)

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
            class_ = text.class_ or classes[name]
            if shows_gold or classes[name] == "gold":
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
        name = bytes.fromhex(reference.blob)
        if reference.class_ != "gold":
            return self.store.blobs.digest(name)
        return None if self.gold is None else self.gold.blobs.digest(name)


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
