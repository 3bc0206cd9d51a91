"""The documents of a receipt, and that they are those of the log that was signed, without a gap.

Invariant: size and root come from the verified head, the place of a document from the document
itself, and a public document is what its hash says; nothing is taken from the receipt's own word.
"""

from collections.abc import Sequence
from typing import cast

from blake3 import blake3

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.canonical import ZERO_HASH, event_hash
from trial_ledger.errors import VerificationError
from trial_ledger.events import BlobRef, Event
from trial_ledger.handed_over import event_of
from trial_ledger.heads import PublicKey, SignedHead
from trial_ledger.merkle import leaf_hash
from trial_ledger.proof import hash_of_text, root_of_several
from trial_ledger.registry import Registry
from trial_ledger.view import Stored
from trial_projections.reading import ReadModel
from trial_projections.receipt_structs import Claim, Receipt
from trial_projections.replay import fold_part

__all__ = ["Documents"]


class Documents:
    """The documents of a receipt, read and not yet checked.

    Raises:
        VerificationError: one is no canonical event of the signed log or out of order, there is
            none, or a public document is not what its hash says.
    """

    def __init__(self, receipt: Receipt, head: SignedHead) -> None:
        self.receipt = receipt
        self.head = head
        self.events: list[Stored] = []
        self.plain = {name: text.encode() for name, text in receipt.plain.items()}
        for name, content in self.plain.items():
            if blake3(content).hexdigest() != name:
                raise VerificationError(f"the document {name[:64]} is not what its hash says")
        for text in receipt.documents:
            self.events.append(self.stored(text.encode()))
        if not self.events:
            raise VerificationError("the receipt holds no document")
        self.ledger = self.events[0].event.ledger

    def stored(self, document: bytes) -> Stored:
        """Return one document as an event, in its place after those before.

        Raises:
            VerificationError: it is no canonical event of the signed log, or out of order.
        """
        event = event_of(document, origin=self.head.origin)
        if self.events and event.seq <= self.events[-1].event.seq:
            raise VerificationError(f"seq {event.seq}: out of order")
        return Stored(event=event, hash=event_hash(document), document=document)

    def check_in_log(self) -> None:
        """Check that every document is in the log that was signed, at its place.

        Raises:
            VerificationError: one is not.
        """
        leaves = {stored.event.seq - 1: leaf_hash(stored.document) for stored in self.events}
        path = [hash_of_text(text) for text in self.receipt.proof]
        if root_of_several(leaves, self.head.size, path) != self.head.root:
            raise VerificationError("the documents are not those of the log that was signed")

    def check_own_keys(self, own: Sequence[PublicKey]) -> None:
        """Check that the ledger's own keys are those that its log names, the signer among them.

        Raises:
            VerificationError: they are not.
        """
        named: list[str] = []
        for stored in self.events:
            match stored.event.data:
                case events.LedgerOpened(public_keys=keys):
                    named += keys
                case events.KeyRotated(new_public_key=key):
                    named.append(key)
                case _:
                    pass  # No other event gives a ledger a key.
        texts = [str(key) for key in own]
        if self.events[0].event.seq != 1 or not named == texts == self.receipt.keys:
            raise VerificationError("the keys of the receipt are not those that the log names")
        if not any(str(signer) in named for signer in self.head.signers):
            raise VerificationError("the head is not signed by a key of this ledger")

    def check_links(self, claim: Claim) -> tuple[events.RunOpened, Event]:
        """Check that every link of the run is here, and those of its parent up to the cited one.

        Returns:
            How the run was opened, and its last link.

        Raises:
            VerificationError: one is missing, they do not follow each other, or there are events
                of runs that the number does not rest on.
        """
        links = self.links_of(claim.run, claim.link)
        opening = links[0].data
        if not isinstance(opening, events.RunOpened):
            raise VerificationError(f"link 1 of {claim.run} does not open it")
        allowed = {None, claim.run}
        if opening.derived_from is not None:
            self.links_of(opening.derived_from.run, opening.derived_from.link)
            allowed.add(opening.derived_from.run)
        for stored in self.events:
            if stored.event.run not in allowed:
                raise VerificationError(f"seq {stored.event.seq}: of another run")
        return opening, links[-1]

    def links_of(self, run: str, last: int) -> list[Event]:
        """Return the links of a run, all of them from the first to the last.

        Raises:
            VerificationError: one is missing, or they do not follow each other.
        """
        found: list[Event] = []
        before = ZERO_HASH
        for stored in self.events:
            event = stored.event
            if event.run != run or event.link is None:
                continue
            if event.link.n != len(found) + 1:
                message = f"link {len(found) + 1} of {run} is missing before seq {event.seq}"
                raise VerificationError(message)
            if event.link.prev != before:
                message = (
                    f"seq {event.seq} does not follow link {len(found)} of {run} as it is here"
                )
                raise VerificationError(message)
            found.append(event)
            before = stored.hash
        if not found or len(found) != last:
            message = f"the receipt holds {len(found)} links of {run}, not {last}"
            raise VerificationError(message)
        return found

    def check_calls(self) -> None:
        """Check that every failure in a call comes after the call's start, which says its purpose.

        Nothing else of a run that is no link has a place in a receipt.

        Raises:
            VerificationError: one is missing; it is no link, so nothing else would show it. Or
                there is an event too many.
        """
        starts: dict[tuple[str | None, str, str], int] = {}
        needed: set[int] = set()
        for stored in self.events:
            event, data = stored.event, stored.event.data
            if isinstance(data, events.CallStarted):
                starts[event.run, str(event.trial), data.call] = event.seq
            elif isinstance(data, events.FailureOccurred) and data.call is not None:
                start = starts.get((event.run, str(event.trial), data.call))
                if start is None:
                    raise VerificationError(
                        f"seq {event.seq}: the start of its call {data.call} is not in the receipt"
                    )
                needed.add(start)
        for stored in self.events:
            event = stored.event
            if event.run is not None and event.link is None and event.seq not in needed:
                raise VerificationError(f"seq {event.seq}: nothing in the receipt rests on it")

    def document_bytes(self, reference: BlobRef) -> bytes:
        """Return a public document that an event names.

        Raises:
            VerificationError: it is not in the receipt.
        """
        found = self.plain.get(reference.blob)
        if found is None:
            raise VerificationError(f"document {reference.blob} is not in the receipt")
        return found

    def registry(self) -> Registry:
        """Return the frozen documents."""
        registry = Registry(self.document_bytes)
        for stored in self.events:
            if stored.event.run is None:
                registry.apply(stored.event)
        return registry

    def model(self) -> ReadModel:
        """Return the read side over the documents alone."""
        states = fold_part(self.events, self.events[-1].event.seq)
        # It reads what `LedgerView` reads, from here instead of from a file.
        return ReadModel(cast("Ledger", PartOfLog(self)), states, self.registry())


class PartOfLog:
    """What the read side asks of a ledger, answered from the documents of a receipt."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.id = documents.ledger
        self.store = self

    def seq_of_link(self, run: str, link: int) -> int | None:
        """Return the seq of a run's link, or None."""
        found = (stored.event for stored in self.documents.events)
        return next(
            (
                event.seq
                for event in found
                if event.run == run and event.link is not None and event.link.n == link
            ),
            None,
        )

    def first_of_kind(self, run: str, kind: str) -> int | None:
        """Return the seq of a run's first event of a kind, or None."""
        found = (stored.event for stored in self.documents.events)
        return next((event.seq for event in found if event.run == run and event.kind == kind), None)

    def document_bytes(self, reference: BlobRef) -> bytes:
        """Return a public document."""
        return self.documents.document_bytes(reference)
