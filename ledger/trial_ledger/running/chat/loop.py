"""The built-in `chat` agent: a model that may use the manifest's tools until it answers.

Invariant: every model call and every use of a tool counts against the manifest's limits before it
is made; why the loop ended is the service's own word or the limit that was reached.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus

from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.manifest_structs import Endpoint, Limits, Manifest, Model
from trial_ledger.errors import InvalidInputError
from trial_ledger.running.calls import Errand, Success, Understanding
from trial_ledger.running.chat.anthropic import ANTHROPIC
from trial_ledger.running.chat.dialect import (
    Dialect,
    Message,
    ToolResult,
    Turn,
    body_of,
    question_text,
    read_exact,
    system_prompt,
)
from trial_ledger.running.chat.openai import OPENAI
from trial_ledger.running.exchange import Reply
from trial_ledger.running.line_protocol import Answer
from trial_ledger.running.search.base import Rejection, Request, read_json
from trial_ledger.running.search.failures import rejection
from trial_ledger.running.work import Agent, Result, Work

__all__ = ["DIALECTS", "chat_agent"]

DIALECTS = {"openai": OPENAI, "anthropic": ANTHROPIC}
"""Dialects by the option `provider` of the model's endpoint; the first where it is not given."""


def chat_agent(manifest: Manifest) -> Agent:
    """Return the chat agent of a manifest.

    Raises:
        InvalidInputError: its model's endpoint speaks no known dialect.
    """
    assert manifest.agent is not None, "a manifest that is executed names its agent"
    model = manifest.models[manifest.agent.target]
    assert model.endpoint is not None, "only a reconstructed manifest leaves it open"
    name = str(manifest.endpoints[model.endpoint].options.get("provider", "openai"))
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise InvalidInputError.single(
            "is no dialect of a model service",
            what="agent",
            field=f"endpoints.{model.endpoint}.options.provider",
            found=name,
            expected=" or ".join(DIALECTS),
        )

    async def agent(work: Work) -> Result:
        return await Chat(work, model, dialect).held()

    return agent


class Chat:
    """One conversation with a model."""

    def __init__(self, work: Work, model: Model, dialect: Dialect) -> None:
        self.work = work
        self.model = model
        self.dialect = dialect
        self.limits = work.manifest.limits or Limits()
        self.messages: list[Message] = [{"role": "user", "content": question_text(work.asked)}]
        self.calls = 0
        self.tokens = 0

    async def held(self) -> Result:
        """Ask until the model answers, declines or may not go on."""
        while True:
            reached = self.limit_reached()
            if reached is not None:
                return Result(outcome="limit", reason=reached)
            self.calls += 1
            result = await self.work.caller.run(self.errand())
            if isinstance(result, Rejection):
                blamed = self.work.caller.last_failure
                return Result(outcome="errored", reason=result.class_, blamed=blamed)
            turn = result.value
            assert isinstance(turn, Turn), "a model takes turns"
            self.messages.append(turn.message)
            if turn.usage is not None:
                self.tokens += turn.usage.output_tokens or 0
            ended = await self.goes_on(turn)
            if ended is not None:
                return ended

    def limit_reached(self) -> str | None:
        """Return which limit forbids a further call of the model."""
        limits = self.limits
        if limits.model_calls is not None and self.calls >= limits.model_calls:
            return "model_calls"
        if limits.output_tokens is not None and self.tokens >= limits.output_tokens:
            return "output_tokens"
        return None

    async def goes_on(self, turn: Turn) -> Result | None:
        """Do what a turn asks for; return how the conversation ended, None where it goes on."""
        match turn.stop:
            case "answer":
                return self.answered(turn)
            case "refused" | "filtered" | "limit":
                return Result(outcome=turn.stop, reason=turn.reason or turn.stop)
            case "more":
                return None
        results: list[ToolResult] = []
        for asked in turn.asked:
            if self.work.tools.are_used_up:
                return Result(outcome="limit", reason="tool_calls")
            outcome = await self.work.tools.use(asked.name, asked.arguments or {})
            content = canonical_json(outcome.content).decode("utf-8")
            results.append(ToolResult(id=asked.id, content=content, is_error=outcome.is_error))
        self.messages += self.dialect.results(results)
        return None

    def answered(self, turn: Turn) -> Result:
        """Return the answer of a turn; the manifest may say which words are an abstention."""
        assert self.work.manifest.agent is not None, "it is executed"
        declined = self.work.manifest.agent.options.get("abstention")
        text = turn.text or ""
        abstained = not text.strip() or (
            isinstance(declined, str) and text.strip().startswith(declined)
        )
        answer = Answer(answer=text or None, abstained=abstained)
        return Result(
            outcome="abstained" if abstained else "answered", answer=answer, reason=turn.reason
        )

    def errand(self) -> Errand:
        """Return the next call of the model."""
        assert self.model.endpoint is not None, "checked before the run began"
        messages: Sequence[Message] = tuple(self.messages)
        return Errand(
            purpose="model",
            endpoint=self.model.endpoint,
            name=self.model.name,
            request=lambda endpoint: self.request(endpoint, messages),
            understand=lambda _endpoint: self.understanding(),
        )

    def request(self, endpoint: Endpoint, messages: Sequence[Message]) -> Request:
        """Return the request that asks the model."""
        manifest = self.work.manifest
        fields = self.dialect.request(self.model, system_prompt(manifest), messages, manifest.tools)
        return Request(
            url=f"{(endpoint.url or '').rstrip('/')}{self.dialect.path}",
            headers={
                "content-type": "application/json",
                **self.dialect.headers,
                **endpoint.headers,
            },
            content=body_of(fields, self.model.sampling),
        )

    def understanding(self) -> Understanding:
        """Return what the model's responses mean."""

        def mean(reply: Reply) -> Success | Rejection:
            body = read_json(reply.content)
            if reply.status != HTTPStatus.OK:
                return rejection(
                    reply.status,
                    reply.headers,
                    body,
                    provider="model_provider",
                    now=datetime.now(UTC),
                )
            if body is None:
                return Rejection(
                    class_="decode_error",
                    fault="model_provider",
                    message="the body is not JSON",
                )
            turn = self.dialect.read(body, read_exact(reply.content))
            if turn is None:
                return Rejection(
                    class_="schema_mismatch",
                    fault="model_provider",
                    message="the response holds no turn of a model",
                )
            return Success(
                value=turn, usage=turn.usage, model=turn.model, fingerprint=turn.fingerprint
            )

        return mean
