"""One row (or the rows of its calls) as the facts of one trial, before any run is known.

Invariant: a trial holds only what its rows say, already checked; whatever could not be read is a
fault of its row, so that nothing is left to go wrong when events are written.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

import msgspec
from blake3 import blake3

from trial_ledger.documents.records import Place
from trial_ledger.importing.rows_calls import Amounts, CallFacts, CallReader, FailureFacts
from trial_ledger.importing.rows_judgments import JudgmentFacts, JudgmentReader
from trial_ledger.importing.rows_source import Row
from trial_ledger.importing.rows_structs import RowMap, Value
from trial_ledger.importing.rows_values import RowReader
from trial_ledger.importing.source import safe_name
from trial_ledger.kinds.base import Outcome
from trial_ledger.strict_json import shorten

__all__ = ["SpendFacts", "TrialFacts", "TrialReader", "merged"]

JOINT = "/"
OUTCOMES: tuple[str, ...] = get_args(Outcome)
KEY_DIGITS = 12


class SpendFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial consumed in one account."""

    name: str
    """Name of the account in the map; also the id of the call that carries it."""
    purpose: str
    """model, search, tool or judge."""
    model: str | None
    """What was paid for."""
    amounts: Amounts
    """Consumption and cost."""


class TrialFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All that the rows of one trial say."""

    place: Place
    """The first of its rows."""
    run: str | None
    """What tells its run from others in the file."""
    configuration: str
    """Name of the system under test."""
    system: Mapping[str, object]
    """What else is said of that."""
    question: str
    """Question id."""
    raw_id: str
    """The id as the source writes it, its type included."""
    question_text: str | None
    """Text of the question."""
    gold: Sequence[str]
    """Right answers, the first one first; empty where none is known."""
    repetition: int | None
    """Which repetition; None where equal keys are numbered."""
    session: str
    """Session id."""
    input: str | None
    """What the agent was given."""
    answer: str | None
    """Its answer."""
    shows_answers: bool
    """Whether the map says where answers stand."""
    citations: str | None
    """Its citations."""
    outcome: str | None
    """How it ended, as the source says; None where that follows from the rest."""
    started: datetime | None
    """When it began."""
    ended: datetime | None
    """When it ended."""
    duration_us: int | None
    """How long it took."""
    failures: Sequence[FailureFacts]
    """What went wrong outside of calls."""
    judgments: Sequence[JudgmentFacts]
    """What was judged."""
    spend: Sequence[SpendFacts]
    """What it consumed."""
    calls: Sequence[CallFacts]
    """Its calls, in the order of the source."""

    @property
    def final_outcome(self) -> str:
        """Return how the trial ended, as the source says or as follows from what it shows."""
        if self.outcome is not None:
            return self.outcome
        for failure in reversed(self.failures):
            if failure.outcome is not None:
                return failure.outcome
        shown = self.answer if self.shows_answers else self.judgments
        if self.failures and not shown:
            return "errored"
        return "answered" if self.answer is not None or self.judgments else "unknown"

    @property
    def end(self) -> datetime | None:
        """Return when the trial ended; computed where only start and length are known."""
        if self.ended is None and self.started is not None and self.duration_us is not None:
            return self.started + timedelta(microseconds=self.duration_us)
        return self.ended

    @property
    def elapsed_us(self) -> int | None:
        """Return how long the trial took, measured or between its times; None where unknown."""
        if self.duration_us is not None or self.started is None or self.ended is None:
            return self.duration_us
        return max((self.ended - self.started) // timedelta(microseconds=1), 0)


class TrialReader:
    """Reads the trials of one file."""

    def __init__(self, row_map: RowMap, reader: RowReader) -> None:
        self.map = row_map
        self.reader = reader
        self.judging = JudgmentReader(row_map, reader)
        self.calling = CallReader(row_map.calls, reader)

    def read(self, row: Row) -> TrialFacts | None:
        """Return what a row says of its trial; None where it has no key, which is reported."""
        reader, row_map = self.reader, self.map
        key = self.key(row)
        configuration = reader.text(row_map.configuration, row)
        if configuration is None:
            self.lacking(row_map.configuration, "the name of the system under test", row)
        if key is None or configuration is None:
            return None
        name, raw_id = key
        facts = TrialFacts(
            place=row.place,
            run=reader.text(row_map.run, row),
            configuration=configuration,
            system={part: reader.raw(value, row) for part, value in row_map.system.items()},
            question=name,
            raw_id=raw_id,
            question_text=reader.text(row_map.question, row) or None,
            gold=self.gold(row),
            repetition=self.repetition(row),
            session=self.session(row),
            input=reader.text(row_map.input, row),
            answer=reader.text(row_map.answer, row),
            shows_answers=row_map.answer is not None,
            citations=reader.text(row_map.citations, row),
            outcome=self.outcome(row),
            started=reader.moment(row_map.started, row),
            ended=reader.moment(row_map.ended, row),
            duration_us=reader.duration(row_map.duration, row),
            failures=list(self.failures(row)),
            judgments=self.judging.read(row),
            spend=list(self.spend(row)),
            calls=self.calling.read(row, alone=row_map.rows_are == "calls"),
        )
        if facts.started and facts.ended and facts.ended < facts.started:
            reader.faults.add("ends before it starts", place=row.place, field="ended")
        return facts

    def lacking(self, value: Value | None, expected: str, row: Row) -> None:
        """Report a value that no row may lack."""
        assert value is not None, "the map has a value without which there is no key"
        where = value.where.text if value.where is not None else value.field
        self.reader.faults.lack(value.field, where, place=row.place, expected=expected)

    def key(self, row: Row) -> tuple[str, str] | None:
        """Return the question id, and the id as the source writes it; None where it has none."""
        if not self.map.id:
            text = self.reader.text(self.map.question, row)
            if text is None or not text.strip():
                self.lacking(self.map.question, "a question, whose hash is the key", row)
                return None
            return f"q-{blake3(text.encode()).hexdigest()[:KEY_DIGITS]}", text
        parts = [self.reader.raw(value, row) for value in self.map.id]
        lacking = [
            value
            for value, part in zip(self.map.id, parts, strict=True)
            if part is None or part == ""
        ]
        if lacking:
            self.lacking(lacking[0], "a question id", row)
            return None
        texts = [part if isinstance(part, str) else encoded(part) for part in parts]
        return safe_name(JOINT.join(texts)), encoded(parts)

    def outcome(self, row: Row) -> str | None:
        """Return how the trial ended, where the source says."""
        value = self.map.outcome
        text = self.reader.text(value, row)
        if value is not None and text is not None and text not in OUTCOMES:
            expected = f"one of {', '.join(OUTCOMES)}; {value.field}.map translates other words"
            self.reader.wrong(value, row, text, expected)
        return text

    def gold(self, row: Row) -> list[str]:
        """Return the right answers, each once."""
        found = [
            *(self.reader.texts(self.map.gold.answer, row) or ()),
            *(self.reader.texts(self.map.gold.alternatives, row) or ()),
        ]
        return list(dict.fromkeys(text for text in found if text.strip()))

    def repetition(self, row: Row) -> int | None:
        """Return the repetition; 1 where the map names none, None where they are counted."""
        if self.map.count_repetitions:
            return None
        if self.map.repetition is None:
            return 1
        before = len(self.reader.faults.problems)
        number = self.reader.position(self.map.repetition, row)
        if number is None and len(self.reader.faults.problems) == before:
            self.lacking(self.map.repetition, "an integer", row)
        return number or 1

    def session(self, row: Row) -> str:
        """Return the session id."""
        text = self.reader.text(self.map.session, row)
        return safe_name(text) if text else "s1"

    def failures(self, row: Row) -> Iterator[FailureFacts]:
        """Yield what went wrong in a row."""
        for number, failure in enumerate(self.map.failures):
            found = self.calling.failure(failure, row, place=f"failures/{number}")
            if found is not None:
                yield found

    def spend(self, row: Row) -> Iterator[SpendFacts]:
        """Yield what a row says that its trial consumed, account by account."""
        for name, account in self.map.spend.items():
            model = self.reader.text(account.model, row)
            yield SpendFacts(
                name=name,
                purpose=account.purpose,
                model=None if model is None else safe_name(model),
                amounts=self.calling.amounts(account, row),
            )


def encoded(value: object) -> str:
    """Return a value as JSON, which tells 1 from "1"."""
    return msgspec.json.encode(value).decode()


JOINED = frozenset({"place", "system", "judgments", "spend", "failures", "calls"})
"""Fields of a trial that are no single value."""


def stated(trial: TrialFacts) -> Iterator[tuple[str, object]]:
    """Yield everything that one row says of its trial, by name; what it does not know left out."""
    for name in TrialFacts.__struct_fields__:
        value = getattr(trial, name)
        if name not in JOINED and value not in (None, "", []):
            yield name, value
    yield from ((f"system.{part}", one) for part, one in trial.system.items() if one is not None)
    yield from ((f"metrics.{one.metric}", one) for one in trial.judgments)
    for spend in trial.spend:
        if spend.amounts.usage is not None or spend.amounts.cost is not None:
            yield f"spend.{spend.name}", spend


def merged(trials: Sequence[TrialFacts], reader: RowReader) -> TrialFacts:
    """Return the one trial that several rows of calls are; rows that contradict are a fault."""
    known: dict[str, object] = {}
    holders: dict[str, Place] = {}
    for trial in trials:
        for name, value in stated(trial):
            if known.setdefault(name, value) != value:
                reader.faults.add(
                    f"rows of one trial differ in {name}: {holders[name]} says something else",
                    place=trial.place,
                    found=value if isinstance(value, str) else None,
                    expected=shorten(known[name]) if isinstance(value, str) else None,
                )
            holders.setdefault(name, trial.place)
    first = trials[0]
    failures = [failure for trial in trials for failure in trial.failures]
    return msgspec.structs.replace(
        first,
        **{name: value for name, value in known.items() if "." not in name},
        system={part: known.get(f"system.{part}") for part in first.system},
        judgments=[one for name, one in known.items() if name.startswith("metrics.")],
        spend=[known.get(f"spend.{spend.name}", spend) for spend in first.spend],
        failures=[one for number, one in enumerate(failures) if one not in failures[:number]],
        calls=[
            msgspec.structs.replace(call, place=f"calls/{number}")
            for number, call in enumerate(call for trial in trials for call in trial.calls)
        ],
    )
