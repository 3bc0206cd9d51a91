"""What commands ask of a ledger: runs, trials, failures, costs, the input of scores.

Invariant: every answer is of one size of the log, which it names; `as_of` folds the prefix and
stores nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.errors import AmbiguousError, NotFoundError
from trial_ledger.lifecycle.states import Slots
from trial_ledger.loading import decode_slots
from trial_ledger.registry import Registry
from trial_projections.costs import ACCOUNTS
from trial_projections.fold import Part, State, key_of
from trial_projections.records import (
    AccountRecord,
    OccurrenceRecord,
    RunRecord,
    SessionRecord,
    TrialRecord,
)
from trial_projections.replay import States, bring_up_to_date, fold_part
from trial_projections.scores import RunInput

__all__ = ["Account", "ReadModel", "sessions_by_slot", "size_at_time"]


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One account of one run, open calls counted as unknown (C18)."""

    name: str
    """inference, search or judge."""
    calls: int
    """Calls started."""
    known: dict[str, str]
    """Sum of the known costs by currency, decimal text."""
    known_count: int
    """Calls of known cost."""
    unknown_count: int
    """Calls of unknown cost, lost and unfinished ones included."""
    usage: dict[str, int]
    """Known consumption by part."""
    usage_calls: dict[str, int]
    """How many calls told each part."""
    usage_unknown: int
    """Calls of unknown consumption."""


def size_at_time(ledger: Ledger, time: str) -> int:
    """Return how many events stand before the first that was recorded after a time.

    Args:
        ledger: an open ledger.
        time: UTC with six digits.
    """
    size = 0
    for stored in ledger.events():
        if stored.event.recorded_at > time:
            break
        size = stored.event.seq
    return size


class ReadModel:
    """The read side of a ledger at one size of the log.

    Until it is closed the stored projections stay as they are, so other processes that want to
    bring them further wait, and after ten seconds fold for themselves: close it soon.
    """

    def __init__(self, ledger: Ledger, states: States, registry: Registry) -> None:
        self.ledger = ledger
        self.states = states
        self.registry = registry
        self.size = states.size

    @classmethod
    def open(cls, ledger: Ledger, *, as_of: int | None = None) -> "ReadModel":
        """Return the read side of the whole log, or of its first events.

        Args:
            ledger: an open ledger.
            as_of: only events up to this seq; None for all.
        """
        if as_of is None:
            return cls(ledger, bring_up_to_date(ledger), ledger.registry())
        size = min(as_of, ledger.store.size())
        return cls(ledger, fold_part(ledger.events(upto=size), size), ledger.registry())

    def state(self, name: str) -> State[Any]:
        """Return the state of a projection."""
        return self.states.by_name[name]

    def runs(self) -> list[RunRecord]:
        """Return every run in the order in which they were opened."""
        records: Iterable[RunRecord] = self.state("runs").scan()
        return sorted(records, key=lambda run: run.opened.seq)

    def run(self, name: str) -> RunRecord:
        """Return a run by name, or by a prefix that only it has.

        Raises:
            NotFoundError: there is none.
            AmbiguousError: there are several of that prefix.
        """
        exact: RunRecord | None = self.state("runs").read(name)
        if exact is not None:
            return exact
        names = [run.name for run in self.runs()]
        matching = [known for known in names if known.startswith(name)] if name else []
        if len(matching) > 1:
            raise AmbiguousError("run", name, matching)
        if not matching:
            message = f"no run {name!r} in {self.ledger.store.path} at seq {self.size}"
            there = f"there is {', '.join(names[:5])}" if names else "there is none yet"
            raise NotFoundError(message, hint=f"ledger runs; {there}")
        found: RunRecord | None = self.state("runs").read(matching[0])
        assert found is not None, "the name was just listed"
        return found

    def trials(self, run: RunRecord) -> list[TrialRecord]:
        """Return the trials of a run by key; a derived run has its parent's, to the cited link."""
        return self.records_of(run, TrialRecord)

    def records_of(self, run: RunRecord, record: type[Part]) -> list[Part]:
        """Return the trials of a run as records of a type, by key."""
        if run.derived_from is None:
            return self.own_records(run.name, record)
        parent = self.parent_states(run)
        try:
            return list(parent.by_name["trials"].scan_as(record, run.derived_from))
        finally:
            parent.close()

    def own_records(self, run: str, record: type[Part]) -> list[Part]:
        """Return the records that events of this run made, by key; a derived run's only judge."""
        return list(self.state("trials").scan_as(record, run))

    def parent_states(self, run: RunRecord) -> States:
        """Return the states of a derived run's parent as they were at the cited link."""
        assert run.derived_from is not None, "the run is derived"
        seq = self.seq_of_derivation(run)
        return fold_part(self.ledger.events(run=run.derived_from, upto=seq), seq)

    def seq_of_derivation(self, run: RunRecord) -> int:
        """Return the seq of the parent's link that a derived run cites."""
        assert run.derived_from is not None, "the run is derived"
        assert run.derived_link is not None, "a derived run cites a link"
        seq = self.ledger.store.seq_of_link(run.derived_from, run.derived_link)
        assert seq is not None, "the guard looked the link up"
        return seq

    def occurrences(self, run: str) -> list[OccurrenceRecord]:
        """Return every failure occurrence of a run, in the order they were recorded."""
        found = [known.occurrence for known in self.state("failures").scan(run, "occurrence")]
        return sorted(found, key=lambda occurrence: occurrence.mark.seq)

    def accounts(self, run: str) -> list[Account]:
        """Return the accounts of a run; calls that never ended count as unknown."""
        open_calls: defaultdict[str, int] = defaultdict(int)
        for record in self.state("costs").scan(run, "open"):
            open_calls[record.open_call] += 1
        found: list[Account] = []
        for name in ACCOUNTS:
            record = self.state("costs").read(key_of(run, "account", name))
            if record is None:
                continue
            account: AccountRecord = record.account
            found.append(
                Account(
                    name=name,
                    calls=account.calls,
                    known=account.tally.known,
                    known_count=account.tally.known_count,
                    unknown_count=account.tally.unknown_count + open_calls[name],
                    usage=account.usage,
                    usage_calls=account.usage_calls,
                    usage_unknown=account.usage_unknown + open_calls[name],
                )
            )
        return found

    def rubric(self, run: RunRecord) -> Rubric:
        """Return the rubric of a run."""
        return self.registry.rubric_document(self.registry.rubrics[run.rubric])

    def manifest(self, run: RunRecord) -> Manifest:
        """Return the manifest of a run."""
        return self.registry.manifest_document(self.registry.manifests[run.manifest])

    def score_input(self, run: RunRecord) -> RunInput:
        """Return everything that the scores of a run depend on."""
        judged = None
        if run.derived_from is not None:
            judged = {
                (trial.question, trial.repetition, trial.session): trial
                for trial in self.own_records(run.name, SessionRecord)
            }
        return RunInput(
            rubric=self.rubric(run),
            slots=self.slots(run),
            questions=self.registry.questions(run.dataset),
            allows_retries=self.manifest(run).session == "first-unless-retryable",
            sessions=sessions_by_slot(self.records_of(run, SessionRecord)),
            judged=judged,
        )

    def slots(self, run: RunRecord) -> Slots:
        """Return the planned slots of a run."""
        return decode_slots(self.ledger.document_bytes(run.slots))

    def planned_texts(self, run: RunRecord) -> frozenset[str]:
        """Return the words of every planned question, by which it is known in any dataset."""
        questions = self.registry.questions(run.dataset)
        texts = (questions[name].question for name in self.slots(run).questions)
        return frozenset(text for text in texts if text is not None)

    def close(self) -> None:
        """Close the projections file."""
        self.states.close()


Session = TypeVar("Session", bound=SessionRecord)


def sessions_by_slot(trials: Iterable[Session]) -> dict[tuple[str, int], list[Session]]:
    """Return the trials that were started by question and repetition, in the order of their start.

    Events of a trial that never started are accepted only of occurrences (C23): no session.
    """
    found: dict[tuple[str, int], list[Session]] = {}
    for trial in trials:
        if trial.started is not None:
            found.setdefault((trial.question, trial.repetition), []).append(trial)
    for sessions in found.values():
        if len(sessions) > 1:
            sessions.sort(key=order_of_start)
    return found


def order_of_start(trial: SessionRecord) -> int:
    """Return the place of a trial's start."""
    assert trial.started is not None, "only started trials are sessions"
    return trial.started.seq
