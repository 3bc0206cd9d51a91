"""`Ledger`: open a file, append to it, read it, verify it.

Invariant: an acknowledgement is returned only for what is durable; an event that was refused leaves
no trace; nothing that was appended is ever changed.
"""

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from trial_ledger import __version__
from trial_ledger.canonical import decode_event, event_hash
from trial_ledger.documents.dataset import Dataset
from trial_ledger.documents.manifest import Manifest
from trial_ledger.documents.rubric import Rubric
from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    NotFoundError,
    Problem,
    RefusedError,
    RuleError,
    StorageError,
    VerificationError,
)
from trial_ledger.events import BlobRef, Event
from trial_ledger.freezing import ACTOR, Freezer
from trial_ledger.goldfile import GoldFile, gold_path
from trial_ledger.intake import Draft, draft
from trial_ledger.merkle import Frontier
from trial_ledger.pin import HeadPin
from trial_ledger.registry import Registry
from trial_ledger.store import Store
from trial_ledger.submission import Submission
from trial_ledger.tools import Tools, system_tools
from trial_ledger.writer import FLUSH_EVENTS, Acknowledgement, Writer

__all__ = ["Entry", "Head", "Ledger", "Stored"]

ALGORITHMS = {
    "document": "RFC 8785",
    "event_hash": "BLAKE3",
    "tree": "RFC 6962 SHA-256",
    "plain_blob": "BLAKE3",
    "sealed_blob": "keyed BLAKE3",
}


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """An event as it stands in the log."""

    event: Event
    """The event, lifted to the newest version of its kind."""
    hash: str
    """BLAKE3 of the stored document."""
    document: bytes
    """The stored bytes."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The end of the log."""

    ledger: str
    """Id of the ledger."""
    size: int
    """Number of events."""
    root: str
    """Root of the tree over them."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an input: a submission, or what is wrong with it."""

    submission: Submission | LedgerError
    """The submission, or why it is none."""
    source: str | None = None
    """File name for faults."""
    line: int | None = None
    """Line for faults, from 1."""


class Ticket:
    """One caller's events on their way into a group commit."""

    def __init__(self, drafts: list[Draft]) -> None:
        self.drafts = drafts
        self.results: list[Acknowledgement | LedgerError] = []
        self.failure: BaseException | None = None
        self.done = False


class Ledger:
    """One ledger file and its gold file.

    `append` MUST be called before the effect that an event announces (a call's start before the
    request leaves). A caller MUST NOT take an exception as proof that nothing was written: after a
    `StorageError` the fate of the event is unknown until it is appended again under the same id,
    which returns the first acknowledgement or appends it, and never twice.

    Threads may share one ledger: whoever finds the file free commits for all who wait. Processes
    queue on the file lock. An open ledger must not cross a fork.
    """

    def __init__(self, store: Store, gold: GoldFile | None, tools: Tools, ledger_id: str) -> None:
        self.store = store
        self.gold = gold
        self.tools = tools
        self.id = ledger_id
        pin = None
        if tools.state_directory is not None:
            pin = HeadPin(tools.state_directory, ledger_id)
        self.pin = pin
        self.writer = Writer(store, gold, tools, ledger_id, pin)
        self.commit_lock = threading.Lock()
        self.queue: deque[Ticket] = deque()
        self.process = os.getpid()

    @classmethod
    def create(cls, path: Path, *, tools: Tools | None = None) -> "Ledger":
        """Make a new ledger and its gold file, with `ledger.opened` as the first event.

        Raises:
            StorageError: something of that name exists, or it cannot be made.
        """
        tools = tools or system_tools()
        gold_file = gold_path(path)
        for existing in (path, gold_file):
            if existing.exists():
                message = f"{existing} exists"
                raise StorageError(message, hint="choose another name with --ledger PATH")
        store = Store.create(path)
        gold = GoldFile.create(gold_file)
        ledger = cls(store, gold, tools, tools.random_bytes(16).hex())
        data = {
            "format": 1,
            "algorithms": ALGORITHMS,
            "created_by": f"trial-ledger {__version__}",
        }
        ledger.append(Submission(kind="ledger.opened", data=data, actor=ACTOR))
        return ledger

    @classmethod
    def open(cls, path: Path, *, write: bool = False, tools: Tools | None = None) -> "Ledger":
        """Open a ledger for reading, or for appending too.

        Raises:
            NotFoundError: there is no such file.
            StorageError: it is not a ledger, is busy, or cannot be written.
            UnsupportedFormatError: a newer version wrote it.
            VerificationError: it has no first event.
        """
        tools = tools or system_tools()
        store = Store.writer(path) if write else Store.reader(path, warn=tools.warn)
        gold = GoldFile.open(gold_path(path), writable=write)
        first = store.document(1)
        if first is None:
            message = f"{path} has no events: its creation was interrupted"
            raise VerificationError(message, hint="remove it and run ledger init again")
        return cls(store, gold, tools, decode_event(first).ledger)

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
        if self.gold is not None:
            self.gold.close()

    def append(self, submission: Submission) -> Acknowledgement:
        """Append one event and return once it is durable.

        Raises:
            InvalidInputError: its form is wrong; nothing was written.
            RuleError: a guard refuses it; nothing was written.
            NotFoundError: its run was never opened; nothing was written.
            StorageError: the file is busy or failing; the event's fate may be unknown.
        """
        result = self.append_group([Entry(submission=submission)])[0]
        if isinstance(result, LedgerError):
            raise result
        return result

    def append_group(self, entries: Iterable[Entry]) -> list[Acknowledgement | LedgerError]:
        """Append each event that is acceptable, in one commit; return one result per entry.

        Raises:
            StorageError: the file is busy or failing; the fate of the events may be unknown.
        """
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

    def commit(self, drafts: list[Draft]) -> list[Acknowledgement | LedgerError]:
        """Queue drafts and commit the queue, unless another thread does it first."""
        self.require_own_process()
        ticket = Ticket(drafts)
        self.queue.append(ticket)
        with self.commit_lock:
            if not ticket.done:
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

    def prepared(self, item: Draft) -> Acknowledgement | LedgerError:
        """Return the acknowledgement of one event, or why it was refused."""
        try:
            return self.writer.prepare(item)
        except (InvalidInputError, RuleError, NotFoundError) as error:
            return error

    def append_many(
        self, submissions: Iterable[Submission], *, what: str = "input"
    ) -> list[Acknowledgement]:
        """Append all events or none.

        Raises:
            InvalidInputError: some have a wrong form; every fault is reported.
            RefusedError: some are refused by guards; every refusal is reported.
            StorageError: the file is busy or failing.
        """
        entries = (
            Entry(submission=submission, line=number)
            for number, submission in enumerate(submissions, 1)
        )
        return self.append_all(entries, what=what)

    def append_all(
        self, entries: Iterable[Entry], *, what: str = "input", dry_run: bool = False
    ) -> list[Acknowledgement]:
        """Append all events of an input or none, reporting everything that is wrong with it.

        Where an event is refused, later ones of the same trial are left unchecked: their faults
        would only echo the first.

        Args:
            entries: the lines of the input.
            what: the input's name for the error.
            dry_run: check everything, then write nothing.

        Raises:
            InvalidInputError: some have a wrong form.
            RefusedError: all have the right form and guards refuse some.
            StorageError: the file is busy or failing.
        """
        self.require_own_process()
        acknowledgements: list[Acknowledgement] = []
        faults = Faults()
        with self.commit_lock:
            self.writer.begin()
            try:
                for entry in entries:
                    made = drafted(entry)
                    if isinstance(made, Draft):
                        if faults.taints(made):
                            continue
                        result = self.prepared(made)
                        if not isinstance(result, LedgerError):
                            acknowledgements.append(result)
                            continue
                        faults.taint(made)
                        made = result
                    faults.add(made, entry)
                if faults.problems or dry_run:
                    self.writer.rollback()
                else:
                    self.writer.commit()
            except BaseException:
                self.writer.rollback()
                raise
        faults.stop(what)
        return acknowledgements

    def register(self, dataset: Dataset) -> Acknowledgement:
        """Register a dataset, or find it registered.

        Raises:
            RuleError: its name and version mean something else.
            StorageError: there is no gold file, or the file is failing.
        """
        return self.freeze([dataset])[0]

    def freeze(self, documents: Iterable[Dataset | Rubric | Manifest]) -> list[Acknowledgement]:
        """Register datasets and freeze rubrics and manifests, all or none, in the order given.

        Raises:
            RuleError: a name is taken by another document, or a reference is missing.
            StorageError: there is no gold file, or the file is failing.
        """
        self.require_own_process()
        with self.commit_lock:
            self.writer.begin()
            try:
                freezer = Freezer(self.writer)
                results = [freeze_one(freezer, document) for document in documents]
                self.writer.commit()
            except BaseException:
                self.writer.rollback()
                raise
        return results

    def require_own_process(self) -> None:
        """Refuse to use a connection that came through a fork (sqlite.org/howtocorrupt.html, 2.6).

        Raises:
            StorageError: this is another process than the one that opened the ledger.
        """
        if os.getpid() != self.process:
            message = f"{self.store.path} was opened in process {self.process}"
            raise StorageError(message, hint="open the ledger again after a fork")

    def events(
        self, *, run: str | None = None, after: int = 0, upto: int | None = None
    ) -> Iterator[Stored]:
        """Yield events in order; each chunk is read in a short transaction of its own.

        Args:
            run: only events of this run; None for all.
            after: only events after this seq.
            upto: only events up to this seq; None for all that are there now.
        """
        if run is None:
            documents: Iterable[bytes] = (
                row.document for row in self.store.rows(after=after, upto=upto)
            )
        else:
            documents = self.store.run_documents(run, upto=upto)
        for document in documents:
            stored = stored_event(document)
            if stored.event.seq > after:
                yield stored

    def read(self, seq: int) -> Stored:
        """Return one event.

        Raises:
            NotFoundError: the log has no such seq.
        """
        document = self.store.document(seq)
        if document is None:
            message = f"no event {seq}: the log has {self.store.size()}"
            raise NotFoundError(message, hint="ledger log")
        return stored_event(document)

    def blob(self, reference: BlobRef) -> bytes | None:
        """Return the checked bytes of a text; None where it was erased.

        Raises:
            NotFoundError: it is gold and the gold file is not here.
            VerificationError: its bytes are not what was written.
        """
        if reference.class_ != "gold":
            return self.store.blobs.read(reference)
        if self.gold is None:
            message = f"blob {reference.blob} is gold, and the gold file is not here"
            raise NotFoundError(message, hint="put the .gold file beside the ledger")
        return self.gold.read(reference)

    def head(self) -> Head:
        """Return the end of the log."""
        size = self.store.size()
        root = Frontier.load(size, self.store.node).root()
        return Head(ledger=self.id, size=size, root=root.hex())

    def registry(self) -> Registry:
        """Return the documents of the ledger as they are now."""
        registry = Registry(self.document_bytes)
        for document in self.store.scope(None, None):
            registry.apply(decode_event(document))
        return registry

    def document_bytes(self, reference: BlobRef) -> bytes:
        """Return the bytes of a frozen document.

        Raises:
            VerificationError: it was erased or is not what was written.
        """
        content = self.blob(reference)
        if content is None:
            message = f"document {reference.blob} was erased"
            raise VerificationError(message)
        return content


PENDING = LedgerError("not committed yet")
"""Stands for a result that the commit will give."""


class Faults:
    """What is wrong with an input, and which trials later faults would only echo."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.only_rules = True
        self.tainted: set[tuple[str | None, str]] = set()
        self.unchecked = 0

    def taint(self, item: Draft) -> None:
        """Remember that an event of this trial, or of this run's opening, was refused."""
        self.tainted.add((item.run, "" if item.trial is None else str(item.trial)))
        if item.kind == "run.opened":
            self.tainted.add((item.run, "*"))

    def taints(self, item: Draft) -> bool:
        """Return whether an earlier refusal makes the check of this event meaningless."""
        scope = "" if item.trial is None else str(item.trial)
        found = (item.run, "*") in self.tainted or (
            item.trial is not None and (item.run, scope) in self.tainted
        )
        self.unchecked += found
        return found

    def add(self, error: LedgerError, entry: Entry) -> None:
        """Add the faults of one entry, with its place."""
        if isinstance(error, InvalidInputError | RefusedError):
            found = list(error.problems)
            self.only_rules = self.only_rules and isinstance(error, RefusedError)
        elif isinstance(error, RuleError):
            found = [error.problem()]
        else:
            found = [Problem(message=error.message)]
        self.problems += [
            msgspec.structs.replace(
                problem, source=problem.source or entry.source, line=problem.line or entry.line
            )
            for problem in found
        ]

    def stop(self, what: str) -> None:
        """Raise everything that was found, if anything was.

        Raises:
            InvalidInputError: some entry has a wrong form.
            RefusedError: all have the right form.
        """
        if not self.problems:
            return
        hint = None
        if self.unchecked:
            hint = f"{self.unchecked} later events of the same trials were not checked"
        if self.only_rules:
            raise RefusedError(self.problems, what=what, hint=hint)
        raise InvalidInputError(self.problems, what=what, hint=hint)


def drafted(entry: Entry) -> Draft | LedgerError:
    """Return the draft of an entry, or what is wrong with its form."""
    if isinstance(entry.submission, LedgerError):
        return entry.submission
    try:
        return draft(entry.submission)
    except InvalidInputError as error:
        return error


def freeze_one(freezer: Freezer, document: Dataset | Rubric | Manifest) -> Acknowledgement:
    """Put one document into the ledger."""
    if isinstance(document, Dataset):
        return freezer.dataset(document)
    if isinstance(document, Rubric):
        return freezer.rubric(document)
    return freezer.manifest(document)


def stored_event(document: bytes) -> Stored:
    """Return the event of a stored document, with its hash."""
    return Stored(event=decode_event(document), hash=event_hash(document), document=document)
