"""What an event may hold, read from the tables of docs/reference/events.md and from nothing else.

For the second verifier: a page that an auditor can read says what is right, not this program.
"""

import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "events.md"
BIGGEST = 2**53 - 1
NO_CONTROLS = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
TEXT_FORMS = {
    "string": r"(?s).*",
    "name": NO_CONTROLS + "{1,256}",
    "hash": "[0-9a-f]{64}",
    "id": "[0-9a-f]{32}",
    "run name": "[a-z0-9][a-z0-9._-]{0,79}",
    "rational": "-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?",
    "decimal": r"(0|[1-9][0-9]*)(\.[0-9]+)?",
    "currency code": "[A-Z]{3}",
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
}
"""Words of the page for short texts, as its section on conventions explains them."""
TEXTS = ("plain document", "sealed text", "gold text")


class Field(NamedTuple):
    """One row of a table."""

    type: str
    is_required: bool


class Kind(NamedTuple):
    """One section of the page."""

    fields: dict[str, Field]
    version: int
    is_linked: bool


@cache
def sections() -> dict[str, str]:
    """Return the text under each heading of the third level, without backquotes in the heading."""
    parts = re.split(r"^### (.+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    return {name.strip("`"): text for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def fields_of(section: str) -> dict[str, Field]:
    """Return the fields of the first table of a section."""
    found: dict[str, Field] = {}
    for line in section.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) in {3, 4}:
            is_required = len(cells) == 3 or cells[2] == "required"
            found[cells[0].strip("`")] = Field(cells[1], is_required)
    return found


@cache
def kinds() -> dict[str, Kind]:
    """Return every kind of event by its tag."""
    found: dict[str, Kind] = {}
    for name, text in sections().items():
        said = re.search(r"^\*Version (\d+), (not )?linked", text, re.MULTILINE)
        if said is not None:
            found[name] = Kind(fields_of(text), int(said[1]), said[2] is None)
    return found


@cache
def choices(name: str) -> tuple[str, ...]:
    """Return the words of a closed list."""
    line = re.search(rf"^- \*\*{name}\*\*: (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert line is not None, f"the page has a list {name}"
    return tuple(re.findall(r"`([^`]+)`", line[1]))


def object_fault(value: Any, fields: dict[str, Field], place: str) -> str | None:  # noqa: ANN401 - any JSON
    """Return what is wrong with an object that should have some fields; None where nothing is."""
    if not isinstance(value, dict):
        return f"{place} is no object"
    for name in value:
        if name not in fields:
            return f"{place}.{name} is on no page"
    for name, field in fields.items():
        if name not in value:
            if field.is_required:
                return f"{place}.{name} is missing"
            continue
        fault = value_fault(value[name], field.type, f"{place}.{name}")
        if fault is not None:
            return fault
    return None


def value_fault(value: Any, said: str, place: str) -> str | None:  # noqa: ANN401, PLR0911 - any JSON, one line a type
    """Return what is wrong with a value that should be of a type of the page."""
    base = re.sub(r", or (null|absent)$", "", said)
    if value is None:
        return None if said.endswith(", or null") else f"{place} is null"
    part = re.fullmatch(r"\[(\w+)\]\(#(.+)\)", base)
    member = re.fullmatch(r"list of (.+)|object: (?:string|name) to (.+)", base)
    wrong = f"{place} is no {base}"
    if base in TEXTS:
        return object_fault(value, fields_of(sections()["BlobRef"]), place)
    if part is not None and part[2] == "closed-lists":
        return None if value in choices(part[1]) else wrong
    if part is not None:
        return object_fault(value, fields_of(sections()[part[1]]), place)
    if member is not None:
        kind = list if member[1] else dict
        if not isinstance(value, kind):
            return wrong
        inner = value if isinstance(value, list) else [*value.values()]
        faults = (value_fault(each, member[1] or member[2], place) for each in inner)
        return next((fault for fault in faults if fault is not None), None)
    return None if is_simple(value, base) else wrong


def is_simple(value: Any, base: str) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value is of a type without parts."""
    number = re.fullmatch(r"integer from (\d+)", base)
    if number is not None:
        return type(value) is int and int(number[1]) <= value <= BIGGEST
    if base == "boolean":
        return isinstance(value, bool)
    if base.startswith("`"):
        return value in re.findall(r"`([^`]+)`", base)
    if not isinstance(value, str) or re.fullmatch(TEXT_FORMS[base], value) is None:
        return False
    return base != "time" or is_on_the_calendar(value)


def is_on_the_calendar(time: str) -> bool:
    """Return whether a time exists, as 31 February does not."""
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return False
    return True


def event_fault(event: Any) -> str | None:  # noqa: ANN401 - any JSON
    """Return what is wrong with a document that should be an event of the page."""
    envelope = dict(fields_of(sections()["Event"]))
    del envelope["data"]
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        return "is no event"
    outside = {name: value for name, value in event.items() if name != "data"}
    fault = object_fault(outside, envelope, "event")
    kind = kinds().get(str(event.get("kind")))
    if fault is not None or kind is None:
        return fault or f"kind {event['kind']} is on no page"
    if event["v"] != kind.version:
        return f"version {event['v']} of {event['kind']} is on no page"
    return object_fault(event["data"], kind.fields, "data")


def texts_of(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the texts that the fields of an event name."""
    fields = kinds()[event["kind"]].fields
    return [
        event["data"][name]
        for name, field in fields.items()
        if re.sub(r", or null$", "", field.type) in TEXTS and event["data"].get(name) is not None
    ]
