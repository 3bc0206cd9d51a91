"""Lists of FanOutQA with other names for their items, under both versions of its gold (C6, C7).

286 questions: the lists, and the keys of the answers that are objects. Each item gets other names;
what is answered is the old gold under these names, with repetitions, gaps and items of nowhere by a
fixed rule. What has to come out is counted here on names alone.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from adapters.submissions import Adapted, Table, manifest
from adapters.submissions import rubric as rubric_of
from source_cases import REAL_DATA, appended, here, needs

SET = "gold-fanoutqa-dev"
OLD, NEW = (
    REAL_DATA / SET / name for name in ("fanout-final-dev-nov23.json", "fanout-final-dev.json")
)
RUN = "named-otherwise"
DERIVED = f"{RUN}.dataset-2026-07"
MEASURES = ("precision", "recall", "f1")
NO_CASE = dict.fromkeys(MEASURES, "0")

pytestmark = needs(SET)


def lists(path: Path) -> dict[str, list[str]]:
    """Return the items of every question whose answer has some, each once."""
    found = {}
    for record in json.loads(path.read_bytes(), parse_float=str):
        if isinstance(record["answer"], list | dict):
            found[record["id"]] = list(dict.fromkeys(map(str, record["answer"])))
    return found


def names(item: str) -> list[str]:
    """Return other names of an item, which no other item has."""
    return [f"also known as {item}", f"{item} (the one that was asked for)"]


def answer_of(number: int, items: list[str]) -> list[str]:
    """Return the items under other names, some twice, some left out, some of nowhere."""
    found = [names(item)[place % 2] if place % 3 else item for place, item in enumerate(items)]
    if number % 2:
        found += [items[0].upper(), names(items[0])[0]]
    if number % 3 == 0:
        found.pop(0 if number % 2 else -1)
    return [*found, *(["Nowhere", "nowhere"] if number % 5 == 0 else [])]


def plain(name: str) -> str:
    """Return a name without case, as the rubric's normaliser compares it."""
    return " ".join(name.casefold().split())


def expected(items: list[str], answer: list[str]) -> dict[str, Fraction]:
    """Return precision, recall and F1, counted on names: an item that was named at all is found."""
    forms = [{plain(name) for name in (item, *names(item))} for item in items]
    forms = [form for place, form in enumerate(forms) if form not in forms[:place]]
    said = {plain(name) for name in answer}
    matched = sum(bool(form & said) for form in forms)
    extra = len(said - set().union(*forms))
    return {
        "precision": Fraction(matched, matched + extra),
        "recall": Fraction(matched, len(forms)),
        "f1": Fraction(2 * matched, matched + extra + len(forms)),
    }


def records(path: Path, *, exhaustive: bool) -> Iterator[Table]:
    """Yield the questions of a version with their gold."""
    for name, items in lists(path).items():
        gold = {"items": items, "aliases": {item: names(item) for item in items}}
        record = {"id": name, "question": f"Which are those of {name}?", "task_shape": "list"}
        yield {**record, "as_of": "2026", "gold": {**gold, "exhaustive": exhaustive}}


def adapted(*, exhaustive: bool) -> Adapted:
    """Return both versions of the gold and the run, answered once."""
    found = Adapted()
    for path, version in ((OLD, "2023-11"), (NEW, "2026-07")):
        found.datasets[f"lists@{version}"] = list(records(path, exhaustive=exhaustive))
    metrics = {
        measure: {"measure": f"list.{measure}", "normaliser": "casefold"} for measure in MEASURES
    }
    cases = dict.fromkeys(("both_empty", "answer_empty", "gold_empty"), NO_CASE)
    found.rubrics.append({**rubric_of("lists", metrics), "empty_sets": cases})
    run = found.open_run(RUN, manifest("reader", "lists@2023-11", "lists"), "lists-adapter")
    for number, (name, items) in enumerate(lists(OLD).items()):
        trial = f"{name}#1"
        run.add("trial.started", trial)
        run.add("answer.submitted", trial, answer=json.dumps(answer_of(number, items)))
        run.add("trial.finished", trial, outcome="answered")
    run.add("run.closed", status="complete")
    return found


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger: the run graded, and judged again under the corrected gold."""
    folder = tmp_path_factory.mktemp("lists")
    appended(folder, adapted(exhaustive=True))
    assert here(folder, "grade", RUN).code == 0
    why = ("--reason", "gold was corrected")
    done = here(folder, "rescore", RUN, "--dataset", "lists@2026-07", *why)
    assert done.code == 0, done.err
    return folder


@pytest.mark.parametrize(("run", "path"), [(RUN, OLD), (DERIVED, NEW)], ids=["old", "corrected"])
def test_c07_lists_under_other_names_come_out_as_counted(
    graded: Path, run: str, path: Path
) -> None:
    """All three measures of 286 questions, each to the last digit, and their means."""
    gold, said = lists(path), lists(OLD)
    counted = {
        name: expected(gold[name], answer_of(number, items))
        for number, (name, items) in enumerate(said.items())
    }
    assert len(counted) == 286
    for measure in MEASURES:
        members: list[Any] = here(graded, "explain", run, measure, "--json").json["members"]
        found = {member["question"]: member for member in members}
        assert found.keys() == counted.keys()
        for name, member in found.items():
            assert member["low"] == member["high"]
            assert Fraction(member["low"]) == counted[name][measure], (name, measure)
    means = {row["metric"]: row for row in here(graded, "scores", run, "--format", "jsonl").rows}
    for measure in MEASURES:
        values = [scores[measure] for scores in counted.values()]
        mean = sum(values, Fraction(0)) / len(values)
        assert Fraction(means[measure]["low"]) == Fraction(means[measure]["high"]) == mean


def test_c07_the_correction_moves_what_it_touches_and_nothing_else(graded: Path) -> None:
    """Items that were corrected are missing and extra now; all other questions stay."""
    touched = {name for name, items in lists(NEW).items() if set(items) != set(lists(OLD)[name])}
    moved = set()
    for measure in MEASURES:
        both = [
            {
                member["question"]: member["low"]
                for member in here(graded, "explain", run, measure, "--json").json["members"]
            }
            for run in (RUN, DERIVED)
        ]
        moved |= {name for name in both[0] if both[0][name] != both[1][name]}
    assert moved <= touched
    assert len(moved) >= 0.8 * len(touched) > 0
    assert here(graded, "verify").code == 0


def test_c06_the_same_lists_not_known_to_be_complete_have_a_range(tmp_path: Path) -> None:
    """Precision lies between what was found and what may be right too; there is nothing else."""
    appended(tmp_path, adapted(exhaustive=False))
    assert here(tmp_path, "grade", RUN).code == 0
    rows = {row["metric"]: row for row in here(tmp_path, "scores", RUN, "--format", "jsonl").rows}
    for measure in ("recall", "f1"):
        assert (rows[measure]["low"], rows[measure]["high"]) == (None, None)
    values = [
        expected(items, answer_of(number, items))["precision"]
        for number, items in enumerate(lists(OLD).values())
    ]
    assert Fraction(rows["precision"]["low"]) == sum(values, Fraction(0)) / len(values)
    assert rows["precision"]["high"] == "1"
