"""The dialect of Anthropic's messages.

Invariant: a turn that was paused is no answer, and a refusal is no answer either.
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
from trial_ledger.running.search.base import count_of, member, named

__all__ = ["ANTHROPIC"]

MOST_TOKENS = 4_096
"""Asked for where the manifest's sampling has no `max_tokens`: the service insists on one."""

STOPS: Mapping[str, Stop] = {
    "end_turn": "answer",
    "stop_sequence": "answer",
    "tool_use": "tool",
    "max_tokens": "limit",
    "model_context_window_exceeded": "limit",
    "refusal": "refused",
    "pause_turn": "more",
}

SERVER_TOOLS = ("web_search_requests", "web_fetch_requests")
"""Tools that the service calls by itself and bills by the request."""


def request(
    model: Model, system: str | None, messages: Sequence[Message], tools: Sequence[Tool]
) -> dict[str, object]:
    """Return the fields of a request."""
    fields: dict[str, object] = {
        "model": model.name,
        "max_tokens": MOST_TOKENS,
        "messages": list(messages),
    }
    if system:
        fields["system"] = system
    if tools:
        fields["tools"] = [
            {
                "name": tool.name,
                "description": tool.description or "",
                "input_schema": schema_of(tool),
            }
            for tool in tools
        ]
    return fields


def read(body: object, exact: object) -> Turn | None:
    """Return the model's turn; None where the body has no list of content."""
    content = member(body, "content")
    if not isinstance(content, list):
        return None
    asked = tuple(
        Asked(
            id=text_under(block, "id") or "",
            name=text_under(block, "name") or "",
            arguments=arguments_of(member(block, "input")),
        )
        for block in content
        if member(block, "type") == "tool_use"
    )
    texts = [text for block in content if (text := text_under(block, "text")) is not None]
    reason = text_under(body, "stop_reason")
    return Turn(
        text="\n".join(texts) or None,
        asked=asked,
        stop=STOPS.get(reason or "", "tool" if asked else "answer"),
        reason=named(reason),
        message={"role": "assistant", "content": member(exact, "content")},
        usage=usage_of(member(body, "usage")),
        model=named(member(body, "model")),
    )


def usage_of(usage: object) -> Usage | None:
    """Return the token counts of a response; None where it has none."""
    if not isinstance(usage, dict):
        return None
    units = {name: count_of(member(usage, "server_tool_use", name)) for name in SERVER_TOOLS}
    return Usage(
        input_tokens=count_of(usage.get("input_tokens")),
        input_tokens_cache_read=count_of(usage.get("cache_read_input_tokens")),
        input_tokens_cache_write=count_of(usage.get("cache_creation_input_tokens")),
        output_tokens=count_of(usage.get("output_tokens")),
        units={name: count for name, count in units.items() if count},
    )


def results(found: Sequence[ToolResult]) -> list[Message]:
    """Return one message of the user with a block for each result."""
    blocks = [
        {
            "type": "tool_result",
            "tool_use_id": one.id,
            "content": one.content,
            "is_error": one.is_error,
        }
        for one in found
    ]
    return [{"role": "user", "content": blocks}]


ANTHROPIC = Dialect(
    path="/messages",
    headers={"anthropic-version": "2023-06-01"},
    request=request,
    read=read,
    results=results,
)
