"""Bad input through the real command: a clear error, the right exit code, nothing written."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli_cases import (
    RUN,
    Here,
    Result,
    event,
    head,
    ledger,
    lines,
    opening,
    ready,
    start,
)
from document_cases import manifest_table, question_record, rubric_table
from ledger_cases import ANSWERS, event_id

FORM, RULE, VERIFICATION, NOT_FOUND, STORAGE = 2, 3, 4, 6, 7
LARGE = 2**53


def untouched(here: Here, path: Path, before: object, result: Result) -> None:
    """Assert that a command refused without a traceback, wrote nothing, and left a sound file."""
    assert "Traceback" not in result.err
    assert result.out == ""
    assert head(path) == before
    assert here("verify").code == 0


class Bad(NamedTuple):
    """Records that `ledger append` must refuse."""

    records: tuple[object, ...]
    code: int
    says: tuple[str, ...]
    """What the message holds: place, field, found, expected, hint."""


CLOSING = event("call.finished", "q1", call="c1", status="ok")
CALL = event("call.started", "q1", call="c1", purpose="model", endpoint="model")
ENDING = event("trial.finished", "q1", outcome="answered")
ANSWER = event("answer.submitted", "q1", answer="Babylon")
JUDGMENT = event(
    "judgment.recorded", "q1", judgment="j1", metric="exact", by="code",
    grader={"name": "match", "version": "1"}, parts=[{"name": "equal"}],
)  # fmt: skip
NAMED = {**opening(), "id": event_id("one")}

BAD: dict[str, Bad] = {
    "not JSON": Bad((opening(), b'{"kind": '), FORM, ("in.jsonl:2: not JSON: Expecting value at",)),
    "not an object": Bad((["run.opened"],), FORM, (":1: not an event, found an array, expected",)),
    "not UTF-8": Bad((b'{"kind": "\xff"}',), FORM, (":1: not UTF-8 at byte 10, found",)),
    "duplicate keys": Bad(
        (b'{"kind": "note.added", "kind": "run.opened"}',),
        FORM,
        ("in.jsonl:1: kind: key stands twice in one object",),
    ),
    "NaN": Bad(
        (b'{"kind": "note.added", "data": {"x": NaN}}',),
        FORM,
        ("in.jsonl:1: data.x: not a JSON number, found NaN, expected null where unknown",),
    ),
    "Infinity": Bad(
        (b'{"data": [Infinity, -Infinity]}',),
        FORM,
        ("data[0]: not a JSON number, found Infinity", "data[1]:", "found -Infinity"),
    ),
    "1e400": Bad((b'{"data": {"x": 1e400}}',), FORM, ("data.x: number out of range, found 1e400",)),
    "a float in a score": Bad(
        (b'{"kind": "judgment.recorded", "data": {"score": 0.25}}',),
        FORM,
        ("in.jsonl:1: data.score: bare decimal, found 0.25", '"1/4" as a score'),
    ),
    "an integer from 2^53": Bad(
        ({"kind": "call.finished", "data": {"duration_us": LARGE}},),
        FORM,
        (f"data.duration_us: integer beyond 2^53 - 1, found {LARGE}", f"up to {LARGE - 1}"),
    ),
    "a lone surrogate": Bad(
        (b'{"kind": "note.added", "data": {"about": "x", "text": "\\ud800"}}',),
        FORM,
        (r"data.text: holds a lone surrogate, found '\ud800', expected Unicode text",),
    ),
    "control characters": Bad(
        (opening(), start("q1"), event("call.started", "q1", call="a\x1b[2J", purpose="tool")),
        FORM,
        (r"in.jsonl:3: data.call: not acceptable, found 'a\x1b[2J'", "without control characters"),
    ),
    "a raw control character": Bad(
        (b'{"kind": "note\x00added"}',), FORM, (":1: not JSON: Invalid control character at",)
    ),
    "a document over the limit": Bad(
        (
            opening(),
            start("q1"),
            ENDING,
            {
                **JUDGMENT,
                "data": {
                    **JUDGMENT["data"],  # type: ignore[dict-item]
                    "score": "1",
                    "parts": [{"name": "x" * 200} for _ in range(300)],
                },
            },
        ),
        FORM,
        ("in.jsonl:4: the document is over the limit, found", "at most 65535", "text fields"),
    ),
    "depth 33": Bad(
        (b'{"kind": "note.added", "data": ' + b"[" * 32 + b"]" * 32 + b"}",),
        FORM,
        ("in.jsonl:1: data[0][0]", "nested deeper than 32 levels"),
    ),
    "a bottomless line": Bad((b"[" * 200_000,), FORM, (":1: nested deeper than 32 levels",)),
    "no kind": Bad(({"run": RUN},), FORM, (":1: kind: missing, expected an event kind, as trial",)),
    "an unknown kind": Bad(
        ({"kind": "trial.start"},),
        FORM,
        (":1: kind: unknown kind, found 'trial.start', expected perhaps trial.st", "help append"),
    ),
    "a kind that a command writes": Bad(
        ({"kind": "manifest.frozen"},),
        FORM,
        ("kind: this kind is written by a command, found manifest.frozen", "`ledger freeze mani"),
    ),
    "a redaction without its erasure": Bad(
        ({"kind": "blob.redacted"},),
        FORM,
        ("this kind is written by a command, found blob.redacted", "`ledger redact`"),
    ),
    "an unknown field": Bad(
        (opening(), start("q1", inptu="x")),
        FORM,
        ("in.jsonl:2: data.inptu: unknown field, expected perhaps input", "ledger help append"),
    ),
    "an unknown envelope field": Bad(
        ({**opening(), "runs": "x"},), FORM, (":1: runs: unknown field, expected perhaps run",)
    ),
    "ledger-filled fields": Bad(
        (
            {
                **opening(),
                "ledger": "x",
                "seq": 1,
                "prev": "x",
                "link": {},
                "recorded_at": 1,
                "v": 1,
            },
        ),
        FORM,
        tuple(
            f"{field}: only the ledger fills this field, expected to be left out"
            for field in ("ledger", "seq", "prev", "link", "recorded_at", "v")
        ),
    ),
    "a bad time": Bad(
        ({**opening(), "at": "2026-02-31T00:00:00.000000Z"},),
        FORM,
        (":1: at: not acceptable, found '2026-02-31T00:00:00.000000Z', expected UTC with six",),
    ),
    "a trial that is none": Bad(
        ({**start("q1"), "trial": "q1"},),
        FORM,
        ("in.jsonl:1: trial: not a trial, found 'q1', expected question#repetition[@session]",),
    ),
    "a call finished before it started": Bad(
        (opening(), start("q1"), CLOSING),
        RULE,
        ("in.jsonl:3: data.call: call c1 was never started", "append its call.started before"),
    ),
    "a call of a trial that was never started": Bad(
        (opening(), CALL),
        RULE,
        (":2: trial: trial q1#1@s1 of run r1 was never started", "its trial.started first"),
    ),
    "a trial in a run not opened": Bad(
        (start("q1"),), RULE, ("in.jsonl:1: run r1 was never opened", "append run.opened first")
    ),
    "a second answer": Bad(
        (opening(), start("q1"), ANSWER, ANSWER),
        RULE,
        ("in.jsonl:4: trial q1#1@s1 already has an answer",),
    ),
    "an event of a run that names none": Bad(
        ({"kind": "failure.occurred", "data": {"occurrence": "f1", "class": "timeout"}},),
        RULE,
        (":1: run: failure.occurred names no run", 'give "run"'),
    ),
    "a duplicate trial": Bad(
        (opening(), start("q1"), start("q1")),
        RULE,
        ("in.jsonl:3: trial: trial q1#1@s1 of run r1 exists (C16)", "is another session"),
    ),
    "a trial that is not planned": Bad(
        (opening(), {**start("q1"), "trial": "q1#2"}),
        RULE,
        (":2: trial: slot q1#2 is not planned in run r1 (C16)", "planned are 10 questions x 1"),
    ),
    "same id, other content": Bad(
        (NAMED, {**NAMED, "run": "r2"}),
        RULE,
        (
            f"in.jsonl:2: run: event {NAMED['id']} exists as seq 5 with another run",
            "a new event ne",
        ),
    ),
    "gold in a first agent input": Bad(
        (opening(), start("q1", input=f"Is it {ANSWERS['q1'].upper()}?")),
        RULE,
        (":2: data.input: the input of trial q1#1@s1 shows gold: samarkand (C3)", "send the agent"),
    ),
    "a manifest that is not frozen": Bad(
        (opening(manifest="other"),),
        RULE,
        (":1: data.manifest: manifest other is not frozen (C9)", "there is local"),
    ),
    "a human act without a person": Bad(
        (opening(), event("run.invalidated", reason="wrong page")),
        RULE,
        (":2: actor: run.invalidated is the act of a named person, actor is harness", '"human"'),
    ),
    "a judgment outside the scale": Bad(
        (opening(), start("q1"), ENDING, {**JUDGMENT, "data": {**JUDGMENT["data"], "score": "2"}}),  # type: ignore[dict-item]
        RULE,
        (":4: data.score: score 2 lies outside the scale 0 to 1 (C20)",),
    ),
}
"""What is wrong → the records, the exit code, what the message says."""


@pytest.mark.parametrize("name", BAD)
def test_bad_records_are_refused(name: str, tmp_path: Path, here: Here) -> None:
    """Bad records are refused with place, found and expected; the file stays as it was."""
    path = ready(tmp_path)
    before = head(path)
    bad = BAD[name]
    (tmp_path / "in.jsonl").write_bytes(lines(*bad.records))
    result = ledger(tmp_path, "append", "in.jsonl")
    assert result.code == bad.code, result.err
    for words in bad.says:
        assert words in result.err
    assert "nothing written" in result.err
    untouched(here, path, before, result)


class BadFile(NamedTuple):
    """A document or log that a command must refuse."""

    content: bytes
    arguments: tuple[str, ...]
    code: int
    says: tuple[str, ...]


def without(table: dict[str, Any], *path: str) -> bytes:
    """Return a document as JSON with one value taken away."""
    inner = table
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return json.dumps(table).encode()


def rubric(**changes: object) -> bytes:
    """Return a rubric as JSON."""
    return json.dumps(rubric_table(version="2", **changes)).encode()


DATASET = ("freeze", "dataset", "bad", "--name", "n", "--version", "1")
BAD_FILES: dict[str, BadFile] = {
    "a rubric with a gap in its outcome table": BadFile(
        without(rubric_table(version="2"), "outcomes", "refused"),
        ("freeze", "rubric", "bad"),
        FORM,
        ("bad: outcomes: outcome classes without a rule: refused (C20)", "ledger init --template"),
    ),
    "a rubric that maps not every failure class": BadFile(
        without(rubric_table(version="2"), "outcomes", "failures", "timeout"),
        ("freeze", "rubric", "bad"),
        FORM,
        ("bad: outcomes.failures: failure classes without an outcome: timeout (C20)",),
    ),
    "duplicate question ids": BadFile(
        lines(question_record(), question_record(id="q2"), question_record()),
        DATASET,
        FORM,
        (
            "bad:3: id: question id stands twice, first on line 1 (C1), found 'q1'",
            "nothing written",
        ),
    ),
    "a record without a question, and one without an id": BadFile(
        lines(question_record(question=None), question_record(id=None)),
        DATASET,
        FORM,
        ("bad:1: question: missing (C1)", "bad:2: id: missing (C1)"),
    ),
    "a bare TOML float": BadFile(
        b'name = "quality"\nversion = "2"\nmax_undecided = 0.05\n',
        ("freeze", "rubric", "bad"),
        FORM,
        ("bad:3: max_undecided: bare", "0.05", '"0.05"'),
    ),
    "no TOML": BadFile(
        b'name = "quality\n', ("freeze", "rubric", "bad"), FORM, ("bad:1:", "not TOML")
    ),
    "an unknown key": BadFile(
        rubric(nmae="x"), ("freeze", "rubric", "bad"), FORM, ("nmae: unknown", "name")
    ),
    "a changed rubric under a taken name": BadFile(
        json.dumps(rubric_table()).encode(),
        ("freeze", "rubric", "bad"),
        RULE,
        ("rubric quality@1 exists and differs: ", "(C14)", "a new version, such as 2"),
    ),
    "a secret's value in a manifest": BadFile(
        json.dumps(manifest_table(repetitions=1, reason="try hunter22 first")).encode(),
        ("freeze", "manifest", "bad"),
        FORM,
        ("bad: reason: holds the value of the environment variable MODEL_KEY (C11)", "key_env"),
    ),
    "a manifest whose rubric is not frozen": BadFile(
        json.dumps(manifest_table(rubric="other@1")).encode(),
        ("freeze", "manifest", "bad"),
        RULE,
        ("rubric other@1 is not frozen (C14)", "there is quality@1"),
    ),
    "another system under a taken configuration": BadFile(
        json.dumps(manifest_table(models={"main": {"name": "n", "endpoint": "model"}})).encode(),
        ("freeze", "manifest", "bad"),
        RULE,
        ("configuration local is system", "(C9)", "new configuration name"),
    ),
    "a file that is no JSONL": BadFile(
        b"\x7fELF\x00", ("append", "bad"), FORM, ("bad:1: not JSON",)
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_documents_are_refused(name: str, tmp_path: Path, here: Here) -> None:
    """A bad document or log is refused with every fault; the ledger is as it was and verifies."""
    path = ready(tmp_path)
    before = head(path)
    bad = BAD_FILES[name]
    (tmp_path / "bad").write_bytes(bad.content)
    result = ledger(tmp_path, *bad.arguments, variables={"MODEL_KEY": "hunter22"})
    assert result.code == bad.code, result.err
    for words in bad.says:
        assert words in result.err
    assert "hunter22" not in result.err
    untouched(here, path, before, result)
