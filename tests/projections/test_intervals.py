"""The interval of a metric by question: which questions it rests on, ranges, and what it lacks."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from projection_cases import Log
from rule_cases import judge_failed, labelled
from trial_ledger.exact import fraction_from_decimal_text
from trial_projections.aggregate import Profile, profiles_of, views
from trial_projections.cells import Cell
from trial_projections.intervals import IntervalMethod, ScoreInterval, score_interval
from trial_projections.scores import MetricScore, score_metric
from trial_projections.statistics.clusters import cluster_wilson, clusters_of

SHARE = ("0", "1")
ONE = "one question says nothing about the spread between questions"
ALIKE = "all questions score alike, which shows no spread"


def cell(score: str | None, *, counts: bool = True) -> Cell:
    """Return a cell of a score; None is undecided."""
    return Cell(
        outcome="scored" if score is not None else "unjudged",
        score=score,
        basis="judgment" if score is not None else "nothing",
        counts=counts,
        invalidated=False,
        leaked=False,
    )


def profiles(*questions: str) -> Counter[Profile]:
    """Return questions of repetitions: `1` and `0`, `?` undecided, `-` not counting."""
    cells = {"1": cell("1"), "0": cell("0"), "?": cell(None), "-": cell(None, counts=False)}
    return profiles_of(
        {str(place): [cells[each] for each in marks] for place, marks in enumerate(questions)}
    )


def interval(
    *questions: str,
    method: IntervalMethod = "cluster-wilson",
    by_question: bool = True,
    scale: tuple[str, str] = SHARE,
) -> ScoreInterval:
    """Return the interval of questions of repetitions."""
    view = views(scale)["headline"]
    return score_interval(method, profiles(*questions), view, by_question=by_question, scale=scale)


def numbers(found: ScoreInterval) -> tuple[Fraction, Fraction]:
    """Return the limits."""
    assert found.low is not None
    assert found.high is not None
    return fraction_from_decimal_text(found.low), fraction_from_decimal_text(found.high)


def test_repetitions_are_no_questions() -> None:
    """A hundred right trials of twenty questions: the interval of twenty, to twelve digits."""
    found = interval(*["11111"] * 20)
    assert (found.low, found.high, found.clusters) == ("0.838874841947", "1", 20)
    assert (found.method, found.level, found.of) == ("cluster-wilson", "19/20", "point")
    assert found.unavailable is None


def test_what_does_not_count_is_no_cluster() -> None:
    """A question without a counting trial is none of the questions."""
    assert interval("11", "00", "10", "--") == interval("11", "00", "10")
    assert interval("11", "00", "10", "--").clusters == 3


@pytest.mark.parametrize("method", ["cluster-wilson", "cluster-t"])
def test_a_range_reaches_from_its_lowest_to_its_highest_limit(method: IntervalMethod) -> None:
    """The ends of the two points that it may become."""
    worst, best = (interval("11", "00", f"1{last}", "01", method=method) for last in "01")
    found = interval("11", "00", "1?", "01", method=method)
    assert (found.low, found.high, found.of) == (worst.low, best.high, "range")


@pytest.mark.parametrize(
    ("questions", "method", "reason"),
    [
        (("1010",), "cluster-wilson", ONE),
        (("1010", "----"), "cluster-t", ONE),
        (("1",), "cluster-wilson", ONE),
        (("11", "11"), "cluster-t", ALIKE),
        (("11", "1?"), "cluster-t", ALIKE),
        (("11", "00"), "none", "the rubric asks for none"),
    ],
)
def test_what_has_no_interval_says_why(
    questions: tuple[str, ...], method: IntervalMethod, reason: str
) -> None:
    """Neither a width of 0 nor one of everything."""
    found = interval(*questions, method=method)
    assert (found.unavailable, found.low, found.high) == (reason, None, None)


def test_no_limit_lies_beyond_the_scale() -> None:
    """A t interval would reach there; a score does not."""
    found = interval("1", "1", "1", "0", method="cluster-t")
    assert found.high == "1"
    wide = interval("1", "1", "1", "0", method="cluster-t", scale=("-1", "5"))
    assert wide.low is not None
    assert Decimal(wide.low) < 0
    assert Decimal(wide.high or "0") > 1


marks = st.lists(st.text("10?", min_size=1, max_size=3), min_size=2, max_size=7)


@given(marks, st.booleans())
def test_an_interval_holds_the_number(questions: list[str], by_question: bool) -> None:
    """And is that of the statistics where everything is decided, questions in any order."""
    found = interval(*questions, by_question=by_question)
    assert found == interval(*questions[::-1], by_question=by_question)
    low, high = numbers(found)
    assert 0 <= low <= high <= 1
    if "?" not in "".join(questions):
        scores = [[int(each) for each in marks] for marks in questions]
        known = cluster_wilson(clusters_of(scores), by_question=by_question)
        assert known.mean.value is not None
        assert low <= known.mean.value <= high
        assert known.interval.value is not None
        assert abs(Fraction(known.interval.value.low) - low) < Fraction(1, 10**11)


def scored(log: Log, method: IntervalMethod = "cluster-wilson") -> MetricScore:
    """Return the judged metric of a log's run, its interval made in some way."""
    with log.model() as model:
        source = model.score_input(model.run(log.run))
    metrics = source.rubric.metrics
    metrics["judged"] = msgspec.structs.replace(metrics["judged"], interval=method)
    return score_metric(source, "judged")


def test_the_rubric_says_how(log: Log) -> None:
    """Each of the three ways, of four right questions of ten."""
    labelled(log, *["correct"] * 4, *["incorrect"] * 6)
    wilson, student, none = (scored(log, method).interval for method in get_args(IntervalMethod))
    assert wilson is not None
    assert student is not None
    assert none is not None
    # 2/5 ± t₉ √(6/225), t₉ = 2.262157…
    half = numbers(student)[1] - Fraction(2, 5)
    assert abs(half**2 / Fraction(6, 225) - Fraction("2.2621571628") ** 2) < Fraction(1, 10**8)
    assert numbers(wilson)[0] > numbers(student)[0]
    assert (wilson.clusters, student.clusters, none.clusters) == (10, 10, 10)
    assert none.unavailable == "the rubric asks for none"


def test_an_undecided_trial_widens_it(log: Log) -> None:
    """It never narrows what is known."""
    labelled(log, *["correct"] * 5, *["incorrect"] * 4)
    before = scored(log).interval
    judge_failed(log, "q10", "judged")
    after = scored(log).interval
    assert before is not None
    assert after is not None
    assert (before.of, after.of) == ("point", "range")
    assert numbers(after)[0] <= numbers(before)[0] < numbers(before)[1] < numbers(after)[1]


def test_where_there_is_no_number_there_is_no_interval(log: Log) -> None:
    """Nothing counts."""
    for number in range(1, 11):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        log.act("trial.invalidated", f"q{number}", reason="leaked")
    assert scored(log).interval is None
