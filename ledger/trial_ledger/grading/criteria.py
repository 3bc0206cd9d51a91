"""Grade research: a tree of weighted criteria, from what a judge or people said of each (C27).

Invariant: a criterion that nobody judged widens the range and is never left out of the weights; a
node's value is made of what was said of it or of what lies below it, never of both.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, lcm

from trial_ledger.documents.grader_options import Settings, settings_of
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.exact import parse_rational, percent_text, rational_text
from trial_ledger.grading.criteria_tree import ROOT, Bounds, Criterion, criteria_in, node_bounds
from trial_ledger.grading.grader import CodeGrader, Grade, Task, decided, not_gradable
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.kinds.judgments import UNJUDGED, JudgmentRecorded, ScorePart
from trial_ledger.strict_json import shorten

__all__ = ["CRITERIA", "CriteriaTask", "values_of"]

WHOLE = "composite"
"""The measure of every criterion, whatever its kind."""

SHOWN_NODES = 10
MOST_NODES = 200
"""Nodes that have a part of their own, so that an event stays within its size."""

LONGEST_ID = 80
LONGEST_TEXT = 256
"""Characters of the longest label of a part."""

LONGEST_TERM = 10**200
"""A denominator that no score can state; such a value is stated as a very small range."""

FINEST = 10**15
"""Ends of a range with a greater denominator are rounded outward to so many parts."""

LABELS: Mapping[str, Fraction] = {"correct": Fraction(1), "incorrect": Fraction(0)}
"""What a verdict on a criterion counts; `partial` counts as the metric's option says."""


class CriteriaTask(Task, frozen=True, kw_only=True):
    """One trial under a measure of research; its answer is not looked at."""

    values: Mapping[str, Fraction] = {}
    """What was said of each criterion, by its id, as `values_of` returns it."""


def values_of(
    rubric: Rubric, name: str, judgments: Iterable[JudgmentRecorded]
) -> dict[str, Fraction]:
    """Return what judgments say of criteria by id, as the rubric's canonical rule has it.

    A part of a judgment speaks of the criterion that it is named after, a judgment itself of the
    one that its metric is named after. Of several passes the first that says something of a
    criterion counts, or what more than half of them say.

    Args:
        rubric: the run's rubric.
        name: the metric whose option `metrics` names the metrics that are listened to.
        judgments: judgments of one trial, in order; those under other metrics are passed over.
    """
    settings = settings_of(rubric.metrics[name])
    listened = settings.names("metrics")
    labels = {**LABELS, "partial": parse_rational(settings.text("partial"))}
    said: defaultdict[str, list[Fraction]] = defaultdict(list)
    for judgment in sorted(judgments, key=lambda judgment: judgment.pass_):
        if judgment.metric in listened:
            own = labels.get(judgment.verdict or "")
            if judgment.score is not None:
                own = parse_rational(judgment.score)
            parts = [(part.name, part_value(part, labels)) for part in judgment.parts]
            for criterion, value in [(judgment.metric, own), *parts]:
                if value is not None:
                    said[criterion].append(value)
    majority = rubric.judge is not None and rubric.judge.canonical == "majority"
    chosen = {key: canonical_value(values, majority=majority) for key, values in said.items()}
    return {key: value for key, value in chosen.items() if value is not None}


def part_value(part: ScorePart, labels: Mapping[str, Fraction]) -> Fraction | None:
    """Return what a part says of its criterion: a ratio, else a label; None where it says none."""
    if part.numerator is not None and part.denominator:
        return Fraction(part.numerator, part.denominator)
    return labels.get(part.outcome or "")


def canonical_value(values: Sequence[Fraction], *, majority: bool) -> Fraction | None:
    """Return the first value, or what more than half agree on; None where no more than half do."""
    if not majority:
        return values[0]
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count > len(values) else None


def decide(task: Task, settings: Settings) -> Grade:
    """Add up what was said of the criteria, by their weights in gold."""
    del settings
    assert task.gold is not None, "a task without gold is not decided"
    assert isinstance(task, CriteriaTask), "whoever grades research says what was judged"
    measure = task.metric.measure.removeprefix("research.")
    criteria = criteria_in(task.gold)
    if criteria is None:
        return not_gradable("gold has a criterion without id or kind")
    known = {criterion.id for criterion in criteria}
    usable = {
        name: value for name, value in task.values.items() if name in known and 0 <= value <= 1
    }
    unusable = len(task.values) - len(usable)
    nodes = node_bounds(criteria, usable, None if measure == WHOLE else measure)
    if ROOT not in nodes:
        return not_gradable(f"undefined: gold has no criterion of {measure} that weighs anything")
    low, high = nodes[ROOT]
    if low == high and low.denominator >= LONGEST_TERM:
        low, high = Fraction(floor(low * FINEST), FINEST), Fraction(ceil(high * FINEST), FINEST)
    parts = (*headline(measure, low, high), *counts(criteria, usable, nodes, unusable))
    words = described(parts, nodes, inner_of(criteria, nodes))
    if low != high:
        return not_gradable(f"{measure} lies from {said(low, high)}: {words}", parts)
    return decided(task, low, f"{measure} {said(low, high)}: {words}", parts)


def inner_of(criteria: Sequence[Criterion], nodes: Mapping[str, Bounds]) -> list[str]:
    """Return the nodes that have others below them, from the root down, without the root."""
    parents = {criterion.parent for criterion in criteria} - {ROOT}
    return [name for name in nodes if name in parents]


def counts(
    criteria: Sequence[Criterion],
    values: Mapping[str, Fraction],
    nodes: Mapping[str, Bounds],
    unusable: int,
) -> list[ScorePart]:
    """Return how many criteria have a value, and the value of every inner node."""
    above = {criterion.id: criterion.parent for criterion in criteria}
    covered: set[str] = set()
    for name in nodes:
        if name in values or above.get(name) in covered:
            covered.add(name)
    inner = inner_of(criteria, nodes)
    leaves = set(nodes) - {ROOT, *inner}
    parts = [
        ScorePart(name="criteria", numerator=len(leaves & covered), denominator=len(leaves)),
        ScorePart(name="unusable", numerator=unusable),
    ]
    for number, name in enumerate(inner[:MOST_NODES], 1):
        parts += node_parts(name, number, nodes[name])
    return parts


def described(parts: Sequence[ScorePart], nodes: Mapping[str, Bounds], inner: Sequence[str]) -> str:
    """Return what a value is made of, in words: how many criteria, and the highest nodes."""
    by_name = {part.name: part for part in parts}
    criteria, unusable = by_name["criteria"], by_name["unusable"].numerator
    words = [f"{criteria.numerator} of {criteria.denominator} criteria have a value"]
    if unusable:
        words.append(f"{unusable} verdicts are of nothing in gold or not from 0 to 1")
    words += [f"{shorten(name)} {said(*nodes[name])}" for name in inner[:SHOWN_NODES]]
    rest = len(inner) - SHOWN_NODES
    words += [f"{rest} more nodes"] if rest > 0 else []
    return ", ".join(words)


def said(low: Fraction, high: Fraction) -> str:
    """Return a value in words, or the ends between which it lies."""
    ends = [
        text if len(text) <= LONGEST_ID else f"about {percent_text(end, 9)} %"
        for end, text in ((end, rational_text(end)) for end in dict.fromkeys((low, high)))
    ]
    return " to ".join(ends)


def headline(measure: str, low: Fraction, high: Fraction) -> list[ScorePart]:
    """Return the part that states the measure, and how much of it nobody judged."""
    if low == high:
        return [stated(measure, low)]
    size = lcm(low.denominator, high.denominator)
    if size > MAX_INTEGER:
        size = FINEST
    least, most = floor(low * size), ceil(high * size)
    return [
        ScorePart(name=measure, numerator=least, denominator=size),
        ScorePart(name=UNJUDGED, numerator=most - least),
    ]


def node_parts(name: str, number: int, bounds: Bounds) -> list[ScorePart]:
    """Return the part of an inner node, or its two ends where it has no value."""
    label = f"node.{name}" if len(name) <= LONGEST_ID else f"node[{number}]"
    low, high = bounds
    if low == high:
        return [stated(label, low)]
    return [stated(f"{label} from", low), stated(f"{label} to", high)]


def stated(name: str, value: Fraction) -> ScorePart:
    """Return a part with a value, as text where its terms are too great for an event's integers."""
    if value.denominator <= MAX_INTEGER:
        return ScorePart(name=name, numerator=value.numerator, denominator=value.denominator)
    text = rational_text(value)
    return ScorePart(name=name, outcome=text if len(text) <= LONGEST_TEXT else "long")


CRITERIA = CodeGrader(
    name="criteria", version="1", decide=decide, modules=("criteria", "criteria_tree")
)
