"""C6: an incomplete reference list cannot give recall."""

import json
from pathlib import Path

import pytest

from cli_cases import Here
from document_cases import manifest_table, rubric_table
from policy_cases import EMPTY_SETS
from trial_ledger.book import Ledger
from trial_ledger.errors import RuleError
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
