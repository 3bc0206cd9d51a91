"""`AsyncLedger`: what it does, whom it refuses, and what becomes of what is cancelled."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import msgspec
import pytest

from async_cases import BACKENDS, gate, note, notes, queued, run, using, waiting
from ledger_cases import (
    RUN,
    copied,
    full_ledger,
    opened,
    run_submissions,
    small_dataset,
    small_ledger,
    small_manifest,
    small_rubric,
    started,
    tools,
    trial,
)
from process_cases import world
from trial_ledger.async_book import AsyncLedger
from trial_ledger.async_turns import to_its_end
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    NotFoundError,
    RefusedError,
    RuleError,
    StorageError,
)
from trial_ledger.events import Actor, NoteAdded
from trial_ledger.goldfile import gold_path
from trial_ledger.submission import NewText, Submission

both = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a closed ledger that holds the frozen documents: four events."""
    with small_ledger(tmp_path, world=tools(tmp_path, pins=False)) as ledger:
        return ledger.store.path


@both
def test_an_acknowledgement_is_that_of_the_ledger(path: Path, backend: str) -> None:
    """The same event in both forms is acknowledged alike; the second finds it there."""

    async def work(book: AsyncLedger) -> None:
        first = await book.append(note("a"))
        assert (first.seq, first.status) == (5, "appended")
        assert await book.append(note("a")) == msgspec.structs.replace(first, status="exists")
        stored = await book.read(5)
        assert (stored.hash, stored.event.id) == (first.hash, first.id)
        assert (await book.head()).size == 5

    assert using(backend, path, work) == ["a"]
    with Ledger.open(path, write=True, tools=tools(path.parent, pins=False)) as book:
        assert book.append(note("a")).status == "exists"


@both
def test_an_id_is_chosen_before_the_event_waits(path: Path, backend: str) -> None:
    """Whoever wants to ask for it chooses it; others get one all the same."""

    async def work(book: AsyncLedger) -> None:
        unnamed = msgspec.structs.replace(note("a"), id=None)
        first, second = [await book.append(unnamed) for _ in range(2)]
        assert first.id != second.id
        chosen = book.new_id()
        assert len(chosen) == 32
        assert await book.fate(chosen) is None
        done = await book.append(msgspec.structs.replace(note("b"), id=chosen))
        assert await book.fate(chosen) == msgspec.structs.replace(done, status="exists")
        assert await book.fate("no id") is None

    assert using(backend, path, work) == ["a", "a", "b"]


@both
def test_one_that_is_refused_sinks_no_other(path: Path, backend: str) -> None:
    """Each append of a commit gets its own answer, of form or of rule, and so does a group."""
    answers: dict[str, object] = {}

    async def append(book: AsyncLedger, name: str, submission: Submission) -> None:
        try:
            answers[name] = await book.append(submission)
        except LedgerError as error:
            answers[name] = error

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(append, book, "first", note("first"))
                await held.reached()
                await waiting(book, tasks, append, book, "good", note("good"))
                await waiting(book, tasks, append, book, "rule", opened(RUN, manifest="gone"))
                await waiting(book, tasks, append, book, "run", started("gone", trial("q1")))
                await waiting(book, tasks, append, book, "better", note("better"))
                await append(book, "form", Submission(kind="no.kind"))
                held.opened.set()
            assert held.commits == 2
        group = await book.append_group(
            [Entry(submission=item) for item in (note("c"), Submission(kind="no"), note("d"))]
        )
        assert [type(answer) for answer in group] == [
            Acknowledgement, InvalidInputError, Acknowledgement,
        ]  # fmt: skip
        (only,) = await book.append_group([Entry(submission=Submission(kind="no"))])
        assert isinstance(only, InvalidInputError)
        error = NotFoundError("no line")
        assert await book.append_group([Entry(submission=error)]) == [error]

    assert using(backend, path, work) == ["first", "good", "better", "c", "d"]
    kinds = {name: type(answer) for name, answer in answers.items()}
    assert kinds == {
        "first": Acknowledgement, "good": Acknowledgement, "better": Acknowledgement,
        "rule": RuleError, "run": NotFoundError, "form": InvalidInputError,
    }  # fmt: skip


@both
def test_inputs_are_appended_whole_or_not_at_all(path: Path, backend: str) -> None:
    """`append_many` and `append_all` are the ledger's own, in a commit of their own."""

    async def work(book: AsyncLedger) -> None:
        done = await book.append_many(run_submissions(RUN))
        assert [one.seq for one in done] == list(range(5, 5 + len(done)))
        with pytest.raises(RefusedError):
            await book.append_many([note("a"), opened(RUN)])
        entries = [Entry(submission=note("b"))]
        (dry,) = await book.append_all(entries, dry_run=True)
        (wet,) = await book.append_all(entries, what="b.jsonl")
        assert dry.seq == wet.seq

    assert using(backend, path, work) == ["b"]


@both
def test_documents_are_frozen(tmp_path: Path, backend: str) -> None:
    """In their place among the appends."""
    path = tmp_path / "new.ledger"
    Ledger.create(path, tools=world(tmp_path / "state")).close()

    async def work(book: AsyncLedger) -> None:
        assert (await book.register(small_dataset())).status == "appended"
        found = await book.freeze([small_dataset(), small_rubric(), small_manifest()])
        assert [one.status for one in found] == ["exists", "appended", "appended"]
        with pytest.raises(RuleError):
            await book.freeze([small_rubric(max_undecided="1/7")])
        await book.append(opened())

    assert using(backend, path, work) == []


@both
def test_reading_sees_whole_commits(tmp_path: Path, backend: str) -> None:
    """Events, texts, the check: while a commit is under way, as they were before it."""
    full_ledger(tmp_path, world=tools(tmp_path, pins=False)).close()
    path = tmp_path / "trials.ledger"

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(book.append, note("later"))
                await held.reached()
                assert [stored.event.seq async for stored in book.events()] == list(range(1, 129))
                held.opened.set()
        seqs = [stored.event.seq async for stored in book.events(run=RUN, after=100, upto=110)]
        assert seqs == list(range(101, 111))
        last = (await book.read(129)).event.data
        assert isinstance(last, NoteAdded)
        assert last.text is not None
        assert await book.blob(last.text) == b"words"
        for fast in (True, False):
            assert (await book.verify(fast=fast)).size == 129
        with pytest.raises(NotFoundError, match="no event 999"):
            await book.read(999)

    assert using(backend, path, work) == [RUN, "later"]


@both
def test_appends_of_a_task_are_in_its_order_and_commits_are_shared(
    path: Path, backend: str
) -> None:
    """16 tasks of 20 appends: the places of each ascend, in fewer commits than events."""
    places: dict[int, list[int]] = {task: [] for task in range(16)}
    commits: list[int] = []

    async def append(book: AsyncLedger, task: int) -> None:
        for number in range(20):
            places[task].append((await book.append(note(f"{task}/{number}"))).seq)

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            held.opened.set()
            async with anyio.create_task_group() as tasks:
                for task in places:
                    tasks.start_soon(append, book, task)
            commits.append(held.commits)

    assert len(using(backend, path, work)) == 320
    assert all(seqs == sorted(seqs) for seqs in places.values())
    assert sorted(seq for seqs in places.values() for seq in seqs) == list(range(5, 325))
    assert commits[0] < 320 / 2


@both
def test_a_group_is_bounded(path: Path, backend: str) -> None:
    """At most 256 events or 4 MiB of texts are committed at once; what is large goes alone."""
    large = NewText(content=b"x" * 3 * 1024 * 1024)

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(book.append, note("first"))
                await held.reached()
                for number in range(300):
                    tasks.start_soon(book.append, note(f"{number}"))
                await queued(book, 300)
                held.opened.set()
            assert held.commits == 3
            held.opened.clear()
            held.entered.clear()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(book.append, note("second"))
                await held.reached()
                for number in range(3):
                    tasks.start_soon(book.append, note(f"large {number}", large))
                await queued(book, 3)
                held.opened.set()
            assert held.commits == 7

    assert len(using(backend, path, work)) == 305


@both
def test_what_needs_a_commit_of_its_own_has_one(path: Path, backend: str) -> None:
    """Inputs that are appended whole stand in their place between appends, in no other's commit."""

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(book.append, note("a"))
                await held.reached()
                await waiting(book, tasks, book.append, note("b"))
                await waiting(book, tasks, book.append_many, [note("c"), note("d")])
                await waiting(book, tasks, book.append_many, [note("e")])
                await waiting(book, tasks, book.append, note("f"))
                held.opened.set()
            assert held.commits == 5

    assert using(backend, path, work) == ["a", "b", "c", "d", "e", "f"]


# What goes wrong


@both
def test_a_failing_file_is_told_to_everybody_who_waits(path: Path, backend: str) -> None:
    """Each gets the error; the fates say that nothing was written; the next append succeeds."""
    told: list[StorageError] = []

    async def append(book: AsyncLedger, name: str) -> None:
        try:
            await book.append(note(name))
        except StorageError as error:
            told.append(error)

    async def work(book: AsyncLedger) -> None:
        with gate(book) as held:
            commit = held.commit

            def full() -> None:
                raise StorageError("no space", hint="free some")

            held.commit = full
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(append, book, "a")
                await held.reached()
                for name in ("b", "c"):
                    tasks.start_soon(append, book, name)
                await queued(book, 2)
                held.opened.set()
            assert [error.message for error in told] == ["no space"] * 3
            assert [await book.fate(note(name).id or "") for name in "abc"] == [None] * 3
            held.commit = commit
            await append(book, "b")

    assert using(backend, path, work) == ["b"]


@both
def test_without_a_gold_file_only_gold_is_refused(path: Path, backend: str) -> None:
    """One event that needs the file fails alone, also where others wait with it."""
    gold_path(path).unlink()
    told: list[str] = []

    async def append(book: AsyncLedger, name: str, text: NewText) -> None:
        try:
            await book.append(note(name, text))
        except StorageError as error:
            told.append(f"{name}: {error.message}")

    async def work(book: AsyncLedger) -> None:
        plain, gold = NewText(content=b"words"), NewText(content=b"gold", class_="gold")
        with gate(book) as held:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(append, book, "a", plain)
                await held.reached()
                for name, text in (("b", plain), ("c", gold), ("d", plain)):
                    tasks.start_soon(append, book, name, text)
                await queued(book, 3)
                held.opened.set()

    assert sorted(using(backend, path, work)) == ["a", "b", "d"]
    assert told == ["c: note.added carries text that belongs in the gold file, which is missing"]


@both
def test_where_no_thread_can_be_started_everybody_is_told(
    path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever."""

    async def none(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    async def work(book: AsyncLedger) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(anyio.to_thread, "run_sync", none)
            with pytest.raises(LedgerError, match="no thread for it: can't start new thread"):
                await book.append(note("a"))
        await book.append(note("b"))

    assert using(backend, path, work) == ["b"]


@both
def test_what_cannot_be_opened(tmp_path: Path, backend: str) -> None:
    """The errors of `Ledger.open`."""

    async def work(_: AsyncLedger) -> None:
        raise AssertionError

    with pytest.raises(NotFoundError, match="no ledger at"):
        using(backend, tmp_path / "gone.ledger", work)


@both
def test_another_event_loop_is_refused(path: Path, backend: str) -> None:
    """Each loop opens the file for itself."""
    left: list[AsyncLedger] = []

    async def work(book: AsyncLedger) -> None:
        left.append(book)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(book.ledger, "process", -1)
            with pytest.raises(StorageError, match="was opened in process -1"):
                await book.append(note("in a fork"))

    async def elsewhere() -> None:
        for look in (left[0].append(note("a")), left[0].read(1), left[0].fate("0" * 32)):
            with pytest.raises(LedgerError, match="was opened in another event loop"):
                await look

    assert using(backend, path, work) == []
    for other in BACKENDS:
        run(other, elsewhere)


@both
def test_a_second_thread_waits_for_the_first(backend: str) -> None:
    """Work that is handed over twice is done once."""
    times: list[int] = []

    async def main() -> None:
        limiter = anyio.CapacityLimiter(1)
        found = await to_its_end(partial(times.append, 1), limiter)
        await anyio.to_thread.run_sync(found)
        failed = await to_its_end(lambda: 1 // 0, limiter)
        with pytest.raises(ZeroDivisionError):
            failed.outcome()

    run(backend, main)
    assert times == [1]


@pytest.mark.parametrize("module", ["trial_ledger", "trial_ledger.book", "trial_cli.append"])
def test_who_does_not_use_it_does_not_load_anyio(module: str) -> None:
    """Only `trial_ledger.async_book` does."""
    script = f"import sys, {module}; print('anyio' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout == "False\n"


def test_a_copy_without_anything_asynchronous_reads_the_same(path: Path) -> None:
    """What was appended so is an ordinary ledger."""

    async def work(book: AsyncLedger) -> None:
        actor = Actor(role="human", name="Ada")
        await book.append(msgspec.structs.replace(note("a"), actor=actor))

    assert using("asyncio", path, work) == ["a"]
    other = copied(path, path.parent / "other")
    assert notes(other) == ["a"]
