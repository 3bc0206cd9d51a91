"""The `http` agent: a service that gets the question by POST and returns the answer.

Invariant: what crosses is the JSON that `trial.started` records; the exchange is a call of its own.

The body is `{"id", "question", "as_of", "context", "seed", "options", "tools"}`. The response is
`{"answer", "citations", "abstained", "events": [{"kind", "data"}, …]}`, the last three optional.
"""

from collections.abc import Mapping
from http import HTTPStatus

import httpx

from trial_ledger.errors import InvalidInputError, LedgerError
from trial_ledger.running.exchange import Broken, Reply, exchanged
from trial_ledger.running.line_protocol import AgentEvent, Unreadable, answer_of, read_line, written
from trial_ledger.running.search.base import Request
from trial_ledger.running.trial_log import Ending, Mishap, text
from trial_ledger.running.work import Agent, Result, Work, given_bytes
from trial_ledger.strict_json import parse_json

__all__ = ["http_agent"]

NAME = "agent"


def http_agent(url: str, client: httpx.AsyncClient) -> Agent:
    """Return the agent behind a URL."""

    async def agent(work: Work) -> Result:
        content = given_bytes(work.asked)
        request = Request(url=url, headers={"content-type": "application/json"}, content=content)
        call = await work.log.call("tool", endpoint=None, name=NAME, request=content)
        came = await exchanged(client, request, {}, None)
        failed = failure_of(came)
        if failed is not None:
            occurrence = await work.log.failure(failed, call=call)
            ending = Ending(
                status="failed",
                response=text(came.content or None),
                delivered=False,
                duration_us=came.duration_us,
                occurrence=occurrence,
            )
            await work.log.finished(call, ending)
            return Result(outcome="errored", reason=failed.class_, blamed=occurrence)
        assert isinstance(came, Reply), "what is not broken is whole"
        response = text(came.content, came.media)
        ending = Ending(
            status="ok", response=response, delivered=True, duration_us=came.duration_us
        )
        await work.log.finished(call, ending)
        return await understood(work, came.content)

    return agent


def failure_of(came: Reply | Broken) -> Mishap | None:
    """Return what went wrong with a service that is an agent; None where nothing did."""
    if isinstance(came, Broken):
        return Mishap(
            class_="other" if came.class_ == "response_lost" else came.class_,
            detail_class=came.detail_class,
            fault="agent",
            message=came.message,
            impact="trial_failed",
        )
    if came.status != HTTPStatus.OK:
        return Mishap(
            class_="agent_error",
            detail_class=f"http_{came.status}",
            fault="agent",
            message=f"the agent answered with HTTP {came.status}",
            impact="trial_failed",
        )
    return None


async def understood(work: Work, content: bytes) -> Result:
    """Return the result that a response says, and append what it reports."""
    try:
        value = parse_json(content, allow_decimals=True)
    except InvalidInputError as error:
        return no_answer(f"the response is no JSON: {error.problems[0]}", ())
    if not isinstance(value, Mapping):
        return no_answer("the response is no object", ())
    mishaps: list[Mishap] = []
    events = value.get("events", [])
    for event in events if isinstance(events, list) else [events]:
        line = read_line(written("event", **event) if isinstance(event, dict) else b"[]")
        reason = line.reason if isinstance(line, Unreadable) else None
        if isinstance(line, AgentEvent):
            refusal = await work.log.reported(line.kind, line.data)
            reason = refusal.message if isinstance(refusal, LedgerError) else None
        if reason is not None:
            mishaps.append(Mishap(class_="agent_error", fault="agent", message=reason))
    answer = answer_of(value)
    if isinstance(answer, Unreadable):
        return no_answer(answer.reason, tuple(mishaps))
    return Result(
        outcome="abstained" if answer.abstained else "answered",
        answer=answer,
        mishaps=tuple(mishaps),
    )


def no_answer(message: str, before: tuple[Mishap, ...]) -> Result:
    """Return the result of a service that answered without an answer."""
    mishap = Mishap(
        class_="agent_error",
        detail_class="no_answer",
        fault="agent",
        message=message,
        impact="trial_failed",
    )
    return Result(outcome="errored", reason="no_answer", mishaps=(*before, mishap))
