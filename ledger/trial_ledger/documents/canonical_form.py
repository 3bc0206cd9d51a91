"""The one byte string of a document, and its hash.

Invariant: equal values give equal bytes whatever the order of their keys was; the bytes are RFC
8785 JSON, and no float is ever among them.
"""

from typing import TypeAlias

import msgspec
from blake3 import blake3

from trial_ledger.identifiers import MAX_INTEGER

__all__ = ["Json", "canonical_json", "canonical_struct", "document_hash", "without_nulls"]

Json: TypeAlias = str | bool | int | list["Json"] | dict[str, "Json"] | None
"""What a document is made of: JSON without floats."""


def canonical_json(value: object) -> bytes:
    """Return the canonical bytes of a value of strings, booleans, null, integers, lists, dicts.

    The caller has validated the value: another type in it is a mistake of ours, not of the input.
    """
    if has_plain_keys(value):
        return msgspec.json.encode(value, order="sorted")
    # RFC 8785 sorts by UTF-16 code units, msgspec by code points: they differ beyond ASCII.
    import rfc8785  # noqa: PLC0415 - rarely needed

    return rfc8785.dumps(value)  # type: ignore[arg-type] # has_plain_keys asserted its type


def canonical_struct(value: msgspec.Struct) -> bytes:
    """Return the canonical bytes of a struct, every field written out, defaults included."""
    return canonical_json(msgspec.to_builtins(value))


def document_hash(document: bytes) -> str:
    """Return the BLAKE3 hash of a document's bytes, as 64 hex digits."""
    return blake3(document).hexdigest()


def has_plain_keys(value: object) -> bool:
    """Return whether every key below is ASCII, asserting on the way that no type is foreign."""
    if value is None or isinstance(value, str | bool):
        return True
    if isinstance(value, int):
        assert abs(value) <= MAX_INTEGER, "an integer of a document is below 2^53"
        return True
    if isinstance(value, dict):
        plain = True
        for key, member in value.items():
            assert isinstance(key, str), "a key of a document is text"
            plain = has_plain_keys(member) and key.isascii() and plain
        return plain
    assert isinstance(value, list | tuple), f"a document holds no {type(value).__name__}"
    plain = True
    for member in value:
        plain = has_plain_keys(member) and plain
    return plain


def without_nulls(value: Json) -> Json:
    """Return a setting without the nulls in it, which TOML cannot say."""
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(member) for member in value if member is not None]
    return value
