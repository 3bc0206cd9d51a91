"""Goals 3, 5 and 14: other append-only logs on the same events, and several writers at once.

Invariant: a peer stores the very text of our events with its own defaults, in a process of its own
that stays; only its work is timed. Peers come as an extra: they are measured where they are
installed, and named as missing elsewhere.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.bench_ledger import BULK, BenchLedger, tools_in
from benchmarks.measuring import Limit, Row, Sample, compared, interleaved, timed, value_row
from benchmarks.reference import document_of
from benchmarks.workload import submission_of
from trial_ledger.book import Ledger
from trial_ledger.verification import verify

__all__ = ["peer_rows", "writer_rows"]

PEER_VARIABLE = "BENCH_PEERS_PYTHON"
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
}  # fmt: skip
"""Peer → goal of appending one by one, goal of verifying; None where it has no verification."""

PEER = """
import asyncio, json, resource, sys, time
from importlib.metadata import version
name, path = sys.argv[1], sys.argv[2]
loop = asyncio.new_event_loop()
if name == "incident-ledger":
    from incident_ledger import IncidentLedger
    log = IncidentLedger(path)
    def append(text):
        log.append(query="q", answer=text, confidence=1.0, model_version="m")
    def check():
        assert log.verify().ok
elif name == "nexuscone":
    from nexuscone import Ledger
    log = Ledger(path)
    loop.run_until_complete(log.init())
    def append(text):
        loop.run_until_complete(log.log(actor="a", action="b", payload={"text": text}))
    def check():
        assert loop.run_until_complete(log.verify_chain())
else:
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event
    class Item(Aggregate):
        @event("Added")
        def __init__(self, text):
            self.text = text
    class Items(Application):
        def add(self, text):
            self.save(Item(text))
    log = Items(env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": path})
    append, check = log.add, None
print(version(name), flush=True)
for line in sys.stdin:
    order = json.loads(line)
    texts = [row.rstrip("\\n") for row in open(order["file"], encoding="utf-8")]
    if order["what"] == "check":
        cpu, wall = time.process_time(), time.perf_counter()
        check()
    else:
        cpu, wall = time.process_time(), time.perf_counter()
        for text in texts:
            append(text)
    print(time.process_time() - cpu, time.perf_counter() - wall,
          resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)
"""

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


def peer_python() -> str:
    """Return the Python that has the peers; this one where none is named."""
    return os.environ.get(PEER_VARIABLE) or sys.executable


class Peer:
    """One other log in a process that stays."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.file = folder / "texts"
        self.version = self.line()
        self.memory = 0
        """Highest resident set so far, kilobytes."""

    def line(self) -> str:
        """Return the next line that it says; nothing where it ended."""
        assert self.process.stdout is not None, "a pipe was asked for"
        return self.process.stdout.readline().strip()

    def work(self, what: str, texts: Sequence[str] = ()) -> Sample:
        """Return what appending some texts takes it, or checking its log."""
        assert self.process.stdin is not None, "a pipe was asked for"
        self.file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        order = {"what": what, "file": str(self.file)}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        cpu, wall, memory = self.line().split()
        self.memory = int(memory)
        return Sample(float(cpu), float(wall))


@contextmanager
def started(name: str, folder: Path) -> Iterator[Peer | None]:
    """Start a peer on a new file; None where it is not installed."""
    folder.mkdir(parents=True)
    command = [peer_python(), "-c", PEER, name, str(folder / "log.db")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        peer = Peer(process, folder)
        yield peer if peer.version else None
        assert process.stdin is not None, "a pipe was asked for"
        process.stdin.close()


def peer_rows(found: BenchLedger, folder: Path, rounds: int) -> Iterator[Row]:
    """Yield goals 3 and 5 for every peer that is installed.

    Args:
        found: a ledger of at least as many events as are verified; it grows.
        folder: where the peers' files lie.
        rounds: how many.
    """
    for name, (appending, verifying) in GOALS.items():
        with started(name, folder / name) as peer:
            if peer is None:
                note = f"peer not installed: pip install {name}"
                yield value_row("3", f"append / {name}", 0, "x", Limit(appending.text), note=note)
                continue
            yield appended(found, peer, name, appending, rounds)
            if verifying is not None:
                yield verified(found, peer, name, verifying, rounds)


def appended(found: BenchLedger, peer: Peer, name: str, goal: Limit, rounds: int) -> Row:
    """Return goal 3: one by one, durable, everything on."""
    with found.opened(write=True) as ledger:

        def pair() -> tuple[Callable[[], Sample], Callable[[], Sample]]:
            records = found.take(BULK)[:]
            ours = [submission_of(record) for record in records[:ONE_BY_ONE]]
            theirs = [document_of(record) for record in records[:ONE_BY_ONE]]
            rest = records[ONE_BY_ONE:]

            def product() -> Sample:
                taken = timed(lambda: [ledger.append(one) for one in ours])
                ledger.append_many(map(submission_of, rest))
                return taken

            return product, lambda: peer.work("append", theirs)

        pairs = []
        for number in range(rounds):
            product, reference = pair()
            order = (product, reference) if number % 2 == 0 else (reference, product)
            first, second = (work() for work in order)
            pairs.append((first, second) if number % 2 == 0 else (second, first))
    found.size += rounds * BULK
    return compared(
        "3", f"append, durable, one by one / {name}", pairs, goal, work=ONE_BY_ONE,
        events=found.size, note=f"{name} {peer.version} with its defaults; speed, ours over theirs",
    )  # fmt: skip


def verified(found: BenchLedger, peer: Peer, name: str, goal: Limit, rounds: int) -> Row:
    """Return goal 5 against a peer: the whole log checked, bytes included."""
    texts: list[str] = []
    source = iter(found.workload.events())
    while len(texts) < VERIFIED:
        texts.append(document_of(next(source)))
    peer.work("append", texts)
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
