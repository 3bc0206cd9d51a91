"""The demo's grading: what counts as right, and the judgments that it prints."""

import json
import subprocess
import sys
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from trial_cli.demo import grade
from trial_cli.demo.grade import Judgment, Part, judge_fact, judge_list, judge_record

FACT = {"answer": "SameFileError", "alternatives": ["shutil.SameFileError"]}
LIST = {"items": ["heapq.merge", "heapq.nlargest"], "aliases": {
    "heapq.merge": ["merge"], "heapq.nlargest": ["nlargest"],
}}  # fmt: skip
RECORD = {"records": [{"name": "calendar.leapdays", "parameters": 2, "last_default": None}]}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("SameFileError", "correct"),
        (" `shutil.samefileerror()` ", "correct"),
        ("FileError", "incorrect"),
    ],
)
def test_a_fact_is_compared_with_every_alternative(answer: str, verdict: str) -> None:
    """Case, back quotes, blanks and parentheses do not matter; everything else does."""
    right, correct = judge_fact(answer, FACT)
    assert (right.metric, right.verdict, right.score) == ("right", verdict, None)
    assert (correct.metric, correct.score) == ("correct", Fraction(verdict == "correct"))
    assert right.parts == (Part("answer", int(verdict == "correct"), 1, verdict),)
    assert answer in right.reasoning


@pytest.mark.parametrize(
    ("answer", "verdict", "precision", "recall", "duplicates"),
    [
        (["heapq.merge", "heapq.nlargest"], "correct", "1", "1", 0),
        (["merge", "heapq.merge", "nlargest"], "correct", "1", "1", 1),
        (["heapq.merge", "heapq.heapify"], "partial", "1/2", "1/2", 0),
        (["nlargest"], "partial", "1", "1/2", 0),
        (["heapq.merge", "heapq.nlargest", "x"], "partial", "2/3", "1", 0),
        (["x"], "incorrect", "0", "0", 0),
    ],
)
def test_a_list_is_folded_before_it_is_counted(
    answer: list[str], verdict: str, precision: str, recall: str, duplicates: int
) -> None:
    """Aliases are one item, duplicates are counted apart, extra items cost precision."""
    right, first, second = judge_list(json.dumps(answer), LIST)
    assert right.verdict == verdict
    assert (first.metric, str(first.score)) == ("precision", precision)
    assert (second.metric, str(second.score)) == ("recall", recall)
    assert right.parts[2] == Part("duplicates", duplicates, len(answer))
    assert right.parts[:2] == (first.parts[0], second.parts[0])


@pytest.mark.parametrize(
    ("record", "verdict", "share"),
    [
        ({"name": "calendar.leapdays", "parameters": 2, "last_default": None}, "correct", "1"),
        ({"name": "calendar.leapdays", "parameters": 2}, "partial", "2/3"),
        ({"name": "calendar.format", "parameters": 2, "last_default": "3"}, "partial", "1/3"),
        ({"name": "calendar.format", "parameters": 3, "last_default": "3"}, "incorrect", "0"),
    ],
)
def test_a_record_is_compared_field_by_field(
    record: dict[str, Any], verdict: str, share: str
) -> None:
    """Null is right only where it was said and is the answer."""
    right, fields = judge_record(json.dumps([record]), RECORD)
    assert (right.verdict, fields.metric, str(fields.score)) == (verdict, "fields", share)
    assert [part.name for part in fields.parts] == ["name", "parameters", "last_default"]
    assert judge_record("[]", RECORD)[0].verdict == "incorrect"


def test_an_abstention_is_judged_as_one() -> None:
    """Where the agent declined there is a verdict on that, and nothing to count."""
    done = {"outcome": "abstained", "abstain": "nothing read that fits"}
    assert grade.judgments(done, {}) == [
        Judgment("right", "abstained", None, (), "nothing read that fits")
    ]


def test_judgments_come_out_as_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each judgment names run, trial, metric, grader and its parts; a lost trial gets none."""
    key = {"question": "q15", "configuration": "ranked", "repetition": 2}
    lost = {"run": "r", "trial": key, "outcome": "errored"}
    answered = lost | {"outcome": "answered", "answer": "SameFileError"}
    answers = tmp_path / "r.answers.jsonl"
    answers.write_text(json.dumps(lost) + "\n" + json.dumps(answered) + "\n")
    grade.main([str(answers)])
    right, correct = map(json.loads, capsys.readouterr().out.splitlines())
    assert right["kind"] == "judgment.recorded"
    assert (right["run"], right["trial"]) == ("r", key)
    assert right["data"]["grader"] == {"name": "demo-grade", "version": "1"}
    assert (right["data"]["verdict"], right["data"]["score"]) == ("correct", None)
    assert correct["data"]["score"] == "1"
    assert right["id"] != correct["id"]
    assert right["data"]["judgment"] == f"j-{right['id'][:8]}"


def test_grading_is_a_program(tmp_path: Path) -> None:
    """Started as a program it reads the named file of answers."""
    answers = tmp_path / "none.answers.jsonl"
    answers.write_text("")
    command = [sys.executable, "-m", "trial_cli.demo.grade", str(answers)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b""


def test_every_question_can_be_graded() -> None:
    """Gold given as the answer is right, whatever the shape."""
    lines = files("trial_cli.demo").joinpath("dataset.jsonl").read_text("utf-8").splitlines()
    for question in map(json.loads, lines):
        gold = question["gold"]
        answer = gold.get("answer") or json.dumps(gold.get("items") or gold.get("records"))
        done = {"outcome": "answered", "answer": answer}
        found = grade.judgments(done, question)
        assert found[0].verdict == "correct"
        assert [one.score for one in found[1:]] == [1] * (len(found) - 1)
