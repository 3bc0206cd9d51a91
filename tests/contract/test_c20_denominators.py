"""C20: errors stay in the denominator, and every outcome has a declared score."""

import json

import pytest

from cli_cases import Here
from document_cases import rubric_table
from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.errors import RuleError


def test_c20_a_rubric_that_leaves_an_outcome_out_is_not_frozen(here: Here, log: Log) -> None:
    """No default is silent: the missing class is named, and nothing is written."""
    table = rubric_table(version="2")
    del table["outcomes"]["refused"]
    del table["outcomes"]["failures"]["timeout"]
    (here.folder / "rubric.json").write_text(json.dumps(table), "utf-8")
    size = log.ledger.store.size()
    done = here("freeze", "rubric", "rubric.json")
    assert done.code == 2
    assert "outcome classes without a rule: refused (C20)" in done.err
    assert "failure classes without an outcome: timeout (C20)" in done.err
    assert log.ledger.store.size() == size


@pytest.mark.parametrize(
    ("metric", "data", "message"),
    [
        ("exact", {"verdict": "correct"}, "takes a score, or the verdict not_gradable"),
        ("exact", {"score": "3/2"}, "score 3/2 lies outside the scale 0 to 1"),
        ("exact", {"verdict": "not_gradable", "score": "0"}, "not_gradable has no score"),
        ("judged", {"score": "1"}, "takes a verdict and no score"),
        ("judged", {"verdict": "correct", "score": "1"}, "takes a verdict and no score"),
    ],
)
def test_c20_a_value_that_the_measure_cannot_take_is_refused(
    log: Log, metric: str, data: dict[str, object], message: str
) -> None:
    """Nothing enters the mean that the rubric has no rule for."""
    log.trial("q1")
    given = {"judgment": "j1", "metric": metric, "by": "code", "grader": {"name": "g"}}
    reasoned = {**given, "reasoning": "compared"}
    with pytest.raises(RuleError, match=rf"{message}.*\(C20\)"):
        log.append("judgment.recorded", "q1", {**reasoned, **data})


def test_c20_every_kind_of_end_is_in_the_denominator_and_shown_otherwise(
    here: Here, log: Log
) -> None:
    """Ten planned slots, ten in the denominator; the alternatives stand beside the headline."""
    ends = ("answered", "answered", "abstained", "refused", "filtered", "errored", "limit", None)
    for number, outcome in enumerate(ends, 1):
        log.trial(f"q{number}", outcome=outcome, answer="x" if outcome == "answered" else None)
    log.judge("q1", "judged", "correct", reasoning="compared")
    shown = here("scores", RUN).out
    lines = (
        "judged                10.0-20.0 %   1-2/10        1 undecided: no point value\n",
        "  decided             9 of 10       8 by rule     unjudged 1\n",
        "  worst to best       10.0-50.0 %   1-5/10        4 missing outcomes\n",
        "  errors left out     16.7-33.3 %   1-2/6         never a headline\n",
        "  answered + judged   100.0 %       1/1           never a headline\n",
    )
    assert [line for line in lines if line not in shown] == []
    outcomes = here("scores", RUN, "--json").json["metrics"][1]["outcomes"]
    assert list(outcomes.items()) == [
        ("correct", 1), ("abstained", 1), ("refused", 1), ("filtered", 1), ("limit", 1),
        ("unjudged", 1), ("trial_errored", 1), ("unfinished", 1), ("not_started", 2),
    ]  # fmt: skip
