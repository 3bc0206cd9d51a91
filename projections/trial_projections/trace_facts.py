"""What the events of one trial say of its calls, failures and end: the ground of `trace`.

Invariant: a fact is said by an event of the trial; what no event says is None, and a call or an
occurrence is told apart from one of the same id in another run.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from trial_ledger import events
from trial_ledger.amounts import Cost
from trial_ledger.view import Stored

__all__ = ["CallFacts", "Key", "OccurrenceFacts", "Surfacing", "TrialFacts", "facts_of"]

Key = tuple[str, str]
"""Run and id: a derived run may use an id of its parent's for another thing."""

Ending = Literal["ok", "empty", "partial", "failed", "lost", "open"]


class CallFacts(msgspec.Struct, kw_only=True):
    """One call."""

    key: Key
    """Run and id."""
    started: Stored
    """Its call.started."""
    data: events.CallStarted
    """What that says."""
    ended: Stored | None = None
    """Its last call.finished or response.lost; None while it is open."""
    first_news: Stored | None = None
    """The first event after its start that names it."""
    ending: Ending = "open"
    """How it ended; a response that was lost after the call finished is lost."""
    cost: Cost | None = None
    """What it cost; None where unknown."""

    @property
    def kind(self) -> tuple[str, str | None, str | None]:
        """Purpose, endpoint and name: calls that agree in these do the same work."""
        return self.data.purpose, self.data.endpoint, self.data.name


class Surfacing(msgspec.Struct, frozen=True, kw_only=True):
    """One time that an occurrence was shown while the run executed (C25)."""

    seq: int
    """Place of its failure.surfaced."""
    at: str | None
    """When."""
    channel: str
    """Where."""
    seen: str
    """`terminal` where one was there, else `emitted`."""


class OccurrenceFacts(msgspec.Struct, kw_only=True):
    """One failure occurrence."""

    key: Key
    """Run and id."""
    occurred: Stored
    """Its failure.occurred."""
    data: events.FailureOccurred
    """What that says."""
    impact: str
    """What it did to the trial, as last assessed."""
    recovered: Stored | None = None
    """Its failure.recovered."""
    recovery: events.FailureRecovered | None = None
    """What that says."""
    surfaced: list[Surfacing] = []
    """When it was shown, in order."""
    failed_metrics: list[str] = []
    """Metrics whose judgment failed by it."""


class TrialFacts(msgspec.Struct, kw_only=True):
    """Everything that `trace` asks of the events of one trial, or of a run as a whole."""

    stored: list[Stored] = []
    """The events in order; a derived run's follow those of its parent."""
    calls: dict[Key, CallFacts] = {}
    """Calls in the order of their start."""
    occurrences: dict[Key, OccurrenceFacts] = {}
    """Failure occurrences in order."""
    finished: Stored | None = None
    """Its trial.finished."""
    outcome: str | None = None
    """How it ended; None while it is open."""
    reason: str | None = None
    """Short reason of its end."""
    lost: list[int] = []
    """Places of the response.lost events."""
    inspected: tuple[str, int] | None = None
    """The latest verdict on its queries, and its place (C22)."""
    misses: list[int] = []
    """Places of the retrieval misses declared."""

    def take(self, stored: Stored) -> None:
        """Take one event into account."""
        event = stored.event
        run = event.run or ""
        self.stored.append(stored)
        match event.data:
            case events.CallStarted() as data:
                key = (run, data.call)
                self.calls[key] = CallFacts(key=key, started=stored, data=data)
            case events.CallFinished() | events.ResponseLost() as data:
                self.end_call(run, stored, data)
            case events.TrialFinished() as data:
                self.finished, self.outcome, self.reason = stored, data.outcome, data.reason
            case events.QueryInspected(verdict=verdict):
                self.inspected = (verdict, event.seq)
            case events.RetrievalMissDeclared():
                self.misses.append(event.seq)
            case _:
                self.take_failure(run, stored)

    def end_call(
        self, run: str, stored: Stored, data: events.CallFinished | events.ResponseLost
    ) -> None:
        """Take the end of a call into account, or that its response was lost after it."""
        call = self.calls[run, data.call]
        call.ended = stored
        call.first_news = call.first_news or stored
        if isinstance(data, events.ResponseLost):
            call.ending = "lost"
            self.lost.append(stored.event.seq)
        else:
            call.ending, call.cost = data.status, data.cost

    def take_failure(self, run: str, stored: Stored) -> None:
        """Take an event of a failure into account."""
        match stored.event.data:
            case events.FailureOccurred() as data:
                key = (run, data.occurrence)
                self.occurrences[key] = OccurrenceFacts(
                    key=key, occurred=stored, data=data, impact=data.impact
                )
                call = self.calls.get((run, data.call or ""))
                if call is not None:
                    call.first_news = call.first_news or stored
            case events.FailureRecovered() as data:
                found = self.occurrences[run, data.occurrence]
                found.recovered, found.recovery = stored, data
            case events.FailureAssessed() as data:
                self.occurrences[run, data.occurrence].impact = data.impact
            case events.FailureSurfaced() as data:
                self.occurrences[run, data.occurrence].surfaced.append(
                    Surfacing(
                        seq=stored.event.seq,
                        at=stored.event.at,
                        channel=data.channel,
                        seen=data.seen,
                    )
                )
            case events.JudgmentFailed(occurrence=str() as occurrence, metric=metric):
                self.occurrences[run, occurrence].failed_metrics.append(metric)
            case _:
                pass  # Other events are steps, and no ground of anything.

    def attempts_of(self, call: CallFacts) -> list[CallFacts]:
        """Return a call with every other attempt that `retry_of` links to it, in order."""
        run = call.key[0]
        links = [
            (known.data.call, known.data.retry_of)
            for key, known in self.calls.items()
            if key[0] == run and known.data.retry_of is not None
        ]
        together = {call.data.call}
        grown = True
        while grown:
            more = {name for link in links if together & set(link) for name in link if name}
            grown = not more <= together
            together |= more
        return [known for key, known in self.calls.items() if key[0] == run and key[1] in together]

    def like(self, call: CallFacts, *, after: int) -> list[CallFacts]:
        """Return the calls of the same purpose, endpoint and name that began after a place."""
        return [
            known
            for key, known in self.calls.items()
            if key[0] == call.key[0] and known.started.event.seq > after and known.kind == call.kind
        ]


def facts_of(stored: Iterable[Stored]) -> TrialFacts:
    """Return the facts of a trial's events, given in order."""
    facts = TrialFacts()
    for one in stored:
        facts.take(one)
    return facts
