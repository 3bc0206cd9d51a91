"""Copies a ledger and its gold file, and verifies the copy before it bears its name.

Invariant: a file of the copy's name is a whole copy that verified: it is written under a hidden
name, checked, made durable and only then renamed; what has the name already is never overwritten.
A crash leaves a hidden file that nobody reads.

Writers wait while the pages are copied, so that both files are of one moment; they do not wait for
the check.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.durable import is_there, remove_unfinished, sync_folder, write_whole
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.goldfile import PRIVATE_MODE, gold_path
from trial_ledger.heads import parse_note
from trial_ledger.sqlite import Connection, connect_writer, translated
from trial_ledger.verification import Verification, verify
from trial_ledger.view import Head

__all__ = ["Backup", "backup", "note_path"]


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """A copy that verified."""

    head: Head
    """The end of the copied log."""
    files: dict[str, int]
    """Name and length of every file of the copy."""
    gold: str
    """`copied`, `left out` as asked for, or `absent` beside the ledger."""
    signed: int | None
    """Size of the newest signed head, whose note lies beside the copy; None where nobody signed."""
    redacted: int
    """Blobs that were redacted by then."""


def note_path(ledger: Path) -> Path:
    """Return where the newest note of a copied ledger lies: `copy.ledger` → `copy.ledger.note`."""
    return ledger.with_name(ledger.name + ".note")


def backup(ledger: Ledger, target: Path, *, with_gold: bool = True) -> Backup:
    """Copy a ledger, its gold file and its newest signed head, and verify the copy.

    Args:
        ledger: an open ledger; others may go on writing.
        target: the name of the copy, in a folder that exists.
        with_gold: whether the gold file is copied too.

    Raises:
        StorageError: something of a name of the copy exists, or there is no room, or the ledger is
            busy.
        VerificationError: the copy is not what was written, since the ledger is not.
    """
    gold = ledger.gold if with_gold else None
    names = [target, gold_path(target), note_path(target)]
    refuse_existing(names)
    with unfinished(target) as partial:
        ledger.store.lock.acquire()
        try:
            copy(ledger.store.connection, partial)
            if gold is not None:
                gold_path(partial).touch(mode=PRIVATE_MODE)
                copy(gold.connection, gold_path(partial))
            head = ledger.head()
        finally:
            ledger.store.lock.release()
        found, note = checked(ledger, partial, head)
        refuse_existing(names)
        try:
            if gold is not None:
                gold_path(partial).rename(gold_path(target))
            if note is not None:
                write_whole(note_path(target), note.encode())
            partial.rename(target)
            sync_folder(target.parent)
        except OSError as error:
            message = f"cannot put the copy at {target}: {error.strerror}"
            raise StorageError(message, hint="check the rights of the folder") from error
    state = "absent" if ledger.gold is None else "copied" if with_gold else "left out"
    return Backup(
        head=head,
        files={path.name: path.stat().st_size for path in names if path.is_file()},
        gold=state,
        signed=None if note is None else parse_note(note)[1].size,
        redacted=found.redacted,
    )


def refuse_existing(names: list[Path]) -> None:
    """Refuse to overwrite anything.

    Raises:
        StorageError: something has one of the names, or the folder may not be looked into.
    """
    for path in names:
        if is_there(path):
            message = f"{path} exists"
            raise StorageError(message, hint="give the copy another name")


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """Give a hidden name beside the copy, and remove whatever still bears it in the end."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield partial
    finally:
        for path in (partial, gold_path(partial)):
            remove_unfinished(path)
            remove_unfinished(path.with_name(path.name + "-journal"))


def copy(source: Connection, target: Path) -> None:
    """Copy a database page by page into a new file that survives power loss.

    Raises:
        StorageError: the folder cannot be written or has no room.
    """
    connection = connect_writer(target, create=True)
    try:
        with translated(target):
            source.backup(connection)
    finally:
        connection.close()


def checked(ledger: Ledger, partial: Path, head: Head) -> tuple[Verification, str | None]:
    """Verify a copy; return what was found, and the note of its newest signed head.

    Raises:
        VerificationError: it is not what was written, or of another end than the ledger had.
    """
    elsewhere = msgspec.structs.replace(ledger.tools, state_directory=None)
    with Ledger.open(partial, tools=elsewhere) as copied:
        found = verify(copied)
        note = copied.store.heads.newest()
    if not found.is_intact:
        message = f"the copy does not verify: {found.findings[0]}"
        raise VerificationError(message, hint="ledger verify lists what is wrong with the ledger")
    if (found.size, found.root) != (head.size, head.root):
        message = f"the copy has {found.size} events, root {found.root}, not those of the ledger"
        raise VerificationError(message, hint="ledger verify")
    return found, note
