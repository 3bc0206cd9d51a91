"""One run with every fate of an answer, and the rubrics and gold under which it is judged again."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from document_cases import outcome_table
from ledger_cases import ANSWERS, PERSON, RUN, questions_jsonl, small_rubric
from projection_cases import Log
from trial_ledger.book import Ledger
from trial_ledger.documents.authoring import rubric_toml
from trial_ledger.documents.dataset import Dataset, parse_dataset
from trial_ledger.documents.rubric import Rubric
from trial_ledger.judging import Tallies
from trial_ledger.rescoring import Revision
from trial_ledger.submission import Submission

METRICS: dict[str, Any] = {
    "exact": {"measure": "fact.correctness"},
    "judged": {"measure": "verdict", "grader": "judge"},
}
"""The metrics of `small_rubric`: one graded by code and one by a judge."""
INCLUDES = {"measure": "fact.correctness", "grader": "includes@1"}
NEEDS_JUDGE = ("judged", "needs its model judge")


def fates_log(folder: Path, *, entry: str = "appended", **rubric: object) -> Log:
    """Write a run of ten questions, nothing of it graded by code yet.

    q1 right, q2 wrong and overridden to right, q3 right in a sentence, q4 abstained, q5 errored,
    q6 at a limit with the right answer, q7 right but its judge failed, q8 right and not judged,
    q9 cancelled, q10 never started.
    """
    log = Log(folder, entry=entry, rubric=rubric)
    log.trial("q1", answer=ANSWERS["q1"])
    log.judge("q1", "judged", "correct", reasoning="the same town", usage={"input_tokens": 7})
    log.trial("q2", answer="Ur")
    log.judge("q2", "judged", "incorrect", shown="the question and Ur", raw="C: no")
    log.trial("q3", answer="It is Khiva, of course.")
    log.judge("q3", "judged", "correct")
    log.act("trial.started", "q4", input="which?")
    log.act("answer.submitted", "q4", answer="I cannot say.", abstained=True)
    log.act("trial.finished", "q4", outcome="answered")
    log.trial("q5", outcome="errored", answer=None)
    log.trial("q6", outcome="limit", answer=ANSWERS["q6"])
    log.judge("q6", "judged", "correct")
    log.trial("q7", answer=ANSWERS["q7"])
    failed: dict[str, Any] = {"occurrence": "f7", "fault": "judge", "class_": "judge_unparseable"}
    log.act("failure.occurred", "q7", call=None, impact="unknown", **failed)
    log.act("judgment.failed", "q7", judgment="j1", metric="judged", reason="judge_failed",
            occurrence="f7", raw="hm")  # fmt: skip
    log.trial("q8", answer=ANSWERS["q8"])
    log.trial("q9", outcome="cancelled", answer=None)
    override: dict[str, Any] = {
        "judgment": "o1",
        "replaces": "j1",
        "verdict": "correct",
        "reason": "an old name",
    }
    log.act("judgment.overridden", "q2", **override)
    return log


def erase(ledger: Ledger, blob: str) -> None:
    """Erase a text, and say so first."""
    data = {"blob": blob, "reason": "asked to", "authority": "Ada"}
    ledger.append(Submission(kind="blob.redacted", data=data, actor=PERSON))
    assert ledger.gold is not None
    for file in (ledger.store, ledger.gold):
        file.connection.execute(
            "UPDATE blob SET salt = NULL, content = NULL WHERE hash = ?", (bytes.fromhex(blob),)
        )


def revised(**changes: object) -> Rubric:
    """Return the second version of the rubric, with these fields changed."""
    return small_rubric(**{"version": "2", **changes})


def lax() -> Rubric:
    """Return a rubric in which an answer may stand in a sentence, and an error is half right."""
    outcomes = {**outcome_table(), "trial_errored": {"score": "1/2"}}
    return revised(metrics={**METRICS, "exact": INCLUDES}, outcomes=outcomes)


def written(folder: Path, rubric: Rubric, *, name: str = "revised.toml") -> str:
    """Write a rubric as people would revise it; return the file's name."""
    (folder / name).write_text(rubric_toml(rubric), "utf-8")
    return name


def corrected(
    *, version: str = "2", gold: Mapping[str, str | None] | None = None, **questions: str
) -> Dataset:
    """Return the ten questions with other gold, none for None, or other questions."""
    records = [json.loads(line) for line in questions_jsonl().splitlines()]
    for record in records:
        name = record["id"]
        record["question"] = questions.get(name, record["question"])
        if name in (gold or {}):
            answer = (gold or {})[name]
            if answer is None:
                record["gold"] = None
            else:
                record["gold"]["answer"] = answer
    return parse_dataset(
        b"".join(json.dumps(record).encode() + b"\n" for record in records),
        source="dataset.jsonl",
        name="example",
        version=version,
        meta={"provenance": "made for tests"},
    )


def revision(**changes: Any) -> Revision:  # noqa: ANN401 - whatever a revision holds
    """Return a wish to judge the run again."""
    given = {"parent": RUN, "reason": "a second look", "actor": PERSON}
    return Revision(**{**given, **changes})


def counted(tallies: Tallies) -> dict[str, dict[Any, int]]:
    """Return what came of judging, without what is empty."""
    names = ("given", "carried", "present", "left")
    found = {name: dict(getattr(tallies, name)) for name in names}
    return {name: counts for name, counts in found.items() if counts}
