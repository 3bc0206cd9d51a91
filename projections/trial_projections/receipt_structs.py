"""A score receipt as a file: its parts, and how it is written and read.

Invariant: a file is read only where it is, byte for byte, what is written of what it says; so
nothing in it is passed over, and no other program finds another value in it.
"""

from typing import Literal

import msgspec

from trial_ledger.errors import VerificationError
from trial_projections.aggregate import Range

__all__ = [
    "LARGEST",
    "REVEALABLE",
    "SCHEMA",
    "Claim",
    "Receipt",
    "Revealable",
    "Revealed",
    "decode_receipt",
    "encode_receipt",
]

SCHEMA: Literal["ledger.receipt/1"] = "ledger.receipt/1"

LARGEST = 1 << 30
"""Bytes of a receipt that is read; 100,000 trials have about a third of it."""

Revealable = Literal["gold", "answers", "reasoning"]
REVEALABLE: tuple[Revealable, ...] = ("gold", "answers", "reasoning")
"""Texts that a receipt can open."""


class Revealed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text that was opened, with the salt that its hash was made with."""

    salt: str
    """32 bytes, in hex."""
    content: str
    """Its bytes, in base64."""


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a receipt says of a metric."""

    run: str
    """The run."""
    metric: str
    """The metric."""
    link: int
    """Last link of the run that the number rests on."""
    headline: Range
    """The number, or its range."""
    decided: int
    """Trials that have a score."""
    denominator: int
    """Trials that count."""
    planned: int
    """Planned slots of the metric's shapes."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number, and all that is needed to check it."""

    schema: Literal["ledger.receipt/1"] = SCHEMA
    """Name and version of this form."""
    note: str
    """The signed head that every document is proven against."""
    keys: list[str]
    """The ledger's own public keys; a checker's own copy is worth more."""
    claim: Claim
    """The number."""
    documents: list[str]
    """Canonical documents of the events, in the order of the log."""
    proof: list[str]
    """Hashes that prove all of them against the head, base64."""
    plain: dict[str, str]
    """Public documents by hash: rubric, manifest, questions, planned slots, gold commitments."""
    revealed: dict[str, Revealed] = {}
    """Opened texts by hash."""


def encode_receipt(receipt: Receipt) -> bytes:
    """Return a receipt as a file: JSON on one line, fields in their order, no white space."""
    return msgspec.json.encode(receipt) + b"\n"


def decode_receipt(content: bytes) -> Receipt:
    """Return what a receipt says.

    Raises:
        VerificationError: it is none, too large, or not as it was written.
    """
    if len(content) > LARGEST:
        raise VerificationError("not a receipt: too large")
    try:
        found = msgspec.json.decode(content, type=Receipt)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"not a receipt: {error}"
        raise VerificationError(message) from error
    if encode_receipt(found) != content:
        raise VerificationError("not a receipt as it was written: a field twice, or other spacing")
    return found
