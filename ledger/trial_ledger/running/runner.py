"""Executes what is left to do in one or more runs: trials at the same time, in a seeded order.

Invariant: every trial that was started is ended, unless the process is killed; a run is closed as
complete only when every slot has ended.
"""

import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import httpx
import msgspec

from trial_ledger.async_book import AsyncLedger
from trial_ledger.documents.manifest_structs import Limits
from trial_ledger.identifiers import TrialKey
from trial_ledger.kinds.base import Outcome
from trial_ledger.running.budget import Account
from trial_ledger.running.calls import Caller
from trial_ledger.running.exchange import client_for, microseconds_since
from trial_ledger.running.gates import Gate, gates_of
from trial_ledger.running.history import INTERRUPTED, Session
from trial_ledger.running.plan import Plan
from trial_ledger.running.readiness import Ready, ready
from trial_ledger.running.schedule import Slot, ordered, trial_seed
from trial_ledger.running.trial_log import HARNESS, LogOfTrial, Mishap, Surface
from trial_ledger.running.work import (
    Result,
    Tools,
    Work,
    asked_of,
    delivered_fields,
    fault_of_ledger,
    given_bytes,
)
from trial_ledger.submission import Submission

__all__ = ["Progress", "RunProgress", "Runner", "World"]

SECOND_MS = 1_000


class RunProgress(msgspec.Struct, kw_only=True):
    """How far one run has come."""

    planned: int
    """Its planned slots."""
    to_do: int
    """Sessions that this execution is to start."""
    done: int = 0
    """Sessions that have ended in it."""
    outcomes: Counter[str] = msgspec.field(default_factory=Counter)
    """How they ended."""
    failures: Counter[str] = msgspec.field(default_factory=Counter)
    """Failure occurrences by class."""
    spent: str = "$0"
    """What is known to be spent, and how many calls are unknown."""
    status: str | None = None
    """How the run was closed; None while it executes."""
    why: str | None = None
    """Why it did not complete."""


Progress = Callable[[str, str, Mapping[str, object]], None]
"""Told what happens: the kind of news, the run, and what belongs to it."""


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What a runner takes from outside."""

    environ: Mapping[str, str]
    """Environment variables: keys, and what the manifests let their programs see."""
    folder: Path
    """Where relative file names of commands begin."""
    surface: Surface
    """Shows a failure to whoever watches."""
    progress: Progress
    """Told what happens."""


class Execution(msgspec.Struct, kw_only=True):
    """One run while it executes."""

    plan: Plan
    ready: Ready
    gates: Mapping[str, Gate]
    account: Account
    places: anyio.Semaphore
    progress: RunProgress
    stopped: str | None = None
    """Why no further trial is started."""


class Runner:
    """Executes plans; of one event loop.

    Args:
        book: the ledger.
        plans: what is left to do.
        world: what is taken from outside.
    """

    def __init__(self, book: AsyncLedger, plans: Sequence[Plan], world: World) -> None:
        self.book = book
        self.plans = plans
        self.world = world
        self.executions: dict[str, Execution] = {}
        self.scope = anyio.CancelScope()
        self.interrupted: str | None = None

    def stop(self, why: str) -> None:
        """End every running trial as cancelled, and start no other."""
        self.interrupted = why
        self.scope.cancel()

    async def execute(self) -> dict[str, RunProgress]:
        """Execute the plans and close their runs; return how far each came.

        Raises:
            InvalidInputError: an agent cannot be had.
            RuleError: the ledger refuses something, as the input of a trial that shows gold.
            StorageError: the ledger fails.
        """
        connections = sum(limit_of(plan) for plan in self.plans)
        async with client_for(connections + len(self.plans)) as client:
            try:
                self.executions = {plan.run: self.execution(plan, client) for plan in self.plans}
                for execution in self.executions.values():
                    await self.taken_up(execution)
                with self.scope:
                    await self.all_trials(client)
            except BaseException as error:
                self.interrupted = self.interrupted or f"{type(error).__name__}: {error}"
                raise
            finally:
                with anyio.CancelScope(shield=True):
                    for execution in self.executions.values():
                        await self.closed(execution)
        return {run: execution.progress for run, execution in self.executions.items()}

    def execution(self, plan: Plan, client: httpx.AsyncClient) -> Execution:
        """Return a run about to execute."""

        async def told(message: str) -> None:
            self.world.surface(f"{plan.run} {message}")
            self.world.progress("outage", plan.run, {"message": message})
            await self.tell(plan.run, "note.added", {"about": "outage", "text": message})

        account = Account(plan.manifest.budget)
        for cost in plan.history.costs:
            account.add(cost)
        return Execution(
            plan=plan,
            ready=ready(plan.manifest, client, self.world.folder),
            gates=gates_of(plan.manifest, told),
            account=account,
            places=anyio.Semaphore(limit_of(plan)),
            progress=RunProgress(planned=plan.planned, to_do=len(plan.slots)),
        )

    async def tell(self, run: str, kind: str, data: Mapping[str, object]) -> None:
        """Append one event of a run as a whole."""
        await self.book.append(Submission(kind=kind, run=run, data=data, actor=HARNESS))

    async def taken_up(self, execution: Execution) -> None:
        """Say that a run goes on, where it was closed, and end what a crash left open."""
        history = execution.plan.history
        if history.is_closed:
            await self.tell(execution.plan.run, "run.resumed", {"reason": "the rest of its trials"})
        for session in history.open_sessions():
            await self.ended(execution, session)

    async def ended(self, execution: Execution, session: Session) -> None:
        """End a trial that a crash left open: what was under way in it is lost (C21)."""
        log = self.log_of(execution, session.key)
        log.failures = session.failures
        for call in sorted(session.open_calls):
            mishap = Mishap(
                class_="response_lost",
                fault="harness",
                message="the process that waited for this response ended",
            )
            occurrence = await log.failure(mishap, call=call)
            await log.lost(call, occurrence, None, None)
        outcome: Outcome = "cancelled"
        if session.answered:
            outcome = "abstained" if session.abstained else "answered"
        await log.finish(outcome, reason=INTERRUPTED, duration_us=None)

    def log_of(self, execution: Execution, key: TrialKey) -> LogOfTrial:
        """Return the log of a trial."""
        run = execution.plan.run

        def watch(class_: str) -> None:
            execution.progress.failures[class_] += 1
            self.world.progress("failure", run, {"trial": str(key), "class": class_})

        return LogOfTrial(self.book, run, key, self.world.surface, watch)

    async def all_trials(self, client: httpx.AsyncClient) -> None:
        """Start every trial in its turn, as many at the same time as its manifest allows."""
        slots = [slot for plan in self.plans for slot in plan.slots]
        seed = self.plans[0].order_seed if self.plans else 0
        async with anyio.create_task_group() as group:
            for slot in ordered(slots, seed):
                execution = self.executions[slot.run]
                await execution.places.acquire()
                group.start_soon(self.one, execution, slot, client)

    async def one(self, execution: Execution, slot: Slot, client: httpx.AsyncClient) -> None:
        """Execute one trial in its place, unless the run may not go on."""
        try:
            async with AsyncExitStack() as stack:
                for gate in execution.gates.values():
                    await stack.enter_async_context(gate.admitted())
                if not execution.account.is_open:
                    execution.stopped = f"the budget is used up: {execution.account}"
                    return
                result = await self.trial(execution, slot, client)
            execution.progress.done += 1
            execution.progress.outcomes[result.outcome] += 1
            execution.progress.spent = str(execution.account)
            news = {"trial": str(slot.key), "outcome": result.outcome, "reason": result.reason}
            self.world.progress("trial", slot.run, news)
        finally:
            execution.places.release()

    async def trial(self, execution: Execution, slot: Slot, client: httpx.AsyncClient) -> Result:
        """Execute one trial: say what its agent is given, let it work, say what came of it."""
        manifest, key = execution.plan.manifest, slot.key
        log = self.log_of(execution, key)
        question = execution.plan.questions[key.question]
        seed = trial_seed(manifest.seed, key)
        asked = asked_of(question, manifest, seed)
        caller = Caller(
            log,
            manifest,
            client=client,
            gates=execution.gates,
            account=execution.account,
            environ=self.world.environ,
            documents=execution.ready.documents,
        )
        work = Work(
            asked=asked,
            manifest=manifest,
            tools=Tools(manifest, caller, log),
            caller=caller,
            log=log,
            environ=self.world.environ,
        )
        began = time.monotonic_ns()
        with anyio.CancelScope(shield=True):
            await log.start(given_bytes(asked), delivered_fields(question), seed)
        try:
            result = await self.worked(execution, work)
        except BaseException:
            with anyio.CancelScope(shield=True):
                took = microseconds_since(began)
                await log.finish("cancelled", reason=INTERRUPTED, duration_us=took)
                execution.progress.outcomes["cancelled"] += 1
            raise
        with anyio.CancelScope(shield=True):
            await concluded(log, result, began)
        return result

    async def worked(self, execution: Execution, work: Work) -> Result:
        """Let the agent work within its time; return what it leaves."""
        limits = execution.plan.manifest.limits or Limits()
        most = limits.trial_timeout_ms
        with anyio.move_on_after(None if most is None else most / SECOND_MS):
            try:
                return await execution.ready.agent(work)
            except BaseException as error:
                fault = fault_of_ledger(error)
                if fault is not None:
                    raise fault from error
                if not isinstance(error, Exception):
                    raise
                told = "".join(traceback.format_exception(error))
                return fell_over(f"{type(error).__name__}: {error}", told)
        return timed_out(most)

    async def closed(self, execution: Execution) -> None:
        """Close a run: complete only where every slot has ended."""
        progress = execution.progress
        progress.spent = str(execution.account)
        why = self.interrupted or execution.stopped
        halted = "interrupted" if self.interrupted is not None else "failed"
        progress.status = "complete" if why is None else halted
        progress.why = why
        for index in execution.ready.documents.values():
            index.close()
        data = {"status": progress.status, **({"reason": why} if why else {})}
        await self.tell(execution.plan.run, "run.closed", data)
        self.world.progress("closed", execution.plan.run, data)


async def concluded(log: LogOfTrial, result: Result, began: int) -> None:
    """Record what an agent left."""
    for mishap in result.mishaps:
        await log.failure(mishap)
    if result.blamed is not None:
        await log.assessed(result.blamed, "trial_failed")
    if result.answer is not None:
        said = result.answer
        await log.answer(said.answer, said.citations, abstained=said.abstained)
    await log.finish(
        result.outcome,
        reason=result.reason,
        detail=result.detail,
        duration_us=microseconds_since(began),
    )


def fell_over(message: str, told: str) -> Result:
    """Return the result of a trial in which this program did something wrong."""
    mishap = Mishap(
        class_="harness_error",
        fault="harness",
        message=message,
        detail=told.encode("utf-8", "replace"),
        impact="trial_failed",
    )
    return Result(outcome="errored", reason="harness_error", mishaps=(mishap,))


def timed_out(most_ms: int | None) -> Result:
    """Return the result of an agent that did not end in time."""
    mishap = Mishap(
        class_="agent_timeout",
        fault="agent",
        message=f"the agent did not end within {most_ms} ms",
        impact="trial_failed",
    )
    return Result(outcome="errored", reason="agent_timeout", mishaps=(mishap,))


def limit_of(plan: Plan) -> int:
    """Return how many trials of a run may execute at the same time."""
    limits = plan.manifest.limits
    return 1 if limits is None else limits.concurrency
