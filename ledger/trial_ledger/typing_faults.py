"""What is wrong with a plain value that should be of a type: every fault, in a person's words.

Invariant: only asked once a value was refused as a whole, so it may be slow; a value in which it
finds nothing is of its type, texts of a form included.
"""

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Annotated, Literal, TypeGuard, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from trial_ledger.errors import Problem
from trial_ledger.forms import FORMS, form_named, value_problems
from trial_ledger.strict_json import join_path
from trial_ledger.texts import nearest, shown

__all__ = ["described", "member_faults", "typing_faults"]

WORDS: Mapping[object, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    dict: "an object",
    tuple: "an array",
}


def typing_faults(value: object, expected: object, path: str) -> list[Problem]:
    """Return every fault of a value that should be of a type.

    Args:
        value: a plain value.
        expected: the type.
        path: where it stands, for the faults.
    """
    try:
        found = msgspec.convert(value, expected)
    except msgspec.ValidationError:
        return inner_faults(value, expected, path) or [
            Problem(
                message="not acceptable",
                field=path,
                found=shown(value),
                expected=described(expected),
            )
        ]
    return value_problems(found, expected, path)


def inner_faults(value: object, expected: object, path: str) -> list[Problem]:
    """Return the faults of the members of an object or array of the right kind."""
    for part in alternatives(expected):
        inner = get_args(part)
        if isinstance(value, dict) and is_struct(part):
            return member_faults(value, part, path)
        if isinstance(value, dict) and get_origin(part) is dict:
            return [
                fault
                for key, member in value.items()
                for fault in typing_faults(member, inner[1], join_path(path, key))
            ]
        if isinstance(value, list | tuple) and get_origin(part) is tuple:
            return [
                fault
                for position, member in enumerate(value)
                for fault in typing_faults(member, inner[0], f"{path}[{position}]")
            ]
    return []


def member_faults(value: Mapping[str, object], expected: object, path: str) -> list[Problem]:
    """Return the faults of an object that should be a structure, field by field."""
    assert is_struct(expected), "the caller looked"
    fields = {field.encode_name: field for field in msgspec.structs.fields(expected)}
    faults = [
        Problem(message="unknown field", field=join_path(path, key), expected=nearest(key, fields))
        for key in value
        if key not in fields
    ]
    for name, field in fields.items():
        place = join_path(path, name)
        if name in value:
            faults += typing_faults(value[name], field.type, place)
        elif field.required:
            faults.append(Problem(message="missing", field=place, expected=described(field.type)))
    return faults


NOTHING = frozenset({type(None), msgspec.UnsetType})
"""What stands in a type for a field that may be null or left out: nothing to be asked for."""


def described(expected: object) -> str:
    """Return what a person calls the values of a type."""
    parts = alternatives(expected)
    words = [words_for(part) for part in parts if part not in NOTHING]
    return " or ".join(words)


def words_for(part: object) -> str:
    """Return what a person calls the values of one alternative of a type."""
    form = form_named(part)
    if form is not None:
        return FORMS[form].expected
    if get_origin(part) is Annotated:
        inner, *metadata = get_args(part)
        return "a text" if is_text(metadata) else words_for(inner) + bounds(metadata)
    if get_origin(part) is Literal:
        return f"one of {', '.join(map(str, get_args(part)))}"
    return "an object" if is_struct(part) else WORDS[get_origin(part) or part]


def bounds(metadata: Iterable[Meta]) -> str:
    """Return the bounds of a number in words."""
    return "".join(f" from {meta.ge} to {meta.le}" for meta in metadata if meta.ge is not None)


def is_text(metadata: Iterable[Meta]) -> bool:
    """Return whether a type is that of a text field."""
    return any("class" in (meta.extra or {}) for meta in metadata)


def is_struct(part: object) -> TypeGuard[type[msgspec.Struct]]:
    """Return whether a type is a structure."""
    return isinstance(part, type) and issubclass(part, msgspec.Struct)


def alternatives(expected: object) -> tuple[object, ...]:
    """Return the parts of a union, or the one type that is none."""
    return get_args(expected) if get_origin(expected) in {Union, UnionType} else (expected,)
