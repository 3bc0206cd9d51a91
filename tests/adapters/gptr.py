"""Briefs of two search agents graded by criteria, and reports compared.

Each file and each arm of it is one run. An empty report never told how long it took: the source
stores 0.0, which is unknown here. What the agent cost is not recorded; one sum of a tool's own
spend stands in each file and is kept as the source's number, not as a cost of a trial.
"""

import json
from pathlib import Path

from adapters.submissions import (
    SPEND_UNKNOWN,
    Adapted,
    Run,
    Table,
    main,
    manifest,
    microseconds,
    read_json,
    rubric,
    short_hash,
    slug,
)

ADAPTER = "gptr-adapter"
FORMAT = "gptr"
HALVES = {"CORRECT": 2, "PARTIAL": 1}
WINS = {"gptr": "correct", "baseline": "incorrect", "tie": "partial"}
DIMENSIONS = ("overall", "comprehensiveness", "citation_quality", "factual_grounding")

TOOL_SPEND = "gptr_internal_cost_usd"
"""One sum a file, of what the tool itself spent."""
CRITERIA_METRIC = {"measure": "score", "grader": "judge"}
LOSSES = [
    "calls and tokens of the agent: not recorded",
    "prompts and tools: not recorded",
    SPEND_UNKNOWN,
    "cost of the judge: not recorded",
]


def adapt(paths: list[Path]) -> Adapted:
    """Return the documents and events of some files."""
    adapted = Adapted()
    for path in sorted(paths):
        document = read_json(path)
        family = path.name.partition("_")[0]
        if family == "reports":
            comparisons(adapted, path, document)
        else:
            briefs(adapted, path, document, family)
    return adapted


def reported(metric: str, summary: Table) -> list[Table]:
    """Return the numbers of a summary as the source wrote them."""
    return [
        {"score": metric, "metric": name, "value": str(value)}
        for name, value in summary.items()
        if isinstance(value, str | int)
    ]


def ask_dataset(adapted: Adapted, name: str, records: list[Table]) -> str:
    """Register the questions of a file, unless another file had the same; return `name@version`."""
    for number in range(1, 10):
        reference = f"{name}@{number}"
        if adapted.datasets.setdefault(reference, records) == records:
            return reference
    message = f"too many versions of {name}"
    raise AssertionError(message)


def ask_rubric(adapted: Adapted, name: str, metrics: Table, about: Table) -> None:
    """Add the rubric of a family of files, once."""
    if all(known["name"] != name for known in adapted.rubrics):
        model = about.get("grader_model") or about["judge_model"]
        adapted.rubrics.append(rubric(name, metrics, judge=model))


def open_run(
    adapted: Adapted,
    path: Path,
    arm: str,
    about: Table,
    *,
    dataset: str,
    rubric_name: str,
) -> Run:
    """Add the manifest of an arm and open its run."""
    configuration = arm.replace("@", "-at-")
    models = {"main": {"name": about["model"]}}
    table = manifest(configuration, dataset, rubric_name, models=models)
    return adapted.open_run(slug(path.stem, configuration), table, ADAPTER)


def briefs(adapted: Adapted, path: Path, document: Table, family: str) -> None:
    """Add one run an arm of a file of briefs that are graded by criteria."""
    about = document["run_metadata"]
    grades = (
        {"internal": "internal_grades", "web": "web_grades"}
        if family == "hybrid"
        else {"checkpoints": "grades"}
    )
    ask_rubric(adapted, family, dict.fromkeys(grades, CRITERIA_METRIC), about)
    records = [
        {"id": record["task"], "question": record["prompt"], "task_shape": "research"}
        for record in document["records"]
    ]
    dataset = ask_dataset(adapted, family, records)
    arms = [name for name, value in document["records"][0].items() if isinstance(value, dict)]
    for arm in arms:
        run = open_run(adapted, path, arm, about, dataset=dataset, rubric_name=family)
        for record in document["records"]:
            brief(run, record["task"], record[arm], grades, about)
        numbers = reported(next(iter(grades)), document["summary"][arm])
        if arm.startswith("gptr"):
            spend = {TOOL_SPEND: document["summary"][TOOL_SPEND]}
            numbers += reported(TOOL_SPEND, spend)
        finish(run, path, numbers)


def started(run: Run, trial: str, report: str, about: Table) -> None:
    """Begin a trial; one call stands for all that its model did, which nobody measured."""
    run.add("trial.started", trial)
    run.add("call.started", trial, call="all", purpose="model", name=about["model"])
    run.add("call.finished", trial, call="all", status="ok" if report else "empty")


def brief(run: Run, task: str, record: Table, grades: dict[str, str], about: Table) -> None:
    """Add the trial of one brief; an empty one is a failure of unknown duration."""
    trial, grader = f"{task}#1", about["grader_model"]
    started(run, trial, record["report"], about)
    if record["report"]:
        run.add("answer.submitted", trial, answer=record["report"])
        duration = microseconds(record["latency_seconds"])
        run.add("trial.finished", trial, outcome="answered", duration_us=duration)
    else:
        assert record["latency_seconds"] == "0.0"
        run.failure(
            trial, "other", occurrence="empty", detail_class="empty_report", impact="trial_failed"
        )
        run.add("trial.finished", trial, outcome="errored", reason="empty_report")
    for metric, key in grades.items():
        labels = [grade["grade"] for grade in record[key]]
        halves = sum(HALVES.get(label, 0) for label in labels)
        run.add(
            "judgment.recorded", trial, judgment=f"{metric}-1", metric=metric, by="model",
            grader={"name": grader}, score=ratio(halves, 2 * len(labels)),
            parts=[
                {"name": str(grade["checkpoint"]), "outcome": grade["grade"].lower()}
                for grade in record[key]
            ],
            reasoning=json.dumps([grade["evidence"] for grade in record[key]]),
        )  # fmt: skip


def ratio(numerator: int, denominator: int) -> str:
    """Return a rational as text."""
    return f"{numerator}/{denominator}"


def comparisons(adapted: Adapted, path: Path, document: Table) -> None:
    """Add the run of a file in which reports of two arms are compared, topic by topic."""
    about = document["run_metadata"]
    metric = {"measure": "verdict", "grader": "judge"}
    ask_rubric(adapted, "reports", dict.fromkeys(DIMENSIONS, metric), about)
    records = [
        {"id": short_hash(record["topic"]), "question": record["topic"], "task_shape": "research"}
        for record in document["records"]
    ]
    dataset = ask_dataset(adapted, "reports", records)
    run = open_run(adapted, path, "gptr", about, dataset=dataset, rubric_name="reports")
    for record in document["records"]:
        trial = f"{short_hash(record['topic'])}#1"
        ours = record["gptr"]
        started(run, trial, ours["report"], about)
        run.add("answer.submitted", trial, answer=ours["report"])
        duration = microseconds(ours["latency_seconds"])
        run.add("trial.finished", trial, outcome="answered", duration_us=duration)
        for dimension in DIMENSIONS:
            run.add(
                "judgment.recorded", trial, judgment=f"{dimension}-1", metric=dimension,
                by="model", grader={"name": about["judge_model"]},
                verdict=WINS[record["verdicts"][dimension]],
                shown=record["baseline"]["report"] if dimension == DIMENSIONS[0] else None,
            )  # fmt: skip
    wins = document["summary"]["win_rates"]
    numbers = [
        {"score": dimension, "metric": "correct", "value": str(wins[dimension]["gptr"])}
        for dimension in DIMENSIONS
    ]
    finish(run, path, numbers)


def finish(run: Run, path: Path, numbers: list[Table]) -> None:
    """Close a run and say where it came from."""
    run.add("run.closed", status="complete")
    run.source(path, format_=FORMAT, reported=numbers, losses=LOSSES)


if __name__ == "__main__":
    main(adapt)
