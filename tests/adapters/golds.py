"""Real gold sets as datasets, each with a run in which the gold itself is answered, faults planted.

A fixed rule of the question's number says what is planted, so that a test can say what has to come
of it without any of our graders.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adapters.submissions import Adapted, Table, manifest, read_json_lines, rubric

ADAPTER = "golds-adapter"
RECEIPTS, CALLS = "receipts", "calls"
MEASURES = {
    "fields": "structured.field_accuracy",
    "records": "structured.record_accuracy",
    "precision": "structured.record_precision",
}
RECEIPT_FIELDS: Table = {
    "company": {"type": "text"},
    "date": {"type": "date"},
    "address": {"type": "text", "missing": "allowed"},
    "total": {"type": "decimal"},
}
NOTATION: Table = {
    "units": ["RM", "$"], "thousands": "comma", "dates": "day-first", "empty_text": "null",
}  # fmt: skip
PLANTS = ("nothing", "wrong", "false_null", "missing", "spurious", "lost", "extra", "otherwise")


def receipts(path: Path) -> Iterator[tuple[str, Table, str, Any]]:
    """Yield id, gold, what is planted and the answer of each receipt."""
    for number, line in enumerate(read_json_lines(path)):
        record = line["record"]
        plant = PLANTS[number % len(PLANTS)] if record.get("total") else "spurious"
        # One receipt states an empty total; of others the answer keeps what gold is made to lack.
        stated = {**record, "total": None} if plant == "spurious" else record
        gold = {"records": [stated], "fields": RECEIPT_FIELDS}
        yield line["id"], gold, plant, answer(record, plant)


def answer(record: Table, plant: str) -> Any:  # noqa: ANN401 - JSON of any form
    """Return the record with a fault of a kind; `spurious` gives a total that gold has not."""
    changes: Mapping[str, Mapping[str, Any]] = {
        "wrong": {"company": "-1"},
        "false_null": {"company": None},
        "spurious": {} if record.get("total") else {"total": "9.00"},
        "otherwise": {"company": f"  {record['company'].swapcase()}."},
    }
    found = {**record, **changes.get(plant, {})}
    if plant == "missing":
        del found["company"]
    if plant == "lost":
        return []
    return [found, {"company": "nobody asked"}] if plant == "extra" else found


CALL_PLANTS = ("full", "required", "wrong", "missing")


def calls(paths: list[Path]) -> Iterator[tuple[str, Table, str, Any]]:
    """Yield id, gold, what is planted and the answer of each function call.

    Calls without parameters, or with one for which nothing is accepted, are left out.
    """
    lines = [line for path in paths for line in read_json_lines(path)]
    for number, line in enumerate(lines):
        ((_, accepted),) = line["ground_truth"][0].items()
        if not accepted or not all(accepted.values()):
            continue
        kinds = {name: {"type": kind(values)} for name, values in accepted.items()}
        fields = {
            name: {**form, "comparator": "any_of", "missing": "allowed"}
            for name, form in kinds.items()
        }
        gold = {"records": [accepted], "fields": fields}
        plant = CALL_PLANTS[number % len(CALL_PLANTS)]
        yield line["id"], gold, plant, call(accepted, plant)


def call(accepted: Mapping[str, list[Any]], plant: str) -> Table:
    """Return a call whose parameters have their last accepted values, but for what is planted."""
    full = {
        name: next((value for value in reversed(values) if value != ""), "")
        for name, values in accepted.items()
    }
    required = {name: value for name, value in full.items() if "" not in accepted[name]}
    if plant in {"full", "required"}:
        return full if plant == "full" else required
    first = next(iter(required), None)
    if first is None:
        return full
    if plant == "wrong":
        return {**full, first: {"certainly": "wrong"}}
    return {name: value for name, value in full.items() if name != first}


def kind(values: list[Any]) -> str:
    """Return the type of a parameter by its accepted values, of which "" means that it may lack."""
    named = [value for value in values if value != ""]
    numbers = all(isinstance(value, int) and not isinstance(value, bool) for value in named)
    return "decimal" if named and numbers else "text"


def adapt(name: str, answered: list[tuple[str, Table, str, Any]], options: Table) -> Adapted:
    """Return a dataset, a rubric that grades it by fields and by records, and a run of answers."""
    adapted = Adapted()
    adapted.datasets[f"{name}@1"] = [
        {"id": key, "question": f"What does {key} say?", "task_shape": "structured",
         "as_of": "2026", "gold": gold}
        for key, gold, _, _ in answered
    ]  # fmt: skip
    metrics = {
        metric: {"measure": measure, "normaliser": "squad", "options": options}
        for metric, measure in MEASURES.items()
    }
    adapted.rubrics.append(rubric(name, metrics))
    run = adapted.open_run(name, manifest("planted", f"{name}@1", name), ADAPTER)
    for key, _, _, said in answered:
        trial = f"{key}#1"
        run.add("trial.started", trial)
        run.add("answer.submitted", trial, answer=json.dumps(said))
        run.add("trial.finished", trial, outcome="answered")
    run.add("run.closed", status="complete")
    return adapted
