"""Signed heads as c2sp.org/signed-note and c2sp.org/tlog-checkpoint state them, in plain Python.

For the second verifier.
"""

import base64
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from plain_crypto import ed25519_verifies


class Head(NamedTuple):
    """What a signed head says."""

    origin: str
    size: int
    root: bytes


def strict_base64(text: str) -> bytes | None:
    """Return the bytes of a text in base64, of which there is one right way to write."""
    try:
        found = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        return None
    return found if base64.b64encode(found).decode() == text else None


def read_head(  # noqa: PLR0911 - one line a rule
    note: bytes, origin: str | None, keys: Sequence[str]
) -> Head | None:
    """Return the head of a note that one of some keys signed; None where it is none.

    Args:
        note: the note.
        origin: the log that it must be about; None reads the note and checks no signature.
        keys: the keys, each as `name+id+base64 of type and key`.
    """
    try:
        text, _, below = note.decode().rpartition("\n\n")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    signatures = below.split("\n")
    if len(lines) != 3 or len(signatures) < 2 or signatures[-1]:
        return None
    root = strict_base64(lines[2])
    if root is None or len(root) != 32 or not lines[0] or not is_size(lines[1]):
        return None
    head = Head(lines[0], int(lines[1]), root)
    parsed = [signature_of(line) for line in signatures[:-1]]
    if None in parsed:
        return None
    if origin is None:
        return head
    signed = False
    for key in keys:
        for name, identity, signature in filter(None, parsed):
            parts = key.split("+", 2)
            content = strict_base64(parts[2]) if len(parts) == 3 else None
            if content is None or content[:1] != b"\x01" or parts[0] != name:
                continue
            if hashlib.sha256(name.encode() + b"\n" + content).digest()[:4] != identity:
                continue
            if not ed25519_verifies(content[1:], (text + "\n").encode(), signature):
                return None
            signed = True
    return head if signed and head.origin == origin else None


def is_size(text: str) -> bool:
    """Return whether a text is a number without zeros in front."""
    return text.isascii() and text.isdigit() and len(text) < 19 and str(int(text)) == text


def signature_of(line: str) -> tuple[str, bytes, bytes] | None:
    """Return (name, key id, signature) of a line; None where it is none."""
    if not line.startswith("\u2014 "):
        return None
    name, _, encoded = line[2:].rpartition(" ")
    content = strict_base64(encoded)
    is_name = bool(name) and "+" not in name and not any(sign.isspace() for sign in name)
    if content is None or len(content) < 5 or not is_name:
        return None
    return name, content[:4], content[4:]
