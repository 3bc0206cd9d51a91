"""Lists: folded, paired one to one, and honest about what nobody knows (C6, C7, C8)."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading_cases import LIST_MEASURES, STATED, graded, listed, part
from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.rubric_structs import EMPTY_SETS, EmptySet
from trial_ledger.exact import parse_rational
from trial_ledger.grading.grader import Grade
from trial_ledger.kinds.base import Verdict

PRECISION, RECALL, F1 = LIST_MEASURES

NAMES = st.sampled_from(
    ["Ada", "ada ", "Bela", "B\u00e9la", "Cy", "the Cy", "Dora", "Eve", "!", " "]
)
ANSWERS = st.lists(NAMES, max_size=8)
GOLD = st.builds(
    lambda names: {
        "items": list(names),
        "aliases": {name: list(others) for name, others in names.items()},
        "exhaustive": True,
    },
    st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=5),
)


def scored(
    gold: Mapping[str, Any],
    items: list[str],
    measure: str,
    *,
    judged: Mapping[int, Verdict] | None = None,
    empty_sets: Mapping[str, EmptySet] | None = None,
    **options: Json,
) -> Grade:
    """Return the judgment on a list of items."""
    known: dict[str, Any] = {"judged": judged, "empty_sets": empty_sets, **options}
    return graded("list-match@1", gold, json.dumps(items), measure, **known)


def value(grade: Grade) -> Fraction | None:
    """Return a judgment's score."""
    return None if grade.score is None else parse_rational(grade.score)


def test_c07_names_are_folded_and_duplicates_removed_and_counted() -> None:
    """Five returned names are three, of which two are right; gold has three."""
    gold = listed("Paris", "Lyon", "Nice", Lyon=["Lyons"])
    returned = ["Paris", "paris ", "Lyons", "Lyon", "Rome"]
    for measure in LIST_MEASURES:
        found = scored(gold, returned, measure)
        assert found.score == "2/3"
        counts = {name: part(found, name) for name in ("matched", "missing", "extra", "duplicate")}
        assert counts == {"matched": 2, "missing": 1, "extra": 1, "duplicate": 2}
    assert part(scored(gold, returned, PRECISION), "precision") == (2, 3)
    assert part(scored(gold, returned, RECALL), "recall") == (2, 3)
    assert part(scored(gold, returned, F1), "f1") == (4, 6)


def test_c28_the_reasoning_names_what_makes_the_difference() -> None:
    """Missing and extra items stand in the reasoning, which is kept with gold, not in the parts."""
    found = scored(listed("Paris", "Nice"), ["Paris", "Rome", "Rome"], PRECISION)
    assert found.reasoning == (
        "precision 1/2: 1 of 2 right items matched one to one, missing 'nice', extra 'rome', "
        "1 duplicates; normalisation squad"
    )
    assert "nice" not in str(found.parts)
    many = scored(listed("Paris"), [f"town {n:02}" for n in range(25)], PRECISION)
    assert "'town 09' and 15 more" in many.reasoning


def test_c07_one_name_of_two_items_is_paired_with_the_right_one() -> None:
    """Taking the first item that fits would lose the other one."""
    gold = {
        "items": ["Georgia (country)", "Georgia (state)"],
        "aliases": {
            "Georgia (country)": ["Georgia", "Sakartvelo"],
            "Georgia (state)": ["Georgia"],
        },
        "exhaustive": True,
    }
    for items in (["Georgia", "Sakartvelo"], ["Sakartvelo", "Georgia"]):
        assert scored(gold, items, RECALL).score == "1"


@pytest.mark.parametrize(
    ("options", "precision", "recall", "f1"),
    [
        ({}, "1/2", "1/2", "1/2"),
        ({"duplicates": "wrong"}, "1/3", "1/2", "2/5"),
        ({"extras": "ignored"}, "1", "1/2", "2/3"),
        ({"extras": "ignored", "duplicates": "wrong"}, "1/2", "1/2", "1/2"),
    ],
)
def test_c07_other_rules_apply_where_the_rubric_names_them(
    options: dict[str, Any], precision: str, recall: str, f1: str
) -> None:
    """A benchmark may count duplicates as wrong, or not count extra items."""
    gold = listed("Paris", "Nice")
    for measure, score in zip(LIST_MEASURES, (precision, recall, f1), strict=True):
        assert scored(gold, ["Paris", "paris", "Rome"], measure, **options).score == score


@pytest.mark.parametrize("case", EMPTY_SETS)
@pytest.mark.parametrize("measure", LIST_MEASURES)
def test_c08_empty_sets_score_as_the_rubric_says(case: str, measure: str) -> None:
    """Nine cells, each from the frozen table; `undefined` is no number and says which rule."""
    gold = listed() if case in {"both_empty", "gold_empty"} else listed("Paris")
    items = ["Rome"] if case == "gold_empty" else []
    key = measure.removeprefix("list.")
    stated: str = getattr(STATED[case], key)
    found = scored(gold, items, measure)
    if stated == "undefined":
        assert (found.verdict, found.score) == ("not_gradable", None)
        assert part(found, "undefined") == case
        assert found.reasoning == f"undefined by empty_sets.{case}.{key}"
    else:
        assert (found.verdict, found.score) == (None, stated)
        assert part(found, "empty_sets") == case
    unstated = scored(gold, items, measure, empty_sets={})
    assert unstated.reasoning == f"the rubric has no empty_sets.{case}.{key}"
    assert unstated.verdict == "not_gradable"


def test_c08_an_answer_of_which_nothing_counts_is_empty() -> None:
    """Where extra items are ignored, an answer of nothing else has returned nothing."""
    found = scored(listed("Paris"), ["Rome"], PRECISION, extras="ignored")
    assert part(found, "undefined") == "answer_empty"
    blank = scored(listed("Paris"), ["", " "], RECALL)
    assert (blank.score, part(blank, "empty_sets"), part(blank, "blank")) == (
        "0",
        "answer_empty",
        2,
    )


@pytest.mark.parametrize("exhaustive", [False, None])
def test_c06_incomplete_gold_gives_no_recall(exhaustive: bool | None) -> None:
    """Recall and F1 are not graded, with the reason; what was matched is still counted."""
    gold = listed("Paris", "Nice", exhaustive=exhaustive)
    for measure, name in ((RECALL, "recall"), (F1, "f1")):
        found = scored(gold, ["Paris"], measure)
        assert (found.verdict, found.score, part(found, "matched")) == ("not_gradable", None, 1)
        assert found.reasoning == (
            f"gold does not say that it names every right item: no {name} (C6)"
        )
        unread = graded("list-match@1", gold, "Paris, Nice", measure)
        assert (unread.verdict, part(unread, "answer")) == ("not_gradable", "unread")


def test_c06_extra_items_against_incomplete_gold_are_a_range_until_judged() -> None:
    """Each judged item narrows the range; when all are, precision is a number."""
    gold = listed("Paris", exhaustive=False)
    items = ["Paris", "Rome", "Oslo", "rome"]
    found = scored(gold, items, PRECISION)
    assert (found.verdict, found.score, part(found, "unjudged")) == ("not_gradable", None, 2)
    assert found.reasoning.startswith(
        "precision lies from 1/3 to 1: 2 extra items are not judged, and gold may be incomplete"
    )
    half = scored(gold, items, PRECISION, judged={1: "correct"})
    assert half.reasoning.startswith("precision lies from 2/3 to 1: 1 extra items")
    whole = scored(gold, items, PRECISION, judged={1: "correct", 2: "incorrect"})
    assert (whole.score, part(whole, "added"), part(whole, "precision")) == ("2/3", 1, (2, 3))


def test_c06_only_a_clear_verdict_judges_an_item() -> None:
    """Verdicts that contradict each other, or decide nothing, leave an item unjudged."""
    gold = listed("Paris", exhaustive=False)
    unclear: tuple[dict[int, Verdict], ...] = (
        {0: "correct", 1: "incorrect"},
        {0: "partial"},
        {0: "not_gradable"},
    )
    for judged in unclear:
        found = scored(gold, ["Rome", "rome"], PRECISION, judged=judged)
        assert part(found, "unjudged") == 1
    agreed = scored(gold, ["Rome", "rome"], PRECISION, judged={0: "correct", 1: "correct"})
    assert agreed.score == "1"


def test_c06_complete_gold_needs_no_verdict_on_items() -> None:
    """Where gold names every right item, an extra one is wrong, whoever says otherwise."""
    found = scored(listed("Paris"), ["Rome"], PRECISION, judged={0: "correct"})
    assert (found.score, part(found, "added"), part(found, "unjudged")) == ("0", 0, 0)


def test_c06_gold_that_is_empty_so_far_makes_no_item_wrong() -> None:
    """An incomplete list without items leaves every item to be judged."""
    gold = listed(exhaustive=False)
    assert part(scored(gold, ["Rome"], PRECISION), "unjudged") == 1
    assert scored(gold, ["Rome"], PRECISION, judged={0: "correct"}).score == "1"
    ignoring = scored(
        listed("Paris", exhaustive=False), ["Paris", "Rome"], PRECISION, extras="ignored"
    )
    assert ignoring.score == "1"


def test_an_answer_of_another_form_is_wrong() -> None:
    """The agent was told how to answer; the reasoning says what was found instead."""
    for measure in LIST_MEASURES:
        found = graded("list-match@1", listed("Paris"), "Paris", measure)
        assert (found.score, part(found, "answer")) == ("0", "unread")
        assert found.reasoning.startswith("the answer is no acceptable JSON")


@pytest.mark.parametrize("gold", [{}, {"items": None}, {"items": "Paris"}])
def test_gold_without_a_list_decides_nothing(gold: dict[str, object]) -> None:
    """Nobody is wrong against gold that has no list."""
    assert scored(gold, ["Paris"], PRECISION).verdict == "not_gradable"


def test_gold_may_name_an_item_twice_and_by_numbers() -> None:
    """Two items with the same names are one; integers and truth values are names too."""
    gold = {"items": ["Paris", "paris!", 7, True, None], "aliases": "none", "exhaustive": True}
    found = scored(gold, ["Paris", "7", "true"], F1)
    assert (found.score, part(found, "matched"), part(found, "missing")) == ("1", 3, 0)
    aliased = {"items": [7], "aliases": {"7": ["seven"]}, "exhaustive": True}
    assert scored(aliased, ["seven"], RECALL).score == "1"


@given(gold=GOLD, items=ANSWERS, data=st.data())
def test_c07_no_order_changes_a_score(
    gold: dict[str, Any], items: list[str], data: st.DataObject
) -> None:
    """Neither that of the answer nor that of gold and its aliases; parts are the same too."""
    shuffled = {
        **gold,
        "items": data.draw(st.permutations(gold["items"])),
        "aliases": {name: others[::-1] for name, others in gold["aliases"].items()},
    }
    again = data.draw(st.permutations(items))
    for measure in LIST_MEASURES:
        assert scored(shuffled, again, measure) == scored(gold, items, measure)


@given(gold=GOLD, items=ANSWERS, data=st.data())
def test_c07_one_more_right_item_never_lowers_recall(
    gold: dict[str, Any], items: list[str], data: st.DataObject
) -> None:
    """Nor does it lower the number of matched items; an extra one never raises precision."""
    more = [*items, data.draw(st.sampled_from(gold["items"] or ["Ada"]))]
    before, after = (scored(gold, answer, RECALL) for answer in (items, more))
    matched = [part(grade, "matched") for grade in (before, after)]
    assert matched[0] is not None
    assert matched[0] <= matched[1]  # type: ignore[operator]
    if value(before) is not None and value(after) is not None:
        assert value(before) <= value(after)  # type: ignore[operator]
    low, high = (value(scored(gold, answer, PRECISION)) for answer in ([*items, "stranger"], items))
    if low is not None and high is not None:
        assert low <= high


@given(gold=GOLD, items=ANSWERS)
def test_c07_the_counts_add_up(gold: dict[str, Any], items: list[str]) -> None:
    """Each returned item is matched, extra, a duplicate or blank; each right one matched or not."""
    found = scored(gold, items, F1)
    count = {known.name: known.numerator for known in found.parts if known.denominator is None}
    returned = ("matched", "extra", "duplicate", "blank")
    assert sum(count[name] or 0 for name in returned) == len(items)
    assert count["unjudged"] == count["added"] == 0


@given(gold=GOLD)
def test_c07_gold_graded_against_itself_is_perfect(gold: dict[str, Any]) -> None:
    """Where the items' own names tell them apart, all of them are matched."""
    names = {name.strip().casefold().removeprefix("the ") for name in gold["items"]}
    names.discard("")
    if len(names) == len(gold["items"]) and names:
        assert scored(gold, gold["items"], F1).score == "1"


def test_large_lists_are_graded() -> None:
    """A hundred thousand returned items against a thousand right ones: the test ends."""
    gold = listed(*(f"item {n}" for n in range(1000)))
    items = [f"item {n % 2000}" for n in range(60_000)]
    found = scored(gold, items, PRECISION)
    assert (found.score, part(found, "duplicate")) == ("1/2", 58_000)
