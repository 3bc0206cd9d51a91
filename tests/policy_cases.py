"""One ledger with two rubrics and several manifests, in which random runs are scored."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from document_cases import manifest_table, outcome_table, rubric_table
from ledger_cases import tools
from naive_policy import Plan
from run_cases import Session, Writer
from trial_ledger.book import Ledger
from trial_ledger.documents.dataset import parse_dataset
from trial_ledger.documents.manifest import parse_manifest
from trial_ledger.documents.rubric import parse_rubric
from trial_ledger.submission import Submission
from trial_projections.reading import ReadModel

Table = dict[str, Any]

SHAPES = {"q1": "fact", "q2": "list", "q3": "fact", "q4": "list"}
COMPLETE = {"q1": True, "q2": True, "q3": True, "q4": False}
REPETITIONS = 2

METRICS: Table = {
    "exact": {"measure": "fact.correctness", "shapes": ["fact"]},
    "recall": {"measure": "list.recall", "shapes": ["list"]},
    "judged": {"measure": "verdict", "grader": "judge"},
    "cautious": {
        "measure": "verdict",
        "grader": "judge",
        "scale": ["-1", "1"],
        "outcomes": {"incorrect": {"score": "-1"}},
        "aggregate": "trial-mean",
    },
    "quality": {"measure": "score", "grader": "source", "scale": ["-1", "1"]},
}
"""Verdicts and values, shares and signed scales, means of questions and of trials."""

EMPTY_SETS = {
    case: {"precision": "undefined", "recall": "undefined", "f1": "0"}
    for case in ("both_empty", "answer_empty", "gold_empty")
}
JUDGE = {"model": "judge-model", "endpoint": "judge", "prompt": "{question} {answer}"}

USUAL: Table = rubric_table(
    name="usual", primary="exact", metrics=METRICS, judge=JUDGE, empty_sets=EMPTY_SETS
)
"""The usual policy."""

ODD: Table = rubric_table(
    name="odd",
    primary="judged",
    max_undecided="1/2",
    judge={**JUDGE, "passes": 3, "canonical": "majority"},
    empty_sets=EMPTY_SETS,
    outcomes={
        **outcome_table(),
        "abstained": {"denominator": False},
        "not_gradable": {"score": "0"},
        "judge_failed": {"score": "1/2"},
        "harness_fault": {"score": "undecided"},
        "not_started": {"score": "undecided"},
        "cancelled": {"score": "0", "retryable": True},
        "trial_errored": {"score": "0", "retryable": True},
        "refused": {"score": "1", "retryable": True},
        "failures": {**outcome_table()["failures"], "auth": "refused", "dns": "not_gradable"},
    },
    metrics={
        **METRICS,
        "judged": {
            **METRICS["judged"],
            "outcomes": {
                "partial": {"score": "1/3"},
                "limit": {"denominator": False},
                "abstained": {"denominator": True, "score": "1/4"},
                "trial_errored": {"score": "undecided"},
            },
        },
    },
)
"""Whatever else a policy may say."""

RUBRICS = {"usual": USUAL, "odd": ODD}
QUESTIONS = {"all": tuple(SHAPES), "complete": ("q1", "q2", "q3")}
CONFIGURATIONS = {
    f"{rubric}-{session}-{questions}": (rubric, session, questions)
    for rubric in RUBRICS
    for session in ("first", "first-unless-retryable")
    for questions in QUESTIONS
}
"""Configuration → rubric, which session counts, which questions."""


def questions_jsonl() -> bytes:
    """Return four questions, the last list of which is not complete."""
    records: list[Table] = []
    for name, shape in SHAPES.items():
        gold: Table = {"answer": f"gold of {name}"}
        if shape == "list":
            gold = {"items": [f"gold of {name}"], "exhaustive": COMPLETE[name]}
            gold["inclusion_conditions"] = []
        record = {"id": name, "question": f"Riddle {name}?", "task_shape": shape, "gold": gold}
        records.append({**record, "as_of": "2026-10-01"})
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def policy_ledger(folder: Path) -> Ledger:
    """Make a ledger with every rubric and configuration, and no run."""
    ledger = Ledger.create(folder / "policy.ledger", tools=tools(folder, pins=False))
    dataset = parse_dataset(
        questions_jsonl(), source="dataset.jsonl", name="example", version="1", meta=None
    )
    ledger.freeze([dataset])
    ledger.freeze(
        [
            parse_rubric(json.dumps(table).encode(), source="rubric.toml")
            for table in RUBRICS.values()
        ]
    )
    ledger.freeze(
        [
            parse_manifest(
                json.dumps(
                    manifest_table(
                        configuration=name,
                        rubric=f"{rubric}@1",
                        repetitions=REPETITIONS,
                        session=session,
                        questions=list(QUESTIONS[questions]),
                    )
                ).encode(),
                source="manifest.toml",
                harness={"name": "cases", "version": "1"},
                environment={},
            )
            for name, (rubric, session, questions) in CONFIGURATIONS.items()
        ]
    )
    return ledger


def plan_of(configuration: str) -> Plan:
    """Return what a configuration plans and how it is scored."""
    rubric, session, questions = CONFIGURATIONS[configuration]
    return Plan(
        rubric=RUBRICS[rubric],
        shapes={name: SHAPES[name] for name in QUESTIONS[questions]},
        complete=COMPLETE,
        repetitions=REPETITIONS,
        retries=session == "first-unless-retryable",
    )


def append_random(
    ledger: Ledger, name: str, configuration: str, plan: dict[tuple[str, int], list[Session]]
) -> list[Submission]:
    """Append a random run; return its events."""
    metrics = RUBRICS[CONFIGURATIONS[configuration][0]]["metrics"]
    events = list(Writer(name, configuration, metrics).events(plan))
    ledger.append_many(events)
    return events


@contextmanager
def read_side(ledger: Ledger) -> Iterator[ReadModel]:
    """Open the read side of a ledger as it is now, and close it."""
    model = ReadModel.open(ledger)
    try:
        yield model
    finally:
        model.close()
