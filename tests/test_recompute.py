"""A score recomputed from `ledger explain --json` alone, and its hashes with public programs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from trial_ledger.book import Ledger
from trial_ledger.importing.appending import append_run
from trial_ledger.importing.inspect import import_inspect

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "docs" / "recompute.py"
EXAMPLE = ROOT / "docs" / "examples" / "ten-trials"
REAL_DATA = Path(os.environ.get("LEDGER_REAL_DATA") or ROOT.parent / "shared" / "data")
REAL_LOGS = REAL_DATA / "inspect-logs" / "generated"

Derivation = dict[str, Any]


def run_ledger(folder: Path, *arguments: str) -> str:
    """Return what a command prints; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "trial_cli", *arguments],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger that holds the ten trials, appended as they came."""
    made = tmp_path_factory.mktemp("ten")
    run_ledger(made, "init")
    dataset = str(EXAMPLE / "dataset.jsonl")
    run_ledger(made, "freeze", "dataset", dataset, "--name", "status-codes", "--version", "1")
    for name in ("rubric", "manifest"):
        run_ledger(made, "freeze", name, str(EXAMPLE / f"{name}.toml"))
    run_ledger(made, "append", str(EXAMPLE / "trials.jsonl"))
    return made


@pytest.fixture(scope="module")
def real_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger that holds an imported real log of three repetitions."""
    logs = sorted(REAL_LOGS.glob("04_sample_errors_continue/*.eval"))
    if not logs:
        pytest.skip(f"no real evaluation records under {REAL_DATA}")
    made = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(made / "state"))
        with Ledger.create(made / "trials.ledger") as ledger:
            append_run(ledger, import_inspect(logs[0]))
    return made


def explained(folder: Path, run: str, metric: str) -> Derivation:
    """Return the JSON of a metric's derivation."""
    found: Derivation = json.loads(run_ledger(folder, "explain", run, metric, "--json"))
    return found


def metrics_of(folder: Path) -> Iterator[Derivation]:
    """Yield the derivation of every metric of every run."""
    for run in json.loads(run_ledger(folder, "runs", "--json"))["runs"]:
        for metric in json.loads(run_ledger(folder, "scores", run["run"], "--json"))["metrics"]:
            yield explained(folder, run["run"], metric["name"])


def recomputed(derivation: Derivation, folder: Path) -> tuple[int, str]:
    """Return the exit code of the script over a derivation, and what it printed."""
    file = folder / "derivation.json"
    file.write_text(json.dumps(derivation))
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, file], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def stored_hash(ledger: Path, seq: int) -> str:
    """Return the hash of an event as `sqlite3` and `b3sum` compute it."""
    for name in ("sqlite3", "b3sum"):
        if shutil.which(name) is None:
            pytest.skip(f"the program {name} is not installed")
    command = 'sqlite3 "$1" "select doc from event where seq=$2" | head -c -1 | b3sum --no-names'
    done = subprocess.run(
        ["sh", "-c", command, "sh", str(ledger), str(seq)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def assert_hashes(folder: Path, derivation: Derivation) -> int:
    """Check every hash that a derivation lists; return how many there were."""
    listed = {
        event["seq"]: event["hash"]
        for member in derivation["members"]
        for event in member["events"]
    }
    for seq, expected in listed.items():
        assert stored_hash(folder / "trials.ledger", seq) == expected, seq
    return len(listed)


def test_c34_the_ten_trials_follow_from_their_members(folder: Path, tmp_path: Path) -> None:
    """The stated low and high are recomputed, for a decided metric and an undecided one."""
    code, text = recomputed(explained(folder, "ten", "exact"), tmp_path)
    assert (code, text.splitlines()) == (
        0,
        ["low 3/5  high 3/5  value 3/5  of ten exact", "as stated"],
    )
    code, text = recomputed(explained(folder, "ten", "judge"), tmp_path)
    assert (code, text.splitlines()) == (
        0,
        ["low 1/2  high 3/5  value None  of ten judge", "as stated"],
    )


@pytest.mark.parametrize(
    ("field", "value"), [("low", "0"), ("high", "1/2"), ("excluded", "planted"), ("question", "q1")]
)
def test_c34_a_changed_member_is_caught(
    field: str, value: str, folder: Path, tmp_path: Path
) -> None:
    """A member that was tampered with no longer gives the stated number."""
    derivation = explained(folder, "ten", "judge")
    member = next(known for known in derivation["members"] if known["question"] == "q4")
    assert member[field] != value
    member[field] = value
    code, text = recomputed(derivation, tmp_path)
    assert code == 1
    assert "DIFFERENT: stated low 1/2  high 3/5" in text


@pytest.mark.parametrize(
    ("aggregate", "expected"), [("question-mean", Fraction(2, 3)), ("trial-mean", Fraction(3, 5))]
)
def test_both_means_are_those_of_the_program(
    aggregate: str, expected: Fraction, folder: Path, tmp_path: Path
) -> None:
    """With unequal repetitions a mean of questions is not a mean of trials."""
    derivation = explained(folder, "ten", "exact")
    scores = [("a", "1"), ("b", "1"), ("b", "0"), ("c", "1"), ("c", "0")]
    template = derivation["members"][0]
    derivation["members"] = [
        {**template, "question": question, "low": score, "high": score, "excluded": None}
        for question, score in scores
    ]
    derivation["aggregate"] = aggregate
    stated = {"value": str(expected)}
    derivation["score"]["headline"] = {"low": stated, "high": stated}
    assert recomputed(derivation, tmp_path)[0] == 0


def test_an_unavailable_metric_has_no_number_to_recompute(folder: Path, tmp_path: Path) -> None:
    """Where no slot counts the script says why there is no number."""
    derivation = explained(folder, "ten", "exact")
    for member in derivation["members"]:
        member["excluded"] = "left out"
    derivation["score"].update(headline=None, unavailable="no planned slot counts")
    code, text = recomputed(derivation, tmp_path)
    assert (code, text.splitlines()[-1]) == (0, "unavailable: no planned slot counts")


def test_c34_every_listed_hash_is_that_of_the_stored_bytes(folder: Path) -> None:
    """`sqlite3` and `b3sum` give the hash of each event that a number rests on."""
    assert assert_hashes(folder, explained(folder, "ten", "judge")) == 38


def test_c34_a_real_log_is_recomputed(real_folder: Path, tmp_path: Path) -> None:
    """Every metric of a real imported log follows from its members."""
    found = [recomputed(derivation, tmp_path) for derivation in metrics_of(real_folder)]
    assert found
    assert [text for code, text in found if code != 0] == []


def test_c34_the_hashes_behind_a_real_log_are_those_of_the_stored_bytes(real_folder: Path) -> None:
    """The same with the events of a real imported log."""
    derivation = next(metrics_of(real_folder))
    derivation["members"] = derivation["members"][:10]
    assert assert_hashes(real_folder, derivation) >= 10
