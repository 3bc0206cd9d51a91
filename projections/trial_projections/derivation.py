"""The events behind one number: members, what was left out and why, down to hashes (C34).

Invariant: the metric can be recomputed from the members alone, and every event it rests on is named
by place and hash.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from trial_ledger.documents.rubric_structs import metric_outcomes
from trial_ledger.exact import parse_rational, rational_text
from trial_ledger.identifiers import TrialKey
from trial_projections.cells import Cell, Placed
from trial_projections.records import JudgmentRecord, Mark, RunRecord, SessionRecord
from trial_projections.scores import MetricScore, RunInput, place_slots, score_placed

__all__ = [
    "Derivation",
    "EventReference",
    "Member",
    "OtherSession",
    "SlotGroup",
    "derive",
    "slot_name",
    "trial_name",
]

Ground = Literal["judged", "by rule", "undecided", "left out"]
NAMED_SLOTS = 6
"""Slots that a group names; the members name all."""
ANY = "-"
"""The run says which configuration it is; the name of a trial does not."""
VALUES_APART = 6
"""Distinct values of an outcome class up to which each is a group of its own."""


class EventReference(msgspec.Struct, frozen=True, gc=False):
    """An event that a member rests on."""

    role: str
    """What it is to the member, as `judgment`."""
    seq: int
    """Its place."""
    hash: str
    """BLAKE3 of its document."""


class Member(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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


class SlotGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Slots that count alike."""

    ground: Ground
    """Decided by a judgment, by the rule of the outcome class, not at all, or not counted."""
    outcome: str
    """Outcome class."""
    low: str | None
    """Lowest score among them, rational text; None where undecided or not counted."""
    high: str | None
    """Highest score among them."""
    count: int
    """How many they are."""
    by: dict[str, int]
    """Of these, how many each of code, model and human decided."""
    slots: list[str]
    """The first few, as `question#repetition`."""


class OtherSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was started and does not count, because another one of its slot does (C16)."""

    trial: str
    """The session."""
    instead: str
    """The one that counts."""
    outcome: str | None
    """How it ended; None while it is open."""


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
    derived_from: str | None
    """The run whose trials a derived run judges."""
    derived_link: int | None
    """The last link of that run which counts."""
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
    groups: list[SlotGroup]
    """The planned slots of the metric's shapes by how they count."""
    graders: dict[str, int]
    """`name@version`, or a person, to the number of slots that they decided; most first."""
    others: list[OtherSession]
    """Sessions that do not count."""
    members: list[Member] | None
    """Every planned slot of the metric's shapes, in planned order; None where not asked for."""


def derive(
    source: RunInput, run: RunRecord, name: str, *, size: int, members: bool = False
) -> Derivation:
    """Return the derivation of a metric.

    Args:
        source: the run's input.
        run: its record.
        name: a metric of its rubric.
        size: events in the log.
        members: list every slot with the events behind it, which takes most of the time.
    """
    placed = place_slots(source, name)
    score = score_placed(source, name, placed)
    metric = source.rubric.metrics[name]
    rules = metric_outcomes(source.rubric, name)
    graders = Counter(slot.judgment.grader for slot in placed if slot.judgment is not None)
    return Derivation(
        run=run.name,
        metric=name,
        size=size,
        link=run.links,
        derived_from=run.derived_from,
        derived_link=run.derived_link,
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
        groups=groups_of(placed),
        graders=dict(graders.most_common()),
        others=[other for slot in placed if len(slot.sessions) > 1 for other in others_of(slot)],
        members=[member_of(slot, metric.scale, name) for slot in placed] if members else None,
    )


def rule_text(score: str | None, *, counts: bool) -> str:
    """Return an outcome rule in words."""
    if not counts:
        return "not in the denominator"
    return "undecided" if score is None else f"scores {score}"


def ground_of(cell: Cell) -> Ground:
    """Return on what ground a slot counts as it does."""
    if not cell.counts:
        return "left out"
    grounds: dict[str, Ground] = {"judgment": "judged", "rule": "by rule", "nothing": "undecided"}
    return grounds[cell.basis]


def groups_of(placed: Sequence[Placed]) -> list[SlotGroup]:
    """Return the slots by how they count, in the order of their first slot."""
    cells = {slot.cell for slot in placed}
    kinds = {(ground_of(cell), cell.outcome, cell.score) for cell in cells}
    values = Counter((ground, outcome) for ground, outcome, _ in kinds)
    keys: dict[Cell, tuple[Ground, str, str | None]] = {}
    for cell in cells:
        ground, outcome = ground_of(cell), cell.outcome
        apart = values[ground, outcome] <= VALUES_APART
        keys[cell] = (ground, outcome, cell.score if apart else None)
    alike: dict[tuple[Ground, str, str | None], list[Placed]] = {}
    for slot in placed:
        alike.setdefault(keys[slot.cell], []).append(slot)
    return [group_of(ground, outcome, slots) for (ground, outcome, _), slots in alike.items()]


def group_of(ground: Ground, outcome: str, slots: list[Placed]) -> SlotGroup:
    """Return one group."""
    texts = {slot.cell.score for slot in slots}
    scores = sorted(parse_rational(text) for text in texts if text is not None)
    by = Counter(slot.judgment.by for slot in slots if slot.judgment is not None)
    return SlotGroup(
        ground=ground,
        outcome=outcome,
        low=rational_text(scores[0]) if scores else None,
        high=rational_text(scores[-1]) if scores else None,
        count=len(slots),
        by=dict(by.most_common()),
        slots=[slot_name(slot.question, slot.repetition) for slot in slots[:NAMED_SLOTS]],
    )


def slot_name(question: str, repetition: int) -> str:
    """Return a slot as `question#repetition`, escaped like the name of a trial."""
    key = TrialKey(question=question, configuration=ANY, repetition=repetition)
    return str(key).partition("@")[0]


def trial_name(trial: SessionRecord) -> str:
    """Return a session as `question#repetition@session`."""
    key = TrialKey(
        question=trial.question,
        configuration=ANY,
        repetition=trial.repetition,
        session=trial.session,
    )
    return str(key)


def others_of(slot: Placed) -> list[OtherSession]:
    """Return the sessions of a slot that do not count."""
    assert slot.trial is not None, "of several sessions one counts"
    instead = trial_name(slot.trial)
    return [
        OtherSession(trial=trial_name(session), instead=instead, outcome=session.outcome)
        for session in slot.sessions
        if session is not slot.trial
    ]


def member_of(slot: Placed, scale: tuple[str, str], metric: str) -> Member:
    """Return what one slot adds."""
    cell, judgment = slot.cell, slot.judgment
    low = high = None
    if cell.counts:
        low, high = (cell.score or end for end in cell.bounds or scale)
    return Member(
        question=slot.question,
        repetition=slot.repetition,
        trial=None if slot.trial is None else trial_name(slot.trial),
        outcome=cell.outcome,
        low=low,
        high=high,
        basis=cell.basis,
        excluded=None if cell.counts else f"{cell.outcome}: not in the denominator",
        judgment=None if judgment is None else judgment.id,
        by=None if judgment is None else judgment.by,
        grader=None if judgment is None else judgment.grader,
        events=references(slot, metric),
    )


def references(slot: Placed, metric: str) -> list[EventReference]:
    """Return the events that a slot's score rests on, in the order of the log."""
    marks: list[tuple[str, Mark | None]] = []
    trial = slot.trial
    if trial is not None:
        marks = [
            ("started", trial.started),
            ("answer", trial.answered),
            ("finished", trial.finished),
        ]
        for occurrence in trial.occurrences:
            if occurrence.impact == "trial_failed":
                marks += [("failure", occurrence.mark), ("recovered", occurrence.recovered)]
        marks += [
            ("reinstated" if change.valid else "invalidated", change.mark)
            for change in trial.changes
        ]
    if slot.judged is not None:
        marks += judging(slot.judged, slot.judgment, metric)
    found = [EventReference(role, mark.seq, mark.hash) for role, mark in marks if mark is not None]
    found.sort(key=seq_of)
    return found


def seq_of(reference: EventReference) -> int:
    """Return the place of an event."""
    return reference.seq


def judging(
    judged: SessionRecord, judgment: JudgmentRecord | None, metric: str
) -> list[tuple[str, Mark | None]]:
    """Return every event that judged a metric, by the part it has in the number.

    `judgment` and `override` lead to the one that decides; what other passes said, or that they
    failed, stands beside it.
    """
    deciding = chain(judged, judgment)
    marks: list[tuple[str, Mark | None]] = []
    for known in judged.judgments:
        if known.metric == metric:
            role = "judgment" if known.replaces is None else "override"
            marks.append((role if known.id in deciding else f"other {role}", known.mark))
    marks += [
        ("failed judgment", failed.mark)
        for failed in judged.failed_judgments
        if failed.metric == metric
    ]
    return marks


def chain(judged: SessionRecord, judgment: JudgmentRecord | None) -> set[str]:
    """Return the ids of a judgment and of everything that it overrides."""
    found: set[str] = set()
    while judgment is not None:
        found.add(judgment.id)
        replaced = judgment.replaces
        judgment = next((known for known in judged.judgments if known.id == replaced), None)
    return found
