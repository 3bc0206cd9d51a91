"""Commits that fail, queues that grow, forks: an error proves nothing, a retry by id settles it."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import empty_ledger, event_id, note, small_dataset, small_ledger, tools
from trial_ledger.book import Ledger, Ticket
from trial_ledger.building import Acknowledgement
from trial_ledger.errors import LedgerError, StorageError
from trial_ledger.intake import draft
from trial_ledger.store import FLUSH_EVENTS
from trial_ledger.submission import Submission


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents and no run."""
    with small_ledger(tmp_path) as made:
        yield made


Fail = Callable[[], None]


def before_commit(commit: Fail) -> Fail:
    """Fail without having written anything."""

    def fail() -> None:
        message = "the disk is gone"
        raise StorageError(message)

    assert callable(commit)
    return fail


def after_commit(commit: Fail) -> Fail:
    """Fail though everything was written: the error that proves nothing."""

    def fail() -> None:
        commit()
        message = "the disk is gone"
        raise StorageError(message)

    return fail


@pytest.mark.parametrize("failing", [before_commit, after_commit])
def test_after_a_failed_commit_a_retry_gives_exactly_one_event(
    ledger: Ledger, failing: Callable[[Fail], Fail], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever became of the first try, appending again under the same id ends with one event."""
    item = msgspec.structs.replace(note("words"), id=event_id("x"))
    with monkeypatch.context() as patch:
        patch.setattr(ledger.store, "commit", failing(ledger.store.commit))
        for _ in range(2):
            with pytest.raises(StorageError, match="the disk is gone"):
                ledger.append(item)
    done = ledger.append(item)
    assert done.seq == 5
    assert done.status == ("appended" if failing is before_commit else "exists")
    assert ledger.head().size == 5
    assert ledger.verify().is_intact


def test_every_caller_of_a_group_learns_that_it_failed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads whose events went into one commit all get its error; retries add each event once."""
    items = [msgspec.structs.replace(note(f"{number}"), id=event_id(number)) for number in range(8)]
    errors: list[LedgerError] = []

    def work(item: Submission) -> None:
        try:
            ledger.append(item)
        except LedgerError as error:
            errors.append(error)

    with monkeypatch.context() as patch:
        patch.setattr(ledger.store, "commit", before_commit(ledger.store.commit))
        threads = [threading.Thread(target=work, args=(item,)) for item in items]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [error.message for error in errors] == ["the disk is gone"] * 8
    assert {ledger.append(item).status for item in items} == {"appended"}
    assert ledger.head().size == 12


@pytest.mark.parametrize("method", ["append_many", "freeze"])
def test_a_failed_commit_of_a_whole_input(
    tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All-or-nothing inputs fail as a whole and can be tried again."""
    with empty_ledger(tmp_path) as ledger:
        act: Callable[[], object] = (
            (lambda: ledger.append_many([note("a"), note("b")]))
            if method == "append_many"
            else (lambda: ledger.freeze([small_dataset()]))
        )
        with monkeypatch.context() as patch:
            patch.setattr(ledger.store, "commit", before_commit(ledger.store.commit))
            with pytest.raises(StorageError):
                act()
        assert ledger.head().size == 1
        act()
        assert ledger.verify().is_intact


def test_an_interrupt_is_passed_on_and_forgotten(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a commit reaches the caller; the lock and the file are free after."""

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ledger.writer, "prepare", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ledger.append(note("x"))
    world = tools(tmp_path, seed=9)
    with Ledger.open(ledger.store.path, write=True, tools=world) as other:
        assert other.append(note("y")).seq == 5
    assert ledger.append(note("z")).seq == 6


def test_a_long_queue_is_committed_group_by_group(ledger: Ledger) -> None:
    """A caller whose event is behind more than one group still gets its own acknowledgement."""
    waiting = [
        Ticket([draft(note(f"{place} {number}")) for number in range(FLUSH_EVENTS)])
        for place in range(2)
    ]
    ledger.queue.extend(waiting)
    done = ledger.append(note("last"))
    assert done.seq == 5 + 2 * FLUSH_EVENTS
    assert all(ticket.done and len(ticket.results) == FLUSH_EVENTS for ticket in waiting)


def test_an_event_that_another_thread_committed_is_not_committed_again(ledger: Ledger) -> None:
    """Who waited for the lock finds its event done."""
    results: list[object] = []
    with ledger.commit_lock:
        thread = threading.Thread(target=lambda: results.append(ledger.append(note("theirs"))))
        thread.start()
        while not ledger.queue:
            pass
        ledger.commit_queue()
    thread.join()
    assert [result.seq for result in results if isinstance(result, Acknowledgement)] == [5]
    assert ledger.head().size == 5


def test_a_ledger_does_not_cross_a_fork(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another process than the one that opened it, every way to write is refused."""
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    for act in (
        lambda: ledger.append(note("x")),
        lambda: ledger.append_many([note("x")]),
        lambda: ledger.freeze([small_dataset(version="2")]),
    ):
        with pytest.raises(StorageError, match=f"was opened in process {here}") as caught:
            act()
        assert caught.value.hint == "open the ledger again after a fork"
    assert ledger.head().size == 4
