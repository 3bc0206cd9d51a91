"""How far judgments are reviewed, by which reviews, and where people and judges differ."""

from collections.abc import Mapping

import pytest

from ledger_cases import PERSON
from projection_cases import Log
from trial_ledger.submission import NewText
from trial_projections.review_coverage import (
    Coverage,
    coverage_of,
    disagreements_in,
    drawings_of,
)
from trial_projections.reviewing import document_text, draw_document


def coverage(log: Log, metric: str = "judged") -> Coverage:
    """Return the coverage of a metric as the log is now."""
    with log.model() as model:
        run = model.run(log.run)
        return coverage_of(model, run, model.score_input(run), metric)


def judge_all(log: Log) -> None:
    """Append ten judged trials, eight of them right."""
    for number in range(1, 11):
        log.trial(f"q{number}")
        log.judge(f"q{number}", "judged", "correct" if number <= 8 else "incorrect")


def append_draw(log: Log, plan: str = "p1", metric: str = "judged") -> None:
    """Append the drawing of now."""
    with log.model() as model:
        source = model.score_input(model.run(log.run))
        assert source.rubric.review is not None
        text = document_text(draw_document(source, metric, source.rubric.review, "local"))
    log.act("review.drawn", plan=plan, seed="seven", strata=NewText.of(text))


def review(
    log: Log,
    question: str,
    verdict: str = "correct",
    *,
    changes: Mapping[str, object] | None = None,
    **data: object,
) -> None:
    """Append a blind review."""
    given = {
        "review": "r1", "metric": "judged", "plan": "p1", "verdict": verdict,
        "reason": "looked", "blind": True,
    }  # fmt: skip
    log.append("review.recorded", question, {**given, **data, **(changes or {})}, actor=PERSON)


def test_c29_coverage_is_met_when_every_stratum_is(log: Log) -> None:
    """Five of eight successes and both failures; one too few is not enough."""
    judge_all(log)
    append_draw(log)
    remaining = coverage(log).remaining
    assert len(remaining) == 7
    for place, name in enumerate(remaining, 1):
        found = coverage(log)
        assert (found.is_met, found.reviewed) == (False, place - 1)
        review(log, name.partition("#")[0])
    found = coverage(log)
    assert (found.is_met, found.reviewed, found.needed, found.remaining) == (True, 7, 7, [])
    assert [(s.by["judged"], s.judged, s.needed, s.done) for s in found.strata] == [
        ("failure", 2, 2, 2), ("success", 8, 5, 5),
    ]  # fmt: skip
    assert found.confusion == [("correct", "correct", 5), ("incorrect", "correct", 2)]
    assert (found.plan, found.by_model, found.purposive) == ("p1", True, 0)
    assert (found.judged_right, found.estimate.kappa, found.estimate.right) == (8, "0", "1")
    review(log, remaining[0].partition("#")[0], "partial", review="r2")
    assert coverage(log).estimate.kappa != "0"


def undrawn(log: Log) -> str:
    """Return a judged question that the draw leaves out."""
    drawn = {name.partition("#")[0] for name in coverage(log).remaining}
    return next(f"q{number}" for number in range(1, 11) if f"q{number}" not in drawn)


@pytest.mark.parametrize("case", ["undrawn", "purposive", "other plan", "other metric"])
def test_c29_who_picks_by_hand_adds_nothing(log: Log, case: str) -> None:
    """A review counts only of a drawn trial, by a plan that named it, under the metric."""
    judge_all(log)
    append_draw(log)
    if case == "undrawn":
        review(log, undrawn(log))
    else:
        changes: dict[str, dict[str, object]] = {
            "purposive": {"plan": "purposive"},
            "other plan": {"plan": "p7"},
            "other metric": {"metric": "exact", "verdict": None, "score": "1"},
        }
        review(log, coverage(log).remaining[0].partition("#")[0], changes=changes[case])
    found = coverage(log)
    assert (found.reviewed, found.purposive) == (0, 0 if case == "other metric" else 1)


def test_c29_a_hand_made_drawing_draws_nothing(log: Log) -> None:
    """A drawing that names a trial which the seed does not draw is planted: nothing counts."""
    judge_all(log)
    name = undrawn(log)
    log.act("review.drawn", plan="p1", seed="seven", strata=NewText.of("{}"))
    planted = (
        '{"metric":"judged","fraction":"1/10","floor":5,"strata":'
        f'[{{"by":{{}},"judged":1,"drawn":["{name}#1@s1"]}}]}}'
    )
    log.act("review.drawn", plan="p2", seed="seven", strata=NewText.of(planted))
    review(log, name, plan="p2")
    found = coverage(log)
    assert (found.reviewed, found.purposive, found.plan) == (0, 1, None)
    with log.model() as model:
        forms = [known.document is None for known in drawings_of(model, model.run(log.run))]
    assert forms == [True, False]


def test_c29_a_review_before_its_drawing_does_not_count(log: Log) -> None:
    """Nobody reviews first and draws afterwards."""
    judge_all(log)
    name = coverage(log).remaining[0].partition("#")[0]
    review(log, name)
    append_draw(log)
    assert coverage(log).reviewed == 0
    review(log, name, review="r2", verdict="partial")
    assert coverage(log).reviewed == 1


def test_c29_judgments_that_come_later_need_another_drawing(log: Log) -> None:
    """The drawing of before is not that of now; its reviews count as far as drawn still."""
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    append_draw(log)
    review(log, "q1")
    assert (coverage(log).is_met, coverage(log).plan) == (True, "p1")
    log.trial("q2")
    log.judge("q2", "judged", "correct")
    found = coverage(log)
    assert (found.is_met, found.plan, found.reviewed, found.remaining) == (
        False, None, 1, ["q2#1@s1"],
    )  # fmt: skip


def test_c30_disagreements_are_open_until_resolved(log: Log) -> None:
    """In the order of opening, of one metric or of all."""
    judge_all(log)
    pair = {"disagreement": "d1", "judgment": "j1", "review": "r1"}
    for question in ("q2", "q1"):
        review(log, question, "incorrect", plan="purposive")
        log.append("disagreement.opened", question, pair, actor=PERSON)
    assert coverage(log).open == 2
    resolved = {**pair, "finding": "reviewer_wrong", "reason": "misread"}
    log.append("disagreement.resolved", "q1", resolved, actor=PERSON)
    assert (coverage(log).open, coverage(log, "exact").open) == (1, 0)
    with log.model() as model:
        source = model.score_input(model.run(log.run))
        found = disagreements_in(source)
        assert disagreements_in(source, "exact") == []
    assert [(known.trial, known.record.finding) for known in found] == [
        ("q2#1@s1", None), ("q1#1@s1", "reviewer_wrong"),
    ]  # fmt: skip


def test_c14_a_derived_run_has_reviews_of_its_own(log: Log) -> None:
    """What was reviewed under the old rubric says nothing about the new judgments."""
    judge_all(log)
    append_draw(log)
    review(log, coverage(log).remaining[0].partition("#")[0])
    parent = log.run
    with log.model() as model:
        link = model.run(parent).links
    log.open("again", derived_from={"run": parent, "link": link}, reason="stricter")
    log.judge("q1", "judged", "correct")
    found = coverage(log)
    assert (found.judged, found.reviewed, found.plan) == (1, 0, None)
    append_draw(log)
    review(log, "q1")
    assert coverage(log).is_met
