"""The spool: where events wait that the ledger could not take.

Invariant: what `keep` returned for is on the disk, whole and in order, as lines that
`ledger append` takes in; no known secret and no credential of a request stands in them (C11).
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from trial_ledger.durable import sync_folder
from trial_ledger.errors import StorageError
from trial_ledger.scrubbing import Scrubber
from trial_ledger.submission import NewText, Submission

__all__ = ["Spool"]

OWNER_ONLY = 0o600


class Spool:
    """One file of JSON lines, made when it is first needed.

    Args:
        folders: where it may lie; the first that takes it is used.
        name: its name.
        scrubber: keeps secrets out of it.
    """

    def __init__(self, folders: Sequence[Path], name: str, scrubber: Scrubber) -> None:
        self.folders = folders
        self.name = name
        self.scrubber = scrubber
        self.path: Path | None = None
        self.count = 0

    def keep(self, submissions: Iterable[Submission]) -> None:
        """Write events behind those that are there; durable on return.

        Raises:
            StorageError: no folder takes them; nothing of them is in the file.
        """
        lines = [self.line(submission) for submission in submissions]
        folders = self.folders if self.path is None else (self.path.parent,)
        failure: OSError | None = None
        for folder in folders:
            path = folder / self.name
            try:
                write_behind(path, b"".join(lines))
            except OSError as error:
                failure = error
                continue
            self.path = path
            self.count += len(lines)
            return
        message = f"neither the ledger nor a spool takes events: {failure}"
        raise StorageError(message, hint="free some space, then run the trial again") from failure

    def line(self, submission: Submission) -> bytes:
        """Return an event as `ledger append` reads it.

        Bytes of a text that are no UTF-8 are replaced: JSON cannot hold them.
        """
        data = {name: self.member(name, value) for name, value in submission.data.items()}
        record = {
            "kind": submission.kind,
            "run": submission.run,
            "trial": submission.trial,
            "data": data,
            "id": submission.id,
            "at": submission.at,
            "actor": submission.actor,
        }
        present = {name: value for name, value in record.items() if value is not None}
        return msgspec.json.encode(present) + b"\n"

    def member(self, name: str, value: object) -> object:
        """Return one field without secrets."""
        if not isinstance(value, NewText):
            return self.scrubber.value(value)
        text = self.scrubber.text(name, value)
        return {"text": text.content.decode("utf-8", "replace"), "media": text.media}


def write_behind(path: Path, content: bytes) -> None:
    """Append bytes to a file of this user, all or none; on return they survive power loss.

    Raises:
        OSError: the file system refuses; the file is as it was.
    """
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
    try:
        before = os.fstat(descriptor).st_size
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)
    if is_new:
        sync_folder(path.parent)
