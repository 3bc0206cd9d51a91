"""Score values as verdicts and exact numbers."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.inspect_mapping_scores import (
    MAX_METRICS,
    Metrics,
    ScoredMetric,
    decide,
    former_values,
    unscored_reason,
)

VERDICTS = ScoredMetric(name="m", scorer="m", key=None)
NUMBERS = ScoredMetric(name="m", scorer="m", key=None, numeric=True)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("C", "correct"),
        ("P", "partial"),
        ("I", "incorrect"),
        ("N", "abstained"),
        (True, "correct"),
        (False, "incorrect"),
        ("yes", "correct"),
        ("FALSE", "incorrect"),
        ("c", "not_gradable"),
        ("banana", "not_gradable"),
        (["C"], "not_gradable"),
    ],
)
def test_letters_and_truth_values_are_verdicts(value: object, verdict: str) -> None:
    """The four letters of Inspect, its words for yes and no; a free label is not gradable."""
    decision = decide(VERDICTS, value)
    assert (decision.verdict, decision.score, decision.unscored) == (verdict, None, False)


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (Decimal("0.10"), "1/10"),
        (1, "1"),
        (Decimal("-2.5"), "-5/2"),
        ("0.25", "1/4"),
        ("C", "1"),
        ("P", "1/2"),
        ("N", "0"),
        (True, "1"),
    ],
)
def test_numbers_are_exact_and_letters_count_beside_them(value: object, score: str) -> None:
    """As soon as one value of a metric is a number, letters are worth what Inspect gives them."""
    decision = decide(NUMBERS, value)
    assert (decision.verdict, decision.score) == (None, score)


@pytest.mark.parametrize("value", [None, Decimal("NaN"), Decimal("Infinity")])
def test_a_value_that_is_no_number_is_unscored_and_never_0(value: object) -> None:
    """NaN is how Inspect says that there is no value."""
    for metric in (VERDICTS, NUMBERS):
        decision = decide(metric, value)
        assert decision.unscored
        assert (decision.verdict, decision.score) == ("not_gradable", None)


@pytest.mark.parametrize("value", ["label", Decimal("1e5000"), Decimal("1e-399")])
def test_what_has_no_number_of_reasonable_size_is_not_gradable(value: object) -> None:
    """A label beside numbers and an absurd exponent decide nothing."""
    decision = decide(NUMBERS, value)
    assert (decision.verdict, decision.score, decision.unscored) == ("not_gradable", None, False)


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000)
)
def test_a_score_is_the_exact_value_of_its_literal(value: Decimal) -> None:
    """No rounding on the way from the log's text to the rational."""
    assert Fraction(str(decide(NUMBERS, value).score)) == Fraction(value)


def test_each_key_of_a_dictionary_is_a_metric_with_its_own_measure_and_scale() -> None:
    """A scorer with several values gives several metrics, edits and lists included."""
    metrics = Metrics()
    metrics.see_sample(
        {
            "judge": {"value": {"right": "C", "depth": Decimal("2.5")}},
            "ranks": {"value": ["I", 7], "history": [{"value": ["C", -3]}, {"value": "UNCHANGED"}]},
            "odd": 7,
        }
    )
    found = [(metric.name, metric.measure, str(metric.low), str(metric.high)) for metric in metrics]
    assert found == [
        ("judge.right", "verdict", "0", "1"),
        ("judge.depth", "score", "0", "5/2"),
        ("ranks.0", "verdict", "0", "1"),
        ("ranks.1", "score", "-3", "7"),
    ]
    assert len(metrics) == 4


def test_metrics_of_one_name_are_told_apart() -> None:
    """A scorer `a.b` and the key `b` of scorer `a` are two metrics."""
    metrics = Metrics()
    assert metrics.of("a", "b").name == "a.b"
    assert metrics.of("a.b", None).name == "a.b~2"
    assert metrics.of("a", "b").name == "a.b"


def test_a_reported_name_gives_way_to_the_keys_that_samples_show() -> None:
    """What is reported without any value and declared without any key is settled at the end."""
    metrics = Metrics()
    metrics.of("judge", None)
    metrics.of("reported", None)
    metrics.see_sample({"judge": {"value": {"right": "C"}}})
    metrics.settle(["judge", "declared"])
    assert [metric.name for metric in metrics] == ["reported", "judge.right", "declared"]


def test_too_many_metrics_are_refused() -> None:
    """A log with thousands of keys is no evaluation."""
    metrics = Metrics()
    values = {str(number): 1 for number in range(MAX_METRICS + 1)}
    with pytest.raises(InvalidInputError) as caught:
        metrics.see_sample({"s": {"value": values}})
    assert caught.value.problems[0].message == "too many kinds of scores"


def test_the_reason_of_an_unscored_value_has_two_places() -> None:
    """Newer logs have a field for it, older ones keep it in the metadata."""
    assert unscored_reason({"reason": "refusal"}) == "refusal"
    assert unscored_reason({"reason": "", "metadata": {"unscored_reason": "x"}}) == "x"
    assert unscored_reason({"metadata": {"unscored_reason": 3}}) is None


@pytest.mark.parametrize(
    ("score", "values"),
    [
        ({"value": "C"}, ["C"]),
        ({"value": "UNCHANGED"}, ["UNCHANGED"]),
        ({"value": "I", "history": [{"value": "C"}, {"value": "I"}]}, ["C", "I", "I"]),
        ({"value": "UNCHANGED", "history": [{"value": "C"}, {"value": "UNCHANGED"}]}, ["C", "C"]),
        ({"value": "I", "history": [{"value": "UNCHANGED"}]}, [None, "I"]),
    ],
)
def test_an_edit_that_changes_no_value_has_the_one_before(
    score: dict[str, object], values: list[object]
) -> None:
    """The mark for "unchanged" is a value only where there is nothing it could leave unchanged."""
    assert list(former_values(score)) == values
