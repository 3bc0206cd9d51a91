"""The timeline of a trace: every event of a trial as one step, with when, what and how long.

Invariant: no event of the trial is left out; a time that nobody recorded is None, and so is every
distance that would need it.
"""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

import msgspec

from trial_ledger import events
from trial_ledger.events import BlobRef
from trial_ledger.view import Stored
from trial_projections.trace_facts import CallFacts, Key, TrialFacts

__all__ = ["Chosen", "TraceStep", "between", "steps_of"]

MICROSECOND = timedelta(microseconds=1)

Reader = Callable[[BlobRef], str]
"""Gives a text in its own words, or says why it cannot be shown."""


class TraceStep(msgspec.Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """One event of the timeline; what its kind does not say is null."""

    seq: int
    """Place of the event."""
    hash: str
    """BLAKE3 of its document."""
    kind: str
    """Tag of its kind."""
    at: str | None
    """When it happened, UTC; null where unknown."""
    offset_us: int | None
    """Microseconds since the first attempt; null where either time is unknown."""
    related: bool
    """Whether it belongs to what is traced; the text form only counts the others."""
    marked: bool
    """Whether it is what is traced."""
    call: str | None = None
    """Id of the call."""
    attempt: int | None = None
    """Which attempt of the call, from 1."""
    retry_of: str | None = None
    """Call that this one tries again."""
    waited_us: int | None = None
    """Microseconds from the end of the attempt before; of a call's start only."""
    purpose: str | None = None
    """model, search, tool or judge."""
    name: str | None = None
    """Model or tool."""
    endpoint: str | None = None
    """The manifest's name of the endpoint."""
    served: str | None = None
    """Model, else endpoint, that a response names."""
    result: str | None = None
    """Status of a call, outcome of a trial, verdict, impact, how it was recovered or shown."""
    bytes_received: int | None = None
    """Bytes that came back; null where none were recorded."""
    bytes_expected: int | None = None
    """Bytes that were announced, of a lost response."""
    delivered: bool | None = None
    """Whether it reached the model; null where unknown."""
    duration_us: int | None = None
    """Microseconds it took."""
    occurrence: str | None = None
    """Id of the failure occurrence."""
    class_: str | None = None
    """Failure class."""
    detail_class: str | None = None
    """The source's own word for it."""
    fault: str | None = None
    """Whose failure; null where unknown."""
    impact: str | None = None
    """What it did to the trial, as far as known then."""
    message: str | None = None
    """What was reported."""
    channel: str | None = None
    """Where an occurrence was shown."""
    reason: str | None = None
    """Short reason of a trial's end."""
    metric: str | None = None
    """Metric of a judgment."""
    by: str | None = None
    """Who or what judged or said so."""


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What is traced."""

    calls: Collection[Key]
    """Calls that belong to it."""
    occurrences: Collection[Key]
    """Occurrences that belong to it."""
    marked: Collection[int]
    """Places of the events that are it."""
    everything: bool = False
    """Whether all of the trial belongs to it."""


def moment(at: str | None) -> datetime | None:
    """Return a time of an event."""
    return None if at is None else datetime.fromisoformat(at)


def between(start: str | None, end: str | None) -> int | None:
    """Return the microseconds from one time to another, negative where the second is earlier."""
    first, second = moment(start), moment(end)
    return None if first is None or second is None else (second - first) // MICROSECOND


def steps_of(facts: TrialFacts, chosen: Chosen, read: Reader) -> list[TraceStep]:
    """Return a step for every event, in the order of the log.

    Args:
        facts: the trial.
        chosen: what is traced.
        read: gives the message of a failure.
    """
    found: list[tuple[Stored, dict[str, object], bool]] = []
    for stored in facts.stored:
        said = said_by(stored, facts)
        found.append((stored, said, is_related(stored, said, chosen)))
    zero = zero_of([(stored, said) for stored, said, related in found if related])
    return [
        TraceStep(
            seq=stored.event.seq,
            hash=stored.hash,
            kind=stored.event.kind,
            at=stored.event.at,
            offset_us=between(zero, stored.event.at),
            related=related,
            marked=stored.event.seq in chosen.marked,
            **said,  # type: ignore[arg-type] # checked by msgspec's own fields
            **told(stored, read, related=related),  # type: ignore[arg-type] # likewise
        )
        for stored, said, related in found
    ]


def zero_of(related: list[tuple[Stored, dict[str, object]]]) -> str | None:
    """Return the time of the first attempt, or of the first event where there is no call."""
    starts = [stored for stored, _ in related if stored.event.kind == "call.started"]
    first = starts or [stored for stored, _ in related]
    return first[0].event.at if first else None


def is_related(stored: Stored, said: dict[str, object], chosen: Chosen) -> bool:
    """Return whether an event belongs to what is traced; the end of its trial always does."""
    run = stored.event.run or ""
    return (
        chosen.everything
        or stored.event.kind == "trial.finished"
        or (run, said.get("call")) in chosen.calls
        or (run, said.get("occurrence")) in chosen.occurrences
    )


def told(stored: Stored, read: Reader, *, related: bool) -> dict[str, object]:
    """Return the message of a failure that belongs to what is traced."""
    data = stored.event.data
    if not related or not isinstance(data, events.FailureOccurred) or data.message is None:
        return {}
    return {"message": read(data.message)}


def said_by(stored: Stored, facts: TrialFacts) -> dict[str, object]:
    """Return what an event says, by field of a step."""
    run, data = stored.event.run or "", stored.event.data
    match data:
        case events.CallStarted():
            return started(facts.calls[run, data.call], facts)
        case events.CallFinished():
            return {**about(facts, run, data.call), **finished(data)}
        case events.ResponseLost():
            return {
                **about(facts, run, data.call),
                "result": "lost",
                "occurrence": data.occurrence,
                "bytes_received": data.bytes_received,
                "bytes_expected": data.bytes_expected,
                "delivered": False,
            }
        case (
            events.FailureOccurred()
            | events.FailureRecovered()
            | events.FailureAssessed()
            | events.FailureSurfaced()
        ):
            return failure(facts, run, data)
        case _:
            return judged(data, stored.event.actor)


def about(facts: TrialFacts, run: str, name: str | None) -> dict[str, object]:
    """Return which call an event is of; a call that nobody started has its id alone."""
    call = facts.calls.get((run, name or ""))
    if call is None:
        return {"call": name}
    return {
        "call": name,
        "attempt": call.data.attempt,
        "purpose": call.data.purpose,
        "name": call.data.name,
        "endpoint": call.data.endpoint,
    }


def started(call: CallFacts, facts: TrialFacts) -> dict[str, object]:
    """Return what the start of a call says, with the gap after the attempt before."""
    before = facts.calls.get((call.key[0], call.data.retry_of or ""))
    waited = None
    if before is not None and before.ended is not None:
        waited = between(before.ended.event.at, call.started.event.at)
    return {
        **about(facts, *call.key),
        "retry_of": call.data.retry_of,
        "waited_us": waited,
        "occurrence": call.data.occurrence,
    }


def finished(data: events.CallFinished) -> dict[str, object]:
    """Return what the end of a call says."""
    served = data.served
    return {
        "result": data.status,
        "occurrence": data.occurrence,
        "bytes_received": None if data.response is None else data.response.bytes,
        "delivered": data.delivered,
        "duration_us": data.duration_us,
        "served": None if served is None else served.model or served.endpoint,
    }


def failure(
    facts: TrialFacts,
    run: str,
    data: events.FailureOccurred
    | events.FailureRecovered
    | events.FailureAssessed
    | events.FailureSurfaced,
) -> dict[str, object]:
    """Return what an event of a failure says."""
    match data:
        case events.FailureOccurred():
            said = about(facts, run, data.call)
            return {
                **said,
                "occurrence": data.occurrence,
                "attempt": data.attempt or said.get("attempt"),
                "endpoint": data.endpoint or said.get("endpoint"),
                "class_": data.class_,
                "detail_class": data.detail_class,
                "fault": data.fault,
                "impact": data.impact,
            }
        case events.FailureRecovered():
            # The call that made it good is named, but the event is of the failure.
            said = about(facts, run, data.call)
            return {**said, "occurrence": data.occurrence, "result": data.by}
        case events.FailureAssessed():
            return {"occurrence": data.occurrence, "result": data.impact, "impact": data.impact}
        case _:
            return {
                "occurrence": data.occurrence, "channel": data.channel, "result": data.seen,
            }  # fmt: skip


def judged(data: events.AnyData, actor: events.Actor) -> dict[str, object]:
    """Return what an event about the trial as a whole or its verdicts says."""
    by: dict[str, object] = {"by": actor.name}
    match data:
        case events.TrialStarted(leak_check=leak):
            by = {"result": leak}
        case events.TrialFinished(outcome=outcome, reason=reason):
            by = {"result": outcome, "reason": reason, "duration_us": data.duration_us}
        case events.AnswerSubmitted(abstained=abstained):
            by = {"result": "abstained" if abstained else "answered"}
        case events.JudgmentRecorded(metric=metric, grader=grader):
            by = {"metric": metric, "result": data.verdict or data.score, "by": grader.name}
        case events.JudgmentFailed(metric=metric, reason=reason):
            by = {"metric": metric, "result": reason, "occurrence": data.occurrence}
        case events.JudgmentOverridden(verdict=verdict, score=score):
            by["result"] = verdict or score
        case events.QueryInspected(verdict=verdict):
            by["result"] = verdict
        case _:
            pass  # What else is said of a trial is a text: `ledger show` has it.
    return by
