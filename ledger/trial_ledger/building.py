"""Builds the document of an accepted event, and the acknowledgement of a durable one.

Invariant: a document that is built is within the profile's limits.
"""

import msgspec

from trial_ledger import __version__
from trial_ledger.canonical import MAX_DOCUMENT_BYTES, canonical_bytes, profile_fault
from trial_ledger.errors import InvalidInputError, RuleError
from trial_ledger.events import Actor, Event
from trial_ledger.intake import Draft
from trial_ledger.lifecycle.states import RunState
from trial_ledger.submission import Submission

__all__ = ["ACTOR", "Acknowledgement", "encoded", "opening", "refuse_foreign"]


ACTOR = Actor(role="ledger", name="trial-ledger", version=__version__)
"""Who writes what the ledger writes of itself."""


class Acknowledgement(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What append returns once the event is durable."""

    seq: int
    """Place in the log."""
    id: str
    """The event's id."""
    hash: str
    """BLAKE3 of its document."""
    status: str
    """`appended`, or `exists` where the same id and content were there already."""


def opening(data: dict[str, object]) -> Submission:
    """Return the first event of a ledger."""
    return Submission(kind="ledger.opened", data=data, actor=ACTOR)


def refuse_foreign(draft: Draft, run: RunState | None) -> None:
    """Refuse a trial of another configuration than the run's (C16).

    Raises:
        RuleError: they differ.
    """
    if draft.trial is None or run is None or draft.trial.configuration == run.configuration:
        return
    message = (
        f"trial {draft.trial} is of configuration {draft.trial.configuration},"
        f" run {run.name} of {run.configuration}"
    )
    raise RuleError(message, clause="C16", field="trial.configuration")


def encoded(event: Event) -> bytes:
    """Return the canonical bytes of an event.

    Raises:
        InvalidInputError: longer than the profile allows, outside it, or not encodable.
    """
    try:
        document = canonical_bytes(event)
    except UnicodeEncodeError as error:
        raise InvalidInputError.single(
            "lone surrogate in a field", what="event", expected="text that UTF-8 can hold"
        ) from error
    if len(document) > MAX_DOCUMENT_BYTES:
        raise InvalidInputError.single(
            "the document is over the limit",
            what="event",
            found=f"{len(document)} bytes",
            expected=f"at most {MAX_DOCUMENT_BYTES}",
            hint="texts belong in text fields; long lists in fewer, shorter parts",
        )
    # Types and forms leave one way out of the profile: the keys of a mapping, as names of splits.
    fault = None if document.isascii() else profile_fault(msgspec.json.decode(document))
    if fault is not None:
        raise InvalidInputError.single(
            "the document is outside the profile",
            what="event",
            found=fault,
            expected="keys in ASCII, as the names of splits",
        )
    return document
