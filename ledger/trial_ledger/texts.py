"""Text fields of a submission: strings or bytes that will become blobs.

Invariant: what comes out is bytes of an accepted size, or a fault that names the field.
"""

import difflib
from collections.abc import Iterable
from typing import Literal

from trial_ledger.blobs import MAX_BLOB_BYTES
from trial_ledger.errors import Problem
from trial_ledger.events import BlobRef
from trial_ledger.strict_json import SHOWN_CHARACTERS, join_path, shorten
from trial_ledger.submission import NewText

__all__ = ["PLACEHOLDER", "kind_of", "nearest", "parse_text", "placeholder", "shown"]

TEXT_KEYS = ("text", "class", "media")
NO_TEXT = NewText(content=b"")

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
        text = value
    elif isinstance(value, dict):
        text = parse_text_object(value, field, problems)
    else:
        text = encoded_text(value, field, problems)
    if len(text.content) > MAX_BLOB_BYTES:
        problems.append(
            Problem(
                message="text too long",
                field=field,
                found=f"{len(text.content)} bytes",
                expected=f"at most {MAX_BLOB_BYTES}",
            )
        )
    return text


def parse_text_object(value: dict[str, object], field: str, problems: list[Problem]) -> NewText:
    """Return the bytes of a text that is given with its class or media type."""
    problems.extend(
        Problem(
            message="unknown field", field=join_path(field, key), expected=nearest(key, TEXT_KEYS)
        )
        for key in value
        if key not in TEXT_KEYS
    )
    class_: Literal["sealed", "gold"] | None = None
    match value.get("class"):
        case None:
            pass  # The field's own class.
        case "sealed" | "gold" as known:
            class_ = known
        case other:
            problems.append(
                Problem(
                    message="unknown class",
                    field=f"{field}.class",
                    found=shown(other),
                    expected='"sealed" or "gold"',
                )
            )
    media = value.get("media", NO_TEXT.media)
    if not isinstance(media, str):
        problems.append(
            Problem(
                message="not acceptable",
                field=f"{field}.media",
                found=shown(media),
                expected="a media type, such as text/plain",
            )
        )
        media = NO_TEXT.media
    content = encoded_text(value.get("text"), field, problems).content
    return NewText(content=content, media=media, class_=class_)


def encoded_text(value: object, field: str, problems: list[Problem]) -> NewText:
    """Return the bytes of a string."""
    if not isinstance(value, str):
        problems.append(
            Problem(
                message="not a text",
                field=field,
                found=kind_of(value),
                expected='a string or {"text": …, "class": "sealed" or "gold"}',
            )
        )
        return NO_TEXT
    try:
        return NewText.of(value)
    except UnicodeEncodeError:
        problems.append(
            Problem(message="lone surrogate", field=field, expected="text that UTF-8 can hold")
        )
        return NO_TEXT


def nearest(key: str, known: Iterable[str]) -> str:
    """Return the nearest known name, or all of them where none is near."""
    names = sorted(known)
    close = difflib.get_close_matches(key[:SHOWN_CHARACTERS], names, n=1)
    return f"perhaps {close[0]}" if close else f"one of {', '.join(names)}"


def shown(value: object) -> str:
    """Return a value for an error message: short, one line; of a list or object only what it is."""
    if isinstance(value, dict | list | tuple):
        return kind_of(value)
    return shorten(value)


def kind_of(value: object) -> str:
    """Return what JSON calls a value's type."""
    names: dict[type, str] = {
        dict: "an object",
        list: "an array",
        tuple: "an array",
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)
