"""Guards of judgments, overrides, reviews and published metrics, and what they let pass."""

import pytest

from guard_cases import (
    END,
    ENTRIES,
    JUDGE_CALL,
    Q1,
    START,
    Guard,
    accepting,
    assert_accepted,
    assert_refused,
    by,
    changed,
    judgment,
    of,
    problems,
    run_event,
    verdict,
)
from ledger_cases import HARNESS, PERSON, opened
from trial_ledger.book import Ledger
from trial_ledger.submission import NewText

ENDED = (START, END)
JUDGED = (*ENDED, judgment(), verdict())
JUDGE_FAILURE = Q1.failure("f9", "judge_error", "judge", call="c9")
FAILED = Q1.event("judgment.failed", judgment="j3", metric="judged", reason="judge_failed")
OVERRIDE = by(
    PERSON,
    Q1.event("judgment.overridden", judgment="o1", replaces="j2", verdict="partial", reason="no"),
)
ITEM = Q1.event("item.judged", metric="exact", position=0, item="a", verdict="correct", reason="r")
REVIEW = by(
    PERSON,
    Q1.event(
        "review.recorded", review="r1", metric="judged", judgment="j2", plan="p1",
        verdict="incorrect", reason="another town", blind=False,
    ),
)  # fmt: skip
OPENED = by(PERSON, Q1.event("disagreement.opened", disagreement="d1", judgment="j2", review="r1"))
RESOLVED = by(
    PERSON,
    Q1.event(
        "disagreement.resolved", disagreement="d1", judgment="j2", review="r1",
        finding="judge_wrong", reason="read it again",
    ),
)  # fmt: skip
DRAWN = run_event("review.drawn", plan="p1", seed="seven", strata=NewText.of("{}"))
PUBLISHED = run_event(
    "metric.published", metric="exact", value="1", derivation="a" * 64, size=9, link=5
)
LIVE = ("live",)
NO_METRIC = "rubric quality@1 has no metric other"

JUDGMENTS: dict[str, Guard] = {
    "verdict on an open trial": Guard(
        judgment(), END, "trial q1#1@s1 has not finished", (START,), field="trial"
    ),
    "verdict without a trial": Guard(
        of(None, judgment()), judgment(), "judgment.recorded belongs to a trial, none is named",
        ENDED, field="trial",
    ),
    "unknown metric": Guard(
        judgment(metric="other"), judgment(), NO_METRIC, ENDED, "C14", "data.metric"
    ),
    "another rubric": Guard(
        judgment(rubric="a" * 64), judgment(), f"rubric {'a' * 64} is not the run's",
        ENDED, "C14", "data.rubric",
    ),
    "a used id": Guard(
        verdict(judgment="j1"), verdict(), "judgment j1 exists",
        (*ENDED, judgment()), field="data.judgment",
    ),
    "the same grader again": Guard(
        judgment(judgment="j9"), judgment(Q1, **{"judgment": "j9", "pass": 2}),
        "match already judged exact of trial q1#1@s1, pass 1", JUDGED, field="data.pass",
    ),
    "a score for a verdict": Guard(
        verdict(score="1"), verdict(), "a metric of measure verdict takes a verdict and no score",
        ENDED, "C20", "data.verdict",
    ),
    "no verdict for a verdict": Guard(
        verdict(verdict=None), verdict(verdict="not_gradable"), "takes a verdict and no score",
        ENDED, "C20", "data.verdict",
    ),
    "no score for a score": Guard(
        judgment(score=None, verdict="correct"), judgment(score=None, verdict="not_gradable"),
        "a metric of measure fact.correctness takes a score, or the verdict not_gradable",
        ENDED, "C20", "data.score",
    ),
    "a score that cannot be graded": Guard(
        judgment(verdict="not_gradable"), judgment(verdict="correct"),
        "not_gradable has no score", ENDED, "C20", "data.score",
    ),
    "a score above the scale": Guard(
        judgment(score="10001/10000"), judgment(score="1"),
        "score 10001/10000 lies outside the scale 0 to 1", ENDED, "C20", "data.score",
    ),
    "a score below the scale": Guard(
        judgment(score="-1/10000"), judgment(score="0"),
        "score -1/10000 lies outside the scale 0 to 1", ENDED, "C20", "data.score",
    ),
    "a human verdict by a program": Guard(
        judgment(by="human"), by(PERSON, judgment(by="human")),
        "judgment.recorded is the act of a named person", ENDED, "C28", "actor",
    ),
    "a verdict without reasoning": Guard(
        judgment(parts=[]), judgment(parts=[], reasoning="equal"),
        "an automated judgment carries its reasoning: words or parts",
        ENDED, "C28", "data.reasoning", LIVE,
    ),
    "a call that is none": Guard(
        verdict(calls=["c9"]), verdict(), "call c9 is no judge call of this trial",
        ENDED, "C19", "data.calls",
    ),
    "a call of the agent": Guard(
        verdict(calls=["c1"]), verdict(calls=["c9"]), "call c1 is no judge call of this trial",
        (START, Q1.call("c1", "model"), JUDGE_CALL,
         Q1.event("call.finished", call="c1", status="ok"),
         Q1.event("call.finished", call="c9", status="ok"), END),
        "C19", "data.calls",
    ),
    "a cost twice": Guard(
        verdict(calls=["c9"], usage={"output_tokens": 1}), verdict(usage={"output_tokens": 1}),
        "usage and cost stand with the judge calls, not here too",
        (*ENDED, JUDGE_CALL), "C19", "data.cost",
    ),
    "a failed judge without its failure": Guard(
        FAILED, changed(FAILED, reason="lost_in_source"), "a failed judge names its failure",
        ENDED, "C23", "data.occurrence",
    ),
    "a failure that was never recorded": Guard(
        changed(FAILED, occurrence="f0"), changed(FAILED, occurrence="f9"),
        "occurrence f0 was never recorded", (*ENDED, JUDGE_FAILURE), "C23", "data.occurrence",
    ),
    "a failed judgment of a used id": Guard(
        changed(FAILED, judgment="j2", reason="lost_in_source"),
        changed(FAILED, reason="lost_in_source"), "judgment j2 exists", JUDGED,
        field="data.judgment",
    ),
    "a failed judgment of an unknown metric": Guard(
        changed(FAILED, metric="other", reason="lost_in_source"), None, NO_METRIC, ENDED,
        "C14", "data.metric",
    ),
    "a verdict of the id of a failed one": Guard(
        verdict(judgment="j3"), verdict(), "judgment j3 exists",
        (*ENDED, changed(FAILED, reason="lost_in_source")), field="data.judgment",
    ),
    "an item of an unknown metric": Guard(
        changed(ITEM, metric="other"), ITEM, NO_METRIC, ENDED, "C14", "data.metric"
    ),
    "an item without a reason": Guard(
        changed(ITEM, reason=" "), ITEM, "item.judged needs a reason in words", ENDED,
        "C6", "data.reason",
    ),
}  # fmt: skip

PEOPLE: dict[str, Guard] = {
    "an override by a program": Guard(
        by(HARNESS, OVERRIDE), OVERRIDE, "judgment.overridden is the act of a named person",
        JUDGED, "C31", "actor",
    ),
    "an override without a reason": Guard(
        changed(OVERRIDE, reason=""), OVERRIDE, "judgment.overridden needs a reason in words",
        JUDGED, "C31", "data.reason",
    ),
    "an override of nothing": Guard(
        changed(OVERRIDE, replaces="j7"), OVERRIDE, "judgment j7 does not exist in trial q1#1@s1",
        JUDGED, "C31", "data.replaces",
    ),
    "an override of what was replaced": Guard(
        changed(OVERRIDE, judgment="o2"), changed(OVERRIDE, judgment="o2", replaces="o1"),
        "judgment j2 was already replaced", (*JUDGED, OVERRIDE), "C31", "data.replaces",
    ),
    "an override of a used id": Guard(
        changed(OVERRIDE, judgment="j1"), OVERRIDE, "judgment j1 exists", JUDGED,
        field="data.judgment",
    ),
    "an override with the wrong value": Guard(
        changed(OVERRIDE, replaces="j1"), changed(OVERRIDE, replaces="j1", score="1/2"),
        "takes a score, or the verdict not_gradable", JUDGED, "C20", "data.score",
    ),
    "a drawing with another seed": Guard(
        changed(DRAWN, seed="eight"), DRAWN, "seed eight is not the rubric's",
        clause="C29", field="data.seed",
    ),
    "a drawing of one trial": Guard(
        of("q1", DRAWN), DRAWN, "review.drawn belongs to the run as a whole, trial q1#1@s1 is",
        (START,), field="trial",
    ),
    "a review by a program": Guard(
        by(HARNESS, REVIEW), REVIEW, "review.recorded is the act of a named person", JUDGED,
        "C30", "actor",
    ),
    "a review of an unknown metric": Guard(
        changed(REVIEW, metric="other"), REVIEW, NO_METRIC, JUDGED, "C14", "data.metric"
    ),
    "a review without a reason": Guard(
        changed(REVIEW, reason="\t"), REVIEW, "review.recorded needs a reason in words", JUDGED,
        "C28", "data.reason",
    ),
    "a review of a used id": Guard(
        REVIEW, changed(REVIEW, review="r2"), "review r1 exists", (*JUDGED, REVIEW)
    ),
    "a review of no judgment": Guard(
        changed(REVIEW, judgment="j7"), changed(REVIEW, judgment=None),
        "judgment j7 does not exist in trial q1#1@s1", JUDGED, field="data.judgment",
    ),
    "a disagreement without a review": Guard(
        OPENED, REVIEW, "judgment j2 or review r1 does not exist", JUDGED,
        "C30", "data.disagreement",
    ),
    "a disagreement about no judgment": Guard(
        changed(OPENED, judgment="j7"), OPENED, "judgment j7 or review r1 does not exist",
        (*JUDGED, REVIEW), "C30", "data.disagreement",
    ),
    "a disagreement twice": Guard(
        OPENED, RESOLVED, "disagreement d1 exists", (*JUDGED, REVIEW, OPENED),
        "C30", "data.disagreement",
    ),
    "a resolution of nothing": Guard(
        RESOLVED, OPENED, "disagreement d1 is not open", (*JUDGED, REVIEW),
        "C30", "data.disagreement",
    ),
    "a resolution twice": Guard(
        RESOLVED, changed(OPENED, disagreement="d2"), "disagreement d1 is not open",
        (*JUDGED, REVIEW, OPENED, RESOLVED), "C30", "data.disagreement",
    ),
    "a resolution by a program": Guard(
        by(HARNESS, RESOLVED), RESOLVED, "is the act of a named person",
        (*JUDGED, REVIEW, OPENED), "C30", "actor",
    ),
    "a metric that the rubric does not have": Guard(
        changed(PUBLISHED, metric="other"), PUBLISHED, NO_METRIC, JUDGED, "C14", "data.metric"
    ),
    "a metric of the future": Guard(
        changed(PUBLISHED, link=6), PUBLISHED, "link 6 is beyond the run's 5", JUDGED,
        "C36", "data.link",
    ),
    "a metric of one trial": Guard(
        of("q1", PUBLISHED), PUBLISHED, "metric.published belongs to the run as a whole", JUDGED,
        field="trial",
    ),
}  # fmt: skip

GUARDS = {**JUDGMENTS, **PEOPLE}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", GUARDS)
def test_what_a_guard_refuses(name: str, entry: str, frozen: Ledger) -> None:
    """The event is refused with its clause and field; where order is not witnessed, accepted."""
    assert_refused(frozen, GUARDS[name], entry)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", accepting(GUARDS))
def test_what_a_guard_lets_pass(name: str, entry: str, frozen: Ledger) -> None:
    """The nearest neighbour of what is refused is accepted in every kind of run."""
    assert_accepted(frozen, GUARDS[name], entry)


def test_verdicts_come_after_a_run_was_closed(frozen: Ledger) -> None:
    """A closed run is judged, reviewed, overridden and published like an open one."""
    closed = run_event("run.closed", status="complete")
    later = (judgment(), verdict(), REVIEW, OPENED, OVERRIDE, RESOLVED, DRAWN, PUBLISHED)
    assert problems(frozen, [opened(), *ENDED, closed, *later]) == []


def test_a_human_may_judge_where_code_did(frozen: Ledger) -> None:
    """Another grader judges the same metric of the same trial in its first pass."""
    human = by(PERSON, judgment(judgment="h1", by="human", grader={"name": "Ada"}))
    assert problems(frozen, [opened(), *JUDGED, human]) == []
