"""Storms of cancellations and kill -9: what was acknowledged is there, once, and nothing else."""

import os
import time
from functools import partial
from pathlib import Path
from random import Random

import pytest

from async_cases import BACKENDS, Storm, commit_later, run, storm, write_until_killed
from process_cases import started, world
from trial_ledger import async_turns
from trial_ledger.async_book import AsyncLedger
from trial_ledger.book import Ledger

SOAK = os.environ.get("LEDGER_SOAK") == "1"
ROUNDS = 200 if SOAK else 20
KILLS = 200 if SOAK else 5
TASKS = 64


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a ledger that holds ledger.opened only."""
    with Ledger.create(tmp_path / "a.ledger", tools=world(tmp_path / "state")) as ledger:
        return ledger.store.path


async def weather(path: Path, found: list[Storm], rounds: int, commits: list[int]) -> None:
    """Let a storm pass over a ledger and count its commits."""
    async with AsyncLedger.open(path, tools=world(path.parent / "state")) as book:
        commit = book.ledger.store.commit

        def counted() -> None:
            commits.append(book.ledger.writer.size)
            commit()

        book.ledger.store.commit = counted  # type: ignore[method-assign]
        found.append(await storm(book, rounds=rounds, tasks=TASKS, seed=20261001))


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_cancel_storms_lose_and_double_nothing(path: Path, backend: str) -> None:
    """20 rounds of 64 tasks: what was acknowledged is durable, once; every fate was told right."""
    found: list[Storm] = []
    commits: list[int] = []
    run(backend, partial(weather, path, found, ROUNDS, commits))
    (told,) = found
    assert told.faults(path) == []
    assert len(told.acknowledged) + len(told.fates) - len(told.again) == ROUNDS * TASKS + 1
    withdrawn = sum(fate is None for fate in told.fates.values())
    in_flight = len(told.fates) - withdrawn
    with Ledger.open(path, tools=world(path.parent / "state")) as book:
        size = book.head().size
    print(  # noqa: T201 - the figures of a soak
        f"{backend}: {ROUNDS} rounds, {len(told.acknowledged)} acknowledged, {withdrawn} withdrawn,"
        f" {in_flight} committed though cancelled, {len(told.again)} appended again,"
        f" {size - 1} events in {len(commits)} commits"
    )
    assert min(len(told.acknowledged), withdrawn, in_flight, len(told.again)) > 0
    assert len(commits) < size - 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_acknowledging_before_the_commit_is_caught(
    path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same check finds a planted fault: the last group is acknowledged and not there."""
    monkeypatch.setattr(async_turns, "commit", commit_later)
    found: list[Storm] = []
    run(backend, partial(weather, path, found, 2, []))
    faults = found[0].faults(path)
    assert any("was told Acknowledgement" in fault for fault in faults)


def killed(path: Path, backend: str, *, kills: int, hastily: bool = False) -> list[str]:
    """Kill a writer so many times; return which acknowledged events are not as told."""
    chosen = Random(20261001)  # noqa: S311 - repeatable on purpose
    state = path.parent / "state"
    lines: list[list[str]] = []
    for number in range(kills):
        file = path.parent / f"acknowledged-{number}"
        writer = started(
            write_until_killed, path, state, f"writer {number}", file, backend, hastily=hastily
        )
        while not file.exists() or file.stat().st_size < 2_000:
            time.sleep(0.002)
        time.sleep(chosen.uniform(0, 0.05))
        writer.kill()
        writer.join()
        lines += [line.split() for line in file.read_text().splitlines(True) if line[-1:] == "\n"]
    notes: list[str] = []
    with Ledger.open(path, tools=world(state, notes.append)) as book:
        there = {stored.event.id: stored for stored in book.events(after=1)}
        report = book.verify()
    found = [str(finding) for finding in report.findings]
    for identifier, seq, digest in lines:
        stored = there.get(identifier)
        if stored is None or (str(stored.event.seq), stored.hash) != (seq, digest):
            found.append(f"{identifier} of seq {seq} is not as acknowledged")
    assert len(lines) > kills
    return found


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_killing_a_writer_loses_nothing_acknowledged(path: Path, backend: str) -> None:
    """5 times kill -9 in the middle of eight tasks: every acknowledged event is there."""
    assert killed(path, backend, kills=KILLS) == []


def test_a_writer_that_acknowledges_too_early_is_caught_by_killing_it(path: Path) -> None:
    """The same check finds the planted fault."""
    found = killed(path, "asyncio", kills=3, hastily=True)
    assert any("is not as acknowledged" in fault for fault in found)
