"""The forms of the short texts in an event: names, hashes, times, numbers as text.

Invariant: a form is checked when an event comes in and when a ledger is verified, and not each time
a stored event is read: nine regular expressions an event cost more than everything else in reading
it (8.6 µs with them, 3 µs without).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache, partial
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta

from trial_ledger.errors import Problem

__all__ = [
    "FORMS",
    "CurrencyForm",
    "DecimalForm",
    "EventIdForm",
    "Form",
    "HashForm",
    "NameForm",
    "RationalForm",
    "RunNameForm",
    "TimestampForm",
    "fits",
    "form_problems",
    "is_well_formed",
]


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """What a short text must look like."""

    pattern: str
    """Matches the whole text."""
    expected: str
    """The same for people."""


FORMS: Mapping[str, Form] = {
    "name": Form(
        pattern=r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{1,256}",
        expected="1 to 256 characters without control characters",
    ),
    "hash": Form(pattern=r"[0-9a-f]{64}", expected="64 lower-case hex digits"),
    "id": Form(pattern=r"[0-9a-f]{32}", expected="32 lower-case hex digits"),
    "run": Form(
        pattern=r"[a-z0-9][a-z0-9._-]{0,79}",
        expected="a run name: a-z 0-9 . _ - (1 to 80)",
    ),
    "rational": Form(
        pattern=r"-?(0|[1-9][0-9]{0,199})(/[1-9][0-9]{0,199})?",
        expected='a rational as text, such as "3/4"',
    ),
    "decimal": Form(
        pattern=r"(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?",
        expected='a decimal as text, such as "0.0025"',
    ),
    "currency": Form(pattern=r"[A-Z]{3}", expected="a currency code such as USD"),
    "time": Form(
        pattern=r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z",
        expected="UTC with six digits, such as 2026-10-01T12:00:00.000000Z",
    ),
}
"""Form → what it matches."""

NameForm = Annotated[str, Meta(extra={"form": "name"})]
"""A short label."""
HashForm = Annotated[str, Meta(extra={"form": "hash"})]
"""A 256-bit digest."""
EventIdForm = Annotated[str, Meta(extra={"form": "id"})]
"""An event id."""
RunNameForm = Annotated[str, Meta(extra={"form": "run"})]
"""The name of a run."""
RationalForm = Annotated[str, Meta(extra={"form": "rational"})]
"""A rational as text."""
DecimalForm = Annotated[str, Meta(extra={"form": "decimal"})]
"""A non-negative decimal in plain notation."""
CurrencyForm = Annotated[str, Meta(extra={"form": "currency"})]
"""An ISO 4217 code."""
TimestampForm = Annotated[str, Meta(extra={"form": "time"})]
"""A time in UTC with six digits."""

Test = Callable[[Any], bool]


KEPT_TEXTS = 4_096
"""Texts of one form that are remembered."""

UNIQUE = frozenset({"id", "time"})
"""Forms whose texts hardly come again: not worth remembering."""

MISSING: frozenset[object] = frozenset({None, UNSET})
"""What stands in a structure where a text is left out."""

KNOWN: Mapping[str, set[object]] = {form: {*MISSING} for form in FORMS}
"""Form → texts that were found to have it, and what stands for a missing one."""


def fits(form: str, text: str) -> bool:
    """Return whether a text has a form; kept, since most short texts come again and again."""
    known = KNOWN[form]
    if text in known:
        return True
    if matcher(form)(text) is None or (form == "time" and not is_real_time(text)):
        return False
    if form in UNIQUE:
        return True
    if len(known) >= KEPT_TEXTS:
        known.clear()
        known.update(MISSING)
    known.add(text)
    return True


@cache
def matcher(form: str) -> Callable[[str], object]:
    """Return what matches a whole text of a form; made when first needed, since it takes long."""
    return re.compile(FORMS[form].pattern).fullmatch


def is_real_time(text: str) -> bool:
    """Return whether a time of the right form exists, as 31 February does not."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_well_formed(value: msgspec.Struct) -> bool:
    """Return whether every short text in a structure has its form."""
    texts, members = tests_of(type(value))
    for form, known, texts_in in texts:
        # All texts of a form are looked up in one call: one event in a log holds about ten.
        found = texts_in(value)
        if not known.issuperset(found) and not all(
            text in MISSING or fits(form, text) for text in found
        ):
            return False
    for attribute, test in members:
        member = getattr(value, attribute)
        if member is not None and member is not UNSET and not test(member):
            return False
    return True


class Tests(NamedTuple):
    """What is to be tested in a structure."""

    texts: tuple[tuple[str, set[object], Callable[[Any], tuple[Any, ...]]], ...]
    """(form, texts known to have it, what takes the structure's own texts of it)."""
    members: tuple[tuple[str, Test], ...]
    """(attribute, test) of the members that may hold further texts."""


@cache
def tests_of(kind: type[msgspec.Struct]) -> Tests:
    """Return what is to be tested in a structure: its own short texts, and members with more."""
    texts: dict[str, list[str]] = {}
    members: list[tuple[str, Test]] = []
    for field in msgspec.structs.fields(kind):
        test = test_of(field.type)
        form = text_form(field.type)
        if form is not None:
            texts.setdefault(form, []).append(field.name)
        elif test is not None:
            members.append((field.name, test))
    found = (
        # A name twice makes a tuple where there is one alone.
        (form, KNOWN[form], attrgetter(names[0], *names))
        for form, names in texts.items()
    )
    return Tests(tuple(found), tuple(members))


def text_form(annotation: object) -> str | None:
    """Return the form of a type that is a short text or None; None for any other type."""
    forms = [form_named(part) for part in (annotation, *get_args(annotation))]
    is_text = get_origin(annotation) not in {tuple, dict}
    return next((form for form in forms if form is not None), None) if is_text else None


def test_of(annotation: object) -> Test | None:
    """Return the test of a type; None where no short text can be in it."""
    form = form_named(annotation)
    if form is not None:
        return partial(fits, form)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return is_well_formed
    inner = [test_of(part) for part in get_args(annotation)]
    if get_origin(annotation) in {tuple, dict}:
        assert not any(inner[1:]), "no mapping holds values with a form"
        member = inner[0]
        return None if member is None else partial(all_fit, member)
    # What is left is a union with None, or Annotated with nothing to say about the form.
    tests = [test for test in inner if test is not None]
    assert len(tests) <= 1, "a field is of one type or None"
    return tests[0] if tests else None


def all_fit(test: Test, members: Iterable[object]) -> bool:
    """Return whether every member of a tuple, or every key of a mapping, passes a test."""
    return all(map(test, members))


def form_named(annotation: object) -> str | None:
    """Return the form that a type names, or None."""
    metadata: tuple[Meta, ...] = getattr(annotation, "__metadata__", ())
    extras = [meta.extra or {} for meta in metadata]
    return next((extra["form"] for extra in extras if "form" in extra), None)


def form_problems(value: msgspec.Struct, path: str = "") -> list[Problem]:
    """Return a fault for every short text in a structure that has not its form.

    Args:
        value: an event's data, an envelope part, a trial key.
        path: where it stands, for the faults.
    """
    if is_well_formed(value):
        return []
    problems: list[Problem] = []
    for field in msgspec.structs.fields(type(value)):
        place = f"{path}.{field.encode_name}" if path else field.encode_name
        problems += value_problems(getattr(value, field.name), field.type, place)
    return problems


def value_problems(value: object, annotation: object, path: str) -> list[Problem]:
    """Return the faults of one value of a type."""
    test = test_of(annotation)
    if value is None or value is UNSET or test is None or test(value):
        return []
    if isinstance(value, msgspec.Struct):
        return form_problems(value, path)
    if isinstance(value, tuple):
        return [
            problem
            for position, member in enumerate(value)
            for problem in value_problems(member, get_args(annotation)[0], f"{path}[{position}]")
        ]
    if isinstance(value, dict):
        return [
            problem
            for key in value
            for problem in value_problems(key, get_args(annotation)[0], path)
        ]
    return [unfit(value, annotation, path)]


def unfit(value: object, annotation: object, path: str) -> Problem:
    """Return the fault of one short text."""
    form = text_form(annotation)
    assert form is not None, "only short texts are tested by themselves"
    shown = ascii(value)
    return Problem(
        message="not acceptable",
        field=path,
        found=shown if len(shown) <= 60 else shown[:57] + "...",  # noqa: PLR2004 - a line
        expected=FORMS[form].expected,
    )
