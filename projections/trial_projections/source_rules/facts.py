"""What a rule may know of a run under one metric: its placed slots, their records, their labels.

Invariant: everything comes from the log at the size of the read model. What a cell does not hold
(criteria of a judgment, people's labels) is read from the events of the run.
"""

from collections import defaultdict
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

__all__ = ["MAJORITY", "Labels", "RunEvents", "RunFacts", "SlotKey"]

MAJORITY = "majority"
"""Rater that stands for most of the reviewers."""

SlotKey = tuple[str, int]
"""Question and repetition."""

Labels = dict[SlotKey, str]
"""What somebody said of each slot: a verdict, or a score in lowest terms."""


PartsBySeq = dict[int, tuple[ScorePart, ...]]
"""Parts of judgments by the judgment's place in the log."""

ReviewsByMetric = dict[str, list[tuple[SlotKey, str, str]]]
"""Slot, person and label of each review, in order, by metric."""


class RunEvents:
    """What the events of one run say beyond the records, whatever the metric; read in one pass."""

    def __init__(self, model: ReadModel, run: RunRecord) -> None:
        self.model = model
        self.run = run

    @cached_property
    def source(self) -> RunInput:
        """Return the input of the run's scores, its sessions as whole trial records."""
        trials = sessions_by_slot(self.model.records_of(self.run, TrialRecord))
        return msgspec.structs.replace(self.model.score_input(self.run), sessions=trials)

    @cached_property
    def judgments_and_reviews(self) -> tuple[PartsBySeq, ReviewsByMetric]:
        """Return the parts of judgments by seq, and the reviews that give a label by metric."""
        parts: PartsBySeq = {}
        reviews: ReviewsByMetric = {}
        for stored in self.model.ledger.events(run=self.run.name, upto=self.model.size):
            event = stored.event
            if event.trial is None:
                continue
            match event.data:
                case JudgmentRecorded(parts=known) if known:
                    parts[event.seq] = known
                case ReviewRecorded(metric=metric, verdict=verdict, score=score):
                    label = label_of(verdict, score)
                    if label is not None:
                        key = (event.trial.question, event.trial.repetition)
                        person = event.actor.name or "unnamed"
                        reviews.setdefault(metric, []).append((key, person, label))
                case _:
                    pass  # Nothing else says anything that a record does not hold.
        return parts, reviews


class RunFacts:
    """One run under one metric; what costs is read when a rule first asks for it."""

    def __init__(
        self,
        model: ReadModel,
        run: RunRecord,
        metric: str | None = None,
        *,
        events: RunEvents | None = None,
    ) -> None:
        """Place every slot of a run.

        Args:
            model: an open read model.
            run: one of its runs.
            metric: a metric of its rubric; None for the primary one.
            events: what facts of another metric of the same run have read already.
        """
        self.model = model
        self.run = run
        self.events = events or RunEvents(model, run)
        self.source = self.events.source
        self.metric = metric or self.source.rubric.primary
        self.rules = MetricRules(self.source.rubric, self.metric)
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
        known, _ = self.events.judgments_and_reviews
        found: list[tuple[SlotKey, tuple[ScorePart, ...]]] = []
        for slot in self.placed:
            judgment = self.judgment(slot)
            if judgment is not None and judgment.mark.seq in known:
                found.append(((slot.question, slot.repetition), known[judgment.mark.seq]))
        return found

    @cached_property
    def reviewers(self) -> dict[str, Labels]:
        """Return what each reviewer said under this metric, by name; a later word counts."""
        if not self.run.reviews:
            return {}
        _, reviews = self.events.judgments_and_reviews
        found: defaultdict[str, Labels] = defaultdict(dict)
        for key, person, label in reviews.get(self.metric, ()):
            found[person][key] = label
        return dict(sorted(found.items()))

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
        return self.graders.get(rater)

    @cached_property
    def graders(self) -> dict[str, Labels]:
        """Return what the standing judgment of each metric says of the slots, by metric."""
        found: dict[str, Labels] = {name: {} for name in self.source.rubric.metrics}
        for name, labels in found.items():
            for slot in self.placed:
                judgment = self.judgment(slot, name)
                label = None if judgment is None else label_of(judgment.verdict, judgment.score)
                if label is not None:
                    labels[slot.question, slot.repetition] = label
        return found

    @cached_property
    def majorities(self) -> dict[SlotKey, str | None]:
        """Return what most reviewers say of each reviewed slot; None where none has most votes."""
        raters = self.reviewers.values()
        slots = dict.fromkeys(key for labels in raters for key in labels)
        return {key: majority([labels[key] for labels in raters if key in labels]) for key in slots}


def label_of(verdict: str | None, score: str | None) -> str | None:
    """Return a verdict, else a score in lowest terms."""
    if verdict is not None:
        return verdict
    return None if score is None else rational_text(parse_rational(score))
