"""Goals 3, 5 and 14: other logs on the same events, and several writers at once.

Invariant: a peer stores the very text of our events with its own defaults, in a process of its own
that stays; only its work is timed. Peers come as an extra: they are measured where they are
installed, and named as missing elsewhere with the reason that their own Python gives.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from benchmarks.bench_importing import MISSING
from benchmarks.bench_ledger import BULK, BenchLedger, tools_in
from benchmarks.measuring import (
    Limit,
    Row,
    Sample,
    compared,
    in_turns,
    interleaved,
    python_of_peers,
    timed,
    value_row,
)
from benchmarks.reference import document_of
from benchmarks.workload import Record, submission_of
from trial_ledger.book import Ledger
from trial_ledger.verification import verify

__all__ = ["peer_rows", "writer_rows"]

ONE_BY_ONE = 200
"""Events of a round, one a commit."""
VERIFIED = 2_000
"""Events of the logs that are verified."""
WRITERS, APPENDS = 8, 250

GOALS = {
    "incident-ledger": (
        Limit(">= 4", 4, at_least=True), Limit(">= 7", 7, at_least=True)
    ),
    "nexuscone": (Limit(">= 5", 5, at_least=True), Limit(">= 3", 3, at_least=True)),
    "eventsourcing": (Limit(">= 1.3", 1.3, at_least=True), None),
    "mlflow": (Limit(">= 30", 30, at_least=True), None),
    "inspect_ai": (Limit(">= 3", 3, at_least=True), None),
}  # fmt: skip
"""Peer → goal of appending, goal of verifying; None where it has no verification."""
BY_TRIAL = {"inspect_ai"}
"""Peers that store whole trials: ours are then a commit a trial too, not one an event."""
PROCESS = Path(__file__).with_name("peer_process.py")

WRITER = """
import sys, time
from pathlib import Path
from trial_ledger.book import Ledger
from trial_ledger.submission import Submission
longest = 0.0
with Ledger.open(Path(sys.argv[1]), write=True) as ledger:
    sys.stdin.readline()
    for number in range(int(sys.argv[2])):
        began = time.perf_counter()
        ledger.append(Submission(kind="note.added", data={"about": "bench", "text": str(number)}))
        longest = max(longest, time.perf_counter() - began)
print(longest)
"""


class Peer:
    """One other log in a process that stays."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.version = self.line()
        self.memory = 0
        """Highest resident set so far, kilobytes."""

    @property
    def complaint(self) -> str:
        """The last thing that it said before it ended."""
        said = (self.folder / "errors").read_text("utf-8", "replace").splitlines()
        return said[-1][:120] if said else "it ended without a word"

    def line(self) -> str:
        """Return the next line that it says; nothing where it ended."""
        assert self.process.stdout is not None, "a pipe was asked for"
        return self.process.stdout.readline().strip()

    def work(self, what: str, commits: Iterable[Sequence[str]] = ()) -> Sample:
        """Return what appending some texts takes it, so many a commit, or checking its log."""
        assert self.process.stdin is not None, "a pipe was asked for"
        file = self.folder / "texts"
        file.write_text("".join(f"{json.dumps(texts)}\n" for texts in commits), encoding="utf-8")
        order = {"what": what, "file": str(file)}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        cpu, wall, memory = self.line().split()
        self.memory = int(memory)
        return Sample(float(cpu), float(wall))


@contextmanager
def started(python: str, name: str, folder: Path) -> Iterator[Peer]:
    """Start a peer on a new file; without a version where it is not installed."""
    folder.mkdir(parents=True)
    command = [python, str(PROCESS), name, str(folder / "log.db")]
    with (
        (folder / "errors").open("w") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            cwd=folder,
        ) as process,
    ):  # fmt: skip
        yield Peer(process, folder)
        assert process.stdin is not None, "a pipe was asked for"
        process.stdin.close()


def peer_rows(found: BenchLedger, folder: Path, rounds: int) -> Iterator[Row]:
    """Yield goals 3 and 5 for every peer that is installed.

    Args:
        found: a ledger of at least as many events as are verified; it grows.
        folder: where the peers' files lie.
        rounds: how many.
    """
    python = python_of_peers()
    for name, (appending, verifying) in GOALS.items():
        if python is None:
            what = f"append / {name}"
            yield value_row("3", what, 0, "x", Limit(appending.text), note=MISSING)
            continue
        with started(python, name, folder / name) as peer:
            if not peer.version:
                note = f"not measured: {peer.complaint}"
                yield value_row("3", f"append / {name}", 0, "x", Limit(appending.text), note=note)
                continue
            yield appended(found, peer, name, appending, rounds)
            if verifying is not None:
                yield verified(found, peer, name, verifying, rounds)


def appended(found: BenchLedger, peer: Peer, name: str, goal: Limit, rounds: int) -> Row:
    """Return goal 3: durable, everything on, an event a commit or a trial a commit."""
    by_trial = name in BY_TRIAL
    pairs: list[tuple[Sample, Sample]] = []
    with found.opened(write=True) as ledger:
        for number in range(rounds):
            records = found.take(BULK)
            commits = in_commits(records[:ONE_BY_ONE], by_trial=by_trial)
            ours = [[submission_of(record) for record in group] for group in commits]
            theirs = [[document_of(record) for record in group] for group in commits]
            samples = in_turns(
                lambda ours=ours: timed(lambda: [ledger.append_many(group) for group in ours]),  # type: ignore[misc]
                lambda theirs=theirs: peer.work("append", theirs),  # type: ignore[misc]
                number,
            )
            pairs.append(samples)
            ledger.append_many(map(submission_of, records[ONE_BY_ONE:]))
    found.size += rounds * BULK
    how = "a trial a commit" if by_trial else "one by one"
    return compared(
        "3", f"append, durable, {how} / {name}", pairs, goal, work=ONE_BY_ONE,
        events=found.size, note=f"{name} {peer.version} with its defaults; speed, ours over theirs",
    )  # fmt: skip


def in_commits(records: Sequence[Record], *, by_trial: bool) -> list[list[Record]]:
    """Return events as they are committed: one by one, or those of a trial together."""
    if not by_trial:
        return [[record] for record in records]
    return [list(group) for _, group in groupby(records, lambda record: record.get("trial"))]


def verified(found: BenchLedger, peer: Peer, name: str, goal: Limit, rounds: int) -> Row:
    """Return goal 5 against a peer: the whole log checked, bytes included."""
    source = iter(found.workload.events())
    peer.work("append", [[document_of(next(source))] for _ in range(VERIFIED)])
    with Ledger.open(found.path, tools=found.tools) as ledger:
        size = ledger.store.size()

        def product() -> Sample:
            taken = timed(lambda: verify(ledger))
            share = VERIFIED / size
            return Sample(taken.cpu * share, taken.wall * share)

        product()
        pairs = interleaved(product, lambda: peer.work("check"), rounds)
    return compared(
        "5", f"verify, every byte / {name}", pairs, goal, work=VERIFIED, events=VERIFIED,
        note=f"{name} {peer.version}, {peer.memory // 1024} MB; ours scaled from {size} events",
    )  # fmt: skip


def writer_rows(folder: Path) -> Iterator[Row]:
    """Yield goal 14: eight processes against one, and the longest wait of any append."""
    folder.mkdir(parents=True)
    times: dict[int, float] = {}
    longest = 0.0
    for writers in (1, WRITERS):
        path = folder / f"{writers}.ledger"
        Ledger.create(path, tools=tools_in(folder)).close()
        took, waited = at_once(path, writers, APPENDS * WRITERS // writers)
        times[writers], longest = took, waited
    yield value_row(
        "14", f"{WRITERS} processes / 1, events a second", times[1] / times[WRITERS], "x",
        Limit(">= 0.6", 0.6, at_least=True), events=APPENDS * WRITERS,
        note=f"{APPENDS} appends each against {APPENDS * WRITERS} by one; by the clock",
    )  # fmt: skip
    yield value_row(
        "14", f"longest wait of an append, {WRITERS} processes", longest * 1e3, "ms",
        Limit("< 150 ms", 150), events=APPENDS * WRITERS,
    )  # fmt: skip


def at_once(path: Path, writers: int, appends: int) -> tuple[float, float]:
    """Return the seconds that some processes took together, and the longest append of any."""
    variables = {**os.environ, "XDG_STATE_HOME": str(path.parent)}
    command = [sys.executable, "-c", WRITER, str(path), str(appends)]
    processes = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
        )
        for _ in range(writers)
    ]

    def together() -> list[float]:
        for process in processes:
            assert process.stdin is not None, "a pipe was asked for"
            process.stdin.write("go\n")
            process.stdin.flush()
        return [float(process.communicate()[0]) for process in processes]

    waits: list[float] = []
    taken = timed(lambda: waits.extend(together()))
    assert all(process.returncode == 0 for process in processes), "a writer failed"
    return taken.wall, max(waits)
