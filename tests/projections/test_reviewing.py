"""The draw of trials for review: from the seed and the names, of every stratum enough (C29)."""

import json
from math import ceil
from pathlib import Path
from random import Random

import msgspec
import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from ledger_cases import PERSON
from projection_cases import Log
from trial_ledger.documents.rubric_structs import Metric, Review
from trial_ledger.errors import InvalidInputError
from trial_projections.records import JudgmentRecord, Mark, ReviewRecord
from trial_projections.reviewing import (
    CONTEXT,
    DrawDocument,
    agrees,
    document_text,
    draw,
    draw_document,
    drawn,
    judged_trials,
    label_of,
    needed,
    require_strata,
    strata_of,
)

MARK = Mark(1, "0" * 64)
NAMES = st.sets(st.text(min_size=1, max_size=6, alphabet="abcq#1@s"), max_size=40)


def judgment(verdict: str | None = None, score: str | None = None) -> JudgmentRecord:
    """Return a judgment that says so."""
    return JudgmentRecord("j1", MARK, "m", 1, "code", "g@1", verdict, score)


@given(NAMES, st.text(min_size=1, max_size=9), st.integers(0, 50), st.randoms())
def test_c29_the_draw_depends_on_seed_and_names_alone(
    names: set[str], seed: str, count: int, chance: Random
) -> None:
    """In any order the same trials are drawn, and a larger count only adds to them."""
    shuffled = sorted(names)
    chance.shuffle(shuffled)
    found = draw(shuffled, seed, count)
    assert found == draw(sorted(names, reverse=True), seed, count)
    assert len(found) == min(count, len(names))
    assert draw(names, seed, count + 1)[:count] == found


def test_c29_the_order_is_keyed_blake3_and_can_be_made_again() -> None:
    """Another implementation of the documented rule draws the same; another seed does not."""
    names = [f"q{number}#1@s1" for number in range(50)]
    key = blake3(b"seven", derive_key_context=CONTEXT).digest()
    by_hand = sorted(names, key=lambda name: blake3(name.encode(), key=key).hexdigest())
    assert draw(names, "seven", 12) == tuple(by_hand[:12])
    assert draw(names, "eight", 12) != tuple(by_hand[:12])


@given(st.integers(0, 500), st.integers(10, 100), st.integers(1, 20))
def test_c29_of_every_stratum_at_least_fraction_and_floor(
    judged: int, percent: int, floor: int
) -> None:
    """As far as there are so many, and never more than both ask for."""
    count = needed(judged, Review(seed="s", fraction=f"{percent}/100", floor=floor))
    assert count == min(judged, max(ceil(percent * judged / 100), floor))


@pytest.mark.parametrize(
    ("said", "direction", "label"),
    [
        (judgment("abstained"), "higher", "abstained"),
        (judgment(None), "higher", "not_gradable"),
        (judgment(score="2/2"), "higher", "correct"),
        (judgment(score="0"), "higher", "incorrect"),
        (judgment(score="1/3"), "higher", "partial"),
        (judgment(score="0"), "lower", "correct"),
        (judgment("correct", "1"), "lower", "incorrect"),
        (ReviewRecord("r1", MARK, "m", "p1", "Ada", "partial", None, True), "higher", "partial"),
    ],
)
def test_scores_have_the_verdict_of_their_place_on_the_scale(
    said: JudgmentRecord | ReviewRecord, direction: str, label: str
) -> None:
    """The best end is correct, the worst incorrect; who gave nothing decided nothing."""
    metric = Metric(measure="fact.correctness", grader="g", direction=direction)  # type: ignore[arg-type]
    assert label_of(said, metric) == label


@pytest.mark.parametrize(
    ("verdict", "score", "known", "same"),
    [
        ("correct", None, judgment("correct"), True),
        ("partial", None, judgment("correct"), False),
        ("correct", None, judgment(score="1"), True),
        (None, "2/4", judgment(score="1/2"), True),
        (None, "1/3", judgment(score="1/2"), False),
        (None, "1/2", judgment("not_gradable"), False),
    ],
)
def test_c30_reviewer_and_judge_agree_where_they_say_the_same(
    verdict: str | None, score: str | None, known: JudgmentRecord, same: bool
) -> None:
    """By value and not by spelling."""
    assert agrees(verdict, score, known, Metric(measure="m", grader="g")) is same


def document_of(log: Log, metric: str = "judged") -> DrawDocument:
    """Return the drawing of a metric as the log is now."""
    with log.model() as model:
        source = model.score_input(model.run(log.run))
        assert source.rubric.review is not None
        return draw_document(source, metric, source.rubric.review, "local")


def test_c29_successes_failures_and_undecided_are_strata_of_their_own(log: Log) -> None:
    """What a person judged is not drawn, nor what nobody judged; canonical JSON says it all."""
    verdicts = ("correct", "incorrect", "partial", "not_gradable")
    for question, verdict in zip(("q1", "q2", "q3", "q4"), verdicts, strict=True):
        log.trial(question)
        log.judge(question, "judged", verdict)
    log.trial("q5")
    log.trial("q6", outcome=None)
    document = document_of(log)
    assert {stratum.by["judged"]: stratum.judged for stratum in document.strata} == {
        "failure": 2, "success": 1, "undecided": 1,
    }  # fmt: skip
    assert drawn(document) == {f"q{number}#1@s1" for number in range(1, 5)}
    text = document_text(document)
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert json.loads(text)["metric"] == "judged"


def test_c31_an_override_moves_no_trial_into_another_stratum(log: Log) -> None:
    """The draw is by what was judged automatically; it stays the draw when people decide."""
    log.trial("q1")
    log.judge("q1", "judged", "incorrect")
    before = document_of(log)
    log.act(
        "judgment.overridden", "q1", judgment="o1", replaces="j1", verdict="correct", reason="x"
    )
    assert document_of(log) == before
    with log.model() as model:
        (trial,) = judged_trials(model.score_input(model.run(log.run)), "judged")
    assert (trial.automated.id, trial.standing.id, trial.judged) == ("j1", "o1", "failure")


def test_what_a_person_judged_first_needs_no_review(log: Log) -> None:
    """Nobody is asked to check a person as if it were a grader."""
    log.trial("q1")
    log.append(
        "judgment.recorded", "q1",
        {"judgment": "j1", "metric": "judged", "by": "human", "verdict": "correct",
         "grader": {"name": "Ada"}},
        actor=PERSON,
    )  # fmt: skip
    assert document_of(log).strata == ()


def test_strata_are_what_the_rubric_names_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    """Shape and split are known; every other name is a fault, all at once."""
    review = Review(seed="s", strata=("task_shape", "split", "judged"))
    log = Log(tmp_path)
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    require_strata(review)
    with log.model() as model:
        source = model.score_input(model.run(log.run))
        judged = judged_trials(source, "judged")
        assert list(strata_of(source, judged, review, "local")) == [
            (("task_shape", "fact"), ("split", "holdout"), ("judged", "success"))
        ]
        bare = {name: msgspec.structs.replace(question, split=None) for name, question in
                source.questions.items()}  # fmt: skip
        source.questions = bare
        ((key, twice),) = strata_of(source, [*judged, *judged], review, "local").items()
        assert len(twice) == 2
        assert key[1] == ("split", "unknown")
        odd = Review(seed="s", strata=("judged", "colour", "weight"))
        assert len(strata_of(source, judged, odd, "local")) == 1
    with pytest.raises(InvalidInputError) as caught:
        require_strata(odd)
    assert [problem.found for problem in caught.value.problems] == ["'colour'", "'weight'"]
    log.ledger.close()
