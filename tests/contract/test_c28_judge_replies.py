"""C28: a judge's raw reply is kept, and what it says is read by code that has a version."""

import json
from typing import Any

import pytest

from cli_cases import Here
from document_cases import manifest_table, rubric_table

JUDGE = {"model": "m", "endpoint": "judge", "prompt": "{question} {answer}"}


def rubric(form: str, version: str = "1", metric: str = "judged") -> dict[str, Any]:
    """Return a rubric with a judge, and a metric that reads its replies."""
    options = {"metric": metric, "form": form}
    metrics = {
        "judged": {"measure": "verdict", "grader": "judge"},
        "read": {"measure": "verdict", "grader": "judge-reply@1", "options": options},
    }
    return rubric_table(metrics=metrics, primary="read", version=version, judge=JUDGE)


def said(question: str, raw: str | None, pass_: int = 1, **data: object) -> dict[str, object]:
    """Return a verdict of the judge with its raw reply."""
    fields = {"judgment": f"j{pass_}", "metric": "judged", "pass": pass_, **data}
    if raw is not None:
        fields["raw"] = raw
    kind = "judgment.recorded" if "by" in data else "judgment.failed"
    return {"kind": kind, "run": "r1", "trial": f"{question}#1", "data": fields}


def verdict(question: str, raw: str | None, pass_: int = 1) -> dict[str, object]:
    """Return that the judge's own harness read the reply as correct."""
    grader = {"name": "judge"}
    more = {"by": "model", "grader": grader, "verdict": "correct", "reasoning": "equal"}
    return said(question, raw, pass_, **more)


FAILURE = {"occurrence": "o1", "class": "judge_unparseable", "fault": "judge", "impact": "none"}


def append(here: Here, *events: dict[str, Any]) -> None:
    """Append events by the real command."""
    text = "".join(json.dumps(event) + "\n" for event in events)
    (here.folder / "events.jsonl").write_text(text, "utf-8")
    done = here("append", "events.jsonl")
    assert done.code == 0, done.err


@pytest.fixture
def judged(here: Here) -> Here:
    """Three answers: one judged, one whose reply was not understood, one without a reply."""
    records = [
        {"id": name, "question": f"What is {name}?", "task_shape": "fact", "as_of": "2026-10-01",
         "gold": {"answer": name}}
        for name in ("q1", "q2", "q3")
    ]  # fmt: skip
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (here.folder / "dataset.jsonl").write_text(lines, "utf-8")
    (here.folder / "rubric.json").write_text(json.dumps(rubric("word")), "utf-8")
    (here.folder / "manifest.json").write_text(json.dumps(manifest_table(repetitions=1)), "utf-8")
    for command in (
        ("init",),
        ("freeze", "dataset", "dataset.jsonl", "--name", "example", "--version", "1"),
        ("freeze", "rubric", "rubric.json"),
        ("freeze", "manifest", "manifest.json"),
    ):
        done = here(*command)
        assert done.code == 0, done.err
    opening = {"manifest": "local", "entry": "appended"}
    events: list[dict[str, Any]] = [{"kind": "run.opened", "run": "r1", "data": opening}]
    for name in ("q1", "q2", "q3"):
        trial = {"run": "r1", "trial": f"{name}#1"}
        events.append({"kind": "trial.started", **trial, "data": {"input": "?"}})
        events.append({"kind": "answer.submitted", **trial, "data": {"answer": "x"}})
        events.append({"kind": "trial.finished", **trial, "data": {"outcome": "answered"}})
    events.append(verdict("q1", "**CORRECT**"))
    events.append({"kind": "failure.occurred", "run": "r1", "trial": "q2#1", "data": FAILURE})
    events.append(said("q2", "grade: incorrect", reason="judge_failed", occurrence="o1"))
    events.append(verdict("q3", None))
    append(here, *events)
    return here


def classes(here: Here, run: str = "r1") -> dict[str, str]:
    """Return the outcome class of every question under the metric that reads replies."""
    assert here("grade", run).code == 0
    members = here("explain", run, "read", "--json").json["members"]
    return {member["question"]: member["outcome"] for member in members}


def test_c28_what_cannot_be_read_is_the_judge_s_failure(judged: Here) -> None:
    """Never wrong and never right; without a reply nothing is read; grading twice adds nothing."""
    here = judged
    assert "no raw reply of a judge" in here("grade", "r1").out
    assert classes(here) == {"q1": "correct", "q2": "judge_failed", "q3": "unjudged"}
    size = here("scores", "r1", "--json").json["size"]
    assert classes(here)["q2"] == "judge_failed"
    assert here("scores", "r1", "--json").json["size"] == size
    rows = {row["metric"]: row for row in here("scores", "r1", "--format", "jsonl").rows}
    assert (rows["read"]["low"], rows["read"]["high"]) == ("1/3", "1")
    assert here("verify").code == 0
    assert here("replay", "--check").code == 0


def test_c28_another_pass_is_read_too(judged: Here) -> None:
    """The failure stays in the log and gives way to the verdict of the later reply."""
    here = judged
    assert classes(here)["q2"] == "judge_failed"
    append(here, verdict("q2", "incorrect", pass_=2))
    assert classes(here) == {"q1": "correct", "q2": "incorrect", "q3": "unjudged"}
    assert here("verify").code == 0


def test_c28_another_reading_loses_no_verdict(judged: Here) -> None:
    """A revised rubric reads the same replies in another way, in a run of its own."""
    here = judged
    before = classes(here)
    (here.folder / "rubric-2.json").write_text(json.dumps(rubric("line", "2")), "utf-8")
    done = here("rescore", "r1", "--rubric", "rubric-2.json", "--reason", "replies are lines")
    assert done.code == 0, done.err
    name = "r1.rubric-2"
    assert classes(here, name) == {"q1": "judge_failed", "q2": "incorrect", "q3": "unjudged"}
    assert classes(here) == before
    assert here("verify").code == 0
    assert here("replay", "--check").code == 0


def test_c28_a_redacted_reply_is_not_read(judged: Here) -> None:
    """What is gone says nothing, and that is said."""
    here = judged
    events = here("log", "--format", "jsonl").rows
    (seq,) = [
        row["seq"] for row in events
        if row["kind"] == "judgment.recorded" and row["trial"]["question"] == "q1"
    ]  # fmt: skip
    raw = here("show", str(seq), "--json").json["event"]["data"]["raw"]["blob"]
    done = here("redact", raw, "--reason", "a name in it", "--actor", "ada")
    assert done.code == 0, done.err
    assert "a raw reply was redacted" in here("grade", "r1").out


def test_c27_replies_are_read_of_a_metric_that_there_is(here: Here) -> None:
    """Not of the metric itself, and of no other that code gives."""
    (here.folder / "rubric.json").write_text(json.dumps(rubric("word", metric="read")), "utf-8")
    assert here("init").code == 0
    done = here("freeze", "rubric", "rubric.json")
    assert done.code == 2
    assert "names no metric that a judge or people give" in done.err


def test_c28_a_receipt_does_not_open_replies(judged: Here) -> None:
    """It says that they stay sealed, and checks everything else."""
    here = judged
    for command in (("grade", "r1"), ("key", "new"), ("key", "rotate"), ("head", "--sign")):
        done = here(*command)
        assert done.code == 0, done.err
    assert here("receipt", "r1", "read", "-o", "r.json", "--reveal", "gold,answers").code == 0
    checked = here("check", "r.json")
    assert checked.code == 0, checked.err
    assert "a judge's raw reply stays sealed" in checked.out
