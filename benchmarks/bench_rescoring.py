"""Goal 6: judging a run again by code, against `inspect score` on a log of as many samples.

Invariant: both are whole processes on files of their own; ours verifies its log first and keeps
what was there; making the peer's log is not timed.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.bench_importing import MISSING, python_with_inspect
from benchmarks.bench_ledger import BenchLedger, is_whole
from benchmarks.bench_processes import LEDGER, environment, python
from benchmarks.measuring import Limit, Row, Sample, compared, value_row
from benchmarks.workload import TRIALS_PER_RUN, Workload, revised_rubric

__all__ = ["rescore_rows"]

SPEED_GOAL = Limit(">= 50", 50, at_least=True)
MEMORY_GOAL = Limit("<= 0.125", 0.125)
ROUNDS = 3
REPETITIONS = 5

LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(code)
"""

MAKE_LOG = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
samples = [Sample(id=row["id"], input=row["input"], target=row["target"]) for row in rows]
epochs = int(sys.argv[3])
def outputs():
    for number in range(len(rows) * epochs):
        answer = ModelOutput.from_content("mockllm/model", rows[number % len(rows)]["answer"])
        answer.usage = ModelUsage(input_tokens=800, output_tokens=400, total_tokens=1200)
        yield answer  # Without a usage the mock fetches a tokenizer from the network.
task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match(), name="bench")
log, = eval(task, model=get_model("mockllm/model", custom_outputs=outputs()), epochs=epochs,
            log_dir=sys.argv[2], display="none")
assert log.status == "success", log.error
print(log.location)
"""


class Usage(msgspec.Struct, frozen=True):
    """What a process took."""

    sample: Sample
    """Its time."""
    megabytes: float
    """Its highest resident set."""


def rescore_rows(found: BenchLedger, directory: Path) -> list[Row]:
    """Return goal 6 for the first run of a ledger; only our own time where the peer is missing."""
    directory.mkdir()
    trials = min(found.workload.trials, TRIALS_PER_RUN)
    python_of_peer = python_with_inspect()
    if python_of_peer is None:
        own = [rescored(found, directory) for _ in range(ROUNDS)]
        seconds = min(usage.sample.cpu for usage in own)
        return [
            value_row(
                "6", f"rescore of {trials} trials, log verified first", seconds, "s",
                Limit(SPEED_GOAL.text), events=found.size, note=MISSING,
            )
        ]  # fmt: skip
    log = peer_log(directory, python_of_peer, trials)
    pairs: list[tuple[Usage, Usage]] = []
    for _ in range(ROUNDS):
        ours = rescored(found, directory)
        pairs.append((ours, scored(directory, python_of_peer, log)))
    speed = compared(
        "6", f"inspect score / rescore of {trials} trials, log verified first",
        [(ours.sample, theirs.sample) for ours, theirs in pairs],
        SPEED_GOAL if is_whole(found) else Limit(SPEED_GOAL.text, at_least=True),
        work=trials, events=found.size,
    )  # fmt: skip
    memory = value_row(
        "6", "peak memory, rescore / inspect score",
        max(ours.megabytes for ours, _ in pairs) / min(theirs.megabytes for _, theirs in pairs),
        "x",
        MEMORY_GOAL if is_whole(found) else Limit(MEMORY_GOAL.text),
        events=found.size,
        note=(
            f"{max(ours.megabytes for ours, _ in pairs):.0f} and"
            f" {min(theirs.megabytes for _, theirs in pairs):.0f} MB"
        ),
    )  # fmt: skip
    return [speed, memory]


def rescored(found: BenchLedger, directory: Path) -> Usage:
    """Return what `ledger rescore` takes on a fresh copy of the ledger."""
    copy = directory / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in found.path.parent.glob(f"{found.path.name}*"):
        shutil.copy(file, copy)
    rubric = copy / "rubric.json"
    rubric.write_bytes(revised_rubric())
    path = str(copy / found.path.name)
    command = [str(LEDGER), "--ledger", path, "rescore", "run-1", "--rubric", str(rubric)]
    return used([*command, "--reason", "benchmark"], environment(copy))


def peer_log(directory: Path, python_of_peer: str, trials: int) -> Path:
    """Return a log of as many samples, with questions and answers as long as the workload's."""
    workload = Workload()
    rows = [
        {
            "id": f"q{number:04d}",
            "input": workload.text(1_900, 4_600),
            "answer": workload.text(900, 2_400),
            "target": f"collection_{number:04d}.entry",
        }
        for number in range(trials // REPETITIONS)
    ]
    samples = directory / "samples.jsonl"
    samples.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows))
    command = [python_of_peer, "-c", MAKE_LOG, str(samples), str(directory), str(REPETITIONS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Path(done.stdout.strip().splitlines()[-1].removeprefix("file://"))


def scored(directory: Path, python_of_peer: str, log: Path) -> Usage:
    """Return what the peer takes to score its log again and to write the result."""
    output = directory / "scored.eval"
    output.unlink(missing_ok=True)
    arguments = ["score", str(log), "--scorer", "match", "--action", "overwrite"]
    launch = "import sys; from inspect_ai._cli.main import main; main()"
    command = [python_of_peer, "-c", launch, *arguments, "--output-file", str(output)]
    return used([*command, "--display", "none"], dict(os.environ))


def used(command: Sequence[str], variables: Mapping[str, str]) -> Usage:
    """Return what a process takes, told by a launcher so small that its own memory is no more."""
    begin = time.perf_counter()
    done = subprocess.run(
        [*python(LAUNCHER), *command], check=False, capture_output=True, text=True, env=variables
    )
    wall = time.perf_counter() - begin
    assert done.returncode == 0, done.stderr
    cpu, highest = done.stdout.split()
    # Linux counts kilobytes, macOS bytes.
    megabytes = int(highest) / (1e6 if sys.platform == "darwin" else 1e3)
    return Usage(Sample(float(cpu), wall), megabytes)
