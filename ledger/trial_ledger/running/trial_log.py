"""What a runner tells the ledger of one trial.

Invariant: every method returns once its event is durable, so that what it announces may happen
then; a failure is in the ledger, on standard error and marked as surfaced before anything follows
from it (C23, C25).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.async_book import AsyncLedger
from trial_ledger.batch import Entry
from trial_ledger.building import Acknowledgement
from trial_ledger.canonical import decode_event
from trial_ledger.errors import LedgerError
from trial_ledger.events import (
    Actor,
    AnyData,
    CallFinished,
    CallStarted,
    FailureClass,
    FailureOccurred,
    Purpose,
    ResponseLost,
)
from trial_ledger.identifiers import TrialKey
from trial_ledger.kinds.base import Fault, Impact, Outcome
from trial_ledger.submission import NewText, Submission

__all__ = ["HARNESS", "Ending", "LogOfTrial", "Mishap", "Surface", "still_open", "text"]

HARNESS = Actor(role="harness", name="ledger run")
AGENT = Actor(role="agent")
JSON = "application/json"
PREFIX = "agent/"
NAMED = frozenset({"call", "occurrence", "retry_of"})

Surface = Callable[[str], Literal["terminal", "emitted"]]
"""Shows one line to whoever watches; returns whether a terminal was there."""


class Mishap(msgspec.Struct, frozen=True, kw_only=True):
    """Something that went wrong, before it is recorded."""

    class_: FailureClass
    """What kind."""
    fault: Fault | None
    """Whose; None where unknown."""
    message: str
    """What was reported."""
    detail_class: str | None = None
    """The source's own word for it."""
    detail: bytes | None = None
    """More of it, as a traceback or standard error."""
    impact: Impact = "unknown"
    """What it did to the trial, as far as known."""
    endpoint: str | None = None
    """Of which endpoint."""


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended."""

    status: Literal["ok", "empty", "partial", "failed"]
    """How, in one word."""
    response: NewText | None = None
    """What came back."""
    delivered: bool | None
    """Whether it reaches the agent."""
    duration_us: int | None = None
    """Microseconds that it took."""
    usage: Usage | None = None
    """What was consumed."""
    cost: Cost | None = None
    """What it cost; None is unknown."""
    served: Mapping[str, object] | None = None
    """What really answered."""
    occurrence: str | None = None
    """The failure behind a failed call."""

    def fields(self) -> dict[str, object]:
        """Return the fields of the event."""
        return {
            "status": self.status,
            "response": self.response,
            "delivered": self.delivered,
            "duration_us": self.duration_us,
            "usage": None if self.usage is None else msgspec.to_builtins(self.usage),
            "cost": None if self.cost is None else msgspec.to_builtins(self.cost),
            "served": self.served,
            "occurrence": self.occurrence,
        }


def text(content: bytes | str | None, media: str = "text/plain") -> NewText | None:
    """Return bytes as the text of an event; None for none."""
    if content is None:
        return None
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return NewText(content=raw, media=media)


class LogOfTrial:
    """The log of one session in one slot.

    Args:
        book: the ledger.
        run: name of the run.
        key: the trial's key.
        surface: shows failures.
        watch: told the class of every failure.
    """

    def __init__(
        self,
        book: AsyncLedger,
        run: str,
        key: TrialKey,
        surface: Surface,
        watch: Callable[[FailureClass], None],
    ) -> None:
        self.book = book
        self.run = run
        self.key = key
        self.surface = surface
        self.watch = watch
        self.calls = 0
        self.failures = 0

    async def tell(self, kind: str, data: Mapping[str, object], actor: Actor = HARNESS) -> None:
        """Append one event of this trial."""
        given = {name: value for name, value in data.items() if value is not None}
        await self.book.append(
            Submission(kind=kind, run=self.run, trial=self.key, data=given, actor=actor)
        )

    async def start(self, given: bytes, fields: tuple[str, ...], seed: int | None) -> None:
        """Say that the trial begins, with exactly what its agent is given.

        Raises:
            RuleError: what it is given shows gold (C3); it was not given it.
        """
        data = {"input": text(given, JSON), "fields": list(fields), "seed": seed}
        await self.tell("trial.started", data)

    async def call(
        self,
        purpose: Purpose,
        *,
        endpoint: str | None,
        name: str | None,
        request: bytes,
        attempt: int = 1,
        retry_of: str | None = None,
        occurrence: str | None = None,
    ) -> str:
        """Say that a request is about to leave; return the id of the call."""
        self.calls += 1
        call = f"c{self.calls}"
        await self.tell(
            "call.started",
            {
                "call": call,
                "purpose": purpose,
                "endpoint": endpoint,
                "name": name,
                "attempt": attempt,
                "retry_of": retry_of,
                "occurrence": occurrence,
                "request": text(request, JSON),
            },
        )
        return call

    async def finished(self, call: str, ending: Ending) -> None:
        """Say how a call ended."""
        await self.tell("call.finished", {"call": call, **ending.fields()})

    async def lost(
        self, call: str, occurrence: str, received: int | None, expected: int | None
    ) -> None:
        """Say that the response of a call was lost (C21)."""
        sizes = {"bytes_received": received, "bytes_expected": expected}
        await self.tell("response.lost", {"call": call, "occurrence": occurrence, **sizes})

    async def failure(
        self, mishap: Mishap, *, call: str | None = None, attempt: int | None = None
    ) -> str:
        """Record a failure and show it; return its occurrence."""
        self.failures += 1
        occurrence = f"f{self.failures}"
        await self.tell(
            "failure.occurred",
            {
                "occurrence": occurrence,
                "class": mishap.class_,
                "detail_class": mishap.detail_class or other_word(mishap),
                "fault": mishap.fault,
                "call": call,
                "attempt": attempt,
                "endpoint": mishap.endpoint,
                "message": text(mishap.message),
                "detail": text(mishap.detail),
                "impact": mishap.impact,
            },
        )
        await self.show(occurrence, mishap.class_, mishap.message)
        return occurrence

    async def show(self, occurrence: str, class_: FailureClass, message: str) -> None:
        """Show a recorded failure, and record that it was shown (C25)."""
        self.watch(class_)
        line = f"{self.run} {self.key} {class_}: {message}"
        data = {"occurrence": occurrence, "channel": "stderr", "seen": self.surface(line)}
        await self.tell("failure.surfaced", data)

    async def recovered(self, occurrence: str, by: Literal["retry", "fallback"], call: str) -> None:
        """Say that a failure was made good."""
        data = {"occurrence": occurrence, "by": by, "call": call}
        await self.tell("failure.recovered", data)

    async def assessed(self, occurrence: str, impact: Impact) -> None:
        """Say what a failure did to the trial."""
        await self.tell("failure.assessed", {"occurrence": occurrence, "impact": impact})

    async def reported(
        self, kind: str, data: Mapping[str, object]
    ) -> Acknowledgement | LedgerError:
        """Append what an agent says of itself; return the acknowledgement, or the refusal.

        Its names for calls and occurrences get a prefix, so that they never meet our own.
        """
        own = {
            name: f"{PREFIX}{value}" if name in NAMED and isinstance(value, str) else value
            for name, value in data.items()
        }
        submission = Submission(kind=kind, run=self.run, trial=self.key, data=own, actor=AGENT)
        return (await self.book.append_group([Entry(submission=submission)]))[0]

    async def answer(self, answer: str | None, citations: str | None, *, abstained: bool) -> None:
        """Record the agent's answer."""
        said = {"answer": text(answer), "citations": text(citations, JSON), "abstained": abstained}
        await self.tell("answer.submitted", said, AGENT)

    async def finish(
        self,
        outcome: Outcome,
        *,
        reason: str | None = None,
        detail: bytes | None = None,
        duration_us: int | None,
    ) -> None:
        """End what is still open, show what the ledger itself found, and end the trial."""
        data = await self.recorded()
        for call in still_open(data):
            await self.abandoned(call)
        await self.show_leaks(data)
        await self.tell(
            "trial.finished",
            {
                "outcome": outcome,
                "reason": reason,
                "detail": text(detail),
                "duration_us": duration_us,
            },
        )

    async def abandoned(self, call: str) -> None:
        """End a call that nobody waits for any more."""
        mishap = Mishap(class_="cancelled", fault="harness", message="nobody waits for it any more")
        occurrence = await self.failure(mishap, call=call)
        ending = Ending(status="failed", delivered=False, occurrence=occurrence)
        await self.finished(call, ending)

    async def recorded(self) -> list[AnyData]:
        """Return what the ledger holds of this trial."""
        documents = await self.book.look(
            lambda ledger: list(ledger.store.scope(self.run, str(self.key)))
        )
        return [decode_event(document).data for document in documents]

    async def show_leaks(self, data: Iterable[AnyData]) -> None:
        """Show the leaks of gold that the ledger recorded by itself (C3)."""
        for one in data:
            if isinstance(one, FailureOccurred) and one.class_ == "gold_leak":
                message = f"the request of call {one.call} holds gold"
                await self.show(one.occurrence, one.class_, message)


def still_open(data: Iterable[AnyData]) -> list[str]:
    """Return the calls that were begun and not ended, sorted."""
    found: set[str] = set()
    for one in data:
        if isinstance(one, CallStarted):
            found.add(one.call)
        elif isinstance(one, CallFinished | ResponseLost):
            found.discard(one.call)
    return sorted(found)


def other_word(mishap: Mishap) -> str | None:
    """Return a word for a failure of class `other`, which needs one."""
    return "unnamed" if mishap.class_ == "other" else None
