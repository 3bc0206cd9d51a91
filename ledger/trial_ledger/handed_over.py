"""Reads the document of an event that somebody handed over, of whose log nothing is here.

Invariant: what comes out is what an honest writer of that ledger could have stored: canonical
bytes, within the profile, every short text in its form.
"""

import msgspec

from trial_ledger.canonical import (
    MAX_DOCUMENT_BYTES,
    canonical_bytes,
    decode_event,
    profile_fault,
    recanonicalised,
)
from trial_ledger.errors import UnsupportedFormatError, VerificationError
from trial_ledger.events import Event
from trial_ledger.forms import fits, is_well_formed
from trial_ledger.heads import origin_of

__all__ = ["event_of"]


def event_of(document: bytes, *, origin: str) -> Event:
    """Return the event of a document that is said to be of some log.

    Args:
        document: its bytes.
        origin: what the verified head is about.

    Raises:
        VerificationError: it is no event, not in canonical form, or of another ledger.
    """
    if len(document) > MAX_DOCUMENT_BYTES:
        raise VerificationError("a document is longer than any event")
    try:
        event = decode_event(document)
    except UnsupportedFormatError as error:
        raise VerificationError(str(error.problems[0]), hint=error.hint) from error
    if not is_canonical(event, document):
        raise VerificationError(f"seq {event.seq}: not in canonical form")
    if not has_forms(event):
        raise VerificationError(f"seq {event.seq}: a text in it has not its form")
    if origin_of(event.ledger) != origin:
        raise VerificationError(f"seq {event.seq}: of another ledger than the signed head")
    return event


def has_forms(event: Event) -> bool:
    """Return whether every short text of an event has its form."""
    texts = (
        ("id", event.id),
        ("id", event.ledger),
        ("hash", event.prev),
        ("time", event.recorded_at),
        ("time", event.at),
        ("run", event.run),
    )
    parts = (event.actor, event.data, event.link, event.trial)
    return all(text is None or fits(form, text) for form, text in texts) and all(
        part is None or is_well_formed(part) for part in parts
    )


def is_canonical(event: Event, document: bytes) -> bool:
    """Return whether the bytes of a readable event are the one way to write it.

    The newest type reproduces what it wrote itself; an event of before a field existed is compared
    through its plain value.
    """
    if canonical_bytes(event) == document:
        return True
    if recanonicalised(document) != document:
        return False
    return profile_fault(msgspec.json.decode(document)) is None
