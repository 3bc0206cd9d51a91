"""What becomes of an asynchronous append that is cancelled, and of those left at the end."""

import asyncio
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from async_cases import BACKENDS, gate, note, notes, queued, run, using, waiting
from ledger_cases import small_ledger, tools
from process_cases import world
from trial_ledger.async_book import AsyncLedger
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.errors import InvalidInputError, LedgerError

both = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a closed ledger that holds the frozen documents: four events."""
    with small_ledger(tmp_path, world=tools(tmp_path, pins=False)) as ledger:
        return ledger.store.path


# Cancellation


@both
def test_what_was_not_taken_is_withdrawn(path: Path, backend: str) -> None:
    """Cancelled in the queue it is never written, its fate is known at once; others go on."""

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(book.append, note("first"))
                await held.reached()
                with anyio.CancelScope() as scope:
                    async with anyio.create_task_group() as inner:
                        for name in ("a", "b"):
                            inner.start_soon(book.append, note(name))
                        await queued(book, 2)
                        scope.cancel()
                assert scope.cancelled_caught
                assert await book.fate(note("a").id or "") is None
                tasks.start_soon(book.append, note("last"))
                await queued(book, 1)
                held.opened.set()
            assert held.commits == 2

    assert using(backend, path, work) == ["first", "last"]


@both
@pytest.mark.parametrize("leads", [True, False], ids=["it commits", "another commits"])
def test_a_commit_under_way_is_waited_for(path: Path, backend: str, leads: bool) -> None:
    """Cancelled meanwhile, the task goes on only when its event is durable; its fate is known."""
    ended: list[str] = []

    async def append(book: AsyncLedger, scope: anyio.CancelScope, name: str) -> None:
        with scope:
            try:
                await book.append(note(name))
            finally:
                ended.append(name)

    async def work(book: AsyncLedger) -> None:
        leader, follower = anyio.CancelScope(), anyio.CancelScope()
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(append, book, anyio.CancelScope(), "before")
                await held.reached()
                await waiting(book, tasks, append, book, leader, "leader")
                await waiting(book, tasks, append, book, follower, "follower")
                await held.let_one_through()
                while not all(ticket.taken for ticket in book.turns.pending.values()):
                    await checkpoint()
                (leader if leads else follower).cancel()
                held.opened.set()
        for name in ("leader", "follower"):
            fate = await book.fate(note(name).id or "")
            assert fate is not None
            assert fate.status == "exists"

    assert using(backend, path, work) == ["before", "leader", "follower"]
    assert sorted(ended) == ["before", "follower", "leader"]


@both
def test_a_cancelled_task_does_not_end_before_its_commit(path: Path, backend: str) -> None:
    """As long as the commit is under way the task is, too, and so is whoever asks for the fate."""
    states: list[str] = []

    async def append(book: AsyncLedger, scope: anyio.CancelScope) -> None:
        with scope:
            await book.append(note("a"))
        states.append("ended")

    async def ask(book: AsyncLedger) -> None:
        assert await book.fate(note("a").id or "") is not None
        states.append("told")

    async def work(book: AsyncLedger) -> None:
        scope = anyio.CancelScope()
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(append, book, scope)
                await held.reached()
                scope.cancel()
                tasks.start_soon(ask, book)
                for _ in range(100):
                    await checkpoint()
                states.append("opened")
                held.opened.set()

    assert using(backend, path, work) == ["a"]
    assert states[0] == "opened"
    assert sorted(states[1:]) == ["ended", "told"]


@both
def test_an_append_in_a_cancelled_scope_is_not_begun(path: Path, backend: str) -> None:
    """Nor is a look at the file."""

    async def work(book: AsyncLedger) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await book.append(note("a"))
        with anyio.CancelScope() as scope:
            scope.cancel()
            await book.read(1)
        assert scope.cancelled_caught

    assert using(backend, path, work) == []


@both
def test_the_turn_is_handed_on_when_its_task_is_cancelled(path: Path, backend: str) -> None:
    """Whoever was told to commit and is cancelled before it can leaves the rest to the next."""

    async def append(book: AsyncLedger, scope: anyio.CancelScope, name: str) -> None:
        with scope:
            await book.append(note(name))

    async def work(book: AsyncLedger) -> None:
        scope = anyio.CancelScope()
        with gate(book) as held:
            hand_on = book.turns.hand_on

            def cancelling() -> None:
                book.turns.hand_on = hand_on  # type: ignore[method-assign]
                hand_on()
                scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(book.append, note("first"))
                await held.reached()
                await waiting(book, tasks, append, book, scope, "a")
                await waiting(book, tasks, append, book, anyio.CancelScope(), "b")
                book.turns.hand_on = cancelling  # type: ignore[method-assign]
                held.opened.set()

    # Whether the turn or the cancellation is noticed first is the event loop's to say.
    assert using(backend, path, work) in (["first", "b"], ["first", "a", "b"])


# Asyncio's own cancellation, which no scope shields from


def test_asyncio_cancels_a_commit_under_way_as_often_as_it_likes(path: Path) -> None:
    """The task ends after the commit, by the cancellation."""

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            leader = asyncio.create_task(book.append(note("a")))
            await held.reached()
            follower = asyncio.create_task(book.append(note("b")))
            await queued(book, 1)
            for _ in range(3):
                leader.cancel()
                await asyncio.sleep(0)
            assert not leader.done()
            held.opened.set()
            with pytest.raises(asyncio.CancelledError):
                await leader
            assert (await follower).seq == 6

    assert using("asyncio", path, work) == ["a", "b"]


def test_asyncio_cancels_one_that_another_commits(path: Path) -> None:
    """It waits for the end of that commit too; what was not taken is withdrawn."""

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            first = asyncio.create_task(book.append(note("first")))
            await held.reached()
            tasks: list[asyncio.Task[Acknowledgement]] = []
            for number, name in enumerate(("a", "b"), 1):
                tasks.append(asyncio.create_task(book.append(note(name))))
                await queued(book, number)
            await held.let_one_through()
            await first
            await queued(book, 0)
            late = asyncio.create_task(book.append(note("late")))
            await queued(book, 1)
            for task in (late, tasks[1]):
                for _ in range(3):
                    task.cancel()
                    await asyncio.sleep(0)
            assert late.done()
            held.opened.set()
            found = await asyncio.gather(*tasks, late, return_exceptions=True)
            assert [type(one) for one in found] == [
                Acknowledgement, asyncio.CancelledError, asyncio.CancelledError,
            ]  # fmt: skip

    assert using("asyncio", path, work) == ["first", "a", "b"]


def test_asyncio_times_out(path: Path) -> None:
    """`asyncio.wait_for` waits for the commit under way and says that the time is over."""

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            waiting = asyncio.create_task(asyncio.wait_for(book.append(note("a")), 0.01))
            await held.reached()
            await asyncio.sleep(0.03)
            held.opened.set()
            with pytest.raises(TimeoutError):
                await waiting
        assert await book.fate(note("a").id or "") is not None

    assert using("asyncio", path, work) == ["a"]


def test_asyncio_cancels_before_a_thread_has_begun(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the work is handed over again, and done once."""
    run_sync = anyio.to_thread.run_sync
    cancels = [True]

    async def cancelled_first(*arguments: object, **fields: object) -> object:
        if cancels:
            cancels.pop()
            raise asyncio.CancelledError
        return await run_sync(*arguments, **fields)  # type: ignore[arg-type]

    async def work(book: AsyncLedger) -> None:
        monkeypatch.setattr(anyio.to_thread, "run_sync", cancelled_first)
        with pytest.raises(asyncio.CancelledError):
            await book.append(note("a"))
        assert await book.fate(note("a").id or "") is not None

    assert using("asyncio", path, work) == ["a"]


def test_asyncio_cancels_the_opening(path: Path) -> None:
    """The file is closed again."""
    closed: list[Path] = []

    class Watched(Ledger):
        """A ledger that tells when it is closed."""

        def close(self) -> None:
            closed.append(self.store.path)
            super().close()

    async def main() -> None:
        async def use() -> None:
            async with AsyncLedger.open(path, tools=world(path.parent / "state")):
                raise AssertionError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("trial_ledger.async_book.Ledger", Watched)
            task = asyncio.create_task(use())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert closed == [path]


def test_asyncio_cancels_everything_at_once(path: Path) -> None:
    """Also while the ledger is closed: what was accepted and taken is committed all the same."""

    async def main() -> None:
        opened_book: list[AsyncLedger] = []
        leave = asyncio.Event()

        async def use() -> None:
            async with AsyncLedger.open(path, tools=world(path.parent / "state")) as book:
                opened_book.append(book)
                await leave.wait()

        host = asyncio.create_task(use())
        while not opened_book:
            await checkpoint()
        (book,) = opened_book
        with gate(book) as held:
            task = asyncio.create_task(book.append(note("a")))
            await held.reached()
            leave.set()
            while not book.turns.closed:
                await checkpoint()
            for _ in range(2):
                host.cancel()
                task.cancel()
                await asyncio.sleep(0)
            assert not host.done()
            held.opened.set()
            found = await asyncio.gather(host, task, return_exceptions=True)
        assert [type(one) for one in found] == [asyncio.CancelledError] * 2

    asyncio.run(main())
    assert notes(path) == ["a"]


# Closing


@both
@pytest.mark.parametrize("cancelled", [False, True], ids=["left", "cancelled"])
def test_leaving_commits_what_was_accepted(path: Path, backend: str, cancelled: bool) -> None:
    """Also when it is left by a cancellation; those who wait get their answers."""
    found: list[Acknowledgement] = []

    async def append(book: AsyncLedger, name: str) -> None:
        found.append(await book.append(note(name)))

    async def main() -> None:
        async with anyio.create_task_group() as outer:
            with anyio.CancelScope() as scope:
                async with AsyncLedger.open(path, tools=world(path.parent / "state")) as book:
                    with gate(book) as held:
                        outer.start_soon(append, book, "a")
                        await held.reached()
                        for name in ("b", "c"):
                            await waiting(book, outer, append, book, name)
                        if cancelled:
                            scope.cancel()
                        await checkpoint()
            assert scope.cancelled_caught is cancelled

    run(backend, main)
    assert notes(path) == ["a", "b", "c"]
    assert sorted(one.seq for one in found) == [5, 6, 7]


@both
def test_an_error_of_the_body_is_what_comes_out(path: Path, backend: str) -> None:
    """Itself, not in a group."""

    async def work(book: AsyncLedger) -> None:
        await book.append(note("a"))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        using(backend, path, work)
    assert notes(path) == ["a"]


@both
def test_closed_it_accepts_nothing(path: Path, backend: str) -> None:
    """Neither a new append nor one that was still waiting to be accepted."""
    refused: list[str] = []

    async def append(book: AsyncLedger, name: str) -> None:
        try:
            await book.append(note(name))
        except LedgerError as error:
            refused.append(f"{name}: {error.message}")

    async def main() -> None:
        async with anyio.create_task_group() as outer:
            where = world(path.parent / "state")
            async with AsyncLedger.open(path, tools=where, waiting=2) as book:
                with gate(book) as held:
                    outer.start_soon(append, book, "a")
                    await held.reached()
                    await waiting(book, outer, append, book, "b")
                    outer.start_soon(append, book, "c")
                    while book.turns.accepting.statistics().tasks_waiting == 0:
                        await checkpoint()
                    book.turns.closed = True
            await append(book, "d")
            with pytest.raises(LedgerError, match="is closed"):
                await book.fate(note("a").id or "")

    run(backend, main)
    assert notes(path) == ["a", "b"]
    assert sorted(refused) == [f"{name}: {path} is closed, nothing was written" for name in "cd"]


@both
def test_the_queue_is_bounded(path: Path, backend: str) -> None:
    """More appends than may wait are held back until others are decided."""

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                for number in range(8):
                    tasks.start_soon(book.append, note(f"{number}"))
                await held.reached()
                while book.turns.accepting.statistics().tasks_waiting < 5:
                    await checkpoint()
                assert len(book.turns.pending) == 3
                held.opened.set()

    assert sorted(using(backend, path, work, waiting=3)) == [f"{number}" for number in range(8)]


@both
def test_nothing_can_be_appended_where_nothing_may_wait(path: Path, backend: str) -> None:
    """A number below one is refused."""

    async def work(_: AsyncLedger) -> None:
        raise AssertionError

    with pytest.raises(InvalidInputError) as caught:
        using(backend, path, work, waiting=0)
    assert str(caught.value.problems[0]) == "not a number of appends, found 0, expected at least 1"
