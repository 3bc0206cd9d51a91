"""Ten trials, one right answer: the scenario that separates tools, through the real commands.

q1 and q2 are lost to infrastructure, q3 to q8 are answered right, q9 and q10 wrong, and the model
judge crashes on q3.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_cases import Result, ledger

FILES = Path(__file__).parent / "ten_trials"
TABLE = {
    "exact": {
        "headline": ("6", "6", 10, "3/5", "3/5"),
        "errors_excluded": ("6", "6", 8, "3/4", "3/4"),
        "complete_case": ("6", "6", 8, "3/4", "3/4"),
        "worst": ("6", "6", 10, "3/5", "3/5"),
        "best": ("8", "8", 10, "4/5", "4/5"),
    },
    "judge": {
        "headline": ("5", "6", 10, "1/2", "3/5"),
        "errors_excluded": ("5", "6", 8, "5/8", "3/4"),
        "complete_case": ("5", "5", 7, "5/7", "5/7"),
        "worst": ("5", "5", 10, "1/2", "1/2"),
        "best": ("8", "8", 10, "4/5", "4/5"),
    },
}
"""Metric and view → lowest and highest sum, count, lowest and highest value."""


def frozen(folder: Path, dataset: Path = FILES / "dataset.jsonl") -> None:
    """Make a ledger with the documents of the scenario."""
    commands = (
        ("init",),
        ("freeze", "dataset", str(dataset), "--name", "ten-towns", "--version", "1"),
        ("freeze", "rubric", str(FILES / "rubric.toml")),
        ("freeze", "manifest", str(FILES / "manifest.toml")),
    )
    for command in commands:
        done = ledger(folder, *command)
        assert done.code == 0, done.err


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a ledger to which the ten trials were appended from standard input."""
    folder = tmp_path_factory.mktemp("ten")
    frozen(folder)
    done = ledger(folder, "append", "-", stdin=(FILES / "events.jsonl").read_bytes())
    assert (done.code, len(done.rows)) == (0, 49)
    yield folder
    assert ledger(folder, "verify").code == 0


@pytest.fixture(scope="module")
def shown(ten: Path) -> Result:
    """What `scores` says of it."""
    return ledger(ten, "scores", "ten")


@pytest.fixture(scope="module")
def metrics(ten: Path) -> dict[str, Any]:
    """Every metric of the JSON form by name."""
    document = ledger(ten, "scores", "ten", "--json").json
    assert document["schema"] == "ledger.scores/1"
    return {metric["name"]: metric for metric in document["metrics"]}


def table_of(metric: dict[str, Any]) -> dict[str, tuple[str, str, int, str, str]]:
    """Return the numbers of a metric in the form of `TABLE`."""
    views = {"headline": metric["headline"], **metric["sensitivity"]}
    return {
        view: (
            ends["low"]["sum"],
            ends["high"]["sum"],
            ends["low"]["count"],
            ends["low"]["value"],
            ends["high"]["value"],
        )
        for view, ends in views.items()
    }


@pytest.mark.parametrize("name", ["exact", "judge"])
def test_every_number_of_the_table_is_exact(metrics: dict[str, Any], name: str) -> None:
    """Sums, counts and values of the headline and of every other rule, as text without rounding."""
    assert table_of(metrics[name]) == TABLE[name]


UNDECIDED_IS_WRONG = """
from trial_projections import aggregate, scores
views = aggregate.views
scores.views = lambda scale: {
    name: lambda cell, view=view: None if view(cell) is None else (view(cell)[0],) * 2
    for name, view in views(scale).items()
}
"""
ERRORS_LEAVE = """
from trial_projections import aggregate, scores
views = aggregate.views
scores.views = lambda scale: {**views(scale), "headline": views(scale)["errors_excluded"]}
"""


@pytest.mark.parametrize("fault", [UNDECIDED_IS_WRONG, ERRORS_LEAVE])
def test_a_planted_fault_gives_another_table(ten: Path, fault: str) -> None:
    """A tool that scores a crashed judge as wrong, or leaves errors out, fails this scenario."""
    done = ledger(ten, "scores", "ten", "--json", before=fault)
    found = {metric["name"]: table_of(metric) for metric in done.json["metrics"]}
    assert found != TABLE


def test_what_is_decided_and_by_what(metrics: dict[str, Any]) -> None:
    """Two trials are decided by rule, and what the judge left open is named."""
    fields = ("planned", "denominator", "decided", "by_rule", "undecided", "gate_decided")
    assert [metrics["exact"][field] for field in fields] == [10, 10, 10, 2, {}, True]
    assert [metrics["judge"][field] for field in fields] == [
        10,
        10,
        9,
        2,
        {"judge_failed": 1},
        False,
    ]
    assert metrics["judge"]["undecided_share"] == "1/10"
    assert metrics["exact"]["outcomes"] == {
        "scored": 8, "harness_fault": 1, "search_provider_fault": 1,
    }  # fmt: skip
    assert metrics["judge"]["outcomes"] == {
        "correct": 5, "incorrect": 2, "judge_failed": 1,
        "harness_fault": 1, "search_provider_fault": 1,
    }  # fmt: skip


def test_the_screen_says_the_same(shown: Result) -> None:
    """Every number of the table stands on the text screen, in the block of its metric."""
    assert shown.code == 0
    assert shown.out.split("\n\n")[1:3] == [
        """\
exact                 60.0 %        6/10          all 10 decided, 2 by rule
  95 % by question    26.7-86.1 %   cluster-wilson, 10 clusters
  worst to best       60.0-80.0 %   6-8/10        2 missing outcomes
  errors left out     75.0 %        6/8           never a headline
  answered + judged   75.0 %        6/8           never a headline""",
        """\
judge                 50.0-60.0 %   5-6/10        1 undecided: no point value
  decided             9 of 10       2 by rule     judge failed 1
  gate decided        FAILED                      10.0 % undecided
  95 % by question    19.9-86.1 %   cluster-wilson, 10 clusters, both ends
  worst to best       50.0-80.0 %   5-8/10        3 missing outcomes
  errors left out     62.5-75.0 %   5-6/8         never a headline
  answered + judged   71.4 %        5/7           never a headline""",
    ]
    assert "trust     !   order not witnessed: appended after the fact\n" in shown.out


def test_the_gate_is_asked_for(ten: Path) -> None:
    """`--require decided` exits with 5 and says so; without it the mark alone is shown."""
    done = ledger(ten, "scores", "ten", "--require", "decided")
    assert (done.code, done.err) == (
        5,
        "Error: run ten does not meet: decided\nhint: ledger explain ten\n",
    )
    assert ledger(ten, "scores", "ten", "--require", "valid").code == 0


def test_c34_each_slot_is_explained(ten: Path) -> None:
    """The derivation names all ten slots, what each adds, on what ground, and by which events."""
    document = ledger(ten, "explain", "ten", "judge", "--json").json
    members = {member["question"]: member for member in document["members"]}
    found = {name: (known["low"], known["high"], known["basis"]) for name, known in members.items()}
    assert found == {
        "q1": ("0", "0", "rule"), "q2": ("0", "0", "rule"), "q3": ("0", "1", "nothing"),
        **{f"q{number}": ("1", "1", "judgment") for number in range(4, 9)},
        "q9": ("0", "0", "judgment"), "q10": ("0", "0", "judgment"),
    }  # fmt: skip
    roles = [event["role"] for event in members["q3"]["events"]]
    assert roles == ["started", "answer", "finished", "failed judgment"]
    assert [event["role"] for event in members["q1"]["events"]] == [
        "started",
        "failure",
        "finished",
    ]


def test_a_run_whose_trials_all_errored_exits_with_5(tmp_path: Path) -> None:
    """Nothing is measured where nothing ran, whether or not a gate is asked for."""
    frozen(tmp_path)
    lines = [json.loads(line) for line in (FILES / "events.jsonl").read_text().splitlines()]
    errored = [line for line in lines if line["kind"] in {"run.opened", "trial.started"}]
    errored += [
        {
            "kind": "trial.finished",
            "run": "ten",
            "trial": f"q{number}#1",
            "data": {"outcome": "errored"},
        }
        for number in range(1, 11)
    ]
    text = "".join(json.dumps(line) + "\n" for line in errored)
    assert ledger(tmp_path, "append", "-", stdin=text.encode()).code == 0
    done = ledger(tmp_path, "scores", "ten")
    assert (done.code, done.err) == (
        5,
        "Error: every trial of run ten failed\nhint: ledger failures ten\n",
    )
    assert (
        "exact                 0.0 %         0/10          all 10 decided, 10 by rule" in done.out
    )


def test_134_of_151_crashed_judge_calls_are_no_verdicts(tmp_path: Path) -> None:
    """Twelve right answers among them give 12/151 to 146/151 and a failed gate, never 7.9 %."""
    questions = [f"n{number}" for number in range(1, 152)]
    dataset = tmp_path / "dataset.jsonl"
    template = json.loads((FILES / "dataset.jsonl").read_text().splitlines()[0])
    dataset.write_text(
        "".join(json.dumps({**template, "id": name}) + "\n" for name in questions), "utf-8"
    )
    frozen(tmp_path, dataset)
    text = "".join(json.dumps(line) + "\n" for line in crashed(questions))
    done = ledger(tmp_path, "append", "-", stdin=text.encode())
    assert done.code == 0, done.err
    metrics = ledger(tmp_path, "scores", "ten", "--json", "--require", "decided")
    assert metrics.code == 5
    judge = next(known for known in metrics.json["metrics"] if known["name"] == "judge")
    headline = judge["headline"]
    assert (headline["low"]["value"], headline["high"]["value"]) == ("12/151", "146/151")
    assert (judge["decided"], judge["undecided"]) == (17, {"judge_failed": 134})
    assert judge["gate_decided"] is False
    shown = ledger(tmp_path, "scores", "ten")
    assert "judge                 7.9-96.7 %    12-146/151    134 undecided: no point value" in (
        shown.out
    )


def crashed(questions: list[str]) -> Iterator[dict[str, object]]:
    """Yield a run of answered trials: 12 judged right, 5 wrong, on the others the judge crashes."""
    yield {
        "kind": "run.opened",
        "run": "ten",
        "data": {"manifest": "ten-towns", "entry": "appended"},
    }
    for place, name in enumerate(questions):
        trial = {"run": "ten", "trial": f"{name}#1"}
        yield {"kind": "trial.started", **trial, "data": {"input": "Which town?"}}
        yield {"kind": "answer.submitted", **trial, "data": {"answer": "Samarkand"}}
        yield {"kind": "trial.finished", **trial, "data": {"outcome": "answered"}}
        if place >= 17:
            failure = {"occurrence": "f1", "class": "judge_error", "fault": "judge"}
            yield {"kind": "failure.occurred", **trial, "data": failure}
            verdict = {"judgment": "j1", "metric": "judge", "reason": "judge_failed"}
            yield {"kind": "judgment.failed", **trial, "data": {**verdict, "occurrence": "f1"}}
            continue
        verdict = {
            "judgment": "j1", "metric": "judge", "by": "model",
            "verdict": "correct" if place < 12 else "incorrect",
        }  # fmt: skip
        grader = {"name": "judge", "version": "1"}
        yield {"kind": "judgment.recorded", **trial, "data": {**verdict, "grader": grader}}
