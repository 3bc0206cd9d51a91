"""`AsyncLedger`: a ledger for anyio code, on asyncio and on trio.

Invariant: an acknowledgement is returned only for what is durable, and after a cancelled append the
event was either not written, and never will be, or its acknowledgement can be had by its id.
"""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Self, TypeVar, cast

import msgspec
from anyio import CapacityLimiter
from anyio.lowlevel import checkpoint_if_cancelled, current_token

from trial_ledger.async_turns import Ticket, Turns, to_its_end
from trial_ledger.batch import Entry, drafted
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.canonical import decode_event, event_hash
from trial_ledger.documents.dataset_structs import Dataset
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.errors import InvalidInputError, LedgerError
from trial_ledger.events import BlobRef
from trial_ledger.intake import Draft
from trial_ledger.store import READ_CHUNK
from trial_ledger.submission import Submission
from trial_ledger.tools import Tools
from trial_ledger.verification import Verification
from trial_ledger.view import Head, Stored

__all__ = ["AsyncLedger"]

WAITING = 1024
"""Appends that may wait for a commit unless another number is given; more wait to be accepted."""

Result = TypeVar("Result")


class AsyncLedger:
    """One ledger file in one event loop; its methods are those of `Ledger`, to be awaited.

    `append` MUST be awaited before the effect that an event announces. Appends of one task are in
    its order. At most so many wait for a commit as `open` was told; further ones wait to be
    accepted.

    When a task is cancelled in an append, the append is withdrawn and never written, unless a
    commit has taken it: then the task waits, shielded, until that commit has ended; only then is
    the cancellation raised. `fate` tells which it was. A commit ends within the 10 seconds that it
    waits for the file lock, and the time that the disk takes.
    """

    def __init__(self, ledger: Ledger, waiting: int) -> None:
        self.ledger = ledger
        self.reader: Ledger | None = None
        self.loop = current_token()
        self.reading = CapacityLimiter(1)
        self.turns = Turns(ledger, waiting)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, path: Path, *, tools: Tools | None = None, waiting: int = WAITING
    ) -> AsyncIterator[Self]:
        """Open an existing ledger for appending and reading, as a context.

        Leaving the context commits everything that was accepted and not withdrawn, also when it is
        left by an error or a cancellation; that takes at most one commit for every 256 events that
        wait, and one more.

        Args:
            path: the ledger file.
            tools: what to take from the world.
            waiting: how many appends may wait for a commit.

        Raises:
            NotFoundError: there is no such file.
            StorageError: it is not a ledger, is busy, or cannot be written.
            UnsupportedFormatError: a newer version wrote it.
            VerificationError: it has no first event that can be read.
            InvalidInputError: nothing may wait, so nothing could be appended.
        """
        if waiting < 1:
            raise InvalidInputError.single(
                "not a number of appends", what="waiting", found=str(waiting), expected="at least 1"
            )
        opening = await to_its_end(
            partial(Ledger.open, path, write=True, tools=tools), CapacityLimiter(1)
        )
        if opening.cancelled is not None and opening.result is not None:
            opening.result.close()
        found = cls(opening.outcome(), waiting)
        try:
            yield found
        finally:
            await found.close()

    def new_id(self) -> str:
        """Return an id for an event: 32 hex digits, by which its fate can be asked."""
        return self.ledger.tools.random_bytes(16).hex()

    async def append(self, submission: Submission) -> Acknowledgement:
        """Append one event and return once it is durable.

        Raises:
            InvalidInputError: its form is wrong; nothing was written.
            RuleError: a guard refuses it; nothing was written.
            NotFoundError: its run was never opened; nothing was written.
            StorageError: the file is busy or failing; `fate` tells what became of the event.
            LedgerError: the ledger is closed, or of another event loop; nothing was written.
        """
        result = (await self.append_group([Entry(submission=submission)]))[0]
        if isinstance(result, LedgerError):
            raise result
        return result

    async def append_group(self, entries: Iterable[Entry]) -> list[Acknowledgement | LedgerError]:
        """Append each event that is acceptable, in one commit; return one result per entry.

        Raises:
            StorageError: the file is busy or failing; `fate` tells what became of an event.
            LedgerError: the ledger is closed, or of another event loop; nothing was written.
        """
        made = [drafted(self.identified(entry)) for entry in entries]
        drafts = [draft for draft in made if isinstance(draft, Draft)]
        answers: list[Acknowledgement | LedgerError] = []
        if drafts:
            answers = cast(
                "list[Acknowledgement | LedgerError]", await self.settled(Ticket(drafts=drafts))
            )
        remaining = iter(answers)
        return [next(remaining) if isinstance(draft, Draft) else draft for draft in made]

    def identified(self, entry: Entry) -> Entry:
        """Return an entry whose submission has an id, so that its fate can be asked."""
        submission = entry.submission
        if not isinstance(submission, Submission) or submission.id is not None:
            return entry
        named = msgspec.structs.replace(submission, id=self.new_id())
        return msgspec.structs.replace(entry, submission=named)

    async def append_many(
        self, submissions: Iterable[Submission], *, what: str = "input"
    ) -> list[Acknowledgement]:
        """Append all events or none, as `Ledger.append_many`, in a commit of their own.

        Raises:
            InvalidInputError: some have a wrong form; every fault is reported.
            RefusedError: some are refused by guards; every refusal is reported.
            StorageError: the file is busy or failing.
            LedgerError: the ledger is closed, or of another event loop; nothing was written.
        """
        items = list(submissions)
        return await self.alone(lambda ledger: ledger.append_many(items, what=what))

    async def append_all(
        self, entries: Iterable[Entry], *, what: str = "input", dry_run: bool = False
    ) -> list[Acknowledgement]:
        """Append all events of an input or none, as `Ledger.append_all`, in a commit of their own.

        Raises:
            InvalidInputError: some have a wrong form.
            RefusedError: all have the right form and guards refuse some.
            StorageError: the file is busy or failing.
            LedgerError: the ledger is closed, or of another event loop; nothing was written.
        """
        items = list(entries)
        return await self.alone(lambda ledger: ledger.append_all(items, what=what, dry_run=dry_run))

    async def register(self, dataset: Dataset) -> Acknowledgement:
        """Register a dataset, or find it registered.

        Raises:
            RuleError: its name and version mean something else.
            StorageError: there is no gold file, or the file is failing.
        """
        return (await self.freeze([dataset]))[0]

    async def freeze(
        self, documents: Iterable[Dataset | Rubric | Manifest]
    ) -> list[Acknowledgement]:
        """Register datasets and freeze rubrics and manifests, all or none, in the order given.

        Raises:
            RuleError: a name is taken by another document, or a reference is missing.
            StorageError: there is no gold file, or the file is failing.
        """
        items = list(documents)
        return await self.alone(lambda ledger: ledger.freeze(items))

    async def alone(self, work: Callable[[Ledger], Result]) -> Result:
        """Do what needs a commit of its own, in its place among the appends."""
        return cast("Result", await self.settled(Ticket(work=work)))

    async def settled(self, ticket: Ticket) -> object:
        """Return what came of a ticket."""
        self.require_usable()
        return await self.turns.settle(ticket)

    async def fate(self, identifier: str) -> Acknowledgement | None:
        """Return the acknowledgement of the event of an id; None where it was not written.

        An append of that id which is under way is waited for. Afterwards nothing writes the event
        unless somebody appends it again, which never writes it twice.

        Raises:
            StorageError: the file cannot be read.
        """
        self.require_usable()
        await self.turns.until_known(identifier)
        return await self.look(partial(acknowledged, identifier=identifier))

    async def read(self, seq: int) -> Stored:
        """Return one event.

        Raises:
            NotFoundError: the log has no such seq.
        """
        return await self.look(lambda ledger: ledger.read(seq))

    async def blob(self, reference: BlobRef) -> bytes | None:
        """Return the checked bytes of a text; None where it was erased.

        Raises:
            NotFoundError: it is gold and the gold file is not here.
            VerificationError: its bytes are not what was written.
        """
        return await self.look(lambda ledger: ledger.blob(reference))

    async def head(self) -> Head:
        """Return the end of the log."""
        return await self.look(Ledger.head)

    async def events(
        self, *, run: str | None = None, after: int = 0, upto: int | None = None
    ) -> AsyncIterator[Stored]:
        """Yield events in order, as `Ledger.events`.

        Args:
            run: only events of this run; None for all.
            after: only events after this seq.
            upto: only events up to this seq; None for all that are there now.
        """
        found = await self.look(lambda ledger: ledger.events(run=run, after=after, upto=upto))
        while chunk := await self.look(lambda _: list(islice(found, READ_CHUNK))):
            for stored in chunk:
                yield stored

    async def verify(self, *, fast: bool = False) -> Verification:
        """Check everything that can be checked without a signed head; appends go on meanwhile.

        Args:
            fast: leave out the bytes of blobs and SQLite's own check.
        """
        return await self.look(lambda ledger: ledger.verify(fast=fast))

    async def look(self, work: Callable[[Ledger], Result]) -> Result:
        """Read in a worker thread, through a connection that sees whole commits only."""
        self.require_usable()
        await checkpoint_if_cancelled()
        return (await to_its_end(lambda: work(self.opened_reader()), self.reading)).outcome()

    def opened_reader(self) -> Ledger:
        """Return the connection that reads, opened when it is first needed; in its thread."""
        if self.reader is None:
            self.reader = Ledger.open(self.ledger.store.path, tools=self.ledger.tools)
        return self.reader

    def require_usable(self) -> None:
        """Refuse to be used after closing, in another event loop, or after a fork.

        Raises:
            StorageError: this is another process than the one that opened it.
            LedgerError: it is closed, or this is another event loop.
        """
        self.ledger.require_own_process()
        if current_token() != self.loop:
            message = f"{self.ledger.store.path} was opened in another event loop"
            raise LedgerError(message, hint="open it in each loop; they queue on the file lock")
        self.turns.require_open()

    async def close(self) -> None:
        """Accept nothing more, commit what was accepted, close the files, whatever is cancelled."""
        cancelled = await self.turns.drain()
        closing = await to_its_end(self.close_files, self.reading)
        closing.cancelled = closing.cancelled or cancelled
        closing.outcome()

    def close_files(self) -> None:
        """Close both connections."""
        if self.reader is not None:
            self.reader.close()
        self.ledger.close()


def acknowledged(ledger: Ledger, *, identifier: str) -> Acknowledgement | None:
    """Return the acknowledgement of a stored event, or None."""
    try:
        document = ledger.store.document_by_id(bytes.fromhex(identifier))
    except ValueError:
        return None  # No id at all, so no event has it.
    if document is None:
        return None
    event = decode_event(document)
    return Acknowledgement(seq=event.seq, id=event.id, hash=event_hash(document), status="exists")
