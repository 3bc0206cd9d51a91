"""Checks a receipt without its ledger: every document, every link, the arithmetic.

Invariant: nothing in a receipt is believed because it says so. Size and root come from the note
that a known key signed, the place of a document from the document itself, the number from the
documents; whatever could not be checked is said.
"""

from collections.abc import Sequence

import msgspec

from trial_ledger import events
from trial_ledger.documents.canonical_form import document_hash
from trial_ledger.errors import LedgerError, StorageError, VerificationError
from trial_ledger.events import Event
from trial_ledger.heads import PublicKey, SignedHead, parse_public_key, verified_head
from trial_projections.reading import ReadModel
from trial_projections.receipt import claim_of, named_texts, number_of
from trial_projections.receipt_documents import Documents
from trial_projections.receipt_regrading import Regraded, regraded
from trial_projections.receipt_structs import Claim, Receipt
from trial_projections.receipt_texts import OpenedTexts, TextCount, opened_texts
from trial_projections.records import RunRecord
from trial_projections.scores import MetricScore
from trial_projections.trust import dataset_marks, order_mark, score_marks

__all__ = ["About", "CheckedReceipt", "check_receipt"]

MOST_SLOTS = 1_000_000
"""Planned slots of a run that is computed anew; a forged plan could ask for any number."""


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
    order: str
    """Whether the order of the events was witnessed."""
    trials: int
    """Trials whose every link is here."""
    overrides: int
    """Judgments that people replaced."""
    marks: list[str]
    """What weakens the number, invalidation first."""


class CheckedReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a checker may believe afterwards, and what not."""

    claim: Claim
    """The number, computed anew from the documents."""
    scale: tuple[str, str]
    """Lowest and highest score, from the rubric in the receipt."""
    head: SignedHead
    """The signed head that it was checked against."""
    seq: int
    """Place of the last link."""
    key_is_known: bool
    """Whether the checker named that key; else it is the receipt's own word."""
    about: About
    """What it was measured by."""
    texts: dict[str, TextCount]
    """What was opened of gold, answers and reasoning."""
    regraded: Regraded
    """Judgments by code that were given again."""


def check_receipt(receipt: Receipt, keys: Sequence[PublicKey] = ()) -> CheckedReceipt:
    """Check a receipt and return what holds.

    Args:
        receipt: the receipt.
        keys: public keys that the checker has from elsewhere; without any the receipt's own serve.

    Raises:
        VerificationError: something in it does not hold; the first thing is named.
        StorageError: there is no place for temporary files.
    """
    own = [parse_public_key(text) for text in receipt.keys]
    head = verified_head(receipt.note, keys or own, origin=None)
    documents = Documents(receipt, head)
    documents.check_own_keys(own)
    # Before the proof, which fails for every change alike: a gap names what was left out.
    run, last = documents.check_links(receipt.claim)
    documents.check_in_log()
    documents.check_calls()
    found = checked_numbers(documents, run)
    return CheckedReceipt(
        claim=found.claim,
        scale=found.score.scale,
        head=head,
        seq=last.seq,
        key_is_known=bool(keys),
        about=found.about,
        texts=found.texts.counts,
        regraded=found.regraded,
    )


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """What the documents give."""

    claim: Claim
    """The number computed anew."""
    score: MetricScore
    """The same with its views."""
    about: About
    """What it was measured by."""
    texts: OpenedTexts
    """The opened texts."""
    regraded: Regraded
    """How grading came out."""


def checked_numbers(documents: Documents, run: events.RunOpened) -> Numbers:
    """Return the number computed anew, what it was measured by, and how grading came out.

    Raises:
        VerificationError: something does not hold, or the documents do not fit together.
        StorageError: there is no place for temporary files.
    """
    try:
        model = documents.model()
        try:
            return numbers_of(documents, model, run)
        finally:
            model.close()
    except (VerificationError, StorageError):
        raise
    except LedgerError as error:
        raise VerificationError(error.message) from error
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        msgspec.MsgspecError,
    ) as error:
        # A log of our own making has what is missing here; a forged receipt need not.
        message = f"the documents of the receipt do not fit together: {type(error).__name__}"
        raise VerificationError(message) from error


def numbers_of(documents: Documents, model: ReadModel, run: events.RunOpened) -> Numbers:
    """Return what the documents give.

    Raises:
        VerificationError: it is not what is claimed, or a text does not hold.
        LedgerError: the documents do not fit together.
    """
    claim = documents.receipt.claim
    record = model.run(claim.run)
    check_frozen(documents, model, record)
    score = number_of(model, record, claim.metric)
    linked: list[Event] = [stored.event for stored in documents.events]
    named = named_texts(model, record, linked)
    texts = opened_texts(documents.receipt.revealed, named, documents.events)
    return Numbers(
        claim=compared(claim_of(record, score), claim),
        score=score,
        about=described(documents, model, record, score),
        texts=texts,
        regraded=regraded(documents, model, run, texts.by_hash),
    )


def compared(found: Claim, claim: Claim) -> Claim:
    """Return the number computed from the documents, which must be what is claimed.

    Raises:
        VerificationError: it is another.
    """
    for field in msgspec.structs.fields(Claim):
        ours, theirs = getattr(found, field.name), getattr(claim, field.name)
        if ours != theirs:
            message = f"{claim.metric} of {claim.run}: the documents give {field.name} {ours}"
            raise VerificationError(f"{message}, the receipt claims {theirs}"[:500])
    return found


def check_frozen(documents: Documents, model: ReadModel, run: RunRecord) -> None:
    """Check that the frozen documents are those by whose hashes the events name them.

    Raises:
        VerificationError: one is not, or the plan is too large to be true.
    """
    registry = model.registry
    rubric = registry.rubric(run.rubric)
    manifest = registry.manifests[run.manifest]
    dataset = registry.dataset(run.dataset)
    if rubric.rubric_hash != run.rubric_hash:
        message = f"rubric {run.rubric} is not the one that the run was opened with"
        raise VerificationError(message)
    for reference, expected in (
        (rubric.document, rubric.rubric_hash),
        (manifest.document, manifest.manifest_hash),
        (dataset.commitments, dataset.commitments_root),
    ):
        if document_hash(documents.document_bytes(reference)) != expected:
            raise VerificationError(f"document {reference.blob} has not the hash {expected}")
    references = registry.manifest_document(manifest).references
    declared = (rubric.rubric_hash, dataset.questions.blob, dataset.commitments_root)
    if run.derived_from is None and (
        references is None or (references.rubric, references.questions, references.gold) != declared
    ):
        message = f"run {run.name} has not the rubric and dataset of its manifest"
        raise VerificationError(message)
    if model.slots(run).count > MOST_SLOTS:
        raise VerificationError(f"run {run.name} plans more than {MOST_SLOTS} slots")


def described(documents: Documents, model: ReadModel, run: RunRecord, score: MetricScore) -> About:
    """Return what the documents say of a run besides its number."""
    registry = model.registry
    manifest = registry.manifests[run.manifest]
    kinds = [type(stored.event.data) for stored in documents.events]
    marks = [*standing_marks(model, run), *dataset_marks(model, run)]
    order = order_mark(model, run)
    return About(
        rubric=f"{run.rubric} {run.rubric_hash}",
        manifest=f"{manifest.configuration} {run.manifest}",
        dataset=f"{run.dataset} {registry.dataset(run.dataset).commitments_root}",
        entry=run.entry,
        order=(
            f"witnessed: {order.text}" if order.level == "ok" else order.text.removeprefix("order ")
        ),
        trials=kinds.count(events.TrialStarted),
        overrides=kinds.count(events.JudgmentOverridden),
        marks=[*marks, *score_marks({score.name: score})],
    )


def standing_marks(model: ReadModel, run: RunRecord) -> list[str]:
    """Return whether the run and its parent count, as far as the receipt goes (C12, C14)."""
    marks: list[str] = []
    if not run.is_valid:
        change = run.changes[-1]
        marks.append(f"INVALID since seq {change.mark.seq}, said {change.actor}")
    if run.derived_from is not None:
        marks.append(
            f"rubric after the fact: derived from {run.derived_from} as of its link"
            f" {run.derived_link}"
        )
        if not model.run(run.derived_from).is_valid:
            marks.append(f"parent {run.derived_from} invalidated")
    return marks
