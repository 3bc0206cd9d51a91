"""Served models, usage in its parts, reported costs."""

from decimal import Decimal

import pytest

from trial_ledger.importing.inspect_mapping_failures import (
    error_class,
    is_cancellation,
    tool_error_class,
)
from trial_ledger.importing.inspect_mapping_models import (
    cost_of,
    fallback_of,
    rolled_up_fallbacks,
    served_of,
    usage_of,
)
from trial_ledger.importing.inspect_mapping_spans import locate


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            {"model": "a/m", "output": {"fallback": {"model": "m", "fallback_model": "n"}}},
            ("m", "n"),
        ),
        ({"model": "n", "requested_model": "m"}, ("m", "n")),
        ({"model": "m", "requested_model": "m", "output": {"model": "m"}}, None),
        ({"model": "m", "output": {"model": "n"}}, ("m", "n")),
        ({"model": "m", "output": {"fallback": {"model": "m"}}}, None),
        ({"output": {"model": "n"}}, None),
    ],
)
def test_c24_a_fallback_is_found_however_the_log_tells_it(
    event: dict[str, object], expected: tuple[str, str] | None
) -> None:
    """Declared by the provider, made by a bridge, or only visible in the answer's model."""
    assert fallback_of(event) == expected


def test_fallbacks_of_a_sample_are_summed_up_by_pair() -> None:
    """A record without a count is one; one without a model is none."""
    sample = {
        "model_fallbacks": [
            {"model": "m", "fallback_model": "n", "count": 3},
            {"model": "m", "fallback_model": "o"},
            {"model": "m"},
        ]
    }
    assert rolled_up_fallbacks(sample) == {("m", "n"): 3, ("m", "o"): 1}


def test_usage_keeps_its_parts_and_leaves_unknown_ones_out() -> None:
    """Input excludes cached tokens in Inspect as here; what is not stated stays unknown."""
    usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12, "reasoning_tokens": None}
    event = {"output": {"usage": usage}}
    assert usage_of(event) == {"input_tokens": 5, "output_tokens": 7}
    assert usage_of({"output": {}}) is None


def test_an_answer_from_the_local_cache_consumed_nothing() -> None:
    """No request left, although the log repeats the usage of the kept answer."""
    event = {"cache": "read", "output": {"usage": {"input_tokens": 5, "total_cost": 1}}}
    usage = usage_of(event)
    assert usage is not None
    assert (usage["input_tokens"], usage["units"]) == (0, {"cache_reads": 1})
    assert cost_of(event) is None


@pytest.mark.parametrize(
    ("cost", "amount"),
    [
        (Decimal("0.00250"), "0.0025"),
        (Decimal("1.5e-7"), "0.00000015"),
        (2, "2"),
        (None, None),
        (Decimal(-1), None),
        (Decimal("1e999999"), None),
        (Decimal("NaN"), None),
    ],
)
def test_c18_a_cost_is_the_reported_one_or_unknown(cost: object, amount: str | None) -> None:
    """The digits are those of the log; nothing unreadable becomes 0."""
    found = cost_of({"output": {"usage": {"total_cost": cost}}})
    expected = (
        None if amount is None else {"amount": amount, "currency": "USD", "basis": "reported"}
    )
    assert found == expected


def test_who_answered_is_the_fallback_where_one_is_declared() -> None:
    """Without any name in the output nothing is known."""
    assert served_of({"output": {"model": "m", "fallback": {"fallback_model": "n"}}}) == {
        "model": "n"
    }
    assert served_of({"output": {"model": "m"}}) == {"model": "m"}
    assert served_of({}) is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("ConnectionError('reset')", ("connect", "ConnectionError")),
        ("openai.RateLimitError: slow down", ("rate_limited", "RateLimitError")),
        ("RuntimeError('x')", ("other", "RuntimeError")),
        ("TimeoutError", ("timeout", "TimeoutError")),
        ("Cancelled by operator", ("cancelled", "Cancelled by operator")),
        ("something went wrong", ("other", "error")),
        (None, ("other", "error")),
    ],
)
def test_c23_an_error_gets_its_class_from_the_name_of_the_exception(
    message: str | None, expected: tuple[str, str]
) -> None:
    """What has no word of its own is `other` with the source's word."""
    assert error_class(message) == expected


def test_a_cancellation_is_no_error() -> None:
    """Inspect records it as one."""
    assert is_cancellation("CancelledError('by scope')")
    assert not is_cancellation("ValueError('x')")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("timeout", ("timeout", "timeout")),
        ("permission", ("tool_error", "permission")),
        ("output_limit", ("limit", "output_limit")),
        (None, ("tool_error", "unknown")),
    ],
)
def test_c23_a_tool_error_keeps_its_type(kind: str | None, expected: tuple[str, str]) -> None:
    """Types without a class of their own are tool errors, told apart by their detail."""
    assert tool_error_class(kind) == expected


def test_spans_tell_whose_event_it_is() -> None:
    """The outermost scorer names it; cycles and unknown parents end the search."""
    events = [
        {"event": "span_begin", "id": "all", "type": "scorers", "name": "scorers"},
        {"event": "span_begin", "id": "s", "type": "scorer", "name": "judge", "parent_id": "all"},
        {"event": "span_begin", "id": "i", "type": "scorer", "name": "inner", "parent_id": "s"},
        {"event": "span_begin", "id": "a", "type": "solver", "name": "x", "parent_id": "b"},
        {"event": "span_begin", "id": "b", "parent_id": "a"},
        {"event": "span_begin", "name": "without id"},
        {"event": "model", "span_id": "i"},
        {"event": "model", "span_id": "all"},
        {"event": "model", "span_id": "a"},
        {"event": "model", "span_id": "elsewhere"},
        {"event": "model", "role": "grader"},
    ]
    found = [
        (one.scorer, one.is_judging) for one in locate(events, "events") if one.kind == "model"
    ]
    assert found == [("judge", True), ("", True), (None, False), (None, False), (None, True)]


def test_steps_tell_whose_event_it_is_in_older_logs() -> None:
    """A scorer is what is going on between its begin and its end; nested events have paths."""
    events: list[dict[str, object]] = [
        {"event": "step", "action": "end"},
        {"event": "step", "action": "begin", "type": "solver", "name": "generate"},
        {"event": "tool", "events": [{"event": "model"}]},
        {"event": "step", "action": "end", "type": "solver", "name": "generate"},
        {"event": "step", "action": "begin", "type": "scorer", "name": "judge"},
        {"event": "model"},
        {"event": "step", "action": "end"},
        {},
    ]
    found = [
        (one.place, one.scorer) for one in locate(events, "e") if one.kind in {"tool", "model"}
    ]
    assert found == [("e/2", None), ("e/2/events/0", None), ("e/5", "judge")]
