"""What model services have in common: a turn of the model, the tools it asks for, why it stopped.

Invariant: token counts are kept apart as the ledger keeps them: input without what came from a
cache, whatever the service counts together; a missing count is None.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from trial_ledger.amounts import Usage
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.manifest_structs import Manifest, Model, Tool
from trial_ledger.running.search.base import member, read_json

__all__ = [
    "Asked",
    "Dialect",
    "Message",
    "Stop",
    "ToolResult",
    "Turn",
    "arguments_of",
    "body_of",
    "question_text",
    "read_exact",
    "schema_of",
    "system_prompt",
    "text_under",
]

Message = dict[str, object]
Stop = Literal["answer", "tool", "refused", "filtered", "limit", "more"]
"""`more`: the service paused in the middle of its turn and wants to be asked to go on."""

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
NUMERIC = frozenset(
    {
        "temperature",
        "top_p",
        "min_p",
        "frequency_penalty",
        "presence_penalty",
        "repetition_penalty",
    }
)
"""Sampling settings that a manifest writes as decimal text and a service takes as a number."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model asks for."""

    id: str
    """The service's id of this request."""
    name: str
    """Which tool."""
    arguments: Mapping[str, object] | None
    """What to give it; None where the model wrote no object."""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool gave back."""

    id: str
    """Id of the request."""
    content: str
    """What the model is shown."""
    is_error: bool = False
    """Whether the tool failed."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One response of a model."""

    text: str | None
    """What it says; None where it only asks for tools."""
    asked: tuple[Asked, ...] = ()
    """Tools that it asks for."""
    stop: Stop
    """Why it stopped."""
    reason: str | None = None
    """The service's own word for that."""
    message: Message
    """The turn as the next request repeats it."""
    usage: Usage | None = None
    """What it consumed."""
    model: str | None = None
    """Model that the service names."""
    fingerprint: str | None = None
    """The service's build fingerprint."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How one family of services is spoken to."""

    path: str
    """Appended to the endpoint's URL."""
    headers: Mapping[str, str] = {}
    """Headers that it wants beside the key."""
    request: Callable[[Model, str | None, Sequence[Message], Sequence[Tool]], dict[str, object]]
    """Model, system prompt, messages and tools → fields of the request."""
    read: Callable[[object, object], Turn | None]
    """Body as `read_json` and as `read_exact` returned it → turn; None where it is no turn."""
    results: Callable[[Sequence[ToolResult]], list[Message]]
    """Results of tools → messages."""


def read_exact(content: bytes) -> object:
    """Return the value of a JSON body to be sent back: every number as it was written."""

    def raw(literal: str) -> msgspec.Raw:
        return msgspec.Raw(literal.encode())

    value: object = json.loads(content, parse_float=raw, parse_int=raw)
    return value


def number_or_text(name: str, value: object) -> object:
    """Return a sampling setting as a service takes it: decimal text becomes that very number."""
    if name in NUMERIC and isinstance(value, str) and NUMBER.fullmatch(value):
        return msgspec.Raw(value.encode())
    return value


def body_of(fields: Mapping[str, object], sampling: Mapping[str, object]) -> bytes:
    """Return the JSON of a request, with the sampling settings of the manifest."""
    settings = {name: number_or_text(name, value) for name, value in sampling.items()}
    return msgspec.json.encode({**fields, **settings})


def arguments_of(value: object) -> Mapping[str, object] | None:
    """Return the arguments that a model wrote, as an object or as the text of one."""
    if isinstance(value, str):
        value = read_json(value.encode("utf-8", "replace"))
    return value if isinstance(value, dict) else None


def schema_of(tool: Tool) -> Mapping[str, object]:
    """Return the JSON schema of a tool's arguments; a tool without one takes an object."""
    return tool.schema or {"type": "object", "properties": {}}


def system_prompt(manifest: Manifest) -> str | None:
    """Return the prompt that the agent's option `prompt` names, else the only one."""
    assert manifest.agent is not None, "a manifest that is executed names its agent"
    name = manifest.agent.options.get("prompt")
    if name is None and len(manifest.prompts) == 1:
        name = next(iter(manifest.prompts))
    found = manifest.prompts.get(str(name))
    return None if found is None else found.text


def question_text(asked: Mapping[str, object]) -> str:
    """Return the first message of a trial: the question, and what belongs to it as JSON."""
    further = {name: asked[name] for name in ("as_of", "context") if asked.get(name) is not None}
    question = str(asked.get("question") or "")
    return f"{question}\n\n{canonical_json(further).decode()}" if further else question


def text_under(value: object, *path: str) -> str | None:
    """Return the text below a value; None for anything else."""
    found = member(value, *path)
    return found if isinstance(found, str) and found else None
