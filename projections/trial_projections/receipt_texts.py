"""The texts that a receipt opens: each what the log committed to, each named by the run.

Invariant: a text is believed only where its hash under its salt is the one that a document of the
receipt names; what is not opened is counted, apart from what was redacted.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping

import msgspec
from blake3 import blake3

from trial_ledger import events
from trial_ledger.errors import VerificationError
from trial_ledger.view import Stored
from trial_projections.receipt_structs import Revealable, Revealed

__all__ = ["OpenedTexts", "TextCount", "opened_texts"]

SALT_BYTES = 32


class TextCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many texts of one kind there are, and what became of them."""

    named: int
    """Different texts that the documents name."""
    opened: int
    """Of these, opened here, each what the log committed to."""
    redacted: int
    """Of these, erased from the ledger by a blob.redacted that is in the receipt."""


class OpenedTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The opened texts of a receipt."""

    by_hash: dict[str, bytes]
    """Text by hash."""
    counts: dict[str, TextCount]
    """gold, answers and reasoning."""


def opened_texts(
    revealed: Mapping[str, Revealed],
    named: Mapping[Revealable, Mapping[str, None]],
    documents: Iterable[Stored],
) -> OpenedTexts:
    """Return the opened texts of a receipt, checked.

    Args:
        revealed: what the receipt opens.
        named: the hashes that its documents name, by kind.
        documents: its events.

    Raises:
        VerificationError: one is not what its hash commits to, or is named by nothing.
    """
    found: dict[str, bytes] = {}
    for name, text in revealed.items():
        found[name] = content_of(name, text)
        if not any(name in hashes for hashes in named.values()):
            raise VerificationError(f"the opened text {name} is none of this number")
    redacted = {
        stored.event.data.blob
        for stored in documents
        if isinstance(stored.event.data, events.BlobRedacted)
    }
    counts: dict[str, TextCount] = {
        kind: TextCount(
            named=len(hashes),
            opened=len(hashes.keys() & found.keys()),
            redacted=len(hashes.keys() & redacted),
        )
        for kind, hashes in named.items()
    }
    return OpenedTexts(by_hash=found, counts=counts)


def content_of(name: str, text: Revealed) -> bytes:
    """Return an opened text that is what its hash commits to.

    Raises:
        VerificationError: it is not, or salt or content are not written in the one right way.
    """
    try:
        salt = bytes.fromhex(text.salt)
        content = base64.b64decode(text.content, validate=True)
    except (ValueError, binascii.Error):
        salt, content = b"", b""
    is_plain = salt.hex() == text.salt and base64.b64encode(content).decode() == text.content
    if not is_plain or len(salt) != SALT_BYTES or blake3(content, key=salt).hexdigest() != name:
        message = f"the opened text {name[:64]} is not what its hash commits to"
        raise VerificationError(message)
    return content
