"""What a response says of itself: usage, cost, model, warnings, errors of single items.

Invariant: what a response does not say is unknown, never 0 (C18); what it admits beside its result
is never passed over (C24).

Shapes that are known: OpenAI's chat completions and responses, whole and streamed; Anthropic's
messages, whole and streamed; the searches of Parallel, Exa and Tavily.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.events import FailureClass
from trial_ledger.running.chat import anthropic, openai
from trial_ledger.running.search.base import Trouble, count_of, member, named, read_json, text_of
from trial_ledger.running.search.providers import PROVIDERS

__all__ = ["Reading", "found_nothing", "reading_of", "stream_ended"]

EXA, PARALLEL, TAVILY = (PROVIDERS[name] for name in ("exa", "parallel", "tavily"))
NOTHING = frozenset().union(*(provider.nothing for provider in PROVIDERS.values()))
RESULTS = ("choices", "content", "results", "web", "organic")
LAST = (b"data: [DONE]", b"event: message_stop", b"event: response.completed")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a successful response says of itself."""

    status: Literal["ok", "empty", "partial"] = "ok"
    """How the call ended."""
    usage: Usage | None = None
    """What was consumed; None is unknown."""
    cost: Cost | None = None
    """What it cost; None is unknown."""
    model: str | None = None
    """Model that it names."""
    fingerprint: str | None = None
    """Build fingerprint that it names."""
    troubles: tuple[Trouble, ...] = ()
    """Warnings, errors of single items, cached fallbacks."""
    failure: Trouble | None = None
    """An error that stands where the result should; None where there is none."""
    is_readable: bool = True
    """Whether it is JSON, or a stream of JSON."""


def reading_of(content: bytes, media: str) -> Reading:
    """Return what a body says.

    Args:
        content: the whole body, not compressed.
        media: its media type.
    """
    if media == "text/event-stream":
        body = merged(stream_parts(content))
        return with_error(of_model(body), body)
    value = read_json(content)
    if value is None:
        return Reading(is_readable=False)
    is_model = member(value, "choices") is not None or member(value, "model") is not None
    return with_error(of_model(value) if is_model else of_search(value), value)


def found_nothing(body: object) -> bool:
    """Return whether an error of a known search service only means that nothing was found."""
    return bool({named(member(body, "error", "code")), named(member(body, "code"))} & NOTHING)


def with_error(found: Reading, body: object) -> Reading:
    """Return a reading with the error that a body of status 200 holds: the end of it, or a part."""
    error = member(body, "error")
    if not error:
        return found
    word = named(member(error, "type")) or named(member(error, "code"))
    message = text_of(error) or text_of(member(error, "message")) or "an error in a success"
    if any(member(body, name) is not None for name in RESULTS):
        trouble = Trouble(class_="partial_result", detail_class=word, message=message)
        troubles = (*found.troubles, trouble)
        return msgspec.structs.replace(found, status="partial", troubles=troubles)
    class_: FailureClass = "overloaded" if word == "overloaded_error" else "server_error"
    failure = Trouble(class_=class_, detail_class=word, message=message)
    return msgspec.structs.replace(found, failure=failure)


def of_model(body: object) -> Reading:
    """Return what a model's response says."""
    return Reading(
        usage=usage_of(member(body, "usage")),
        model=named(member(body, "model")),
        fingerprint=named(member(body, "system_fingerprint")),
    )


def usage_of(usage: object) -> Usage | None:
    """Return token counts, input without what came from a cache; None where there are none."""
    if member(usage, "prompt_tokens") is not None or member(usage, "completion_tokens") is not None:
        return openai.usage_of(usage)
    cached = count_of(member(usage, "input_tokens_details", "cached_tokens"))
    found = anthropic.usage_of(usage)
    if found is None or cached is None:
        return found
    whole = found.input_tokens  # OpenAI's responses count cached tokens among the input.
    return msgspec.structs.replace(
        found,
        input_tokens=None if whole is None else max(whole - cached, 0),
        input_tokens_cache_read=cached,
        reasoning_tokens=count_of(member(usage, "output_tokens_details", "reasoning_tokens")),
    )


def of_search(body: object) -> Reading:
    """Return what a search's response says, whichever of the known providers it is from."""
    troubles = (*EXA.troubles(body), *TAVILY.troubles(body))
    units = {**PARALLEL.units(body), **TAVILY.units(body)}
    status: Literal["ok", "empty", "partial"] = "ok"
    if any(trouble.class_ == "partial_result" for trouble in troubles):
        status = "partial"
    elif member(body, "results") == []:
        status = "empty"
    return Reading(
        status=status,
        usage=Usage(units=units) if units else None,
        cost=EXA.cost(body),
        troubles=troubles,
    )


def stream_parts(content: bytes) -> Iterable[object]:
    """Yield the JSON values of a stream of server-sent events."""
    for line in content.splitlines():
        if line.startswith(b"data:"):
            value = read_json(line.removeprefix(b"data:").strip())
            if value is not None:
                yield value


def merged(parts: Iterable[object]) -> dict[str, object]:
    """Return the fields of a streamed response, the last of each kept; usage member by member."""
    found: dict[str, object] = {}
    usage: dict[str, object] = {}
    for part in parts:
        for holder in (part, member(part, "message"), member(part, "response")):
            for name in ("model", "system_fingerprint", "error"):
                value = member(holder, name)
                if value is not None:
                    found[name] = value
            counts = member(holder, "usage")
            if isinstance(counts, dict):
                usage.update(counts)
    return {**found, "usage": usage or None}


def stream_ended(content: bytes) -> bool:
    """Return whether a stream of events has said that it is over."""
    return any(last in content[-400:] for last in LAST)
