"""What a bridge asks of cells, judgments and rules, one slot at a time.

Invariant: pure functions; nothing here knows why it is asked.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

import msgspec

from trial_ledger.carrying import GIVERS, prompt_of, what_gives
from trial_ledger.documents.rubric_structs import Metric, Rubric, metric_outcomes
from trial_ledger.exact import parse_rational
from trial_projections.bridge_structs import Bounds, BridgeEnd, Side, Slot
from trial_projections.cells import ERRORED_CLASSES, Cell, Placed, outcome_before_judgment
from trial_projections.derivation import EventReference, trial_name
from trial_projections.records import JudgmentRecord, SessionRecord

__all__ = [
    "NOTHING", "added", "bounds_of", "changed_givers", "changed_rule", "changed_rules",
    "counts_alike", "is_comparable", "is_higher", "is_lost", "is_other_life", "less", "renamed",
    "side_of", "weights_of", "without_overrides",
]  # fmt: skip

NOTHING: Bounds = (Fraction(0), Fraction(0))

BY_LABEL = ("verdict", "verdict")
"""Measures of two metrics whose labels do not depend on their scales."""

LONGEST_SETTING = 40
"""Characters of a setting that are shown; the frozen rubrics have all of it."""


def bounds_of(cell: Cell, scale: Bounds) -> Bounds:
    """Return the lowest and highest score of a cell that counts."""
    if cell.score is None:
        if cell.bounds is None:
            return scale
        return parse_rational(cell.bounds[0]), parse_rational(cell.bounds[1])
    score = parse_rational(cell.score)
    return score, score


def added(total: Bounds, change: Bounds, weight: Fraction) -> Bounds:
    """Return a sum with one more weighted change."""
    return total[0] + weight * change[0], total[1] + weight * change[1]


def less(first: Bounds, second: Bounds) -> Bounds:
    """Return the difference of two pairs."""
    return first[0] - second[0], first[1] - second[1]


def weights_of(slots: Iterable[Slot], aggregate: str) -> dict[Slot, Fraction]:
    """Return how much a slot weighs in the mean of these slots; the weights add up to 1."""
    members: dict[str, list[Slot]] = {}
    for slot in slots:
        members.setdefault(slot[0], []).append(slot)
    by_question = aggregate == "question-mean"
    total = sum(map(len, members.values()))
    found: dict[Slot, Fraction] = {}
    for alike in members.values():
        weight = Fraction(1, len(members) * len(alike) if by_question else total)
        found.update(dict.fromkeys(alike, weight))
    return found


def without_overrides(placed: Placed) -> SessionRecord | None:
    """Return the judgments of a slot as they were before people changed any; the same if none."""
    judged = placed.judged
    if judged is None or all(known.replaces is None for known in judged.judgments):
        return judged
    return with_judgments(
        judged,
        (
            msgspec.structs.replace(known, replaced_by=None)
            for known in judged.judgments
            if known.replaces is None
        ),
    )


def renamed(judged: SessionRecord | None, old: str, new: str) -> SessionRecord | None:
    """Return the judgments of one metric as if they were of another."""
    if judged is None or old == new:
        return judged
    record = with_judgments(
        judged,
        (
            msgspec.structs.replace(known, metric=new)
            for known in judged.judgments
            if known.metric == old
        ),
    )
    record.failed_judgments = tuple(
        msgspec.structs.replace(known, metric=new)
        for known in judged.failed_judgments
        if known.metric == old
    )
    return record


def with_judgments(judged: SessionRecord, judgments: Iterable[JudgmentRecord]) -> SessionRecord:
    """Return what decides how a trial counts, with other judgments."""
    fields = {
        field.name: getattr(judged, field.name) for field in msgspec.structs.fields(SessionRecord)
    }
    return SessionRecord(**{**fields, "judgments": tuple(judgments)})


def is_comparable(old: Metric, new: Metric) -> bool:
    """Return whether an old judgment says something under a new metric: both by label, or not."""
    return (old.measure == "verdict") == (new.measure == "verdict")


def is_lost(cell: Cell) -> bool:
    """Return whether a slot had an error, or nothing decided it."""
    return cell.score is None or cell.outcome in ERRORED_CLASSES


def is_higher(old: Cell, new: Cell) -> bool:
    """Return whether what an error left is worth more in the new number.

    Undecided counts as half of what it allows: less than a score at the top, more than one at the
    bottom.
    """
    return value_of(new) > value_of(old)


def value_of(cell: Cell) -> Fraction:
    """Return a cell's score, the middle of what it can be where it is undecided."""
    low, high = bounds_of(cell, (Fraction(0), Fraction(1)))
    return (low + high) / 2


def is_other_life(old: SessionRecord | None, new: SessionRecord | None, rubric: Rubric) -> bool:
    """Return whether later events put a trial into another class before any judgment."""
    return outcome_before_judgment(old, rubric) != outcome_before_judgment(new, rubric)


def side_of(placed: Placed, end: BridgeEnd) -> Side:
    """Return how a slot counts in one number."""
    cell, judgment = placed.cell, placed.judgment
    low = high = None
    if cell.counts:
        low, high = (cell.score or bound for bound in cell.bounds or end.rules.scale)
    event = None
    if judgment is not None:
        role = "judgment" if judgment.replaces is None else "override"
        event = EventReference(role, judgment.mark.seq, judgment.mark.hash)
    return Side(
        trial=None if placed.trial is None else trial_name(placed.trial),
        outcome=cell.outcome,
        low=low,
        high=high,
        judgment=None if judgment is None else judgment.id,
        by=None if judgment is None else judgment.by,
        grader=None if judgment is None else judgment.grader,
        event=event,
    )


def counts_alike(old: Side, new: Side) -> bool:
    """Return whether a slot counts alike in both numbers."""
    return (old.outcome, old.low, old.high) == (new.outcome, new.low, new.high)


def changed_rule(old: BridgeEnd, new: BridgeEnd, outcome: str) -> list[str]:
    """Return how the rule of an outcome class changed, in words; nothing where it did not."""
    rules = [metric_outcomes(end.rubric, end.metric).get(outcome) for end in (old, new)]
    texts = [rule_words(None if rule is None else rule.score, rule) for rule in rules]
    return [] if texts[0] == texts[1] else [f"outcomes.{outcome}: {texts[0]} -> {texts[1]}"]


def rule_words(score: str | None, rule: object) -> str:
    """Return what an outcome class counts, in words."""
    if rule is None:
        return "its value"
    if not getattr(rule, "denominator", True):
        return "not in the denominator"
    return "undecided" if score is None else score


def changed_givers(old: BridgeEnd, new: BridgeEnd) -> list[str]:
    """Return what gives the verdicts of the new metric otherwise, in words."""
    found: list[str] = []
    givers = [what_gives(end.rubric, end.metric) for end in (old, new)]
    pairs = zip(GIVERS, *givers, strict=True)
    for name, before, after in pairs:
        if isinstance(before, dict) and isinstance(after, dict):
            # Settings of one grader mean nothing to another.
            if old.rules.grader == new.rules.grader:
                found += changed_settings(name, before, after)
        elif before != after:
            found.append(f"{name}: {words(before)} -> {words(after)}")
    if "judge" in {old.rules.grader, new.rules.grader} and prompt_of(old.rubric) != prompt_of(
        new.rubric
    ):
        found.append("judge: its model, prompt or sampling")
    return found


def changed_settings(
    name: str, old: Mapping[str, object], new: Mapping[str, object]
) -> Iterator[str]:
    """Yield which settings of a table changed, in words."""
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            yield f"{name}.{key}: {words(old.get(key))} -> {words(new.get(key))}"


def words(value: object) -> str:
    """Return a setting of a metric as it would stand in a document, cut where it is long."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_SETTING else text[: LONGEST_SETTING - 1] + "…"


def changed_rules(old: BridgeEnd, new: BridgeEnd) -> list[str]:
    """Return everything by which the new metric differs, in words."""
    outcomes = dict.fromkeys(
        (*metric_outcomes(old.rubric, old.metric), *metric_outcomes(new.rubric, new.metric))
    )
    found = changed_givers(old, new)
    if old.rules.scale != new.rules.scale and (old.rules.measure, new.rules.measure) == BY_LABEL:
        found.append(f"scale: {words(old.rules.scale)} -> {words(new.rules.scale)}")
    found += [text for name in outcomes for text in changed_rule(old, new, name)]
    if old.rules.aggregate != new.rules.aggregate:
        found.append(f"aggregate: {old.rules.aggregate} -> {new.rules.aggregate}")
    return found
