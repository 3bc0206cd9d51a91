"""From cells to a number: shares, ranges, means of trials and of questions, views."""

from collections import Counter
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_projections.aggregate import (
    Profile,
    Range,
    Share,
    is_missing,
    mean,
    profiles_of,
    views,
)
from trial_projections.cells import Cell

Basis = Literal["judgment", "rule", "nothing"]
UNIT = views(("0", "1"))


def cell(
    score: str | None = "1",
    *,
    outcome: str = "correct",
    basis: Basis = "judgment",
    counts: bool = True,
    invalidated: bool = False,
    leaked: bool = False,
) -> Cell:
    """Return a cell."""
    return Cell(
        outcome=outcome,
        score=score,
        basis=basis,
        counts=counts,
        invalidated=invalidated,
        leaked=leaked,
    )


def judged(score: str | None = "1") -> Cell:
    """Return a judged cell; without a score it is undecided."""
    if score is None:
        return cell(None, outcome="judge_failed", basis="nothing")
    return cell(score, outcome="correct" if score == "1" else "incorrect")


def profiles(*questions: list[Cell]) -> Counter[Profile]:
    """Return the profiles of questions with these cells."""
    return profiles_of({str(place): cells for place, cells in enumerate(questions)})


def test_c20_a_sum_and_its_count_are_kept_apart_from_the_value() -> None:
    """6/10 has the value 3/5 and is never shown as it."""
    found = mean(
        profiles(*[[judged()]] * 6, *[[judged("0")]] * 4), UNIT["headline"], by_question=True
    )
    assert found.low == Share(sum="6", count=10, unit="trials", value="3/5")
    assert found.is_point


def test_c20_what_is_undecided_spans_the_scale() -> None:
    """The range is what the lowest and the highest score would give."""
    signed = views(("-1", "1"))["headline"]
    found = mean(profiles([judged()], [judged(None)]), signed, by_question=True)
    assert (found.low.value, found.high.value) == ("0", "1")
    assert not found.is_point


def test_equal_repetitions_are_a_mean_of_trials() -> None:
    """Where every question has as many trials, both means are one, and trials are counted."""
    found = mean(
        profiles([judged(), judged("0")], [judged(), judged()]), UNIT["headline"], by_question=True
    )
    assert found.low == Share(sum="3", count=4, unit="trials", value="3/4")


def test_unequal_repetitions_weigh_every_question_alike() -> None:
    """A question of which one trial left still counts as one question."""
    out = cell(None, outcome="invalidated", basis="nothing", counts=False)
    cells = profiles([judged("0"), out], [judged(), judged()])
    by_question = mean(cells, UNIT["headline"], by_question=True)
    assert by_question.low == Share(sum="1", count=2, unit="questions", value="1/2")
    by_trial = mean(cells, UNIT["headline"], by_question=False)
    assert by_trial.low == Share(sum="2", count=3, unit="trials", value="2/3")


def test_questions_without_a_member_are_dropped() -> None:
    """They weigh nothing; where none has a member there is no value."""
    out = cell(None, outcome="invalidated", basis="nothing", counts=False)
    found = mean(profiles([out], [judged(), judged()]), UNIT["headline"], by_question=True)
    assert found.low == Share(sum="2", count=2, unit="trials", value="1")
    nothing = mean(profiles([out]), UNIT["headline"], by_question=True)
    assert nothing.low == Share(sum="0", count=0, unit="trials", value=None)


def test_alike_questions_are_computed_once() -> None:
    """The order of a question's trials makes no other profile."""
    found = profiles([judged(), judged("0")], [judged("0"), judged()], [judged(None)])
    assert sorted(found.values()) == [1, 2]


UNDECIDED = judged(None)
FAULT = cell("0", outcome="harness_fault", basis="rule")
ERROR = cell("0", outcome="trial_errored", basis="rule")
OUT = cell(None, outcome="invalidated", basis="nothing", counts=False)
LATE = cell("1", invalidated=True)
ZERO, ONE = Fraction(0), Fraction(1)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ("headline", [(ONE, ONE), (ZERO, ONE), (ZERO, ZERO), (ZERO, ZERO), None, (ONE, ONE)]),
        ("errors_excluded", [(ONE, ONE), (ZERO, ONE), None, None, None, (ONE, ONE)]),
        ("complete_case", [(ONE, ONE), None, None, None, None, (ONE, ONE)]),
        ("worst", [(ONE, ONE), (ZERO, ZERO), (ZERO, ZERO), (ZERO, ZERO), None, (ONE, ONE)]),
        ("best", [(ONE, ONE), (ONE, ONE), (ONE, ONE), (ZERO, ZERO), None, (ONE, ONE)]),
        (
            "without_invalidated",
            [(ONE, ONE), (ZERO, ONE), (ZERO, ZERO), (ZERO, ZERO), None, None],
        ),
    ],
)
def test_what_a_view_makes_of_a_cell(
    view: str, expected: list[tuple[Fraction, Fraction] | None]
) -> None:
    """Judged, undecided, infrastructure fault, agent's error, left out, invalidated late."""
    cells = [judged(), UNDECIDED, FAULT, ERROR, OUT, LATE]
    assert [UNIT[view](known) for known in cells] == expected


def test_c03_a_leaked_trial_is_left_out_of_the_view_without_leaks() -> None:
    """Only there: every other view counts it as if nothing had leaked."""
    leaked = cell("1", leaked=True)
    assert UNIT["without_leaks"](leaked) is None
    assert UNIT["without_leaks"](judged()) == (ONE, ONE)
    assert UNIT["headline"](leaked) == (ONE, ONE)


def test_what_is_missing_is_undecided_or_had_no_fair_try() -> None:
    """An agent's own error is no missing outcome: it is its score."""
    found = [is_missing(known) for known in (judged(), UNDECIDED, FAULT, ERROR)]
    assert found == [False, True, True, False]


cells_strategy = st.builds(judged, st.sampled_from(["0", "1", "1/2", "2/4", "1/3", None]))


@given(questions=st.lists(st.lists(cells_strategy, min_size=1, max_size=3), min_size=1, max_size=6))
def test_the_ends_of_every_view_are_in_order(questions: list[list[Cell]]) -> None:
    """Worst is no better than the headline's low end, best no worse than its high end."""
    found: dict[str, Range] = {
        name: mean(profiles(*questions), view, by_question=True) for name, view in UNIT.items()
    }
    values = [
        Fraction(str(share.value))
        for share in (
            found["worst"].low,
            found["headline"].low,
            found["headline"].high,
            found["best"].high,
        )
    ]
    assert values == sorted(values)
    assert found["headline"].is_point == all(
        known.score is not None for cells in questions for known in cells
    )
