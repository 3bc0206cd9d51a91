"""Pairs of answers that three people and two automated judges compared.

All pairs are one run: a trial is one pair, its score 1 where the first answer is better, 0 where
the second is, 1/2 for a tie. A reply of a judge that says nothing of these is a failed judgment.
People's labels are reviews, blind, with their own names; no majority is stored.
"""

import json
from pathlib import Path

from adapters.submissions import Adapted, Table, main, manifest, read_json, rubric

ADAPTER = "pandalm-adapter"
RUN = "pandalm-testset-v1"
FILES = {
    "people": "testset-v1.json",
    "gpt-3.5-turbo": "gpt-3.5-turbo-testset-v1.json",
    "pandalm-7b": "pandalm-7b-testset-v1.json",
}
KEYS = {"gpt-3.5-turbo": "gpt", "pandalm-7b": "pandalm"}
PEOPLE = ("annotator1", "annotator2", "annotator3")
SCORES = {"0": "1/2", "1": "1", "2": "0", "Tie": "1/2"}
"""What the source writes → the score of the first answer."""
BLANK = "(the instruction is blank)"
LOSSES = [
    "which model gave which answer: only the pair of models is recorded",
    "time, tokens and cost: not recorded, so unknown",
    "why people decided as they did: not recorded",
]


def adapt(paths: list[Path]) -> Adapted:
    """Return the documents and events of the three files, wherever they lie."""
    by_name = {path.name: path for path in paths}
    records = {who: read_json(by_name[name]) for who, name in FILES.items()}
    adapted = Adapted()
    adapted.datasets["pandalm-testset@1"] = [question(record) for record in records["people"]]
    metric = {"measure": "score", "grader": "source"}
    adapted.rubrics.append(rubric("pandalm", dict.fromkeys(KEYS, metric)))
    table = manifest("pairs of models", "pandalm-testset@1", "pandalm")
    run = adapted.open_run(RUN, table, ADAPTER)
    judges = {
        who: {record["idx"]: record for record in records[who]} for who in KEYS
    }  # joined by the source's own number
    for record in records["people"]:
        trial = f"{record['idx']}#1"
        run.add("trial.started", trial)
        answers = {name: record[name] for name in ("response1", "response2")}
        run.add("answer.submitted", trial, answer=json.dumps(answers))
        run.add("trial.finished", trial, outcome="answered")
        for who, key in KEYS.items():
            reply = judges[who][record["idx"]]
            score = SCORES.get(str(reply[f"{key}_result"]))
            if score is None:
                run.judge_failed(trial, who, detail="garbage", raw=reply[f"{key}_reason"])
                continue
            run.add(
                "judgment.recorded", trial, judgment=f"{who}-1", metric=who, by="model",
                grader={"name": who}, score=score, reasoning=reply[f"{key}_reason"],
                raw=reply[f"{key}_reference"],
            )  # fmt: skip
        for person in PEOPLE:
            run.add_as(
                {"role": "human", "name": person}, "review.recorded", trial, review=person,
                metric="gpt-3.5-turbo", plan="purposive", score=SCORES[str(record[person])],
                reason="not recorded by the source", blind=True,
            )  # fmt: skip
    run.add("run.closed", status="complete")
    run.source(*(by_name[name] for name in FILES.values()), format_="pandalm", losses=LOSSES)
    return adapted


def question(record: Table) -> Table:
    """Return a pair as a question; which models answered is its context.

    One instruction of the source is blank, which no question is.
    """
    context = {"input": record["input"], "pair": record["cmp_key"]}
    return {
        "id": str(record["idx"]), "question": record["instruction"].strip() or BLANK,
        "task_shape": "research", "context": context,
    }  # fmt: skip


if __name__ == "__main__":
    main(adapt)
