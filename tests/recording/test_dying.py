"""A harness that dies in the middle of a trial."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from cli_cases import LEDGER, ledger, ready
from recorder_cases import RUN, kinds, world
from trial_ledger.book import Ledger

TESTS = Path(__file__).resolve().parents[1]
DIES = f"""
import os, signal, sys
from pathlib import Path
from trial_ledger.book import Ledger
with Ledger.open(Path(sys.argv[1]), write=True) as book:
    with book.run("local", name="{RUN}") as run:
        with run.trial("q2") as trial:
            trial.answer("Bukhara")
        with run.trial("q1") as trial, trial.call("search", endpoint="search"):
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_c17_what_a_dying_process_left_open_is_unfinished(tmp_path: Path) -> None:
    """Its starts are in the log, nothing claims an end, and the trial folds as unfinished."""
    path = ready(tmp_path)
    variables = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    died = subprocess.run(
        [sys.executable, "-c", DIES, str(path)], check=False, cwd=TESTS, env=variables
    )
    assert died.returncode == -signal.SIGKILL
    with Ledger.open(tmp_path / LEDGER, tools=world(tmp_path)) as book:
        assert kinds(book)[-2:] == ["trial.started", "call.started"]
        assert book.verify(fast=True).findings == []
    rows = ledger(tmp_path, "trials", RUN, "--format", "jsonl").rows
    outcomes = {row["trial"]: row["outcome"] for row in rows}
    begun = {trial: outcome for trial, outcome in outcomes.items() if outcome != "not_started"}
    assert begun == {"q2#1@s1": "answered", "q1#1@s1": "unfinished"}
