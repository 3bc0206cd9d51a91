"""Which run, trial or judgment a name on the command line means.

Invariant: an address has one text form, `run/trial/judgment`, which is accepted wherever it is
printed; a shorter name is accepted only where it means one thing.
"""

from collections.abc import Iterable

import msgspec

from trial_ledger.errors import AmbiguousError, InvalidInputError, NotFoundError
from trial_ledger.identifiers import TrialKey, parse_trial
from trial_projections.derivation import trial_name
from trial_projections.fold import SEPARATOR, key_of
from trial_projections.reading import ReadModel
from trial_projections.records import JudgmentRecord, SessionRecord

__all__ = ["About", "Found", "find_judgment", "find_run_or_trial", "key_in"]

PARTS = 3
"""Of the full address of a judgment."""

Match = tuple[str, SessionRecord, str]
"""Run, trial and id of a judgment."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What an act is about."""

    run: str
    """The run."""
    trial: TrialKey | None = None
    """The trial; None where it is about the run as a whole."""
    judgment: str | None = None
    """The judgment; None where it is about all of the trial."""
    metric: str | None = None
    """The only metric that it can change; None where it can change all."""

    def __str__(self) -> str:
        """Return its address, as commands take it."""
        parts = (self.run, self.trial, self.judgment)
        return "/".join(str(part) for part in parts if part is not None)


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A judgment that a name means."""

    about: About
    """Where it is."""
    trial: SessionRecord
    """Its trial, or what a derived run judged of it."""
    judgment: JudgmentRecord
    """The judgment."""

    @property
    def effective(self) -> JudgmentRecord:
        """The judgment in force: itself, or the last one of those that replaced it."""
        known = {judgment.id: judgment for judgment in self.trial.judgments}
        found = self.judgment
        while found.replaced_by is not None:
            found = known[found.replaced_by]
        return found


def find_judgment(model: ReadModel, name: str) -> Found:
    """Return the judgment that a name means: `run/trial/judgment`, or an id that only it has.

    Run and judgment may be given by a prefix that only they have, and a session of `s1` left out.

    Raises:
        NotFoundError: there is none, or one that gave no verdict.
        AmbiguousError: there are several.
    """
    matches = (addressed(model, name) or searched(model, name)) if name else []
    exact = [match for match in matches if name in {match[2], address_of(match)}]
    chosen = exact or matches
    if len(chosen) > 1:
        raise AmbiguousError(
            "judgment", name, map(address_of, chosen), hint="name it as run/trial/judgment"
        )
    if not chosen:
        message = f"no judgment {name[:80]!r}"
        raise NotFoundError(message, hint="ledger trials RUN --json lists them by trial")
    run, record, identifier = chosen[0]
    judgment = next((known for known in record.judgments if known.id == identifier), None)
    if judgment is None:
        message = f"judgment {address_of(chosen[0])} gave no verdict that could be overridden"
        raise NotFoundError(
            message, hint="a person's own verdict is judgment.recorded: ledger append"
        )
    about = About(
        run=run,
        trial=key_in(model, run, record),
        judgment=identifier,
        metric=judgment.metric,
    )
    return Found(about=about, trial=record, judgment=judgment)


def address_of(match: Match) -> str:
    """Return the full address of a judgment."""
    run, record, identifier = match
    return f"{run}/{trial_name(record)}/{identifier}"


def key_in(model: ReadModel, run: str, record: SessionRecord) -> TrialKey:
    """Return the key of a trial with the configuration of its run."""
    return TrialKey(
        question=record.question,
        configuration=model.manifest(model.run(run)).configuration,
        repetition=record.repetition,
        session=record.session,
    )


def addressed(model: ReadModel, name: str) -> list[Match]:
    """Return the judgments that a name means as `run/trial/judgment`."""
    parts = name.split("/", 2)
    if len(parts) < PARTS or "#" not in parts[1]:
        return []
    run = model.run(parts[0])
    trial = parse_trial(parts[1], configuration="-")
    record = model.state("trials").read(key_of(run.name, str(trial)))
    found = [] if record is None else matches_in(run.name, record, parts[2])
    exact = [match for match in found if match[2] == parts[2]]
    return exact or found


def searched(model: ReadModel, name: str) -> list[Match]:
    """Return the judgments of all runs whose id begins so."""
    found: list[Match] = []
    needle = name.encode("utf-8", "surrogateescape")
    for key, value in model.states.file.scan("trials"):
        if needle in value:
            record = msgspec.msgpack.decode(value, type=SessionRecord)
            found += matches_in(key.partition(SEPARATOR)[0], record, name)
    return found


def matches_in(run: str, record: SessionRecord, prefix: str) -> list[Match]:
    """Return the judgments of one trial whose id begins so."""
    known: Iterable[str] = (
        *(judgment.id for judgment in record.judgments),
        *(failed.id for failed in record.failed_judgments),
    )
    return [(run, record, identifier) for identifier in known if identifier.startswith(prefix)]


def find_run_or_trial(model: ReadModel, name: str) -> About:
    """Return the run or trial that a name means: `RUN`, or `RUN/question#repetition[@session]`.

    Raises:
        NotFoundError: there is no such run or trial.
        AmbiguousError: the run is given by a prefix that others have too.
        InvalidInputError: a trial is named without its run, or in another form.
    """
    start, slash, rest = name.partition("/")
    if "#" in start:
        raise InvalidInputError.single(
            "trial without a run",
            what="command line",
            found=repr(name[:80]),
            expected="RUN/question#repetition[@session]",
        )
    run = model.run(start)
    if not slash:
        return About(run=run.name)
    trial = parse_trial(rest, configuration=model.manifest(run).configuration)
    known = model.state("trials").read(key_of(run.name, str(trial)))
    # A derived run has no trials of its own, which the guard says with the clause.
    if run.derived_from is None and (known is None or known.started is None):
        message = f"no trial {trial} in {run.name}"
        raise NotFoundError(message, hint=f"ledger trials {run.name}")
    return About(run=run.name, trial=trial)
