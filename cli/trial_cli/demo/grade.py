"""Grade the answers of a run against gold by plain rules and print judgments for a ledger.

Invariant: every judgment says by which parts it was reached; an answer that the agent declined to
give is judged abstained, a trial that never came to an answer is not judged at all.

A plain script of the demo; it needs the standard library only::

    python grade.py ranked-1.answers.jsonl | ledger append -
"""

import argparse
import hashlib
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ACTOR = {"role": "grader", "name": "demo-grade", "version": "1"}
GRADER = {"name": "demo-grade", "version": "1"}


class Part(NamedTuple):
    """One number or label that a judgment is made of."""

    name: str
    numerator: int
    denominator: int
    outcome: str | None = None


class Judgment(NamedTuple):
    """What one metric makes of one answer."""

    metric: str
    verdict: str | None
    score: Fraction | None
    """None where the verdict counts, and where the rubric decides, as for an empty list."""
    parts: tuple[Part, ...]
    reasoning: str


def normal(text: str) -> str:
    """Return a text without the differences that do not matter in a name or a value."""
    return text.strip().strip("`").removesuffix("()").lower()


def verdict(right: int, wanted: int, wrong: int = 0) -> str:
    """Return correct where all is right and nothing wrong, partial where some is."""
    if right == wanted and not wrong:
        return "correct"
    return "partial" if right else "incorrect"


def judge_fact(answer: str, gold: dict[str, Any]) -> list[Judgment]:
    """Compare with the answer and its accepted alternatives."""
    accepted = [gold["answer"], *gold["alternatives"]]
    right = int(normal(answer) in map(normal, accepted))
    label = verdict(right, 1)
    parts = (Part("answer", right, 1, label),)
    why = f"{answer!r} is {'' if right else 'not '}one of {accepted}"
    return [
        Judgment("right", label, None, parts, why),
        Judgment("correct", label, Fraction(right), parts, why),
    ]


def judge_list(answer: str, gold: dict[str, Any]) -> list[Judgment]:
    """Fold aliases, drop duplicates, then count."""
    names = {normal(item): normal(item) for item in gold["items"]}
    names |= {normal(a): normal(item) for item in gold["items"] for a in gold["aliases"][item]}
    given = [normal(item) for item in json.loads(answer)]
    returned = {names.get(item, item) for item in given}
    wanted = {normal(item) for item in gold["items"]}
    right = len(returned & wanted)
    label = verdict(right, len(wanted), len(returned - wanted))
    precision = Part("returned", right, len(returned))
    recall = Part("gold", right, len(wanted))
    duplicates = Part("duplicates", len(given) - len(returned), len(given))
    why = f"missing {sorted(wanted - returned)}, extra {sorted(returned - wanted)}"
    return [
        Judgment("right", label, None, (precision, recall, duplicates), why),
        Judgment("precision", None, ratio(precision), (precision, duplicates), why),
        Judgment("recall", None, ratio(recall), (recall, duplicates), why),
    ]


def ratio(part: Part) -> Fraction | None:
    """Return a part's value, None where there is nothing to divide by."""
    return Fraction(part.numerator, part.denominator) if part.denominator else None


def judge_record(answer: str, gold: dict[str, Any]) -> list[Judgment]:
    """Compare field by field; null is an answer of its own, right only where gold has it."""
    (wanted,) = gold["records"]
    given = (json.loads(answer) or [{}])[0]
    right = [field in given and given[field] == wanted[field] for field in wanted]
    parts = tuple(
        Part(field, int(fits), 1, "correct" if fits else "incorrect")
        for field, fits in zip(wanted, right, strict=True)
    )
    why = f"{sum(right)} of {len(wanted)} fields as in the signature"
    return [
        Judgment("right", verdict(sum(right), len(wanted)), None, parts, why),
        Judgment("fields", None, Fraction(sum(right), len(wanted)), parts, why),
    ]


BY_SHAPE = {"fact": judge_fact, "list": judge_list, "structured": judge_record}


def judgments(done: dict[str, Any], question: dict[str, Any]) -> list[Judgment]:
    """Return every judgment on one trial."""
    if done["outcome"] == "abstained":
        return [Judgment("right", "abstained", None, (), done["abstain"])]
    return BY_SHAPE[question["task_shape"]](done["answer"], question["gold"])


def event(done: dict[str, Any], judgment: Judgment) -> dict[str, Any]:
    """Return a judgment as the event that a ledger takes."""
    trial = done["trial"]
    place = f"{done['run']}/{trial['question']}#{trial['repetition']}/{judgment.metric}"
    digest = hashlib.sha256(place.encode()).hexdigest()
    return {
        "id": digest[:32],
        "kind": "judgment.recorded",
        "run": done["run"],
        "trial": trial,
        "actor": ACTOR,
        "data": {
            "judgment": f"j-{digest[:8]}",
            "metric": judgment.metric,
            "by": "code",
            "grader": GRADER,
            "verdict": judgment.verdict,
            "score": None if judgment.score is None else str(judgment.score),
            "parts": [part._asdict() for part in judgment.parts],
            "reasoning": judgment.reasoning,
        },
    }


def main(arguments: list[str] | None = None) -> None:
    """Print the judgments on a file of answers."""
    parser = argparse.ArgumentParser(description="Grade the answers of a run.")
    parser.add_argument("answers", type=Path)
    parser.add_argument("--dataset", type=Path, default=HERE / "dataset.jsonl")
    options = parser.parse_args(arguments)
    dataset = map(json.loads, options.dataset.read_text("utf-8").splitlines())
    questions = {question["id"]: question for question in dataset}
    for done in map(json.loads, options.answers.read_text("utf-8").splitlines()):
        if done["outcome"] != "errored":
            for judgment in judgments(done, questions[done["trial"]["question"]]):
                sys.stdout.write(json.dumps(event(done, judgment)) + "\n")


if __name__ == "__main__":
    main()
