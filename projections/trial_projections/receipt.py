"""A score receipt: one number with every document it rests on, to be checked without the ledger.

Invariant: a receipt holds every link of its run from the first to the one it speaks of, so that
nothing in between can be left out, and no text unless it was asked for.
"""

import base64
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.canonical import decode_event
from trial_ledger.errors import NotFoundError
from trial_ledger.events import BlobRef
from trial_ledger.heads import parse_note
from trial_ledger.proof import several_path
from trial_projections.aggregate import Range
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.scores import score_metric

__all__ = ["REVEALABLE", "SCHEMA", "Claim", "Receipt", "Revealed", "claim_of", "make_receipt"]

SCHEMA = "ledger.receipt/1"

Revealable = Literal["gold", "answers", "reasoning"]
REVEALABLE: tuple[Revealable, ...] = ("gold", "answers", "reasoning")
"""Texts that a receipt can open."""


class Revealed(msgspec.Struct, frozen=True, kw_only=True):
    """A text that was opened, with the salt that its hash was made with."""

    salt: str
    """32 bytes, in hex."""
    content: str
    """Its bytes, in base64."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What a receipt says of a metric."""

    run: str
    """The run."""
    metric: str
    """The metric."""
    link: int
    """Last link of the run that the number rests on."""
    headline: Range
    """The number, or its range."""
    decided: int
    """Trials that have a score."""
    denominator: int
    """Trials that count."""
    planned: int
    """Planned slots of the metric's shapes."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """One number, and all that is needed to check it."""

    schema: str = SCHEMA
    """Name and version of this form."""
    note: str
    """The signed head that every document is proven against."""
    keys: list[str]
    """The ledger's own public keys; a checker's own copy is worth more."""
    claim: Claim
    """The number."""
    documents: list[str]
    """Canonical documents of the events, in the order of the log."""
    proof: list[str]
    """Hashes that prove all of them against the head, base64."""
    plain: dict[str, str]
    """Public documents by hash: rubric, manifest, questions, planned slots, gold commitments."""
    revealed: dict[str, Revealed] = {}
    """Opened texts by hash."""


def make_receipt(
    ledger: Ledger, run: str, metric: str, *, reveal: Iterable[Revealable] = ()
) -> Receipt:
    """Return the receipt of a metric of a run as its newest signed head has it.

    Args:
        ledger: an open ledger.
        run: the run's name.
        metric: a metric of its rubric.
        reveal: which texts are opened; needs the gold file for gold and reasoning.

    Raises:
        NotFoundError: there is no signed head, no such run at it, no such metric, or no number.
    """
    note = ledger.store.heads.newest()
    if note is None:
        raise NotFoundError("the ledger has no signed head", hint="ledger head --sign")
    _, head, _ = parse_note(note)
    model = ReadModel.open(ledger, as_of=head.size)
    try:
        record = model.run(run)
        claim = claim_of(model, record, metric)
        stored = chosen(model, record)
        plain = plain_documents(ledger, stored)
        revealed = opened_texts(ledger, model, record, stored, frozenset(reveal))
        keys = model.registry.keys
    finally:
        model.close()
    path = several_path([seq - 1 for seq in stored], head.size, ledger.store.node)
    return Receipt(
        note=note,
        keys=keys,
        claim=claim,
        documents=[document.decode() for document in stored.values()],
        proof=[base64.b64encode(value).decode() for value in path],
        plain=plain,
        revealed=revealed,
    )


def claim_of(model: ReadModel, run: RunRecord, metric: str) -> Claim:
    """Return what is said of a metric.

    Raises:
        NotFoundError: the rubric has no such metric, or it has no number.
    """
    source = model.score_input(run)
    if metric not in source.rubric.metrics:
        message = f"rubric {run.rubric} has no metric {metric!r}"
        raise NotFoundError(message, hint=f"it has {', '.join(sorted(source.rubric.metrics))}")
    score = score_metric(source, metric)
    if score.headline is None:
        message = f"{metric} of {run.name} is unavailable: {score.unavailable}"
        raise NotFoundError(message, hint=f"ledger scores {run.name}")
    return Claim(
        run=run.name,
        metric=metric,
        link=run.links,
        headline=score.headline,
        decided=score.decided,
        denominator=score.denominator,
        planned=score.planned,
    )


def chosen(model: ReadModel, run: RunRecord) -> dict[int, bytes]:
    """Return the documents that a number of a run rests on, by seq: its links and its documents.

    Besides the links these are ledger.opened, every change of key, the frozen dataset, rubric and
    manifest, and the start of each call whose failure counts by what the call was for.
    """
    found: dict[int, bytes] = {}
    registry = model.registry
    dataset = registry.datasets[run.dataset]
    named = (run.rubric_hash, run.manifest, dataset.questions.blob)
    seqs = [1, *(registry.places[key] for key in named)]
    for document in model.ledger.store.scope(None, None, upto=model.size):
        event = decode_event(document)
        if event.seq in seqs or isinstance(event.data, events.KeyRotated):
            found[event.seq] = document
    found.update(linked(model, run.name, run.links))
    if run.derived_from is not None:
        assert run.derived_link is not None, "a derived run cites a link"
        found.update(linked(model, run.derived_from, run.derived_link))
    found.update(starts_of_failed_calls(model, found.values()))
    return dict(sorted(found.items()))


def linked(model: ReadModel, run: str, link: int) -> dict[int, bytes]:
    """Return the links of a run up to one, by seq."""
    found: dict[int, bytes] = {}
    for document in model.ledger.store.run_documents(run, upto=model.size):
        event = decode_event(document)
        if event.link is not None and event.link.n <= link:
            found[event.seq] = document
    return found


def starts_of_failed_calls(
    model: ReadModel, documents: Iterable[bytes]
) -> Iterator[tuple[int, bytes]]:
    """Yield the start of every call that a failure names, by seq."""
    wanted: set[tuple[str | None, str, str]] = set()
    runs: set[str] = set()
    for document in documents:
        event = decode_event(document)
        data = event.data
        if isinstance(data, events.FailureOccurred) and data.call is not None and event.run:
            wanted.add((event.run, str(event.trial), data.call))
            runs.add(event.run)
    for run in sorted(runs):
        for document in model.ledger.store.run_documents(run, upto=model.size):
            event = decode_event(document)
            if (
                isinstance(event.data, events.CallStarted)
                and (event.run, str(event.trial), event.data.call) in wanted
            ):
                yield event.seq, document


def plain_documents(ledger: Ledger, stored: dict[int, bytes]) -> dict[str, str]:
    """Return the public documents that some events name, by hash."""
    found: dict[str, str] = {}
    for document in stored.values():
        for reference in plain_references(decode_event(document).data):
            found[reference.blob] = ledger.document_bytes(reference).decode()
    return found


def plain_references(data: events.AnyData) -> list[BlobRef]:
    """Return the public documents without which an event says too little."""
    match data:
        case events.DatasetRegistered(questions=questions, commitments=commitments):
            return [questions, commitments]
        case events.RubricFrozen(document=document) | events.ManifestFrozen(document=document):
            return [document]
        case events.RunOpened(slots=slots) if slots is not None:
            return [slots]
        case _:
            return []


def opened_texts(
    ledger: Ledger,
    model: ReadModel,
    run: RunRecord,
    stored: dict[int, bytes],
    reveal: frozenset[Revealable],
) -> dict[str, Revealed]:
    """Return the texts that were asked for, with their salts; erased ones are left out."""
    names: list[tuple[str, bool]] = []
    if "gold" in reveal:
        planned = model.slots(run).questions
        commitments = model.registry.commitments(run.dataset)
        records = (commitments[name] for name in planned)
        names += [(record, True) for record in records if record is not None]
    for document in stored.values():
        data = decode_event(document).data
        if "answers" in reveal and isinstance(data, events.AnswerSubmitted) and data.answer:
            names.append((data.answer.blob, data.answer.class_ == "gold"))
        if "reasoning" in reveal and isinstance(data, events.JudgmentRecorded) and data.reasoning:
            names.append((data.reasoning.blob, True))
    found: dict[str, Revealed] = {}
    for name, is_gold in names:
        table = ledger.gold.blobs if is_gold and ledger.gold is not None else ledger.store.blobs
        salted = table.salted(bytes.fromhex(name))
        if salted is not None and salted[0] is not None:
            salt, content = salted
            assert salt is not None, "looked at above"
            found[name] = Revealed(salt=salt.hex(), content=base64.b64encode(content).decode())
    return found
