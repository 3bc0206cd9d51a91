"""Read what an answer lists or states, in the form that the metric declares.

Invariant: an answer is read by the declared form alone; one that has another form is named as such
and never guessed at, and no nesting, number or repetition in it does harm.
"""

import json
import re
from typing import NoReturn, cast

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.grader_options import Settings
from trial_ledger.grading.accepted import scalar_text, too_long
from trial_ledger.grading.numbers import NumberLiteral
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.strict_json import MAX_DEPTH, shorten

__all__ = ["Unread", "read_items", "read_json", "read_objects"]

FENCE = "```"
BULLET = re.compile(r"(?:[-*+\u2022\u2013\u2014]|[0-9]{1,4}[.)])\s+")


class Unread(msgspec.Struct, frozen=True):
    """Why an answer has not the declared form; the agent's fault, so that it is wrong."""

    reason: str
    """One clause."""


def read_items(answer: str, settings: Settings) -> list[str] | Unread:
    """Return the items that an answer lists, in its order; a blank answer lists none."""
    excess = too_long(answer)
    if excess is not None:
        return Unread(excess)
    if not answer.strip():
        return []
    match settings.text("items"):
        case "json":
            return read_array(answer, settings.text("json"))
        case "lines":
            kept = settings.text("bullets") == "kept"
            lines = [line.strip() for line in answer.splitlines()]
            return [line if kept else BULLET.sub("", line, count=1) for line in lines if line]
        case _:
            pieces = [piece.strip() for piece in answer.split(settings.text("separator"))]
            return [piece for piece in pieces if piece]


def read_array(answer: str, form: str) -> list[str] | Unread:
    """Return the members of a JSON array of names."""
    value = read_json(answer, form)
    if isinstance(value, Unread):
        return value
    if not isinstance(value, list):
        return Unread("the answer is no JSON array")
    items = [scalar_text(member) for member in value]
    if None in items:
        return Unread(f"member {items.index(None) + 1} of the array is no name")
    return cast("list[str]", items)


def read_objects(answer: str, form: str) -> list[dict[str, Json]] | Unread:
    """Return the records that an answer states: a JSON object, or an array of objects."""
    value = read_json(answer, form)
    if isinstance(value, Unread):
        return value
    records = value if isinstance(value, list) else [value]
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            return Unread(f"member {number} of the answer is no JSON object")
    return cast("list[dict[str, Json]]", records)


def read_json(answer: str, form: str) -> Json | Unread:
    """Return the JSON value that an answer is.

    A number with a fraction or an exponent, or beyond 2^53, is kept as the text of its literal
    (`NumberLiteral`), as datasets keep it.

    Args:
        answer: the answer.
        form: `whole`, or `fenced` where the value may stand in the answer's only fenced block.
    """
    excess = too_long(answer)
    text: str | Unread = answer if excess is None else Unread(excess)
    if form == "fenced" and isinstance(text, str):
        text = fenced(text)
    if isinstance(text, Unread):
        return text
    try:
        value: Json = DECODER.decode(text.strip())
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else shorten(str(error))
        return Unread(f"the answer is no acceptable JSON: {why}")
    if is_deep(value, MAX_DEPTH):
        return Unread(f"the answer is nested deeper than {MAX_DEPTH} levels")
    return value


def fenced(answer: str) -> str | Unread:
    """Return the inside of an answer's only fenced block, the answer itself where it has none."""
    blocks: list[list[str]] = []
    is_open = False
    for line in answer.splitlines():
        if line.lstrip().startswith(FENCE):
            is_open = not is_open
            if is_open:
                blocks.append([])
        elif is_open:
            blocks[-1].append(line)
    if len(blocks) > 1:
        return Unread(f"the answer has {len(blocks)} fenced blocks, and one is read")
    return "\n".join(blocks[0]) if blocks else answer


def unique_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the members of an object, refusing a key that stands twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


def integer_or_literal(literal: str) -> int | NumberLiteral:
    """Return an integer, as its literal where it is beyond what is exact everywhere."""
    if len(literal) > len(str(-MAX_INTEGER)) or abs(int(literal)) > MAX_INTEGER:
        return NumberLiteral(literal)
    return int(literal)


def refuse(literal: str) -> NoReturn:
    """Refuse NaN and Infinity, which are no JSON."""
    raise ValueError(f"{literal} is no number")


DECODER = json.JSONDecoder(
    object_pairs_hook=unique_members,
    parse_float=NumberLiteral,
    parse_int=integer_or_literal,
    parse_constant=refuse,
)


def is_deep(value: Json, levels: int) -> bool:
    """Return whether a value is nested deeper than a number of levels."""
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deep(member, levels - 1) for member in members)
