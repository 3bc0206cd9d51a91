"""What commands ask of a ledger: runs, trials, failures, costs, the input of scores.

Invariant: every answer is of one size of the log, which it names; `as_of` folds the prefix and
stores nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.errors import AmbiguousError, NotFoundError
from trial_ledger.identifiers import TrialKey
from trial_ledger.keyed_file import KeyedFile
from trial_ledger.lifecycle.states import Slots
from trial_ledger.loading import decode_slots
from trial_ledger.registry import Registry
from trial_ledger.view import Stored, stored_event
from trial_projections.accounts import Account, accounts_in, trials_in
from trial_projections.aggregate import Profile
from trial_projections.fold import SEPARATOR, Part, State, fold, key_of
from trial_projections.records import (
    OccurrenceRecord,
    RunRecord,
    SessionRecord,
    TrialRecord,
    TrialSpending,
)
from trial_projections.replay import States, ahead, bring_up_to_date, fold_part
from trial_projections.scores import RunInput, score_metric
from trial_projections.standing import TrialsProjection
from trial_projections.tallies import LEAST_SLOTS, TallyMark, keep_tallies, kept_tally

__all__ = ["Account", "ReadModel", "sessions_by_slot", "size_at_time"]


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

    def __init__(
        self, ledger: Ledger, states: States, registry: Registry, *, keeps: bool = False
    ) -> None:
        self.ledger = ledger
        self.states = states
        self.registry = registry
        self.size = states.size
        self.keeps = keeps
        self.counted: list[tuple[RunRecord, dict[str, Counter[Profile]]]] = []

    @classmethod
    def open(cls, ledger: Ledger, *, as_of: int | None = None) -> "ReadModel":
        """Return the read side of the whole log, or of its first events.

        Args:
            ledger: an open ledger.
            as_of: only events up to this seq; None for all.
        """
        if as_of is None:
            return cls(ledger, bring_up_to_date(ledger), ledger.registry(), keeps=True)
        size = min(as_of, ledger.store.size())
        return cls(ledger, fold_part(ledger.events(upto=size), size), ledger.registry())

    @classmethod
    def foreseen(cls, ledger: Ledger, event: Stored) -> "ReadModel":
        """Return the read side as it would be after one more event, which is not written.

        Args:
            ledger: an open ledger.
            event: the event, whose seq follows the last one; no document, and its texts need not
                be stored.
        """
        return cls(ledger, ahead(ledger, event), ledger.registry())

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
        if self.run(run.derived_from).last.seq == self.seq_of_derivation(run):
            # Nothing happened in the parent since: its records are those that the link fixed.
            return self.own_records(run.derived_from, record)
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
        return accounts_in(self.states, run)

    def spending(self, run: RunRecord) -> tuple[list[Account], dict[str, TrialSpending]]:
        """Return what the trials of a run spent: accounts, and every trial's part by its name.

        A derived run has its parent's trials, as they were at the cited link; what judging them
        cost is in its own accounts.
        """
        if run.derived_from is None:
            return accounts_in(self.states, run.name), trials_in(self.states, run.name)
        parent = self.run(run.derived_from)
        if parent.last.seq == self.seq_of_derivation(run):
            return accounts_in(self.states, parent.name), trials_in(self.states, parent.name)
        states = self.parent_states(run)
        try:
            return accounts_in(states, parent.name), trials_in(states, parent.name)
        finally:
            states.close()

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
        source = self.input_of(run, self.slots(run), self.records_of(run, SessionRecord), judged)
        if self.keeps and source.slots.count >= LEAST_SLOTS:
            self.counted.append((run, source.tallies))
        return source

    def input_of(
        self,
        run: RunRecord,
        slots: Slots,
        trials: Iterable[SessionRecord],
        judged: dict[tuple[str, int, str], SessionRecord] | None,
    ) -> RunInput:
        """Return what the scores of some slots of a run depend on."""
        return RunInput(
            rubric=self.rubric(run),
            slots=slots,
            questions=self.registry.questions(run.dataset),
            allows_retries=self.manifest(run).session == "first-unless-retryable",
            sessions=sessions_by_slot(trials),
            judged=judged,
        )

    def question_input(self, run: RunRecord, question: str) -> RunInput:
        """Return what the scores of one question of a run depend on; no other trial is read."""
        own = list(self.question_records(run.name, question))
        trials, judged = own, None
        if run.derived_from is not None:
            judged = {(trial.question, trial.repetition, trial.session): trial for trial in own}
            trials = self.parent_records(run, question)
        slots = Slots(questions=(question,), repetitions=self.slots(run).repetitions)
        return self.input_of(run, slots, trials, judged)

    def question_records(self, run: str, question: str) -> Iterator[SessionRecord]:
        """Yield the records that events of this run made of one question's trials, by key."""
        for _, value in self.states.file.scan("trials", question_prefix(run, question)):
            yield msgspec.msgpack.decode(value, type=SessionRecord)

    def parent_records(self, run: RunRecord, question: str) -> list[SessionRecord]:
        """Return one question's trials in the parent of a derived run, as at the cited link."""
        assert run.derived_from is not None, "the run is derived"
        prefix, until = question_prefix(run.derived_from, question), self.seq_of_derivation(run)
        trials = [
            key.rpartition(SEPARATOR)[2] for key, _ in self.states.file.scan("trials", prefix)
        ]
        documents = [
            document
            for trial in trials
            for document in self.ledger.store.scope(run.derived_from, trial, upto=until)
        ]
        projection, file = TrialsProjection(), KeyedFile.temporary()
        state = projection.start(file)
        fold([(projection, state)], map(stored_event, documents))
        try:
            return list(state.scan_as(SessionRecord))
        finally:
            file.close()

    def invalidated_trials(self, run: str) -> list[SessionRecord]:
        """Return the trials of a run that are invalidated now, by key."""
        found = (
            msgspec.msgpack.decode(value, type=SessionRecord)
            for value in self.states.file.values("trials", key_of(run, ""))
            if CHANGED in value
        )
        return [trial for trial in found if trial.changes and not trial.changes[-1].valid]

    def tally(self, run: RunRecord, metric: str) -> Counter[Profile]:
        """Return how many questions have each profile of cells under a metric that has a number.

        It is taken from what an earlier command counted where nothing changed since.
        """
        return self.tallies(run, [metric])[metric]

    def tallies(self, run: RunRecord, metrics: Iterable[str]) -> dict[str, Counter[Profile]]:
        """Return the tallies of several metrics; the run is read once, if at all."""
        found: dict[str, Counter[Profile]] = {}
        source: RunInput | None = None
        for metric in metrics:
            kept = self.kept_tally(run, metric)
            if kept is None:
                source = source or self.score_input(run)
                score_metric(source, metric)
                kept = source.tallies[metric]
            found[metric] = kept
        return found

    def kept_tally(self, run: RunRecord, metric: str) -> Counter[Profile] | None:
        """Return what an earlier command counted; None where it counted nothing, or before."""
        return kept_tally(self.states.file, self.tally_mark(run), metric)

    def remember(self, run: RunRecord, tallies: dict[str, Counter[Profile]]) -> None:
        """Keep tallies of this size, where a later command is to find them."""
        if self.keeps and run.planned >= LEAST_SLOTS:
            self.counted.append((run, tallies))

    def tally_mark(self, run: RunRecord) -> TallyMark:
        """Return the last link of a run, which stands for everything that its scores depend on."""
        seq = self.ledger.store.seq_of_link(run.name, run.links)
        assert seq is not None, "the run has that link"
        return TallyMark(run=run.name, link=run.links, hash=self.ledger.read(seq).hash)

    def slots(self, run: RunRecord) -> Slots:
        """Return the planned slots of a run."""
        return decode_slots(self.ledger.document_bytes(run.slots))

    def planned_texts(self, run: RunRecord) -> frozenset[str]:
        """Return the words of every planned question, by which it is known in any dataset."""
        questions = self.registry.questions(run.dataset)
        texts = (questions[name].question for name in self.slots(run).questions)
        return frozenset(text for text in texts if text is not None)

    def close(self) -> None:
        """Close the projections file, having kept what was counted."""
        tallies = {
            (mark, metric): profiles
            for run, found in self.counted
            for mark in [self.tally_mark(run)]
            for metric, profiles in found.items()
            if kept_tally(self.states.file, mark, metric) is None
        }
        if tallies:
            keep_tallies(self.states.file, tallies)
        self.states.close()


CHANGED = b"changes"
"""What stands in the stored form of a trial that was ever invalidated, and of hardly any other."""


def question_prefix(run: str, question: str) -> str:
    """Return what the keys of one question's trials begin with."""
    trial = str(TrialKey(question=question, configuration="-", repetition=1))
    return key_of(run, trial.rpartition("#")[0] + "#")


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
