"""What all event kinds are made of: words, text references, actors, links.

Invariant: every type here is a string, a boolean, null, an integer below 2^53, or a list or mapping
of these; no floats.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from trial_ledger.forms import HashForm, NameForm
from trial_ledger.identifiers import Count, Positive

__all__ = [
    "Actor",
    "BlobClass",
    "BlobRef",
    "Data",
    "Entry",
    "FailureClass",
    "Fault",
    "GoldText",
    "Impact",
    "Link",
    "Outcome",
    "Phase",
    "PlainText",
    "Purpose",
    "Role",
    "Text",
    "Verdict",
]

BlobClass = Literal["plain", "sealed", "gold"]
Role = Literal["harness", "agent", "grader", "judge", "human", "importer", "ledger"]
Entry = Literal["live", "appended", "imported"]
Phase = Literal["pilot", "final"]
Verdict = Literal["correct", "partial", "incorrect", "abstained", "not_gradable"]
Purpose = Literal["model", "search", "tool", "judge"]
Fault = Literal["agent", "harness", "search_provider", "model_provider", "judge", "environment"]
Impact = Literal["unknown", "none", "degraded", "trial_failed"]
Outcome = Literal[
    "answered", "abstained", "refused", "filtered", "errored", "limit", "cancelled", "unknown"
]
FailureClass = Literal[
    "timeout", "connect", "dns", "tls", "rate_limited", "quota_exhausted", "auth", "overloaded",
    "server_error", "client_error", "response_lost", "decode_error", "schema_mismatch",
    "partial_result", "cached_fallback", "endpoint_fallback", "model_fallback", "tool_error",
    "agent_error", "agent_timeout", "limit", "judge_error", "judge_unparseable", "gold_leak",
    "harness_error", "environment", "cancelled", "other",
]  # fmt: skip


class BlobRef(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True,
    rename={"class_": "class"}, gc=False
):  # fmt: skip
    """A reference to bytes that lie outside the document."""

    blob: str
    """BLAKE3 of the bytes (plain), or keyed BLAKE3 under a 32-byte salt (sealed, gold), in hex.

    Only the ledger writes it; that a blob of that name exists is its check.
    """
    bytes: Count
    """How many bytes."""
    media: NameForm
    """Media type, as `text/plain`."""
    class_: BlobClass
    """plain: public by design; sealed: erasable; gold: in the gold file only."""


Text = Annotated[BlobRef, Meta(extra={"class": "sealed"})]
"""Text of unbounded length; stored sealed unless the writer asks for gold."""
GoldText = Annotated[BlobRef, Meta(extra={"class": "gold"})]
"""Text that may show gold; always in the gold file."""
PlainText = Annotated[BlobRef, Meta(extra={"class": "plain"})]
"""A frozen document; public by design."""


class Actor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Who did it."""

    role: Role
    """In which capacity."""
    name: NameForm | None = None
    """Program or person; a human act needs one."""
    version: NameForm | None = None
    """Version of the program; None for people."""


class Link(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Place in the gapless chain of a run's score-bearing events."""

    n: Positive
    """Number of this link in its run, from 1."""
    prev: HashForm
    """Hash of the event at link n - 1; zeros for the first."""


class Data(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What all kinds share: nothing but the rules of the profile."""
