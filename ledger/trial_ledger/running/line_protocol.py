"""What an agent in a process of its own writes and reads: one JSON object a line.

Invariant: a line that is no such object is a failure of the agent, said and recorded, never
skipped; nothing that an agent writes can name a run, a trial or an actor.

The agent reads first `{"type": "question", "id", "question", "as_of", "context", "seed",
"options", "tools"}`. Then it writes any number of

- `{"type": "tool", "id", "name", "arguments": {…}}`: a call of one of the manifest's tools,
  answered by `{"type": "result", "id", "content"}` or `{"type": "error", "id", "class",
  "message"}`;
- `{"type": "event", "kind", "data": {…}, "id"}`: what it did by itself, answered by
  `{"type": "recorded", "id", "seq"}` where it gives an id;

and last `{"type": "answer", "answer", "citations", "abstained"}`.
"""

import json
from collections.abc import Mapping

import msgspec

from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.errors import InvalidInputError
from trial_ledger.strict_json import parse_json, shorten

__all__ = [
    "AGENT_KINDS",
    "AgentEvent",
    "Answer",
    "Line",
    "ToolCall",
    "Unreadable",
    "answer_of",
    "as_text",
    "read_line",
    "written",
]

AGENT_KINDS = frozenset(
    {
        "call.started",
        "call.finished",
        "response.lost",
        "failure.occurred",
        "failure.recovered",
        "failure.assessed",
    }
)
"""Events that an agent may report of itself."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """The agent asks for a tool."""

    id: str
    """Its own name for this call, repeated in the result."""
    name: str
    """Which tool of the manifest."""
    arguments: Mapping[str, object]
    """What to give it."""


class AgentEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The agent says what it did by itself."""

    kind: str
    """Tag of the event."""
    data: Mapping[str, object]
    """Its fields."""
    id: str | None = None
    """The agent's name for this line; it is acknowledged where there is one."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The agent is done."""

    answer: str | None = None
    """Its answer, JSON as text where it is no text; None for an abstention without words."""
    citations: str | None = None
    """Its citations as JSON; None without any."""
    abstained: bool = False
    """Whether it declined."""


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A line that means nothing."""

    reason: str
    """Why, in one clause."""


Line = ToolCall | AgentEvent | Answer | Unreadable


def written(type_: str, **fields: object) -> bytes:
    """Return one line for the agent."""
    return canonical_json({"type": type_, **fields}) + b"\n"


def read_line(line: bytes) -> Line:
    """Return what a line of an agent says."""
    try:
        value = parse_json(line, allow_decimals=True)
    except InvalidInputError as error:
        return Unreadable(reason="; ".join(str(problem) for problem in error.problems[:3]))
    if not isinstance(value, dict):
        return Unreadable(reason=f"not an object: {shorten(value)}")
    match value.get("type"):
        case "tool":
            return read_tool_call(value)
        case "event":
            return read_event(value)
        case "answer":
            return answer_of(value)
        case other:
            return Unreadable(reason=f"type {shorten(other)} is none of tool, event, answer")


def read_tool_call(value: Mapping[str, object]) -> ToolCall | Unreadable:
    """Return the call of a tool that a line asks for."""
    name, arguments, id_ = value.get("name"), value.get("arguments", {}), value.get("id", "")
    if not isinstance(name, str) or not isinstance(arguments, dict) or not isinstance(id_, str):
        return Unreadable(reason="a tool call has a name, an id and an object of arguments")
    return ToolCall(id=id_, name=name, arguments=arguments)


def read_event(value: Mapping[str, object]) -> AgentEvent | Unreadable:
    """Return the event that a line reports."""
    kind, data, id_ = value.get("kind"), value.get("data", {}), value.get("id")
    if kind not in AGENT_KINDS:
        return Unreadable(
            reason=f"kind {shorten(kind)} is none of {', '.join(sorted(AGENT_KINDS))}"
        )
    if not isinstance(data, dict) or not isinstance(id_, str | None):
        return Unreadable(reason="an event has an object of data, and an id that is a text")
    return AgentEvent(kind=str(kind), data=data, id=id_)


def answer_of(value: Mapping[str, object]) -> Answer | Unreadable:
    """Return the answer that an object gives: `answer`, `citations`, `abstained`."""
    answer, abstained = value.get("answer"), value.get("abstained", False)
    citations = value.get("citations")
    if not isinstance(abstained, bool):
        return Unreadable(reason=f"abstained is {shorten(abstained)}, not true or false")
    if answer is None and not abstained:
        return Unreadable(reason="no answer, and not abstained")
    return Answer(
        answer=answer if answer is None else as_text(answer),
        citations=None if citations is None else as_text(citations),
        abstained=abstained,
    )


def as_text(value: object) -> str:
    """Return a text as it is, anything else as JSON with sorted keys.

    Raises:
        TypeError: it is no JSON value.
        ValueError: it holds itself, or a number that is none.
    """
    if isinstance(value, str):
        return value
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
