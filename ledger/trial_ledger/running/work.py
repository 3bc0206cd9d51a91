"""What an agent is given, what it may do, and what it leaves: the seam between runner and agents.

Invariant: an agent sees of a question what `agent_view` shows, and of the manifest its own options
and tools; no file name of the ledger's is among them (C2).
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

import msgspec

from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.dataset_structs import AGENT_FIELDS, Question, agent_view
from trial_ledger.documents.manifest_structs import Endpoint, Limits, Manifest, Tool
from trial_ledger.errors import LedgerError
from trial_ledger.kinds.base import Outcome
from trial_ledger.running.calls import Caller, Errand, Success, Understanding
from trial_ledger.running.exchange import Reply
from trial_ledger.running.line_protocol import Answer
from trial_ledger.running.search.base import (
    Found,
    Query,
    Rejection,
    count_of,
    read_json,
)
from trial_ledger.running.search.failures import rejection
from trial_ledger.running.search.local import is_local
from trial_ledger.running.search.providers import (
    PROVIDERS,
    Provider,
    build,
    provider_of,
    understand,
)
from trial_ledger.running.trial_log import LogOfTrial, Mishap

__all__ = [
    "Agent",
    "Result",
    "ToolOutcome",
    "Tools",
    "Work",
    "asked_of",
    "delivered_fields",
    "errored",
    "fault_of_ledger",
]

QUERY_NAMES = ("query", "q", "text")
"""Arguments of a search tool that hold what is looked for, the first that is there."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent leaves."""

    outcome: Outcome
    """How the trial ends."""
    answer: Answer | None = None
    """Its answer or abstention; None where it gave none."""
    reason: str | None = None
    """Short reason."""
    detail: bytes | None = None
    """More of it, as what it wrote to standard error."""
    mishaps: tuple[Mishap, ...] = ()
    """What went wrong in it, to be recorded."""
    blamed: str | None = None
    """A recorded failure that cost the trial."""


class ToolOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool gave back."""

    content: Mapping[str, object]
    """`{"hits": […]}`, or `{"error": {"class", "message"}}`."""
    is_error: bool = False
    """Whether it failed."""


def errored(message: str, *, word: str | None = None, detail: bytes | None = None) -> Result:
    """Return the result of an agent that failed by itself."""
    mishap = Mishap(
        class_="agent_error",
        fault="agent",
        message=message,
        detail_class=word,
        detail=detail,
        impact="trial_failed",
    )
    return Result(outcome="errored", reason=word or "agent_error", mishaps=(mishap,))


def fault_of_ledger(error: BaseException) -> LedgerError | None:
    """Return the ledger's own fault in what an agent raised, also inside a group."""
    if isinstance(error, LedgerError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := fault_of_ledger(one))), None)
    return None


def failed_tool(class_: str, message: str) -> ToolOutcome:
    """Return the outcome of a tool that failed."""
    return ToolOutcome(content={"error": {"class": class_, "message": message}}, is_error=True)


class Tools:
    """The manifest's tools, in the hands of one trial."""

    def __init__(self, manifest: Manifest, caller: Caller, log: LogOfTrial) -> None:
        self.by_name = {tool.name: tool for tool in manifest.tools}
        self.endpoints = manifest.endpoints
        self.most = (manifest.limits or Limits()).tool_calls
        self.caller = caller
        self.log = log
        self.used = 0

    @property
    def are_used_up(self) -> bool:
        """Whether the manifest allows no further call of a tool."""
        return self.most is not None and self.used >= self.most

    async def use(self, name: str, arguments: Mapping[str, object]) -> ToolOutcome:
        """Use a tool: a search at the endpoint that the manifest gives it.

        A tool that is not there, a wrong argument and one call too many are failures of the agent,
        recorded and returned; nothing is raised for them.
        """
        tool = self.by_name.get(name)
        query = next(
            (text for key in QUERY_NAMES if isinstance(text := arguments.get(key), str)), None
        )
        if tool is None or tool.endpoint is None:
            return await self.refused("tool_error", f"the manifest has no tool {name[:60]!r}")
        if query is None:
            return await self.refused("tool_error", f"{name} was given no query")
        if self.are_used_up:
            return await self.refused("limit", f"more than {self.most} calls of tools")
        self.used += 1
        result = await self.caller.run(search_errand(tool, query, arguments.get("limit")))
        if isinstance(result, Rejection):
            return failed_tool(result.class_, result.message)
        found = result.value
        assert isinstance(found, Found), "a search finds"
        return ToolOutcome(content={"hits": msgspec.to_builtins(found.hits)})

    async def refused(self, class_: str, message: str) -> ToolOutcome:
        """Record that an agent asked for what there is not."""
        mishap = Mishap(
            class_="limit" if class_ == "limit" else "tool_error",
            fault="agent",
            message=message,
            impact="none",
        )
        await self.log.failure(mishap)
        return failed_tool(class_, message)


def search_errand(tool: Tool, query: str, limit: object) -> Errand:
    """Return a search as an errand."""
    assert tool.endpoint is not None, "checked before"
    most = count_of(str(limit)) if limit is not None else None
    asked = Query(text=query, limit=most)
    return Errand(
        purpose="search",
        endpoint=tool.endpoint,
        name=tool.name,
        request=lambda endpoint: build(provider_at(endpoint), endpoint, asked),
        understand=understanding,
    )


def provider_at(endpoint: Endpoint) -> Provider:
    """Return the provider of an endpoint; documents on this machine are asked as `plain`."""
    found = PROVIDERS["plain"] if is_local(endpoint.url) else provider_of(endpoint)
    assert found is not None, "checked before the run began"
    return found


def understanding(endpoint: Endpoint) -> Understanding:
    """Return what the responses of a search endpoint mean."""
    provider = provider_at(endpoint)

    def mean(reply: Reply) -> Success | Rejection:
        body = read_json(reply.content)
        result = understand(
            provider,
            reply.status,
            body,
            lambda: rejection(
                reply.status, reply.headers, body, provider="search_provider", now=datetime.now(UTC)
            ),
        )
        if isinstance(result, Rejection):
            return result
        return Success(
            value=result,
            status=result.status,
            usage=result.usage,
            cost=result.cost,
            mishaps=tuple(
                Mishap(
                    class_=trouble.class_,
                    fault="search_provider",
                    message=trouble.message,
                    detail_class=trouble.detail_class,
                    impact="degraded",
                )
                for trouble in result.troubles
            ),
        )

    return mean


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One trial, as its agent gets it."""

    asked: Mapping[str, object]
    """What the agent is given."""
    manifest: Manifest
    """The frozen manifest."""
    tools: Tools
    """The manifest's tools."""
    caller: Caller
    """Makes calls to models."""
    log: LogOfTrial
    """Of the trial."""
    environ: Mapping[str, str]
    """Environment variables, of which an agent gets those that the manifest names."""


Agent = Callable[[Work], Awaitable[Result]]
"""Answers one question."""


def asked_of(question: Question, manifest: Manifest, seed: int | None) -> dict[str, object]:
    """Return everything that the agent of a trial is given."""
    assert manifest.agent is not None, "a manifest that is executed names its agent"
    return {
        **agent_view(question),
        "seed": seed,
        "options": manifest.agent.options,
        "tools": [
            {"name": tool.name, "description": tool.description, "schema": tool.schema}
            for tool in manifest.tools
        ],
    }


def delivered_fields(question: Question) -> tuple[str, ...]:
    """Return which fields of a question cross over to its agent (C2)."""
    return tuple(name for name in AGENT_FIELDS if getattr(question, name) is not None)


def given_bytes(asked: Mapping[str, object]) -> bytes:
    """Return what an agent is given, as it is recorded and sent."""
    return canonical_json(asked)
