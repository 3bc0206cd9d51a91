"""Loads the guard states of a run and of a trial from the store, by index.

Invariant: a state is read inside the write transaction that will use it, so no other writer can
have changed what it says; nothing folds the whole log.
"""

from collections.abc import Iterable

import msgspec

from trial_ledger.canonical import ZERO_HASH, decode_event, event_hash
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.events import BlobRef, RunOpened
from trial_ledger.lifecycle.states import RunState, Slots, TrialState
from trial_ledger.registry import Registry
from trial_ledger.store import Store

__all__ = [
    "SlotsDocument",
    "decode_slots",
    "encode_slots",
    "fold_trial",
    "load_run",
    "load_trial",
    "new_run",
    "read_plain",
    "unfinished",
]


class SlotsDocument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The stored form of a run's planned slots."""

    questions: tuple[str, ...]
    """Question ids."""
    repetitions: int
    """How often each."""


def encode_slots(slots: Slots) -> bytes:
    """Return the canonical bytes of planned slots."""
    document = SlotsDocument(questions=slots.questions, repetitions=slots.repetitions)
    return msgspec.json.encode(document, order="sorted")


def decode_slots(content: bytes) -> Slots:
    """Return the planned slots of stored or submitted bytes.

    Raises:
        msgspec.ValidationError: the bytes are of another form.
    """
    document = msgspec.json.decode(content, type=SlotsDocument)
    return Slots(questions=document.questions, repetitions=document.repetitions)


def read_plain(store: Store, reference: BlobRef) -> bytes:
    """Return the bytes of a frozen document.

    Raises:
        VerificationError: they are missing, erased or not what was written.
    """
    content = store.blobs.read(reference)
    if content is None:
        message = f"document {reference.blob} was erased"
        raise VerificationError(message)
    return content


def new_run(
    name: str, opened: RunOpened, *, slots: Slots, registry: Registry, cutoff: int | None
) -> RunState:
    """Return the state of a run that was just opened."""
    assert opened.rubric is not None, "the ledger fills it"
    assert opened.dataset is not None, "the ledger fills it"
    questions = registry.questions(opened.dataset)
    return RunState(
        name=name,
        opened=opened,
        manifest=registry.manifest_document(registry.manifests[opened.manifest]),
        rubric=registry.rubric_document(registry.rubrics[opened.rubric]),
        slots=slots,
        shapes={name: questions[name].task_shape for name in slots.questions},
        last_link_hash=ZERO_HASH,
        parent_cutoff=cutoff,
        planned=frozenset(slots.questions),
    )


def load_run(store: Store, registry: Registry, name: str) -> RunState:
    """Return the state of a run.

    Raises:
        NotFoundError: it was never opened.
    """
    documents = store.scope(name, None)
    if not documents:
        message = f"run {name} was never opened"
        raise NotFoundError(message, hint="append run.opened first, or look at: ledger runs")
    events = [decode_event(document) for document in documents]
    opened = events[0].data
    assert isinstance(opened, RunOpened), "a run begins with run.opened"
    assert opened.slots is not None, "the ledger fills it"
    origin = opened.derived_from
    state = new_run(
        name,
        opened,
        slots=decode_slots(read_plain(store, opened.slots)),
        registry=registry,
        cutoff=None if origin is None else store.seq_of_link(origin.run, origin.link),
    )
    for event in events[1:]:
        state.apply(event.data)
    last = store.last_link(name)
    assert last is not None, "run.opened is a link"
    state.links, state.last_link_hash = last[0], event_hash(last[1])
    return state


def load_trial(store: Store, run: RunState, trial: str) -> TrialState:
    """Return the state of a trial.

    In a derived run it begins with the life of the parent's trial up to the cited link; calls,
    failures, verdicts and reviews are the derived run's own; the parent's verdicts stay at hand in
    `carried`, since some may be repeated.
    """
    state = TrialState()
    origin = run.opened.derived_from
    if origin is not None:
        fold_trial(state, store.scope(origin.run, trial, upto=run.parent_cutoff or 0))
        state = TrialState(
            started=state.started,
            outcome=state.outcome,
            answered=state.answered,
            invalidated=state.invalidated,
            lost_response=state.lost_response,
            inspected=state.inspected,
            carried=state,
        )
    fold_trial(state, store.scope(run.name, trial))
    return state


def fold_trial(state: TrialState, documents: Iterable[bytes]) -> None:
    """Take the documents of one trial into account, in order."""
    for document in documents:
        state.apply(decode_event(document).data)


def unfinished(store: Store, run: RunState) -> list[str]:
    """Return the trials and calls of a run that have not ended, in order.

    Trials whose counts of starts and ends agree are not loaded.
    """
    found: list[str] = []
    for trial in store.unbalanced_trials(run.name):
        state = load_trial(store, run, trial)
        if state.started and state.outcome is None:
            found.append(f"trial {trial}")
        found.extend(f"call {call} of trial {trial}" for call in state.open_calls())
    return found
