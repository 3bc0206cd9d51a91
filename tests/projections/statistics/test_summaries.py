"""Costs, frontiers, outcomes, calibration and published formulas: bounds and edges."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from trial_projections.statistics.bootstrap import replicates
from trial_projections.statistics.calibration import (
    calibration_error,
    calibration_error_published,
)
from trial_projections.statistics.frontier import (
    Direction,
    certain_frontier,
    frontier,
    frontier_shares,
)
from trial_projections.statistics.outcomes import (
    attempts,
    citation_support,
    criteria_bounds,
    denominators,
    penalised_share,
    penalty_for_confidence,
    slot_scores,
)
from trial_projections.statistics.published import (
    balanced_f1,
    healthbench_item,
    healthbench_mean,
    qampari_scores,
    sentence_support,
    simpleqa_letter,
    tau_pass_hat_k,
    token_f1,
)
from trial_projections.statistics.result import Result, known, undefined
from trial_projections.statistics.spending import ratio_error, spending

AXES: tuple[Direction, Direction] = ("most", "least")


@given(st.lists(st.none() | st.integers(0, 9), max_size=9), st.integers(0, 4), st.integers(9, 20))
def test_bounds_hold_every_sum_that_may_be(costs: list[int | None], right: int, limit: int) -> None:
    """Whatever the unknown ones cost up to the limit; a known sum is the total."""
    found = spending(costs, right, limit)
    assert found.upper.value is not None
    for each in (0, limit):
        total = sum(each if cost is None else cost for cost in costs)
        assert found.lower <= total <= found.upper.value
    assert (found.total.value is None) == (None in costs)
    assert found.total.value in {None, found.lower}
    assert (found.per_right_lower.value is None) == (right == 0)


def test_unknown_costs_are_no_zeros() -> None:
    """Without a limit there is no upper bound, and per right trial none either."""
    found = spending([None, 2], 1)
    assert found.total == undefined("1 costs are unknown")
    assert found.upper == found.per_right_upper == undefined("no cap declared")
    assert spending([None], 0).per_right_upper == undefined("no trial was right")


def test_a_ratio_of_one_question_has_no_error() -> None:
    """Nor has one over nothing a value."""
    one = ratio_error([3], [2])
    assert one.value == known(Fraction(3, 2))
    assert one.error == undefined("one question has no spread")
    assert ratio_error([3, 1], [0, 0]).value == undefined("the sum that is divided by is 0")


points = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3)),
    max_size=6,
)
Points = dict[str, tuple[int, int | None]]


@given(points)
def test_a_frontier_is_what_nothing_beats(given_points: Points) -> None:
    """Nobody on it is beaten, everybody off it is by someone on it, and unknowns stay."""
    found = frontier(given_points, AXES)
    for name, (quality, cost) in given_points.items():
        beaten = cost is not None and any(
            q >= quality and c is not None and c <= cost and (q, c) != (quality, cost)
            for q, c in given_points.values()
        )
        assert (name in found) == (not beaten)


@given(points)
def test_whoever_is_beaten_for_certain_is_beaten(given_points: Points) -> None:
    """Points are ranges of no width; wider ranges only add to the frontier."""
    exact = {name: [(x, x) for x in point] for name, point in given_points.items()}
    wider = {
        name: [(None if x is None else x - 1, None if x is None else x + 1) for x in point]
        for name, point in given_points.items()
    }
    assert certain_frontier(exact, AXES) == frontier(given_points, AXES)
    assert set(certain_frontier(exact, AXES)) <= set(certain_frontier(wider, AXES))


def test_how_often_a_replicate_has_it_on_the_frontier() -> None:
    """Questions are drawn for all configurations together; of no replicate there is no share."""
    rows = [{"a": 1, "b": 0}, {"a": 1, "b": 1}, {"a": 0, "b": 1}, {"a": 1, "b": 0}]
    drawn = [
        {name: (sum(row[name] for row in each), 1) for name in "ab"}
        for each in replicates(rows, "s", 50)
    ]
    found = frontier_shares(drawn, AXES)
    better = sum(point["a"][0] >= point["b"][0] for point in drawn)
    assert found["a"] == known(Fraction(better, 50))
    assert found["b"].value is not None
    assert 0 < found["b"].value < 1
    assert frontier_shares([], AXES) == {}


def test_summaries_of_nothing_have_no_number() -> None:
    """Neither 0 nor 1, and each says why."""
    nothing: Result[Fraction] = undefined("there is nothing to count")
    assert denominators(0, 0, 0, 0).primary == attempts(0, 0, 0).f1 == nothing
    assert penalised_share(0, 0, 0, 1) == nothing
    assert penalty_for_confidence(1) == undefined("no penalty asks for certainty")
    assert attempts(0, 0, 3).right_of_attempted == undefined("nothing was attempted")
    assert slot_scores(0, 0, 0, 0, 2).recall == undefined("the gold has no slot")
    none = citation_support([None])
    assert none.valid_share == undefined("no citation was checked")
    assert (none.supported_each, none.without) == (undefined("no answer cites"), 1)
    assert criteria_bounds([(-1, True)]) == (undefined("no criterion has points"),) * 2


def test_citations_nobody_could_check_are_a_range() -> None:
    """Published code drops them."""
    found = citation_support([(2, 1, 1), None])
    assert (found.lower, found.upper) == (known(Fraction(1, 2)), known(Fraction(3, 4)))
    assert found.valid_share == known(Fraction(2, 3))


def test_calibration_counts_every_answer() -> None:
    """The published loop leaves the last bin out, so that one bin is perfectly calibrated."""
    confidences = [Fraction(9, 10)] * 150
    right = [1] * 60 + [0] * 90
    assert calibration_error_published(confidences, right).value == 0
    assert calibration_error(confidences, right) == known(Decimal("0.5"))
    assert calibration_error([], []) == undefined("there is no answer")
    assert calibration_error([1], [0]).value == 1
    assert calibration_error_published([1], [0]) == undefined("fewer than 100 answers")


def test_published_formulas_keep_their_faults() -> None:
    """And say where they have no number."""
    assert simpleqa_letter("NOT_ATTEMPTED") == "A"
    assert tau_pass_hat_k([(0, 0, 1)], 2) == undefined("fewer than 2 trials")
    assert healthbench_item([(-1, True)]) == undefined("no criterion has positive points")
    assert healthbench_mean([]) == undefined("there is nothing to count")
    assert balanced_f1([(True, True)]) == undefined("all is met")
    assert balanced_f1([(False, False)]) == undefined("nothing is met")
    assert qampari_scores(["x"], [["a"]]).f1 == 0
    assert sentence_support(joint=True, alone=[True], without=[False]).precise == 1
    assert token_f1([], []) == 1
    assert token_f1([], ["a"]) == 0
