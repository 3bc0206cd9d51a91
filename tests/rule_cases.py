"""Runs for the tests of named rules: one log, one rule, one number."""

from collections.abc import Mapping
from pathlib import Path

from document_cases import rubric_table
from projection_cases import Log
from trial_ledger.events import Actor
from trial_projections.source_rules.computed import Computed
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.registry import compute

CRITERIA = {"graded": {"measure": "score", "grader": "human"}}
"""The metrics of a rubric whose one metric is a score that people give."""


def ruled(log: Log, name: str, metric: str | None = None) -> Computed:
    """Return what a rule makes of the log's run."""
    with log.model() as model:
        return compute(RunFacts(model, model.run(log.run), metric), name)


def value(log: Log, name: str, metric: str | None = None) -> str | None:
    """Return the value of a rule."""
    return ruled(log, name, metric).value


def labelled(log: Log, *verdicts: str) -> None:
    """Append a judged trial of q1, q2 and so on, one a verdict; `-` leaves the question alone."""
    for number, verdict in enumerate(verdicts, 1):
        if verdict != "-":
            log.trial(f"q{number}")
            log.judge(f"q{number}", "judged", verdict)


def judge_failed(log: Log, question: str, metric: str) -> None:
    """Append a trial whose judge failed."""
    log.trial(question)
    failure = {"occurrence": "f1", "class": "judge_unparseable", "fault": "judge"}
    log.append("failure.occurred", question, failure)
    data = {"judgment": "j1", "metric": metric, "reason": "judge_failed", "occurrence": "f1"}
    log.append("judgment.failed", question, data)


def reviewed(log: Log, question: str, person: str, metric: str, **label: object) -> None:
    """Append what a person said of a trial."""
    data: dict[str, object] = {
        "review": f"by {person}", "metric": metric, "plan": "purposive", "reason": "looked",
        "blind": True,
    }  # fmt: skip
    actor = Actor(role="human", name=person)
    log.append("review.recorded", question, {**data, **label}, actor=actor)


def graded(folder: Path, options: Mapping[str, object] | None = None) -> Log:
    """Return a log whose one metric is a score; options are those of its grader."""
    metric = {**CRITERIA["graded"], **({"options": dict(options)} if options else {})}
    table = rubric_table(primary="graded", metrics={"graded": metric})
    return Log(folder, rubric={"primary": table["primary"], "metrics": table["metrics"]})
