"""Many tasks on one asynchronous ledger: storms of cancellations, a writer to be killed, gates.

Nothing here may import pytest: a part of it runs in processes of its own.
"""

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event as ThreadEvent
from typing import Any

import anyio
import anyio.abc
from anyio.lowlevel import checkpoint
from blake3 import blake3

from process_cases import HARNESS, world
from trial_ledger.async_book import AsyncLedger
from trial_ledger.async_turns import Ticket
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.events import NoteAdded
from trial_ledger.submission import NewText, Submission

BACKENDS = ("asyncio", "trio")


IN_VAIN_SECONDS = 60
"""After which nobody believes any more that something will happen: no measure of speed."""


def note(about: str, text: str | NewText = "words") -> Submission:
    """Return the note of a name; its id is a function of it."""
    return Submission(
        kind="note.added",
        data={"about": about, "text": text},
        id=blake3(about.encode()).hexdigest(length=16),
        actor=HARNESS,
    )


def run(backend: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run an asynchronous test on a back end."""
    anyio.run(work, backend=backend)


def using(
    backend: str, path: Path, work: Callable[[AsyncLedger], Awaitable[None]], *, waiting: int = 1024
) -> list[str]:
    """Open a ledger in an event loop, work with it, and return which notes it holds then."""

    async def main() -> None:
        where = world(path.parent / "state")
        async with AsyncLedger.open(path, tools=where, waiting=waiting) as book:
            await work(book)

    run(backend, main)
    return notes(path)


def notes(path: Path) -> list[str]:
    """Return what the notes of an intact ledger are about, in order."""
    with Ledger.open(path, tools=world(path.parent / "state")) as book:
        assert book.verify().is_intact
        events = [stored.event.data for stored in book.events()]
    return [data.about for data in events if isinstance(data, NoteAdded)]


@dataclass
class Storm:
    """What a storm was told: acknowledgements, and the fates of what was cancelled."""

    acknowledged: dict[str, Acknowledgement] = field(default_factory=dict)
    """By id, of appends that returned."""
    fates: dict[str, Acknowledgement | None] = field(default_factory=dict)
    """By id, of appends that were cancelled."""
    again: set[str] = field(default_factory=set)
    """Of these, what was appended once more."""

    def faults(self, path: Path) -> list[str]:
        """Return where the closed ledger is not what the storm was told."""
        with Ledger.open(path, tools=world(path.parent / "state")) as book:
            events = list(book.events(after=1))
            found = [str(finding) for finding in book.verify().findings]
        there = {stored.event.id: stored for stored in events}
        abouts = Counter(stored.event.data.about for stored in events)  # type: ignore[union-attr]
        found += [f"{about} is there {times} times" for about, times in abouts.items() if times > 1]
        told = {**self.fates, **self.acknowledged}
        for identifier, answer in told.items():
            stored = there.pop(identifier, None)
            if (answer is None) != (stored is None):
                found.append(f"{identifier} was told {answer} and is {stored and stored.hash}")
            elif answer is not None and stored is not None:
                place = (stored.event.seq, stored.hash)
                if place != (answer.seq, answer.hash):
                    found.append(f"{identifier} was told {answer} and stands at {place}")
        return found + [f"{identifier} was never told of" for identifier in there]


async def storm(book: AsyncLedger, *, rounds: int, tasks: int, seed: int) -> Storm:
    """Let tasks append while they are cancelled one by one or all at once; ask for every fate."""
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    told = Storm()
    for number in range(rounds):
        cancelled: dict[str, Submission] = {}

        async def append(about: str, delay: float) -> None:
            submission = note(about)
            assert submission.id is not None
            cancelled[submission.id] = submission  # noqa: B023 - ends within its round
            with anyio.move_on_after(delay):
                told.acknowledged[submission.id] = await book.append(submission)
                del cancelled[submission.id]  # noqa: B023 - likewise

        everybody = random.choice((0.005, 0.02, 60, 60))
        with anyio.move_on_after(everybody):
            async with anyio.create_task_group() as group:
                for task in range(tasks):
                    delay = random.choice((0, random.uniform(0, 0.04), 60, 60))
                    group.start_soon(append, f"round {number} task {task}", delay)
        async with anyio.create_task_group() as group:
            for submission in cancelled.values():
                group.start_soon(ask, book, told, submission, random.random() < 1 / 3)
    last = note("the calm after it")
    assert last.id is not None, "every note has one"
    told.acknowledged[last.id] = await book.append(last)
    return told


async def ask(book: AsyncLedger, told: Storm, submission: Submission, again: bool) -> None:
    """Ask for the fate of what was cancelled, and perhaps append it once more."""
    assert submission.id is not None, "every note has one"
    told.fates[submission.id] = await book.fate(submission.id)
    if again:
        told.again.add(submission.id)
        told.acknowledged[submission.id] = await book.append(submission)


async def append_in_tasks(path: Path, state: Path, name: str, acknowledged: Path) -> None:
    """Append notes from eight tasks without end; write down each acknowledgement."""
    descriptor = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def append(task: int) -> None:
        for number in range(1_000_000):
            done = await book.append(note(f"{name}/{task}/{number}"))
            os.write(descriptor, f"{done.id} {done.seq} {done.hash}\n".encode())

    async with (
        AsyncLedger.open(path, tools=world(state)) as book,
        anyio.create_task_group() as all_,
    ):
        for task in range(8):
            all_.start_soon(append, task)


def write_until_killed(
    path: Path, state: Path, name: str, acknowledged: Path, backend: str, *, hastily: bool
) -> None:
    """Be a process that appends from several tasks until somebody kills it."""
    if hastily:
        from trial_ledger import async_turns  # noqa: PLC0415 - a planted fault of this process

        async_turns.commit = commit_never
    anyio.run(append_in_tasks, path, state, name, acknowledged, backend=backend)


def commit_later(ledger: Ledger, group: list[Ticket]) -> None:
    """Acknowledge a group before its commit, which only the next group brings: a planted fault."""
    if ledger.store.connection.in_transaction:
        ledger.writer.commit()
    ledger.writer.begin()
    for ticket in group:
        ticket.result = [ledger.prepared(draft) for draft in ticket.drafts]


def commit_never(ledger: Ledger, group: list[Ticket]) -> None:
    """Acknowledge a group and leave its commit to the end of the process: a planted fault.

    Whenever the process is killed, all that it acknowledged is missing, however quick the disk.
    """
    if not ledger.store.connection.in_transaction:
        ledger.writer.begin()
    for ticket in group:
        ticket.result = [ledger.prepared(draft) for draft in ticket.drafts]


class Gate:
    """Holds a commit that is under way until it is told to go on."""

    def __init__(self, ledger: Ledger) -> None:
        self.commit = ledger.store.commit
        self.entered = ThreadEvent()
        self.opened = ThreadEvent()
        self.another = ThreadEvent()
        self.one_only = False
        self.commits = 0

    def __call__(self) -> None:
        """Commit when the gate is open."""
        self.entered.set()
        if not self.one_only:
            self.another.set()
        self.opened.wait()
        if self.one_only:
            # Closed again by who goes through: a quick disk lets nobody slip in behind.
            self.opened.clear()
            self.one_only = False
        self.commits += 1
        self.commit()

    async def reached(self) -> None:
        """Wait until a commit stands before the gate."""
        await anyio.to_thread.run_sync(self.entered.wait)

    async def let_one_through(self) -> None:
        """Let the commit that is held go on, and wait until the next one stands before the gate."""
        self.another.clear()
        self.one_only = True
        self.opened.set()
        await anyio.to_thread.run_sync(self.another.wait)


@contextmanager
def gate(book: AsyncLedger) -> Iterator[Gate]:
    """Put a gate before the commits of a ledger; it opens at the end."""
    found = Gate(book.ledger)
    book.ledger.store.commit = found  # type: ignore[method-assign]
    try:
        yield found
    finally:
        found.opened.set()


async def queued(book: AsyncLedger, count: int) -> None:
    """Wait until so many appends stand in the queue; a test that waits in vain fails, late."""
    with anyio.fail_after(IN_VAIN_SECONDS):
        while len(book.turns.queue) != count:
            await checkpoint()


async def waiting(
    book: AsyncLedger,
    tasks: anyio.abc.TaskGroup,
    work: Callable[..., Coroutine[Any, Any, object]],
    *given: object,
) -> None:
    """Start a task that appends, and come back when its append stands in the queue."""
    before = len(book.turns.queue)
    tasks.start_soon(work, *given)
    await queued(book, before + 1)
