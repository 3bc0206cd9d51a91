"""What two documents differ in, field by field, and how the next version may be called.

Invariant: two documents have no difference exactly if their canonical bytes are equal; a field that
is absent and one that is null are different things.
"""

import difflib
import re
from collections.abc import Iterator
from typing import cast

import msgspec
from msgspec import UNSET, UnsetType

from trial_ledger.documents.canonical_form import Json
from trial_ledger.strict_json import join_path

__all__ = ["Difference", "differences", "next_version", "render_differences"]

ONE_LINE = 72
"""Longer texts are shown as a unified diff, longer values shortened."""

MOST_DIFF_LINES = 20
NAME_KEYS = ("id", "name")


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One field that differs."""

    path: str
    """Dotted path of the field; empty where the documents differ as a whole."""
    old: object
    """Value in the old document, UNSET where it has no such field."""
    new: object
    """Value in the new document, UNSET where it has no such field."""


def differences(old: bytes, new: bytes) -> list[Difference]:
    """Return what two canonical documents differ in, in the order of their fields.

    Members of a list that carry a unique `id` or `name` are paired by it, others by position; lists
    of plain values are compared as a whole.
    """
    before = cast("Json", msgspec.json.decode(old))
    after = cast("Json", msgspec.json.decode(new))
    return list(compare(before, after, None))


def compare(old: Json | UnsetType, new: Json | UnsetType, path: str | None) -> Iterator[Difference]:
    if is_same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from compare(old.get(key, UNSET), new.get(key, UNSET), join_path(path, key))
    elif isinstance(old, list) and isinstance(new, list) and has_parts(old) and has_parts(new):
        yield from compare_parts(old, new, path)
    else:
        yield Difference(path=path or "", old=old, new=new)


def is_same(old: Json | UnsetType, new: Json | UnsetType) -> bool:
    if old is UNSET or new is UNSET:
        return old is new
    # Encoded, because True equals 1 in Python and is another value in JSON.
    return msgspec.json.encode(old, order="sorted") == msgspec.json.encode(new, order="sorted")


def has_parts(members: list[Json]) -> bool:
    """Return whether a list holds objects or lists, which are worth comparing one by one."""
    return any(isinstance(member, dict | list) for member in members)


def compare_parts(old: list[Json], new: list[Json], path: str | None) -> Iterator[Difference]:
    before, after = by_name(old), by_name(new)
    kept = [name for name in before if name in after]
    if kept and kept == [name for name in after if name in before]:
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path or ''}[{name}]"
            yield from compare(before.get(name, UNSET), after.get(name, UNSET), inner)
        return
    for index in range(max(len(old), len(new))):
        left = old[index] if index < len(old) else UNSET
        right = new[index] if index < len(new) else UNSET
        yield from compare(left, right, join_path(path, index))


def by_name(members: list[Json]) -> dict[str, Json]:
    """Return the members by their id or name; empty where one has none or two share it."""
    for key in NAME_KEYS:
        names = [member.get(key) if isinstance(member, dict) else None for member in members]
        texts = [name for name in names if isinstance(name, str)]
        if len(set(texts)) == len(members):
            return dict(zip(texts, members, strict=True))
    return {}


def render_differences(found: list[Difference]) -> list[str]:
    """Return the lines that tell a person what differs; long texts as a unified diff."""
    lines: list[str] = []
    for difference in found:
        path = difference.path or "document"
        old, new = difference.old, difference.new
        if isinstance(old, str) and isinstance(new, str) and is_long(old, new):
            lines.append(f"{path}:")
            lines.extend(f"  {line}" for line in text_difference(old, new))
        else:
            lines.append(f"{path}: {shown(old)} -> {shown(new)}")
    return lines


def is_long(old: str, new: str) -> bool:
    return any("\n" in text or len(text) > ONE_LINE for text in (old, new))


def text_difference(old: str, new: str) -> list[str]:
    before, after = old.splitlines(), new.splitlines()
    diff = list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]
    if not diff:
        return ["(only line ends differ)"]
    left_out = len(diff) - MOST_DIFF_LINES
    return diff if left_out <= 0 else [*diff[:MOST_DIFF_LINES], f"(and {left_out} more lines)"]


def shown(value: object) -> str:
    if value is UNSET:
        return "absent"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= ONE_LINE else f"{text[: ONE_LINE - 3]}..."


HASHED = re.compile(r"[0-9a-f]{12,}")
DATED = re.compile(r"\d{4}-\d{2}(-\d{2})?")


def next_version(version: str) -> str:
    """Return a version to offer after this one.

    `1` becomes `2`, `v1.9` becomes `v1.10`, a date `2026-10` becomes `2026-10.2` (its numbers mean
    days), and a word or a hash gets `.2`.
    """
    counted = re.fullmatch(r"(.*?)(\d+)", version, re.ASCII)
    if counted is None or DATED.fullmatch(version) or HASHED.fullmatch(version):
        return f"{version}.2"
    head, number = counted.groups()
    return f"{head}{int(number) + 1:0{len(number)}d}"
