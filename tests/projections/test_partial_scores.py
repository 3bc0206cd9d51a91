"""Scores of which a part is not judged yet: a range and not the whole scale (C6)."""

from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from projection_cases import Log
from trial_ledger.exact import parse_rational
from trial_projections.bridge_cells import is_higher
from trial_projections.cells import Cell
from trial_projections.comparison_frontier import question_means
from trial_projections.scores import MetricScore, place_slots
from trial_projections.spending import right_range

METRIC = "exact"
Part = dict[str, object]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run."""
    return Log(tmp_path)


def ratio(numerator: int, denominator: int) -> Part:
    """Return a ratio."""
    return {"name": "precision", "numerator": numerator, "denominator": denominator}


def unjudged(count: int) -> Part:
    """Return the part that counts what nobody judged."""
    return {"name": "unjudged", "numerator": count}


def judge(log: Log, question: str, *parts: Part, pass_: int = 1, score: str | None = None) -> None:
    """Append what a grader made of an answer: a score, or that it cannot give one."""
    value = {"verdict": "not_gradable"} if score is None else {"score": score}
    data: dict[str, object] = {"judgment": f"j{pass_}", "metric": METRIC, "by": "code",
                               "grader": {"name": "lists", "version": "1"}, "pass": pass_,
                               "parts": parts or [{"name": "is"}]}  # fmt: skip
    log.append("judgment.recorded", question, data | value)


def scored(log: Log) -> MetricScore:
    """Return the metric."""
    return log.score(METRIC)


def ends(log: Log, view: str = "headline") -> tuple[str, str]:
    """Return the sums of a view."""
    score = scored(log)
    found = score.headline if view == "headline" else score.sensitivity[view]
    assert found is not None
    return found.low.sum, found.high.sum


def test_c06_what_is_unjudged_is_all_that_is_open(log: Log) -> None:
    """One of four is right, one is not judged: a quarter to a half; worst and best stay in it."""
    log.trial("q1")
    judge(log, "q1", ratio(1, 4), unjudged(1))
    assert ends(log) == ("1/4", "1/2")
    assert ends(log, "worst") == ("1/4", "1/4")
    # What never started may be anything: nine more.
    assert ends(log, "best") == ("19/2", "19/2")
    assert scored(log).undecided == {"not_gradable": 1}


@pytest.mark.parametrize(
    "parts",
    [
        (unjudged(1),),
        (ratio(1, 4), unjudged(0)),
        (ratio(1, 4),),
        (ratio(1, 4), unjudged(4)),
        (ratio(1, 0), unjudged(1)),
    ],
    ids=["no ratio", "nothing left", "no count", "beyond the scale", "of nothing"],
)
def test_c06_what_makes_no_range_leaves_the_whole_scale(log: Log, parts: tuple[Part, ...]) -> None:
    """A harness that counts otherwise says nothing; nobody guesses."""
    log.trial("q1")
    judge(log, "q1", *parts)
    assert ends(log) == ("0", "1")


def test_c06_a_score_is_no_range(log: Log) -> None:
    """What was decided in spite of something unjudged is decided."""
    log.trial("q1")
    judge(log, "q1", ratio(1, 4), unjudged(1), score="1/4")
    assert ends(log) == ("1/4", "1/4")


def test_c06_a_range_gives_way_to_what_the_same_grader_says_later(log: Log) -> None:
    """A number does not, whoever judges again; and both stay."""
    log.trial("q1")
    judge(log, "q1", ratio(1, 4), unjudged(2))
    judge(log, "q1", ratio(2, 4), unjudged(1), pass_=2)
    assert ends(log) == ("1/2", "3/4")
    judge(log, "q1", ratio(3, 4), pass_=3, score="3/4")
    assert ends(log) == ("3/4", "3/4")
    judge(log, "q1", ratio(4, 4), pass_=4, score="1")
    assert ends(log) == ("3/4", "3/4")


def test_c06_only_a_range_that_reaches_the_top_may_be_right(log: Log) -> None:
    """For what a right trial costs, and for the means of questions."""
    for question, open_parts in (("q1", 3), ("q2", 1)):
        log.trial(question)
        judge(log, question, ratio(1, 4), unjudged(open_parts))
    with log.model() as model:
        source = model.score_input(model.run(log.run))
        assert right_range(place_slots(source, METRIC), "1") == (0, 1)
        means = question_means(source, METRIC)
    assert means["q1"] == (Fraction(1, 4), Fraction(1))
    assert means["q2"] == (Fraction(1, 4), Fraction(1, 2))


def test_c06_a_range_counts_as_its_middle_beside_what_was_lost(log: Log) -> None:
    """A quarter that may become a half is more than a third, and less than two fifths."""
    log.trial("q1")
    judge(log, "q1", ratio(1, 4), unjudged(1))
    with log.model() as model:
        source = model.score_input(model.run(log.run))
        cell = place_slots(source, METRIC)[0].cell

    def scored_as(score: str) -> Cell:
        return msgspec.structs.replace(cell, score=score, bounds=None)

    assert is_higher(scored_as("1/3"), cell)
    assert is_higher(cell, scored_as("2/5"))


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 6), st.integers(0, 6))
def test_c06_however_the_rest_is_judged_the_score_lies_between(
    tmp_path_factory: pytest.TempPathFactory, right: int, left: int, rest: int, of_them: int
) -> None:
    """The number that comes out in the end is never outside what was shown before."""
    count = right + left + rest
    log = Log(tmp_path_factory.mktemp("book"))
    log.trial("q1")
    judge(log, "q1", ratio(right, count), unjudged(rest))
    low, high = (parse_rational(end) for end in ends(log))
    final = Fraction(right + min(of_them, rest), count)
    assert low <= final <= high
    assert high - low == Fraction(rest, count)
