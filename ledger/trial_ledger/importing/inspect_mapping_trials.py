"""One sample of an Inspect log as one trial: a session of a slot, from its start to its judgments.

Invariant: the events of a trial come in an order that every guard accepts: start, calls and
failures of each attempt, answer, end, judge calls, judgments and overrides, invalidation.

A sample is one session. `error_retries` are attempts inside it: Inspect keeps one record and one
uuid for all of them, shows of an abandoned attempt little more than its error, and counts only
the last. They are failure occurrences of that session, recovered by retry where the sample later
ended without an error. A second session `s2` arises only where the log holds two records of a
sample with different uuids (a requeued sample).

A trial's time ends where scoring begins; the source's own total, which includes scoring, is used
only where the log shows no times.
"""

from collections.abc import Iterator, Sequence

import msgspec

from trial_ledger.identifiers import TrialKey
from trial_ledger.importing.emitting import Emitter, json_text, plain_text
from trial_ledger.importing.inspect_mapping_calls import (
    CALL_EVENTS,
    CallWriter,
    delivered_calls,
)
from trial_ledger.importing.inspect_mapping_events import FORMAT, provenance
from trial_ledger.importing.inspect_mapping_failures import error_class, is_cancellation
from trial_ledger.importing.inspect_mapping_judgments import Graders, JudgmentWriter
from trial_ledger.importing.inspect_mapping_models import rolled_up_fallbacks
from trial_ledger.importing.inspect_mapping_report import Tallies
from trial_ledger.importing.inspect_mapping_scores import Metrics
from trial_ledger.importing.inspect_mapping_spans import Located, locate
from trial_ledger.importing.inspect_mapping_survey import Slot, scores_of
from trial_ledger.importing.inspect_reader import SampleRecord
from trial_ledger.importing.inspect_resolve import CARRIED_EVENTS
from trial_ledger.importing.lenient_json import (
    JsonObject,
    decimal_at,
    elapsed_us,
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

__all__ = ["TrialWriter"]

LOST = "lost_in_source"
MAX_ROLLED_UP = 100
SCORING = frozenset({"scorer", "scorers"})


class TrialWriter(msgspec.Struct, frozen=True, kw_only=True):
    """Writes the trials of one run."""

    run: str
    """Name of the run."""
    digest: str
    """BLAKE3 of the source."""
    configuration: str
    """The manifest's name of the system under test."""
    metrics: Metrics
    """Metrics of the reconstructed rubric."""
    graders: Graders
    """What the log says about its scorers."""
    scored_by_source: bool
    """Whether the source reports scores, so that a sample without any has lost them."""
    tallies: Tallies
    """Where everything is counted."""

    def emitter(self, path: str, question: str, repetition: int, session: str) -> Emitter:
        """Return the emitter of one trial."""
        return Emitter(
            source_format=FORMAT,
            run=self.run,
            digest=self.digest,
            path=path,
            trial=TrialKey(
                question=question,
                configuration=self.configuration,
                repetition=repetition,
                session=session,
            ),
        )

    def lost(self, slot: Slot) -> Iterator[Submission]:
        """Yield a trial that the source shows to have run, and does not hold."""
        question, repetition = slot
        path = f"lost/{question}/{repetition}"
        emitter = self.emitter(path, question, repetition, "s1")
        self.tallies.counts["trials_lost"] += 1
        yield emitter.event("trial.started", "start", {})
        yield emitter.event("trial.finished", "end", {"outcome": "unknown", "reason": LOST})

    def write(self, record: SampleRecord) -> Iterator[Submission]:
        """Yield every event of one sample."""
        sample = record.content
        emitter = self.emitter(record.path, record.question, record.repetition, record.session)
        events = mappings_at(sample, "events")
        self.take_stock(record, events)
        located = locate(events or tool_messages(sample), "events")
        agent = [one for one in located if not one.is_judging]
        judging = [one for one in located if one.is_judging]
        calls = CallWriter(emitter, self.tallies, delivered=delivered_calls(sample))
        yield started(emitter, sample, events)
        yield from self.attempts(emitter, sample)
        for one in agent:
            if one.kind in CALL_EVENTS:
                yield from calls.write(one)
        yield from self.rolled_up(emitter, sample, located)
        yield from self.ending(emitter, sample, events, located)
        for one in judging:
            if one.kind in CALL_EVENTS:
                yield from calls.write(one)
        yield from self.judgments(emitter, sample, judging)
        yield from self.invalidation(emitter, sample)

    def take_stock(self, record: SampleRecord, events: Sequence[JsonObject]) -> None:
        """Count what a sample holds and what of it has no counterpart."""
        tallies = self.tallies
        tallies.counts["samples"] += 1
        tallies.missing += record.missing
        if not events:
            tallies.without_events.append(record.path)
        if record.session != "s1":
            tallies.later_sessions.append(record.path)
        for event in events:
            kind = text_at(event, "event") or "unnamed"
            tallies.counts["events"] += 1
            if kind not in CARRIED_EVENTS:
                tallies.left_out[safe_name(kind)] += 1
            tallies.intermediate += kind == "score" and event.get("intermediate") is True

    def attempts(self, emitter: Emitter, sample: JsonObject) -> Iterator[Submission]:
        """Yield the calls and errors of attempts that were abandoned and repeated."""
        recovered = not mapping_at(sample, "error")
        for number, retry in enumerate(mappings_at(sample, "error_retries")):
            place = f"error_retries/{number}"
            calls = CallWriter(emitter, self.tallies)
            for one in locate(mappings_at(retry, "events"), f"{place}/events"):
                if one.kind in CALL_EVENTS:
                    yield from calls.write(one)
            yield self.failure(emitter, place, retry, impact="none" if recovered else "unknown")
            self.tallies.counts["abandoned_attempts"] += 1
            if recovered:
                self.tallies.counts["recoveries"] += 1
                yield emitter.event(
                    "failure.recovered", place, {"occurrence": place, "by": "retry"}
                )

    def failure(
        self,
        emitter: Emitter,
        place: str,
        error: JsonObject,
        *,
        impact: str,
        at: str | None = None,
    ) -> Submission:
        """Return the failure that ended an attempt; whose fault it was the log does not say."""
        self.tallies.counts["failures"] += 1
        message = text_at(error, "message")
        class_, detail = error_class(message)
        return emitter.event(
            "failure.occurred",
            place,
            {
                "occurrence": place,
                "class": class_,
                "detail_class": detail,
                "message": plain_text(message),
                "detail": plain_text(text_at(error, "traceback")),
                "impact": impact,
            },
            at=at,
        )

    def rolled_up(
        self, emitter: Emitter, sample: JsonObject, located: Sequence[Located]
    ) -> Iterator[Submission]:
        """Yield fallbacks that the sample sums up and none of its events shows."""
        shown = [mapping_at(one.event, "output").get("fallback") for one in located]
        for index, (models, count) in enumerate(rolled_up_fallbacks(sample).items()):
            requested, served = models
            known = sum(
                isinstance(fallback, dict)
                and (fallback.get("model"), fallback.get("fallback_model")) == models
                for fallback in shown
            )
            for number in range(min(count - known, MAX_ROLLED_UP)):
                place = f"model_fallbacks/{index}/{number}"
                self.tallies.counts["failures"] += 1
                self.tallies.counts["model_fallbacks"] += 1
                yield emitter.event(
                    "failure.occurred",
                    place,
                    {
                        "occurrence": place,
                        "class": "model_fallback",
                        "detail_class": safe_name(served),
                        "message": plain_text(f"requested {requested}, served by {served}"),
                    },
                )

    def ending(
        self,
        emitter: Emitter,
        sample: JsonObject,
        events: Sequence[JsonObject],
        located: Sequence[Located],
    ) -> Iterator[Submission]:
        """Yield limit, error, answer and end of a trial."""
        end = end_of(sample, events, located)
        limit, error = mapping_at(sample, "limit"), mapping_at(sample, "error")
        message = next(
            (text_at(one.event, "message") for one in located if one.kind == "sample_limit"), None
        )
        if limit:
            self.tallies.counts["failures"] += 1
            message = message or text_at(limit, "reason")
            yield emitter.event(
                "failure.occurred",
                "limit",
                {
                    "occurrence": "limit",
                    "class": "limit",
                    "detail_class": safe_name(text_at(limit, "type") or "limit"),
                    "message": plain_text(message),
                },
                at=utc_text(end),
            )
        if error:
            yield self.failure(emitter, "error", error, impact="trial_failed", at=utc_text(end))
        answer = answer_of(sample)
        if answer is not None:
            yield emitter.event(
                "answer.submitted", "output", {"answer": plain_text(answer)}, at=utc_text(end)
            )
        outcome, reason = outcome_of(sample)
        self.tallies.counts[f"trials_{outcome}"] += 1
        yield emitter.event(
            "trial.finished",
            "end",
            {
                "outcome": outcome,
                "reason": reason,
                "duration_us": elapsed_us(start_of(sample, events), end)
                if end is not None
                else seconds_us(decimal_at(sample, "total_time")),
            },
            at=utc_text(end),
        )

    def judgments(
        self, emitter: Emitter, sample: JsonObject, judging: Sequence[Located]
    ) -> Iterator[Submission]:
        """Yield the judgments of a sample, and those that the source counted and lost."""
        writer = JudgmentWriter(emitter, self.tallies, metrics=self.metrics, graders=self.graders)
        scores = scores_of(sample)
        yield from writer.write(scores, judging)
        scored = sample.get("scores") is not None or bool(scores)
        if not scored and self.scored_by_source and not mapping_at(sample, "error"):
            for metric in self.metrics:
                yield writer.lost(metric)

    def invalidation(self, emitter: Emitter, sample: JsonObject) -> Iterator[Submission]:
        """Yield that somebody invalidated the sample; the log shows it only after its scores."""
        record = mapping_at(sample, "invalidation")
        if record:
            self.tallies.counts["invalidations"] += 1
            self.tallies.unnamed += text_at(record, "author") is None
            actor, reason, at = provenance(record)
            yield emitter.event(
                "trial.invalidated",
                "invalidation",
                {"reason": plain_text(reason)},
                at=at,
                actor=actor,
            )


def started(emitter: Emitter, sample: JsonObject, events: Sequence[JsonObject]) -> Submission:
    """Return the start of a trial."""
    value = sample.get("input")
    given: NewText | None = plain_text(value) if isinstance(value, str) else None
    if given is None and value is not None:
        given = json_text(value)
    fields = ["question"] if value is not None else []
    if list_at(sample, "choices"):
        fields.append("context")
    return emitter.event(
        "trial.started",
        "start",
        {"input": given, "fields": fields},
        at=utc_text(start_of(sample, events)),
    )


def start_of(sample: JsonObject, events: Sequence[JsonObject]) -> object:
    """Return when a sample started, as the log writes it; None where it does not say."""
    return sample.get("started_at") or next(
        (event["timestamp"] for event in events if event.get("timestamp") is not None), None
    )


def end_of(sample: JsonObject, events: Sequence[JsonObject], located: Sequence[Located]) -> object:
    """Return when the system under test was done, as the log writes it; None where it is silent.

    That is where scoring begins after its last call; without scoring, the last event.
    """
    called = {id(one.event) for one in located if one.kind in CALL_EVENTS and not one.is_judging}
    last_call = max((index for index, event in enumerate(events) if id(event) in called), default=0)
    for event in events[last_call:]:
        begins = event.get("event") == "span_begin" or event.get("action") == "begin"
        if begins and text_at(event, "type") in SCORING:
            return event.get("timestamp")
    if located and events:
        last = located[-1].event
        return last.get("completed") or last.get("timestamp")
    return sample.get("completed_at")


def answer_of(sample: JsonObject) -> str | None:
    """Return the final answer; None where the log holds no output that could be one."""
    output = mapping_at(sample, "output")
    completion = text_at(output, "completion")
    if completion is not None:
        return completion
    for choice in mappings_at(output, "choices"):
        return whole_text(mapping_at(choice, "message").get("content")) or ""
    return None


def outcome_of(sample: JsonObject) -> tuple[str, str | None]:
    """Return how a trial ended, and the source's word for why."""
    error, limit = mapping_at(sample, "error"), mapping_at(sample, "limit")
    if error:
        message = text_at(error, "message")
        if is_cancellation(message):
            return "cancelled", None
        return "errored", error_class(message)[1]
    if limit:
        return "limit", safe_name(text_at(limit, "type") or "limit")
    for choice in mappings_at(mapping_at(sample, "output"), "choices"):
        if choice.get("stop_reason") == "content_filter":
            return "filtered", "content_filter"
        break
    if answer_of(sample) is None and not scores_of(sample):
        return "unknown", LOST
    return "answered", None


def tool_messages(sample: JsonObject) -> list[JsonObject]:
    """Return the tool results of a conversation in the form of events, where the log has none."""
    arguments = {
        text_at(call, "id"): call.get("arguments")
        for message in mappings_at(sample, "messages")
        for call in mappings_at(message, "tool_calls")
    }
    return [
        {
            "event": "tool",
            "id": message.get("tool_call_id"),
            "function": message.get("function"),
            "arguments": arguments.get(text_at(message, "tool_call_id")),
            "result": message.get("content"),
            "error": message.get("error"),
        }
        for message in mappings_at(sample, "messages")
        if message.get("role") == "tool"
    ]
