"""The queue of writers: one at a time, in order, and nobody waits for the dead or the impatient."""

import fcntl
import threading
from pathlib import Path

import pytest

from trial_ledger import locking
from trial_ledger.errors import StorageError
from trial_ledger.locking import FileLock


@pytest.mark.parametrize("seconds", [0, 0.05])
def test_a_lock_is_exclusive_and_waits_no_longer_than_told(tmp_path: Path, seconds: float) -> None:
    """The second taker waits until its patience ends, then exits with 7, and may try again."""
    one, other = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    one.acquire()
    expected = rf"is held by another writer since {seconds:g} s"
    with pytest.raises(StorageError, match=expected) as caught:
        other.acquire(wait_seconds=seconds)
    assert caught.value.exit_code == 7
    assert caught.value.hint == "try again when it is done"
    one.release()
    other.acquire()
    with pytest.raises(StorageError):
        one.acquire(wait_seconds=0)
    other.close()
    one.acquire()
    one.close()


def test_a_lock_is_free_when_its_holder_lets_go_meanwhile(tmp_path: Path) -> None:
    """A waiting writer gets its turn as soon as the other is done."""
    one, other = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    one.acquire()
    letting_go = threading.Timer(0.02, one.release)
    letting_go.start()
    other.acquire()
    letting_go.join()
    with pytest.raises(StorageError):
        one.acquire(wait_seconds=0)
    one.close()
    other.close()


def test_a_wait_that_is_interrupted_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever leaves the queue by Ctrl-C does not get the lock later: others do."""
    one, other, third = (FileLock(tmp_path / "a.lock") for _ in range(3))
    one.acquire()
    with monkeypatch.context() as patch:
        patch.setattr(locking.Turn, "comes_within", interrupt)
        with pytest.raises(KeyboardInterrupt):
            other.acquire()
    one.release()
    third.acquire()
    third.close()
    one.close()


def interrupt(*_: object) -> bool:
    """Be a person who does not want to wait."""
    raise KeyboardInterrupt


def test_a_file_system_that_cannot_queue_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that comes while waiting is an error of storage too."""

    def fail(_: int, operation: int) -> None:
        if operation & fcntl.LOCK_NB:
            raise BlockingIOError
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    lock = FileLock(tmp_path / "a.lock")
    with pytest.raises(StorageError, match=r"cannot lock .*a\.lock: No locks available"):
        lock.acquire()
    lock.close()


def test_a_lock_that_was_never_taken_can_be_given_up(tmp_path: Path) -> None:
    """Releasing and closing twice is harmless, and leaves the file."""
    lock = FileLock(tmp_path / "a.lock")
    lock.release()
    lock.close()
    lock.acquire()
    lock.acquire()
    lock.close()
    lock.close()
    assert (tmp_path / "a.lock").exists()


def test_a_lock_that_cannot_be_released_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file system refuses to unlock, closing the handle lets the next writer in."""
    one, other = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    one.acquire()
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refusing)
        one.release()
    other.acquire(wait_seconds=0)
    other.close()


def refusing(*_: object) -> None:
    """Be a file system that fails."""
    raise OSError(5, "Input/output error")


def test_a_lock_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A lock that cannot be made says why and what to do."""
    lock = FileLock(tmp_path / "nowhere" / "a.lock")
    with pytest.raises(StorageError, match=r"cannot make the lock .*: No such file") as caught:
        lock.acquire()
    assert caught.value.hint == "choose a folder you may write with --ledger PATH"


def test_a_file_system_that_cannot_lock_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network file systems have no locks; that is an error of storage, not a crash."""

    def fail(_: int, __: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    lock = FileLock(tmp_path / "a.lock")
    with pytest.raises(StorageError, match=r"cannot lock .*a\.lock: No locks available"):
        lock.acquire()
    lock.close()
