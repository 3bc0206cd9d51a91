"""What a rule may know of a run under one metric: its placed slots, their records, their labels.

Invariant: everything comes from the log at the size of the read model. What a cell does not hold
(criteria of a judgment, people's labels) is read from the events of the run.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import msgspec

from trial_ledger.events import JudgmentRecorded, ReviewRecorded, ScorePart
from trial_ledger.exact import parse_rational, rational_text
from trial_projections.cells import Cell, MetricRules, Placed
from trial_projections.effective import deciding_judgment, standing_judgments
from trial_projections.reading import ReadModel, sessions_by_slot
from trial_projections.records import JudgmentRecord, RunRecord, TrialRecord
from trial_projections.scores import RunInput, place_slots, score_placed
from trial_projections.statistics.agreement import majority

__all__ = ["MAJORITY", "Labels", "RunFacts", "SlotKey"]

MAJORITY = "majority"
"""Rater that stands for most of the reviewers."""

SlotKey = tuple[str, int]
"""Question and repetition."""

Labels = dict[SlotKey, str]
"""What somebody said of each slot: a verdict, or a score in lowest terms."""


class RunFacts:
    """One run under one metric; what costs is read when a rule first asks for it."""

    def __init__(self, model: ReadModel, run: RunRecord, metric: str | None = None) -> None:
        """Place every slot of a run.

        Args:
            model: an open read model.
            run: one of its runs.
            metric: a metric of its rubric; None for the primary one.
        """
        source = model.score_input(run)
        trials = sessions_by_slot(model.records_of(run, TrialRecord))
        self.model = model
        self.run = run
        self.source: RunInput = msgspec.structs.replace(source, sessions=trials)
        self.metric = metric or source.rubric.primary
        self.rules = MetricRules(source.rubric, self.metric)
        self.placed = place_slots(self.source, self.metric)
        self.score = score_placed(self.source, self.metric, self.placed)

    def cells(self) -> dict[str, list[Cell]]:
        """Return the cells of every question, in planned order."""
        found: defaultdict[str, list[Cell]] = defaultdict(list)
        for slot in self.placed:
            found[slot.question].append(slot.cell)
        return dict(found)

    def judgment(self, slot: Placed, metric: str | None = None) -> JudgmentRecord | None:
        """Return the judgment of a slot that stands, even where its outcome class comes first.

        Args:
            slot: one of the placed slots.
            metric: another metric than that of these facts.
        """
        if slot.judged is None:
            return None
        standing = standing_judgments(slot.judged, metric or self.metric)
        if not standing:
            return None
        return deciding_judgment(standing, majority=self.rules.majority)

    def durations_us(self) -> list[int | None]:
        """Return how long each counting session took; None where nobody measured it."""
        return [
            slot.trial.duration_us for slot in self.placed if isinstance(slot.trial, TrialRecord)
        ]

    @cached_property
    def parts(self) -> list[tuple[SlotKey, tuple[ScorePart, ...]]]:
        """Return the criteria of every standing judgment that has some."""
        found: list[tuple[SlotKey, tuple[ScorePart, ...]]] = []
        for slot in self.placed:
            judgment = self.judgment(slot)
            if judgment is None:
                continue
            data = self.model.ledger.read(judgment.mark.seq).event.data
            if isinstance(data, JudgmentRecorded) and data.parts:
                found.append(((slot.question, slot.repetition), data.parts))
        return found

    @cached_property
    def reviewers(self) -> dict[str, Labels]:
        """Return what each reviewer said under this metric, by name; a later word counts."""
        found: defaultdict[str, Labels] = defaultdict(dict)
        for key, person, label in self.reviews():
            found[person][key] = label
        return dict(sorted(found.items()))

    def reviews(self) -> Iterator[tuple[SlotKey, str, str]]:
        """Yield slot, person and label of every review under this metric that gives a label."""
        for stored in self.model.ledger.events(run=self.run.name, upto=self.model.size):
            event = stored.event
            if not isinstance(event.data, ReviewRecorded) or event.data.metric != self.metric:
                continue
            label = label_of(event.data.verdict, event.data.score)
            if label is not None and event.trial is not None:
                key = (event.trial.question, event.trial.repetition)
                yield key, event.actor.name or "unnamed", label

    def labels(self, rater: str) -> Labels | None:
        """Return what somebody said of the slots; None where nobody has the name.

        Args:
            rater: a reviewer's name, else `majority` for what more than half of the reviewers of a
                slot say, else a metric of the rubric for its graders.
        """
        if rater in self.reviewers:
            return self.reviewers[rater]
        if rater == MAJORITY and self.reviewers:
            return {key: label for key, label in self.majorities.items() if label is not None}
        if rater not in self.source.rubric.metrics:
            return None
        found: Labels = {}
        for slot in self.placed:
            judgment = self.judgment(slot, rater)
            label = None if judgment is None else label_of(judgment.verdict, judgment.score)
            if label is not None:
                found[slot.question, slot.repetition] = label
        return found

    @cached_property
    def majorities(self) -> dict[SlotKey, str | None]:
        """Return what most reviewers say of each reviewed slot; None where none has most votes."""
        raters = self.reviewers.values()
        slots = dict.fromkeys(key for labels in raters for key in labels)
        return {
            key: majority([labels[key] for labels in raters if key in labels]) for key in slots
        }


def label_of(verdict: str | None, score: str | None) -> str | None:
    """Return a verdict, else a score in lowest terms."""
    if verdict is not None:
        return verdict
    return None if score is None else rational_text(parse_rational(score))
