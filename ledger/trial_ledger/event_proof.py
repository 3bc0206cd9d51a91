"""That one event is in a signed log: a document, its proof, the keys; checked without the ledger.

Invariant: size and root come from the verified note and the place from the document's own seq; the
index that a proof states is compared with it and never used. Nothing of any other event is shown.
"""

from typing import Literal

import msgspec

from trial_ledger.canonical import event_hash
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.events import Event
from trial_ledger.handed_over import event_of
from trial_ledger.heads import PublicKey, SignedHead, parse_note, verified_head
from trial_ledger.merkle import leaf_hash
from trial_ledger.proof import (
    InclusionProof,
    format_inclusion,
    inclusion_path,
    parse_inclusion,
    verify_inclusion,
)
from trial_ledger.view import LedgerView

__all__ = [
    "SCHEMA",
    "CheckedEvent",
    "EventProof",
    "check_event",
    "decode_event_proof",
    "encode_event_proof",
    "prove_event",
]

SCHEMA: Literal["ledger.proof/1"] = "ledger.proof/1"


class EventProof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event with the proof that it is in a log."""

    schema: Literal["ledger.proof/1"] = SCHEMA
    """Name and version of this form."""
    document: str
    """The event's canonical document."""
    proof: str
    """C2SP tlog-proof, the signed head included."""
    keys: list[str]
    """The ledger's own public keys; a checker's own copy is worth more."""


class CheckedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event that is in a signed log."""

    event: Event
    """The event."""
    hash: str
    """BLAKE3 of its document."""
    head: SignedHead
    """The head that it was proven against."""


def prove_event(ledger: LedgerView, seq: int, *, keys: list[str]) -> EventProof:
    """Return the proof that an event is in the log as its newest signed head has it.

    Args:
        ledger: an open ledger.
        seq: the event.
        keys: the ledger's public keys.

    Raises:
        NotFoundError: there is no such event, or no signed head that covers it.
    """
    document = ledger.read(seq).document
    note = ledger.store.heads.newest()
    size = 0 if note is None else parse_note(note)[1].size
    if note is None or size < seq:
        message = f"no signed head covers seq {seq}: the newest is of {size} events"
        raise NotFoundError(message, hint="ledger head --sign")
    path = inclusion_path(seq - 1, size, ledger.store.node)
    proof = InclusionProof(index=seq - 1, path=tuple(path), note=note)
    return EventProof(document=document.decode(), proof=format_inclusion(proof), keys=keys)


def encode_event_proof(proof: EventProof) -> bytes:
    """Return a proof as a file: JSON on one line, fields in their order, no white space."""
    return msgspec.json.encode(proof) + b"\n"


def decode_event_proof(content: bytes) -> EventProof:
    """Return what a file says that is such a proof.

    Raises:
        VerificationError: it is none, or not as it was written.
    """
    try:
        found = msgspec.json.decode(content, type=EventProof)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"not a proof: {error}"
        raise VerificationError(message) from error
    if encode_event_proof(found) != content:
        raise VerificationError("not a proof as it was written: a field twice, or other spacing")
    return found


def check_event(found: EventProof, keys: list[PublicKey]) -> CheckedEvent:
    """Check that an event is in the log that a known key signed.

    Args:
        found: the event and its proof.
        keys: keys that the checker trusts.

    Raises:
        VerificationError: it is not, or something in the proof does not hold.
    """
    claimed = parse_inclusion(found.proof)
    head = verified_head(claimed.note, keys, origin=None)
    document = found.document.encode()
    event = event_of(document, origin=head.origin)
    if claimed.index != event.seq - 1:
        message = f"the proof is for place {claimed.index}, the event says {event.seq - 1}"
        raise VerificationError(message)
    verify_inclusion(
        leaf_hash(document),
        index=event.seq - 1,
        size=head.size,
        root=head.root,
        path=claimed.path,
    )
    return CheckedEvent(event=event, hash=event_hash(document), head=head)
