"""The dialect of OpenAI's chat completions, which many other services speak.

Invariant: `prompt_tokens` of this dialect include what came from a cache; it is taken out.
"""

from collections.abc import Mapping, Sequence

from trial_ledger.amounts import Usage
from trial_ledger.documents.manifest_structs import Model, Tool
from trial_ledger.running.chat.dialect import (
    Asked,
    Dialect,
    Message,
    Stop,
    ToolResult,
    Turn,
    arguments_of,
    schema_of,
    text_under,
)
from trial_ledger.running.search.base import count_of, listed, member, named

__all__ = ["OPENAI"]

STOPS: Mapping[str, Stop] = {
    "stop": "answer",
    "tool_calls": "tool",
    "function_call": "tool",
    "length": "limit",
    "content_filter": "filtered",
}


def request(
    model: Model, system: str | None, messages: Sequence[Message], tools: Sequence[Tool]
) -> dict[str, object]:
    """Return the fields of a request."""
    first: list[Message] = [{"role": "system", "content": system}] if system else []
    fields: dict[str, object] = {"model": model.name, "messages": [*first, *messages]}
    if tools:
        fields["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description or "",
                    "parameters": schema_of(tool),
                },
            }
            for tool in tools
        ]
    return fields


def read(body: object, exact: object) -> Turn | None:
    """Return the model's turn; None where the body has no choice with a message."""
    choice = next(iter(listed(body, "choices")), None)
    message = member(choice, "message")
    if not isinstance(message, dict):
        return None
    asked = tuple(
        Asked(
            id=text_under(call, "id") or "",
            name=text_under(call, "function", "name") or "",
            arguments=arguments_of(member(call, "function", "arguments")),
        )
        for call in listed(message, "tool_calls")
    )
    reason = text_under(choice, "finish_reason")
    refusal = text_under(message, "refusal")
    stop: Stop = STOPS.get(reason or "", "tool" if asked else "answer")
    if refusal is not None:
        stop = "refused"
    written = member(next(iter(listed(exact, "choices")), None), "message")
    kept = {name: member(written, name) for name in ("content", "tool_calls") if name in message}
    return Turn(
        text=refusal or text_under(message, "content"),
        asked=asked,
        stop="tool" if asked and stop == "answer" else stop,
        reason=named(reason),
        message={"role": "assistant", **kept},
        usage=usage_of(member(body, "usage")),
        model=named(member(body, "model")),
        fingerprint=named(member(body, "system_fingerprint")),
    )


def usage_of(usage: object) -> Usage | None:
    """Return the token counts of a response; None where it has none."""
    if not isinstance(usage, dict):
        return None
    whole = count_of(usage.get("prompt_tokens"))
    cached = count_of(member(usage, "prompt_tokens_details", "cached_tokens"))
    fresh = None if whole is None else max(whole - (cached or 0), 0)
    return Usage(
        input_tokens=fresh,
        input_tokens_cache_read=cached,
        input_tokens_cache_write=count_of(
            member(usage, "prompt_tokens_details", "cache_write_tokens")
        ),
        output_tokens=count_of(usage.get("completion_tokens")),
        reasoning_tokens=count_of(member(usage, "completion_tokens_details", "reasoning_tokens")),
    )


def results(found: Sequence[ToolResult]) -> list[Message]:
    """Return one message of role `tool` for each result."""
    return [{"role": "tool", "tool_call_id": one.id, "content": one.content} for one in found]


OPENAI = Dialect(path="/chat/completions", request=request, read=read, results=results)
