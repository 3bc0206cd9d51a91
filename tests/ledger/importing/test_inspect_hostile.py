"""Logs in which anything may stand anywhere: refused in words, or imported past every guard."""

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from inspect_cases import header, sample
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.appending import append_run
from trial_ledger.importing.inspect import import_inspect
from trial_ledger.tools import system_tools

STAMP = "2026-01-01T00:00:00+00:00"
FAILED = {"type": "timeout", "message": "slow"}
LOG: dict[str, Any] = {
    **header(
        results={"scores": [{"name": "match", "scorer": "match", "metrics": {"a": {"value": 1}}}]}
    ),
    "samples": [
        sample(
            1,
            events=[
                {"event": "span_begin", "id": "s", "type": "scorer", "name": "match"},
                {
                    "event": "model",
                    "model": "maker/model",
                    "retries": 1,
                    "input_refs": [[0, 1]],
                    "output": {"model": "other", "usage": {"input_tokens": 1, "total_cost": 0.1}},
                    "timestamp": STAMP,
                    "completed": STAMP,
                },
                {"event": "tool", "id": "t", "function": "f", "arguments": {}, "error": FAILED},
                {"event": "tool", "id": "t", "function": "f", "arguments": {}, "result": "x"},
                {"event": "model", "span_id": "s", "error": "TimeoutError()"},
            ],
            events_data={"messages": [{"role": "user", "content": "attachment://a"}]},
            attachments={"a": "text"},
            scores={
                "match": {
                    "value": {"x": 0.5},
                    "history": [
                        {"value": {"x": "C"}, "explanation": "e"},
                        {"value": {"x": 0.5}, "provenance": {"author": "Ada", "reason": "r"}},
                    ],
                }
            },
            error_retries=[{"message": "X()", "traceback": "t", "events": [{"event": "model"}]}],
            model_fallbacks=[{"model": "m", "fallback_model": "n", "count": 1}],
            invalidation={"author": "Bob", "reason": "r", "timestamp": STAMP},
            limit={"type": "token", "limit": 1.0},
            total_time=1.5,
        ),
        sample(
            2, error={"message": "ValueError('x')", "traceback": "t"}, messages=[{"role": "tool"}]
        ),
    ],
    "log_updates": [{"provenance": {"author": "Ada"}}],
}


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of everything below a value."""
    members: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    found = [path] if path else []
    for key, member in members:
        found += places(member, (*path, key))
    return found


ANYTHING: st.SearchStrategy[object] = st.sampled_from([
    None, True, -1, 0, 2**60, 10**30, 0.5, 1e300, float("nan"), "", "x", "\ud800", "a\x00b",
    "x" * 300, "attachment://gone", "UNCHANGED", "C", STAMP, [], {}, [1], {"a": 1}, [[0, 1]], [[]],
    [{"event": "model"}], {"x": "C", "y": 2.5}, "https://user:pw@example.org/",
])  # fmt: skip


def changed(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """Return the log with one place replaced."""
    log = copy.deepcopy(LOG)
    parent: Any = log
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return log


@settings(deadline=None, max_examples=100)
@given(place=st.sampled_from(places(LOG)), value=ANYTHING)
def test_anything_anywhere_is_refused_in_words_or_imported(
    place: tuple[str | int, ...], value: object
) -> None:
    """No value in any place makes the importer fail otherwise, or an event that a guard refuses."""
    tools = msgspec.structs.replace(system_tools(), state_directory=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.json"
        path.write_text(json.dumps(changed(place, value)))
        try:
            run = import_inspect(path)
        except InvalidInputError:
            return
        with Ledger.create(Path(folder) / "x.ledger", tools=tools) as ledger:
            append_run(ledger, run)
