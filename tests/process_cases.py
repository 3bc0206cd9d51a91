"""What other processes do to a ledger in tests: append, die in the middle, hold locks, fill disks.

Every function here runs in a process of its own, forked from a server that has imported what it
needs, so that a hundred of them cost little. None of them may import pytest.
"""

import contextlib
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection as Pipe
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import sqlite_utils.migrations  # noqa: F401 - a user without rights may not read the library
from blake3 import blake3

from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError
from trial_ledger.events import Actor
from trial_ledger.intake import draft
from trial_ledger.locking import FileLock
from trial_ledger.submission import NewText, Submission
from trial_ledger.tools import Tools, now_text
from trial_ledger.verification import verify
from trial_ledger.writer import Writer

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["process_cases"])

NOBODY = 65_534
HARNESS = Actor(role="harness", name="cases")


def started(target: Callable[..., None], *args: object, **fields: object) -> ForkServerProcess:
    """Start a function in a process of its own."""
    process = CONTEXT.Process(target=target, args=args, kwargs=fields)
    process.start()
    return process


def told(target: Callable[..., None], *args: object, **fields: object) -> Any:  # noqa: ANN401 - whatever it sends
    """Run a function in a process of its own and return what it sends."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = started(target, theirs, *args, **fields)
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join()
        ours.close()


def world(folder: Path, warn: Callable[[str], None] = print) -> Tools:
    """Return the real clock and randomness, with head pins in a folder."""
    return Tools(
        clock=now_text, random_bytes=os.urandom, environ={}, state_directory=folder, warn=warn
    )


def note(name: str, number: int, text: str | NewText = "words") -> Submission:
    """Return the note of a number; its id is a function of name and number."""
    return Submission(
        kind="note.added",
        data={"about": name, "text": text},
        id=blake3(f"{name} {number}".encode()).hexdigest(length=16),
        actor=HARNESS,
    )


def append_some(
    path: Path, state: Path, name: str, count: int, acknowledged: Path, *, pause: float = 0
) -> None:
    """Append notes one by one and write down each acknowledgement after it was given.

    The longest that one took, in microseconds, is written beside it in the end.
    """
    descriptor = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    longest = 0
    with Ledger.open(path, write=True, tools=world(state)) as ledger:
        for number in range(count):
            start = time.perf_counter_ns()
            done = ledger.append(note(name, number))
            longest = max(longest, time.perf_counter_ns() - start)
            os.write(descriptor, f"{done.id} {done.seq} {done.hash}\n".encode())
            time.sleep(pause)
    os.close(descriptor)
    acknowledged.with_suffix(".longest").write_text(str(longest // 1_000))


def acknowledge_too_early(
    path: Path, state: Path, name: str, count: int, acknowledged: Path
) -> None:
    """Do what `append_some` does with a planted fault: acknowledge, and commit only in the end.

    So whenever it is killed, what it acknowledged is missing, however quick the disk.
    """
    descriptor = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with Ledger.open(path, write=True, tools=world(state)) as ledger:
        ledger.writer.begin()
        for number in range(count):
            done = ledger.writer.prepare(draft(note(name, number)))
            os.write(descriptor, f"{done.id} {done.seq} {done.hash}\n".encode())
        ledger.writer.commit()


def die_in_a_transaction(path: Path, state: Path, *, gold: bool) -> None:
    """Write more than SQLite keeps in memory into a transaction, and be killed before its end."""
    ledger = Ledger.open(path, write=True, tools=world(state))
    writer: Writer = ledger.writer
    writer.begin()
    class_ = "gold" if gold else "sealed"
    for number in range(24):
        text = NewText(content=os.urandom(400_000), class_=class_)  # type: ignore[arg-type]
        writer.prepare(draft(note("lost", number, text)))
    writer.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def hold_the_lock(pipe: Pipe, path: Path, seconds: float) -> None:
    """Take a ledger's lock, say so, and keep it for a while."""
    lock = FileLock(path.with_name(path.name + ".lock"))
    lock.acquire()
    pipe.send("held")
    time.sleep(seconds)


def append_to_a_full_disk(pipe: Pipe, path: Path, state: Path) -> None:
    """Append until no file may grow, then once more when files may grow again."""
    seen: list[object] = []
    with Ledger.open(path, write=True, tools=world(state, seen.append)) as ledger:
        limit = path.stat().st_size + 100_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        number = 0
        while True:
            text = NewText(content=os.urandom(30_000))
            try:
                seen.append(ledger.append(note("full", number, text)).status)
            except LedgerError as error:
                seen.append((type(error).__name__, error.exit_code))
                break
            number += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        seen.append(ledger.append(note("full", number, text)).status)
        seen.append(ledger.append(note("full", number, text)).status)
    pipe.send((number, seen))


def as_nobody(pipe: Pipe, path: Path, state: Path, *, write: bool) -> None:
    """Open a ledger without any rights but everybody's; tell what became of it."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    notes: list[str] = []
    try:
        with Ledger.open(path, write=write, tools=world(state, notes.append)) as ledger:
            if write:
                ledger.append(note("nobody", 1))
            pipe.send(("opened", verify(ledger).is_intact, ledger.head().size, notes))
    except LedgerError as error:
        pipe.send((type(error).__name__, error.exit_code, error.message, error.hint))


@contextlib.contextmanager
def running(process: ForkServerProcess) -> Iterator[None]:
    """Keep a process running for the length of a block, then kill it."""
    try:
        yield
    finally:
        process.kill()
        process.join()


@contextlib.contextmanager
def locked_elsewhere(path: Path) -> Iterator[None]:
    """Let another process hold a ledger's lock for the length of a block."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    with ours, running(started(hold_the_lock, theirs, path, 60.0)):
        theirs.close()
        assert ours.recv() == "held"
        yield
