"""C6: an incomplete reference list cannot give recall."""

import json
from pathlib import Path

import pytest

from cli_cases import Here
from document_cases import manifest_table, rubric_table
from policy_cases import EMPTY_SETS
from trial_ledger.book import Ledger
from trial_ledger.errors import RuleError
from trial_ledger.events import JudgmentRecorded
from trial_ledger.submission import Submission

MEASURES = ("list.precision", "list.recall", "list.f1")


def write_documents(folder: Path, *, exhaustive: bool | None) -> None:
    """Write two lists, the second of which may not be complete, a rubric and a manifest."""
    records = []
    for name, complete in (("q1", True), ("q2", exhaustive)):
        gold = {"items": [f"item of {name}"], "inclusion_conditions": []}
        record = {"id": name, "question": f"Which of {name}?", "task_shape": "list"}
        known = {} if complete is None else {"exhaustive": complete}
        records.append({**record, "as_of": "2026-10-01", "gold": {**gold, **known}})
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "dataset.jsonl").write_text(lines, "utf-8")
    metrics = {measure.partition(".")[2]: {"measure": measure} for measure in MEASURES}
    rubric = rubric_table(metrics=metrics, primary="precision", empty_sets=EMPTY_SETS)
    (folder / "rubric.json").write_text(json.dumps(rubric), "utf-8")
    manifest = manifest_table(repetitions=1)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def judged_run(here: Here, *, exhaustive: bool | None) -> None:
    """Freeze the documents and append a run in which every metric of both lists was judged."""
    write_documents(here.folder, exhaustive=exhaustive)
    for command in (
        ("init",),
        ("freeze", "dataset", "dataset.jsonl", "--name", "example", "--version", "1"),
        ("freeze", "rubric", "rubric.json"),
        ("freeze", "manifest", "manifest.json"),
    ):
        assert here(*command).code == 0
    opening: dict[str, object] = {"manifest": "local", "entry": "appended"}
    events: list[dict[str, object]] = [{"kind": "run.opened", "data": opening}]
    for name in ("q1", "q2"):
        trial = {"trial": f"{name}#1"}
        events.append({"kind": "trial.started", **trial, "data": {"input": "which?"}})
        events.append({"kind": "trial.finished", **trial, "data": {"outcome": "answered"}})
        for measure in MEASURES:
            metric = measure.partition(".")[2]
            verdict = {"judgment": metric, "metric": metric, "by": "code", "score": "1"}
            data: dict[str, object] = {**verdict, "grader": {"name": "list-match"}}
            events.append({"kind": "judgment.recorded", **trial, "data": data})
    text = "".join(json.dumps({"run": "r1", **event}) + "\n" for event in events)
    (here.folder / "events.jsonl").write_text(text, "utf-8")
    assert here("append", "events.jsonl").code == 0


@pytest.mark.parametrize("exhaustive", [False, None])
def test_c06_recall_and_f1_are_unavailable_with_the_reason(
    here: Here, exhaustive: bool | None
) -> None:
    """Though every trial was judged, there is no number where a list is, or may be, incomplete."""
    judged_run(here, exhaustive=exhaustive)
    done = here("scores", "r1")
    assert done.code == 0
    for metric in ("recall", "f1"):
        assert f"{metric:<22}unavailable   1 of 2 gold lists not exhaustive\n" in done.out
    assert "precision             100.0 %       2/2           all 2 decided\n" in done.out
    rows = {row["metric"]: row for row in here("scores", "r1", "--format", "jsonl").rows}
    assert (rows["recall"]["low"], rows["recall"]["high"]) == (None, None)
    explained = here("explain", "r1", "recall").out
    assert explained.startswith("recall = unavailable: 1 of 2 gold lists not exhaustive\n")


def test_c06_complete_lists_have_recall_and_f1(here: Here) -> None:
    """The same run over complete lists has all three numbers."""
    judged_run(here, exhaustive=True)
    for metric in ("precision", "recall", "f1"):
        assert (
            f"{metric:<22}100.0 %       2/2           all 2 decided\n" in here("scores", "r1").out
        )


def test_c06_an_extra_item_is_judged_with_a_reason(here: Here) -> None:
    """Without words the verdict on an extra item is refused."""
    judged_run(here, exhaustive=False)
    item = {"metric": "precision", "position": 1, "item": "another", "verdict": "correct"}
    event = {"kind": "item.judged", "run": "r1", "trial": "q2#1"}
    for reason, code in (("", 3), ("found on the site", 0)):
        line = json.dumps({**event, "data": {**item, "reason": reason}}) + "\n"
        (here.folder / "item.jsonl").write_text(line, "utf-8")
        done = here("append", "item.jsonl")
        assert done.code == code
        assert code == 0 or "(C6)" in done.err


def test_c06_an_unknown_metric_cannot_judge_an_item(here: Here) -> None:
    """The rubric names the metrics there are."""
    judged_run(here, exhaustive=True)
    with Ledger.open(here.folder / "trials.ledger", write=True) as ledger:
        run = ledger.read(5).event
        trial = ledger.read(6).event.trial
        data = {"metric": "gone", "position": 0, "item": "x", "verdict": "correct", "reason": "y"}
        item = Submission(kind="item.judged", run=run.run, trial=trial, data=data)
        with pytest.raises(RuleError, match="has no metric gone"):
            ledger.append(item)


ANSWERS = {"q1": '["item of q1"]', "q2": '["item of q2", "Rome", "Oslo", "rome"]'}


def graded_run(here: Here) -> None:
    """Append a run that answered both lists, and grade it: two extra items of the second one."""
    write_documents(here.folder, exhaustive=False)
    for command in (
        ("init",),
        ("freeze", "dataset", "dataset.jsonl", "--name", "example", "--version", "1"),
        ("freeze", "rubric", "rubric.json"),
        ("freeze", "manifest", "manifest.json"),
    ):
        assert here(*command).code == 0
    events: list[dict[str, object]] = [
        {"kind": "run.opened", "data": {"manifest": "local", "entry": "appended"}}
    ]
    for name, answer in ANSWERS.items():
        trial = {"trial": f"{name}#1"}
        events.append({"kind": "trial.started", **trial, "data": {"input": "which?"}})
        events.append({"kind": "answer.submitted", **trial, "data": {"answer": answer}})
        events.append({"kind": "trial.finished", **trial, "data": {"outcome": "answered"}})
    text = "".join(json.dumps({"run": "r1", **event}) + "\n" for event in events)
    (here.folder / "events.jsonl").write_text(text, "utf-8")
    assert here("append", "events.jsonl").code == 0
    assert here("grade", "r1").code == 0


def judge_item(here: Here, position: int, verdict: str, *, run: str = "r1") -> None:
    """Say whether an item of the second list belongs to it."""
    data = {"metric": "precision", "position": position, "item": "an item", "verdict": verdict}
    event = {"kind": "item.judged", "run": run, "trial": "q2#1", "data": {**data, "reason": "seen"}}
    (here.folder / "item.jsonl").write_text(json.dumps(event) + "\n", "utf-8")
    assert here("append", "item.jsonl").code == 0


def precision(here: Here, run: str = "r1") -> tuple[str | None, str | None]:
    """Return the ends of the precision of a run."""
    (row,) = [
        row for row in here("scores", run, "--format", "jsonl").rows if row["metric"] == "precision"
    ]
    return row["low"], row["high"]


def test_c06_precision_is_a_range_until_every_extra_item_is_judged(here: Here) -> None:
    """One of three is listed, two may belong: 1/3 to 1, not 0 to 1; each verdict narrows it."""
    graded_run(here)
    assert precision(here) == ("2/3", "1")
    assert "1.333-2/2" in here("scores", "r1").out
    judge_item(here, 1, "correct")
    assert precision(here) == ("2/3", "1")
    assert "1 judged by code" in here("grade", "r1").out
    assert precision(here) == ("5/6", "1")
    judge_item(here, 2, "incorrect")
    assert here("grade", "r1").code == 0
    assert precision(here) == ("5/6", "5/6")
    before = here("runs", "--json").out
    assert here("grade", "r1").code == 0
    assert here("runs", "--json").out == before
    (member,) = [
        member
        for member in here("explain", "r1", "precision", "--json").json["members"]
        if member["question"] == "q2"
    ]
    assert (member["low"], member["high"]) == ("2/3", "2/3")
    assert here("verify").code == 0
    assert here("replay", "--check").code == 0


def test_c06_a_verdict_that_is_taken_back_widens_the_range_again(here: Here) -> None:
    """Of several verdicts on an item the last one counts, and every judgment stays."""
    graded_run(here)
    judge_item(here, 1, "correct")
    assert here("grade", "r1").code == 0
    judge_item(here, 1, "not_gradable")
    assert here("grade", "r1").code == 0
    assert precision(here) == ("2/3", "1")
    with Ledger.open(here.folder / "trials.ledger") as ledger:
        passes = [
            stored.event.data.pass_
            for stored in ledger.events()
            if isinstance(stored.event.data, JudgmentRecorded)
            and stored.event.data.metric == "precision"
            and str(stored.event.trial).startswith("q2")
        ]
    assert passes == [1, 2, 3]


def test_c06_a_derived_run_knows_the_items_of_its_parent_and_its_own(here: Here) -> None:
    """Judged in the parent before, or in the derived run after: both narrow its range."""
    graded_run(here)
    judge_item(here, 1, "correct")
    rubric = json.loads((here.folder / "rubric.json").read_text("utf-8"))
    revised = {**rubric, "version": "2", "primary": "f1"}
    (here.folder / "rubric-2.json").write_text(json.dumps(revised), "utf-8")
    done = here("rescore", "r1", "--rubric", "rubric-2.json", "--reason", "another headline")
    assert done.code == 0, done.err
    name = "r1.rubric-2"
    assert precision(here, name) == ("5/6", "1")
    judge_item(here, 2, "correct", run=name)
    assert here("grade", name).code == 0
    assert precision(here, name) == ("1", "1")
    assert precision(here) == ("2/3", "1")


def test_c06_a_receipt_with_items_that_were_judged_is_graded_again(here: Here) -> None:
    """Each judgment comes out of the verdicts on items before it, and of no later one."""
    graded_run(here)
    judge_item(here, 1, "correct")
    assert here("grade", "r1").code == 0
    judge_item(here, 2, "incorrect")
    for command in (("grade", "r1"), ("key", "new"), ("key", "rotate"), ("head", "--sign")):
        done = here(*command)
        assert done.code == 0, done.err
    done = here("receipt", "r1", "precision", "-o", "r.json", "--reveal", "gold,answers")
    assert done.code == 0, done.err
    checked = here("check", "r.json")
    assert checked.code == 0, checked.err
    assert "4 of 4" in checked.out
