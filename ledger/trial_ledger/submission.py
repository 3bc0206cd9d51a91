"""What a writer submits: an event without the fields that the ledger fills.

Invariant: a submission's data holds plain JSON values, and a text wherever its kind has a text
field; nothing here has been accepted yet.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from trial_ledger.events import Actor
from trial_ledger.forms import EventIdForm, RunNameForm, TimestampForm
from trial_ledger.identifiers import TrialKey

__all__ = ["NewText", "Submission"]


class NewText(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Bytes that become a blob when the event is appended."""

    content: bytes
    """The bytes, exactly."""
    media: str = "text/plain"
    """Their media type."""
    class_: Literal["plain", "sealed", "gold"] | None = None
    """Blob class; None takes the field's own. It can be raised to gold, never lowered."""

    @classmethod
    def of(cls, text: str, *, media: str = "text/plain") -> "NewText":
        """Return the UTF-8 bytes of a text.

        Raises:
            UnicodeEncodeError: the text holds a lone surrogate.
        """
        return cls(content=text.encode("utf-8"), media=media)


class Submission(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One event as its writer knows it."""

    kind: str
    """Tag of the kind."""
    run: RunNameForm | None = None
    """The run it belongs to."""
    trial: TrialKey | None = None
    """The trial it belongs to."""
    data: Mapping[str, object] = {}
    """Fields of the kind; a text field holds a `str` or a `NewText`, a missing one its default."""
    id: EventIdForm | None = None
    """The writer's id, 32 hex digits; None lets the ledger draw one (and gives up idempotence)."""
    at: TimestampForm | None = None
    """When it happened, UTC, six digits; see `at_unknown`."""
    at_unknown: bool = False
    """Whether a missing `at` means that the source does not say, rather than now."""
    actor: Actor | None = None
    """Who did it; None is an unnamed harness."""
