"""Signs the head of a ledger at the moments that matter, and never against an earlier one.

Invariant: a head is signed only with the ledger's own current key, inside the transaction that
made it, after the newest signed head was found to be of a prefix of this log; so one key never
signs two histories unless the whole file was put back, which the head pin shows.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from trial_ledger.durable import write_whole
from trial_ledger.errors import VerificationError
from trial_ledger.events import AnyData, ManifestFrozen, RunClosed
from trial_ledger.heads import (
    PublicKey,
    Signer,
    head_text,
    origin_of,
    public_keys,
    signed_note,
    verified_head,
)
from trial_ledger.merkle import root_at
from trial_ledger.store import Store

__all__ = ["HeadSigner", "heads_folder"]


def heads_folder(ledger: Path) -> Path:
    """Return where the notes of the ledgers of a folder lie, one file each, for git."""
    return ledger.parent / "heads"


class HeadSigner:
    """Signs for one ledger, where its key is at hand."""

    def __init__(self, ledger: str, signer: Callable[[], Signer | None]) -> None:
        self.origin = origin_of(ledger)
        self.ledger = ledger
        self.find = signer
        self.found: Signer | None = None
        self.is_looked_up = False
        self.is_due = False
        self.handing_over: Signer | None = None

    def look_at(self, data: AnyData) -> None:
        """Remember whether a head is due after an event: before the first trial, after the last.

        A frozen manifest is anchored before anything was tried under it; a closed run before its
        numbers are shown.
        """
        if isinstance(data, ManifestFrozen | RunClosed):
            self.is_due = True

    def forget(self) -> None:
        """Forget what was due; the transaction is over or was given up."""
        self.is_due, self.handing_over = False, None

    def signer_of(self, current: str | None) -> Signer | None:
        """Return the key where it is the ledger's current one; None where it is not at hand.

        Args:
            current: the vkey that may sign now; None where the ledger has no key.
        """
        if current is None:
            return None
        if not self.is_looked_up:
            self.found, self.is_looked_up = self.find(), True
        if self.found is None or str(self.public_key(self.found)) != current:
            return None
        return self.found

    def public_key(self, signer: Signer) -> PublicKey:
        """Return a key under the name that it has in this ledger's notes."""
        return PublicKey(name=self.origin, key=signer.key)

    def add(self, store: Store, keys: Sequence[str], size: int, root: bytes) -> str | None:
        """Sign a head and keep it in the running transaction, whose rows are all written.

        Args:
            store: the ledger's store.
            keys: the vkeys that the log names, oldest first: the last may sign now.
            size: number of events, those of this transaction included.
            root: root over them.

        Returns:
            The note; None where the key is not at hand, or this head is signed already.

        Raises:
            VerificationError: the newest signed head is not a good one of this log's beginning.
        """
        signer = self.handing_over or self.signer_of(keys[-1] if keys else None)
        if signer is None:
            return None
        newest = store.heads.newest()
        if newest is not None:
            head = verified_head(newest, public_keys(keys), origin=self.origin)
            there = None
            if head.size <= size:
                there = root if head.size == size else root_at(head.size, store.node)
            if there != head.root:
                message = f"the log does not go on from its signed head of {head.size} events"
                raise VerificationError(message, hint="ledger verify")
            if head.size == size:
                return None
        note = signed_note(head_text(self.origin, size, root), signer, name=self.origin)
        store.heads.add(size, note)
        return note

    def publish(
        self, path: Path, note: str | None, size: int, *, warn: Callable[[str], None]
    ) -> None:
        """Write a new note where git and others find it, and forget what was due.

        The ledger holds the note whatever happens here. A crash on the way leaves a hidden file.
        A note that lies there already is left: others may have signed it too, or it is the trace
        of another history, which `verify` names.
        """
        self.forget()
        if note is None:
            return
        folder = heads_folder(path)
        target = folder / f"{self.ledger[:8]}-{size:012d}.note"
        try:
            folder.mkdir(exist_ok=True)
            if not target.exists():
                write_whole(target, note.encode())
        except OSError as error:
            warn(f"the signed head of {size} events is in the ledger only: {error.strerror}")
