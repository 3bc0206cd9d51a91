"""Goal 13: importing an Inspect log against Inspect's own reader on the same file.

Invariant: the logs are real ones and stay where they are; the peer runs in a process of its own, in
whatever Python has it, and only its reading is timed.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks.bench_ledger import tools_in
from benchmarks.measuring import (
    Limit,
    Row,
    Sample,
    compared,
    interleaved,
    python_of_peers,
    timed,
    value_row,
)
from trial_ledger.book import Ledger
from trial_ledger.importing.appending import append_run
from trial_ledger.importing.inspect import import_inspect

__all__ = ["import_rows"]

IMPORT_GOAL = Limit("<= 1.0", 1.0)
LOGS = 3
READS = 6
"""Reads of the peer in one sample: its garbage collector makes every few of them far slower."""
MISSING = "peers not installed: ./dev bench-peers"

PEER = """
import sys, time
from importlib.metadata import version
from inspect_ai.log import read_eval_log
read_eval_log(sys.argv[1])
print(version("inspect-ai"), flush=True)
for line in sys.stdin:
    cpu, wall = time.process_time(), time.perf_counter()
    read_eval_log(line.strip())
    print(time.process_time() - cpu, time.perf_counter() - wall, flush=True)
"""


def real_logs() -> list[Path]:
    """Return the largest generated Inspect logs among the real records, largest first."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LEDGER_REAL_DATA", beside)) / "inspect-logs" / "generated"
    found = [path for path in folder.rglob("*") if path.suffix in {".eval", ".json"}]
    return sorted(found, key=lambda path: -path.stat().st_size)[:LOGS]


def python_with_inspect() -> str | None:
    """Return the Python of the peers where it has inspect_ai, else None."""
    python = python_of_peers()
    if python is None:
        return None
    found = subprocess.run([python, "-c", "import inspect_ai"], check=False, capture_output=True)
    return python if found.returncode == 0 else None


class Peer:
    """Inspect's reader in a process that stays, so that its slow start is not counted."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.version = self.answer()

    def answer(self) -> str:
        """Return the next line that it says."""
        assert self.process.stdout is not None, "a pipe was asked for"
        line = self.process.stdout.readline().strip()
        assert line, "the peer ended early"
        return line

    def read(self, path: Path) -> Sample:
        """Return what reading a log takes it on average."""
        assert self.process.stdin is not None, "a pipe was asked for"
        cpu = wall = 0.0
        for _ in range(READS):
            self.process.stdin.write(f"{path}\n")
            self.process.stdin.flush()
            taken = self.answer().split()
            cpu, wall = cpu + float(taken[0]), wall + float(taken[1])
        return Sample(cpu / READS, wall / READS)


@contextmanager
def started_peer(path: Path) -> Iterator[Peer | None]:
    """Start the peer, which reads one log to warm up; None where it is not installed."""
    python = python_with_inspect()
    if python is None:
        yield None
        return
    with subprocess.Popen(
        [python, "-c", PEER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Peer(process)
        assert process.stdin is not None, "a pipe was asked for"
        process.stdin.close()


def import_rows(directory: Path, rounds: int) -> list[Row]:
    """Return goal 13 for the largest logs; one row without a figure where there are none."""
    logs = real_logs()
    if not logs:
        return [
            value_row(
                "13", "import of an Inspect log", 0, "logs", Limit(IMPORT_GOAL.text),
                note="real logs are not here: set LEDGER_REAL_DATA",
            )
        ]  # fmt: skip
    directory.mkdir()
    with started_peer(logs[0]) as peer:
        return [
            import_row(directory / str(number), path, peer, rounds)
            for number, path in enumerate(logs)
        ]


def import_row(directory: Path, path: Path, peer: Peer | None, rounds: int) -> Row:
    """Return goal 13 for one log."""
    directory.mkdir()
    ledgers = iter(range(rounds + 1))
    sizes: list[int] = []

    def product() -> Sample:
        folder = directory / str(next(ledgers))
        folder.mkdir()
        with Ledger.create(folder / "trials.ledger", tools=tools_in(folder)) as ledger:
            taken = timed(lambda: append_run(ledger, import_inspect(path)))
            sizes.append(ledger.store.size())
        return taken

    product()
    what = f"import {path.parent.name} ({path.stat().st_size // 1000} KB {path.suffix})"
    if peer is None:
        samples = [product() for _ in range(rounds)]
        row = value_row(
            "13", what, min(sample.cpu for sample in samples) * 1e3, "ms",
            Limit(IMPORT_GOAL.text), events=sizes[0], note=MISSING,
        )  # fmt: skip
        return msgspec.structs.replace(row, rounds=rounds)
    peer.read(path)  # The first of each log is slower, as the first of ours is.
    pairs = interleaved(product, lambda: peer.read(path), rounds)
    return compared(
        "13", f"{what} / read_eval_log", pairs, IMPORT_GOAL, work=1, events=sizes[0],
        note=f"inspect_ai {peer.version}; ours validates, hashes and stores durably",
    )  # fmt: skip
