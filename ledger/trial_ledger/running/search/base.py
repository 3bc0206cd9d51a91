"""What a search is made of: the query, the request, what was found, why it was refused.

Invariant: an empty result is found, never refused; what a response leaves unsaid stays None.
"""

import json
from typing import Literal

import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.events import FailureClass
from trial_ledger.exact import decimal_text, parse_decimal
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.kinds.base import Fault

__all__ = [
    "Found",
    "Hit",
    "Query",
    "Rejection",
    "Request",
    "Trouble",
    "count_of",
    "listed",
    "member",
    "money_of",
    "named",
    "read_json",
    "text_of",
]

LONGEST_NAME = 256
MOST_DIGITS = 30
"""Digits of an amount of money before and after the point."""


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """One search."""

    text: str
    """What is looked for."""
    limit: int | None = None
    """Most hits; None leaves it to the provider."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent, without the key."""

    method: Literal["GET", "POST"] = "POST"
    """HTTP method."""
    url: str
    """Where to, query included; always on the endpoint's own host."""
    headers: dict[str, str] = {}
    """Headers, none of them a credential."""
    content: bytes = b""
    """Body, JSON."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One document that a search returned."""

    url: str
    """Its address; for a local document its name."""
    title: str | None = None
    """Its title."""
    text: str = ""
    """What the provider shows of it: snippet, excerpts or content."""
    published: str | None = None
    """Date as the provider writes it."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """Something that went wrong inside a successful response (C24)."""

    class_: FailureClass
    """What kind."""
    detail_class: str | None = None
    """The provider's own word for it."""
    message: str
    """What was reported."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a successful response says."""

    hits: tuple[Hit, ...] = ()
    """Hits in the provider's order."""
    troubles: tuple[Trouble, ...] = ()
    """Warnings, errors of single items, cached fallbacks."""
    usage: Usage | None = None
    """Billed units, where the response names them."""
    cost: Cost | None = None
    """Money, where the response names it; None is unknown."""

    @property
    def status(self) -> Literal["ok", "empty", "partial"]:
        """How the call ended: `partial` where items failed, `empty` where nothing was found."""
        if any(trouble.class_ == "partial_result" for trouble in self.troubles):
            return "partial"
        return "ok" if self.hits else "empty"


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """Why a response is a failure."""

    class_: FailureClass
    """What kind."""
    fault: Fault | None
    """Whose; None where unknown."""
    detail_class: str | None = None
    """The provider's own word for it."""
    message: str
    """What was reported, in one clause."""
    wait_ms: int | None = None
    """How long the provider asks to wait, in milliseconds; None where it does not say."""


def member(value: object, *path: str) -> object:
    """Return what stands below a JSON value under these keys; None where it does not."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def listed(value: object, *path: str) -> list[object]:
    """Return the list below a JSON value under these keys; empty where there is none."""
    found = member(value, *path)
    return found if isinstance(found, list) else []


def text_of(value: object) -> str | None:
    """Return a text that is not blank, half characters replaced; None for anything else."""
    if not isinstance(value, str) or not value.strip():
        return None
    return value.encode("utf-8", "replace").decode("utf-8")


def named(value: object) -> str | None:
    """Return a provider's word as a name of an event; None where it is no text."""
    if not isinstance(value, str):
        return None
    name = "".join(letter for letter in value if letter.isprintable()).strip()[:LONGEST_NAME]
    return name or None


def count_of(value: object) -> int | None:
    """Return a whole number that is not negative; None for anything else."""
    if not isinstance(value, str) or not (value.isascii() and value.isdigit()):
        return None
    count = int(value[: MOST_DIGITS + 1])
    return count if count <= MAX_INTEGER else None


def money_of(value: object) -> Cost | None:
    """Return a reported amount in US dollars; None where it is no amount: unknown, not 0."""
    if not isinstance(value, str):
        return None
    try:
        text = decimal_text(parse_decimal(value))
    except ValueError:
        return None
    whole, _, part = text.partition(".")
    if whole.startswith("-") or max(len(whole), len(part)) > MOST_DIGITS:
        return None
    return Cost(amount=text, currency="USD", basis="reported")


def read_json(content: bytes) -> object:
    """Return the value of a JSON body, numbers as the text of their literal; None for no JSON.

    What a service sends is read as it comes: large integers and lone surrogates are its own
    affair. A body of `null` is no more use than none.
    """
    try:
        value: object = json.loads(content, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return value
