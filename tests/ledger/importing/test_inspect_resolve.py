"""Attachments, pooled inputs and ranges that lead nowhere."""

from typing import Any

import pytest

from trial_ledger.importing.inspect_resolve import MAX_INPUT_MESSAGES, resolve_sample


def first_event(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the first event of a sample after it was resolved."""
    resolved, _ = resolve_sample(sample)
    events: Any = resolved["events"]
    return dict(events[0])


def test_attachments_are_resolved_in_fields_and_nested_events() -> None:
    """Both spellings of a reference are followed; what leads nowhere stays and is counted."""
    sample = {
        "input": ["attachment://a", "attachment://gone"],
        "output": {"completion": "tc://a"},
        "attachments": {"a": "long text"},
        "events": [
            {
                "event": "tool",
                "result": "attachment://a",
                "events": [{"event": "model", "x": "tc://a"}],
            },
            {"event": "info", "data": "attachment://a"},
            7,
        ],
        "error_retries": [{"message": "m", "events": [{"event": "tool", "result": "tc://no"}]}, 3],
    }
    resolved, missing = resolve_sample(sample)
    assert resolved["input"] == ["long text", "attachment://gone"]
    assert resolved["output"] == {"completion": "long text"}
    assert resolved["events"] == [
        {"event": "tool", "result": "long text", "events": [{"event": "model", "x": "long text"}]},
        {"event": "info", "data": "attachment://a"},
    ]
    assert resolved["error_retries"] == [
        {"message": "m", "events": [{"event": "tool", "result": "tc://no"}]}
    ]
    assert missing == 2


@pytest.mark.parametrize("pool", ["events_data", "message_pool"])
def test_pooled_inputs_are_expanded_in_both_places_of_the_pool(pool: str) -> None:
    """Ranges are half-open; single numbers occur too."""
    messages = [{"content": f"m{number}"} for number in range(4)]
    sample: dict[str, Any] = {
        "events": [{"event": "model", "input": [], "input_refs": [[0, 2], 3], "call": {"raw": 1}}]
    }
    sample[pool] = {"messages": messages} if pool == "events_data" else messages
    event = first_event(sample)
    assert event["input"] == [messages[0], messages[1], messages[3]]
    assert event["call"] is True


@pytest.mark.parametrize("reference", [[0, 9], [-1, 1], [1, 1], [0], "x", ["a", "b"], 7])
def test_a_range_outside_of_the_pool_leaves_the_input_unknown(reference: object) -> None:
    """An input is never cut short or padded."""
    sample = {
        "message_pool": [{"content": "m"}],
        "events": [{"event": "model", "input": [], "input_refs": [reference]}],
    }
    resolved, missing = resolve_sample(sample)
    events: Any = resolved["events"]
    assert (events[0]["input"], missing) == (None, 1)


def test_an_input_of_absurd_length_is_not_built() -> None:
    """Ranges that repeat the pool are bounded."""
    references = [[0, 1000]] * (MAX_INPUT_MESSAGES // 1000 + 1)
    sample = {
        "message_pool": [{}] * 1000,
        "events": [{"event": "model", "input_refs": references}],
    }
    resolved, missing = resolve_sample(sample)
    events: Any = resolved["events"]
    assert (events[0]["input"], missing) == (None, 1)


def test_an_input_that_is_there_is_not_replaced() -> None:
    """References count only where the input itself is empty."""
    sample = {"events": [{"event": "model", "input": [{"content": "own"}], "input_refs": [[0, 1]]}]}
    assert first_event(sample)["input"] == [{"content": "own"}]


def test_the_oldest_transcript_is_read_like_events() -> None:
    """Before events had their own field they lay in a transcript with its contents."""
    sample = {
        "transcript": {"events": [{"event": "model", "x": "tc://k"}], "content": {"k": "text"}}
    }
    assert first_event(sample) == {"event": "model", "x": "text"}


def test_a_chunked_sample_numbers_its_attachments_and_refers_to_its_conversation() -> None:
    """Version 3 keeps the final conversation as ranges of the messages."""
    sample = {
        "attachments": ["zero", "one"],
        "message_refs": [[1, 2]],
        "events_data": {"messages": [{"content": "a"}, {"content": "attachment://1"}]},
    }
    resolved, _ = resolve_sample(sample)
    assert resolved["messages"] == [{"content": "one"}]
    lost, _ = resolve_sample({**sample, "message_refs": [[5, 6]]})
    assert lost["messages"] == []
