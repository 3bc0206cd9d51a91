"""A real gold correction: the same answers under both versions of FanOutQA's development set.

Shown by 4: the corrected gold is a new version of the dataset, `rescore` a derived run, and the
bridge says how much the gold moved each number, as recomputed here without any of our graders.
"""

import json
import re
import string
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli_cases import ledger, lines
from document_cases import manifest_table, rubric_table
from source_cases import MAPS, REAL_DATA, here, needs

SET = "gold-fanoutqa-dev"
FOLDER = REAL_DATA / SET
OLD, NEW = FOLDER / "fanout-final-dev-nov23.json", FOLDER / "fanout-final-dev.json"
RUN = "old-gold-as-answers"
DERIVED = f"{RUN}.dataset-2026-07"

pytestmark = needs(SET)

Record = dict[str, Any]
METRICS = {
    "fields": {
        "measure": "structured.field_accuracy", "grader": "record-match@1",
        "options": {"key": ["item"]},
    },
    "items": {"measure": "list.f1", "grader": "list-match@1"},
    "exact": {"measure": "fact.correctness"},
}  # fmt: skip


def records(path: Path) -> dict[str, Record]:
    """Return the questions of a version by id, decimals as the text they are."""
    found = json.loads(path.read_bytes(), parse_float=str)
    return {record["id"]: record for record in found}


def answer_of(number: int, gold: Any) -> str:  # noqa: ANN401 - whatever the gold is
    """Return what the agent says: the old gold, some of it wrong or left out, by a fixed rule."""
    if isinstance(gold, dict):
        pairs = [{"item": item, "value": value} for item, value in gold.items()]
        if number % 5 == 0:
            pairs[0]["value"] = "nobody knows"
        if number % 7 == 0:
            pairs.pop()
        return json.dumps(pairs[::-1])
    if isinstance(gold, list):
        return json.dumps([*gold[number % 3 :], *(["Nowhere"] if number % 2 else [])])
    return "nobody knows" if number % 5 == 0 else f"The {gold}."


def plain(value: object) -> str:
    """Return a text without case, punctuation and articles, as the SQuAD scorer does."""
    text = "".join(letter for letter in str(value).lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def score_of(gold: Any, answer: str) -> Fraction:  # noqa: ANN401 - whatever the gold is
    """Return the score of an answer: right values of the gold's entries, F1, or equality."""
    if isinstance(gold, dict):
        said = {plain(pair["item"]): plain(pair["value"]) for pair in json.loads(answer)}
        right = sum(said.get(plain(item)) == plain(value) for item, value in gold.items())
        return Fraction(right, len(gold))
    if isinstance(gold, list):
        given, wanted = ({plain(item) for item in items} for items in (json.loads(answer), gold))
        return Fraction(2 * len(given & wanted), len(given) + len(wanted))
    return Fraction(plain(gold) == plain(answer))


SHAPES: dict[str, type | tuple[type, ...]] = {
    "fields": dict, "items": list, "exact": (str, int, bool)
}  # fmt: skip


def is_of(metric: str) -> Callable[[Any], bool]:
    """Return what tells whether a metric is for a gold answer."""
    return lambda gold: isinstance(gold, SHAPES[metric])


class Scored(NamedTuple):
    """Everything that was done with one ledger."""

    folder: Path
    before: dict[str, str]
    """What the old run's commands said before it was judged again."""
    rescored: Any
    """The JSON of `rescore`."""
    answers: dict[str, str]
    """What the agent said."""


READS = (("scores", RUN), *(("explain", RUN, metric) for metric in METRICS))


def reads(folder: Path, size: int) -> dict[str, str]:
    """Return what is said of the old run, as of a size of the log."""
    found = {}
    for command in READS:
        done = here(folder, *command, "--json", "--as-of", str(size))
        assert done.code == 0, done.err
        found[" ".join(command)] = done.out
    return found


def events(answers: dict[str, str], questions: dict[str, Record]) -> Iterator[Record]:
    """Yield the run in which the old gold was answered."""
    yield {"kind": "run.opened", "run": RUN, "data": {"manifest": "local", "entry": "appended"}}
    for name, answer in answers.items():
        trial = {"run": RUN, "trial": f"{name}#1"}
        yield {"kind": "trial.started", **trial, "data": {"input": questions[name]["question"]}}
        yield {"kind": "answer.submitted", **trial, "data": {"answer": answer}}
        yield {"kind": "trial.finished", **trial, "data": {"outcome": "answered"}}
    yield {"kind": "run.closed", "run": RUN, "data": {"status": "complete"}}


def freeze(folder: Path, *arguments: str | Path) -> None:
    """Freeze a document by the real command."""
    done = here(folder, "freeze", *map(str, arguments))
    assert done.code == 0, done.err


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """Register both versions, append the answers, grade, and judge again under the corrected."""
    folder = tmp_path_factory.mktemp("fanoutqa")
    assert here(folder, "init").code == 0
    for path, version in ((OLD, "2023-11"), (NEW, "2026-07")):
        given = ("--name", "fanoutqa", "--version", version, "--map", str(MAPS / "fanoutqa.toml"))
        freeze(folder, "dataset", path, *given)
    rubric = rubric_table(name="fan-out", metrics=METRICS, primary="fields", empty_sets=EMPTY)
    manifest = manifest_table(dataset="fanoutqa@2023-11", rubric="fan-out@1", repetitions=1)
    for kind, table in (("rubric", rubric), ("manifest", manifest)):
        (folder / f"{kind}.json").write_text(json.dumps(table), "utf-8")
        freeze(folder, kind, f"{kind}.json")
    questions = records(OLD)
    answers = {
        name: answer_of(number, record["answer"])
        for number, (name, record) in enumerate(questions.items())
    }
    done = ledger(folder, "append", "-", "--derive-ids", stdin=lines(*events(answers, questions)))
    assert done.code == 0, done.err
    graded = here(folder, "grade", RUN, "--json")
    assert graded.code == 0, graded.err
    assert graded.json["appended"] == 310
    size = here(folder, "scores", RUN, "--json").json["size"]
    before = reads(folder, size)
    wish = ("--dataset", "fanoutqa@2026-07", "--reason", "gold was corrected", "--json")
    done = here(folder, "rescore", RUN, *wish)
    assert done.code == 0, done.err
    return Scored(folder, before, done.json, answers)


NO_CASE = dict.fromkeys(("precision", "recall", "f1"), "0")
EMPTY = dict.fromkeys(("both_empty", "answer_empty", "gold_empty"), NO_CASE)


def means(scored: Scored, path: Path, metric: str) -> dict[str, Fraction]:
    """Return the score of every question of a metric's shape under one version of the gold."""
    is_meant = is_of(metric)
    return {
        name: score_of(record["answer"], scored.answers[name])
        for name, record in records(path).items()
        if is_meant(record["answer"])
    }


def bridge_of(scored: Scored, metric: str) -> Any:  # noqa: ANN401 - a JSON document
    """Return the bridge of one metric."""
    (found,) = [bridge for bridge in scored.rescored["bridges"] if bridge["new_metric"] == metric]
    return found


@pytest.mark.parametrize("metric", METRICS)
def test_the_gold_step_is_what_the_correction_moved(scored: Scored, metric: str) -> None:
    """Both numbers, and their difference to the last digit, as an independent scorer has them."""
    old, new = (means(scored, path, metric) for path in (OLD, NEW))
    assert old.keys() == new.keys()
    bridge = bridge_of(scored, metric)
    for scores, side in ((old, "old"), (new, "new")):
        mean = sum(scores.values(), Fraction(0)) / len(scores)
        for end in ("low", "high"):
            assert Fraction(bridge[side][end]["value"]) == mean
    moved = sum(new.values(), Fraction(0)) - sum(old.values(), Fraction(0))
    steps = {step["cause"]: step for step in bridge["steps"]}
    gold = steps.pop("gold")
    assert Fraction(gold["low"]) == Fraction(gold["high"]) == moved / len(new)
    assert gold["slots"] == sum(old[name] != new[name] for name in new)
    assert {(step["slots"], step["low"], step["high"]) for step in steps.values()} == {
        (0, "0", "0")
    }


@pytest.mark.parametrize("metric", METRICS)
def test_every_flip_is_listed_with_both_judgments(scored: Scored, metric: str) -> None:
    """Each question whose score is another one, its scores, and the two events behind them."""
    old, new = (means(scored, path, metric) for path in (OLD, NEW))
    changes = {change["slot"]: change for change in bridge_of(scored, metric)["changes"]}
    assert set(changes) == {f"{name}#1" for name in new if old[name] != new[name]}
    for slot, change in changes.items():
        name = slot.removesuffix("#1")
        assert Fraction(change["old"]["low"]) == old[name]
        assert Fraction(change["new"]["low"]) == new[name]
        assert [move["cause"] for move in change["moves"]] == ["gold"]
        for side in ("old", "new"):
            event = change[side]["event"]
            shown = here(scored.folder, "show", str(event["seq"]), "--json").json
            assert shown["hash"] == event["hash"]
            assert shown["event"]["kind"] == "judgment.recorded"


def test_the_correction_is_no_small_one(scored: Scored) -> None:
    """82 of 310 gold answers differ; nearly all of them cost an agent that gave the old ones."""
    changed = [
        name
        for name, record in records(OLD).items()
        if record["answer"] != records(NEW)[name]["answer"]
    ]
    assert len(changed) == 82
    moved = sum(len(bridge_of(scored, metric)["changes"]) for metric in METRICS)
    assert 70 < moved <= 82
    assert Fraction(bridge_of(scored, "fields")["low"]) < 0


def test_the_old_run_keeps_every_byte(scored: Scored) -> None:
    """Its scores and derivations are those of before, and the log is intact."""
    size = json.loads(scored.before[f"scores {RUN}"])["size"]
    assert reads(scored.folder, size) == scored.before
    assert ledger(scored.folder, "verify").code == 0


def test_the_derived_run_says_what_it_is(scored: Scored) -> None:
    """Its dataset, its parent, and that its gold came after the answers."""
    rescored = scored.rescored
    assert (rescored["run"], rescored["derived_from"]) == (DERIVED, RUN)
    assert rescored["dataset"] == {"old": "fanoutqa@2023-11", "new": "fanoutqa@2026-07"}
    assert {row["metric"]: row["given"] for row in rescored["judged"]} == {
        "fields": 274, "items": 12, "exact": 24,
    }  # fmt: skip
    shown = here(scored.folder, "scores", DERIVED).out
    assert f"derived from {RUN} as of its link" in shown
    again = ("rescore", RUN, "--dataset", "fanoutqa@2026-07", "--reason", "again", "--json")
    assert here(scored.folder, *again).json["is_new"] is False


def test_a_planted_fault_of_the_gold_would_be_seen(scored: Scored) -> None:
    """The independent scorer tells versions apart that differ in one value of one question."""
    old = means(scored, OLD, "fields")
    name = next(name for name, value in old.items() if value == 1)
    record = records(OLD)[name]
    first = next(iter(record["answer"]))
    assert score_of({**record["answer"], first: "planted"}, scored.answers[name]) < 1
