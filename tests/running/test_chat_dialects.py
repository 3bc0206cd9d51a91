"""Dialects of model services: what is asked, what a turn says, and why it stopped."""

import json
from typing import Any

import pytest

from trial_ledger.amounts import Usage
from trial_ledger.documents.manifest_structs import Agent, Manifest, Model, Prompt, Tool
from trial_ledger.running.chat.anthropic import ANTHROPIC
from trial_ledger.running.chat.dialect import (
    Dialect,
    ToolResult,
    Turn,
    arguments_of,
    body_of,
    question_text,
    read_exact,
    system_prompt,
)
from trial_ledger.running.chat.openai import OPENAI
from trial_ledger.running.search.base import read_json

MODEL = Model(name="m-1", sampling={"temperature": "0.20", "max_tokens": 64, "stop": "0.5"})
SEARCH = Tool(
    name="search_web",
    description="Search",
    endpoint="search",
    schema={"type": "object", "properties": {"query": {"type": "string"}}},
)
BARE = Tool(name="now")


def asked(dialect: Dialect, system: str | None, tools: list[Tool]) -> dict[str, Any]:
    """Return the body that asks a model."""
    fields = dialect.request(MODEL, system, [{"role": "user", "content": "Who?"}], tools)
    body: dict[str, Any] = json.loads(body_of(fields, MODEL.sampling))
    return body


def turn(dialect: Dialect, body: object) -> Turn:
    """Return the turn that a body says."""
    content = json.dumps(body).encode()
    found = dialect.read(read_json(content), read_exact(content))
    assert found is not None
    return found


def test_openai_is_asked() -> None:
    """Prompt first, tools as functions, sampling as the manifest says, decimals as numbers."""
    body = asked(OPENAI, "Be brief.", [SEARCH, BARE])
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Who?"},
    ]
    assert body["tools"][0]["function"]["parameters"] == SEARCH.schema
    assert body["tools"][1]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m-1", 0.2, 64)
    assert body["stop"] == "0.5"
    assert "tools" not in asked(OPENAI, None, [])


def test_anthropic_is_asked() -> None:
    """The prompt stands apart, and a number of tokens is always there."""
    body = asked(ANTHROPIC, "Be brief.", [SEARCH])
    assert (body["system"], body["max_tokens"]) == ("Be brief.", 64)
    assert body["tools"] == [
        {"name": "search_web", "description": "Search", "input_schema": SEARCH.schema}
    ]
    fields = ANTHROPIC.request(Model(name="m"), None, [], [])
    assert set(fields) == {"model", "max_tokens", "messages"}
    assert ANTHROPIC.headers == {"anthropic-version": "2023-06-01"}


def openai_body(reason: str | None, **message: object) -> dict[str, Any]:
    """Return a response of the first dialect."""
    choice = {"message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"choices": [choice], "model": "m-2", "system_fingerprint": "fp"}


CALL = {"id": "c1", "type": "function", "index": 3, "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("body", "stop", "text"),
    [
        (openai_body("stop", content="Khiva"), "answer", "Khiva"),
        (openai_body("length", content="Khi"), "limit", "Khi"),
        (openai_body("content_filter", content=None), "filtered", None),
        (openai_body("tool_calls", content=None, tool_calls=[CALL]), "tool", None),
        (openai_body("stop", content="x", tool_calls=[CALL]), "tool", "x"),
        (openai_body(None, tool_calls=[CALL]), "tool", None),
        (openai_body("stop", content=None, refusal="I cannot"), "refused", "I cannot"),
        (openai_body("odd", content="Khiva"), "answer", "Khiva"),
    ],
)
def test_openai_stop_reasons_are_kept_apart(
    body: dict[str, Any], stop: str, text: str | None
) -> None:
    """Answer, tool, limit, filter and refusal are five things."""
    found = turn(OPENAI, body)
    assert (found.stop, found.text) == (stop, text)
    assert (found.model, found.fingerprint) == ("m-2", "fp")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "answer"),
        ("stop_sequence", "answer"),
        ("max_tokens", "limit"),
        ("model_context_window_exceeded", "limit"),
        ("refusal", "refused"),
        ("pause_turn", "more"),
        (None, "answer"),
    ],
)
def test_anthropic_stop_reasons_are_kept_apart(reason: str | None, stop: str) -> None:
    """A refusal and a pause are no answers."""
    body = {"content": [{"type": "text", "text": "Khiva"}], "stop_reason": reason, "model": "m-2"}
    found = turn(ANTHROPIC, body)
    assert (found.stop, found.text, found.reason) == (stop, "Khiva", reason)


def test_what_a_model_said_is_sent_back_as_it_was() -> None:
    """Numbers of a turn are repeated digit by digit."""
    content = [{"type": "tool_use", "id": "t1", "name": "f", "input": {"n": 0.10, "k": 2**60}}]
    found = turn(ANTHROPIC, {"content": content, "stop_reason": "tool_use"})
    assert (found.stop, found.asked[0].name) == ("tool", "f")
    sent = body_of({"messages": [found.message]}, {})
    assert str(2**60).encode() in sent
    assert json.loads(sent)["messages"][0]["content"] == content
    other = turn(OPENAI, openai_body("tool_calls", content=None, tool_calls=[CALL]))
    assert json.loads(body_of({"m": other.message}, {}))["m"] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
    }


def test_results_are_told_in_each_dialect() -> None:
    """A failed tool is told as one."""
    found = [ToolResult(id="a", content="x"), ToolResult(id="b", content="no", is_error=True)]
    assert [one["tool_call_id"] for one in OPENAI.results(found)] == ["a", "b"]
    (message,) = ANTHROPIC.results(found)
    assert message["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "x", "is_error": False},
        {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True},
    ]


def test_c18_tokens_are_counted_apart() -> None:
    """Input without what came from a cache, in both dialects; what is missing is unknown."""
    body = openai_body("stop", content="x") | {
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 3},
        }
    }
    assert turn(OPENAI, body).usage == Usage(
        input_tokens=40, input_tokens_cache_read=60, output_tokens=7, reasoning_tokens=3
    )
    assert turn(OPENAI, openai_body("stop", content="x")).usage is None
    assert turn(OPENAI, openai_body("stop", content="x") | {"usage": {}}).usage == Usage()
    answer = {"content": [], "usage": {"input_tokens": 5, "output_tokens": 6}}
    answer["usage"]["server_tool_use"] = {"web_search_requests": 2}  # type: ignore[index]
    assert turn(ANTHROPIC, answer).usage == Usage(
        input_tokens=5, output_tokens=6, units={"web_search_requests": 2}
    )
    assert turn(ANTHROPIC, {"content": []}).usage is None


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"choices":[]}', b'{"content":"x"}'])
def test_a_body_that_is_no_turn(dialect: Dialect, body: bytes) -> None:
    """A response of another form is none."""
    assert dialect.read(read_json(body), read_exact(body)) is None


def test_arguments_may_be_no_object() -> None:
    """What a model wrote in the place of arguments is not guessed."""
    assert arguments_of('{"query": "q"}') == {"query": "q"}
    assert arguments_of({"query": "q"}) == {"query": "q"}
    assert arguments_of('{"query') is None
    assert arguments_of("[1]") is None
    assert arguments_of(None) is None


def test_prompts_and_questions() -> None:
    """The named prompt, else the only one; what belongs to a question stands under it."""
    prompts = {"a": Prompt(text="A"), "b": Prompt(text="B")}

    def manifest(options: dict[str, object], names: str) -> Manifest:
        return Manifest(
            configuration="c",
            dataset="d@1",
            rubric="r@1",
            agent=Agent(kind="chat", target="main", options=options),
            prompts={name: prompts[name] for name in names},
        )

    assert system_prompt(manifest({"prompt": "b"}, "ab")) == "B"
    assert system_prompt(manifest({}, "a")) == "A"
    assert system_prompt(manifest({}, "ab")) is None
    assert question_text({"id": "q1", "question": "Who?", "as_of": None, "context": None}) == "Who?"
    assert question_text({"question": "Who?", "as_of": "2026-10-01"}) == (
        'Who?\n\n{"as_of":"2026-10-01"}'
    )
