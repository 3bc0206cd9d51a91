"""Runs every benchmark in one process and prints what came out.

Invariant: product and reference take turns within the run; files lie beside the checkout, on a real
disk, and are removed afterwards.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.bench_acts import override_rows, trace_rows
from benchmarks.bench_importing import import_rows
from benchmarks.bench_ledger import BenchLedger, append_rows, build
from benchmarks.bench_peers import peer_rows, writer_rows
from benchmarks.bench_processes import command_rows, memory_rows, start_rows, stream_rows
from benchmarks.bench_reading import disk_row, explain_rows, floor_rows, growth_rows
from benchmarks.bench_receipts import receipt_rows
from benchmarks.bench_rescoring import rescore_rows
from benchmarks.measuring import Row
from benchmarks.report import keep, machine, number, table, write_lines

__all__ = ["main"]

RESULTS = Path(__file__).with_name("results")
DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
SMALL, MIDDLE, LARGE = 10_000, 100_000, 1_000_000
ROUNDS = 5
ROUNDS_OF_LARGE = 3
PROCESS_ROUNDS = 11
IMPORT_ROUNDS = 7
STREAMS = (2_000, 10_000, 50_000, 300_000)
"""Lengths of append streams, as far as the run is that long."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, and leave the result as JSON lines."""
    options = parsed(arguments)
    options.directory.mkdir(parents=True, exist_ok=True)
    header = machine(options.directory)
    work = Path(tempfile.mkdtemp(prefix="work-", dir=options.directory))
    rows: list[Row] = []
    try:
        for row in measured(work, sizes_of(options)):
            rows.append(row)
            say(f"  goal {row.goal}: {row.what}: {number(row.value)} {row.unit} {row.verdict}")
    finally:
        shutil.rmtree(work)
    path = RESULTS / f"{time.strftime('%Y%m%dT%H%M%S')}.jsonl"
    ordered = sorted(rows, key=lambda row: (int(row.goal), row.events or 0))
    write_lines(path, header, ordered)
    lines = table(header, ordered)
    print("\n".join(lines))
    print(f"\nJSON lines: {path}")
    if options.keep:
        keep(DOCUMENT, lines)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description="Measure the ledger against physical limits.")
    parser.add_argument("--quick", action="store_true", help="10k events only: about a minute")
    parser.add_argument("--large", action="store_true", help="1M events too: an hour and 10 GB")
    parser.add_argument("--keep", action="store_true", help="put the table into the documentation")
    parser.add_argument(
        "--directory", type=Path, default=RESULTS, help="where files lie: a disk, no tmpfs"
    )
    return parser.parse_args(arguments)


def sizes_of(options: argparse.Namespace) -> tuple[int, ...]:
    """Return the numbers of events to measure at."""
    if options.quick:
        return (SMALL,)
    return (SMALL, MIDDLE, LARGE) if options.large else (SMALL, MIDDLE)


def measured(work: Path, sizes: tuple[int, ...]) -> Iterator[Row]:
    """Yield every row as it is measured."""
    yield from start_rows(work, PROCESS_ROUNDS)
    yield from import_rows(work / "imports", IMPORT_ROUNDS)
    yield from receipt_rows(work / "receipts", ROUNDS)
    yield from writer_rows(work / "writers")
    ledgers: list[BenchLedger] = []
    for size in sizes:
        say(f"building a ledger of {size} events")
        ledgers.append(build(work / str(size), size))
        yield from at_size(ledgers[-1])
    for small, large in pairwise(ledgers):
        yield from growth_rows(small, large, ROUNDS_OF_LARGE)
    for found in ledgers:
        yield from append_rows(found, ROUNDS)
        yield from override_rows(found)
        found.table.close()
    yield from peer_rows(ledgers[0], work / "peers", ROUNDS)
    lengths = [length for length in STREAMS if length <= sizes[-1]]
    yield from stream_rows(work, lengths)


def at_size(found: BenchLedger) -> Iterator[Row]:
    """Yield every row of one size."""
    rounds = ROUNDS if found.size <= SMALL else ROUNDS_OF_LARGE
    yield from floor_rows(found, rounds)
    yield disk_row(found)
    rows, work_seconds = explain_rows(found)
    yield from rows
    yield from command_rows(found, ROUNDS, work_seconds)
    yield from trace_rows(found, ROUNDS)
    yield from memory_rows(found)
    if found.size <= MIDDLE:
        yield from rescore_rows(found, found.path.parent / "rescoring")


def say(message: str) -> None:
    """Tell the person who waits."""
    print(message, file=sys.stderr, flush=True)
