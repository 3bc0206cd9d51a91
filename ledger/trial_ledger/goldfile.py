"""The gold file: gold records and every text that may show gold, with their salts.

Invariant: nothing in the ledger file reveals what lies here; the ledger holds salted commitments
(C2). The gold file is written and committed before the ledger: a crash between the two leaves a
blob that no event names, which is harmless and which `verify` counts.
"""

import os
from collections.abc import Callable
from pathlib import Path

from trial_ledger.blobs import BlobTable, NewBlob
from trial_ledger.durable import is_there, remove_unfinished
from trial_ledger.errors import StorageError
from trial_ledger.events import BlobRef
from trial_ledger.locking import FileLock
from trial_ledger.schema import GOLD_APPLICATION_ID, check_format, create_gold_schema
from trial_ledger.sqlite import (
    Connection,
    closed_on_error,
    connect_writer,
    open_reader,
    translated,
    translating,
)

__all__ = ["GoldFile", "gold_path"]

PRIVATE_MODE = 0o600
"""Nobody but the owner reads gold."""


def gold_path(ledger: Path) -> Path:
    """Return where a ledger's gold file lies: `trials.ledger` → `trials.ledger.gold`."""
    return ledger.with_name(ledger.name + ".gold")


class GoldFile:
    """One gold file, open for reading or for writing."""

    def __init__(self, path: Path, connection: Connection, *, writable: bool) -> None:
        self.path = path
        self.connection = connection
        self.writable = writable
        self.blobs = BlobTable(connection, path)
        self.open_transaction = False

    @classmethod
    def create(cls, path: Path) -> "GoldFile":
        """Make a new, empty file that only its owner can read.

        Raises:
            StorageError: something of that name exists, or it cannot be made.
        """
        try:
            path.touch(mode=PRIVATE_MODE, exist_ok=False)
        except OSError as error:
            message = f"cannot make the gold file {path}: {error.strerror}"
            raise StorageError(message, hint="choose another folder with --ledger PATH") from error
        try:
            connection = connect_writer(path)
            with closed_on_error(connection), translated(path):
                create_gold_schema(connection)
        except BaseException:
            remove_unfinished(path)
            raise
        return cls(path, connection, writable=True)

    @classmethod
    def open(
        cls, path: Path, lock: FileLock, *, writable: bool, warn: Callable[[str], None]
    ) -> "GoldFile | None":
        """Open a file; None where there is none to read, as for a stranger who checks the ledger.

        Args:
            path: the gold file.
            lock: the lock of its ledger.
            writable: whether blobs will be added.
            warn: told in one clause when a crashed writer's work was rolled back.

        Raises:
            StorageError: not a gold file, or it cannot be opened.
        """
        if not is_there(path, kind=Path.is_file):
            return None
        if not writable and not os.access(path, os.R_OK):
            warn(f"{path} may not be read: gold is left out")
            return None
        if writable:
            connection = connect_writer(
                path, check=lambda found: check_format(found, path, GOLD_APPLICATION_ID)
            )
        else:
            connection = open_reader(path, lock, warn=warn)
            with closed_on_error(connection):
                check_format(connection, path, GOLD_APPLICATION_ID)
        return cls(path, connection, writable=writable)

    @translating
    def begin(self) -> None:
        """Begin a transaction, unless one has begun."""
        if not self.open_transaction:
            self.connection.execute("BEGIN IMMEDIATE")
            self.open_transaction = True
            self.blobs.begin()

    @translating
    def add(self, blob: NewBlob) -> None:
        """Collect one blob, beginning a transaction with the first."""
        self.begin()
        self.blobs.add(blob)

    def flush(self) -> None:
        """Write what was collected into the running transaction."""
        if self.open_transaction:
            self.blobs.flush()

    @translating
    def commit(self) -> None:
        """Make the collected blobs durable, before the events that name them."""
        if self.open_transaction:
            self.blobs.flush()
            self.connection.execute("COMMIT")
            self.open_transaction = False

    @translating
    def rollback(self) -> None:
        """Forget the collected blobs."""
        self.blobs.discard()
        self.open_transaction = False
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def read(self, reference: BlobRef) -> bytes | None:
        """Return the checked bytes of a gold blob; None where it was erased.

        Raises:
            VerificationError: it was never stored, or its bytes are not what the reference says.
        """
        return self.blobs.read(reference)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
