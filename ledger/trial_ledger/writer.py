"""One write transaction: resolve, guard, seal, chain, link and tree, then one commit.

Invariant: `prepare` either collects a complete event or raises and leaves no trace, so that a
refused event never sinks its neighbours; nothing is acknowledged before `commit` returned.

A crash before the gold file's commit leaves nothing; between the two commits it leaves gold blobs
that no event names; after the ledger's commit it leaves at most a head pin that is behind.
"""

import msgspec

from trial_ledger.blobs import NewBlob
from trial_ledger.building import Acknowledgement, encoded, refuse_foreign
from trial_ledger.canonical import (
    ZERO_HASH,
    decode_event,
    event_hash,
)
from trial_ledger.errors import (
    ConflictError,
    RuleError,
)
from trial_ledger.events import (
    LINKED_KINDS,
    AnyData,
    CallStarted,
    Event,
    LedgerOpened,
    Link,
    RunClosed,
    RunInvalidated,
    RunOpened,
    RunRelated,
)
from trial_ledger.goldfile import GoldFile
from trial_ledger.identifiers import TrialKey
from trial_ledger.identity import difference
from trial_ledger.intake import FILL_CONFIGURATION, Draft
from trial_ledger.intake import draft as drafted
from trial_ledger.known import Known
from trial_ledger.leak_guard import LeakGuard
from trial_ledger.lifecycle.guards import check
from trial_ledger.lifecycle.openings import (
    check_belonging,
    check_derivation,
    check_opening,
    require_run,
)
from trial_ledger.lifecycle.scope import Scope
from trial_ledger.lifecycle.states import RunState, TrialState
from trial_ledger.loading import new_run, unfinished
from trial_ledger.merkle import Frontier, leaf_hash
from trial_ledger.pin import HeadPin
from trial_ledger.sealing import Sealer
from trial_ledger.signing import HeadSigner
from trial_ledger.store import FLUSH_BYTES, FLUSH_EVENTS, EventRow, Store
from trial_ledger.tools import Tools
from trial_ledger.upcasting import newest_version

__all__ = ["Writer"]


class Writer:
    """The write side of one ledger; used by one thread at a time, under the book's lock."""

    def __init__(
        self, store: Store, gold: GoldFile | None, tools: Tools, ledger: str, pin: HeadPin | None
    ) -> None:
        self.store = store
        self.gold = gold
        self.tools = tools
        self.ledger = ledger
        self.pin = pin
        self.known = Known(store, gold)
        self.sealer = Sealer(store, gold, tools)
        self.size = -1
        self.previous = ZERO_HASH
        self.frontier = Frontier(0, [])
        self.pending: dict[bytes, bytes] = {}
        self.pending_bytes = 0
        self.recorded_at = ""
        self.head_signer = HeadSigner(ledger, tools.signer)

    def begin(self) -> None:
        """Take the lock and begin; read again whatever another writer may have changed.

        Raises:
            StorageError: the file is busy or refuses.
            VerificationError: the file is behind its head pin.
        """
        size = self.store.begin()
        self.recorded_at = self.tools.clock()
        if size == self.size:
            return
        try:
            self.reload(size)
        except BaseException:
            self.rollback()
            raise

    def reload(self, size: int) -> None:
        """Read the end of the log, the documents and the tree's edge anew."""
        self.known.reload()
        last = self.store.document(size) if size else None
        self.previous = ZERO_HASH if last is None else event_hash(last)
        self.frontier = Frontier.load(size, self.store.node)
        self.size = size
        if self.pin is not None:
            self.pin.check(self.store.path, size, self.store.node)

    def prepare(self, draft: Draft) -> Acknowledgement:
        """Collect one event, or find that it is there already.

        Raises:
            RuleError: a guard refuses it.
            ConflictError: the id exists with other content.
            InvalidInputError: a reference or its size is not acceptable.
            NotFoundError: its run was never opened.
        """
        run = None if draft.kind == "run.opened" else self.run_of(draft)
        self.complete_trial(draft, run)
        self.sealer.scrub(draft, run, self.known.registry)
        earlier = self.appended_before(draft)
        if earlier is not None:
            return earlier
        if isinstance(draft.data, RunOpened):
            return self.open_run(draft, draft.data)
        refuse_foreign(draft, run)
        trial = self.trial_of(run, draft.trial)
        data, leak = self.known.filler.fill(draft, run)
        scope = Scope(
            kind=draft.kind,
            actor=draft.actor,
            run=run,
            trial_key=draft.trial,
            trial=trial,
            texts={name: text.content for name, text in draft.texts.items()},
            leak=leak,
        )
        check(scope, data)
        self.check_beyond_run(data, run)
        sealed, blobs = self.sealer.seal(draft, data, trial)
        acknowledgement = self.collect(draft, run, trial, sealed, blobs)
        if isinstance(data, CallStarted):
            self.disclose_leak(scope, data)
        return acknowledgement

    def disclose_leak(self, scope: Scope, data: CallStarted) -> None:
        """Record by the ledger itself what the leak guard finds in a request (C3)."""
        guard = LeakGuard(self.store, self.known.filler)
        if guard.suspects(scope):
            self.flush()  # The guard looks at earlier responses in the file.
            for submission in guard.disclosures(scope, data):
                self.prepare(drafted(submission))

    def open_run(self, draft: Draft, data: RunOpened) -> Acknowledgement:
        """Collect run.opened: the one event whose run does not exist yet."""
        check_opening(draft, data, exists=self.known.has_run)
        origin = data.derived_from
        parent = None if origin is None else self.known.run(origin.run)
        check_derivation(data, parent)
        filled, slots = self.known.filler.opened_run(draft, data, parent)
        assert draft.run is not None, "check_opening required it"
        if self.pending and origin is not None:
            self.flush()  # The cited link, and all that the derived run sees of its parent.
        run = new_run(
            draft.run,
            filled,
            slots=slots,
            registry=self.known.registry,
            cutoff=None if origin is None else self.store.seq_of_link(origin.run, origin.link),
        )
        sealed, blobs = self.sealer.seal(draft, filled, None)
        return self.collect(draft, run, None, sealed, blobs)

    def run_of(self, draft: Draft) -> RunState | None:
        """Return the state of an event's run."""
        check_belonging(draft)
        return None if draft.run is None else self.known.run(draft.run)

    def trial_of(self, run: RunState | None, key: TrialKey | None) -> TrialState | None:
        """Return the state of a trial.

        What it must read is in the file already: a trial that is not remembered has no collected
        rows of its own, since its state would have come with the first of them, and what a derived
        run sees of its parent was written when the derived run was opened.
        """
        return None if run is None or key is None else self.known.trial(run, key)

    def complete_trial(self, draft: Draft, run: RunState | None) -> None:
        """Fill a configuration that the writer left out, in place."""
        if (
            run is not None
            and draft.trial is not None
            and draft.trial.configuration == FILL_CONFIGURATION
        ):
            draft.trial = msgspec.structs.replace(draft.trial, configuration=run.configuration)

    def appended_before(self, draft: Draft) -> Acknowledgement | None:
        """Return the first acknowledgement where the same was appended before.

        Raises:
            ConflictError: the id exists and says something else.
        """
        if draft.id is None:
            return None
        identifier = bytes.fromhex(draft.id)
        document = self.pending.get(identifier) or self.store.document_by_id(identifier)
        if document is None:
            return None
        event = decode_event(document)
        field = difference(
            event,
            draft,
            digest_of=self.sealer.digest_of,
            is_redacted=self.sealer.is_redacted,
            configuration_of=lambda value: self.known.registry.manifests[value].configuration,
        )
        if field is not None:
            message = f"event {draft.id} exists as seq {event.seq} with another {field}"
            raise ConflictError(
                message, field=field, hint=f"ledger show {event.seq}; a new event needs a new id"
            )
        return Acknowledgement(
            seq=event.seq, id=event.id, hash=event_hash(document), status="exists"
        )

    def check_beyond_run(self, data: AnyData, run: RunState | None) -> None:
        """Apply the rules that look beyond one run: names, and that everything ended."""
        if isinstance(data, LedgerOpened) and self.size:
            message = "ledger.opened is the first event and there is one"
            raise RuleError(message)
        if run is None:
            self.known.registry.check(data)
        if isinstance(data, RunRelated):
            require_run(data.run, exists=self.known.has_run)
        if isinstance(data, RunInvalidated) and data.superseded_by is not None:
            require_run(data.superseded_by, exists=self.known.has_run)
        if isinstance(data, RunClosed) and data.status == "complete":
            assert run is not None, "the guard required it"
            self.require_all_ended(run)

    def document(self, seq: int) -> bytes:
        """Return the document of an event, collected or stored."""
        self.flush()
        document = self.store.document(seq)
        assert document is not None, "the caller knows that it is there"
        return document

    def require_all_ended(self, run: RunState) -> None:
        """Refuse to call a run complete while a trial or call is open.

        Raises:
            RuleError: naming some that are.
        """
        self.flush()
        open_ones = unfinished(self.store, run)
        if open_ones:
            message = f"run {run.name} is not complete: {len(open_ones)} open, as {open_ones[0]}"
            raise RuleError(
                message,
                field="data.status",
                hint='end them, or close it as "interrupted" and say why',
            )

    def collect(
        self,
        draft: Draft,
        run: RunState | None,
        trial: TrialState | None,
        data: AnyData,
        blobs: list[tuple[NewBlob, bool]],
    ) -> Acknowledgement:
        """Build the document and add it to chain, link and tree."""
        link = None
        if run is not None and draft.kind in LINKED_KINDS:
            link = Link(n=run.links + 1, prev=run.last_link_hash)
        event = Event(
            actor=draft.actor,
            at=self.recorded_at if draft.at_defaulted else draft.at,
            data=data,
            id=draft.id or self.tools.random_bytes(16).hex(),
            kind=draft.kind,
            ledger=self.ledger,
            link=link,
            prev=self.previous,
            recorded_at=self.recorded_at,
            run=draft.run,
            seq=self.size + 1,
            trial=draft.trial,
            v=newest_version(draft.kind),
        )
        document = encoded(event)
        for blob, is_gold in blobs:
            self.sealer.place(blob, is_gold=is_gold)
            self.pending_bytes += len(blob.content)
        return self.advance(event, document, run, trial)

    def advance(
        self, event: Event, document: bytes, run: RunState | None, trial: TrialState | None
    ) -> Acknowledgement:
        """Move every edge past a collected event; nothing here can refuse any more."""
        digest = event_hash(document)
        identifier = bytes.fromhex(event.id)
        finished = self.frontier.append(leaf_hash(document))
        self.store.add_event(
            EventRow(
                seq=event.seq,
                id=identifier,
                kind=event.kind,
                run=event.run,
                trial=None if event.trial is None else str(event.trial),
                link=None if event.link is None else event.link.n,
                nodes=b"".join(node for _, _, node in finished),
                document=document,
            )
        )
        self.pending[identifier] = document
        self.pending_bytes += len(document)
        self.size, self.previous = event.seq, digest
        if run is not None:
            if event.link is not None:
                run.links, run.last_link_hash = event.link.n, digest
            if trial is not None:
                trial.apply(event.data)
            elif isinstance(event.data, RunOpened):
                self.known.runs[run.name] = run
            else:
                run.apply(event.data)
        else:
            self.known.registry.apply(event)
        self.head_signer.look_at(event.data)
        if len(self.pending) >= FLUSH_EVENTS or self.pending_bytes >= FLUSH_BYTES:
            self.flush()
            self.known.trim()  # Every row is in the file, so a trial can be read again.
        return Acknowledgement(seq=event.seq, id=event.id, hash=digest, status="appended")

    def flush(self) -> None:
        """Write collected rows into the running transactions; gold first."""
        if self.gold is not None:
            self.gold.flush()
        self.store.flush()
        self.pending.clear()
        self.pending_bytes = 0

    def commit(self) -> None:
        """Make everything collected durable, advance the head pin, let the next writer in.

        The caller rolls back where this raises.

        Raises:
            StorageError: SQLite refuses; the fate of the events is unknown until the file is read.
        """
        if self.gold is not None:
            self.gold.commit()
        note = self.sign() if self.head_signer.is_due else None
        self.store.commit()
        if self.pin is not None:
            self.pin.follow(self.store.path, self.size, self.frontier.root(), warn=self.tools.warn)
        self.pending.clear()
        self.pending_bytes = 0
        self.known.trim()
        self.store.lock.release()
        self.head_signer.publish(self.store.path, note, self.size, warn=self.tools.warn)

    def sign(self) -> str | None:
        """Sign the log as it will be once this transaction is durable; see `HeadSigner.add`."""
        self.flush()
        keys = self.known.registry.keys
        return self.head_signer.add(self.store, keys, self.size, self.frontier.root())

    def rollback(self) -> None:
        """Give up the transaction and everything remembered of it."""
        self.size = -1
        self.head_signer.forget()
        self.pending.clear()
        self.pending_bytes = 0
        self.known.forget()
        try:
            if self.gold is not None:
                self.gold.rollback()
        finally:
            self.store.rollback()
