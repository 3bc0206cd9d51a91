"""Lifts the data of an event of schema n to schema n + 1, on reading.

Invariant: stored bytes never change; an upcaster is a pure function from the plain data of one
version of one kind to the next. No kind has a second version yet: the seam is here so that the
first one needs no change elsewhere.
"""

from collections.abc import Callable, Mapping

import msgspec

__all__ = ["UPCASTERS", "lift", "newest_version"]

Upcaster = Callable[[dict[str, object]], dict[str, object]]

UPCASTERS: Mapping[tuple[str, int], Upcaster] = {}
"""(kind, version) → the function that turns that version's data into the next version's."""


def newest_version(kind: str, upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS) -> int:
    """Return the version of a kind that this program writes, from 1."""
    version = 1
    while (kind, version) in upcasters:
        version += 1
    return version


def lift(
    kind: str,
    version: int,
    data: msgspec.Raw,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> msgspec.Raw | bytes:
    """Return the data of an event in the newest version of its kind."""
    if (kind, version) not in upcasters:
        return data
    value: dict[str, object] = msgspec.json.decode(data)
    while (kind, version) in upcasters:
        value = upcasters[kind, version](value)
        version += 1
    return msgspec.json.encode(value)
