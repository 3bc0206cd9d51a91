"""Lines of an agent: read for what they are, and a line that means nothing is said to."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trial_ledger.running.line_protocol import (
    AGENT_KINDS,
    AgentEvent,
    Answer,
    ToolCall,
    Unreadable,
    read_line,
    written,
)


def line(**fields: object) -> bytes:
    """Return a line of an agent."""
    return json.dumps(fields).encode()


def test_lines_are_read() -> None:
    """A call, an event, an answer; JSON answers and citations become text."""
    assert read_line(line(type="tool", id="1", name="search", arguments={"query": "q"})) == (
        ToolCall(id="1", name="search", arguments={"query": "q"})
    )
    assert read_line(line(type="tool", name="search")) == ToolCall(
        id="", name="search", arguments={}
    )
    assert read_line(line(type="event", kind="failure.occurred", data={"class": "other"})) == (
        AgentEvent(kind="failure.occurred", data={"class": "other"})
    )
    assert read_line(line(type="answer", answer="Khiva", citations=["u"])) == (
        Answer(answer="Khiva", citations='["u"]')
    )
    assert read_line(line(type="answer", answer=[{"b": 1, "a": None}])) == (
        Answer(answer='[{"a":null,"b":1}]')
    )
    assert read_line(line(type="answer", abstained=True)) == Answer(abstained=True)


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (b"hello", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[1]", "not an object"),
        (line(type="note"), "none of tool, event, answer"),
        (line(type="tool", id="1"), "a tool call has"),
        (line(type="tool", id=1, name="search"), "a tool call has"),
        (line(type="tool", name="search", arguments=[]), "a tool call has"),
        (line(type="event", kind="trial.finished"), "is none of call.finished"),
        (line(type="event", kind="judgment.recorded"), "is none of"),
        (line(type="event", kind="call.started", data=3), "an event has"),
        (line(type="event", kind="call.started", id=3), "an event has"),
        (line(type="answer"), "no answer"),
        (line(type="answer", answer="x", abstained="no"), "not true or false"),
    ],
)
def test_a_line_that_means_nothing_says_why(odd: bytes, reason: str) -> None:
    """Nothing that an agent writes is skipped."""
    found = read_line(odd)
    assert isinstance(found, Unreadable)
    assert reason in found.reason


def test_an_agent_reports_of_itself_only() -> None:
    """No event that judges, ends a trial or speaks for a person is among the allowed ones."""
    assert {kind.partition(".")[0] for kind in AGENT_KINDS} == {"call", "response", "failure"}


@settings(max_examples=50, deadline=None)
@given(content=st.text() | st.integers(0, 2**50) | st.lists(st.booleans()))
def test_what_is_written_is_one_line(content: object) -> None:
    """Whatever a result holds, it is one line of JSON that says the same."""
    sent = written("result", id="1", content=content)
    assert sent.count(b"\n") == 1
    assert json.loads(sent) == {"type": "result", "id": "1", "content": content}


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=40))
def test_no_line_is_too_odd(data: bytes) -> None:
    """Any bytes are a line or unreadable."""
    assert isinstance(read_line(data), ToolCall | AgentEvent | Answer | Unreadable)
