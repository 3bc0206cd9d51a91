"""The screens of docs/how-to/trace.md: failures of a real Inspect log; the demo's are with it."""

import os
import shlex
from pathlib import Path

import pytest

from cli_cases import Result, ledger
from documented_screens import documented, normalised, of_demo

ROOT = Path(__file__).resolve().parents[2]
REAL_DATA = Path(os.environ.get("LEDGER_REAL_DATA") or ROOT.parent / "shared" / "data")
LOG = REAL_DATA / "inspect-logs" / "generated" / "03_tools_failures_recovered"


def run(folder: Path, command: str) -> Result:
    """Run a command of the page."""
    return ledger(folder, *shlex.split(command))


def test_the_page_has_the_screens() -> None:
    """One of the demo, two of the real log."""
    commands = list(documented())
    assert [of_demo(command) for command in commands] == [True, False, False]


@pytest.mark.skipif(
    not LOG.is_dir(), reason="the real Inspect logs are not here: set LEDGER_REAL_DATA"
)
def test_c23_the_failures_of_log_03_are_as_documented(tmp_path: Path) -> None:
    """A time-out that was recovered and a refusal that never was, to the letter."""
    assert ledger(tmp_path, "init").code == 0
    assert ledger(tmp_path, "import", "inspect", LOG).code == 0
    for command, screen in documented().items():
        if not of_demo(command):
            done = run(tmp_path, command)
            assert (done.code, done.out, done.err) == (0, screen, "")


@pytest.mark.skipif(
    not LOG.is_dir(), reason="the real Inspect logs are not here: set LEDGER_REAL_DATA"
)
def test_c26_every_failure_of_log_03_can_be_traced(tmp_path: Path) -> None:
    """By the place that `failures` names; groups of any keys add up to the list."""
    assert ledger(tmp_path, "init").code == 0
    assert ledger(tmp_path, "import", "inspect", LOG).code == 0
    document = ledger(tmp_path, "failures", "nq301", "--by", "class,minute", "--json").json
    assert sum(group["count"] for group in document["groups"]) == len(document["failures"]) == 26
    recovered = [row for row in document["failures"] if row["recovered"] != "no"]
    assert len(recovered) == 14
    for row in (recovered[0], recovered[-1], document["failures"][-3]):
        found = ledger(tmp_path, "trace", str(row["seq"]), "--json").json
        (fate,) = [fate for fate in found["fates"] if fate["seq"] == row["seq"]]
        assert fate["occurrence"] == row["occurrence"]
        assert (fate["recovered_by"] or "no") == row["recovered"]
        assert found["trial"] == row["trial"]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("the model saw nothing", "it reached the model"),
        ("fault harness", "fault agent"),
        ("seq 268", "seq 269"),
        ("right instead", "wrong instead"),
    ],
)
def test_the_comparison_finds_a_planted_difference(good: str, bad: str) -> None:
    """Only seconds, bytes and values may differ."""
    (screen,) = [screen for command, screen in documented().items() if of_demo(command)]
    assert normalised(screen.replace("0.005 s", "0.204 s")) == normalised(screen)
    joined = " ".join(screen.split())
    assert good in joined
    assert normalised(joined.replace(good, bad)) != normalised(screen)
