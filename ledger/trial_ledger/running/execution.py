"""Runs plans to their end in an event loop of their own, heeding signals.

Invariant: the first interrupt ends the running trials as cancelled and closes the runs; the second
kills the process and every program that it started, and leaves the rest to whoever resumes.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

import anyio

from trial_ledger.async_book import AsyncLedger
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.running.agents.command import kill_all
from trial_ledger.running.exchange import client_for
from trial_ledger.running.plan import Plan
from trial_ledger.running.readiness import ready
from trial_ledger.running.runner import Runner, RunProgress, World
from trial_ledger.running.work import fault_of_ledger

__all__ = ["check_ready", "execute"]

KILLED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PR_SET_DUMPABLE = 4
"""prctl(2): without it no other process of this user can look into ours through /proc."""


def check_ready(manifest: Manifest, folder: Path) -> None:
    """Refuse a manifest whose agent or documents cannot be had, before its run is opened.

    Raises:
        InvalidInputError: they cannot.
        StorageError: its documents cannot be read.
    """
    found = ready(manifest, client_for(1), folder)
    for index in found.documents.values():
        index.close()


def execute(path: Path, plans: Sequence[Plan], world: World) -> Mapping[str, RunProgress]:
    """Execute plans and close their runs; return how far each came.

    Args:
        path: the ledger file.
        plans: what is left to do.
        world: what is taken from outside.

    Raises:
        InvalidInputError: an agent cannot be had.
        RuleError: the ledger refuses something, as the input of a trial that shows gold.
        StorageError: the ledger fails.
    """
    hide_from_others(hidden=True)
    before = [signal.getsignal(one) for one in SIGNALS]
    try:
        return anyio.run(executed, path, plans, world)
    except BaseExceptionGroup as group:
        fault = fault_of_ledger(group)
        if fault is None:
            raise
        raise fault from group
    finally:
        hide_from_others(hidden=False)
        for one, handler in zip(SIGNALS, before, strict=True):
            signal.signal(one, handler)


async def executed(path: Path, plans: Sequence[Plan], world: World) -> Mapping[str, RunProgress]:
    """Execute plans while signals are heeded."""
    async with AsyncLedger.open(path) as book:
        runner = Runner(book, plans, world)
        found: Mapping[str, RunProgress] = {}
        async with anyio.create_task_group() as group:
            await group.start(heed_signals, runner)
            try:
                found = await runner.execute()
            finally:
                group.cancel_scope.cancel()
        return found


async def heed_signals(
    runner: Runner, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """End the runs at the first signal, the process at the second."""
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        task_status.started()
        name = ""
        async for number in signals:
            name = signal.Signals(number).name
            break
    # An agent may hold up the event loop, so that the second signal is not left to it.
    for one in SIGNALS:
        signal.signal(one, kill)
    runner.world.surface("ending the running trials; once more kills")
    runner.stop(f"interrupted by {name}")


def kill(_number: int, _frame: FrameType | None) -> None:
    """End the process at once, and every program that it started."""
    kill_all()
    os._exit(KILLED)


def hide_from_others(*, hidden: bool) -> None:
    """Keep programs that are started from reading our file names out of /proc, on Linux (C2)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, int(not hidden), 0, 0, 0)
