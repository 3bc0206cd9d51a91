"""Text fields of a submission: strings or bytes that will become blobs.

Invariant: what comes out is bytes of an accepted size, or a fault that names the field.
"""

import difflib
from collections.abc import Mapping
from typing import Literal

from trial_ledger.blobs import MAX_BLOB_BYTES
from trial_ledger.errors import Problem
from trial_ledger.events import BlobRef
from trial_ledger.submission import NewText

__all__ = ["PLACEHOLDER", "kind_of", "nearest", "parse_text", "placeholder", "shown"]

TEXT_KEYS = ("text", "class", "media")

PLACEHOLDER = "0" * 64
"""Stands for the hash of a blob that was not sealed yet."""


def placeholder(text: NewText, default: Literal["plain", "sealed", "gold"]) -> BlobRef:
    """Return a reference of the right shape for a text that has no hash yet."""
    return BlobRef(
        blob=PLACEHOLDER, bytes=len(text.content), media=text.media, class_=text.class_ or default
    )


def parse_text(value: object, name: str, problems: list[Problem]) -> NewText:
    """Return a text field's bytes; add what is wrong with it to the problems."""
    field = f"data.{name}"
    if isinstance(value, NewText):
        return value
    media: object = "text/plain"
    class_ = None
    if isinstance(value, dict):
        problems.extend(
            Problem(
                message="unknown field", field=f"{field}.{key}", expected=nearest(key, TEXT_KEYS)
            )
            for key in value
            if key not in TEXT_KEYS
        )
        class_ = value.get("class")
        if class_ not in {None, "sealed", "gold"}:
            problems.append(
                Problem(
                    message="unknown class",
                    field=f"{field}.class",
                    found=shown(class_),
                    expected='"sealed" or "gold"',
                )
            )
            class_ = None
        media = value.get("media", media)
        value = value.get("text")
    if not isinstance(value, str) or not isinstance(media, str) or not media:
        problems.append(
            Problem(
                message="not a text",
                field=field,
                found=kind_of(value),
                expected='a string or {"text": …, "class": "sealed" or "gold"}',
            )
        )
        return NewText(content=b"")
    try:
        content = value.encode("utf-8")
    except UnicodeEncodeError:
        problems.append(
            Problem(message="lone surrogate", field=field, expected="text that UTF-8 can hold")
        )
        content = b""
    if len(content) > MAX_BLOB_BYTES:
        problems.append(
            Problem(
                message="text too long",
                field=field,
                found=f"{len(content)} bytes",
                expected=f"at most {MAX_BLOB_BYTES}",
            )
        )
    return NewText(content=content, media=media, class_=class_)


def nearest(key: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    """Return the nearest known name, or all of them where none is near."""
    close = difflib.get_close_matches(str(key), list(known), n=1)
    return f"perhaps {close[0]}" if close else f"one of {', '.join(sorted(known))}"


def shown(value: object) -> str:
    """Return a value for an error message: short, one line, no control characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"  # noqa: PLR2004 - one line at 80 columns


def kind_of(value: object) -> str:
    """Return what JSON calls a value's type."""
    names: dict[type, str] = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)
