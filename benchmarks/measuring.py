"""Samples, ratios and verdicts.

Invariant: a ratio comes from one round, in which product and reference ran one after the other; CPU
time decides a verdict, and where the reference itself was not steady there is none.
"""

import gc
import math
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Literal

import msgspec

__all__ = [
    "Limit",
    "Row",
    "Sample",
    "compared",
    "in_turns",
    "interleaved",
    "percentile",
    "process",
    "python_of_peers",
    "settle",
    "single",
    "timed",
    "times_row",
    "value_row",
]

Verdict = Literal["met", "not met", "inconclusive", "not judged"]

PEERS_VARIABLE = "BENCH_PEERS_PYTHON"
PEERS = Path(__file__).resolve().parents[1] / ".venv-peers" / "bin" / "python"


def python_of_peers() -> str | None:
    """Return a Python that may have the peers: the one named, else that of `./dev bench-peers`."""
    named = os.environ.get(PEERS_VARIABLE)
    return named or (str(PEERS) if PEERS.exists() else None)


class Sample(msgspec.Struct, frozen=True):
    """What one piece of work took."""

    cpu: float
    """Seconds of processor, user and system."""
    wall: float
    """Seconds by the clock."""


class Limit(msgspec.Struct, frozen=True):
    """A goal of docs/benchmarks.md."""

    text: str
    """As printed, for example `>= 0.75`."""
    bound: float | None = None
    """The number; None where the row only informs."""
    at_least: bool = False
    """Whether more is better."""

    def verdict(self, value: float) -> Verdict:
        """Return whether a value meets the goal."""
        if self.bound is None:
            return "not judged"
        met = value >= self.bound if self.at_least else value <= self.bound
        return "met" if met else "not met"


class Row(msgspec.Struct, kw_only=True):
    """One line of the result."""

    goal: str
    """Number of the goal."""
    what: str
    """What was measured, against what."""
    events: int | None = None
    """Events in the file; None where it does not matter."""
    value: float
    """The figure that decides: a ratio of CPU times, or an absolute number."""
    unit: str = "x"
    """Unit of the figure; `x` is a ratio."""
    limit: str
    """The goal."""
    verdict: Verdict
    """Whether it is met."""
    low: float | None = None
    """Lowest figure of any round."""
    high: float | None = None
    """Highest."""
    rounds: int = 1
    """How many."""
    wall: float | None = None
    """The same figure by the clock."""
    wall_verdict: Verdict | None = None
    """Whether it meets the goal by the clock; inconclusive where the reference was not steady."""
    product: float | None = None
    """Median CPU time of the product, microseconds a unit of work."""
    reference: float | None = None
    """Median CPU time of the reference, likewise."""
    product_wall: float | None = None
    """Median time by the clock of the product, likewise."""
    reference_wall: float | None = None
    """Of the reference."""
    note: str = ""
    """What a reader must know."""


def timed(work: Callable[[], object]) -> Sample:
    """Return what a piece of work in this process takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Sample(time.process_time() - cpu, time.perf_counter() - wall)


def process(command: Sequence[str], *, environment: Mapping[str, str]) -> Sample:
    """Return what a whole process takes, its start included."""
    wall = time.perf_counter()
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - wall
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, f"{command[0]} exited with {child.returncode}"
    return Sample(usage.ru_utime + usage.ru_stime, took)


def interleaved(
    product: Callable[[], Sample], reference: Callable[[], Sample], rounds: int
) -> list[tuple[Sample, Sample]]:
    """Return (product, reference) of every round; which of them goes first alternates."""
    return [in_turns(product, reference, number) for number in range(rounds)]


def in_turns(
    product: Callable[[], Sample], reference: Callable[[], Sample], number: int
) -> tuple[Sample, Sample]:
    """Return (product, reference) of one round; in odd ones the reference goes first."""
    if number % 2:
        second = reference()
        return product(), second
    first = product()
    return first, reference()


def is_unsteady(values: Sequence[float]) -> bool:
    """Return whether the range of a reference is over half its median."""
    return max(values) - min(values) > median(values) / 2


def compared(
    goal: str,
    what: str,
    pairs: Sequence[tuple[Sample, Sample]],
    limit: Limit,
    *,
    work: int,
    events: int | None = None,
    note: str = "",
) -> Row:
    """Return the row of a comparison.

    Args:
        goal: number of the goal.
        what: what was measured.
        pairs: (product, reference) of every round.
        limit: the goal; where more is better the ratio is reference over product (speed), else
            product over reference (time).
        work: events, or whatever is counted, in one round.
        events: events in the file.
        note: what a reader must know.
    """

    def ratio(ours: float, theirs: float) -> float:
        return theirs / ours if limit.at_least else ours / theirs

    by_cpu = [ratio(ours.cpu, theirs.cpu) for ours, theirs in pairs]
    by_wall = [ratio(ours.wall, theirs.wall) for ours, theirs in pairs]
    value, wall = median(by_cpu), median(by_wall)
    verdict, wall_verdict = limit.verdict(value), limit.verdict(wall)
    if limit.bound is not None:
        if is_unsteady([theirs.cpu for _, theirs in pairs]):
            verdict = "inconclusive"
        if is_unsteady([theirs.wall for _, theirs in pairs]):
            wall_verdict = "inconclusive"

    def each(values: list[float]) -> float:
        return median(values) / work * 1e6

    return Row(
        goal=goal,
        what=what,
        events=events,
        value=value,
        limit=limit.text,
        verdict=verdict,
        low=min(by_cpu),
        high=max(by_cpu),
        rounds=len(pairs),
        wall=wall,
        wall_verdict=wall_verdict,
        product=each([ours.cpu for ours, _ in pairs]),
        reference=each([theirs.cpu for _, theirs in pairs]),
        product_wall=each([ours.wall for ours, _ in pairs]),
        reference_wall=each([theirs.wall for _, theirs in pairs]),
        note=note,
    )


def value_row(
    goal: str,
    what: str,
    value: float,
    unit: str,
    limit: Limit,
    *,
    events: int | None = None,
    note: str = "",
) -> Row:
    """Return the row of an absolute number or of a ratio that has no spread."""
    return Row(
        goal=goal,
        what=what,
        events=events,
        value=value,
        unit=unit,
        limit=limit.text,
        verdict=limit.verdict(value),
        note=note,
    )


def single(work: Callable[[], object], divisor: int) -> Sample:
    """Return what one of so many units of work takes on average."""
    taken = timed(work)
    return Sample(taken.cpu / divisor, taken.wall / divisor)


def settle() -> None:
    """Let the garbage collector pass over what the benchmark itself holds, from now on.

    It is many times what a command holds, and each full collection would look at all of it.
    """
    gc.collect()
    gc.freeze()


def percentile(ordered: Sequence[float], percent: int) -> float:
    """Return the smallest value that so many per cent do not exceed."""
    return ordered[max(math.ceil(len(ordered) * percent / 100) - 1, 0)]


def times_row(
    goal: str, what: str, samples: Sequence[Sample], limit: Limit, *, events: int, judged: bool
) -> Row:
    """Return the row of milliseconds that 99 % of some repetitions do not exceed.

    Args:
        goal: number of the goal.
        what: what was repeated.
        samples: every repetition.
        limit: the goal.
        events: events in the file.
        judged: whether the goal is about this size.
    """
    cpu = sorted(sample.cpu * 1e3 for sample in samples)
    wall = sorted(sample.wall * 1e3 for sample in samples)
    row = value_row(
        goal,
        f"{what}, p99",
        percentile(cpu, 99),
        "ms",
        limit if judged else Limit(limit.text),
        events=events,
        note=(
            f"processor p50 {median(cpu):.1f} ms; clock p50 {median(wall):.1f},"
            f" p99 {percentile(wall, 99):.1f} ms; {len(cpu)} times"
        ),
    )
    row.low, row.high, row.rounds = cpu[0], cpu[-1], len(cpu)
    row.wall = percentile(wall, 99)
    row.wall_verdict = limit.verdict(row.wall) if judged else "not judged"
    return row
