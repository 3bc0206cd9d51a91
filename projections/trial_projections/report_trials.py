"""The trials of a report: every slot with question, answer, gold and verdicts side by side.

Invariant: every planned slot has one status; which slots a large report holds is decided by their
names and statuses alone, and is said.
"""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from trial_ledger import events
from trial_ledger.documents.rubric_structs import Metric
from trial_ledger.exact import parse_rational
from trial_projections.cells import ERRORED_CLASSES, Cell, Placed
from trial_projections.derivation import slot_name, trial_name
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord, SessionRecord, TrialRecord
from trial_projections.report_structs import Shown, Status, TrialRow, VerdictRow
from trial_projections.report_texts import ReportText, TextReader
from trial_projections.scores import RunInput, place_slots

__all__ = [
    "MOST_TRIALS",
    "MOST_TROUBLED",
    "OTHERS",
    "Slot",
    "chosen_slots",
    "shown_of",
    "slots_of",
    "text_limit",
    "trial_rows",
]

MOST_TRIALS = 5_000
"""Slots up to which a report holds all of them."""
MOST_TROUBLED = 1_000
"""Slots in trouble that a larger report holds."""
OTHERS = 500
"""Other slots that a larger report holds."""
TEXT_BUDGET = 1_500_000
"""Characters that the texts of one kind may take in all."""
LEAST_TEXT, MOST_TEXT = 200, 20_000
ORDER: Sequence[Status] = ("error", "undecided", "failed", "partial", "excluded", "passed")
TROUBLED = frozenset({"error", "undecided", "failed"})


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A planned slot under every metric that covers it."""

    question: str
    """Question id."""
    repetition: int
    """Which repetition."""
    status: Status
    """How it stands in the first of them."""
    placed: dict[str, Placed]
    """How it counts, by metric, the primary first; empty where none covers it."""
    sessions: Sequence[SessionRecord]
    """Every session of it, in the order they were started."""

    @property
    def name(self) -> str:
        """Return it as `question#repetition`."""
        return slot_name(self.question, self.repetition)


def status_of(cell: Cell, metric: Metric) -> Status:
    """Return how a slot stands in one metric."""
    if not cell.counts:
        return "excluded"
    if cell.outcome in ERRORED_CLASSES or cell.outcome == "judge_failed":
        return "error"
    if cell.score is None:
        return "undecided"
    worst, best = metric.scale if metric.direction == "higher" else reversed(metric.scale)
    score = parse_rational(cell.score)
    if score == parse_rational(best):
        return "passed"
    return "failed" if score == parse_rational(worst) else "partial"


def slots_of(source: RunInput) -> list[Slot]:
    """Return every planned slot of a run: what went wrong first, then in planned order."""
    names = sorted(source.rubric.metrics, key=lambda name: (name != source.rubric.primary, name))
    placed: dict[tuple[str, int], dict[str, Placed]] = {
        (question, repetition): {}
        for question in source.slots.questions
        for repetition in range(1, source.slots.repetitions + 1)
    }
    for name in names:
        for slot in place_slots(source, name):
            placed[slot.question, slot.repetition][name] = slot
    found: list[Slot] = []
    for (question, repetition), by_metric in placed.items():
        status: Status = "excluded"
        if by_metric:
            name, first = next(iter(by_metric.items()))
            status = status_of(first.cell, source.rubric.metrics[name])
        found.append(
            Slot(
                question=question,
                repetition=repetition,
                status=status,
                placed=by_metric,
                sessions=source.sessions.get((question, repetition), ()),
            )
        )
    return sorted(found, key=lambda slot: ORDER.index(slot.status))


def chosen_slots(run: str, slots: Sequence[Slot], *, everything: bool) -> list[Slot]:
    """Return the slots that a report holds, in their order.

    Args:
        run: the run.
        slots: all of its slots.
        everything: whether all are held; else those in trouble and a sample of the others, drawn
            by the hash of run and slot, so that the same log gives the same sample.
    """
    if everything:
        return list(slots)
    drawn = sorted(slots, key=lambda slot: sha256(f"{run}\n{slot.name}".encode()).digest())
    troubled = [slot.name for slot in drawn if slot.status in TROUBLED][:MOST_TROUBLED]
    others = [slot.name for slot in drawn if slot.status not in TROUBLED][:OTHERS]
    kept = {*troubled, *others}
    return [slot for slot in slots if slot.name in kept]


def text_limit(embedded: int) -> int:
    """Return the most characters of one text in a report of so many slots."""
    return max(LEAST_TEXT, min(MOST_TEXT, TEXT_BUDGET // max(embedded, 1)))


def shown_of(slots: Sequence[Slot], chosen: Sequence[Slot], limit: int) -> Shown:
    """Return which slots a report holds."""
    return Shown(
        planned=len(slots),
        embedded=len(chosen),
        troubled=sum(slot.status in TROUBLED for slot in slots),
        troubled_embedded=sum(slot.status in TROUBLED for slot in chosen),
        text_limit=limit,
    )


def trial_rows(
    model: ReadModel, run: RunRecord, source: RunInput, chosen: Sequence[Slot], reader: TextReader
) -> list[TrialRow]:
    """Return the rows of some slots.

    Args:
        model: the read side.
        run: the run.
        source: its input.
        chosen: which slots.
        reader: reads texts.
    """
    commitments = model.registry.commitments(run.dataset)
    known = {
        (trial.question, trial.repetition, trial.session): trial for trial in model.trials(run)
    }
    return [
        row_of(
            model,
            slot,
            counting_record(slot, known),
            reader,
            (
                reader.plain(source.questions[slot.question].question),
                reader.gold(commitments.get(slot.question)),
            ),
        )
        for slot in chosen
    ]


def counting_record(
    slot: Slot, known: dict[tuple[str, int, str], TrialRecord]
) -> TrialRecord | None:
    """Return the session of a slot that counts; None where none was started."""
    counting = next((placed.trial for placed in slot.placed.values()), None)
    if counting is None:
        counting = slot.sessions[0] if slot.sessions else None
    if counting is None:
        return None
    return known[counting.question, counting.repetition, counting.session]


def row_of(
    model: ReadModel,
    slot: Slot,
    trial: TrialRecord | None,
    reader: TextReader,
    known: tuple[ReportText | None, ReportText | None],
) -> TrialRow:
    """Return the row of one slot; `known` is its question and its gold."""
    verdicts = [verdict_of(model, name, placed, reader) for name, placed in slot.placed.items()]
    name = None if trial is None else trial_name(trial)
    return TrialRow(
        slot=slot.name,
        trial=name,
        status=slot.status,
        outcome="not_started" if trial is None else trial.outcome or "unfinished",
        reason=None if trial is None else trial.reason,
        valid=trial is None or not trial.changes or trial.changes[-1].valid,
        leaked=any(placed.cell.leaked for placed in slot.placed.values()),
        duration_us=None if trial is None else trial.duration_us,
        seq=None if trial is None or trial.started is None else trial.started.seq,
        question=known[0],
        answer=None if trial is None else answer_of(model, trial, reader),
        gold=known[1],
        verdicts=verdicts,
        failures=[] if trial is None else [one.mark.seq for one in trial.occurrences],
        other_sessions=[
            other for session in slot.sessions if (other := trial_name(session)) != name
        ],
    )


def answer_of(model: ReadModel, trial: TrialRecord, reader: TextReader) -> ReportText | None:
    """Return the answer of a trial; None where there is none."""
    if trial.answered is None:
        return None
    data = model.ledger.read(trial.answered.seq).event.data
    assert isinstance(data, events.AnswerSubmitted), "its mark says so"
    return reader.read(data.answer)


def verdict_of(model: ReadModel, metric: str, placed: Placed, reader: TextReader) -> VerdictRow:
    """Return how a slot counts under one metric, and why."""
    judgment, cell = placed.judgment, placed.cell
    reasoning = None
    if judgment is not None:
        data = model.ledger.read(judgment.mark.seq).event.data
        if isinstance(data, events.JudgmentOverridden):
            reasoning = reader.read(data.reason)
        else:
            assert isinstance(data, events.JudgmentRecorded), "its mark says so"
            reasoning = reader.read(data.reasoning)
    return VerdictRow(
        metric=metric,
        outcome=cell.outcome,
        score=cell.score,
        basis=cell.basis,
        counts=cell.counts,
        judgment=None if judgment is None else judgment.id,
        by=None if judgment is None else judgment.by,
        grader=None if judgment is None else judgment.grader,
        seq=None if judgment is None else judgment.mark.seq,
        overrides=None if judgment is None else judgment.replaces,
        reasoning=reasoning,
    )
