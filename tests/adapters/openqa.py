"""Answers to short questions with people's verdicts and those of three automated judges.

A trial is one row: an answer that some system gave. Rows of the four files stand in one order; a
judge's row that is about another answer is lost. The file of one judge lacks the tab between
question and answer in every row: the question, which the other files give, is cut off.
"""

import csv
from collections import Counter
from pathlib import Path

from adapters.submissions import Adapted, Run, Table, main, manifest, rubric

ADAPTER = "openqa-adapter"
RUN = "nq301"
FILES = {
    "human": "NQ301_human.tsv",
    "gpt-4": "NQ301_gpt-4.tsv",
    "text-davinci-003": "NQ301_text-davinci-003.tsv",
    "bem": "NQ301_BEM.tsv",
}
PEOPLE = ("annotator1", "annotator2", "annotator3")
VERDICTS = {"Yes": "correct", "No": "incorrect", "": "not_gradable"}
ADJUDICATION = {"role": "human", "name": "adjudication of the source"}


def rows_of(path: Path) -> list[Table]:
    """Return the rows of a file by its header; cells beyond a short row are left out."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream, delimiter="\t")
    if path.name == FILES["text-davinci-003"]:
        header = [header[0], "Question and answer", *header[3:]]
    return [dict(zip(header, row, strict=True)) for row in rows]


def adapt(paths: list[Path]) -> Adapted:
    """Return the documents and events of the four files, wherever they lie."""
    by_name = {path.name: path for path in paths}
    records = {who: rows_of(by_name[name]) for who, name in FILES.items()}
    adapted, asked, losses = Adapted(), Counter[str](), Counter[str]()
    names = [numbered(row["id"], asked) for row in records["human"]]
    adapted.datasets["nq301-answers@1"] = [
        question(name, row, gold)
        for name, row, gold in zip(names, records["human"], records["bem"], strict=False)
    ]
    metric = {"measure": "verdict", "grader": "source"}
    adapted.rubrics.append(rubric("nq301", dict.fromkeys(FILES, metric)))
    table = manifest("answers of twelve systems", "nq301-answers@1", "nq301")
    run = adapted.open_run(RUN, table, ADAPTER)
    for place, (name, row) in enumerate(zip(names, records["human"], strict=True)):
        trial = f"{name}#1"
        run.add("trial.started", trial)
        run.add("answer.submitted", trial, answer=row["Model answer"])
        run.add("trial.finished", trial, outcome="answered")
        people(run, trial, row)
        for judge in ("gpt-4", "text-davinci-003", "bem"):
            if place < len(records[judge]):
                judged(run, trial, judge, row, records[judge][place], losses)
    run.add("run.closed", status="complete")
    run.source(
        *(by_name[name] for name in FILES.values()), format_="openqa",
        losses=[
            "which system gave which answer: not recorded in these files",
            *(f"{what}: {times} rows" for what, times in losses.items()),
        ],
    )  # fmt: skip
    return adapted


def numbered(number: str, asked: Counter[str]) -> str:
    """Return the question's number and how often it stood before, as `29.4`."""
    asked[number] += 1
    return f"{number}.{asked[number]}"


def question(name: str, row: Table, gold: Table) -> Table:
    """Return a row as a question with the gold that one of the judges was shown."""
    first, *others = (text.strip() for text in gold["Gold answers"].split("|"))
    return {
        "id": name, "question": row["Question"], "task_shape": "fact",
        "gold": {"answer": first, "alternatives": others},
    }  # fmt: skip


def people(run: Run, trial: str, row: Table) -> None:
    """Add what people said: a review each, and the verdict that the source settled on."""
    for person in PEOPLE:
        if row[person]:
            run.add_as(
                {"role": "human", "name": person}, "review.recorded", trial, review=person,
                metric="human", plan="purposive", verdict=VERDICTS[row[person]],
                reason="not recorded by the source", blind=True,
            )  # fmt: skip
    run.add_as(
        ADJUDICATION, "judgment.recorded", trial, judgment="human-1", metric="human", by="human",
        grader={"name": "human"}, verdict=VERDICTS[row["Acceptable?"]],
    )  # fmt: skip


def judged(
    run: Run, trial: str, judge: str, row: Table, reply: Table, losses: Counter[str]
) -> None:
    """Add the verdict of a judge, lost where its row is about another answer."""
    answer = answer_in(row, reply, losses)
    if answer is None or not same_answer(row["Model answer"], answer):
        losses[f"rows of {judge} about another answer"] += 1
        run.add(
            "judgment.failed", trial, judgment=f"{judge}-1", metric=judge,
            reason="lost_in_source", raw="\t".join(reply.values()),
        )  # fmt: skip
        return
    words = reply.get(judge) or reply["BEM probs per gold answer"]
    run.add(
        "judgment.recorded", trial, judgment=f"{judge}-1", metric=judge, by="model",
        grader={"name": judge}, verdict=VERDICTS[reply["Acceptable?"]],
        **{"raw" if judge == "bem" else "reasoning": words},
    )  # fmt: skip


def answer_in(row: Table, reply: Table, losses: Counter[str]) -> str | None:
    """Return the answer that a judge's row is about; None where it cannot be told."""
    if "Model answer" in reply:
        return str(reply["Model answer"])
    joined: str = reply["Question and answer"]
    if not joined.startswith(row["Question"]):
        return None
    losses["text-davinci-003, no tab between question and answer, cut after the question"] += 1
    return joined.removeprefix(row["Question"])


def same_answer(first: str, second: str) -> bool:
    """Return whether two texts are one answer but for blanks, signs and trailing zeros."""
    short, long = sorted((plain(first), plain(second)), key=len)
    return long.startswith(short)


def plain(text: str) -> str:
    """Return the letters and digits of a text."""
    return "".join(character for character in text.lower() if character.isalnum())


if __name__ == "__main__":
    main(adapt)
