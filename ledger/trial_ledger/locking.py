"""The lock on `<file>.lock` at which writers queue.

Invariant: one writer at a time; who waits keeps his place in the kernel's queue; a writer that dies
or gives up holds nobody back.
"""

import fcntl
import os
import threading
from pathlib import Path

from trial_ledger.errors import StorageError

__all__ = ["LOCK_WAIT_SECONDS", "FileLock"]

LOCK_WAIT_SECONDS = 10.0
"""How long a writer waits for another before it gives up with exit code 7."""


class FileLock:
    """An exclusive lock on `<file>.lock`, taken before any write transaction.

    Writers queue here instead of in SQLite's busy handler, and in the kernel's queue instead of by
    trying again and again: whoever tries while another sleeps gets in before him, and of eight
    writers on a busy disk one waited eight seconds. A crash releases the lock: the kernel drops it
    with the process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor: int | None = None

    def acquire(self, *, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        """Take the lock.

        Raises:
            StorageError: others held it for the whole wait, or the file cannot be made.
        """
        if self.descriptor is None:
            self.descriptor = self.open()
        try:
            is_ours = locked(self.descriptor, wait_seconds)
        except OSError as error:
            message = f"cannot lock {self.path}: {error.strerror}"
            raise StorageError(
                message, hint="put the ledger on a local file system, which can lock files"
            ) from error
        except BaseException:
            self.close()
            raise
        if not is_ours:
            self.close()
            message = f"{self.path} is held by another writer since {wait_seconds:g} s"
            raise StorageError(message, hint="try again when it is done")

    def open(self) -> int:
        """Open the lock's file, and make it where it is missing.

        Raises:
            StorageError: it cannot be made.
        """
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            message = f"cannot make the lock {self.path}: {error.strerror}"
            raise StorageError(
                message, hint="choose a folder you may write with --ledger PATH"
            ) from error

    def release(self) -> None:
        """Let the next writer in; the file stays, since removing it would race."""
        if self.descriptor is None:
            return
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
        except OSError:
            self.close()  # The other way to give it up: it goes with the last handle.

    def close(self) -> None:
        """Give up the lock and its file handle."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def locked(descriptor: int, wait_seconds: float) -> bool:
    """Lock a file; return whether that was done in time.

    Where it was not, the caller closes the descriptor: a place in the queue cannot be given back,
    and when its turn comes, closing the last handle of this open file gives up the lock.

    Raises:
        OSError: the file system cannot lock.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return wait_seconds > 0 and Turn(descriptor).comes_within(wait_seconds)
    return True


class Turn:
    """A place in the kernel's queue for a lock, kept by a thread, so that it can be left."""

    def __init__(self, descriptor: int) -> None:
        # Another handle of the same open file: the lock belongs to the file, and outlives it.
        self.descriptor = os.dup(descriptor)
        self.is_over = threading.Event()
        self.error: OSError | None = None
        threading.Thread(target=self.wait, daemon=True).start()

    def wait(self) -> None:
        """Wait for the lock."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX)
        except OSError as error:
            self.error = error
        self.is_over.set()
        os.close(self.descriptor)

    def comes_within(self, seconds: float) -> bool:
        """Return whether the lock was got in time.

        Raises:
            OSError: the file system cannot lock.
        """
        has_come = self.is_over.wait(seconds)
        if self.error is not None:
            raise self.error
        return has_come
