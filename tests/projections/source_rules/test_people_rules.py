"""Who agrees with whom: reviewers, graders, majorities."""

import pytest

from projection_cases import Log
from rule_cases import judge_failed, labelled, reviewed, ruled, value

RULES = ("cohen_kappa", "raters_share", "raters_equal", "raters_both")


def three_people(log: Log) -> None:
    """Append four judged trials with reviews; q4 has two, and they differ."""
    labelled(log, "correct", "correct", "incorrect", "incorrect")
    for question, ada, ben, eve in (
        ("q1", "correct", "correct", "correct"),
        ("q2", "correct", "incorrect", "correct"),
        ("q3", "incorrect", "incorrect", "incorrect"),
        ("q4", "correct", "incorrect", None),
    ):
        for person, verdict in (("Ada", ada), ("Ben", ben), ("Eve", eve)):
            if verdict is not None:
                reviewed(log, question, person, "judged", verdict=verdict)


def test_two_people_are_compared_on_what_both_labelled(log: Log) -> None:
    """Two of four alike; by hand kappa is (1/2 - 3/8) / (1 - 3/8)."""
    three_people(log)
    found = {name: value(log, f"{name}:Ada,Ben", "judged") for name in RULES}
    assert found == {
        "cohen_kappa": "1/5", "raters_share": "1/2", "raters_equal": "2", "raters_both": "4",
    }  # fmt: skip
    assert value(log, "raters_both:Ada,Eve", "judged") == "3"
    assert value(log, "cohen_kappa:Ada,Eve", "judged") == "1"


def test_the_graders_of_a_metric_are_a_rater_too(log: Log) -> None:
    """The judge agrees with Ada on three of four; a metric nobody graded labels nothing."""
    three_people(log)
    assert value(log, "raters_equal:Ada,judged", "judged") == "3"
    for name in ("cohen_kappa", "raters_share"):
        found = ruled(log, f"{name}:Ada,exact", "judged")
        assert (found.value, found.reason) == (None, "no slot is labelled by both")


@pytest.mark.parametrize("name", RULES)
def test_an_unknown_rater_is_named(log: Log, name: str) -> None:
    """There is no number about nobody."""
    labelled(log, "correct")
    assert ruled(log, f"{name}:Ada,judged", "judged").reason == "nobody is called Ada"


def test_labels_that_are_all_the_same_have_no_kappa(log: Log) -> None:
    """Chance alone would agree always."""
    labelled(log, "correct")
    for person in ("Ada", "Ben"):
        reviewed(log, "q1", person, "judged", verdict="correct")
    assert ruled(log, "cohen_kappa:Ada,Ben", "judged").reason == "all labels are the same"


def test_majorities_are_counted_and_ties_told(log: Log) -> None:
    """q1 and q2 are correct by most, q3 is incorrect, q4 is a tie."""
    three_people(log)
    correct = ruled(log, "majority:correct", "judged")
    assert (correct.value, correct.left_out) == ("2", {"no majority": 1})
    assert value(log, "majority:incorrect", "judged") == "1"
    assert ruled(log, "majority:correct", "exact").reason == "there is no review"


def test_most_of_the_reviewers_are_a_rater(log: Log) -> None:
    """They agree with the judge on q1, q2 and q3; a tie says nothing, and so does no review."""
    three_people(log)
    assert value(log, "raters_equal:majority,judged", "judged") == "3"
    assert value(log, "raters_both:majority,judged", "judged") == "3"
    found = ruled(log, "raters_both:majority,judged", "exact")
    assert found.reason == "nobody is called majority"


def test_a_later_word_of_a_person_counts_and_scores_are_labels(log: Log) -> None:
    """2/4 and 1/2 are one label; a review without a label says nothing."""
    log.trial("q1")
    log.judge("q1", "exact", "1/2", reasoning="half")
    reviewed(log, "q1", "Ada", "exact", review="first", score="1")
    reviewed(log, "q1", "Ada", "exact", review="second", score="2/4")
    reviewed(log, "q1", "Ben", "exact")
    assert value(log, "raters_equal:Ada,exact", "exact") == "1"
    assert value(log, "majority:1/2", "exact") == "1"
    assert ruled(log, "raters_both:Ben,exact", "exact").reason == "nobody is called Ben"


def test_rows_of_a_judge_are_counted_failed_ones_too(log: Log) -> None:
    """Two verdicts and one failure are three rows; seven questions have none."""
    labelled(log, "correct", "incorrect")
    judge_failed(log, "q3", "judged")
    log.trial("q4")
    found = ruled(log, "rows_of:judged")
    assert (found.value, found.assumed) == ("3", {"failed judgment as a row": 1})
    assert ruled(log, "rows_of:gone").reason == "no metric is called gone"
