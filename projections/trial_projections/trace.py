"""The forensics of one occurrence, trial or call, as one value; no formatting (C21 to C26, C34).

Invariant: everything in a trace follows from the events that it names, at one size of the log, and
from the scores of its run; every event of the trial is among its steps.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from trial_ledger.amounts import Tally
from trial_ledger.errors import NotFoundError
from trial_ledger.events import BlobRef
from trial_ledger.identifiers import parse_trial
from trial_ledger.lifecycle.states import Slots
from trial_ledger.view import Stored, stored_event
from trial_projections.reading import ReadModel
from trial_projections.records import OccurrenceRecord, RunRecord
from trial_projections.scores import unavailable_reason
from trial_projections.trace_effect import Effect, effects_of
from trial_projections.trace_facts import Key, OccurrenceFacts, TrialFacts, facts_of
from trial_projections.trace_fate import (
    Attempt,
    Fate,
    Miss,
    RetryPolicy,
    attempt_of,
    endpoint_of,
    fate_of,
    miss_of,
    next_calls,
)
from trial_projections.trace_lookup import ANY, Target
from trial_projections.trace_steps import Chosen, TraceStep, steps_of

__all__ = ["Alike", "Order", "Trace", "trace"]

LONGEST_MESSAGE = 200
"""Characters of a message that a step holds; `ledger show` has all of it."""


class Alike(msgspec.Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """Other occurrences of the same class at the same endpoint in the run."""

    class_: str
    """Failure class."""
    endpoint: str | None
    """Endpoint; null where unknown."""
    count: int
    """How many others."""
    recovered: int
    """Of these, how many were made good."""
    first_at: str | None
    """When the first of them happened; null where no time is known."""
    last_at: str | None
    """When the last did."""
    unknown_times: int
    """How many have no time."""
    seqs: list[int]
    """Their places."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """How far the order of the events was witnessed."""

    run: str
    """The run whose trial it is."""
    entry: str
    """live, appended or imported."""
    judged_in: str | None
    """The derived run in whose numbers it is seen."""
    judged_entry: str | None
    """How that came in."""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the log says around one occurrence, trial or call."""

    size: int
    """Events in the log when it was traced."""
    run: str
    """The run in whose numbers it is seen."""
    valid: bool
    """Whether that run counts."""
    derived_from: str | None
    """The run whose trials a derived run judges."""
    trial: str | None
    """The trial; null for what belongs to the run as a whole."""
    subject: Literal["occurrence", "call", "trial"]
    """What is traced."""
    id: str | None
    """Id of the occurrence or call; null for a trial."""
    address: str
    """The name that means this and nothing else."""
    seq: int
    """Place of the event that it begins with."""
    outcome: str | None
    """How the trial ended; null while it is open or where there is none."""
    reason: str | None
    """Short reason of its end."""
    steps: list[TraceStep]
    """Every event of the trial in order."""
    fates: list[Fate]
    """What became of the occurrences that belong to what is traced, in order."""
    attempts: list[Attempt]
    """The calls that belong to it, in order."""
    cost: Tally
    """What these cost together."""
    effects: list[Effect]
    """What it does to each metric, the primary first."""
    miss: Miss
    """Whether a retrieval miss can be declared."""
    alike: list[Alike]
    """Occurrences like those traced, by class and endpoint."""
    order: Order
    """How far the order was witnessed."""


def trace(model: ReadModel, target: Target) -> Trace:
    """Return what the log says around one occurrence, trial or call.

    Args:
        model: the read side.
        target: what is traced.

    Raises:
        NotFoundError: at this size of the log it is not there, or is no part of a derived run.
    """
    run = model.run(target.run)
    trials = run if run.derived_from is None else model.run(run.derived_from)
    facts = facts_of(events_of(model, run, target))
    require_there(model, facts, target)
    chosen, traced = choose(facts, target)
    shown = [known for key, known in facts.occurrences.items() if key in chosen.occurrences]
    attempts = [
        attempt_of(call, is_live=(trials if key[0] == trials.name else run).entry == "live")
        for key, call in facts.calls.items()
        if key in chosen.calls
    ]
    return Trace(
        size=model.size,
        run=run.name,
        valid=run.is_valid,
        derived_from=run.derived_from,
        trial=target.trial,
        subject=target.subject,
        id=target.id,
        address=target.address,
        seq=first_seq(facts, target),
        outcome=facts.outcome,
        reason=facts.reason,
        steps=steps_of(facts, chosen, lambda reference: text_of(model, reference)),
        fates=[fate_of(known, facts, policy_of(model, known, facts)) for known in shown],
        attempts=attempts,
        cost=total_of(attempts),
        effects=effects_on(model, run, target, traced),
        miss=miss_of(facts, of_trial=target.trial is not None),
        alike=alike_to(model, run, shown if traced is None else traced, facts),
        order=Order(
            run=trials.name,
            entry=trials.entry,
            judged_in=None if trials is run else run.name,
            judged_entry=None if trials is run else run.entry,
        ),
    )


def events_of(model: ReadModel, run: RunRecord, target: Target) -> list[Stored]:
    """Return the events of a trial, or of a run as a whole; found by index."""
    store = model.ledger.store
    documents: list[bytes] = []
    if target.trial is None:
        documents = store.scope(target.source, None, upto=model.size)
    else:
        if run.derived_from is not None:
            upto = model.seq_of_derivation(run)
            documents = store.scope(run.derived_from, target.trial, upto=upto)
        documents += store.scope(run.name, target.trial, upto=model.size)
    return [stored_event(document) for document in documents]


def require_there(model: ReadModel, facts: TrialFacts, target: Target) -> None:
    """Refuse what a later part of the log tells of.

    Raises:
        NotFoundError: the events hold no such thing.
    """
    key = (target.source, target.id or "")
    there = {
        "occurrence": key in facts.occurrences,
        "call": key in facts.calls,
        "trial": bool(facts.stored),
    }
    if not there[target.subject]:
        message = f"{target.subject} {target.address} is not there yet at seq {model.size}"
        raise NotFoundError(message, hint=f"ledger trials {target.run}")


def choose(facts: TrialFacts, target: Target) -> tuple[Chosen, Sequence[OccurrenceFacts] | None]:
    """Return what belongs to the subject of a trace, and the failures whose effect is asked for.

    These are None for a trial, whose own effect is asked for.
    """
    if target.subject == "trial":
        chosen = Chosen(
            calls=facts.calls.keys(),
            occurrences=facts.occurrences.keys(),
            marked=[known.occurred.event.seq for known in facts.occurrences.values()],
            everything=True,
        )
        return chosen, None
    assert target.id is not None, "an occurrence and a call have one"
    key = (target.source, target.id)
    if target.subject == "occurrence":
        traced = [facts.occurrences[key]]
        marked = traced[0].occurred.event.seq
    else:
        traced = [
            known for known in facts.occurrences.values() if (known.key[0], known.data.call) == key
        ]
        marked = facts.calls[key].started.event.seq
    first = traced[0].data.call if target.subject == "occurrence" else target.id
    calls = calls_around(facts, target.source, first, traced)
    around = {
        known.key
        for known in facts.occurrences.values()
        if (known.key[0], known.data.call) in calls
    }
    occurrences = around | {known.key for known in traced}
    return Chosen(calls=calls, occurrences=occurrences, marked=[marked]), traced


def calls_around(
    facts: TrialFacts, run: str, call: str | None, occurrences: Sequence[OccurrenceFacts]
) -> set[Key]:
    """Return a call, its other attempts, and what was tried after its failures."""
    names = [] if call is None else [call]
    for occurrence in occurrences:
        names += [known.call for known in next_calls(occurrence, facts)]
        if occurrence.recovery is not None and occurrence.recovery.call is not None:
            names.append(occurrence.recovery.call)
    return {
        known.key
        for name in names
        if (run, name) in facts.calls
        for known in facts.attempts_of(facts.calls[run, name])
    }


def first_seq(facts: TrialFacts, target: Target) -> int:
    """Return the place of the event that the subject of a trace begins with."""
    key = (target.source, target.id or "")
    match target.subject:
        case "occurrence":
            return facts.occurrences[key].occurred.event.seq
        case "call":
            return facts.calls[key].started.event.seq
        case _:
            return facts.stored[0].event.seq


def policy_of(
    model: ReadModel, occurrence: OccurrenceFacts, facts: TrialFacts
) -> RetryPolicy | None:
    """Return when a call as the failed one is tried again: the manifest's rule, or the judge's."""
    run = model.run(occurrence.key[0])
    call = facts.calls.get((run.name, occurrence.data.call or ""))
    if call is not None and call.data.purpose == "judge":
        judge = model.manifest(run).judge or model.rubric(run).judge
        return None if judge is None else RetryPolicy(judge.attempts, None)
    retry = model.manifest(run).retry
    return None if retry is None else RetryPolicy(retry.attempts, retry.on)


def text_of(model: ReadModel, reference: BlobRef) -> str:
    """Return a message on one line, cut where it is long, or why it is not shown."""
    if reference.class_ == "gold":
        return "(its message is in the gold file)"
    content = model.ledger.blob(reference)
    if content is None:
        return "(its message was redacted)"
    text = " ".join(content.decode("utf-8", errors="replace").split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def total_of(attempts: Sequence[Attempt]) -> Tally:
    """Return what some calls cost together."""
    tally = Tally()
    for attempt in attempts:
        tally.add(attempt.cost)
    return tally


def effects_on(
    model: ReadModel,
    run: RunRecord,
    target: Target,
    traced: Sequence[OccurrenceFacts] | None,
) -> list[Effect]:
    """Return what the subject of a trace does to each metric of a run."""
    key = None if target.trial is None else parse_trial(target.trial, configuration=ANY)
    slots = model.slots(run)
    plan = model.input_of(run, slots, [], None)
    metrics = plan.rubric.metrics
    names = [name for name in metrics if unavailable_reason(plan, metrics[name]) is None]
    if key is None or key.question not in slots.questions:
        nowhere = Slots(questions=(), repetitions=slots.repetitions)
        source = model.input_of(run, nowhere, [], None)
    else:
        source = model.question_input(run, key.question)
    return effects_of(
        source,
        model.tallies(run, names),
        slot=None if key is None else key.slot,
        session=None if key is None else key.session,
        occurrences=traced,
    )


def alike_to(
    model: ReadModel, run: RunRecord, occurrences: Sequence[OccurrenceFacts], facts: TrialFacts
) -> list[Alike]:
    """Return the other occurrences of the same class and endpoint in a run, for each such pair."""
    there = model.occurrences(run.name)
    if run.derived_from is not None:
        upto = model.seq_of_derivation(run)
        parents = model.occurrences(run.derived_from)
        there = [known for known in parents if known.mark.seq <= upto] + there
    own = {known.occurred.event.seq for known in occurrences}
    pairs = dict.fromkeys((known.data.class_, endpoint_of(known, facts)) for known in occurrences)
    others = [known for known in there if known.mark.seq not in own]
    return [
        alike_of(
            class_,
            endpoint,
            [known for known in others if (known.class_, known.endpoint) == (class_, endpoint)],
        )
        for class_, endpoint in pairs
    ]


def alike_of(class_: str, endpoint: str | None, found: Sequence[OccurrenceRecord]) -> Alike:
    """Return some occurrences of one class and endpoint together."""
    times = sorted(known.at for known in found if known.at is not None)
    return Alike(
        class_=class_,
        endpoint=endpoint,
        count=len(found),
        recovered=sum(known.recovered is not None for known in found),
        first_at=times[0] if times else None,
        last_at=times[-1] if times else None,
        unknown_times=len(found) - len(times),
        seqs=[known.mark.seq for known in found],
    )
