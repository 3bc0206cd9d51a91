"""Records: every field has one outcome, by the table of gold state and answer state (C27)."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading_cases import count, graded, part, ratio
from trial_ledger.documents.canonical_form import Json
from trial_ledger.forms import fits
from trial_ledger.grading.comparators import FieldRule, Reading
from trial_ledger.grading.grader import Grade
from trial_ledger.grading.records import OUTCOMES, RIGHT, field_outcome

FIELDS, RECORDS = "structured.field_accuracy", "structured.record_accuracy"
GRADER = "record-match@1"

ABSENT = "(no key)"
"""What stands for no key at all."""


def gold_of(records: list[dict[str, Any]], **fields: dict[str, str]) -> dict[str, Any]:
    """Return the gold of some records; fields are texts unless said otherwise."""
    names = {name for record in records for name in record} | set(fields)
    return {"records": records, "fields": {name: fields.get(name, {}) for name in names}}


def record(value: object) -> dict[str, Any]:
    """Return a record with one field, or without it."""
    return {} if value == ABSENT else {"f": value}


def answered(
    gold: Mapping[str, Any], answer: object, measure: str = FIELDS, **options: Json
) -> Grade:
    """Return the judgment on an answer that is JSON."""
    settings: dict[str, Any] = dict(options)
    return graded(GRADER, gold, json.dumps(answer), measure, **settings)


@pytest.mark.parametrize(
    ("gold", "found", "allowed", "outcome"),
    [
        ("x", "X!", False, "correct"),
        ("x", "y", False, "wrong"),
        ("x", "", False, "wrong"),
        ("x", None, False, "false_null"),
        ("x", ABSENT, False, "missing"),
        ("x", ABSENT, True, "missing"),
        (None, "y", False, "spurious"),
        (None, "", False, "spurious"),
        (None, 0, False, "spurious"),
        (None, False, False, "spurious"),
        (None, None, False, "correct_null"),
        (None, ABSENT, True, "correct_omission"),
        (None, ABSENT, False, "missing_null_key"),
        (ABSENT, "y", False, "ungraded"),
        (ABSENT, None, False, "ungraded"),
        (ABSENT, ABSENT, False, "ungraded"),
        ("", "", False, "correct"),
        ("", None, False, "false_null"),
        (0, 0, False, "correct"),
        (0, False, False, "wrong"),
        (5, "5", False, "wrong"),
        ("6", 6, False, "wrong"),
    ],
)
def test_c27_each_state_of_gold_and_answer_has_one_outcome(
    gold: object, found: object, allowed: bool, outcome: str
) -> None:
    """Missing, null, wrong and spurious are told apart; an empty text and 0 are values."""
    rule = FieldRule(absent_is_null=allowed)
    assert field_outcome("f", rule, record(gold), record(found), Reading()) == outcome


@pytest.mark.parametrize(
    ("gold", "found", "outcome"),
    [
        ("", "", "correct_null"),
        ("", None, "correct_null"),
        (None, "", "correct_null"),
        ("x", "", "false_null"),
        ("", ABSENT, "correct_omission"),
        ("", "y", "spurious"),
    ],
)
def test_c27_an_empty_text_is_null_where_the_rubric_says_so(
    gold: object, found: object, outcome: str
) -> None:
    """Then it is so in gold and in the answer."""
    rule, reading = FieldRule(absent_is_null=True), Reading(empty_text="null")
    assert field_outcome("f", rule, record(gold), record(found), reading) == outcome


@pytest.mark.parametrize(
    ("gold", "found", "outcome"),
    [
        (["x", None], "x", "correct"),
        (["x", None], "y", "wrong"),
        (["x", None], None, "correct_null"),
        (["x", None], ABSENT, "correct_omission"),
        (["x"], ABSENT, "missing"),
        (["x"], None, "false_null"),
        ([None], "x", "spurious"),
        ([], "x", "undecided"),
        ([], None, "undecided"),
        ([], ABSENT, "undecided"),
        ([["a", "b"], ["c"]], ["a", "b"], "correct"),
        ([["a", "b"], ["c"]], ["b", "a"], "wrong"),
        ([{"k": "a"}], {"k": "A"}, "correct"),
        ([{"k": "a"}], {"k": "A", "l": 1}, "wrong"),
        ([{"k": "a"}], "a", "wrong"),
    ],
)
def test_c27_gold_may_accept_several_values_and_null(
    gold: list[Any], found: object, outcome: str
) -> None:
    """With `any_of` each accepted value is compared by itself; null among them makes null right."""
    rule = FieldRule(comparator="any_of", absent_is_null=True)
    assert field_outcome("f", rule, record(gold), record(found), Reading()) == outcome


def test_c27_a_record_is_right_when_all_its_fields_are() -> None:
    """A missing record is wrong in all its fields; a later duplicate repairs nothing."""
    gold = gold_of(
        [{"id": 1, "a": "x", "b": None}, {"id": 2, "a": "y", "b": 5}, {"id": 3, "a": "z", "b": 7}]
    )
    answer = [
        {"id": 1, "a": "x", "b": None},
        {"id": 2, "a": "y", "b": 6},
        {"id": 2, "a": "y", "b": 5},
        {"id": 9, "a": "q", "b": 1},
        {"a": "no id"},
    ]
    fields = answered(gold, answer, key=["id"])
    records = answered(gold, answer, RECORDS, key=["id"])
    assert (fields.score, records.score) == ("1/2", "1/3")
    assert fields.parts == records.parts
    counted = {known.name: (known.numerator, known.denominator) for known in fields.parts}
    assert counted == {
        "answer": (None, None),
        "fields": (3, 6),
        "records": (1, 3),
        "correct": (2, None),
        "correct_null": (1, None),
        "wrong": (1, None),
        "missing_record_field": (2, None),
        "undecided_records": (0, None),
        "missing_records": (1, None),
        "extra_records": (2, None),
        "duplicate_records": (1, None),
        "field.a": (2, 3),
        "field.b": (1, 3),
    }
    assert fields.reasoning == (
        "3 of 6 fields right: 'b' of record 2 wrong; 'a' of record 3 missing_record_field; "
        "'b' of record 3 missing_record_field"
    )
    assert records.reasoning.startswith("1 of 3 records right: ")


def test_without_a_key_records_are_compared_in_order() -> None:
    """One record more or less is counted; one object stands for a list of one."""
    gold = gold_of([{"a": "x"}, {"a": "y"}])
    assert answered(gold, [{"a": "x"}, {"a": "y"}]).score == "1"
    assert answered(gold, [{"a": "y"}, {"a": "x"}]).score == "0"
    short = answered(gold, {"a": "x"})
    assert (short.score, part(short, "missing_records")) == ("1/2", 1)
    long = answered(gold, [{"a": "x"}, {"a": "y"}, {"a": "x"}])
    assert (long.score, part(long, "extra_records")) == ("1", 1)


def test_fields_that_gold_does_not_state_are_not_graded() -> None:
    """Neither what the answer adds nor what only another gold record has."""
    gold = gold_of([{"a": "x"}, {"b": "y"}, {}])
    found = answered(gold, [{"a": "x", "b": "?", "c": 1}, {"b": "y"}, {"a": "?"}], RECORDS)
    assert (found.score, part(found, "fields"), part(found, "ungraded")) == ("1", (2, 2), 4)
    lacking = answered(gold, [])
    assert part(lacking, "missing_record_field") == 2


@pytest.mark.parametrize("answer", ["Paris", "", "[1]", '{"a": "x", "a": "x"}', '"x"'])
def test_an_answer_of_another_form_is_wrong(answer: str) -> None:
    """Every field counts as missing, so that the denominator is the same; the reason is named."""
    found = graded(GRADER, gold_of([{"a": "x", "b": None}]), answer)
    assert (found.score, part(found, "answer"), part(found, "fields")) == ("0", "unread", (0, 2))
    assert found.reasoning.startswith("0 of 2 fields right: the answer is no ") or (
        "member 1 of the answer is no JSON object" in found.reasoning
    )


@pytest.mark.parametrize(
    ("gold", "options", "reason"),
    [
        ({}, {}, "gold declares no fields"),
        ({"fields": "x", "records": "y"}, {}, "gold declares no fields"),
        (gold_of([{"a": "x"}]), {"key": ["id"]}, "gold declares no field 'id', which is the key"),
        (
            gold_of([{"id": "1"}, {"id": "1."}]),
            {"key": ["id"]},
            "the key id does not tell every gold record from the others",
        ),
        (
            gold_of([{"id": None, "a": "x"}]),
            {"key": ["id"]},
            "the key id does not tell every gold record from the others",
        ),
        (
            gold_of([{"id": ["1"]}], id={"comparator": "ordered"}),
            {"key": ["id"]},
            "the key id does not tell every gold record from the others",
        ),
        (gold_of([], a={}), {}, "undefined: gold states no field to grade"),
        (gold_of([{"id": "1"}]), {"key": ["id"]}, "undefined: gold states no field to grade"),
    ],
)
def test_gold_that_cannot_be_compared_decides_nothing(
    gold: dict[str, Any], options: dict[str, Any], reason: str
) -> None:
    """What is wrong with gold is not held against the agent."""
    found = answered(gold, [{"id": "1", "a": "x"}], **options)
    assert (found.verdict, found.score, found.reasoning) == ("not_gradable", None, reason)


UNREADABLE = [
    ("numeric", "integer", "many", ["many", "Many!"], ["few", 5]),
    ("numeric", "decimal", "RM 9.00", ["rm 9.00"], ["9.00", 9]),
    ("date", "date", "25 MAR 2018", ["25 Mar 2018"], ["2018-03-25"]),
    ("normalised", "text", ["x"], [["X"]], ["x", ["x", "y"]]),
    ("any_of", "text", "x", ["X"], ["y", ["x"]]),
    ("any_of", "decimal", [["1", "x"], 2], [["1", "X"], "2.0"], ["3", ["1.0", "x"]]),
    ("unordered", "decimal", [1, "x"], [[1, "x"]], [["x", 1], [2, "x"]]),
]


@pytest.mark.parametrize(("comparator", "kind", "gold", "same", "others"), UNREADABLE)
def test_c27_gold_that_its_comparator_cannot_read_makes_nothing_wrong(
    comparator: str, kind: str, gold: object, same: list[object], others: list[object]
) -> None:
    """The same value is right; of another one nobody can say, and the range is named."""
    table = gold_of([{"f": gold, "g": "x"}], f={"type": kind, "comparator": comparator})
    for value in same:
        assert answered(table, {"f": value, "g": "x"}).score == "1", value
    for value in others:
        for measure, low in ((FIELDS, "1/2"), (RECORDS, "0")):
            found = answered(table, {"f": value, "g": "x"}, measure)
            assert (found.verdict, found.score, count(found, "undecided")) == (
                "not_gradable",
                None,
                1,
            )
            assert f" lies from {low} to 1: gold states what " in found.reasoning
        # Another field that is wrong decides the record, though not how many fields are right.
        wrong = answered(table, {"f": value, "g": "y"}, RECORDS)
        assert (wrong.score, count(wrong, "undecided_records")) == ("0", 0)
    missing = answered(table, {"g": "x"})
    assert (missing.score, part(missing, "missing")) == ("1/2", 1)


def test_numbers_in_records_are_read_in_the_declared_notation() -> None:
    """The same options as for a single number, for gold and answer alike."""
    gold = gold_of([{"total": "RM 1,009.00"}], total={"type": "decimal"})
    notation: dict[str, Any] = {"units": ["RM", "$"], "thousands": "comma"}
    for value in ("1009", 1009, "$1,009.0", "RM1009"):
        assert answered(gold, {"total": value}, **notation).score == "1"
    assert answered(gold, {"total": "1009 EUR"}, **notation).score == "0"
    european: dict[str, Any] = {"decimal": "comma", "thousands": "point"}
    plain = gold_of([{"total": "1.5"}], total={"type": "decimal"})
    for text, score in (("1.500", "1"), ('"1,5"', "1"), ('"1.500"', "0"), ('"1.5"', "0")):
        assert graded(GRADER, plain, f'{{"total": {text}}}', FIELDS, **european).score == score


COMPARISONS = [
    ("exact", "text", "x", ["x"], ["X", "x ", None, ["x"]]),
    ("exact", "text", "5", ["5"], [5]),
    ("exact", "boolean", True, [True], [1, "true", False]),
    ("normalised", "text", "The U.S.A.", ["usa"], ["us", 5]),
    ("numeric", "integer", 5, [5, "5", "5.0", "5e0"], [6, "five", True, "5 km"]),
    ("numeric", "decimal", "0.50", ["0.5", ".5"], ["0.51", 5]),
    ("date", "date", "2026-10-01", ["2026-10-01"], ["2026-10", "01/10/2026", "2026-10-02", 5]),
    ("date", "date", "2026-10", ["2026-10"], ["2026-10-01", "2026-13", "2026"]),
    ("date", "date", 2026, ["2026", 2026], ["2026-01", True]),
    (
        "date",
        "date",
        "2026-10-01T12:00:00Z",
        ["2026-10-01T12:00:00+00:00", "2026-10-01T14:00:00+02:00"],
        ["2026-10-01T12:00:00", "2026-10-01", "0001-01-01T00:00:00+23:00"],
    ),
    ("unordered", "list", ["a", "b", "a"], [["a", "a", "b"]], [["a", "b"], ["a", "b", "b"], "a"]),
    ("unordered", "list", [["a", 1], {"k": None}], [[{"k": None}, ["A", 1]]], [[["a", 1], {}]]),
    (
        "unordered",
        "decimal",
        ["0.5", 2, None],
        [[2, None, "0.50"]],
        [[2, "0.5", "x"], [2, 2, None]],
    ),
    ("ordered", "list", ["a", "b"], [["A", "b"]], [["b", "a"], ["a"], "ab", {"a": 1}]),
    ("ordered", "decimal", ["0.5", 2], [["0.50", "2.0"]], [[2, "0.5"]]),
    ("any_of", "integer", [5, "6"], [5, 6, "6.0"], [7, [5]]),
    ("any_of", "boolean", [True, "auto"], [True, "auto"], [False, "Auto", 1]),
]


@pytest.mark.parametrize(("comparator", "kind", "gold", "right", "wrong"), COMPARISONS)
def test_c27_fields_are_compared_as_declared(
    comparator: str, kind: str, gold: object, right: list[object], wrong: list[object]
) -> None:
    """Values of different kinds differ unless the comparator reads both as the same thing."""
    table = gold_of([{"f": gold}], f={"type": kind, "comparator": comparator})
    for value in [gold, *right]:
        if comparator == "any_of" and value == gold:
            continue
        assert answered(table, {"f": value}).score == "1", value
    for value in wrong:
        assert answered(table, {"f": value}).score == "0", value


@pytest.mark.parametrize(
    ("dates", "right"),
    [("iso", "2018-12-25"), ("day-first", "25/12/2018"), ("month-first", "12.25.2018")],
)
def test_dates_are_read_in_the_declared_order(dates: str, right: str) -> None:
    """A date whose order nobody declared is none; nor is one with a year of two digits."""
    gold = gold_of([{"f": "2018-12-25"}], f={"type": "date"})
    for written in ("25/12/2018", "12.25.2018"):
        score = answered(gold, {"f": written}, dates=dates).score
        assert score == ("1" if written == right else "0")
    assert answered(gold, {"f": "25-12-18"}, dates=dates).score == "0"
    own = gold_of([{"f": right}], f={"type": "date"})
    assert answered(own, {"f": "2018-12-25"}, dates=dates).score == "1"


def test_tolerances_hold_inside_lists_too() -> None:
    """In a list without order the closest numbers are paired."""
    for comparator in ("unordered", "ordered"):
        gold = gold_of([{"f": [1, 2]}], f={"type": "decimal", "comparator": comparator})
        assert answered(gold, {"f": ["1.5", "2.5"]}, absolute="0.5").score == "1"
        assert answered(gold, {"f": ["1.5", "2.6"]}, absolute="0.5").score == "0"
        assert answered(gold, {"f": ["1.1", "2.2"]}, relative="0.1").score == "1"
    swapped = gold_of([{"f": [1, 2]}], f={"type": "decimal", "comparator": "unordered"})
    assert answered(swapped, {"f": ["2.5", "1.5"]}, absolute="1/2").score == "1"


def test_parts_stay_small_and_well_formed_whatever_fields_are_called() -> None:
    """A judgment is one event: long names stand by number, and a hundred fields are listed."""
    names = [f"field {n:03}" for n in range(200)] + ["\u0000", "x" * 300]
    found = answered(gold_of([dict.fromkeys(names, "x")]), {})
    labels = [known.name for known in found.parts]
    assert all(fits("name", label) for label in labels)
    listed = [label for label in labels if label.startswith("field")]
    assert len(listed) == 1 + 100
    assert "field[1]" in labels
    assert "field.field 000" in labels
    assert found.reasoning.count("record 1 missing") == 10


VALUES = st.sampled_from(["x", "y", None, "", 0, 1, True])
ROWS = st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), max_size=4)


@given(rows=ROWS, answer=ROWS, allowed=st.booleans())
def test_c27_outcomes_add_up(
    rows: list[dict[str, Any]], answer: list[dict[str, Any]], allowed: bool
) -> None:
    """Each field of each gold record has one outcome, and the right ones are the numerator."""
    missing = {"missing": "allowed" if allowed else "wrong"}
    found = answered(gold_of(rows, a=missing, b=missing, c=missing), answer)
    counted = {name: count(found, name) for name in OUTCOMES}
    assert sum(counted.values()) == len(rows) * 3
    right = sum(counted[name] for name in RIGHT)
    assert ratio(found, "fields") == (right, sum(map(len, rows)))


@given(rows=ROWS, data=st.data())
def test_c27_gold_graded_against_itself_is_perfect(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    """With a key, in any order; and one field made wrong costs one field and one record."""
    keyed = [{**row, "id": n} for n, row in enumerate(rows)]
    gold = gold_of(keyed, id={"type": "integer"})
    shuffled = data.draw(st.permutations(keyed))
    for measure in (FIELDS, RECORDS):
        found = answered(gold, shuffled, measure, key=["id"])
        assert found.score == ("1" if any(rows) else None)
    filled = [row for row in shuffled if len(row) > 1]
    if filled:
        spoiled = data.draw(st.sampled_from(filled))
        name = data.draw(st.sampled_from(sorted(set(spoiled) - {"id"})))
        answer = [{**row, name: "other"} if row is spoiled else row for row in shuffled]
        found = answered(gold, answer, RECORDS, key=["id"])
        right, total = ratio(found, "fields")
        assert right == total - 1
        assert part(found, "records") == (len(filled) - 1, len(filled))


PRECISION = "structured.record_precision"


def test_c27_records_that_nobody_asked_for_cost_precision() -> None:
    """An extra record and a repeated one leave accuracy as it is; one that lacks costs none."""
    gold = gold_of([{"id": name, "n": name} for name in "abc"], id={})
    answer = [{"id": "a", "n": "a"}, {"id": "b", "n": "x"}, {"id": "z", "n": "z"}]
    answer.append({"id": "b", "n": "b"})
    for measure in (RECORDS, FIELDS):
        assert answered(gold, answer, measure, key=["id"]).score == "1/3"
    found = answered(gold, answer, PRECISION, key=["id"])
    assert found.score == "1/4"
    assert (count(found, "extra_records"), count(found, "duplicate_records")) == (1, 1)
    assert found.reasoning.startswith("1 of 4 records of the answer right: 'n' of record 2 wrong")


def test_c27_precision_of_no_records_is_undefined() -> None:
    """Never 0 and never 1, unless the answer is no JSON; nor where gold grades nothing."""
    unread = graded(GRADER, gold_of([{"n": "a"}]), "none", PRECISION)
    assert (unread.score, ratio(unread, "records")) == ("0", (0, 1))
    found = answered(gold_of([{"id": "a", "n": "a"}], id={}), [], PRECISION, key=["id"])
    assert (found.verdict, found.reasoning) == (
        "not_gradable", "undefined: the answer has no record",
    )  # fmt: skip
    keys = answered(gold_of([{"id": "a"}], id={}), [{"id": "a"}], PRECISION, key=["id"])
    assert keys.reasoning == "undefined: gold states no field to grade"
