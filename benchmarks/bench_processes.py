"""Goals 8, 11 and 15: whole processes, their start and their memory.

Invariant: memory is the highest resident set that the kernel saw of a child, told by a launcher so
small that its own does not count.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.bench_ledger import BULK, BenchLedger, tools_in
from benchmarks.measuring import (
    Limit,
    Row,
    Sample,
    compared,
    interleaved,
    process,
    value_row,
)
from benchmarks.workload import Workload, chunks, documents, line_of
from trial_ledger.book import Ledger

__all__ = [
    "FULL_IMPORTS",
    "LEDGER",
    "command_rows",
    "commands",
    "environment",
    "less",
    "memory_rows",
    "python",
    "start_rows",
    "stream_rows",
]

LEDGER = Path(sys.executable).with_name("ledger")
FULL_IMPORTS = "import click, msgspec, sqlite3, blake3"
EXPLAIN_GOAL = Limit("<= 1.5", 1.5)
START_GOAL = Limit("<= 1.3", 1.3)
READING_GOAL = Limit("<= 150 MB", 150)
STREAM_GOAL = Limit("<= 80 MB", 80)
FLAT_GOAL = Limit("<= 1.1", 1.1)

LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""

READING = """
import sys
from pathlib import Path
from trial_ledger.book import Ledger
from trial_ledger.verification import verify
from trial_projections.replay import replay
with Ledger.open(Path(sys.argv[1])) as ledger:
    replay(ledger)
    assert verify(ledger).is_intact
"""


def environment(directory: Path) -> Mapping[str, str]:
    """Return this environment, with head pins kept in a folder of the benchmark.

    Byte code is kept, as it is of an installed program, whatever this environment says of it.
    """
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "XDG_STATE_HOME": str(directory)}


def commands(
    product: Sequence[str], reference: Sequence[str], directory: Path, rounds: int
) -> list[tuple[Sample, Sample]]:
    """Return what two commands take as whole processes, after a first start of each."""
    variables = environment(directory)

    def work(command: Sequence[str]) -> Sample:
        return process(command, environment=variables)

    interleaved(lambda: work(product), lambda: work(reference), 1)
    return interleaved(lambda: work(product), lambda: work(reference), rounds)


def python(code: str, *arguments: object) -> list[str]:
    """Return the command that runs some Python."""
    return [sys.executable, "-c", code, *map(str, arguments)]


def start_rows(directory: Path, rounds: int) -> list[Row]:
    """Return goal 15: how fast the program starts."""
    pairs = commands([str(LEDGER), "--version"], python("import click"), directory, rounds)
    return [
        compared("15", "ledger --version / python -c 'import click'", pairs, START_GOAL, work=1)
    ]


def command_rows(found: BenchLedger, rounds: int, work_seconds: float) -> list[Row]:
    """Return goal 8 for `explain`: the process less the work that goal 7 measured.

    Args:
        found: a ledger whose projections are up to date.
        rounds: how many.
        work_seconds: seconds of processor of the same work in a warm process.
    """
    command = [str(LEDGER), "--ledger", str(found.path), "explain", "run-1", "exact"]
    pairs = commands(command, python(FULL_IMPORTS), found.path.parent, rounds)
    return [
        compared(
            "8",
            "ledger explain, process less goal 7's work / python -c imports",
            [(less(ours, work_seconds), theirs) for ours, theirs in pairs],
            EXPLAIN_GOAL,
            work=1,
            events=found.size,
            note=f"work taken off: {work_seconds * 1e3:.0f} ms",
        ),
        compared(
            "8",
            "ledger explain, whole process / python -c imports",
            pairs,
            Limit(""),
            work=1,
            events=found.size,
        ),
    ]


def less(sample: Sample, seconds: float) -> Sample:
    """Return a sample without some known work."""
    return Sample(sample.cpu - seconds, sample.wall - seconds)


def memory_rows(found: BenchLedger) -> list[Row]:
    """Return goal 11 for reading: replay, then verify, in one process."""
    peak = peak_megabytes(python(READING, found.path), environment(found.path.parent))
    start = peak_megabytes(python(FULL_IMPORTS), environment(found.path.parent))
    return [
        value_row(
            "11",
            "peak memory, replay + verify",
            peak,
            "MB",
            READING_GOAL,
            events=found.size,
            note=f"Python with click, msgspec, sqlite3, blake3 alone: {start:.0f} MB",
        )
    ]


def stream_rows(directory: Path, lengths: Sequence[int]) -> list[Row]:
    """Return goal 11 for `ledger append - --stream`, fed with streams of growing length."""
    peaks = [stream_peak(directory / f"stream-{length}", length) for length in lengths]
    rows = [
        value_row("11", "peak memory, append stream", peak, "MB", STREAM_GOAL, events=length)
        for length, peak in zip(lengths, peaks, strict=True)
    ]
    rows.append(
        value_row(
            "11",
            "peak memory, longest / shortest append stream",
            peaks[-1] / peaks[0],
            "x",
            FLAT_GOAL,
            note=f"{lengths[0]} and {lengths[-1]} events; flat is 1",
        )
    )
    return rows


def stream_peak(directory: Path, length: int) -> float:
    """Return the peak memory of one append stream into a new ledger."""
    directory.mkdir()
    path = directory / "trials.ledger"
    with Ledger.create(path, tools=tools_in(directory)) as ledger:
        ledger.freeze(documents())
    command = [str(LEDGER), "--ledger", str(path), "append", "-", "--stream"]
    return peak_megabytes(command, environment(directory), stream(length))


def stream(length: int) -> Iterator[bytes]:
    """Yield so many events as JSON lines, in chunks."""
    source = chunks(Workload().events(), BULK)
    for _ in range(0, length, BULK):
        yield b"".join(line_of(record) for record in next(source))


def peak_megabytes(
    command: Sequence[str], variables: Mapping[str, str], source: Iterable[bytes] = ()
) -> float:
    """Return the highest resident set of a process, in MB."""
    child = subprocess.Popen(
        [*python(LAUNCHER), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=dict(variables),
    )
    assert child.stdin is not None, "a pipe was asked for"
    assert child.stderr is not None, "likewise"
    messages: list[bytes] = []
    reader = threading.Thread(target=collector(child.stderr.read, messages))
    reader.start()
    for part in source:
        child.stdin.write(part)
    child.stdin.close()
    code = child.wait()
    reader.join()
    child.stderr.close()
    said = messages[0].decode("utf-8", "replace").strip().splitlines()
    assert code == 0, said
    # Linux counts kilobytes, macOS bytes.
    return int(said[-1]) / (1e6 if sys.platform == "darwin" else 1e3)


def collector(read: Callable[[], bytes], found: list[bytes]) -> Callable[[], None]:
    """Return the work of reading a stream to its end."""

    def work() -> None:
        found.append(read())

    return work
