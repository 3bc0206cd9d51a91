"""Events of every kind, generated from the types of their fields."""

import string
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from trial_ledger.events import KINDS, AnyData, Event
from trial_ledger.identifiers import MAX_INTEGER

Strategy = st.SearchStrategy[Any]

HEX = "0123456789abcdef"
PRINTABLE = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])
TIMES = st.datetimes().map(lambda time: time.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0"))
RATIONALS = st.fractions().map(str)
AMOUNTS = st.decimals(min_value=0, max_value=10**6, places=4, allow_nan=False).map(
    lambda value: format(value, "f")
)

FORM_VALUES: dict[str, Strategy] = {
    "name": st.text(PRINTABLE, min_size=1, max_size=12),
    "hash": st.text(HEX, min_size=64, max_size=64),
    "id": st.text(HEX, min_size=32, max_size=32),
    "run": st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True),
    "rational": RATIONALS,
    "decimal": AMOUNTS,
    "currency": st.text(string.ascii_uppercase, min_size=3, max_size=3),
    "time": TIMES,
}
"""Form of a short text → texts of that form."""

KEYS = st.text(string.ascii_letters + string.digits + " .-_", min_size=1, max_size=8)
"""Keys of a mapping: the profile allows ASCII only."""
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def values_of(annotation: Any) -> Strategy:  # noqa: ANN401 - any type that a field may have
    """Return values of the type of a field."""
    metadata = getattr(annotation, "__metadata__", ())
    extra: dict[str, str] = next((meta.extra for meta in metadata if meta.extra), {})
    origin, parts = get_origin(annotation), get_args(annotation)
    found: Strategy
    if "form" in extra:
        found = FORM_VALUES[extra["form"]]
    elif origin is Annotated:
        found = values_of_bounded(parts[0], metadata)
    elif origin in {Union, types.UnionType}:
        found = st.one_of([values_of(part) for part in parts])
    elif origin is Literal:
        found = st.sampled_from(parts)
    elif origin is tuple:
        found = st.lists(values_of(parts[0]), max_size=3).map(tuple)
    elif origin is dict:
        found = st.dictionaries(KEYS, values_of(parts[1]), max_size=3)
    elif isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        found = structs_of(annotation)
    else:
        found = {str: WORDS, bool: st.booleans(), type(None): st.none(), UnsetType: st.just(UNSET)}[
            annotation
        ]
    return found


def values_of_bounded(base: type, metadata: tuple[msgspec.Meta, ...]) -> Strategy:
    """Return values of an annotated type: integers with a bound, else those of the type itself."""
    if base is not int:
        return values_of(base)
    least = next(meta.ge for meta in metadata if meta.ge is not None)
    return st.integers(min_value=int(least), max_value=MAX_INTEGER)


def structs_of(kind: type[msgspec.Struct]) -> Strategy:
    """Return structures of a class, every field of which is filled."""
    return st.builds(
        kind, **{field.name: values_of(field.type) for field in msgspec.structs.fields(kind)}
    )


def events_of(tag: str, data: type[AnyData]) -> st.SearchStrategy[Event]:
    """Return events of one kind."""
    parts = {field.name: values_of(field.type) for field in msgspec.structs.fields(Event)
             if field.name not in {"data", "kind", "v"}}  # fmt: skip
    return st.builds(Event, data=structs_of(data), kind=st.just(tag), v=st.just(1), **parts)


EVENTS = st.one_of([events_of(tag, data) for tag, data in KINDS.items()])
"""Events of any kind."""
