"""Research reports judged in four dimensions, whose criteria and weights each task has of its own.

All tasks are one run. Gold is a tree: the dimensions with the weights that the task gives them, and
below each its criteria. The source recorded what its judge gave each dimension as a whole, and
nothing of single criteria; each dimension is a metric that is named as its criterion.
"""

from pathlib import Path

from adapters.submissions import Adapted, Table, main, manifest, read_json_lines, rubric
from trial_ledger.exact import fraction_from_decimal_text, rational_text

ADAPTER = "race-adapter"
RUN = "claude-3-7-sonnet-with-search"
KINDS = {
    "comprehensiveness": "coverage",
    "insight": "correctness",
    "instruction_following": "coverage",
    "readability": "correctness",
}
"""Dimension of the source → kind of criterion, so that there are two sub-scores."""
OVERALL = "overall_score"
ADDED = ("coverage", "correctness", "composite")
LOSSES = ["the reports", "what the judge gave single criteria", "why it gave its scores"]


def adapt(paths: list[Path]) -> Adapted:
    """Return the documents and events of `criteria.jsonl` and `raw_results.jsonl`."""
    by_name = {path.name: path for path in paths}
    tasks = read_json_lines(by_name["criteria.jsonl"])
    results = read_json_lines(by_name["raw_results.jsonl"])
    adapted = Adapted()
    adapted.datasets["race@1"] = [question(task) for task in tasks]
    judged = {name: {"measure": "score", "grader": "source"} for name in (*KINDS, OVERALL)}
    added = {
        measure: {
            "measure": f"research.{measure}", "grader": "criteria@1",
            "options": {"metrics": list(KINDS)},
        }
        for measure in ADDED
    }  # fmt: skip
    adapted.rubrics.append(rubric("race", {**judged, **added}))
    run = adapted.open_run(RUN, manifest("claude-3-7-sonnet", "race@1", "race"), ADAPTER)
    for result in results:
        trial = f"{result['id']}#1"
        run.add("trial.started", trial)
        run.add("trial.finished", trial, outcome="answered")
        for metric in judged:
            run.add(
                "judgment.recorded", trial, judgment=f"{metric}-1", metric=metric, by="model",
                grader={"name": "race"}, score=rational(result[metric]),
            )  # fmt: skip
    run.add("run.closed", status="complete")
    run.source(*by_name.values(), format_="race", losses=LOSSES)
    return adapted


def rational(text: str) -> str:
    """Return a decimal of the source as rational text."""
    return rational_text(fraction_from_decimal_text(text))


def question(task: Table) -> Table:
    """Return a task with the tree of its criteria as gold."""
    criteria: list[Table] = []
    for dimension, weight in task["dimension_weight"].items():
        top = {"id": dimension, "text": dimension, "kind": KINDS[dimension], "weight": str(weight)}
        criteria.append(top)
        criteria += [
            {
                "id": f"{dimension}.{number}", "text": member["criterion"], "parent": dimension,
                "kind": KINDS[dimension], "weight": str(member["weight"]),
            }
            for number, member in enumerate(task["criterions"][dimension], 1)
        ]  # fmt: skip
    found = {"id": str(task["id"]), "question": task["prompt"], "task_shape": "research"}
    return {**found, "as_of": "2025", "gold": {"criteria": criteria}}


if __name__ == "__main__":
    main(adapt)
