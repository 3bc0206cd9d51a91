"""One ledger of a given size, with the bare table beside it that got the same events.

Invariant: ledger and table grow chunk by chunk in turn, so that every chunk is a round of goal 2;
making the events is never timed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks.measuring import Limit, Row, Sample, compared, interleaved, timed
from benchmarks.reference import BareTable, document_of
from benchmarks.workload import (
    TRIALS_PER_RUN,
    Record,
    Workload,
    chunks,
    documents,
    line_of,
    submission_of,
)
from trial_cli.lines import entry_of
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.tools import Tools, system_tools

__all__ = ["BenchLedger", "append_rows", "build", "is_whole", "tools_in", "trials_in"]

BULK = 1_000
ONE_BY_ONE_GOAL = Limit(">= 0.75", 0.75, at_least=True)
BY_EIGHT_GOAL = Limit(">= 0.50", 0.50, at_least=True)
BULK_GOAL = Limit(">= 0.40", 0.40, at_least=True)
NO_GOAL = Limit("")


class BenchLedger(msgspec.Struct, kw_only=True):
    """A ledger to measure, and what is known of it."""

    path: Path
    """The ledger file."""
    table: BareTable
    """The reference."""
    workload: Workload
    """Where its events come from."""
    source: Iterator[list[Record]]
    """Further events, in chunks of `BULK`."""
    tools: Tools
    """The world without this user's head pins."""
    bulk: list[tuple[Sample, Sample]]
    """(product, reference) of every chunk of `BULK` events while it grew."""
    size: int = 0
    """Events in the ledger."""

    @contextmanager
    def opened(self, *, write: bool = False) -> Iterator[Ledger]:
        """Open the ledger and close it afterwards."""
        with Ledger.open(self.path, write=write, tools=self.tools) as ledger:
            yield ledger

    def take(self, count: int) -> list[Record]:
        """Return further events that belong into this ledger, in order."""
        found: list[Record] = []
        while len(found) < count:
            found += next(self.source)
        assert len(found) == count, "counts are multiples of a chunk"
        return found

    @property
    def appending(self) -> Sample:
        """What growing to the whole size took, 1,000 events a commit."""
        return Sample(
            sum(ours.cpu for ours, _ in self.bulk), sum(ours.wall for ours, _ in self.bulk)
        )


def is_whole(found: BenchLedger) -> bool:
    """Return whether every planned trial of the first run was started, as goals for runs say."""
    return found.workload.trials >= TRIALS_PER_RUN


def trials_in(found: BenchLedger) -> str:
    """Return how many trials of the first run were started, in words."""
    return f"{min(found.workload.trials, TRIALS_PER_RUN)} of {TRIALS_PER_RUN} planned trials"


def tools_in(directory: Path) -> Tools:
    """Return the real world, with head pins kept in a folder of the benchmark."""
    return msgspec.structs.replace(system_tools(), state_directory=directory / "trial-ledger")


def build(directory: Path, size: int) -> BenchLedger:
    """Return a ledger of so many events, appended 1,000 a commit as JSON lines."""
    directory.mkdir(parents=True)
    workload = Workload()
    found = BenchLedger(
        path=directory / "trials.ledger",
        table=BareTable(directory / "bare.sqlite"),
        workload=workload,
        source=chunks(workload.events(), BULK),
        tools=tools_in(directory),
        bulk=[],
    )
    ledger = Ledger.create(found.path, tools=found.tools)
    with ledger:
        ledger.freeze(documents())
        while found.size < size:
            records = found.take(BULK)
            found.bulk += bulk_round(found, ledger, records)
            found.size += len(records)
    return found


def bulk_round(
    found: BenchLedger, ledger: Ledger, records: Sequence[Record]
) -> list[tuple[Sample, Sample]]:
    """Append one chunk to ledger and table; return what both took."""
    lines = [line_of(record) for record in records]
    texts = [document_of(record) for record in records]

    def product() -> None:
        ledger.append_all(parsed(lines))

    return one_round(product, found.table, texts, BULK)


def parsed(lines: Sequence[bytes]) -> Iterator[Entry]:
    """Yield the entries of JSON lines, as `ledger append` does."""
    for number, line in enumerate(lines, 1):
        entry = entry_of(line, source="bench", number=number, derived=None)
        assert entry is not None, "no line is blank"
        yield entry


def append_rows(found: BenchLedger, rounds: int) -> list[Row]:
    """Return goals 1 and 2 on top of a ledger that already holds its events."""
    size = found.size
    with found.opened(write=True) as ledger:
        one = grown(found, lambda records: one_by_one(ledger, records), 1, rounds)
        eight = grown(found, lambda records: by_eight(ledger, records), 8, rounds)
    plain = "texts of judges go to the gold file, whose commit comes first"
    return [
        compared(
            "1", "durable append, 1 a commit / bare SQLite", one, ONE_BY_ONE_GOAL,
            work=BULK, events=size, note=plain,
        ),
        compared(
            "2", "append, 8 a commit, JSONL in / bare SQLite", eight, BY_EIGHT_GOAL,
            work=BULK, events=size,
        ),
        compared(
            "2", "append, 1000 a commit, JSONL in / bare SQLite", found.bulk, BULK_GOAL,
            work=BULK, events=size, note="while the file grew from nothing",
        ),
    ]  # fmt: skip


def grown(
    found: BenchLedger,
    product: Callable[[list[Record]], Callable[[], None]],
    commit_every: int,
    rounds: int,
) -> list[tuple[Sample, Sample]]:
    """Return (product, reference) of appending the same chunk to ledger and table, every round."""
    pairs: list[tuple[Sample, Sample]] = []
    for _ in range(rounds):
        records = found.take(BULK)
        texts = [document_of(record) for record in records]
        work = product(records)
        pairs += one_round(work, found.table, texts, commit_every)
        found.size += len(records)
    return pairs


def one_round(
    work: Callable[[], None], table: BareTable, texts: Sequence[str], commit_every: int
) -> list[tuple[Sample, Sample]]:
    """Return what one piece of work takes, and storing the same events in the table."""
    return interleaved(
        lambda: timed(work),
        lambda: timed(lambda: table.append(texts, commit_every=commit_every)),
        1,
    )


def one_by_one(ledger: Ledger, records: list[Record]) -> Callable[[], None]:
    """Return the work of appending each event in a commit of its own."""
    submissions = [submission_of(record) for record in records]

    def work() -> None:
        for submission in submissions:
            ledger.append(submission)

    return work


def by_eight(ledger: Ledger, records: list[Record]) -> Callable[[], None]:
    """Return the work of appending JSON lines eight a commit."""
    lines = [line_of(record) for record in records]

    def work() -> None:
        for start in range(0, len(lines), 8):
            results = ledger.append_group(parsed(lines[start : start + 8]))
            assert not any(isinstance(result, Exception) for result in results), results

    return work
