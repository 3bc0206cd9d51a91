"""Goals 7, 8 and 9 beside `explain`: tracing one failure, and one override with its figures.

Invariant: an act is the whole command inside this process, from its arguments to what it prints;
every repetition is about another trial.
"""

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.bench_ledger import BenchLedger, is_whole, trials_in
from benchmarks.bench_processes import FULL_IMPORTS, LEDGER, commands, less, python
from benchmarks.measuring import Limit, Row, compared, settle, timed, times_row
from benchmarks.workload import CODE_METRIC
from trial_cli.main import run as run_command
from trial_cli.trace_screen import screen_lines
from trial_projections.reading import ReadModel
from trial_projections.records import SessionRecord
from trial_projections.trace import trace
from trial_projections.trace_lookup import find_target

__all__ = ["override_rows", "trace_rows"]

RUN = "run-1"
TIMES = 60
TRACE_GOAL = Limit("< 2 ms", 2)
COMMAND_GOAL = Limit("<= 1.5", 1.5)
OVERRIDE_GOAL = Limit("<= 50 ms", 50)


def trace_rows(found: BenchLedger, rounds: int) -> Iterator[Row]:
    """Yield goals 7 and 8 for `trace`: a failure by its address, other ones each time."""
    with found.opened() as ledger:
        model = ReadModel.open(ledger)
        names = [f"{RUN}/{known.trial}/{known.id}" for known in model.occurrences(RUN)]
        model.close()
    names = names[:: max(len(names) // TIMES, 1)][:TIMES]
    traced(found, names[0])
    settle()
    samples = [timed(lambda name=name: traced(found, name)) for name in names]  # type: ignore[misc]
    yield times_row(
        "7", f"trace, in process, {trials_in(found)}", samples, TRACE_GOAL,
        events=found.size, judged=is_whole(found),
    )  # fmt: skip
    work = median(sample.cpu for sample in samples)
    command = [str(LEDGER), "--ledger", str(found.path), "trace", names[0]]
    pairs = commands(command, python(FULL_IMPORTS), found.path.parent, rounds)
    yield compared(
        "8",
        "ledger trace, process less goal 7's work / python -c imports",
        [(less(ours, work), theirs) for ours, theirs in pairs],
        COMMAND_GOAL,
        work=1,
        events=found.size,
        note=f"work taken off: {work * 1e3:.1f} ms",
    )


def traced(found: BenchLedger, name: str) -> None:
    """Do what `ledger trace` does, from opening the file to the lines of its screen."""
    with found.opened() as ledger:
        model = ReadModel.open(ledger)
        assert screen_lines(trace(model, find_target(model, name))), "there is a screen"
        model.close()


def override_rows(found: BenchLedger) -> Iterator[Row]:
    """Yield goal 9: a person's decision, durable, and the figures before and after it."""
    with found.opened() as ledger:
        model = ReadModel.open(ledger)
        decisions = [
            (f"{RUN}/{trial.question}#{trial.repetition}@{trial.session}/{judgment.id}", value)
            for trial in model.own_records(RUN, SessionRecord)
            for judgment in trial.judgments
            if judgment.metric == CODE_METRIC and judgment.replaced_by is None
            for value in ("1" if judgment.score == "0" else "0",)
        ]
        model.close()
    chosen = decisions[:: max(len(decisions) // (TIMES + 1), 1)][: TIMES + 1]
    with acting(found.path.parent):
        decide(found, *chosen[0])
        settle()
        samples = [
            timed(lambda one=one: decide(found, *one))  # type: ignore[misc]
            for one in chosen[1:]
        ]
    yield times_row(
        "9", f"override, figures up to date again, {trials_in(found)}", samples, OVERRIDE_GOAL,
        events=found.size, judged=is_whole(found),
    )  # fmt: skip


def decide(found: BenchLedger, judgment: str, score: str) -> None:
    """Do what `ledger override` does."""
    arguments = ["--ledger", str(found.path), "override", judgment, "--score", score]
    with contextlib.redirect_stdout(io.StringIO()) as screen:
        code = run_command([*arguments, "--actor", "bench", "--reason", "read again"])
    assert code == 0, screen.getvalue()


@contextlib.contextmanager
def acting(directory: Path) -> Iterator[None]:
    """Keep head pins in a folder of the benchmark."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(directory)
    try:
        yield
    finally:
        del os.environ["XDG_STATE_HOME"]
        if before is not None:
            os.environ["XDG_STATE_HOME"] = before
