"""The graders against reference values computed elsewhere (statistics, sections 9 to 11)."""

import json
from collections.abc import Callable, Mapping
from fractions import Fraction

from grading_cases import LIST_MEASURES, count, graded, listed, part, ratio
from reference_cases import STATISTICS, Case, all_cases, is_other_file
from trial_ledger.exact import parse_rational
from trial_ledger.grading.comparators import FieldRule, Reading
from trial_ledger.grading.grader import Grade
from trial_ledger.grading.normalisers import normalise
from trial_ledger.grading.records import OUTCOMES, field_outcome

TOPICS = ("list", "structured", "normalisation")
NOT_OURS = frozenset({"muc", "qampari", "token_f1"})
"""Quantities of these topics that are summaries or another benchmark's own, and no measure of a
rubric: statistics."""


def list_scores(inputs: Case) -> Case:
    """Return what `list-match` says about a list, under the names of the cases."""
    first = [f"{number} {names[0]}" for number, names in enumerate(inputs["gold"])]
    exhaustive = inputs.get("exhaustive", True)
    aliases = dict(zip(first, inputs["gold"], strict=True))
    # The name that stands for an item is one that nobody returns; its aliases are the case's names.
    gold = listed(*first, exhaustive=exhaustive, **aliases)
    wrong = inputs.get("adjudicated_wrong", [])
    judged = {place: "incorrect" for place, name in enumerate(inputs["pred"]) if name in wrong}
    precision, recall, f1 = (
        graded("list-match@1", gold, json.dumps(inputs["pred"]), measure, judged=judged)  # type: ignore[arg-type]
        for measure in LIST_MEASURES
    )
    matched, missing, extra, unjudged = (
        count(precision, name) for name in ("matched", "missing", "extra", "unjudged")
    )
    found = {
        "tp": matched,
        "dup": part(precision, "duplicate"),
        "unique_pred": matched + extra,
        "gold": matched + missing,
        "precision": value_of(precision),
        "recall": value_of(recall),
        "f1": value_of(f1),
        "exact_set": missing == extra == 0,
        "unjudged": unjudged,
    }
    if unjudged:
        right, returned = ratio(precision, "precision")
        found["precision_lower"] = Fraction(right, returned)
        found["precision_upper"] = Fraction(right + unjudged, returned)
        bounds = f"from {found['precision_lower']} to {found['precision_upper']}"
        assert bounds in precision.reasoning
    return found


def value_of(grade: Grade) -> Fraction | None:
    """Return the score of a judgment, None where nothing was decided."""
    return None if grade.score is None else parse_rational(grade.score)


def outcome_of(inputs: Case) -> str:
    """Return the outcome of one field."""
    assert inputs["aliases"] == []
    gold = {"f": inputs["gold"]} if inputs["has_gold_key"] else {}
    found = {"f": inputs["pred"]} if inputs["has_pred_key"] else {}
    rule = FieldRule(kind="text", comparator="exact", absent_is_null=True)
    return field_outcome("f", rule, gold, found, Reading())


def record_scores(inputs: Case) -> Case:
    """Return what `record-match` says about records, under the names of the cases."""
    names = [inputs["key"], *inputs["fields"]]
    gold = {
        "records": inputs["gold"],
        "fields": {name: {"comparator": "exact", "missing": "wrong"} for name in names},
    }
    answer = json.dumps(inputs["pred"])
    fields, records = (
        graded("record-match@1", gold, answer, f"structured.{measure}", key=[inputs["key"]])
        for measure in ("field_accuracy", "record_accuracy")
    )
    return {
        "outcomes": {name: n for name in OUTCOMES if (n := part(fields, name)) is not None},
        "field_accuracy": value_of(fields),
        "record_accuracy": value_of(records),
        "missing_records": part(fields, "missing_records"),
        "extra_records": part(fields, "extra_records"),
        "duplicate_records": part(fields, "duplicate_records"),
    }


OURS: Mapping[str, Callable[[Case], object]] = {
    "list_scores": list_scores,
    "field_outcome": outcome_of,
    "record_scores": record_scores,
    "norm_squad": lambda inputs: normalise(inputs["s"], "squad"),
    "norm_trivia": lambda inputs: normalise(inputs["s"], "triviaqa"),
    "norm_nq_open": lambda inputs: normalise(inputs["s"], "nq-open"),
}
"""What computes each quantity of the cases."""


def agrees(found: object, expected: object, tolerance: Fraction) -> bool:
    """Return whether a value is the expected one; of a table, every expected member."""
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        return all(agrees(found[key], value, tolerance) for key, value in expected.items())
    if isinstance(expected, float) and isinstance(found, Fraction):
        return abs(found - Fraction(expected)) <= tolerance
    return found == expected


def test_c07_every_reference_case_is_met() -> None:
    """Every case about lists, records and normalisers that a grader of ours gives is met."""
    about = [case for case in all_cases() if case["topic"] in TOPICS]
    ours = [case for case in about if case["fn"] not in NOT_OURS]
    assert {case["fn"] for case in ours} <= set(OURS)
    assert set(STATISTICS) >= NOT_OURS
    wrong = {
        case["name"]: (found, case["expected"])
        for case in ours
        if not agrees(
            found := OURS[case["fn"]](case["inputs"]),
            case["expected"],
            Fraction(case["tolerance"]),
        )
    }
    assert wrong == {}
    if not is_other_file():
        assert len(ours) == 5 + 12 + 15
        assert {case["fn"] for case in ours} == set(OURS)
