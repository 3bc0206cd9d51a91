"""Rubric trees of one paper each, graded by people: leaves 0 or 1, weights at every node.

Each file is one run with one trial. A node is called by its path (`2.1` is the first child of the
root's second child). The tree is gold, every node below the root a criterion with its weight, and
the weights go into the rubric too; the leaves are the parts of the judgment; the value that the
source stored for the root is its score, as it was written. What the source stored for other nodes
is left out: the ledger adds the leaves up itself.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from adapters.submissions import Adapted, Table, main, manifest, read_json, rubric, slug

ADAPTER = "paperbench-adapter"
METRIC = "replication"
TREE = "tree"
PERSON = {"role": "human", "name": "grader not named by the source"}
LOSSES = ["the graded submission: not in the file", "the grader: not named", "time: not recorded"]


def nodes(node: Table, path: str = "") -> Iterator[tuple[str, Table]]:
    """Yield every node with its path, the root's being empty."""
    yield path, node
    for number, child in enumerate(node["sub_tasks"], 1):
        yield from nodes(child, f"{path}.{number}" if path else str(number))


def adapt(paths: list[Path]) -> Adapted:
    """Return the documents and events of some trees."""
    adapted = Adapted()
    for path in sorted(paths):
        add_tree(adapted, path)
    return adapted


def add_tree(adapted: Adapted, path: Path) -> None:
    """Add the run of one tree."""
    root = read_json(path)
    leaves = [(place, node) for place, node in nodes(root) if not node["sub_tasks"]]
    weights = {place: str(node["weight"]) for place, node in nodes(root) if place}
    paper = slug(path.stem)
    adapted.datasets[f"{paper}@1"] = [
        {
            "id": paper, "question": root["requirements"], "task_shape": "research",
            "gold": {
                "criteria": [
                    criterion(place, node) for place, node in nodes(root) if place
                ]
            },
        }
    ]  # fmt: skip
    metric = {"measure": "score", "grader": "human", "options": {"weights": weights}}
    added = {
        "measure": "research.composite", "grader": "criteria@1", "options": {"metrics": [METRIC]},
    }  # fmt: skip
    adapted.rubrics.append(rubric(paper, {METRIC: metric, TREE: added}))
    table = manifest("submission", f"{paper}@1", paper)
    run = adapted.open_run(paper, table, ADAPTER)
    trial = f"{paper}#1"
    run.add("trial.started", trial)
    run.add("trial.finished", trial, outcome="answered")
    run.add_as(
        PERSON, "judgment.recorded", trial, judgment="tree-1", metric=METRIC, by="human",
        grader={"name": "human"}, score=str(Fraction(root["score"])),
        parts=[part(place, node) for place, node in leaves],
        reasoning=json.dumps({place: node["explanation"] for place, node in leaves}),
    )  # fmt: skip
    run.add("run.closed", status="complete")
    numbers = [{"score": METRIC, "metric": "root from leaves", "value": root["score"]}]
    run.source(path, format_="paperbench", reported=numbers, losses=LOSSES)


def criterion(place: str, node: Table) -> Table:
    """Return a node as a criterion of gold."""
    found = {
        "id": place, "text": node["requirements"], "kind": "correctness",
        "weight": str(node["weight"]),
    }  # fmt: skip
    parent = place.rpartition(".")[0]
    return {**found, "parent": parent} if parent else found


def part(place: str, node: Table) -> Table:
    """Return a leaf as a part of a judgment; one that is not valid has no value."""
    if not node["valid_score"]:
        return {"name": place}
    score = Fraction(node["score"])
    return {"name": place, "numerator": score.numerator, "denominator": score.denominator}


if __name__ == "__main__":
    main(adapt)
