"""The events behind one number: members, what was left out and why, down to hashes (C34).

Invariant: the metric can be recomputed from this value alone, and every event it rests on is named
by place and hash.
"""

from typing import Literal

import msgspec

from trial_ledger.documents.rubric import metric_outcomes
from trial_ledger.exact import parse_rational, rational_text
from trial_ledger.identifiers import TrialKey
from trial_projections.cells import Placed
from trial_projections.records import JudgmentRecord, Mark, RunRecord, TrialRecord
from trial_projections.scores import MetricScore, RunInput, place_slots, score_metric

__all__ = ["Derivation", "EventReference", "Member", "derive"]


class EventReference(msgspec.Struct, frozen=True, kw_only=True):
    """An event that a member rests on."""

    role: str
    """What it is to the member, as `judgment`."""
    seq: int
    """Its place."""
    hash: str
    """BLAKE3 of its document."""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One planned slot, and what it adds to the number."""

    question: str
    """Question id."""
    repetition: int
    """Which repetition."""
    trial: str | None
    """The session that counts, as `question#repetition@session`; None where none was started."""
    outcome: str
    """Outcome class."""
    low: str | None
    """Lowest score, rational text; None where it does not count."""
    high: str | None
    """Highest score; equal to the lowest where decided."""
    basis: Literal["judgment", "rule", "nothing"]
    """Decided by a judgment, by the rule of its outcome class, or not at all."""
    excluded: str | None
    """Why it is not in the denominator; None where it is."""
    judgment: str | None
    """Id of the judgment that decides."""
    by: str | None
    """code, model or human."""
    grader: str | None
    """`name@version`, or the person."""
    events: list[EventReference]
    """The events it rests on."""


class Derivation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything behind one metric of one run."""

    run: str
    """The run."""
    metric: str
    """The metric."""
    size: int
    """Events in the log when it was derived."""
    link: int
    """Links of the run then."""
    manifest: str
    """Hash of the manifest."""
    rubric: str
    """`name@version`."""
    rubric_hash: str
    """Hash of the rubric."""
    dataset: str
    """`name@version`."""
    aggregate: str
    """question-mean or trial-mean."""
    scale: tuple[str, str]
    """Lowest and highest score."""
    rules: dict[str, str]
    """Outcome class to its rule in words, for the classes that occur."""
    score: MetricScore
    """The number."""
    members: list[Member]
    """Every planned slot of the metric's shapes, in planned order."""


def derive(source: RunInput, run: RunRecord, name: str, *, size: int) -> Derivation:
    """Return the derivation of a metric.

    Args:
        source: the run's input.
        run: its record.
        name: a metric of its rubric.
        size: events in the log.
    """
    score = score_metric(source, name)
    metric = source.rubric.metrics[name]
    rules = metric_outcomes(source.rubric, name)
    members = [
        member_of(slot, metric.scale, run.manifest, name) for slot in place_slots(source, name)
    ]
    return Derivation(
        run=run.name,
        metric=name,
        size=size,
        link=run.links,
        manifest=run.manifest,
        rubric=run.rubric,
        rubric_hash=run.rubric_hash,
        dataset=run.dataset,
        aggregate=metric.aggregate,
        scale=metric.scale,
        rules={
            outcome: rule_text(rules[outcome].score, counts=rules[outcome].denominator)
            for outcome in score.outcomes
            if outcome in rules
        },
        score=score,
        members=members,
    )


def rule_text(score: str | None, *, counts: bool) -> str:
    """Return an outcome rule in words."""
    if not counts:
        return "not in the denominator"
    return "undecided" if score is None else f"scores {score}"


def member_of(slot: Placed, scale: tuple[str, str], configuration: str, metric: str) -> Member:
    """Return what one slot adds."""
    cell, trial, judgment = slot.cell, slot.trial, slot.judgment
    low = high = None
    if cell.counts:
        low = cell.score if cell.score is not None else scale[0]
        high = cell.score if cell.score is not None else scale[1]
    key = None
    if trial is not None:
        key = TrialKey(
            question=trial.question,
            configuration=configuration,
            repetition=trial.repetition,
            session=trial.session,
        )
    return Member(
        question=slot.question,
        repetition=slot.repetition,
        trial=None if key is None else str(key),
        outcome=cell.outcome,
        low=None if low is None else rational_text(parse_rational(low)),
        high=None if high is None else rational_text(parse_rational(high)),
        basis=cell.basis,
        excluded=None if cell.counts else f"{cell.outcome}: not in the denominator",
        judgment=None if judgment is None else judgment.id,
        by=None if judgment is None else judgment.by,
        grader=None if judgment is None else judgment.grader,
        events=references(slot, metric),
    )


def chain(judged: TrialRecord, judgment: JudgmentRecord) -> list[EventReference]:
    """Return a judgment and everything that it overrides, the first one first."""
    found: list[EventReference] = []
    current: JudgmentRecord | None = judgment
    while current is not None:
        role = "judgment" if current.replaces is None else "override"
        found.insert(0, reference(role, current.mark))
        current = next((known for known in judged.judgments if known.id == current.replaces), None)
    return found


def references(slot: Placed, metric: str) -> list[EventReference]:
    """Return the events that a slot's score rests on, in the order of the log."""
    trial, judgment = slot.trial, slot.judgment
    found: list[EventReference] = []
    if trial is not None:
        marks: list[tuple[str, Mark | None]] = [
            ("started", trial.started),
            ("answer", trial.answered),
            ("finished", trial.finished),
        ]
        marks += [
            ("failure", occurrence.mark)
            for occurrence in trial.occurrences
            if occurrence.impact == "trial_failed"
        ]
        marks += [
            ("reinstated" if change.valid else "invalidated", change.mark)
            for change in trial.changes
        ]
        found = [reference(role, mark) for role, mark in marks if mark is not None]
    if judgment is not None and slot.judged is not None:
        found += chain(slot.judged, judgment)
    elif slot.judged is not None:
        found += [
            reference("failed judgment", failed.mark)
            for failed in slot.judged.failed_judgments
            if failed.metric == metric
        ]
    return sorted(found, key=lambda event: event.seq)


def reference(role: str, mark: Mark) -> EventReference:
    """Return an event by role."""
    return EventReference(role=role, seq=mark.seq, hash=mark.hash)
