"""Signed heads: size and root of a log under an Ed25519 key, as C2SP notes.

Invariant: a signed head that verifies was signed by one of the keys that the caller named, for the
origin that the caller expects; a note without such a signature is refused, however many others it
bears. There are no extension lines: nothing would check them.

Formats: c2sp.org/signed-note, c2sp.org/tlog-checkpoint (the standard's word for a signed head).
"""

import base64
import binascii
import contextlib
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

import msgspec

from trial_ledger.errors import VerificationError

__all__ = [
    "NoteSignature",
    "PublicKey",
    "SignedHead",
    "Signer",
    "UnsignedHead",
    "head_text",
    "origin_of",
    "parse_note",
    "parse_public_key",
    "public_keys",
    "signed_note",
    "verified_head",
]

ED25519 = 1
"""Signature type of C2SP notes."""

PUBLIC_BYTES, SIGNATURE_BYTES, ID_BYTES, ROOT_BYTES = 32, 64, 4, 32
LONGEST_NOTE = 1_000_000
MOST_SIGNATURES = 100
DASH = "\u2014 "
"""What a signature line begins with."""
SIZE_DIGITS = 18


class PublicKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that may sign heads, under a name."""

    name: str
    """Its name in notes; a ledger's own key is named by the ledger's origin."""
    key: bytes
    """32 bytes."""

    @property
    def key_id(self) -> bytes:
        """Return the four bytes by which a note names it."""
        return sha256(self.name.encode() + b"\n" + bytes([ED25519]) + self.key).digest()[:ID_BYTES]

    def __str__(self) -> str:
        """Return it as people hand it out: name, id, type and key (C2SP vkey)."""
        encoded = base64.b64encode(bytes([ED25519]) + self.key).decode()
        return f"{self.name}+{self.key_id.hex()}+{encoded}"


class Signer(msgspec.Struct, frozen=True, kw_only=True):
    """A key that signs."""

    key: bytes
    """Its public part, 32 bytes."""
    sign: Callable[[bytes], bytes]
    """From a message to 64 bytes of signature."""


class UnsignedHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a note says, before any signature was checked."""

    origin: str
    """Which log."""
    size: int
    """Number of events."""
    root: bytes
    """Root of the tree over them, 32 bytes."""


class NoteSignature(msgspec.Struct, frozen=True, kw_only=True):
    """One signature line."""

    name: str
    """Name of the key."""
    key_id: bytes
    """Four bytes."""
    signature: bytes
    """What follows them."""


class SignedHead(msgspec.Struct, frozen=True, kw_only=True):
    """A head with at least one good signature of a known key."""

    origin: str
    """Which log."""
    size: int
    """Number of events."""
    root: bytes
    """Root of the tree over them, 32 bytes."""
    signers: tuple[PublicKey, ...]
    """The known keys whose signatures are good."""
    unknown: tuple[str, ...]
    """Names of other keys, whose signatures nobody checked."""


def origin_of(ledger: str) -> str:
    """Return the origin of a ledger: what its heads are about, whatever the file is called."""
    return f"trial-ledger/{ledger}"


def head_text(origin: str, size: int, root: bytes) -> str:
    """Return the text of a head, which is signed."""
    return f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"


def signed_note(text: str, signer: Signer, *, name: str) -> str:
    """Return the note of a text with the signature of a key under a name."""
    key = PublicKey(name=name, key=signer.key)
    signature = base64.b64encode(key.key_id + signer.sign(text.encode())).decode()
    return f"{text}\n{DASH}{name} {signature}\n"


def parse_public_key(text: str) -> PublicKey:
    """Return the key of a vkey.

    Raises:
        VerificationError: it is none, or its id is another key's.
    """
    name, _, rest = text.strip().partition("+")
    key_id, _, encoded = rest.partition("+")
    content = decoded(encoded)
    if not is_key_name(name) or len(content) != 1 + PUBLIC_BYTES or content[0] != ED25519:
        raise VerificationError("not an Ed25519 key of the form NAME+ID+KEY")
    key = PublicKey(name=name, key=content[1:])
    if key.key_id.hex() != key_id:
        raise VerificationError(f"key {name} has id {key.key_id.hex()}, not {key_id[:8]}")
    return key


def public_keys(texts: Iterable[str]) -> list[PublicKey]:
    """Return the keys among some texts; what is none can sign nothing."""
    found: list[PublicKey] = []
    for text in texts:
        with contextlib.suppress(VerificationError):
            found.append(parse_public_key(text))
    return found


def is_key_name(name: str) -> bool:
    """Return whether a name may stand in a note: not empty, no space, no plus."""
    return bool(name) and name.isprintable() and not any(sign in name for sign in " +\u00a0")


def parse_note(note: str) -> tuple[str, UnsignedHead, list[NoteSignature]]:
    """Return the signed text of a note, what it says, and its signatures, none of them checked.

    Raises:
        VerificationError: it is no note of a head.
    """
    if len(note) > LONGEST_NOTE:
        raise VerificationError("not a signed head: too long")
    text, blank, rest = note.rpartition("\n\n")
    if not blank or not rest.endswith("\n"):
        raise VerificationError("not a signed head: no signature after an empty line")
    text += "\n"
    lines = rest[:-1].split("\n")
    if len(lines) > MOST_SIGNATURES:
        raise VerificationError("not a signed head: too many signatures")
    return text, parse_head(text), [parse_signature(line) for line in lines]


def parse_head(text: str) -> UnsignedHead:
    """Return what the text of a note says.

    Raises:
        VerificationError: it is not origin, size and root, each on a line, and nothing else.
    """
    lines = text.split("\n")
    if len(lines) != len(("origin", "size", "root", "")) or lines[3]:
        raise VerificationError("not a signed head: its text is not origin, size and root")
    origin, size, encoded, _ = lines
    root = decoded(encoded)
    is_number = size.isascii() and size.isdigit() and len(size) <= SIZE_DIGITS
    if not origin or not is_number or str(int(size)) != size or len(root) != ROOT_BYTES:
        raise VerificationError("not a signed head: its size or root is none")
    return UnsignedHead(origin=origin, size=int(size), root=root)


def parse_signature(line: str) -> NoteSignature:
    """Return one signature line.

    Raises:
        VerificationError: it is none.
    """
    name, _, encoded = line.removeprefix(DASH).rpartition(" ")
    content = decoded(encoded)
    if not line.startswith(DASH) or not is_key_name(name) or len(content) <= ID_BYTES:
        raise VerificationError("not a signed head: a line is no signature")
    return NoteSignature(name=name, key_id=content[:ID_BYTES], signature=content[ID_BYTES:])


def decoded(text: str) -> bytes:
    """Return the bytes of base64 that is written in the one right way; nothing where it is not."""
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return value if base64.b64encode(value).decode() == text else b""


def verified_head(note: str, keys: Iterable[PublicKey], *, origin: str | None) -> SignedHead:
    """Return the head of a note that at least one of some keys signed.

    Args:
        note: the note.
        keys: keys that the caller trusts, from elsewhere than the note.
        origin: the log that it must be about; None takes any.

    Raises:
        VerificationError: it is no head, is about another log, bears a bad signature of a known
            key, or none of a known key.
    """
    text, head, signatures = parse_note(note)
    if origin is not None and head.origin != origin:
        raise VerificationError(f"the signed head is about {head.origin[:80]}, not {origin}")
    known = list(keys)
    good: list[PublicKey] = []
    unknown: list[str] = []
    for signature in signatures:
        key = key_of(signature, known)
        if key is None:
            unknown.append(signature.name)
            continue
        if not is_signed(key, text, signature.signature):
            raise VerificationError(f"the signature of {key.name} on the head is not its own")
        good.append(key)
    if not good:
        named = ", ".join(sorted({*unknown}))[:120]
        raise VerificationError(f"no signature of a known key on the head, only of {named}")
    return SignedHead(
        origin=head.origin,
        size=head.size,
        root=head.root,
        signers=tuple(dict.fromkeys(good)),
        unknown=tuple(unknown),
    )


def key_of(signature: NoteSignature, keys: Sequence[PublicKey]) -> PublicKey | None:
    """Return the known key that a signature names, or None."""
    for key in keys:
        if key.name == signature.name and key.key_id == signature.key_id:
            return key
    return None


def is_signed(key: PublicKey, text: str, signature: bytes) -> bool:
    """Return whether a signature is a key's own over a text."""
    # Signing is seldom; the library takes longer to import than most commands run.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - as said above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - likewise
        Ed25519PublicKey,
    )

    if len(signature) != SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.key).verify(signature, text.encode())
    except InvalidSignature:
        return False
    return True
