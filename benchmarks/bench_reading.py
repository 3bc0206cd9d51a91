"""Goals 4, 5, 7, 10 and 12: replay, verify, explain, growth and bytes of one ledger.

Invariant: the page cache is warm for product and floor alike; the floor decodes every document of
the same file to plain values and checks nothing.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bench_ledger import NO_GOAL, BenchLedger, is_whole, trials_in
from benchmarks.measuring import (
    Limit,
    Row,
    Sample,
    compared,
    interleaved,
    settle,
    single,
    timed,
    times_row,
    value_row,
)
from benchmarks.reference import read_blobs, read_documents
from benchmarks.workload import CODE_METRIC, TRIALS_PER_RUN
from trial_cli.explain import marks_of, summary_lines
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.goldfile import gold_path
from trial_ledger.identifiers import TrialKey
from trial_ledger.keyed_file import KeyedFile, projections_path
from trial_ledger.submission import Submission
from trial_ledger.verification import verify
from trial_projections.derivation import derive
from trial_projections.fold import Projection
from trial_projections.reading import ReadModel
from trial_projections.replay import PROJECTIONS, replay

__all__ = ["disk_row", "explain_rows", "floor_rows", "growth_rows"]

RUN = "run-1"
LOOK_UPS = 300
FOLD_CHUNK = 2_000
EXPLAIN_TIMES = 60
EXPLAIN_SECONDS = 30.0

REPLAY_GOAL = Limit("<= 1.8", 1.8)
VERIFY_GOAL = Limit("<= 1.5", 1.5)
EXPLAIN_GOAL = Limit("<= 50 ms", 50)
DISK_GOAL = Limit("<= 0.65", 0.65)
LOOK_UP_GOAL = Limit("<= 1.3", 1.3)
SLOPE_GOAL = Limit("<= 1.1", 1.1)
LINEAR_GOAL = Limit("<= 11", 11)
APPEND_GOAL = Limit("<= 12", 12)


def floor_rows(found: BenchLedger, rounds: int) -> list[Row]:
    """Return goals 4 and 5: replay and verify against the floor."""
    documents: list[Sample] = []

    def floor() -> Sample:
        taken = timed(lambda: read_documents(found.path))
        documents.append(taken)
        return taken

    replays = interleaved(lambda: timed(lambda: replayed(found)), floor, rounds)
    fast = interleaved(lambda: timed(lambda: verified(found, fast=True)), floor, rounds)
    full = interleaved(
        lambda: timed(lambda: verified(found, fast=False)),
        lambda: timed(lambda: (read_documents(found.path), read_blobs(found.path))),
        rounds,
    )
    against_documents = list(zip([ours for ours, _ in full], documents[-rounds:], strict=True))
    size = found.size
    return [
        compared(
            "4", "verified replay of all projections / scan + decode", replays, REPLAY_GOAL,
            work=size, events=size, note="floor reads documents, no blob",
        ),
        compared(
            "5", "verify --fast (chain, tree, columns) / scan + decode", fast, VERIFY_GOAL,
            work=size, events=size, note="neither reads a blob",
        ),
        compared(
            "5", "verify, every blob too / scan + decode", against_documents, NO_GOAL,
            work=size, events=size, note="ours reads all blobs, the floor none",
        ),
        compared(
            "5", "verify, every blob too / scan + decode + read blobs", full, VERIFY_GOAL,
            work=size, events=size, note="both read and decompress all blobs",
        ),
    ]  # fmt: skip


def replayed(found: BenchLedger) -> None:
    """Rebuild every projection, verifying."""
    with found.opened() as ledger:
        assert replay(ledger).size == ledger.store.size(), "everything was folded"


def verified(found: BenchLedger, *, fast: bool) -> None:
    """Check the ledger."""
    with found.opened() as ledger:
        report = verify(ledger, fast=fast)
        assert report.is_intact, report.findings[0]


def reading(found: BenchLedger) -> Sample:
    """Return what reading one event takes, in a file just opened."""
    with found.opened() as ledger:
        places = spread(found, ledger.store.size(), LOOK_UPS)

        def work() -> None:
            for seq in places:
                ledger.read(seq)

        return single(work, LOOK_UPS)


def guarding(found: BenchLedger) -> Sample:
    """Return what one note on an old trial takes, 300 in one commit by a fresh writer."""
    trials = min(found.workload.trials, TRIALS_PER_RUN)
    entries = [
        Entry(
            submission=Submission(
                kind="note.added",
                run=RUN,
                trial=trial_key(place - 1),
                data={"about": "benchmark", "text": "looked at"},
            )
        )
        for place in spread(found, trials, LOOK_UPS)
    ]
    with found.opened(write=True) as ledger:
        ledger.append(Submission(kind="note.added", data={"about": "warm", "text": "up"}))

        def work() -> None:
            ledger.append_all(entries)

        return single(work, LOOK_UPS)


def spread(found: BenchLedger, limit: int, count: int) -> list[int]:
    """Return so many places from 1 to a limit, in random order."""
    return [found.workload.random.randint(1, limit) for _ in range(count)]


def trial_key(place: int) -> TrialKey:
    """Return the trial at a place of the workload's first run."""
    question, repetition = divmod(place, 5)
    return TrialKey(
        question=f"q{question:04d}", configuration="local-ranked", repetition=repetition + 1
    )


def folding(found: BenchLedger, projection: Projection[Any]) -> Sample:
    """Return what applying one event to a projection takes; reading the event is not counted."""
    cpu = wall = 0.0
    with found.opened() as ledger:
        size = ledger.store.size()
        file = KeyedFile.temporary()
        state = projection.start(file)
        for start in range(0, size, FOLD_CHUNK):
            events = list(ledger.events(after=start, upto=min(start + FOLD_CHUNK, size)))

            def work(events: Sequence[Any] = events) -> None:
                for stored in events:
                    projection.apply(state, stored)
                    state.trim()

            taken = timed(work)
            cpu, wall = cpu + taken.cpu, wall + taken.wall
        taken = timed(state.save)
        file.close()
    return Sample((cpu + taken.cpu) / size, (wall + taken.wall) / size)


def explain_rows(found: BenchLedger) -> tuple[list[Row], float]:
    """Return goal 7 for `explain`, and its median seconds of processor."""
    with found.opened() as ledger:
        ReadModel.open(ledger).close()
    settle()
    samples: list[Sample] = []
    end = time.monotonic() + EXPLAIN_SECONDS
    while len(samples) < EXPLAIN_TIMES and (len(samples) < 5 or time.monotonic() < end):
        samples.append(timed(lambda: explained(found)))
    row = times_row(
        "7", f"explain, in process, {trials_in(found)}", samples, EXPLAIN_GOAL,
        events=found.size, judged=is_whole(found),
    )  # fmt: skip
    return [row], median(sample.cpu for sample in samples)


def explained(found: BenchLedger) -> None:
    """Do what `ledger explain` does, from opening the file to the lines of its screen."""
    with Ledger.open(found.path, tools=found.tools) as ledger:
        model = ReadModel.open(ledger)
        record = model.run(RUN)
        source = model.score_input(record)
        derivation = derive(source, record, CODE_METRIC, size=model.size)
        marks = marks_of(derivation, model, source)
        assert summary_lines(derivation, model, marks), "there is a screen"
        model.close()


def growth_rows(small: BenchLedger, large: BenchLedger, rounds: int) -> list[Row]:
    """Return goal 10: how costs grow from one size to a larger one, both measured in every round.

    The goals stand for ten times as many events and are scaled to the real factor of a total.
    """
    factor = large.size / small.size
    note = f"{small.size} to {large.size} events"
    linear = scaled(LINEAR_GOAL, factor)

    def row(what: str, work: Callable[[BenchLedger], Sample], limit: Limit) -> Row:
        pairs = interleaved(lambda: work(large), lambda: work(small), rounds)
        return compared("10", what, pairs, limit, work=1, events=large.size, note=note)

    rows = [
        row("look-up: read one event by seq", reading, LOOK_UP_GOAL),
        row("look-up: append to an old trial, its guard loads it", guarding, LOOK_UP_GOAL),
        row("replay, whole", lambda found: timed(lambda: replayed(found)), linear),
        row("verify, whole", lambda found: timed(lambda: verified(found, fast=False)), linear),
        compared(
            "10",
            "append, whole, 1000 a commit",
            [(large.appending, small.appending)],
            scaled(APPEND_GOAL, factor),
            work=1,
            events=large.size,
            note=note,
        ),
    ]
    for one in PROJECTIONS:

        def fold(found: BenchLedger, projection: Projection[Any] = one) -> Sample:
            return folding(found, projection)

        rows.append(row(f"slope of projection {one.name}: time an event", fold, SLOPE_GOAL))
    return rows


def scaled(limit: Limit, factor: float) -> Limit:
    """Return the limit of a total for another factor of size than ten."""
    assert limit.bound is not None, "growth has goals"
    bound = limit.bound * factor / 10
    return Limit(f"<= {bound:.3g}", bound)


def disk_row(found: BenchLedger) -> Row:
    """Return goal 12: bytes on disk against canonical bytes, payloads included."""
    with found.opened() as ledger:
        size, documents = ledger.store.connection.execute(
            "SELECT count(*), sum(length(CAST(doc AS BLOB))) FROM event"
        ).fetchone()
        assert ledger.gold is not None, "the ledger was made here"
        payload = sum(payload_bytes(file) for file in (ledger.store, ledger.gold))
    on_disk = file_bytes(found.path) + file_bytes(gold_path(found.path))
    canonical = documents + payload
    return value_row(
        "12",
        "bytes on disk / canonical bytes, payloads included",
        on_disk / canonical,
        "x",
        DISK_GOAL,
        events=found.size,
        note=(
            f"{on_disk / size:.0f} of {canonical / size:.0f} bytes an event"
            f" (document {documents / size:.0f}); projections beside it"
            f" {file_bytes(projections_path(found.path)) / size:.0f}; bare SQLite"
            f" {file_bytes(found.path.with_name('bare.sqlite')) / found.table.size:.0f}"
        ),
    )


def payload_bytes(file: Any) -> int:  # noqa: ANN401 - a store or a gold file, alike in this
    """Return the bytes of every text, counted as often as it is named."""
    row = file.connection.execute(
        "SELECT coalesce(sum(bytes), 0) FROM blob JOIN content ON content.id = blob.content"
    ).fetchone()
    return int(row[0])


def file_bytes(path: Path) -> int:
    """Return the size of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0
