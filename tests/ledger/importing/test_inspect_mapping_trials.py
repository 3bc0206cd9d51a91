"""One sample as one trial: input, attempts, answer, outcome, invalidation."""

import json
from typing import Any

import pytest

from inspect_cases import Logs, fields_of, of_kind, sample, text_of
from trial_ledger.events import Actor

STAMP = "2026-01-01T00:00:0{}+00:00"


def at(second: int) -> str:
    """Return a time of the source."""
    return STAMP.format(second)


def utc(second: int) -> str:
    """Return the same time as the ledger writes it."""
    return f"2026-01-01T00:00:0{second}.000000Z"


def test_c16_a_sample_is_a_trial_of_its_question_and_epoch(logs: Logs) -> None:
    """The configuration is the manifest's, the session the first."""
    run = logs.run(sample(1, epoch=2), config={"epochs": 2})
    started = of_kind(list(run.submissions("0" * 64)), "trial.started")[0]
    assert started.trial is not None
    assert started.trial.configuration == run.manifest.configuration
    assert str(started.trial) == "q1#2@s1"
    assert (text_of(started, "input"), started.data["fields"]) == ("question 1?", ["question"])


def test_c17_a_conversation_is_kept_as_it_was_given(logs: Logs) -> None:
    """Messages are kept as JSON, choices as a delivered context; a missing input is unknown."""
    messages = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "who?"}]
    events = logs.events(sample(1, input=messages, choices=["a", "b"]), sample(2, input=...))
    first, second = of_kind(events, "trial.started")
    assert json.loads(text_of(first, "input")) == messages
    assert first.data["fields"] == ["question", "context"]
    assert fields_of(second, "input", "fields") == (None, [])


def test_the_order_of_a_trial_is_the_one_that_guards_accept(logs: Logs) -> None:
    """Judge calls follow the end, whatever the order of the log."""
    events = logs.events(
        sample(
            1,
            events=[
                {"event": "span_begin", "id": "s", "type": "scorer", "name": "match"},
                {"event": "model", "span_id": "s"},
                {"event": "model"},
                {"event": "info"},
            ],
            invalidation={"author": "Ada", "reason": "wrong key", "timestamp": at(9)},
        )
    )
    assert [one.kind for one in events] == [
        "run.opened",
        "trial.started",
        "call.started",
        "call.finished",
        "answer.submitted",
        "trial.finished",
        "call.started",
        "call.finished",
        "judgment.recorded",
        "trial.invalidated",
        "note.added",
        "source.imported",
        "run.closed",
    ]
    invalidated = of_kind(events, "trial.invalidated")[0]
    assert invalidated.actor == Actor(role="human", name="Ada")
    assert (text_of(invalidated, "reason"), invalidated.at) == ("wrong key", utc(9))


@pytest.mark.parametrize(
    ("fields", "outcome", "reason"),
    [
        ({}, "answered", None),
        ({"error": {"message": "ValueError('x')"}}, "errored", "ValueError"),
        ({"error": {"message": "CancelledError('x')"}}, "cancelled", None),
        ({"limit": {"type": "message", "limit": 8}}, "limit", "message"),
        ({"limit": {"limit": 8}}, "limit", "limit"),
        (
            {"output": {"choices": [{"stop_reason": "content_filter"}]}},
            "filtered",
            "content_filter",
        ),
        ({"output": {}}, "answered", None),
        ({"output": {}, "scores": ...}, "unknown", "lost_in_source"),
    ],
    ids=["plain", "error", "cancelled", "limit", "bare limit", "filtered", "no output", "stripped"],
)
def test_how_a_sample_ended_is_its_outcome(
    logs: Logs, fields: dict[str, Any], outcome: str, reason: str | None
) -> None:
    """Errors, limits, filters and cancellations each have an outcome of their own."""
    finished = of_kind(logs.events(sample(1, **fields)), "trial.finished")[0]
    assert fields_of(finished, "outcome", "reason") == (outcome, reason)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ({"completion": "done"}, "done"),
        ({"choices": [{"message": {"content": ""}}]}, ""),
        ({"choices": [{"message": {"content": [{"text": "a"}]}}]}, '[{"text":"a"}]'),
        ({}, None),
    ],
    ids=["completion", "empty", "parts", "none"],
)
def test_the_answer_is_the_output_of_the_sample(
    logs: Logs, output: dict[str, Any], answer: str | None
) -> None:
    """An empty answer is an answer; no output is none."""
    submitted = of_kind(logs.events(sample(1, output=output)), "answer.submitted")
    assert [text_of(one, "answer") for one in submitted] == ([] if answer is None else [answer])


def test_c23_an_error_ends_the_trial_and_a_limit_is_told(logs: Logs) -> None:
    """Their messages and tracebacks are kept; whose fault it was is not made up."""
    error = {"message": "ConnectionError('x')", "traceback": "Traceback"}
    limited = [{"event": "sample_limit", "type": "token", "message": "too many tokens"}]
    events = logs.events(
        sample(1, error=error, limit={"type": "token"}, events=limited),
        sample(2, limit={"type": "time", "reason": "too slow"}),
    )
    failures = of_kind(events, "failure.occurred")
    assert [fields_of(one, "class", "detail_class", "impact", "fault") for one in failures] == [
        ("limit", "token", None, None),
        ("connect", "ConnectionError", "trial_failed", None),
        ("limit", "time", None, None),
    ]
    assert [text_of(one, "message") for one in failures] == [
        "too many tokens",
        "ConnectionError('x')",
        "too slow",
    ]
    assert text_of(failures[1], "detail") == "Traceback"


@pytest.mark.parametrize(
    ("error", "recovered", "impact"),
    [(..., 1, "none"), ({"message": "RuntimeError('y')"}, 0, "unknown")],
    ids=["completed", "failed again"],
)
def test_c23_an_abandoned_attempt_is_recovered_only_where_the_sample_completed(
    logs: Logs, error: object, recovered: int, impact: str
) -> None:
    """`error_retries` are attempts inside one session; their calls are kept."""
    retry = {"message": "RuntimeError('x')", "traceback": "tb", "events": [{"event": "model"}, {}]}
    events = logs.events(sample(1, error_retries=[retry], error=error))
    first = of_kind(events, "failure.occurred")[0]
    assert fields_of(first, "occurrence", "class", "impact") == ("error_retries/0", "other", impact)
    assert of_kind(events, "call.started")[0].data["call"] == "error_retries/0/events/0"
    assert len(of_kind(events, "failure.recovered")) == recovered
    assert len(of_kind(events, "trial.started")) == 1


def test_c16_a_requeued_sample_has_two_sessions_of_one_slot(logs: Logs) -> None:
    """Only different uuids make two sessions."""
    events = logs.events(sample(1), sample(1, uuid="later"))
    trials = [str(one.trial) for one in of_kind(events, "trial.started")]
    assert trials == ["q1#1@s1", "q1#1@s2"]
    losses = text_of(of_kind(events, "source.imported")[0], "losses")
    assert "here each is a session: samples/q1/1/s2." in losses


def test_c24_fallbacks_that_only_the_sample_sums_up_are_occurrences(logs: Logs) -> None:
    """Those that events show are not counted twice."""
    shown = {"fallback": {"model": "m", "fallback_model": "n"}}
    events = logs.events(
        sample(
            1,
            events=[{"event": "model", "model": "m", "output": shown}],
            model_fallbacks=[{"model": "m", "fallback_model": "n", "count": 2}],
        )
    )
    places = [one.data["occurrence"] for one in of_kind(events, "failure.occurred")]
    assert places == ["events/0/fallback/failure", "model_fallbacks/0/0"]


@pytest.mark.parametrize(
    ("fields", "start", "end", "duration"),
    [
        (
            {
                "started_at": at(1),
                "events": [
                    {"event": "span_begin", "type": "scorer", "timestamp": at(2)},
                    {"event": "model", "timestamp": at(3), "completed": at(4)},
                    {"event": "step", "action": "begin", "type": "scorer", "timestamp": at(5)},
                ],
            },
            1,
            5,
            4_000_000,
        ),
        (
            {
                "events": [
                    {"event": "info"},
                    {"event": "model", "timestamp": at(3), "completed": at(4)},
                ]
            },
            3,
            4,
            1_000_000,
        ),
        ({"events": [{"event": "info", "timestamp": at(3)}]}, 3, 3, 0),
        ({"started_at": at(1), "completed_at": at(9), "total_time": 5}, 1, 9, 8_000_000),
        ({"total_time": 2.5}, None, None, 2_500_000),
    ],
    ids=["scored", "unscored", "one event", "no events", "no times"],
)
def test_c17_a_trial_ends_where_its_scoring_begins(
    logs: Logs, fields: dict[str, Any], start: int | None, end: int | None, duration: int
) -> None:
    """Scoring before the last call was an intermediate one; without times the total counts."""
    events = logs.events(sample(1, **fields))
    started, finished = of_kind(events, "trial.started")[0], of_kind(events, "trial.finished")[0]
    assert started.at == (None if start is None else utc(start))
    assert finished.at == (None if end is None else utc(end))
    assert finished.data["duration_us"] == duration


def test_tool_results_of_a_conversation_count_where_events_are_missing(logs: Logs) -> None:
    """Old logs show tool failures there only; a later success makes them good."""
    call = {"id": "t1", "function": "f", "arguments": {"x": 1}}
    again = {**call, "id": "t2"}
    messages = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "function": "f", "error": {"type": "timeout"}},
        {"role": "assistant", "tool_calls": [again]},
        {"role": "tool", "tool_call_id": "t2", "function": "f", "content": "ok"},
        {"role": "tool", "function": "f", "content": "unasked"},
    ]
    events = logs.events(sample(1, events=[], messages=messages))
    started = of_kind(events, "call.started")
    assert json.loads(text_of(started[0], "request")) == {"function": "f", "arguments": {"x": 1}}
    assert len(started) == 3
    assert len(of_kind(events, "failure.recovered")) == 1


def test_an_invalidation_without_author_and_reason_is_kept_with_words_for_both(logs: Logs) -> None:
    """A person's act needs a name and a reason; what is missing is said so."""
    events = logs.events(sample(1, invalidation={"metadata": {}}))
    invalidated = of_kind(events, "trial.invalidated")[0]
    assert invalidated.actor == Actor(role="human", name="unnamed in the source")
    assert text_of(invalidated, "reason") == "the source gives no reason"
    assert "Edits and invalidations without an author: 1." in text_of(
        of_kind(events, "source.imported")[0], "losses"
    )
