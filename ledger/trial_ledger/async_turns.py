"""Appends of many tasks into few commits: whose turn it is, and what becomes of the cancelled.

Invariant: a commit that has begun is never abandoned: whoever is cancelled meanwhile waits for its
end. What no commit had taken when its task was cancelled is never written.

As among threads (`book`), there is no task that owns the file: the one whose turn it is commits
for all that wait, in a worker thread, and hands the turn on. So nothing can be left behind by a
task that somebody cancels.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import islice
from threading import Event as ThreadEvent
from threading import Lock
from typing import Generic, TypeVar, cast

from anyio import (
    CancelScope,
    CapacityLimiter,
    Event,
    Semaphore,
    get_cancelled_exc_class,
    to_thread,
)

from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError
from trial_ledger.intake import Draft
from trial_ledger.store import FLUSH_BYTES, FLUSH_EVENTS

__all__ = ["Run", "Ticket", "Turns", "to_its_end"]

Result = TypeVar("Result")


class Run(Generic[Result]):
    """One piece of work for a worker thread, done once however often it is handed over.

    A second thread that gets it waits for the first. `cancelled` is what asyncio's own cancellation
    raised meanwhile, which no scope shields from; it is to be raised when the work is done.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self.work = work
        self.claim = Lock()
        self.ended = ThreadEvent()
        self.result: Result | None = None
        self.failure: BaseException | None = None
        self.cancelled: BaseException | None = None

    def __call__(self) -> None:
        """Do the work, or wait until it is done."""
        if not self.claim.acquire(blocking=False):
            self.ended.wait()
            return
        try:
            self.result = self.work()
        except BaseException as error:  # noqa: BLE001 - given to whoever waits
            self.failure = error
        self.ended.set()

    def outcome(self) -> Result:
        """Return what the work returned, or raise what it raised or what cancelled meanwhile."""
        if self.cancelled is not None:
            raise self.cancelled
        if self.failure is not None:
            raise self.failure
        return cast("Result", self.result)


async def to_its_end(work: Callable[[], Result], limiter: CapacityLimiter) -> Run[Result]:
    """Do work in a worker thread and come back when it has ended, whatever is cancelled."""
    run = Run(work)
    with CancelScope(shield=True):
        while not run.ended.is_set():
            try:
                await to_thread.run_sync(run, limiter=limiter)
            except get_cancelled_exc_class() as error:
                run.cancelled = error
            except RuntimeError as error:
                run.failure = LedgerError(f"no thread for it: {error}", hint="try again later")
                run.ended.set()
    return run


class Ticket:
    """One append on its way into a commit."""

    def __init__(
        self, *, drafts: list[Draft] | None = None, work: Callable[[Ledger], object] | None = None
    ) -> None:
        self.drafts = drafts or []
        self.work = work
        self.bytes = sum(
            len(text.content) for draft in self.drafts for text in draft.texts.values()
        )
        self.turn = Event()
        """Told to its task: it is decided, or it is the task's turn to commit."""
        self.decided = Event()
        """Told to everybody: it was committed, refused or withdrawn."""
        self.taken = False
        self.result: object = None
        self.failure: BaseException | None = None

    def decide(self) -> None:
        """Tell everybody who waits for it."""
        self.decided.set()
        self.turn.set()


class Turns:
    """The appends that wait for a commit, and the tasks that take turns in committing."""

    def __init__(self, ledger: Ledger, waiting: int) -> None:
        self.ledger = ledger
        self.writing = CapacityLimiter(1)
        self.accepting = Semaphore(waiting)
        self.queue: deque[Ticket] = deque()
        self.pending: dict[str, Ticket] = {}
        self.leading = False
        self.led = Event()
        self.closed = False

    def require_open(self) -> None:
        """Refuse what comes after closing.

        Raises:
            LedgerError: it is closed.
        """
        if self.closed:
            message = f"{self.ledger.store.path} is closed, nothing was written"
            raise LedgerError(message, hint="append inside `async with AsyncLedger.open(path)`")

    async def settle(self, ticket: Ticket) -> object:
        """Bring a ticket into a commit and return what came of it; withdraw it when cancelled.

        Raises:
            LedgerError: whatever the commit raises; or the ledger is closed.
        """
        self.require_open()
        async with self.accepting:
            self.require_open()
            self.queue.append(ticket)
            self.pending |= {draft.id: ticket for draft in ticket.drafts if draft.id is not None}
            try:
                await self.until_decided(ticket)
            except get_cancelled_exc_class():
                if not ticket.taken:
                    self.withdraw(ticket)
                else:
                    await ended(ticket.decided)
                raise
            finally:
                self.forget(ticket)
        if ticket.failure is not None:
            raise ticket.failure
        return ticket.result

    async def until_decided(self, ticket: Ticket) -> None:
        """Wait for others to commit a ticket, or commit while nobody else does."""
        while not ticket.decided.is_set():
            if self.leading:
                await ticket.turn.wait()
                if not ticket.decided.is_set():
                    ticket.turn = Event()
            else:
                await self.lead()

    async def lead(self) -> None:
        """Commit what waits, up to one group, and hand the turn on."""
        self.leading, self.led = True, Event()
        group = self.next_group()
        run = await to_its_end(partial(commit, self.ledger, group), self.writing)
        for ticket in group:
            ticket.failure = run.failure
            ticket.decide()
        self.leading = False
        self.led.set()
        self.hand_on()
        if run.cancelled is not None:
            raise run.cancelled

    def next_group(self) -> list[Ticket]:
        """Take the tickets of the next commit from the queue, which holds at least one.

        Without a gold file each has a commit of its own: one that needs the file fails as a whole.
        """
        group: list[Ticket] = []
        events = size = 0
        while self.queue:
            following = self.queue[0]
            events, size = events + len(following.drafts), size + following.bytes
            if group and (
                self.ledger.gold is None
                or {following.work, group[0].work} != {None}
                or events > FLUSH_EVENTS
                or size > FLUSH_BYTES
            ):
                break
            following.taken = True
            group.append(self.queue.popleft())
        return group

    def hand_on(self) -> None:
        """Tell the task that has waited longest that it is its turn."""
        if self.queue and not self.leading:
            self.queue[0].turn.set()

    def withdraw(self, ticket: Ticket) -> None:
        """Take a ticket out of the queue; it is never written."""
        self.queue.remove(ticket)
        ticket.decide()
        self.hand_on()

    def forget(self, ticket: Ticket) -> None:
        """Forget the ids of a ticket whose fate the file tells."""
        for draft in ticket.drafts:
            if draft.id is not None and self.pending.get(draft.id) is ticket:
                del self.pending[draft.id]

    async def until_known(self, identifier: str) -> None:
        """Wait until no append of an id is under way."""
        while (ticket := self.pending.get(identifier)) is not None:
            await ticket.decided.wait()
            self.forget(ticket)

    async def drain(self) -> BaseException | None:
        """Accept nothing more and commit what was accepted, whatever is cancelled.

        Return what cancelled it by other means than a scope, to be raised in the end.
        """
        self.closed = True
        cancelled: BaseException | None = None
        with CancelScope(shield=True):
            while self.queue or self.leading:
                try:
                    await (self.led.wait() if self.leading else self.lead())
                except get_cancelled_exc_class() as error:
                    cancelled = error
        return cancelled


def commit(ledger: Ledger, group: list[Ticket]) -> None:
    """Commit a group in the worker thread; what it raises concerns all of it."""
    if group[0].work is not None:
        group[0].result = group[0].work(ledger)
        return
    answers = iter(ledger.commit([draft for ticket in group for draft in ticket.drafts]))
    for ticket in group:
        ticket.result = list(islice(answers, len(ticket.drafts)))


async def ended(event: Event) -> None:
    """Wait for an event whatever is cancelled; asyncio's own cancellation knows no shield."""
    with CancelScope(shield=True):
        while not event.is_set():
            try:
                await event.wait()
            except get_cancelled_exc_class():
                continue  # The one that is raised afterwards came before it.
