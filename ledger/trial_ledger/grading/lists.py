"""Grade a list: precision, recall and F1 over names with aliases (C6, C7, C8).

Invariant: the order of the items, on either side, changes nothing; an item that gold does not name
is wrong only where gold names every right one.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.grader_options import Settings
from trial_ledger.documents.rubric_structs import UNDEFINED
from trial_ledger.exact import parse_rational, rational_text
from trial_ledger.grading.accepted import scalar_text
from trial_ledger.grading.answers import Unread, read_items
from trial_ledger.grading.grader import CodeGrader, Grade, Task, decided, not_gradable
from trial_ledger.grading.matching import maximum_matching
from trial_ledger.grading.normalisers import comparable
from trial_ledger.kinds.base import Verdict
from trial_ledger.kinds.judgments import ScorePart
from trial_ledger.strict_json import shorten

__all__ = ["LIST_MATCH", "Comparison", "compare", "entries_of"]

SHOWN_ITEMS = 10
"""Items that a reasoning names of each sort."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What came of comparing a returned list with a right one, after folding and pairing."""

    gold: int
    """Right items."""
    matched: int
    """Right items that were returned."""
    missing: tuple[str, ...]
    """Right items that were not, normalised, in order."""
    extra: tuple[str, ...]
    """Returned items that gold does not name, normalised, in order."""
    duplicates: int
    """Repetitions, and further aliases of an item that was returned already."""
    blank: int
    """Items without any text, which count nowhere."""
    added: int
    """Extra items that somebody judged to be right."""
    unjudged: int
    """Extra items of which nobody knows whether they are right."""


def entries_of(gold: Mapping[str, Json], normaliser: str) -> list[frozenset[str]] | None:
    """Return the accepted names of each right item, normalised; None where gold has no list.

    Two items with the same names are one. What comes first is told by the names, not by the order
    in gold, so that a reasoning too is the same whatever that order is.
    """
    items = gold.get("items")
    if not isinstance(items, list):
        return None
    aliases = gold.get("aliases")
    known = aliases if isinstance(aliases, dict) else {}
    entries: set[frozenset[str]] = set()
    for item in items:
        others = known.get(str(item))
        names = [item, *(others if isinstance(others, list) else ())]
        texts = [text for text in map(scalar_text, names) if text is not None]
        forms = frozenset(comparable(text, normaliser) for text in texts) - {""}
        if forms:
            entries.add(forms)
    return sorted(entries, key=sorted)


def compare(
    items: Sequence[str],
    entries: Sequence[frozenset[str]],
    *,
    normaliser: str,
    exhaustive: bool,
    judged: Mapping[int, Verdict],
) -> Comparison:
    """Return what comes of comparing returned items with right ones.

    Args:
        items: the returned items in the answer's order.
        entries: the accepted names of each right item.
        normaliser: how texts are normalised.
        exhaustive: whether gold names every right item.
        judged: verdicts on items by position, which count where gold does not name every one.
    """
    places: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        places.setdefault(comparable(item, normaliser), []).append(position)
    blank = len(places.pop("", ()))
    named: dict[str, list[int]] = {}
    for number, names in enumerate(entries):
        for name in names:
            named.setdefault(name, []).append(number)
    pairs = maximum_matching({form: named[form] for form in sorted(places) if form in named})
    found = set(pairs.values())
    extra = tuple(form for form in sorted(places) if form not in named)
    labels = [judged_as({judged.get(place) for place in places[form]}) for form in extra]
    return Comparison(
        gold=len(entries),
        matched=len(pairs),
        missing=tuple(min(names) for number, names in enumerate(entries) if number not in found),
        extra=extra,
        duplicates=len(items) - blank - len(pairs) - len(extra),
        blank=blank,
        added=0 if exhaustive else labels.count("correct"),
        unjudged=0 if exhaustive else labels.count(None),
    )


def judged_as(verdicts: set[Verdict | None]) -> Verdict | None:
    """Return what an extra item was judged to be; None unless all who judged it agree."""
    known = verdicts - {None}
    return known.pop() if len(known) == 1 and known <= {"correct", "incorrect"} else None


def decide(task: Task, settings: Settings) -> Grade:
    """Read the answer's items, pair them with gold, and give the measure that is asked for."""
    assert task.gold is not None, "a task without gold is not decided"
    measure = task.metric.measure.removeprefix("list.")
    entries = entries_of(task.gold, settings.normaliser)
    if entries is None:
        return not_gradable("gold has no list to compare with")
    exhaustive = task.gold.get("exhaustive") is True
    items = read_items(task.answer, settings)
    unavailable = None
    if measure != "precision" and not exhaustive:
        unavailable = f"gold does not say that it names every right item: no {measure} (C6)"
    if isinstance(items, Unread):
        unread = (ScorePart(name="answer", outcome="unread"),)
        if unavailable is not None:
            return not_gradable(unavailable, unread)
        return decided(task, 0, items.reason, unread)
    found = compare(
        items,
        entries,
        normaliser=settings.normaliser,
        exhaustive=exhaustive,
        judged=task.judged_items,
    )
    if unavailable is not None:
        return not_gradable(unavailable, counts(found))
    return judgment(task, settings, found, measure=measure, exhaustive=exhaustive)


def judgment(
    task: Task, settings: Settings, found: Comparison, *, measure: str, exhaustive: bool
) -> Grade:
    """Return one measure of a comparison, or that it is not known or not defined."""
    considered = settings.text("extras") == "wrong"
    repeated = found.duplicates if settings.text("duplicates") == "wrong" else 0
    returned = found.matched + repeated + (len(found.extra) if considered else 0)
    case = empty_case(returned, found.gold, exhaustive=exhaustive)
    if case is not None:
        return by_rule(task, found, case=case, measure=measure)
    right = found.matched + (found.added if considered else 0)
    above, below = {
        "precision": (right, returned),
        "recall": (found.matched, found.gold),
        "f1": (2 * found.matched, returned + found.gold),
    }[measure]
    parts = (ScorePart(name=measure, numerator=above, denominator=below), *counts(found))
    words = described(found, settings)
    if considered and found.unjudged:
        low, high = (Fraction(count, below) for count in (above, above + found.unjudged))
        between = f"precision lies from {rational_text(low)} to {rational_text(high)}"
        why = f"{found.unjudged} extra items are not judged, and gold may be incomplete (C6)"
        return not_gradable(f"{between}: {why}; {words}", parts)
    return decided(task, Fraction(above, below), f"{measure} {above}/{below}: {words}", parts)


def empty_case(returned: int, gold: int, *, exhaustive: bool) -> str | None:
    """Return which case of emptiness holds (C8), None where nothing is empty."""
    if returned == 0:
        return "answer_empty" if gold else "both_empty"
    # Gold that is empty so far, but may be incomplete, makes no item wrong.
    return "gold_empty" if gold == 0 and exhaustive else None


def by_rule(task: Task, found: Comparison, *, case: str, measure: str) -> Grade:
    """Return the value that the rubric states for a case of emptiness."""
    rule = task.empty_sets.get(case)
    name = f"empty_sets.{case}.{measure}"
    if rule is None:
        return not_gradable(f"the rubric has no {name}", counts(found))
    value: str = getattr(rule, measure)
    if value == UNDEFINED:
        # There is no event for "no value": the part tells it from what nobody could decide.
        undefined = ScorePart(name="undefined", outcome=case)
        return not_gradable(f"undefined by {name}", (undefined, *counts(found)))
    stated = ScorePart(name="empty_sets", outcome=case)
    return decided(task, parse_rational(value), f"{value} by {name}", (stated, *counts(found)))


def counts(found: Comparison) -> tuple[ScorePart, ...]:
    """Return the counts of a comparison, which show no item."""
    return (
        ScorePart(name="matched", numerator=found.matched),
        ScorePart(name="missing", numerator=len(found.missing)),
        ScorePart(name="extra", numerator=len(found.extra)),
        ScorePart(name="duplicate", numerator=found.duplicates),
        ScorePart(name="added", numerator=found.added),
        ScorePart(name="unjudged", numerator=found.unjudged),
        ScorePart(name="blank", numerator=found.blank),
    )


def described(found: Comparison, settings: Settings) -> str:
    """Return a comparison in words, with the items that make the difference."""
    words = [f"{found.matched} of {found.gold} right items matched one to one"]
    words += [f"missing {listed(found.missing)}"] if found.missing else []
    words += [f"extra {listed(found.extra)}"] if found.extra else []
    words += [f"{found.duplicates} duplicates"] if found.duplicates else []
    return f"{', '.join(words)}; normalisation {settings.normaliser}"


def listed(forms: Sequence[str]) -> str:
    """Return some items for people, the first in order."""
    shown = ", ".join(shorten(form) for form in forms[:SHOWN_ITEMS])
    rest = len(forms) - SHOWN_ITEMS
    return f"{shown} and {rest} more" if rest > 0 else shown


LIST_MATCH = CodeGrader(
    name="list-match",
    version="1",
    decide=decide,
    modules=("lists", "matching", "answers", "numbers", "accepted", "normalisers"),
)
