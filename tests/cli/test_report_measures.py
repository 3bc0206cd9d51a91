"""What all forms of a report say of times, agreement and comparison, in the same words."""

from html import unescape
from pathlib import Path

import msgspec
import pytest

from cli_cases import Here
from ledger_cases import RUN, small_manifest, small_rubric
from projection_cases import Log
from trial_cli.render.measures import review_row
from trial_projections.report_structs import ReviewRow
from trial_projections.review_estimate import ReviewEstimate

METRIC = "judged"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run, beside which commands run."""
    return Log(tmp_path)


def two_runs(log: Log) -> None:
    """Append two runs of which the second is right more often."""
    for run, right in ((RUN, 2), ("second", 9)):
        if run != RUN:
            log.open(run)
        for number in range(1, 11):
            log.trial(f"q{number}")
            log.judge(f"q{number}", METRIC, "correct" if number <= right else "incorrect")
        log.act("run.closed", status="complete")
    log.open("third")
    log.act("run.invalidated", reason="wrong")
    log.ledger.close()


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_c35_runs_of_one_report_are_compared(here: Here, log: Log, form: str) -> None:
    """Difference, interval, test and flips of each pair, and the frontier."""
    two_runs(log)
    assert here("report", RUN, "second", "-o", f"r.{form}").code == 0
    text = unescape((here.folder / f"r.{form}").read_text("utf-8")).replace("\\>", ">")
    parts = ("20.0 % -> 90.0 %", "+70.0 points", "p = 0.0156", "higher", "not beaten")
    for part in ('"p": "0.015625"',) if form == "json" else parts:
        assert part in text
    assert here("report", RUN, "-o", f"one.{form}").code == 0
    alone = (here.folder / f"one.{form}").read_text("utf-8")
    assert "The runs compared" not in alone


def test_c12_a_pair_without_a_verdict_says_why(here: Here, log: Log) -> None:
    """In the place of the test; there is no frontier then."""
    two_runs(log)
    assert here("report", RUN, "third", "-o", "r.md").code == 0
    text = (here.folder / "r.md").read_text("utf-8")
    assert "no verdict: third is invalid (C12); third is still open" in text
    assert "Frontier" not in text


ESTIMATE = ReviewEstimate(
    agree="9/10", kappa="3/4", ac1="4/5", alpha=None, right="7/10", low="0.5", high="0.85",
    reason=None,
)  # fmt: skip
REVIEW = ReviewRow(
    metric=METRIC, judged=20, reviewed=10, needed=10, is_met=True, judged_right=15,
    confusion=[("correct", "correct", 9), ("correct", "incorrect", 1)], estimate=ESTIMATE,
)  # fmt: skip


def test_c29_agreement_and_the_corrected_share_stand_beside_the_judged_one() -> None:
    """What is undefined is called so; without a review nothing is said of agreement."""
    assert review_row(REVIEW) == (
        METRIC,
        "10 of 20, 10 needed: met",
        "agree 90.0 %; kappa 0.750, AC1 0.800, alpha undefined",
        "15 of 20; by review 70.0 %, 95 % 50.0-85.0 %",
    )
    none = ReviewEstimate(
        agree=None, kappa=None, ac1=None, alpha=None, right=None, low=None, high=None,
        reason="a stratum has no review",
    )  # fmt: skip
    unreviewed = msgspec.structs.replace(
        REVIEW, reviewed=0, is_met=False, estimate=none, confusion=[]
    )
    assert review_row(unreviewed) == (
        METRIC,
        "0 of 20, 10 needed: not met",
        "nothing reviewed",
        "15 of 20; by review unavailable: a stratum has no review",
    )


def test_c29_what_people_said_stands_in_a_report(here: Here, log: Log) -> None:
    """Which verdict met which, however often."""
    for number in range(1, 11):
        log.trial(f"q{number}")
        log.judge(f"q{number}", METRIC, "correct")
    log.ledger.close()
    assert here("review", "draw", RUN, METRIC).code == 0
    trials = here("review", "status", RUN, "--json").json["metrics"]
    name = next(found["remaining"][0] for found in trials if found["metric"] == METRIC)
    done = here(
        "review", "record", f"{RUN}/{name}", METRIC, "--verdict", "incorrect", "--actor", "Ada",
        "--reason", "it is not",
    )  # fmt: skip
    assert done.code == 0, done.err
    for form in ("html", "md"):
        assert here("report", RUN, "-o", f"r.{form}").code == 0
        text = (here.folder / f"r.{form}").read_text("utf-8")
        assert "judged: 1 judged correct, reviewed incorrect" in text
        assert "1 of 10, 5 needed: not met" in text


def test_c35_a_metric_without_a_number_has_no_difference(here: Here, log: Log) -> None:
    """The reason stands in the place of the test."""
    shapes = {METRIC: {"measure": "verdict", "grader": "judge", "shapes": ["list"]}}
    log.ledger.freeze((
        small_rubric(name="lists", primary=METRIC, metrics=shapes),
        small_manifest(rubric="lists@1", configuration="lists"),
        small_manifest(rubric="lists@1", configuration="others"),
    ))  # fmt: skip
    for run in ("lists", "others"):
        log.open(run, manifest=run)
        log.act("run.closed", status="interrupted", reason="enough")
    log.ledger.close()
    assert here("report", "lists", "others", "-o", "r.md").code == 0
    text = (here.folder / "r.md").read_text("utf-8")
    assert "| none | no planned slot counts |" in text
