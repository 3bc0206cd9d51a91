"""Checks a receipt without its ledger: every document, every link, the arithmetic.

Invariant: nothing in a receipt is believed because it says so. Size and root come from the note
that a known key signed, the place of a document from the document itself, the number from the
documents; whatever could not be checked is said.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec
from blake3 import blake3

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.canonical import ZERO_HASH, canonical_bytes, decode_event, event_hash
from trial_ledger.errors import LedgerError, VerificationError
from trial_ledger.events import BlobRef, Event
from trial_ledger.grading.grader import Task, gold_of
from trial_ledger.grading.graders import grader_of
from trial_ledger.heads import PublicKey, SignedHead, origin_of, parse_public_key, verified_head
from trial_ledger.merkle import leaf_hash
from trial_ledger.proof import root_of_several
from trial_ledger.registry import Registry
from trial_ledger.view import Stored
from trial_projections.reading import ReadModel
from trial_projections.receipt import Claim, Receipt, claim_of
from trial_projections.replay import fold_part

__all__ = ["About", "CheckedReceipt", "check_receipt", "decode_receipt"]

LARGEST = 1 << 30
"""Bytes of a receipt that is read; 100,000 trials have about a third of it."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a number was measured by, as the documents say it."""

    rubric: str
    """`name@version` and hash."""
    manifest: str
    """Configuration and hash."""
    dataset: str
    """`name@version` and root of its gold commitments."""
    entry: str
    """live, appended or imported."""
    trials: int
    """Trials whose every link is here."""
    overrides: int
    """Judgments that people replaced."""


class CheckedReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a checker may believe afterwards, and what not."""

    claim: Claim
    """The number, computed anew from the documents."""
    origin: str
    """The ledger that it is of."""
    size: int
    """Events in the ledger when its head was signed."""
    seq: int
    """Place of the last link."""
    signer: str
    """The key that signed the head."""
    key_is_known: bool
    """Whether the checker named that key; else it is the receipt's own word."""
    about: "About"
    """What it was measured by."""
    revealed: int
    """Texts that were opened and are what the log committed to."""
    regraded: int
    """Judgments by code that were given anew, alike."""
    not_regraded: str | None
    """Why grading was not run again, where it was not."""


def decode_receipt(content: bytes) -> Receipt:
    """Return what a receipt says.

    Raises:
        VerificationError: it is none, or too large.
    """
    if len(content) > LARGEST:
        raise VerificationError("not a receipt: too large")
    try:
        return msgspec.json.decode(content, type=Receipt)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"not a receipt: {error}"
        raise VerificationError(message) from error


def check_receipt(receipt: Receipt, keys: Sequence[PublicKey] = ()) -> CheckedReceipt:
    """Check a receipt and return what holds.

    Args:
        receipt: the receipt.
        keys: public keys that the checker has from elsewhere; without any the receipt's own serve.

    Raises:
        VerificationError: something in it does not hold; the first thing is named.
    """
    own = [parse_public_key(text) for text in receipt.keys]
    head = verified_head(receipt.note, keys or own, origin=None)
    documents = Documents(receipt, head)
    documents.check_own_keys(own, head)
    # Before the proof, which fails for every change alike: a gap names what was left out.
    run, last = documents.check_links(receipt.claim)
    documents.check_in_log(head)
    documents.check_calls()
    texts = opened(receipt)
    found, about, regrading = checked_numbers(documents, run, texts)
    return CheckedReceipt(
        claim=found,
        origin=head.origin,
        size=head.size,
        seq=last.seq,
        signer=str(head.signers[0]),
        key_is_known=bool(keys),
        about=about,
        revealed=len(texts),
        regraded=regrading[0],
        not_regraded=regrading[1],
    )


def checked_numbers(
    documents: "Documents", run: events.RunOpened, texts: dict[str, bytes]
) -> tuple[Claim, About, tuple[int, str | None]]:
    """Return the number computed anew, what it was measured by, and how grading came out.

    Raises:
        VerificationError: something does not hold, or the documents do not fit together.
    """
    try:
        model = documents.model()
        try:
            found = recomputed(model, documents.receipt.claim)
            regrading = Regrading(documents, model, run, texts).result()
        finally:
            model.close()
        return found, documents.described(run), regrading
    except VerificationError:
        raise
    except LedgerError as error:
        raise VerificationError(error.message) from error
    except (KeyError, AssertionError, msgspec.MsgspecError) as error:
        # A log of our own making has what is missing here; a forged receipt need not.
        message = f"the documents of the receipt do not fit together: {type(error).__name__}"
        raise VerificationError(message) from error


def recomputed(model: ReadModel, claim: Claim) -> Claim:
    """Return the number computed from the documents, which must be what is claimed.

    Raises:
        VerificationError: it is another.
    """
    found = claim_of(model, model.run(claim.run), claim.metric)
    for field in msgspec.structs.fields(Claim):
        ours, theirs = getattr(found, field.name), getattr(claim, field.name)
        if ours != theirs:
            message = f"{claim.metric} of {claim.run}: the documents give {field.name} {ours}"
            raise VerificationError(f"{message}, the receipt claims {theirs}"[:500])
    return found


def opened(receipt: Receipt) -> dict[str, bytes]:
    """Return the opened texts by hash, each of them what its hash commits to.

    Raises:
        VerificationError: one is not.
    """
    texts: dict[str, bytes] = {}
    for name, text in receipt.revealed.items():
        try:
            salt = bytes.fromhex(text.salt)
            content = base64.b64decode(text.content, validate=True)
        except (ValueError, binascii.Error):
            salt, content = b"", b""
        if len(salt) != len(ZERO_HASH) // 2 or blake3(content, key=salt).hexdigest() != name:
            message = f"the opened text {name[:64]} is not what its hash commits to"
            raise VerificationError(message)
        texts[name] = content
    return texts


class Documents:
    """The documents of a receipt, proven to be in the log that its head is of."""

    def __init__(self, receipt: Receipt, head: SignedHead) -> None:
        self.receipt = receipt
        self.events: list[Stored] = []
        self.plain = {
            blake3(text.encode()).hexdigest(): text.encode() for text in receipt.plain.values()
        }
        for text in receipt.documents:
            self.events.append(self.stored(text.encode(), head))
        if not self.events:
            raise VerificationError("the receipt holds no document")
        self.ledger = self.events[0].event.ledger

    def check_in_log(self, head: SignedHead) -> None:
        """Check that every document is in the log that was signed, at its place.

        Raises:
            VerificationError: one is not.
        """
        leaves = {stored.event.seq - 1: leaf_hash(stored.document) for stored in self.events}
        path = [hash_of(text) for text in self.receipt.proof]
        if root_of_several(leaves, head.size, path) != head.root:
            raise VerificationError("the documents are not those of the log that was signed")

    def stored(self, document: bytes, head: SignedHead) -> Stored:
        """Return one document as an event, in its place after those before.

        Raises:
            VerificationError: it is no canonical event of the signed log, or out of order.
        """
        event = decode_event(document)
        if canonical_bytes(event) != document:
            raise VerificationError(f"seq {event.seq}: not in canonical form")
        if origin_of(event.ledger) != head.origin:
            raise VerificationError(f"seq {event.seq}: of another ledger than the signed head")
        if self.events and event.seq <= self.events[-1].event.seq:
            raise VerificationError(f"seq {event.seq}: out of order")
        return Stored(event=event, hash=event_hash(document), document=document)

    def check_own_keys(self, own: Sequence[PublicKey], head: SignedHead) -> None:
        """Check that the ledger's own keys are those that its log names, the signer among them.

        Raises:
            VerificationError: they are not.
        """
        named: list[str] = []
        for stored in self.events:
            match stored.event.data:
                case events.LedgerOpened(public_keys=keys):
                    named += keys
                case events.KeyRotated(new_public_key=key):
                    named.append(key)
                case _:
                    pass
        if self.events[0].event.seq != 1 or named != [str(key) for key in own]:
            raise VerificationError("the keys of the receipt are not those that the log names")
        if not any(str(signer) in named for signer in head.signers):
            raise VerificationError("the head is not signed by a key of this ledger")

    def check_links(self, claim: Claim) -> tuple[events.RunOpened, Event]:
        """Check that every link of the run is here, and those of its parent up to the cited one.

        Raises:
            VerificationError: one is missing, or they do not follow each other.
        """
        links = self.links_of(claim.run, claim.link)
        opening = links[0].data
        if not isinstance(opening, events.RunOpened):
            raise VerificationError(f"link 1 of {claim.run} does not open it")
        if opening.derived_from is not None:
            self.links_of(opening.derived_from.run, opening.derived_from.link)
        return opening, links[-1]

    def links_of(self, run: str, last: int) -> list[Event]:
        """Return the links of a run, all of them from the first to the last.

        Raises:
            VerificationError: one is missing, or they do not follow each other.
        """
        found: list[Event] = []
        before = ZERO_HASH
        for stored in self.events:
            event = stored.event
            if event.run != run or event.link is None:
                continue
            if event.link.n != len(found) + 1 or event.link.prev != before:
                message = f"link {len(found) + 1} of {run} is missing before seq {event.seq}"
                raise VerificationError(message)
            found.append(event)
            before = stored.hash
        if not found or len(found) != last:
            message = f"the receipt holds {len(found)} links of {run}, not {last}"
            raise VerificationError(message)
        return found

    def document_bytes(self, reference: BlobRef) -> bytes:
        """Return a public document that an event names.

        Raises:
            VerificationError: it is not in the receipt.
        """
        found = self.plain.get(reference.blob)
        if found is None:
            raise VerificationError(f"document {reference.blob} is not in the receipt")
        return found

    def registry(self) -> Registry:
        """Return the frozen documents."""
        registry = Registry(self.document_bytes)
        for stored in self.events:
            if stored.event.run is None:
                registry.apply(stored.event)
        return registry

    def model(self) -> ReadModel:
        """Return the read side over the documents alone."""
        states = fold_part(self.events, self.events[-1].event.seq)
        # It reads what `LedgerView` reads, from here instead of from a file.
        return ReadModel(cast("Ledger", PartOfLog(self)), states, self.registry())

    def check_calls(self) -> None:
        """Check that every failure in a call comes with the call's start, which says its purpose.

        Raises:
            VerificationError: one is missing; it is no link, so nothing else would show it.
        """
        started = {
            (stored.event.run, str(stored.event.trial), stored.event.data.call)
            for stored in self.events
            if isinstance(stored.event.data, events.CallStarted)
        }
        for stored in self.events:
            event, data = stored.event, stored.event.data
            if isinstance(data, events.FailureOccurred) and data.call is not None:
                key = (event.run, str(event.trial), data.call)
                if key not in started:
                    raise VerificationError(
                        f"seq {event.seq}: the start of its call {data.call} is not in the receipt"
                    )

    def described(self, run: events.RunOpened) -> About:
        """Return what the documents say of a run besides its number."""
        registry = self.registry()
        assert run.rubric is not None, "the ledger fills it"
        assert run.dataset is not None, "the ledger fills it"
        rubric, manifest = registry.rubric(run.rubric), registry.manifest(run.manifest)
        if rubric.rubric_hash != run.rubric_hash:
            message = f"rubric {run.rubric} is not the one that the run was opened with"
            raise VerificationError(message)
        dataset = registry.dataset(run.dataset)
        kinds = [type(stored.event.data) for stored in self.events]
        return About(
            rubric=f"{run.rubric} {rubric.rubric_hash}",
            manifest=f"{manifest.configuration} {manifest.manifest_hash}",
            dataset=f"{run.dataset} {dataset.commitments_root}",
            entry=run.entry,
            trials=kinds.count(events.TrialStarted),
            overrides=kinds.count(events.JudgmentOverridden),
        )


class PartOfLog:
    """What the read side asks of a ledger, answered from the documents of a receipt."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.id = documents.ledger
        self.store = self

    def events(
        self, *, run: str | None = None, after: int = 0, upto: int | None = None
    ) -> Iterator[Stored]:
        """Yield the events of a run."""
        for stored in self.documents.events:
            seq = stored.event.seq
            if (run is None or stored.event.run == run) and after < seq <= (upto or seq):
                yield stored

    def seq_of_link(self, run: str, link: int) -> int | None:
        """Return the seq of a run's link, or None."""
        for stored in self.documents.events:
            event = stored.event
            if event.run == run and event.link is not None and event.link.n == link:
                return event.seq
        return None

    def document_bytes(self, reference: BlobRef) -> bytes:
        """Return a public document."""
        return self.documents.document_bytes(reference)


class Regrading:
    """Gives the judgments by code again, where gold and answers were opened."""

    def __init__(
        self,
        documents: Documents,
        model: ReadModel,
        run: events.RunOpened,
        texts: dict[str, bytes],
    ) -> None:
        self.documents, self.model, self.run, self.texts = documents, model, run, texts
        assert run.rubric is not None, "the ledger fills it"
        registry = model.registry
        self.rubric = registry.rubric_document(registry.rubric(run.rubric))

    def result(self) -> tuple[int, str | None]:
        """Return how many judgments came out alike, and why others were not given again.

        Raises:
            VerificationError: one comes out otherwise.
        """
        name = self.documents.receipt.claim.metric
        metric = self.rubric.metrics[name]
        grader = grader_of(metric)
        if grader is None:
            return 0, f"{metric.grader} is no code grader"
        given = [
            stored.event
            for stored in self.documents.events
            if isinstance(stored.event.data, events.JudgmentRecorded)
            and stored.event.run == self.documents.receipt.claim.run
            and stored.event.data.metric == name
            and stored.event.data.grader.name == grader.name
        ]
        answers = self.answers()
        alike = sum(self.is_alike(event, answers) for event in given)
        sealed = len(given) - alike
        if not sealed:
            return alike, None
        return alike, f"answer or gold of {sealed} of {len(given)} judgments is sealed"

    def answers(self) -> dict[str, str]:
        """Return the hash of every trial's answer."""
        return {
            str(stored.event.trial): stored.event.data.answer.blob
            for stored in self.documents.events
            if isinstance(stored.event.data, events.AnswerSubmitted)
            and stored.event.data.answer is not None
        }

    def is_alike(self, event: Event, answers: dict[str, str]) -> bool:
        """Return whether a judgment was given again, alike; False where its texts are sealed.

        Raises:
            VerificationError: it comes out otherwise.
        """
        data = event.data
        assert isinstance(data, events.JudgmentRecorded), "the caller chose"
        assert event.trial is not None, "a judgment is of a trial"
        assert self.run.dataset is not None, "the ledger fills it"
        answer = self.texts.get(answers.get(str(event.trial), ""))
        gold = self.texts.get(data.gold or "")
        metric = self.rubric.metrics[data.metric]
        grader = grader_of(metric)
        if answer is None or gold is None or grader is None:
            return False
        question = self.model.registry.questions(self.run.dataset)[event.trial.question]
        task = Task(
            question=question,
            gold=gold_of(gold),
            answer=answer.decode("utf-8", errors="replace"),
            metric=metric,
            empty_sets=self.rubric.empty_sets,
        )
        grade = grader.grade(task)
        if (grade.verdict, grade.score) != (data.verdict, data.score):
            message = f"seq {event.seq}: graded again it is {grade.verdict or grade.score}"
            raise VerificationError(f"{message}, the log says {data.verdict or data.score}")
        return True


def hash_of(text: str) -> bytes:
    """Return the hash of a base64 text; anything else is no hash that leads anywhere."""
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""
