"""Finds what a name means: an occurrence, a trial or a call, in one run or in the whole ledger.

Invariant: a name means one thing or is refused with every address that it could mean; ids are
looked up in the projections, and only a hash that they do not hold is looked for in the log.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from trial_ledger import events
from trial_ledger.errors import AmbiguousError, InvalidInputError, NotFoundError
from trial_ledger.identifiers import parse_trial
from trial_ledger.view import Stored
from trial_projections.fold import State, key_of
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord

__all__ = ["Subject", "Target", "find_target"]

Subject = Literal["occurrence", "call", "trial"]

SEQ = re.compile(r"[0-9]{1,15}")
HEX = re.compile(r"[0-9a-f]{4,64}")
HINT = "ledger failures RUN lists occurrences, ledger trials RUN trials, ledger log RUN calls"
ANY = "-"
"""The run says which configuration it is; the name of a trial does not."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be traced."""

    run: str
    """The run in whose numbers it is seen."""
    source: str
    """The run whose events tell of it: the same, or the parent of a derived run."""
    trial: str | None
    """The trial; None for what belongs to the run as a whole."""
    subject: Subject
    """What it is."""
    id: str | None = None
    """Id of the occurrence or call; None for a trial."""

    @property
    def address(self) -> str:
        """The name that means this and nothing else."""
        return "/".join(part for part in (self.run, self.trial, self.id) if part is not None)


class Scope(msgspec.Struct, frozen=True):
    """A run in whose numbers things are seen, and one whose events tell of them."""

    run: str
    source: str


def find_target(model: ReadModel, name: str, *, run: str | None = None) -> Target:
    """Return what a name means.

    Args:
        model: the read side.
        name: id of an occurrence or call or the beginning of one, a trial, `RUN/TRIAL`,
            `RUN/TRIAL/ID`, or an event by seq, id or hash.
        run: look only here; a derived run has the trials of its parent.

    Raises:
        NotFoundError: nothing is called so.
        AmbiguousError: several things are.
    """
    runs = model.runs() if run is None else [model.run(run)]
    scopes = [scope for record in runs for scope in scopes_of(record, alone=run is None)]
    if SEQ.fullmatch(name):
        return target_at(model, int(name), scopes)
    found = addressed(model, name, runs)
    if not found and name:
        found = best(search(model, name, scopes), name)
    if not found and HEX.fullmatch(name):
        found = by_hash(model, name, scopes)
    return only(found, name)


def scopes_of(record: RunRecord, *, alone: bool) -> list[Scope]:
    """Return where the things of a run are told of; alone, a derived run has its own only."""
    own = Scope(record.name, record.name)
    if alone or record.derived_from is None:
        return [own]
    return [Scope(record.name, record.derived_from), own]


def addressed(model: ReadModel, name: str, runs: Sequence[RunRecord]) -> list[Target]:
    """Return what an address may mean that begins with a run, or the beginning of its name."""
    first, _, rest = name.partition("/")
    if not first or not rest:
        return []
    records = [record for record in runs if record.name.startswith(first)]
    exact = [record for record in records if record.name == first]
    scopes = [scope for record in exact or records for scope in scopes_of(record, alone=False)]
    return best(search(model, rest, scopes), rest)


def best(found: Iterable[Target], name: str) -> list[Target]:
    """Return the targets whose whole name it is, else those whose name begins so, each once.

    An occurrence comes before a call of the same id in the same trial.
    """
    whole: dict[str, Target] = {}
    begun: dict[str, Target] = {}
    for target in found:
        known = {target.id, target.trial, f"{target.trial}/{target.id}"}
        (whole if name in known else begun).setdefault(target.address, target)
    return list((whole or begun).values())


def search(model: ReadModel, name: str, scopes: Sequence[Scope]) -> Iterator[Target]:
    """Yield everything in some runs that a name may mean, or the beginning of.

    What is named by its trial is found by key; only where there is none are the ids of whole runs
    looked through.
    """
    trial, _, inner = name.partition("/")
    found = False
    for scope in scopes:
        for key in trials_named(model, name, scope):
            found = True
            yield Target(run=scope.run, source=scope.source, trial=key, subject="trial")
        for key in trials_named(model, trial, scope) if inner else ():
            for target in named_in(model, inner, scope, key):
                found = True
                yield target
    if not found:
        for scope in scopes:
            yield from named_in(model, name, scope, None)


def trials_named(model: ReadModel, name: str, scope: Scope) -> list[str]:
    """Return the trials of a run that a name means: one, or every session of a slot."""
    try:
        key = str(parse_trial(name, configuration=ANY))
    except InvalidInputError:
        return []  # It names no trial, and may still name something else.
    trials = model.state("trials")
    if "@" in name:
        return [] if trials.read(key_of(scope.source, key)) is None else [key]
    slot = key.rpartition("@")[0]
    return [parts[1] for parts in trials.keys(scope.source, begin=f"{slot}@")]


def named_in(model: ReadModel, name: str, scope: Scope, trial: str | None) -> Iterator[Target]:
    """Yield the occurrences, then the calls, whose id begins so; of every trial where None."""
    failures = model.state("failures")
    within = () if trial is None else (trial,)
    for parts in failures.keys(scope.source, "occurrence", *within):
        if parts[3].startswith(name):
            yield Target(
                run=scope.run,
                source=scope.source,
                trial=parts[2] or None,
                subject="occurrence",
                id=parts[3],
            )
    for key, calls in calls_in(failures, scope, trial):
        for call in calls:
            if call.startswith(name):
                yield Target(run=scope.run, source=scope.source, trial=key, subject="call", id=call)


def calls_in(
    failures: State[Any], scope: Scope, trial: str | None
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the ids of the calls of a trial, or of every trial of a run, by trial."""
    if trial is None:
        for parts, record in failures.items(scope.source, "calls"):
            yield parts[2], record.calls
        return
    known = failures.read(key_of(scope.source, "calls", trial))
    yield trial, () if known is None else known.calls


def by_hash(model: ReadModel, name: str, scopes: Sequence[Scope]) -> list[Target]:
    """Return what the events are of whose hash or id begins so; this reads the whole log."""
    found = [
        target_of(stored, scopes)
        for stored in model.ledger.events(upto=model.size)
        if stored.hash.startswith(name) or stored.event.id.startswith(name)
    ]
    return best((target for target in found if target is not None), name)


def target_at(model: ReadModel, seq: int, scopes: Sequence[Scope]) -> Target:
    """Return what the event at a place is of.

    Raises:
        NotFoundError: there is no such event, or it is of no trial and no failure.
    """
    if not 1 <= seq <= model.size:
        message = f"no event {seq}: the log is seen up to seq {model.size}"
        raise NotFoundError(message, hint="ledger log")
    stored = model.ledger.read(seq)
    found = target_of(stored, scopes)
    if found is None:
        message = f"event {seq} ({stored.event.kind}) is of no trial and no failure to be traced"
        raise NotFoundError(message, hint=f"ledger show {seq}")
    return found


def target_of(stored: Stored, scopes: Sequence[Scope]) -> Target | None:
    """Return what an event is of, None where that is nothing to trace or in no such run."""
    event = stored.event
    scope = next((scope for scope in scopes if scope.source == event.run), None)
    if scope is None:
        return None
    trial = None if event.trial is None else str(event.trial)
    subject: Subject = "trial"
    identifier: str | None = None
    match event.data:
        case (
            events.FailureOccurred(occurrence=name)
            | events.FailureRecovered(occurrence=name)
            | events.FailureAssessed(occurrence=name)
            | events.FailureSurfaced(occurrence=name)
            | events.ResponseLost(occurrence=name)
            | events.JudgmentFailed(occurrence=str() as name)
        ):
            subject, identifier = "occurrence", name
        case events.CallStarted(call=name) | events.CallFinished(call=name):
            subject, identifier = "call", name
        case _ if trial is None:
            return None
        case _:
            pass  # Any other event of a trial stands for the trial.
    return Target(run=scope.run, source=scope.source, trial=trial, subject=subject, id=identifier)


def only(found: Sequence[Target], name: str) -> Target:
    """Return the one thing that a name means.

    Raises:
        NotFoundError: it means nothing.
        AmbiguousError: it means several.
    """
    if not found:
        message = f"nothing called {name!r} can be traced"
        raise NotFoundError(message, hint=HINT)
    if len(found) > 1:
        raise AmbiguousError(
            "name",
            name,
            (target.address for target in found),
            hint="name it as RUN/TRIAL/ID, or by the seq of one of its events",
        )
    return found[0]
