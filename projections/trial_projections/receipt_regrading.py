"""Gives the judgments by code again, where a receipt opens gold and answers (C28).

Invariant: a judgment that comes out otherwise, or against another gold than the dataset committed
to, is refused; one that could not be given again is counted with the reason.
"""

from collections.abc import Mapping

import msgspec

from trial_ledger import events
from trial_ledger.documents.canonical_form import Json
from trial_ledger.errors import VerificationError
from trial_ledger.events import Event
from trial_ledger.grading.criteria import CRITERIA, CriteriaTask, values_of
from trial_ledger.grading.grader import CodeGrader, Task, gold_of
from trial_ledger.grading.graders import grader_of
from trial_ledger.grading.replies import JUDGE_REPLY
from trial_projections.reading import ReadModel
from trial_projections.receipt_documents import Documents

__all__ = ["Regraded", "regraded"]


class Regraded(msgspec.Struct, frozen=True, kw_only=True):
    """How giving judgments again came out."""

    given: int
    """Judgments of the metric, overrides left out."""
    alike: int
    """Of these, given again by code, alike."""
    reason: str | None
    """Why the others were not; None where all were."""


def regraded(
    documents: Documents, model: ReadModel, run: events.RunOpened, texts: Mapping[str, bytes]
) -> Regraded:
    """Return how the judgments of the claimed metric come out when they are given again.

    Args:
        documents: the documents of the receipt, checked.
        model: the read side over them.
        run: how the run was opened.
        texts: opened texts by hash, checked.

    Raises:
        VerificationError: one comes out otherwise, or was given against another gold.
    """
    claim = documents.receipt.claim
    assert run.rubric is not None, "the ledger fills it"
    metric = model.registry.rubric_document(model.registry.rubric(run.rubric)).metrics[claim.metric]
    given = [
        stored.event
        for stored in documents.events
        if isinstance(stored.event.data, events.JudgmentRecorded)
        and stored.event.run == claim.run
        and stored.event.data.metric == claim.metric
    ]
    grader = grader_of(metric)
    if grader is None:
        return Regraded(given=len(given), alike=0, reason=f"{metric.grader} is no code grader here")
    if grader is JUDGE_REPLY:
        return Regraded(given=len(given), alike=0, reason="a judge's raw reply stays sealed")
    again = Regrading(documents, model, run, texts, grader)
    outcomes = [again.outcome(event) for event in given]
    left = [outcome for outcome in outcomes if outcome is not None]
    reason = " and ".join(sorted(set(left))) or None
    return Regraded(given=len(given), alike=len(given) - len(left), reason=reason)


class Regrading:
    """Gives judgments of one metric again."""

    def __init__(
        self,
        documents: Documents,
        model: ReadModel,
        run: events.RunOpened,
        texts: Mapping[str, bytes],
        grader: CodeGrader,
    ) -> None:
        assert run.rubric is not None, "the ledger fills it"
        assert run.dataset is not None, "the ledger fills it"
        registry = model.registry
        self.grader = grader
        self.texts = texts
        self.rubric = registry.rubric_document(registry.rubric(run.rubric))
        self.questions = registry.questions(run.dataset)
        self.commitments = registry.commitments(run.dataset)
        self.items = [
            (stored.event.seq, str(stored.event.trial), stored.event.data)
            for stored in documents.events
            if isinstance(stored.event.data, events.ItemJudged)
        ]
        self.judgments = [
            (stored.event.seq, str(stored.event.trial), stored.event.data)
            for stored in documents.events
            if isinstance(stored.event.data, events.JudgmentRecorded)
            and stored.event.run == documents.receipt.claim.run
        ]
        self.answers = {
            str(stored.event.trial): stored.event.data.answer.blob
            for stored in documents.events
            if isinstance(stored.event.data, events.AnswerSubmitted)
            and stored.event.data.answer is not None
        }

    def outcome(self, event: Event) -> str | None:
        """Return None where a judgment was given again, alike; else why it was not given.

        Raises:
            VerificationError: it comes out otherwise, or was given against another gold.
        """
        data = event.data
        assert isinstance(data, events.JudgmentRecorded), "the caller chose"
        assert event.trial is not None, "a judgment is of a trial"
        if (data.grader.name, data.grader.version) != (self.grader.name, self.grader.version):
            return "given by another grader than the rubric's"
        commitment = self.commitments[event.trial.question]
        if data.gold != commitment:
            raise VerificationError(f"seq {event.seq}: judged against another gold than committed")
        if commitment is not None and commitment not in self.texts:
            return "gold sealed"
        gold = None if commitment is None else gold_of(self.texts[commitment])
        if self.grader is CRITERIA:
            task: Task | None = self.criteria_task(event, data, gold)
        else:
            task = self.answer_task(event, data, gold)
        if task is None:
            return "answer sealed"
        grade = self.grader.grade(task)
        if (grade.verdict, grade.score) != (data.verdict, data.score):
            message = f"seq {event.seq}: graded again it is {grade.verdict or grade.score}"
            raise VerificationError(f"{message}, the log says {data.verdict or data.score}")
        return None

    def criteria_task(
        self, event: Event, data: events.JudgmentRecorded, gold: dict[str, Json] | None
    ) -> Task:
        """Return what was to be added up: what the run's judgments before said of criteria."""
        assert event.trial is not None, "a judgment is of a trial"
        before = [
            known
            for seq, trial, known in self.judgments
            if seq < event.seq and trial == str(event.trial)
        ]
        return CriteriaTask(
            question=self.questions[event.trial.question],
            gold=gold,
            answer="",
            metric=self.rubric.metrics[data.metric],
            values=values_of(self.rubric, data.metric, before),
        )

    def answer_task(
        self, event: Event, data: events.JudgmentRecorded, gold: dict[str, Json] | None
    ) -> Task | None:
        """Return the answer with all that it was graded by; None where it is sealed."""
        assert event.trial is not None, "a judgment is of a trial"
        answer = self.texts.get(self.answers.get(str(event.trial), ""))
        if answer is None:
            return None
        return Task(
            question=self.questions[event.trial.question],
            gold=gold,
            answer=answer.decode("utf-8", errors="replace"),
            metric=self.rubric.metrics[data.metric],
            empty_sets=self.rubric.empty_sets,
            judged_items={
                item.position: item.verdict
                for seq, trial, item in self.items
                if seq < event.seq and trial == str(event.trial) and item.metric == data.metric
            },
        )
