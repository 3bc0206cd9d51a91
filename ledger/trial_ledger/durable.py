"""What is asked of the file system beside SQLite: files whole after a crash, plain errors.

Invariant: what `write_whole` returned for is on the disk under its name, whole; a crash before
that leaves the old file or none, and perhaps a hidden one that nobody reads.
"""

import os
from collections.abc import Callable
from pathlib import Path

from trial_ledger.errors import StorageError

__all__ = ["is_there", "remove_unfinished", "sync_folder", "write_whole"]


def is_there(path: Path, *, kind: Callable[[Path], bool] = Path.exists) -> bool:
    """Return whether there is something of a name.

    Args:
        path: the name.
        kind: what it must be.

    Raises:
        StorageError: its folder may not be looked into, or the disk fails.
    """
    try:
        return kind(path)
    except OSError as error:
        message = f"cannot look for {path}: {error.strerror}"
        raise StorageError(message, hint="check the rights of its folder, and the disk") from error


def remove_unfinished(path: Path) -> None:
    """Remove a file whose making failed, if it is there.

    Raises:
        StorageError: it cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        message = f"{path} was not finished, and cannot be removed: {error.strerror}"
        raise StorageError(message, hint="remove it, then try again") from error


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Make or replace a file; on return it survives power loss, whole.

    Written without a sync, a file can be there after power loss with none of its content.

    Args:
        path: its name, in a folder that exists.
        content: all of it.
        mode: who may use it, less what the umask takes away.

    Raises:
        OSError: the file system refuses; there is the old file, or none.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive power loss.

    Raises:
        OSError: the file system refuses.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
