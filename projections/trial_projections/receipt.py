"""A score receipt: one number with every document it rests on, to be checked without the ledger.

Invariant: a receipt holds every link of its run from the first to the one it speaks of, so that
nothing in between can be left out, and no text unless it was asked for.
"""

import base64
from collections.abc import Iterable, Iterator

from trial_ledger import events
from trial_ledger.blobs import BlobTable
from trial_ledger.book import Ledger
from trial_ledger.canonical import decode_event
from trial_ledger.errors import NotFoundError
from trial_ledger.events import BlobRef
from trial_ledger.heads import parse_note
from trial_ledger.proof import several_path
from trial_projections.reading import ReadModel
from trial_projections.receipt_structs import Claim, Receipt, Revealable, Revealed
from trial_projections.records import RunRecord
from trial_projections.scores import MetricScore, score_metric

__all__ = ["claim_of", "make_receipt", "named_texts", "number_of"]


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
        claim = claim_of(record, number_of(model, record, metric))
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


def number_of(model: ReadModel, run: RunRecord, metric: str) -> MetricScore:
    """Return a metric of a run that has a number.

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
    return score


def claim_of(run: RunRecord, score: MetricScore) -> Claim:
    """Return what is said of a metric that has a number."""
    assert score.headline is not None, "number_of looked"
    return Claim(
        run=run.name,
        metric=score.name,
        link=run.links,
        headline=score.headline,
        decided=score.decided,
        denominator=score.denominator,
        planned=score.planned,
    )


def chosen(model: ReadModel, run: RunRecord) -> dict[int, bytes]:
    """Return the documents that a number of a run rests on, by seq: its links and its documents.

    Besides the links these are ledger.opened, every change of key, the frozen dataset, rubric and
    manifest, the start of each call whose failure counts by what the call was for, and whatever
    redacted one of the texts that a receipt could open.
    """
    found = linked(model, run.name, run.links)
    if run.derived_from is not None:
        assert run.derived_link is not None, "a derived run cites a link"
        found.update(linked(model, run.derived_from, run.derived_link))
    found.update(starts_of_failed_calls(model, found.values()))
    registry = model.registry
    dataset = registry.datasets[run.dataset]
    named = (run.rubric_hash, run.manifest, dataset.questions.blob)
    seqs = [1, *(registry.places[key] for key in named)]
    texts: set[str] = set()
    texts.update(*named_texts(model, run, map(decode_event, found.values())).values())
    for document in model.ledger.store.scope(None, None, upto=model.size):
        event = decode_event(document)
        match event.data:
            case events.KeyRotated():
                found[event.seq] = document
            case events.BlobRedacted(blob=blob) if blob in texts:
                found[event.seq] = document
            case _ if event.seq in seqs:
                found[event.seq] = document
            case _:
                pass  # It has nothing to do with this number.
    return dict(sorted(found.items()))


def named_texts(
    model: ReadModel, run: RunRecord, linked_events: Iterable[events.Event]
) -> dict[Revealable, dict[str, None]]:
    """Return the hashes of the texts behind a number that a receipt can open, in order.

    Args:
        model: the read side.
        run: the run.
        linked_events: its events, and those of its parent.
    """
    commitments = model.registry.commitments(run.dataset)
    planned = (commitments[question] for question in model.slots(run).questions)
    gold: dict[str, None] = dict.fromkeys(record for record in planned if record is not None)
    answers: dict[str, None] = {}
    reasoning: dict[str, None] = {}
    for event in linked_events:
        match event.data:
            case events.AnswerSubmitted(answer=BlobRef(blob=blob)):
                answers[blob] = None
            case events.JudgmentRecorded(reasoning=BlobRef(blob=blob)):
                reasoning[blob] = None
            case _:
                pass  # Other texts are never opened.
    return {"gold": gold, "answers": answers, "reasoning": reasoning}


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
    """Return the texts that were asked for, with their salts; erased ones are left out.

    Raises:
        NotFoundError: some of them are in the gold file, which is not here.
    """
    names = named_texts(model, run, map(decode_event, stored.values()))
    found: dict[str, Revealed] = {}
    for kind, hashes in names.items():
        for name in hashes if kind in reveal else ():
            # Whoever records a text says whether it shows gold; so it lies in either file.
            table = ledger.store.blobs
            if not table.has(bytes.fromhex(name)):
                if ledger.gold is None:
                    message = f"{kind} cannot be opened: the gold file is not here"
                    raise NotFoundError(message, hint="put the .gold file beside the ledger")
                table = ledger.gold.blobs
            opened = revealed(table, name)
            if opened is not None:
                found[name] = opened
    return found


def revealed(table: BlobTable, name: str) -> Revealed | None:
    """Return an opened text; None where it was erased."""
    salted = table.salted(bytes.fromhex(name))
    if salted is None:
        return None
    salt, content = salted
    assert salt is not None, "texts that are not public are salted"
    return Revealed(salt=salt.hex(), content=base64.b64encode(content).decode())
