"""The one byte string of an event, and its hash.

Invariant: the canonical bytes are RFC 8785 under the profile of `trial_ledger.events` (ASCII keys,
no floats, integers below 2^53); they are stored as written, hashed as stored and never re-encoded.
"""

from collections.abc import Mapping
from functools import cache

import msgspec
from blake3 import blake3

from trial_ledger.errors import UnsupportedFormatError, VerificationError
from trial_ledger.events import KINDS, AnyData, Envelope, Event
from trial_ledger.upcasting import lift, newest_version

__all__ = [
    "ENCODER",
    "MAX_DEPTH",
    "MAX_DOCUMENT_BYTES",
    "ZERO_HASH",
    "canonical_bytes",
    "decode_event",
    "event_hash",
    "profile_fault",
    "recanonicalised",
]

MAX_DOCUMENT_BYTES = 65_535
"""Largest document: the entry length of a C2SP tlog-tiles bundle is 16 bits."""

MAX_DEPTH = 32
"""Deepest nesting of a document."""

ZERO_HASH = "0" * 64
"""The `prev` of the first event and of the first link."""

ENCODER = msgspec.json.Encoder(order="sorted")
"""Gives canonical bytes of whatever is within the profile."""
ENVELOPE = msgspec.json.Decoder(Envelope)

NEWEST: Mapping[str, int] = {tag: newest_version(tag) for tag in KINDS}
"""Kind → the version that this program writes."""


def canonical_bytes(event: Event) -> bytes:
    """Return the bytes that are stored and hashed.

    Raises:
        UnicodeEncodeError: a string holds a lone surrogate.
    """
    return ENCODER.encode(event)


def event_hash(document: bytes) -> str:
    """Return BLAKE3 of a stored document, 64 hex digits; `b3sum` reproduces it."""
    return blake3(document).hexdigest()


def decode_event(document: bytes) -> Event:
    """Return the event of a stored document, lifted to the newest version of its kind.

    Raises:
        UnsupportedFormatError: the kind or its version is not known to this program.
        VerificationError: the document is not an event.
    """
    try:
        envelope = ENVELOPE.decode(document)
        if envelope.kind not in KINDS or envelope.v > NEWEST[envelope.kind]:
            raise UnsupportedFormatError.single(
                f"event {envelope.seq} is of a kind this version does not know",
                found=f"{envelope.kind!r} version {envelope.v}",
                what="ledger",
                hint="install a newer trial-ledger",
            )
        data = decoder_of(envelope.kind).decode(
            envelope.data
            if envelope.v == NEWEST[envelope.kind]
            else lift(envelope.kind, envelope.v, envelope.data)
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"stored document is not an event: {error}"
        raise VerificationError(message) from error
    return Event(
        actor=envelope.actor,
        at=envelope.at,
        data=data,
        id=envelope.id,
        kind=envelope.kind,
        ledger=envelope.ledger,
        link=envelope.link,
        prev=envelope.prev,
        recorded_at=envelope.recorded_at,
        run=envelope.run,
        seq=envelope.seq,
        trial=envelope.trial,
        v=envelope.v,
    )


@cache
def decoder_of(kind: str) -> msgspec.json.Decoder[AnyData]:
    """Return what reads the data of a kind; made when it is first needed, since it takes long."""
    return msgspec.json.Decoder(KINDS[kind])


def recanonicalised(document: bytes) -> bytes | None:
    """Return the canonical bytes of the value a document holds; None where it is no JSON.

    A document written before a field existed lacks that field; so the comparison that proves a
    stored document canonical goes through its plain value, not through its newest type.
    """
    try:
        value: object = msgspec.json.decode(document)
        return ENCODER.encode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def profile_fault(value: object, *, depth: int = 1) -> str | None:
    """Return what in a decoded value the profile forbids, or None.

    Args:
        value: plain JSON value.
        depth: nesting of this value; a document itself is at 1.
    """
    if isinstance(value, float):
        return "a float"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return "an integer from 2^53"
    if not isinstance(value, dict | list):
        return None
    if depth > MAX_DEPTH:
        return f"nesting deeper than {MAX_DEPTH}"
    if isinstance(value, dict) and not all(key.isascii() for key in value):
        return "a key that is not ASCII"
    members = value.values() if isinstance(value, dict) else value
    faults = (profile_fault(member, depth=depth + 1) for member in members)
    return next((fault for fault in faults if fault is not None), None)
