"""`Ledger`: open a file, append to it, read it, verify it.

Invariant: an acknowledgement is returned only for what is durable; an event that was refused leaves
no trace; nothing that was appended is ever changed.
"""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from trial_ledger import __version__
from trial_ledger.canonical import decode_event
from trial_ledger.documents.dataset_structs import Dataset
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.durable import is_there, remove_unfinished
from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    NotFoundError,
    RuleError,
    StorageError,
    VerificationError,
)
from trial_ledger.goldfile import GoldFile, gold_path
from trial_ledger.pin import HeadPin
from trial_ledger.recordable import Recordable
from trial_ledger.sqlite import closed_on_error
from trial_ledger.store import FLUSH_EVENTS, Store
from trial_ledger.tools import Tools, system_tools
from trial_ledger.view import LedgerView

if TYPE_CHECKING:
    from trial_ledger.batch import Entry, Faults
    from trial_ledger.building import Acknowledgement
    from trial_ledger.intake import Draft
    from trial_ledger.submission import Submission
    from trial_ledger.verification import Verification
    from trial_ledger.writer import Writer

__all__ = ["Ledger"]

Document = Dataset | Rubric | Manifest

ALGORITHMS = {
    "document": "RFC 8785",
    "event_hash": "BLAKE3",
    "tree": "RFC 6962 SHA-256",
    "plain_blob": "BLAKE3",
    "sealed_blob": "keyed BLAKE3",
}


class Ticket:
    """One caller's events on their way into a group commit."""

    def __init__(self, drafts: "list[Draft]") -> None:
        self.drafts = drafts
        self.results: list[Acknowledgement | LedgerError] = []
        self.failure: BaseException | None = None
        self.done = False


class Ledger(Recordable, LedgerView):
    """One ledger file and its gold file.

    `append` MUST be called before the effect that an event announces (a call's start before the
    request leaves). A caller MUST NOT take an exception as proof that nothing was written: after a
    `StorageError` the fate of the event is unknown until it is appended again under the same id,
    which returns the first acknowledgement or appends it, and never twice.

    Threads may share one ledger: whoever finds the file free commits for all who wait. Processes
    queue on the file lock. An open ledger must not cross a fork.
    """

    def __init__(self, store: Store, gold: GoldFile | None, tools: Tools, ledger_id: str) -> None:
        super().__init__(store, gold, ledger_id)
        self.tools = tools
        pin = None
        if tools.state_directory is not None:
            pin = HeadPin(tools.state_directory, ledger_id)
        self.pin = pin
        self.commit_lock = threading.Lock()
        self.queue: deque[Ticket] = deque()
        self.process = os.getpid()

    @cached_property
    def writer(self) -> "Writer":
        """The write side, made when it is first needed: readers do without it and its imports."""
        from trial_ledger.writer import Writer  # noqa: PLC0415 - slow to import, readers need none

        return Writer(self.store, self.gold, self.tools, self.id, self.pin)

    @classmethod
    def create(cls, path: Path, *, tools: Tools | None = None) -> "Ledger":
        """Make a new ledger and its gold file, with `ledger.opened` as the first event.

        Raises:
            StorageError: something of that name exists, or it cannot be made.
        """
        from trial_ledger.building import opening  # noqa: PLC0415 - readers need none

        tools = tools or system_tools()
        gold_file = gold_path(path)
        for existing in (path, gold_file):
            if is_there(existing):
                message = f"{existing} exists"
                raise StorageError(message, hint="choose another name with --ledger PATH")
        data: dict[str, object] = {
            "format": 1,
            "algorithms": ALGORITHMS,
            "created_by": f"trial-ledger {__version__}",
        }
        with contextlib.ExitStack() as undo:
            store = Store.create(path)
            undo.callback(remove_unfinished, path)
            undo.callback(store.close)
            gold = GoldFile.create(gold_file)
            undo.callback(remove_unfinished, gold_file)
            undo.callback(gold.close)
            ledger = cls(store, gold, tools, tools.random_bytes(16).hex())
            signer = tools.signer()
            if signer is not None:
                data["public_keys"] = [str(ledger.writer.head_signer.public_key(signer))]
            ledger.append(opening(data))
            undo.pop_all()
        return ledger

    @classmethod
    def open(cls, path: Path, *, write: bool = False, tools: Tools | None = None) -> "Ledger":
        """Open a ledger for reading, or for appending too.

        Raises:
            NotFoundError: there is no such file.
            StorageError: it is not a ledger, is busy, or cannot be written.
            UnsupportedFormatError: a newer version wrote it.
            VerificationError: it has no first event that can be read.
        """
        tools = tools or system_tools()
        store = Store.writer(path) if write else Store.reader(path, warn=tools.warn)
        with closed_on_error(store):
            ledger_id = id_of(store)
            gold = GoldFile.open(gold_path(path), store.lock, writable=write, warn=tools.warn)
        return cls(store, gold, tools, ledger_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close both files."""
        self.store.close()
        if self.pin is not None:
            self.pin.close()
        if self.gold is not None:
            self.gold.close()

    def append(self, submission: "Submission") -> "Acknowledgement":
        """Append one event and return once it is durable.

        Raises:
            InvalidInputError: its form is wrong; nothing was written.
            RuleError: a guard refuses it; nothing was written.
            NotFoundError: its run was never opened; nothing was written.
            StorageError: the file is busy or failing; the event's fate may be unknown.
        """
        from trial_ledger.batch import Entry  # noqa: PLC0415 - readers need none

        result = self.append_group([Entry(submission=submission)])[0]
        if isinstance(result, LedgerError):
            raise result
        return result

    def append_group(self, entries: "Iterable[Entry]") -> "list[Acknowledgement | LedgerError]":
        """Append each event that is acceptable, in one commit; return one result per entry.

        Raises:
            StorageError: the file is busy or failing; the fate of the events may be unknown.
        """
        from trial_ledger.batch import drafted  # noqa: PLC0415 - readers need none

        results: list[Acknowledgement | LedgerError] = []
        drafts: list[Draft] = []
        for entry in entries:
            made = drafted(entry)
            if isinstance(made, LedgerError):
                results.append(made)
            else:
                drafts.append(made)
                results.append(PENDING)
        acknowledged = iter(self.commit(drafts) if drafts else [])
        return [next(acknowledged) if result is PENDING else result for result in results]

    def commit(self, drafts: "list[Draft]") -> "list[Acknowledgement | LedgerError]":
        """Queue drafts and commit the queue, unless another thread does it first."""
        self.require_own_process()
        ticket = Ticket(drafts)
        self.queue.append(ticket)
        with self.commit_lock:
            while not ticket.done:
                self.commit_queue()
        if ticket.failure is not None:
            raise ticket.failure
        return ticket.results

    def commit_queue(self) -> None:
        """Commit what is queued, up to one group, in one transaction."""
        group: list[Ticket] = []
        count = 0
        while self.queue and (not group or count + len(self.queue[0].drafts) <= FLUSH_EVENTS):
            ticket = self.queue.popleft()
            group.append(ticket)
            count += len(ticket.drafts)
        try:
            self.writer.begin()
            try:
                for ticket in group:
                    ticket.results = [self.prepared(item) for item in ticket.drafts]
                self.writer.commit()
            except BaseException:
                self.writer.rollback()
                raise
        except BaseException as error:  # noqa: BLE001 - given to every caller of the group
            for ticket in group:
                ticket.failure = error
        for ticket in group:
            ticket.done = True

    def prepared(self, item: "Draft") -> "Acknowledgement | LedgerError":
        """Return the acknowledgement of one event, or why it was refused."""
        try:
            return self.writer.prepare(item)
        except (InvalidInputError, RuleError, NotFoundError) as error:
            return error

    def append_many(
        self, submissions: "Iterable[Submission]", *, what: str = "input"
    ) -> "list[Acknowledgement]":
        """Append all events or none.

        Raises:
            InvalidInputError: some have a wrong form; every fault is reported.
            RefusedError: some are refused by guards; every refusal is reported.
            StorageError: the file is busy or failing.
        """
        from trial_ledger.batch import Entry  # noqa: PLC0415 - readers need none

        entries = (
            Entry(submission=submission, line=number)
            for number, submission in enumerate(submissions, 1)
        )
        return self.append_all(entries, what=what)

    def append_all(
        self,
        entries: "Iterable[Entry]",
        *,
        what: str = "input",
        dry_run: bool = False,
        documents: Sequence[Document] = (),
    ) -> "list[Acknowledgement]":
        """Append all events of an input or none, reporting everything that is wrong with it.

        Where an event is refused, later ones of the same trial are left unchecked: their faults
        would only echo the first.

        Args:
            entries: the lines of the input.
            what: the input's name for the error.
            dry_run: check everything, then write nothing.
            documents: frozen first, in the same transaction; theirs are the first results.

        Raises:
            InvalidInputError: some have a wrong form.
            RefusedError: all have the right form and guards refuse some.
            RuleError: a document may not be frozen.
            StorageError: the file is busy or failing.
        """
        from trial_ledger.batch import Faults  # noqa: PLC0415 - readers need none

        self.require_own_process()
        acknowledgements: list[Acknowledgement] = []
        faults = Faults()
        with self.commit_lock:
            self.writer.begin()
            try:
                if documents:
                    acknowledgements += self.frozen(documents)
                for entry in entries:
                    result = self.taken(entry, faults)
                    if result is not None:
                        acknowledgements.append(result)
                if faults.problems or dry_run:
                    self.writer.rollback()
                else:
                    self.writer.commit()
            except BaseException:
                self.writer.rollback()
                raise
        faults.stop(what)
        return acknowledgements

    def frozen(self, documents: Iterable[Document]) -> "list[Acknowledgement]":
        """Put documents into the transaction that has begun."""
        from trial_ledger.freezing import Freezer  # noqa: PLC0415 - slow to import, seldom needed

        freezer = Freezer(self.writer)
        return [freezer.document(document) for document in documents]

    def taken(self, entry: "Entry", faults: "Faults") -> "Acknowledgement | None":
        """Return the acknowledgement of one entry of an input; None where it has none."""
        from trial_ledger.batch import drafted  # noqa: PLC0415 - readers need none

        made = drafted(entry)
        if not isinstance(made, LedgerError):
            if faults.taints(made):
                return None
            result = self.prepared(made)
            if not isinstance(result, LedgerError):
                return result
            made = result
        faults.taint(entry.scope)
        faults.add(made, entry)
        return None

    def register(self, dataset: Dataset) -> "Acknowledgement":
        """Register a dataset, or find it registered.

        Raises:
            RuleError: its name and version mean something else.
            StorageError: there is no gold file, or the file is failing.
        """
        return self.freeze([dataset])[0]

    def freeze(self, documents: Iterable[Document]) -> "list[Acknowledgement]":
        """Register datasets and freeze rubrics and manifests, all or none, in the order given.

        Raises:
            RuleError: a name is taken by another document, or a reference is missing.
            StorageError: there is no gold file, or the file is failing.
        """
        return self.append_all((), documents=list(documents))

    def verify(self, *, fast: bool = False) -> "Verification":
        """Check everything that can be checked without a signed head.

        Args:
            fast: leave out the bytes of blobs and SQLite's own check.
        """
        from trial_ledger.verification import verify  # noqa: PLC0415 - it checks a Ledger

        return verify(self, fast=fast)

    def require_own_process(self) -> None:
        """Refuse to use a connection that came through a fork (sqlite.org/howtocorrupt.html, 2.6).

        Raises:
            StorageError: this is another process than the one that opened the ledger.
        """
        if os.getpid() != self.process:
            message = f"{self.store.path} was opened in process {self.process}"
            raise StorageError(message, hint="open the ledger again after a fork")


PENDING = LedgerError("not committed yet")
"""Stands for a result that the commit will give."""


def id_of(store: Store) -> str:
    """Return the id of a ledger, which its first event names.

    Raises:
        VerificationError: there is no first event that can be read.
        UnsupportedFormatError: a newer version wrote it.
    """
    first = store.document(1)
    if first is not None:
        try:
            return decode_event(first).ledger
        except VerificationError as error:
            message = f"{store.path}: seq 1: {error.message}"
            raise VerificationError(message, hint="put back a copy of the file") from error
    if store.size():
        message = f"{store.path}: seq 1 is missing, seq {store.size()} is there"
        raise VerificationError(message, hint="put back a copy of the file")
    message = f"{store.path} has no events: its creation was interrupted"
    raise VerificationError(message, hint="remove it and run ledger init again")
