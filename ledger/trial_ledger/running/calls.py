"""Calls of a trial to the manifest's endpoints: recorded, paced, retried, paid for.

Invariant: one pair of events an attempt; a call goes to the endpoint that was asked for, or, where
the manifest's `fallback` lists another, to that one with an occurrence that says so (C24).
"""

import time
from collections.abc import Callable, Mapping
from typing import Literal

import httpx
import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.manifest_structs import Endpoint, Limits, Manifest, Retry
from trial_ledger.events import Purpose
from trial_ledger.full_text import FullText
from trial_ledger.kinds.base import Fault
from trial_ledger.running.budget import Account
from trial_ledger.running.exchange import Broken, Reply, exchanged, microseconds_since
from trial_ledger.running.gates import Gate, sleep_us
from trial_ledger.running.pricing import computed_cost
from trial_ledger.running.retrying import is_retried, wait_us
from trial_ledger.running.search.base import Rejection, Request
from trial_ledger.running.search.failures import fault_of
from trial_ledger.running.search.local import found_in
from trial_ledger.running.trial_log import Ending, LogOfTrial, Mishap, text
from trial_ledger.served_models import is_other_model

__all__ = ["Caller", "Errand", "Success", "key_headers"]


class Success(msgspec.Struct, frozen=True, kw_only=True):
    """What a successful response says."""

    value: object
    """What was asked for."""
    status: Literal["ok", "empty", "partial"] = "ok"
    """How the call ended."""
    usage: Usage | None = None
    """What it consumed, where it says so."""
    cost: Cost | None = None
    """What it cost, where it says so."""
    model: str | None = None
    """Model that it names."""
    fingerprint: str | None = None
    """Build fingerprint that it names."""
    mishaps: tuple[Mishap, ...] = ()
    """What it admits beside that (C24)."""


Understanding = Callable[[Reply], Success | Rejection]


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is asked of a service."""

    purpose: Purpose
    """Whose account it belongs to."""
    endpoint: str
    """Name of the endpoint."""
    name: str | None
    """Model or tool."""
    request: Callable[[Endpoint], Request]
    """What is sent to an endpoint."""
    understand: Callable[[Endpoint], Understanding]
    """What its responses mean."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """How one attempt ended."""

    endpoint: str
    """Which endpoint was asked."""
    call: str
    """Id of its call; empty where none was made."""
    result: Success | Rejection
    """What came of it."""
    occurrence: str | None
    """Its failure; None where it succeeded."""


def key_headers(endpoint: Endpoint, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the header that carries an endpoint's key; none where it has no key."""
    value = environ.get(endpoint.key_env or "")
    if not value:
        return {}
    is_bearer = endpoint.key_header.lower() == "authorization"
    return {endpoint.key_header: f"Bearer {value}" if is_bearer else value}


class Caller:
    """Makes the calls of one trial.

    Args:
        log: of the trial.
        manifest: of the run.
        client: sends requests.
        gates: the way to each endpoint.
        account: what may be spent.
        environ: where keys are.
        documents: what is searched on this machine, by endpoint.
    """

    def __init__(
        self,
        log: LogOfTrial,
        manifest: Manifest,
        *,
        client: httpx.AsyncClient,
        gates: Mapping[str, Gate],
        account: Account,
        environ: Mapping[str, str],
        documents: Mapping[str, FullText],
    ) -> None:
        self.log = log
        self.manifest = manifest
        self.client = client
        self.gates = gates
        self.account = account
        self.environ = environ
        self.documents = documents
        self.retry = manifest.retry or Retry()
        self.limits = manifest.limits or Limits()
        self.last_failure: str | None = None

    async def run(self, errand: Errand) -> Success | Rejection:
        """Make a call, its retries and its declared fallbacks; return what came of it."""
        open_ones: list[str] = []
        made = await self.tried(errand, errand.endpoint, None, open_ones)
        for other in self.manifest.endpoints[errand.endpoint].fallback:
            if isinstance(made.result, Success) or made.result.class_ == "limit":
                break
            said = Mishap(
                class_="endpoint_fallback",
                fault=None,
                message=f"{other} is asked instead of {errand.endpoint}: {made.result.message}",
                endpoint=other,
                impact="degraded",
            )
            occurrence = await self.log.failure(said)
            made = await self.tried(errand, other, occurrence, open_ones)
        if isinstance(made.result, Success):
            is_other = made.endpoint != errand.endpoint
            for occurrence in open_ones:
                by: Literal["retry", "fallback"] = "fallback" if is_other else "retry"
                await self.log.recovered(occurrence, by, made.call)
        else:
            self.last_failure = made.occurrence
        return made.result

    async def tried(
        self, errand: Errand, name: str, occurrence: str | None, open_ones: list[str]
    ) -> Attempt:
        """Ask one endpoint as often as the policy allows; return how the last attempt ended.

        Args:
            errand: what is asked.
            name: which endpoint.
            occurrence: the `endpoint_fallback` behind it; None for the one that was asked for.
            open_ones: gets the occurrences of the attempts that failed.
        """
        previous: str | None = None
        number = 0
        while True:
            number += 1
            if not self.account.begin():
                return await self.over_budget(name)
            made = await self.attempt(errand, name, number, previous, occurrence)
            if isinstance(made.result, Success):
                return made
            assert made.occurrence is not None, "a failed attempt has a failure"
            open_ones.append(made.occurrence)
            if not is_retried(self.retry, made.result.class_, number):
                return made
            previous = made.call
            chance = f"{self.manifest.seed}/{self.log.key}/{made.call}"
            await sleep_us(wait_us(self.retry, number, made.result.wait_ms, chance))

    async def over_budget(self, endpoint: str) -> Attempt:
        """Record that the budget allows no further call."""
        message = f"the budget of the run is used up: {self.account}"
        said = Mishap(
            class_="limit",
            detail_class="budget",
            fault="environment",
            message=message,
            endpoint=endpoint,
        )
        occurrence = await self.log.failure(said)
        refused = Rejection(
            class_="limit", detail_class="budget", fault="environment", message=message
        )
        return Attempt(endpoint=endpoint, call="", result=refused, occurrence=occurrence)

    async def attempt(
        self, errand: Errand, name: str, number: int, previous: str | None, occurrence: str | None
    ) -> Attempt:
        """Make one attempt: say so, send it, say what came of it."""
        endpoint = self.manifest.endpoints[name]
        request = errand.request(endpoint)
        call: str | None = None
        cost: Cost | None = None
        try:
            async with self.gates[name].passed():
                call = await self.log.call(
                    errand.purpose,
                    endpoint=name,
                    name=errand.name,
                    request=shown(request),
                    attempt=number,
                    retry_of=previous,
                    occurrence=occurrence,
                )
                secret = key_headers(endpoint, self.environ)
                came = await self.sent(name, request, secret)
            result = self.meaning(errand, endpoint, came)
            cost = self.cost_of(result, name, errand.name)
            made = await self.concluded(errand, name, call, number, came, result, cost)
        finally:
            if call is None:
                self.account.forgo()
            else:
                self.account.end(cost)
        failed = result.class_ if isinstance(result, Rejection) else None
        await self.gates[name].ended(failed)
        return made

    async def sent(self, name: str, request: Request, secret: dict[str, str]) -> Reply | Broken:
        """Send a request: over the network, or to the documents on this machine."""
        index = self.documents.get(name)
        if index is None:
            return await exchanged(self.client, request, secret, self.limits.timeout_ms)
        began = time.monotonic_ns()
        content = found_in(index, request)
        headers = {"content-type": "application/json"}
        took = microseconds_since(began)
        return Reply(status=200, headers=headers, content=content, duration_us=took)

    def meaning(
        self, errand: Errand, endpoint: Endpoint, came: Reply | Broken
    ) -> Success | Rejection:
        """Return what came, understood."""
        if isinstance(came, Reply):
            return errand.understand(endpoint)(came)
        provider: Fault = "model_provider" if errand.purpose == "model" else "search_provider"
        is_ours = came.class_ == "response_lost"
        return Rejection(
            class_=came.class_,
            fault="harness" if is_ours else fault_of(came.class_, provider),
            detail_class=came.detail_class,
            message=came.message,
        )

    def cost_of(self, result: Success | Rejection, endpoint: str, name: str | None) -> Cost | None:
        """Return what a call cost: as reported, else by the price table; None is unknown."""
        if isinstance(result, Rejection):
            return None
        return result.cost or computed_cost(
            self.manifest, endpoint=endpoint, name=name, usage=result.usage
        )

    async def concluded(
        self,
        errand: Errand,
        name: str,
        call: str,
        number: int,
        came: Reply | Broken,
        result: Success | Rejection,
        cost: Cost | None,
    ) -> Attempt:
        """Record how an attempt ended."""
        if isinstance(result, Success):
            for mishap in self.admitted(errand, result):
                said = msgspec.structs.replace(mishap, endpoint=name)
                await self.log.failure(said, call=call, attempt=number)
            assert isinstance(came, Reply), "only a whole response is a success"
            served = {"endpoint": name, "model": result.model, "fingerprint": result.fingerprint}
            ending = Ending(
                status=result.status,
                response=text(came.content, came.media),
                delivered=True,
                duration_us=came.duration_us,
                usage=result.usage,
                cost=cost,
                served={field: value for field, value in served.items() if value is not None},
            )
            await self.log.finished(call, ending)
            return Attempt(endpoint=name, call=call, result=result, occurrence=None)
        mishap = Mishap(
            class_=result.class_,
            fault=result.fault,
            message=result.message,
            detail_class=result.detail_class,
            endpoint=name,
        )
        occurrence = await self.log.failure(mishap, call=call, attempt=number)
        if isinstance(came, Broken) and came.class_ == "response_lost":
            await self.log.lost(call, occurrence, len(came.content), came.expected)
        else:
            ending = Ending(
                status="failed",
                response=text(came.content or None),
                delivered=False,
                duration_us=came.duration_us,
                occurrence=occurrence,
            )
            await self.log.finished(call, ending)
        return Attempt(endpoint=name, call=call, result=result, occurrence=occurrence)

    def admitted(self, errand: Errand, result: Success) -> tuple[Mishap, ...]:
        """Return what a success admits, another model than the one asked for among it (C24)."""
        if errand.purpose != "model" or result.model is None or errand.name is None:
            return result.mishaps
        if not is_other_model(errand.name, result.model):
            return result.mishaps
        other = Mishap(
            class_="model_fallback",
            fault="model_provider",
            message=f"{result.model} answered where {errand.name} was asked",
            impact="degraded",
        )
        return (*result.mishaps, other)


def shown(request: Request) -> bytes:
    """Return a request as it is recorded: its body as text, and no key, since it holds none."""
    return canonical_json(
        {
            "method": request.method,
            "url": request.url,
            "headers": request.headers,
            "body": request.content.decode("utf-8", "replace"),
        }
    )
