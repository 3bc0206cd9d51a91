"""Where a blob stands: which event names it, in which field.

Invariant: every text and every commitment of an event is a mention; a blob.redacted, which names a
blob without holding it, is none.
"""

from collections.abc import Iterable, Iterator

import msgspec

from trial_ledger.errors import VerificationError
from trial_ledger.events import TEXT_CLASSES, BlobRef, DatasetRegistered
from trial_ledger.view import LedgerView, Stored

__all__ = ["Mention", "mentions", "texts_of"]

COMMITTED = "commitments"
"""The field of a dataset whose text names the gold records."""


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """One place in the log that names a blob."""

    blob: str
    """The blob, by its hash."""
    class_: str
    """Its class: plain, sealed or gold."""
    bytes: int | None
    """Length of its text; None for what is only committed to."""
    seq: int
    """Which event names it."""
    kind: str
    """What kind of event."""
    field: str
    """In which field of its data; `commitments` of a dataset for a gold record."""
    run: str | None = None
    """The event's run."""
    trial: str | None = None
    """The event's trial within its run."""

    def __str__(self) -> str:
        """Return the place in a few words."""
        return f"{self.field} of seq {self.seq}, {self.kind}"


def texts_of(stored: Stored) -> Iterator[tuple[str, BlobRef]]:
    """Yield (field, reference) of every text of an event."""
    for field in TEXT_CLASSES[stored.event.kind]:
        reference = getattr(stored.event.data, field)
        if reference is not None:
            yield field, reference


def mention_of(stored: Stored, field: str, reference: BlobRef) -> Mention:
    """Return the mention of a text of an event."""
    event = stored.event
    return Mention(
        blob=reference.blob,
        class_=reference.class_,
        bytes=reference.bytes,
        seq=event.seq,
        kind=event.kind,
        field=field,
        run=event.run,
        trial=None if event.trial is None else str(event.trial),
    )


def mentions(ledger: LedgerView, events: Iterable[Stored]) -> Iterator[Mention]:
    """Yield every place in which some events name a blob, in the order of the log.

    Raises:
        VerificationError: the commitments of a dataset cannot be read.
    """
    for stored in events:
        for field, reference in texts_of(stored):
            yield mention_of(stored, field, reference)
        if isinstance(stored.event.data, DatasetRegistered):
            yield from committed(ledger, stored, stored.event.data)


def committed(ledger: LedgerView, stored: Stored, data: DatasetRegistered) -> Iterator[Mention]:
    """Yield the gold records and the canary that a dataset commits to."""
    content = ledger.document_bytes(data.commitments)
    try:
        found = msgspec.json.decode(content, type=dict[str, str | None])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"the commitments of seq {stored.event.seq} cannot be read: {error}"
        raise VerificationError(message, hint="ledger verify") from error
    named = [(COMMITTED, blob) for blob in found.values()] + [("canary", data.canary)]
    for field, blob in named:
        if blob is not None:
            yield Mention(
                blob=blob,
                class_="gold",
                bytes=None,
                seq=stored.event.seq,
                kind=stored.event.kind,
                field=field,
            )
