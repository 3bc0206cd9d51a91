"""The trials of a file, sorted into runs, with every planned slot accounted for.

Invariant: a trial's key stands once in its run, a question id means one question, one text and one
gold answer, and a planned slot without a row is known as missing (C16).
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trial_ledger.documents.records import Place
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.rows_faults import RowFaults
from trial_ledger.importing.rows_source import Row
from trial_ledger.importing.rows_structs import RowMap, Value
from trial_ledger.importing.rows_trials import TrialFacts, TrialReader, merged
from trial_ledger.importing.rows_values import RowReader
from trial_ledger.importing.source import safe_name
from trial_ledger.strict_json import shorten

__all__ = ["QuestionFacts", "RunFacts", "Slot", "runs_of"]

MAX_SLOTS = 10_000_000
Slot = tuple[str, int]
"""Question and repetition."""


class QuestionFacts(msgspec.Struct, kw_only=True):
    """One question of the file."""

    place: Place
    """The row that names it first."""
    raw_id: str
    """Its id as the source writes it."""
    text: str | None
    """Its text."""
    gold: Sequence[str]
    """Its right answers."""


class RunFacts(msgspec.Struct, kw_only=True):
    """One run of the file."""

    value: str | None
    """What tells it from the other runs of the file."""
    configuration: str
    """The system under test."""
    system: Mapping[str, object]
    """What else is known of that."""
    row: Row
    """Its first row, from which its reported numbers are looked up."""
    trials: list[tuple[TrialFacts, int]]
    """Its trials, each with its repetition, in the order of the file."""
    questions: Sequence[str]
    """Planned questions."""
    repetitions: int
    """Planned repetitions."""
    missing: Sequence[Slot]
    """Planned slots without a row."""


RunKey = tuple[str | None, str]


def runs_of(
    rows: Iterator[Row], row_map: RowMap, reader: RowReader
) -> tuple[list[RunFacts], dict[str, QuestionFacts]]:
    """Return the runs of a file, and its questions by id.

    Raises:
        InvalidInputError: the file as a whole cannot be read.
    """
    trials = TrialReader(row_map, reader)
    groups: dict[RunKey, list[TrialFacts]] = {}
    firsts: dict[RunKey, Row] = {}
    for row in rows:
        reader.columns.update(dict.fromkeys(row.values))
        if row_map.only is not None and not reader.holds(row_map.only, row):
            continue
        facts = trials.read(row)
        if facts is not None:
            key = (facts.run, facts.configuration)
            groups.setdefault(key, []).append(facts)
            firsts.setdefault(key, row)
    if not groups and not reader.faults.problems:
        reader.faults.add("holds no row", expected="at least one")
    if row_map.rows_are == "calls":
        groups = {key: list(joined(found, reader)) for key, found in groups.items()}
    questions = questions_of(groups, reader.faults)
    planner = Planner(row_map, reader, list(questions))
    runs = [planner.run(key, found, firsts[key]) for key, found in groups.items()]
    return runs, questions


def joined(trials: Sequence[TrialFacts], reader: RowReader) -> Iterator[TrialFacts]:
    """Yield one trial for the rows of calls that share a key."""
    groups: dict[tuple[str, int | None, str], list[TrialFacts]] = {}
    for trial in trials:
        key = (trial.question, trial.repetition, trial.session)
        groups.setdefault(key, []).append(trial)
    for found in groups.values():
        yield merged(found, reader)


def questions_of(
    groups: Mapping[RunKey, Sequence[TrialFacts]], faults: RowFaults
) -> dict[str, QuestionFacts]:
    """Return the questions of a file, reporting ids, texts and gold that contradict each other."""
    questions: dict[str, QuestionFacts] = {}
    for trial in (trial for trials in groups.values() for trial in trials):
        known = questions.get(trial.question)
        if known is None:
            questions[trial.question] = QuestionFacts(
                place=trial.place,
                raw_id=trial.raw_id,
                text=trial.question_text,
                gold=trial.gold,
            )
            continue
        if known.raw_id != trial.raw_id:
            faults.add(
                f"two question ids are one text, the other on {known.place}",
                place=trial.place,
                field="id",
                found=trial.raw_id,
                expected=known.raw_id,
                clause="C1",
            )
        agree(trial, known, faults)
    return questions


def agree(trial: TrialFacts, known: QuestionFacts, faults: RowFaults) -> None:
    """Take over what a later row of a question says, reporting what contradicts an earlier one."""
    for name, mine, theirs in (
        ("question", trial.question_text, known.text),
        ("gold", trial.gold, known.gold),
    ):
        if mine and theirs and mine != theirs:
            faults.add(
                f"another {name} than on {known.place} for one question id",
                place=trial.place,
                field=name,
                found=mine,
                expected=shorten(theirs),
                clause="C1",
            )
    known.text = known.text or trial.question_text
    known.gold = known.gold or trial.gold


class Planner:
    """Numbers the trials of a run and finds the planned slots that have none."""

    def __init__(self, row_map: RowMap, reader: RowReader, questions: Sequence[str]) -> None:
        self.map = row_map
        self.reader = reader
        self.all_questions = questions

    def run(self, key: RunKey, trials: Sequence[TrialFacts], row: Row) -> RunFacts:
        """Return one run.

        Raises:
            InvalidInputError: more planned slots than any run has.
        """
        numbered = list(self.numbered(trials))
        seen = max((repetition for _, repetition in numbered), default=1)
        planned = self.map.planned
        if planned.repetitions is not None and planned.repetitions < seen:
            self.reader.faults.add(
                "more repetitions than planned", found=seen, expected=str(planned.repetitions)
            )
        repetitions = max(planned.repetitions or seen, seen)
        own = dict.fromkeys(trial.question for trial in trials)
        questions = list(dict.fromkeys([*self.listed(row), *own]))
        if len(questions) * repetitions > MAX_SLOTS:
            raise InvalidInputError.single(
                "too many planned slots",
                what="rows",
                source=self.reader.faults.source,
                found=str(len(questions) * repetitions),
                expected=f"<= {MAX_SLOTS}",
            )
        present = {(trial.question, repetition) for trial, repetition in numbered}
        return RunFacts(
            value=key[0],
            configuration=key[1],
            system=self.system(trials),
            row=row,
            trials=numbered,
            questions=questions,
            repetitions=repetitions,
            missing=[
                (question, repetition)
                for question in questions
                for repetition in range(1, repetitions + 1)
                if (question, repetition) not in present
            ],
        )

    def listed(self, row: Row) -> Sequence[str]:
        """Return the questions that are planned whether a row has them or not."""
        questions = self.map.planned.questions
        if isinstance(questions, Value):
            return [safe_name(text) for text in self.reader.texts(questions, row) or () if text]
        return self.all_questions if questions == "file" else ()

    def numbered(self, trials: Sequence[TrialFacts]) -> Iterator[tuple[TrialFacts, int]]:
        """Yield every trial with its repetition, reporting keys that stand twice."""
        counts: dict[tuple[str, str], int] = {}
        places: dict[tuple[str, int, str], Place] = {}
        for trial in trials:
            repetition = trial.repetition
            if repetition is None:
                which = (trial.question, trial.session)
                repetition = counts[which] = counts.get(which, 0) + 1
            key = (trial.question, repetition, trial.session)
            if key in places:
                self.reader.faults.add(
                    f"the trial of {places[key]} again: question, configuration, repetition and"
                    " session are the same",
                    place=trial.place,
                    found=trial.question,
                    expected="another repetition or session, or repetition = {count = true}",
                    clause="C16",
                )
                continue
            places[key] = trial.place
            yield trial, repetition

    def system(self, trials: Sequence[TrialFacts]) -> Mapping[str, object]:
        """Return what is known of the system under test, the same in every row."""
        found: dict[str, object] = {}
        for trial in trials:
            for part, value in trial.system.items():
                if value is not None and found.setdefault(part, value) != value:
                    self.reader.faults.add(
                        f"one configuration, two values of system.{part}",
                        place=trial.place,
                        found=value,
                        expected=f"{shorten(found[part])}, or a configuration of its own",
                        clause="C9",
                    )
        return found
