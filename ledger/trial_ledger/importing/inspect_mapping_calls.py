"""Model and tool events of an Inspect sample as calls, failures and recoveries.

Invariant: each call is written as a start and an end, in the order of the log; a failure is
recorded before the call that names it; a failure counts as recovered only where a later call of
the same function with the same arguments, or of the same model with the same request, succeeded.

A model event of the roles `grader` and `judge` is a judge call. Where the log has no roles (older
ones, and every scorer that calls the default model) the span decides: what happens inside a scorer
is its call, tools included. Everything else belongs to the system under test.

Since Inspect writes `completed`, the timestamp of an event is its start. An event without it but
with a measured time also began at its timestamp. One with neither was written when it ended, so
its start is unknown.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from blake3 import blake3

from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.importing.emitting import Emitter, gold_text, json_text, plain_text
from trial_ledger.importing.inspect_mapping_failures import error_class, tool_error_class
from trial_ledger.importing.inspect_mapping_models import (
    cost_of,
    fallback_of,
    served_of,
    usage_of,
)
from trial_ledger.importing.inspect_mapping_report import Tallies
from trial_ledger.importing.inspect_mapping_spans import Located
from trial_ledger.importing.lenient_json import (
    JsonObject,
    count_at,
    decimal_at,
    elapsed_us,
    fits,
    json_bytes,
    list_at,
    mapping_at,
    mappings_at,
    seconds_us,
    text_at,
    utc_text,
    whole_text,
)
from trial_ledger.importing.source import safe_name
from trial_ledger.submission import NewText, Submission

__all__ = ["CALL_EVENTS", "CallWriter", "call_id"]

CALL_EVENTS = frozenset({"model", "tool"})
MAX_REQUEST_BYTES = 64 * 1024 * 1024
MAX_HIDDEN_RETRIES = 100
REQUEST_FIELDS = ("input", "tools", "tool_choice", "config", "role", "cache")
CANCELLED = "cancelled"
EMPTY: tuple[object, ...] = (None, "", [], {})
"""Results that hold nothing."""


class Times(NamedTuple):
    """When a call began and ended, as far as the log shows."""

    start: str | None
    end: str | None
    duration_us: int | None


class Failure(NamedTuple):
    """What the log says went wrong in a call."""

    class_: str
    detail_class: str
    message: str | None
    detail: str | None


def call_id(place: str) -> str:
    """Return the id of the call that an event is: its place in the sample."""
    return safe_name(place)


def times_of(event: JsonObject) -> Times:
    """Return when a call began and ended."""
    stamp, completed = event.get("timestamp"), event.get("completed")
    measured = decimal_at(event, "working_time")
    if measured is None:
        measured = decimal_at(mapping_at(event, "output"), "time")
    duration = seconds_us(measured)
    if completed is not None:
        between = elapsed_us(stamp, completed)
        return Times(utc_text(stamp), utc_text(completed), duration if between is None else between)
    if event.get("pending") is True:
        return Times(utc_text(stamp), None, None)
    if duration is not None:
        return Times(utc_text(stamp), utc_text(stamp, plus_us=duration), duration)
    return Times(None, utc_text(stamp), None)


def failure_of(event: JsonObject) -> Failure | None:
    """Return what went wrong in a model or tool event, None where nothing did."""
    if event.get("event") == "tool":
        error = mapping_at(event, "error")
        if error:
            class_, detail = tool_error_class(text_at(error, "type"))
            return Failure(class_, detail, text_at(error, "message"), None)
        if event.get("failed") is True:
            return Failure("tool_error", "failed", None, None)
    else:
        message = text_at(event, "error") or text_at(mapping_at(event, "error"), "message")
        if message is not None:
            class_, detail = error_class(message)
            return Failure(class_, detail, message, text_at(event, "traceback"))
    if event.get("pending") is True:
        return Failure(CANCELLED, "pending", "the log ends while this call was going on", None)
    return None


def delivered_calls(sample: JsonObject) -> frozenset[str]:
    """Return the ids of tool calls whose result stands in a conversation or a later request."""
    conversations = [sample, *mappings_at(sample, "events")]
    messages = (
        message
        for conversation in conversations
        for field in ("messages", "input")
        for message in mappings_at(conversation, field)
    )
    return frozenset(
        key
        for message in messages
        if message.get("role") == "tool" and (key := text_at(message, "tool_call_id")) is not None
    )


class CallWriter:
    """Writes the calls of one sample, or of one attempt at it."""

    def __init__(
        self, emitter: Emitter, tallies: Tallies, *, delivered: frozenset[str] = frozenset()
    ) -> None:
        self.emitter = emitter
        self.tallies = tallies
        self.delivered = delivered
        self.waiting: dict[bytes, list[str]] = {}

    def write(self, located: Located) -> Iterator[Submission]:
        """Yield the events of one call: start, failures, end, and what it made good."""
        event, place = located.event, located.place
        judging = located.is_judging
        is_tool = located.kind == "tool"
        purpose = "judge" if judging else located.kind
        self.tallies.counts[f"{purpose}_calls"] += 1
        times = times_of(event)
        request = self.request_of(event, gold=judging, is_tool=is_tool)
        call = call_id(place)
        name = text_at(event, "function" if is_tool else "model")
        yield self.emitter.event(
            "call.started",
            place,
            {
                "call": call,
                "purpose": purpose,
                "name": None if name is None else safe_name(name),
                "attempt": attempt_of(event),
                "request": request,
            },
            at=times.start,
        )
        failure = failure_of(event)
        yield from self.hidden_retries(event, place, call, recovered=failure is None)
        if failure is not None:
            attempt = attempt_of(event)
            yield self.failure(place, call, failure, attempt=attempt, at=times.end, gold=judging)
        yield from self.fallback(event, place, call, at=times.end)
        yield self.finished(located, call, times, failure=failure)
        yield from self.recoveries(event, place, call, failure=failure)

    def request_of(self, event: JsonObject, *, gold: bool, is_tool: bool) -> NewText | None:
        """Return what was sent; None where the log does not show it or it is out of bounds."""
        fields = ("function", "arguments") if is_tool else REQUEST_FIELDS
        request = {field: event[field] for field in fields if event.get(field) is not None}
        if not fits(request, MAX_REQUEST_BYTES):
            self.tallies.oversize += 1
            return None
        if not is_tool and not list_at(event, "input"):
            request.pop("input", None)
        return json_text(request, gold=gold)

    def finished(
        self, located: Located, call: str, times: Times, *, failure: Failure | None
    ) -> Submission:
        """Return the end of a call."""
        event = located.event
        is_tool = located.kind == "tool"
        response = self.response_of(event, is_tool=is_tool, gold=located.is_judging)
        data: dict[str, object] = {
            "call": call,
            "status": status_of(event, failure),
            "occurrence": occurrence_id(located.place) if failure is not None else None,
            "response": response,
            "duration_us": times.duration_us,
        }
        if is_tool:
            delivered = text_at(event, "id") in self.delivered
            data["delivered"] = True if delivered else None
        else:
            data |= {"usage": usage_of(event), "cost": cost_of(event), "served": served_of(event)}
            self.tallies.unknown_cost += data["cost"] is None
            self.tallies.raw_calls += event.get("call") is not None
        return self.emitter.event("call.finished", located.place, data, at=times.end)

    def response_of(self, event: JsonObject, *, is_tool: bool, gold: bool) -> NewText | None:
        """Return what came back; None where nothing did or it is out of bounds."""
        response = event.get("result" if is_tool else "output")
        if response in EMPTY:
            return None
        if not fits(response, MAX_REQUEST_BYTES):
            self.tallies.oversize += 1
            return None
        if not is_tool:
            return json_text(response, gold=gold)
        text = whole_text(response)
        return gold_text(text) if gold else plain_text(text)

    def failure(
        self,
        place: str,
        call: str,
        failure: Failure,
        *,
        attempt: int,
        at: str | None = None,
        gold: bool = False,
    ) -> Submission:
        """Return the failure occurrence of a call."""
        self.tallies.counts["failures"] += 1
        text = gold_text if gold else plain_text
        return self.emitter.event(
            "failure.occurred",
            place,
            {
                "occurrence": occurrence_id(place),
                "class": failure.class_,
                "detail_class": failure.detail_class,
                "call": call,
                "attempt": attempt,
                "message": text(failure.message),
                "detail": text(failure.detail),
            },
            at=at,
        )

    def hidden_retries(
        self, event: JsonObject, place: str, call: str, *, recovered: bool
    ) -> Iterator[Submission]:
        """Yield the failures behind retried requests, of which the log gives only the number."""
        retries = count_at(event, "retries") or 0
        self.tallies.retried_requests += retries
        for number in range(min(retries, MAX_HIDDEN_RETRIES)):
            inner = f"{place}/retries/{number}"
            hidden = Failure("other", "retried_request", None, None)
            yield self.failure(inner, call, hidden, attempt=number + 1)
            if recovered:
                yield self.recovered(inner, inner, call)

    def fallback(
        self, event: JsonObject, place: str, call: str, *, at: str | None
    ) -> Iterator[Submission]:
        """Yield the occurrence of another model than the requested one having answered."""
        models = fallback_of(event) if event.get("event") == "model" else None
        if models is not None:
            requested, served = models
            self.tallies.counts["model_fallbacks"] += 1
            message = f"requested {requested}, served by {served}"
            fallback = Failure("model_fallback", safe_name(served), message, None)
            attempt = attempt_of(event)
            yield self.failure(f"{place}/fallback", call, fallback, attempt=attempt, at=at)

    def recoveries(
        self, event: JsonObject, place: str, call: str, *, failure: Failure | None
    ) -> Iterator[Submission]:
        """Remember a failure, or yield what a successful call made good."""
        key = repetition_key(event)
        if key is None:
            return
        if failure is not None:
            self.waiting.setdefault(key, []).append(place)
            return
        for number, failed in enumerate(self.waiting.pop(key, [])):
            yield self.recovered(failed, f"{place}/recovers/{number}", call)

    def recovered(self, failed: str, place: str, call: str) -> Submission:
        """Return the recovery of a failure by a call."""
        self.tallies.counts["recoveries"] += 1
        return self.emitter.event(
            "failure.recovered",
            place,
            {"occurrence": occurrence_id(failed), "by": "retry", "call": call},
        )


def attempt_of(event: JsonObject) -> int:
    """Return which try of its request a call was: the hidden retries came before."""
    return min(count_at(event, "retries") or 0, MAX_INTEGER - 1) + 1


def occurrence_id(place: str) -> str:
    """Return the id of the failure at a place in the sample."""
    return safe_name(f"{place}/failure")


def repetition_key(event: JsonObject) -> bytes | None:
    """Return what two calls share when one repeats the other; None for what is out of bounds."""
    fields = ("function", "arguments") if event.get("event") == "tool" else ("model", "input")
    value = [event.get(field) for field in ("event", *fields)]
    if not fits(value, MAX_REQUEST_BYTES):
        return None
    return blake3(json_bytes(value, ordered=True)).digest()


def status_of(event: JsonObject, failure: Failure | None) -> str:
    """Return how a call ended; a result that Inspect cut short is partial."""
    if failure is not None:
        return "failed"
    if event.get("event") == "tool":
        if list_at(event, "truncated"):
            return "partial"
        return "empty" if event.get("result") in EMPTY else "ok"
    output: Mapping[str, object] = mapping_at(event, "output")
    return "ok" if list_at(output, "choices") or text_at(output, "completion") else "empty"
