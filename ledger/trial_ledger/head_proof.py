"""That a log goes on from an earlier signed head: both notes, the proof between them, the keys.

Invariant: both sizes and roots come from verified notes; the size that a proof states is compared
with them and never used. A log that does not go on from a head is never said to.
"""

from typing import Literal

import msgspec

from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.heads import PublicKey, SignedHead, origin_of, parse_public_key, verified_head
from trial_ledger.merkle import root_at
from trial_ledger.proof import (
    consistency_path,
    format_consistency,
    parse_consistency,
    verify_consistency,
)
from trial_ledger.view import LedgerView

__all__ = [
    "SCHEMA",
    "CheckedHeads",
    "HeadProof",
    "check_heads",
    "decode_head_proof",
    "encode_head_proof",
    "prove_heads",
]

SCHEMA: Literal["ledger.consistency/1"] = "ledger.consistency/1"


class HeadProof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An earlier head with the proof that a later one is of the same log."""

    schema: Literal["ledger.consistency/1"] = SCHEMA
    """Name and version of this form."""
    old: str
    """The earlier signed head."""
    proof: str
    """Body of a C2SP add-checkpoint request, the later signed head included."""
    keys: list[str]
    """The ledger's own public keys; a checker's own copy is worth more."""


class CheckedHeads(msgspec.Struct, frozen=True, kw_only=True):
    """Two heads, the later of which is of the same log as the earlier."""

    old: SignedHead
    """The earlier."""
    head: SignedHead
    """The later."""


def prove_heads(ledger: LedgerView, old: str, *, keys: list[str]) -> HeadProof:
    """Return the proof that the newest signed head goes on from an earlier one.

    Args:
        ledger: an open ledger.
        old: the note of the earlier head, kept by whoever asks.
        keys: the ledger's public keys.

    Raises:
        VerificationError: the note is no signed head of this ledger, or the log does not go on
            from it.
        NotFoundError: no signed head is as long.
    """
    known = [parse_public_key(text) for text in keys]
    earlier = verified_head(old, known, origin=origin_of(ledger.id))
    length = ledger.store.size()
    if not 1 <= earlier.size <= length:
        message = f"the log has {length} events, the earlier head {earlier.size}"
        raise VerificationError(message, hint="ledger verify")
    if root_at(earlier.size, ledger.store.node) != earlier.root:
        message = f"the log does not go on from that head of {earlier.size} events"
        raise VerificationError(message, hint="ledger verify")
    note = ledger.store.heads.newest()
    head = None if note is None else verified_head(note, known, origin=earlier.origin)
    if note is None or head is None or head.size < earlier.size:
        message = f"no signed head here is of {earlier.size} events or more"
        raise NotFoundError(message, hint="ledger head --sign")
    path = consistency_path(earlier.size, head.size, ledger.store.node)
    return HeadProof(old=old, proof=format_consistency(earlier.size, path, note), keys=keys)


def encode_head_proof(proof: HeadProof) -> bytes:
    """Return a proof as a file: JSON on one line, fields in their order, no white space."""
    return msgspec.json.encode(proof) + b"\n"


def decode_head_proof(content: bytes) -> HeadProof:
    """Return what a file says that is such a proof.

    Raises:
        VerificationError: it is none, or not as it was written.
    """
    try:
        found = msgspec.json.decode(content, type=HeadProof)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"not a proof between heads: {error}"
        raise VerificationError(message) from error
    if encode_head_proof(found) != content:
        raise VerificationError("not a proof as it was written: a field twice, or other spacing")
    return found


def check_heads(found: HeadProof, keys: list[PublicKey]) -> CheckedHeads:
    """Check that the log of the later head begins with the log of the earlier.

    Args:
        found: both and the proof.
        keys: keys that the checker trusts.

    Raises:
        VerificationError: it does not, or something in the proof does not hold.
    """
    claimed = parse_consistency(found.proof)
    head = verified_head(claimed.note, keys, origin=None)
    old = verified_head(found.old, keys, origin=head.origin)
    if claimed.old_size != old.size:
        message = f"the proof is from {claimed.old_size} events, the earlier head has {old.size}"
        raise VerificationError(message)
    verify_consistency(
        old_size=old.size,
        old_root=old.root,
        size=head.size,
        root=head.root,
        path=claimed.path,
    )
    return CheckedHeads(old=old, head=head)
