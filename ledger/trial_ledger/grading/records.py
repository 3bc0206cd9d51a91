"""Grade structured records: accuracy per field and per record, nulls and gaps told apart (C27).

Precision is of the records that the answer gives: extra and repeated ones count against it.

Invariant: every field that gold states has exactly one outcome, so that the outcomes of a record
add up to its fields; a record that the answer lacks is wrong in all of them.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.grader_options import Settings
from trial_ledger.exact import rational_text
from trial_ledger.forms import fits as has_form
from trial_ledger.grading.answers import Unread, read_objects
from trial_ledger.grading.comparators import (
    FieldRule,
    LeafForm,
    Reading,
    field_rules,
    fits,
    gold_form,
    key_form,
    leaf_form,
)
from trial_ledger.grading.grader import CodeGrader, Grade, Task, decided, not_gradable
from trial_ledger.grading.numbers import rules_of, tolerance_of
from trial_ledger.kinds.judgments import ScorePart
from trial_ledger.strict_json import shorten

__all__ = ["OUTCOMES", "RECORD_MATCH", "RIGHT", "FieldOutcome", "field_outcome"]

FieldOutcome: TypeAlias = Literal[
    "correct",
    "correct_null",
    "correct_omission",
    "wrong",
    "false_null",
    "missing",
    "missing_null_key",
    "missing_record_field",
    "spurious",
    "undecided",
    "ungraded",
]
"""What came of one field of one record."""

OUTCOMES: tuple[FieldOutcome, ...] = get_args(FieldOutcome)
"""Every outcome, the right ones first."""

RIGHT: frozenset[FieldOutcome] = frozenset({"correct", "correct_null", "correct_omission"})
"""The outcomes that count as right."""

Record: TypeAlias = Mapping[str, Json]

NO_FIELD = "gold states no field to grade"
SHOWN_FAULTS = 10
LONGEST_FIELD = 80
MOST_FIELDS = 100
"""Fields that have a part of their own, so that an event stays within its size."""


def field_outcome(
    name: str, rule: FieldRule, gold: Record, found: Record, reading: Reading
) -> FieldOutcome:
    """Return what came of one field, by the table of gold state and answer state.

    | gold | equal value | other value | null | key absent |
    | --- | --- | --- | --- | --- |
    | value | correct | wrong | false_null | missing |
    | null | | spurious | correct_null | correct_omission, or missing_null_key |
    | key absent | ungraded | ungraded | ungraded | ungraded |

    With `any_of`, gold may accept a value and null at once; where it accepts nothing at all, nobody
    can say what is right. Nor can they of another value where gold is not what its comparator
    compares. Both are undecided.
    """
    if name not in gold:
        return "ungraded"
    if rule.comparator == "any_of" and gold[name] == []:
        return "undecided"
    values, accepts_null = accepted(rule, gold[name], reading)
    if name not in found:
        if not accepts_null:
            return "missing"
        return "correct_omission" if rule.absent_is_null else "missing_null_key"
    if reading.is_null(found[name]):
        return "correct_null" if accepts_null else "false_null"
    return "spurious" if values is None else value_outcome(rule, values, found[name], reading)


def value_outcome(rule: FieldRule, gold: Json, found: Json, reading: Reading) -> FieldOutcome:
    """Return what came of a field in which both sides have a value."""
    right = fits(rule, gold, found, reading)
    if right is None:
        return "undecided"
    return "correct" if right else "wrong"


def accepted(rule: FieldRule, gold: Json, reading: Reading) -> tuple[Json, bool]:
    """Return the gold value, None where it is only null, and whether null is right."""
    if reading.is_null(gold):
        return None, True
    if rule.comparator != "any_of" or not isinstance(gold, list):
        return gold, False
    values = [member for member in gold if not reading.is_null(member)]
    return values or None, len(values) < len(gold)


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Which record of the answer stands for which one of gold."""

    found: tuple[Record | None, ...]
    """For each gold record the answer's; None where the answer has none."""
    extra: int
    """Records of the answer that gold does not have."""
    duplicates: int
    """Records of the answer whose key stood there before; the first one counts."""


class Tally(msgspec.Struct, kw_only=True):
    """Outcomes counted."""

    outcomes: Counter[FieldOutcome]
    """Fields by outcome."""
    right: Counter[str]
    """Right fields by name."""
    graded: Counter[str]
    """Graded fields by name."""
    records_right: int = 0
    """Records in which every graded field is right."""
    records_undecided: int = 0
    """Records in which no graded field is wrong and not every one is decided."""
    records_graded: int = 0
    """Records with a graded field."""
    records_found: int = 0
    """Of these, those that the answer has."""
    faults: list[str]
    """What is wrong, in words, the first of it."""


def decide(task: Task, settings: Settings) -> Grade:
    """Read the answer's records, pair them with gold, and compare field by field."""
    assert task.gold is not None, "a task without gold is not decided"
    reading = Reading(
        normaliser=settings.normaliser,
        notation=rules_of(settings),
        tolerance=tolerance_of(settings),
        dates=settings.text("dates"),
        empty_text=settings.text("empty_text"),
    )
    gold = records_of(task.gold)
    rules = field_rules(task.gold)
    keys = {name: rules.get(name) for name in settings.names("key")}
    fault = gold_fault(gold, rules, keys, reading)
    if fault is not None:
        return not_gradable(fault)
    answered = read_objects(task.answer, settings.text("json"))
    unread = answered.reason if isinstance(answered, Unread) else None
    records = () if isinstance(answered, Unread) else answered
    pairing = pair(gold, records, {name: rules[name] for name in keys}, reading)
    graded = {name: rule for name, rule in rules.items() if name not in keys}
    return judgment(task, tally(gold, pairing, graded, reading), pairing, unread)


def records_of(gold: Record) -> list[dict[str, Json]]:
    """Return the records that gold states."""
    records = gold.get("records")
    members = records if isinstance(records, list) else []
    return [member for member in members if isinstance(member, dict)]


def gold_fault(
    gold: Sequence[Record],
    rules: Mapping[str, FieldRule],
    keys: Mapping[str, FieldRule | None],
    reading: Reading,
) -> str | None:
    """Return why nothing can be compared with this gold, None where everything can."""
    if not rules:
        return "gold declares no fields"
    for name, rule in keys.items():
        if rule is None:
            return f"gold declares no field {shorten(name)}, which is the key"
    named = {name: rules[name] for name in keys}
    known = [key_of(record, named, reading, gold_form) for record in gold]
    if keys and (None in known or len(set(known)) < len(known)):
        return f"the key {', '.join(keys)} does not tell every gold record from the others"
    return None


def key_of(
    record: Record, keys: Mapping[str, FieldRule], reading: Reading, form: LeafForm
) -> Hashable:
    """Return what identifies a record; None where a key field is missing, null or unreadable."""
    forms = tuple(key_form(rule, record.get(name), reading, form) for name, rule in keys.items())
    return None if None in forms else forms


def pair(
    gold: Sequence[Record],
    answered: Sequence[Record],
    keys: Mapping[str, FieldRule],
    reading: Reading,
) -> Pairing:
    """Pair the records by their key, or by their order where there is none."""
    if not keys:
        found = (*answered[: len(gold)], *([None] * (len(gold) - len(answered))))
        return Pairing(found=found, extra=max(0, len(answered) - len(gold)), duplicates=0)
    wanted = dict.fromkeys(key_of(record, keys, reading, gold_form) for record in gold)
    first: dict[Hashable, Record] = {}
    extra = duplicates = 0
    for record in answered:
        key = key_of(record, keys, reading, leaf_form)
        if key is not None and key in first:
            duplicates += 1
            continue
        extra += key not in wanted
        if key is not None:
            first[key] = record
    return Pairing(
        found=tuple(first.get(key) for key in wanted), extra=extra, duplicates=duplicates
    )


def tally(
    gold: Sequence[Record], pairing: Pairing, rules: Mapping[str, FieldRule], reading: Reading
) -> Tally:
    """Return the outcomes of every field of every gold record."""
    counted = Tally(outcomes=Counter(), right=Counter(), graded=Counter(), faults=[])
    for number, (record, found) in enumerate(zip(gold, pairing.found, strict=True), 1):
        outcomes = {
            name: outcome_in(name, rule, record, found, reading) for name, rule in rules.items()
        }
        counted.outcomes.update(outcomes.values())
        graded = {name for name, outcome in outcomes.items() if outcome != "ungraded"}
        right = {name for name, outcome in outcomes.items() if outcome in RIGHT}
        undecided = {name for name, outcome in outcomes.items() if outcome == "undecided"}
        counted.graded.update(graded)
        counted.right.update(right)
        counted.records_graded += bool(graded)
        counted.records_found += bool(graded) and found is not None
        counted.records_right += bool(graded) and graded == right
        counted.records_undecided += bool(undecided) and graded == right | undecided
        for name in sorted(graded - right)[: SHOWN_FAULTS - len(counted.faults)]:
            counted.faults.append(f"{shorten(name)} of record {number} {outcomes[name]}")
    return counted


def outcome_in(
    name: str, rule: FieldRule, gold: Record, found: Record | None, reading: Reading
) -> FieldOutcome:
    """Return what came of one field of a record that the answer may lack."""
    if found is None:
        return "missing_record_field" if name in gold else "ungraded"
    return field_outcome(name, rule, gold, found, reading)


def judgment(task: Task, counted: Tally, pairing: Pairing, unread: str | None) -> Grade:
    """Return the measure that is asked for."""
    right, undecided, graded = (
        counted.records_right,
        counted.records_undecided,
        counted.records_graded,
    )
    what = "records"
    if task.metric.measure == "structured.field_accuracy":
        what, undecided = "fields", counted.outcomes["undecided"]
        right, graded = counted.right.total(), counted.graded.total()
    elif task.metric.measure == "structured.record_precision":
        what = "records of the answer"
        # What is no JSON of records counts as one, and a wrong one.
        graded = counted.records_found + pairing.extra + pairing.duplicates + (unread is not None)
    parts = parts_of(counted, pairing, unread)
    if graded == 0:
        missing = "the answer has no record" if counted.records_graded else NO_FIELD
        return not_gradable(f"undefined: {missing}", parts)
    faults = "; ".join(filter(None, (unread, *counted.faults)))
    words = f"{right} of {graded} {what} right{f': {faults}' if faults else ''}"
    if undecided:
        low, high = (Fraction(count, graded) for count in (right, right + undecided))
        between = (
            f"the share of right {what} lies from {rational_text(low)} to {rational_text(high)}"
        )
        why = "gold states what its comparator does not compare"
        return not_gradable(f"{between}: {why}; {words}", parts)
    return decided(task, Fraction(right, graded), words, parts)


def parts_of(counted: Tally, pairing: Pairing, unread: str | None) -> tuple[ScorePart, ...]:
    """Return what a judgment is made of: totals, outcomes, records, and each field by name."""
    parts = [ScorePart(name="answer", outcome="read" if unread is None else "unread")]
    totals = {
        "fields": (counted.right.total(), counted.graded.total()),
        "records": (counted.records_right, counted.records_graded),
    }
    for name, (right, graded) in totals.items():
        parts.append(ScorePart(name=name, numerator=right, denominator=graded))
    counts: dict[str, int] = {
        **{outcome: counted.outcomes[outcome] for outcome in OUTCOMES if counted.outcomes[outcome]},
        "undecided_records": counted.records_undecided,
        "missing_records": pairing.found.count(None),
        "extra_records": pairing.extra,
        "duplicate_records": pairing.duplicates,
    }
    parts += [ScorePart(name=name, numerator=count) for name, count in counts.items()]
    for number, name in enumerate(sorted(counted.graded)[:MOST_FIELDS], 1):
        sayable = len(name) <= LONGEST_FIELD and has_form("name", name)
        label = f"field.{name}" if sayable else f"field[{number}]"
        right, graded = counted.right[name], counted.graded[name]
        parts.append(ScorePart(name=label, numerator=right, denominator=graded))
    return tuple(parts)


RECORD_MATCH = CodeGrader(
    name="record-match",
    version="1",
    decide=decide,
    modules=("records", "comparators", "numbers", "answers", "accepted", "normalisers"),
)
