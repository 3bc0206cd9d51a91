"""The read side of an open ledger: events, texts, documents, the end of the log.

Invariant: reading writes nothing and holds no lock for long; bytes are checked against the hash
that names them.
"""

from collections.abc import Iterable, Iterator

import msgspec

from trial_ledger.canonical import decode_event, event_hash
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.events import BlobRef, Event, RunOpened
from trial_ledger.goldfile import GoldFile
from trial_ledger.merkle import Frontier
from trial_ledger.registry import Registry
from trial_ledger.store import Store

__all__ = ["Head", "LedgerView", "Stored", "stored_event"]


class Stored(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An event as it stands in the log."""

    event: Event
    """The event, lifted to the newest version of its kind."""
    hash: str
    """BLAKE3 of the stored document."""
    document: bytes
    """The stored bytes."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The end of the log."""

    ledger: str
    """Id of the ledger."""
    size: int
    """Number of events."""
    root: str
    """Root of the tree over them."""


class LedgerView:
    """What can be read from one ledger file and its gold file."""

    def __init__(self, store: Store, gold: GoldFile | None, ledger_id: str) -> None:
        self.store = store
        self.gold = gold
        self.id = ledger_id

    def events(
        self, *, run: str | None = None, after: int = 0, upto: int | None = None
    ) -> Iterator[Stored]:
        """Yield events in order; each chunk is read in a short transaction of its own.

        Args:
            run: only events of this run; None for all.
            after: only events after this seq.
            upto: only events up to this seq; None for all that are there now.
        """
        if run is None:
            documents: Iterable[bytes] = (
                row.document for row in self.store.rows(after=after, upto=upto)
            )
        else:
            documents = self.store.run_documents(run, upto=upto)
        for document in documents:
            stored = stored_event(document)
            if stored.event.seq > after:
                yield stored

    def run_opened(self, run: str) -> RunOpened:
        """Return how a run was opened.

        Raises:
            NotFoundError: it was never opened.
        """
        documents = self.store.scope(run, None)
        if not documents:
            message = f"run {run} was never opened"
            raise NotFoundError(message, hint="ledger runs")
        data = decode_event(documents[0]).data
        assert isinstance(data, RunOpened), "a run begins with run.opened"
        return data

    def read(self, seq: int) -> Stored:
        """Return one event.

        Raises:
            NotFoundError: the log has no such seq.
        """
        document = self.store.document(seq)
        if document is None:
            message = f"no event {seq}: the log has {self.store.size()}"
            raise NotFoundError(message, hint="ledger log")
        return stored_event(document)

    def blob(self, reference: BlobRef) -> bytes | None:
        """Return the checked bytes of a text; None where it was erased.

        Raises:
            NotFoundError: it is gold and the gold file is not here.
            VerificationError: its bytes are not what was written.
        """
        if reference.class_ != "gold":
            return self.store.blobs.read(reference)
        if self.gold is None:
            message = f"blob {reference.blob} is gold, and the gold file is not here"
            raise NotFoundError(message, hint="put the .gold file beside the ledger")
        return self.gold.read(reference)

    def head(self) -> Head:
        """Return the end of the log."""
        size = self.store.size()
        root = Frontier.load(size, self.store.node).root()
        return Head(ledger=self.id, size=size, root=root.hex())

    def registry(self) -> Registry:
        """Return the documents of the ledger as they are now."""
        registry = Registry(self.document_bytes)
        for document in self.store.scope(None, None):
            registry.apply(decode_event(document))
        return registry

    def document_bytes(self, reference: BlobRef) -> bytes:
        """Return the bytes of a frozen document.

        Raises:
            VerificationError: it was erased or is not what was written.
        """
        content = self.blob(reference)
        if content is None:
            message = f"document {reference.blob} was erased"
            raise VerificationError(message)
        return content


def stored_event(document: bytes) -> Stored:
    """Return the event of a stored document, with its hash."""
    return Stored(event=decode_event(document), hash=event_hash(document), document=document)
