"""Model and tool events as calls, with their failures, retries and recoveries."""

import json
from typing import Any

import pytest

from inspect_cases import Logs, fields_of, of_kind, sample, text_of
from trial_ledger.importing import inspect_mapping_calls
from trial_ledger.submission import NewText, Submission

START, END = "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:02+00:00"


def model(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a model event that succeeded."""
    base: dict[str, Any] = {
        "event": "model",
        "model": "maker/model",
        "input": [{"role": "user", "content": "hello"}],
        "tools": [],
        "config": {"temperature": 0.5},
        "output": {"model": "model", "choices": [{"message": {"content": "hi"}}]},
        "timestamp": START,
        "completed": END,
    }
    return {key: value for key, value in {**base, **fields}.items() if value is not ...}


def tool(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a tool event that succeeded."""
    base: dict[str, Any] = {
        "event": "tool",
        "id": "t1",
        "function": "search",
        "arguments": {"query": "x"},
        "result": "found",
        "timestamp": START,
        "completed": END,
    }
    return {key: value for key, value in {**base, **fields}.items() if value is not ...}


def written(logs: Logs, *events: dict[str, Any], **fields: Any) -> list[Submission]:  # noqa: ANN401 - JSON
    """Return the events of a run with one sample that has these events."""
    return logs.events(sample(1, events=list(events), **fields))


def test_c17_a_model_call_keeps_request_response_times_usage_and_cost(logs: Logs) -> None:
    """Everything that the log shows of a call is in its two events."""
    usage = {"input_tokens": 3, "output_tokens": 4, "total_cost": 0.0025}
    output = {**model()["output"], "usage": usage}
    events = written(logs, model(output=output, tool_choice="auto", call={"raw": 1}))
    started, finished = of_kind(events, "call.started")[0], of_kind(events, "call.finished")[0]
    assert fields_of(started, "purpose", "name", "attempt") == ("model", "maker/model", 1)
    assert started.at == "2026-01-01T00:00:00.000000Z"
    assert json.loads(text_of(started, "request")) == {
        "input": [{"role": "user", "content": "hello"}],
        "tools": [],
        "tool_choice": "auto",
        "config": {"temperature": 0.5},
    }
    assert fields_of(finished, "status", "duration_us") == ("ok", 2_000_000)
    assert finished.data["usage"] == {"input_tokens": 3, "output_tokens": 4}
    assert finished.data["cost"] == {"amount": "0.0025", "currency": "USD", "basis": "reported"}
    assert finished.data["served"] == {"model": "model"}
    assert json.loads(text_of(finished, "response")) == output


@pytest.mark.parametrize(
    ("fields", "start", "end", "duration"),
    [
        ({"working_time": 1.5, "completed": ...}, "00.000000", "01.500000", 1_500_000),
        ({"completed": ...}, None, "00.000000", None),
        ({"completed": "?", "working_time": 1}, "00.000000", None, 1_000_000),
        ({"completed": ..., "timestamp": ...}, None, None, None),
    ],
)
def test_times_are_known_only_as_far_as_the_version_of_the_log_shows(
    logs: Logs,
    fields: dict[str, Any],
    start: str | None,
    end: str | None,
    duration: int | None,
) -> None:
    """An event without an end and without a measured time was written when it ended."""
    events = written(logs, model(**fields))
    started, finished = of_kind(events, "call.started")[0], of_kind(events, "call.finished")[0]
    stamps = [None if one is None else f"2026-01-01T00:00:{one}Z" for one in (start, end)]
    assert [started.at, finished.at] == stamps
    assert [started.at_unknown, finished.at_unknown] == [one is None for one in stamps]
    assert finished.data.get("duration_us") == duration


def test_a_measured_time_may_stand_in_the_output(logs: Logs) -> None:
    """Some versions write the time of a model call there."""
    output = {**model()["output"], "time": 0.25}
    finished = of_kind(written(logs, model(completed=..., output=output)), "call.finished")[0]
    assert finished.data["duration_us"] == 250_000


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (model(output={"choices": []}), "empty"),
        (model(output={"completion": "hi"}), "ok"),
        (tool(result=""), "empty"),
        (tool(result=0), "ok"),
        (tool(truncated=[10, 5]), "partial"),
    ],
    ids=["no choice", "completion only", "nothing found", "zero", "cut short"],
)
def test_an_empty_result_is_no_failure_and_a_cut_one_is_partial(
    logs: Logs, event: dict[str, Any], status: str
) -> None:
    """The status says what came back."""
    events = written(logs, event)
    assert of_kind(events, "call.finished")[0].data["status"] == status
    assert of_kind(events, "failure.occurred") == []


@pytest.mark.parametrize(
    ("event", "class_", "detail"),
    [
        (tool(error={"type": "timeout", "message": "m"}), "timeout", "timeout"),
        (tool(failed=True), "tool_error", "failed"),
        (tool(pending=True, completed=...), "cancelled", "pending"),
        (model(error="RateLimitError('x')", traceback="tb"), "rate_limited", "RateLimitError"),
        (model(error={"message": "Cancelled by limit"}), "cancelled", "Cancelled by limit"),
    ],
    ids=["tool error", "hard failure", "unfinished", "model error", "cancelled"],
)
def test_c23_a_failed_call_names_a_recorded_failure(
    logs: Logs, event: dict[str, Any], class_: str, detail: str
) -> None:
    """The failure comes first, the end of the call names it."""
    events = written(logs, event)
    kinds = [one.kind for one in events if one.kind.startswith(("call", "failure"))]
    assert kinds == ["call.started", "failure.occurred", "call.finished"]
    failure, finished = of_kind(events, "failure.occurred")[0], of_kind(events, "call.finished")[0]
    assert fields_of(failure, "class", "detail_class", "call") == (class_, detail, "events/0")
    assert fields_of(finished, "status", "occurrence") == ("failed", failure.data["occurrence"])
    assert "fault" not in failure.data


def test_c23_only_the_same_call_makes_a_failure_good(logs: Logs) -> None:
    """Another argument is another call; one success makes all earlier failures of it good."""
    failed = {"error": {"type": "timeout"}}
    events = written(
        logs,
        tool(**failed),
        tool(arguments={"query": "y"}, **failed),
        tool(**failed),
        tool(),
        model(error="X()"),
        model(),
    )
    recovered = [
        fields_of(one, "occurrence", "call") for one in of_kind(events, "failure.recovered")
    ]
    assert recovered == [
        ("events/0/failure", "events/3"),
        ("events/2/failure", "events/3"),
        ("events/4/failure", "events/5"),
    ]


def test_c23_hidden_retries_are_failures_of_unknown_class(logs: Logs) -> None:
    """The log tells only how many requests were repeated."""
    events = written(logs, model(retries=2), model(retries=1, error="XError()"))
    occurred = [
        fields_of(one, "detail_class", "attempt") for one in of_kind(events, "failure.occurred")
    ]
    assert occurred == [
        ("retried_request", 1),
        ("retried_request", 2),
        ("retried_request", 1),
        ("XError", 2),
    ]
    assert len(of_kind(events, "failure.recovered")) == 2
    assert [one.data["attempt"] for one in of_kind(events, "call.started")] == [3, 2]


def test_a_hostile_number_of_retries_is_bounded(logs: Logs) -> None:
    """The number is told, not one event for each."""
    events = written(logs, model(retries=10**15))
    assert len(of_kind(events, "failure.occurred")) == 100


def test_c24_another_model_than_the_requested_is_an_occurrence(logs: Logs) -> None:
    """The call itself did not fail."""
    events = written(logs, model(output={**model()["output"], "model": "other"}))
    failure, finished = of_kind(events, "failure.occurred")[0], of_kind(events, "call.finished")[0]
    assert fields_of(failure, "class", "detail_class") == ("model_fallback", "other")
    assert text_of(failure, "message") == "requested maker/model, served by other"
    assert (finished.data["status"], finished.data["served"]) == ("ok", {"model": "other"})


@pytest.mark.parametrize("where", ["messages", "input"])
def test_c17_a_tool_result_that_the_model_saw_is_marked_delivered(logs: Logs, where: str) -> None:
    """It stands in the conversation, or in the input of a later model call."""
    message = {"role": "tool", "tool_call_id": "t1", "content": "found"}
    events = [tool(), tool(id="t2")]
    fields: dict[str, Any] = {}
    if where == "messages":
        fields = {"messages": [message, {"role": "user"}]}
    else:
        events.append(model(input=[message]))
    finished = of_kind(written(logs, *events, **fields), "call.finished")
    assert [one.data.get("delivered") for one in finished[:2]] == [True, None]


def test_c2_requests_and_answers_of_judges_are_gold(logs: Logs) -> None:
    """What a judge sees may show gold; its tools and failures too."""
    events = written(
        logs,
        {"event": "span_begin", "id": "s", "type": "scorer", "name": "match"},
        model(span_id="s"),
        tool(span_id="s", error={"type": "timeout", "message": "gold?"}),
    )
    texts = [
        value
        for one in events
        if one.kind.startswith(("call", "failure"))
        for value in one.data.values()
        if isinstance(value, NewText)
    ]
    assert {text.class_ for text in texts} == {"gold"}
    assert [one.data["purpose"] for one in of_kind(events, "call.started")] == ["judge", "judge"]


def test_a_request_or_response_out_of_bounds_is_left_out_and_told(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shared texts may mean more than anybody wants to store."""
    monkeypatch.setattr(inspect_mapping_calls, "MAX_REQUEST_BYTES", 150)
    long = "x" * 200
    events = written(
        logs, tool(arguments={"query": long}, error={"type": "timeout"}), tool(result=long)
    )
    assert "request" not in of_kind(events, "call.started")[0].data
    assert "response" not in of_kind(events, "call.finished")[1].data
    assert of_kind(events, "failure.recovered") == []
    losses = json.loads(text_of(of_kind(events, "source.imported")[0], "losses"))
    assert any(loss.endswith("more than the limit: 2.") for loss in losses)


def test_an_input_that_is_not_there_is_not_shown_as_empty(logs: Logs) -> None:
    """A reference that leads nowhere leaves the request without its messages."""
    events = written(logs, model(input=[], input_refs=[[0, 9]]))
    request = json.loads(text_of(of_kind(events, "call.started")[0], "request"))
    assert "input" not in request


def test_a_call_without_a_name_is_kept(logs: Logs) -> None:
    """Unknown is left out, not made up."""
    events = written(logs, tool(function=...), model(model=..., output=...))
    assert ["name" in one.data for one in of_kind(events, "call.started")] == [False, False]
    assert "response" not in of_kind(events, "call.finished")[1].data
