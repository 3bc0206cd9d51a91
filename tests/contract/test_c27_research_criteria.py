"""C27: research is graded by explicit criteria of coverage, correctness and sourcing."""

import json
from typing import Any

import pytest

from cli_cases import Here
from document_cases import manifest_table, rubric_table

CRITERIA = [
    {"id": "breadth", "text": "is broad", "kind": "coverage", "weight": "2"},
    {"id": "laws", "text": "names the laws", "kind": "coverage", "weight": 1, "parent": "breadth"},
    {"id": "cited", "text": "cites them", "kind": "sourcing", "weight": 3, "parent": "breadth"},
    {"id": "true", "text": "is true", "kind": "correctness", "weight": "3"},
]
MEASURES = ("coverage", "correctness", "sourcing", "composite")
PERSON = {"role": "human", "name": "ada"}


def metrics(*, partial: str = "1/2") -> dict[str, Any]:
    """Return a metric under which people judge criteria, and those that add them up."""
    options = {"metrics": ["criteria"], "partial": partial}
    added = {
        measure: {"measure": f"research.{measure}", "grader": "criteria@1", "options": options}
        for measure in MEASURES
    }
    return {"criteria": {"measure": "score", "grader": "human"}, **added}


def judge(here: Here, judgment: str, pass_: int, run: str = "r1", **said: str) -> None:
    """Append what a person says of the criteria of the one trial."""
    parts = [{"name": name, "outcome": label} for name, label in said.items()]
    data = {
        "judgment": judgment, "metric": "criteria", "pass": pass_, "by": "human",
        "grader": {"name": "human"}, "verdict": "not_gradable", "parts": parts,
        "reasoning": "read it",
    }  # fmt: skip
    event = {"kind": "judgment.recorded", "run": run, "trial": "q1#1", "actor": PERSON}
    (here.folder / "said.jsonl").write_text(json.dumps({**event, "data": data}) + "\n", "utf-8")
    done = here("append", "said.jsonl")
    assert done.code == 0, done.err


@pytest.fixture
def researched(here: Here) -> Here:
    """A run of one answered research question, of which nobody judged anything."""
    record = {"id": "q1", "question": "What is known?", "task_shape": "research"}
    dated = {**record, "as_of": "2026-10-01", "gold": {"criteria": CRITERIA}}
    (here.folder / "dataset.jsonl").write_text(json.dumps(dated) + "\n", "utf-8")
    rubric = rubric_table(metrics=metrics(), primary="composite")
    (here.folder / "rubric.json").write_text(json.dumps(rubric), "utf-8")
    (here.folder / "manifest.json").write_text(json.dumps(manifest_table(repetitions=1)), "utf-8")
    trial = {"run": "r1", "trial": "q1#1"}
    opening = {"manifest": "local", "entry": "appended"}
    events = [
        {"kind": "run.opened", "run": "r1", "data": opening},
        {"kind": "trial.started", **trial, "data": {"input": "What is known?"}},
        {"kind": "answer.submitted", **trial, "data": {"answer": "much"}},
        {"kind": "trial.finished", **trial, "data": {"outcome": "answered"}},
    ]
    text = "".join(json.dumps(event) + "\n" for event in events)
    (here.folder / "events.jsonl").write_text(text, "utf-8")
    for command in (
        ("init",),
        ("freeze", "dataset", "dataset.jsonl", "--name", "example", "--version", "1"),
        ("freeze", "rubric", "rubric.json"),
        ("freeze", "manifest", "manifest.json"),
        ("append", "events.jsonl"),
    ):
        done = here(*command)
        assert done.code == 0, done.err
    return here


def ends(here: Here, run: str = "r1") -> dict[str, tuple[str, str]]:
    """Return between what each measure of a run lies."""
    assert here("grade", run).code == 0
    rows = here("scores", run, "--format", "jsonl").rows
    return {row["metric"]: (row["low"], row["high"]) for row in rows if row["metric"] in MEASURES}


def test_c27_unjudged_criteria_are_a_range_that_later_verdicts_narrow(researched: Here) -> None:
    """Three sub-scores and the whole; what nobody judged keeps its weight until somebody does."""
    here = researched
    assert "no criterion was judged" in here("grade", "r1").out
    assert set(ends(here).values()) == {("0", "1")}
    judge(here, "first", 1, laws="correct", true="correct")
    assert ends(here) == {
        "coverage": ("1", "1"), "correctness": ("1", "1"), "sourcing": ("0", "1"),
        "composite": ("7/10", "1"),
    }  # fmt: skip
    judge(here, "second", 2, laws="incorrect", cited="partial")
    done = {**dict.fromkeys(("coverage", "correctness"), ("1", "1")), "sourcing": ("1/2", "1/2")}
    assert ends(here) == {**done, "composite": ("17/20", "17/20")}
    size = here("scores", "r1", "--json").json["size"]
    assert ends(here) == {**done, "composite": ("17/20", "17/20")}
    assert here("scores", "r1", "--json").json["size"] == size
    assert here("verify").code == 0
    assert here("replay", "--check").code == 0


def test_c27_every_inner_node_stands_in_the_judgment(researched: Here) -> None:
    """As a part with its exact value, and in words."""
    here = researched
    judge(here, "first", 1, laws="correct", cited="correct", true="incorrect")
    assert ends(here)["composite"] == ("2/5", "2/5")
    (member,) = here("explain", "r1", "composite", "--json").json["members"]
    shown = [here("show", str(event["seq"]), "--json").json["event"] for event in member["events"]]
    (found,) = [event["data"] for event in shown if event["kind"] == "judgment.recorded"]
    assert {"name": "node.breadth", "numerator": 1, "denominator": 1} in [
        {key: value for key, value in part.items() if value is not None} for part in found["parts"]
    ]


def test_c27_a_revised_rubric_adds_up_what_was_judged_before(researched: Here) -> None:
    """The verdicts on criteria are carried, what is met in part counts nothing; later ones too."""
    here = researched
    judge(here, "first", 1, laws="partial", cited="correct")
    assert ends(here)["composite"] == ("7/20", "19/20")
    rubric = rubric_table(metrics=metrics(partial="0"), primary="composite", version="2")
    (here.folder / "rubric-2.json").write_text(json.dumps(rubric), "utf-8")
    done = here("rescore", "r1", "--rubric", "rubric-2.json", "--reason", "all or nothing")
    assert done.code == 0, done.err
    name = "r1.rubric-2"
    assert ends(here, name)["composite"] == ("3/10", "9/10")
    judge(here, "second", 2, run=name, true="correct")
    assert ends(here, name)["composite"] == ("9/10", "9/10")
    assert ends(here)["composite"] == ("7/20", "19/20")
    assert here("verify").code == 0


def test_c27_a_receipt_adds_up_the_criteria_again(researched: Here) -> None:
    """From gold and the verdicts that came before, with no answer; a sealed gold says so."""
    here = researched
    judge(here, "first", 1, laws="correct", true="correct")
    assert here("grade", "r1").code == 0
    judge(here, "second", 2, cited="correct")
    for command in (("grade", "r1"), ("key", "new"), ("key", "rotate"), ("head", "--sign")):
        done = here(*command)
        assert done.code == 0, done.err
    for reveal, said in (("gold", "2 of 2"), ("answers", "gold sealed")):
        assert (
            here("receipt", "r1", "composite", "-o", f"{reveal}.json", "--reveal", reveal).code == 0
        )
        checked = here("check", f"{reveal}.json")
        assert checked.code == 0, checked.err
        assert said in checked.out
