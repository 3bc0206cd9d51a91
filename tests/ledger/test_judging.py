"""Answers judged by code graders: what is judged, what is left and why, and that twice is once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ledger_cases import ANSWERS, RUN, tools
from policy_cases import append_random, policy_ledger
from projection_cases import Log
from rescore_cases import INCLUDES, METRICS, NEEDS_JUDGE, counted, erase, fates_log
from run_cases import Session
from trial_ledger import rescoring
from trial_ledger.book import Ledger
from trial_ledger.errors import NotFoundError, StorageError
from trial_ledger.events import AnswerSubmitted, JudgmentRecorded
from trial_ledger.goldfile import gold_path
from trial_ledger.judging import judging_of
from trial_ledger.rescoring import judge_run


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A run with every fate of an answer, nothing of it graded by code yet."""
    made = fates_log(tmp_path)
    yield made
    made.ledger.close()


def given(ledger: Ledger, run: str = RUN) -> dict[str, JudgmentRecorded]:
    """Return what code graders said in a run, by question."""
    found = {}
    for stored in ledger.events(run=run):
        data = stored.event.data
        if isinstance(data, JudgmentRecorded) and data.by == "code":
            assert stored.event.trial is not None
            found[stored.event.trial.question] = data
    return found


def test_c28_answers_are_judged_by_code_with_grader_and_reasoning(log: Log) -> None:
    """Right, wrong and right only in a sentence; each says who decided by which rule."""
    tallies = judge_run(log.ledger, RUN)
    assert counted(tallies) == {
        "given": {"exact": 6},
        "present": {"judged": 4},
        "left": {NEEDS_JUDGE: 2},
    }
    found = given(log.ledger)
    assert {question: data.score for question, data in found.items()} == {
        "q1": "1", "q2": "0", "q3": "0", "q6": "1", "q7": "1", "q8": "1",
    }  # fmt: skip
    for data in found.values():
        assert (data.grader.name, data.grader.version) == ("normalised-match", "1")
        assert data.grader.digest is not None
        assert data.judgment == "exact:normalised-match@1"
        assert data.gold is not None
        assert (data.usage, data.cost, data.calls) == (None, None, ())
        assert data.reasoning is not None
        assert log.ledger.blob(data.reasoning)
    assert log.ledger.verify().is_intact


def test_judging_twice_adds_nothing(log: Log) -> None:
    """The second time everything is there, and the log ends where it ended."""
    judge_run(log.ledger, RUN)
    head = log.ledger.head()
    assert counted(judge_run(log.ledger, RUN)) == {
        "present": {"exact": 6, "judged": 4},
        "left": {NEEDS_JUDGE: 2},
    }
    assert log.ledger.head() == head


def test_a_trial_that_ends_later_is_judged_then(log: Log) -> None:
    """Judging again adds what is new, and that alone."""
    judge_run(log.ledger, RUN)
    log.trial("q10", answer="Ur")
    assert counted(judge_run(log.ledger, RUN))["given"] == {"exact": 1}
    assert given(log.ledger)["q10"].score == "0"


def test_c03_what_was_erased_or_never_recorded_stays_unjudged(log: Log) -> None:
    """Neither is wrong: nobody knows what it said."""
    answers = [
        data.answer.blob
        for stored in log.ledger.events(run=RUN)
        if isinstance(data := stored.event.data, AnswerSubmitted) and data.answer is not None
    ]
    erase(log.ledger, answers[0])
    log.trial("q10", answer=None)
    assert counted(judge_run(log.ledger, RUN)) == {
        "given": {"exact": 5},
        "present": {"judged": 4},
        "left": {
            ("exact", "the answer was redacted"): 1,
            ("exact", "no answer recorded"): 1,
            NEEDS_JUDGE: 3,
        },
    }
    assert "q1" not in given(log.ledger)


def test_c20_a_metric_judges_the_shapes_it_is_for(tmp_path: Path) -> None:
    """A fact's answer gets no recall, a list's none of a fact; an open trial gets nothing."""
    with policy_ledger(tmp_path) as ledger:
        ended = Session("answered", answered=True, failures=[], judgings=[], standing="")
        plan = {("q1", 1): [ended], ("q2", 1): [ended], ("q3", 1): [replace(ended, outcome=None)]}
        append_random(ledger, "one", "usual-first-all", plan)
        assert counted(judge_run(ledger, "one"))["given"] == {"exact": 1, "recall": 1}
        found = {question: data.metric for question, data in given(ledger, "one").items()}
        assert found == {"q1": "exact", "q2": "recall"}


def test_without_the_gold_file_nobody_judges(log: Log, tmp_path: Path) -> None:
    """It is named with what to do, and nothing is written."""
    log.ledger.close()
    gold_path(log.path).rename(tmp_path / "elsewhere")
    with Ledger.open(log.path, write=True, tools=tools(tmp_path, pins=False)) as ledger:
        size = ledger.store.size()
        with pytest.raises(StorageError, match="the gold file is not here") as caught:
            judge_run(ledger, RUN)
        assert caught.value.hint == "put the .gold file beside the ledger"
        assert ledger.store.size() == size


def test_a_rubric_that_no_code_judges_needs_no_gold(tmp_path: Path) -> None:
    """What is needed is named by grader: a judge, a person, the source, one outside."""
    graders = {"judge": "judge", "human": "human", "source": "source", "other": "outside@3"}
    metrics = {name: {"measure": "verdict", "grader": grader} for name, grader in graders.items()}
    log = Log(tmp_path, rubric={"metrics": metrics, "primary": "judge"})
    log.trial("q1")
    log.ledger.close()
    gold_path(log.path).rename(tmp_path / "elsewhere")
    with Ledger.open(log.path, write=True, tools=tools(tmp_path, pins=False)) as ledger:
        assert counted(judge_run(ledger, RUN)) == {
            "left": {
                ("judge", "needs its model judge"): 1,
                ("human", "needs a person"): 1,
                ("source", "only its source could judge it"): 1,
                ("other", "needs the grader outside@3"): 1,
            }
        }


def test_a_run_that_never_was(log: Log) -> None:
    """It is named."""
    with pytest.raises(NotFoundError, match="run gone was never opened"):
        judge_run(log.ledger, "gone")


def test_another_writer_judges_at_the_same_moment(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What both wrote is there once, and who came second says that it was there."""
    usual = judging_of
    other = Ledger.open(log.path, write=True, tools=tools(log.path.parent, pins=False, seed=8))

    def interrupted(ledger: Ledger, run: str) -> object:
        found = usual(ledger, run)
        monkeypatch.setattr(rescoring, "judging_of", usual)
        assert counted(judge_run(other, run))["given"] == {"exact": 6}
        return found

    monkeypatch.setattr(rescoring, "judging_of", interrupted)
    with other:
        assert counted(judge_run(log.ledger, RUN))["present"] == {"exact": 6, "judged": 4}
    assert len(given(log.ledger)) == 6
    assert log.ledger.verify().is_intact


def test_c28_another_version_of_a_grader_judges_beside_the_first(tmp_path: Path) -> None:
    """A judgment of an outside grader of that metric does not stand for the rubric's own."""
    log = Log(tmp_path, rubric={"metrics": {**METRICS, "exact": INCLUDES}})
    log.trial("q1", answer=ANSWERS["q1"])
    grader = {"name": "normalised-match", "version": "1"}
    log.judge("q1", "exact", "0", name="theirs", grader=grader)
    assert counted(judge_run(log.ledger, RUN))["given"] == {"exact": 1}
    assert given(log.ledger)["q1"].grader.name == "includes"
    log.ledger.close()
