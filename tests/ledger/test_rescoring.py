"""Derived runs: what is judged anew and what is carried, once each, and the parent as it was."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger_cases import ANSWERS, RUN, small_rubric, tools
from projection_cases import Log
from rescore_cases import (
    INCLUDES,
    METRICS,
    NEEDS_JUDGE,
    corrected,
    counted,
    erase,
    fates_log,
    lax,
    revised,
    revision,
)
from trial_ledger import rescoring
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError, NotFoundError, RefusedError, RuleError
from trial_ledger.events import JudgmentFailed, JudgmentOverridden, JudgmentRecorded, RunOpened
from trial_ledger.goldfile import gold_path
from trial_ledger.rescoring import Derived, derive_run, judge_run

JUDGE = {"model": "judge-model", "endpoint": "judge", "prompt": "{question} {answer}"}
Verdicts = JudgmentRecorded | JudgmentFailed | JudgmentOverridden


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A run with every fate of an answer, graded by code."""
    made = fates_log(tmp_path)
    judge_run(made.ledger, RUN)
    yield made
    made.ledger.close()


def derived(log: Log, **changes: Any) -> Derived:  # noqa: ANN401 - whatever a revision holds
    """Judge the run again."""
    return derive_run(log.ledger, revision(**changes))


def verdicts(ledger: Ledger, run: str) -> dict[tuple[str, str], Verdicts]:
    """Return every verdict of a run, by question and id."""
    found: dict[tuple[str, str], Verdicts] = {}
    for stored in ledger.events(run=run):
        data = stored.event.data
        if isinstance(data, JudgmentRecorded | JudgmentFailed | JudgmentOverridden):
            assert stored.event.trial is not None
            found[stored.event.trial.question, data.judgment] = data
    return found


def carried(ledger: Ledger, run: str) -> list[tuple[str, str]]:
    """Return what a run carries, as question and the parent's judgment."""
    return [
        (question, str(data.carried_from))
        for (question, _), data in verdicts(ledger, run).items()
        if not isinstance(data, JudgmentOverridden) and isinstance(data.carried_from, str)
    ]


def test_c14_the_derived_run_is_judged_under_the_revised_rubric(log: Log) -> None:
    """By code anew, by the judge as before; it is closed, after the fact, and says why."""
    found = derived(log, rubric=lax())
    assert (found.run, found.is_new, found.link) == ("fast-01.rubric-2", True, 39)
    assert counted(found.tallies) == {
        "given": {"exact": 6},
        "carried": {"judged": 5},
        "left": {NEEDS_JUDGE: 1},
    }
    opened = log.ledger.run_opened(found.run)
    assert (opened.rubric, opened.dataset, opened.entry) == ("quality@2", "example@1", "appended")
    assert log.ledger.blob(opened.reason) == b"a second look" if opened.reason else False
    assert log.value("exact", RUN) == "4 of 10"
    assert log.value("exact", found.run) == "11/2 of 10"
    assert log.ledger.verify().is_intact


def test_c14_again_under_the_same_rubric_adds_nothing(log: Log) -> None:
    """The run is found, whether the rubric comes as a document or by name, whoever asks."""
    first = derived(log, rubric=lax())
    head = log.ledger.head()
    found = first
    for again in ({"rubric": lax()}, {"rubric": "quality@2", "reason": "another"}):
        found = derived(log, **again)
        assert (found.run, found.is_new) == (first.run, False)
        assert counted(found.tallies) == {
            "present": {"exact": 6, "judged": 5},
            "left": {NEEDS_JUDGE: 1},
        }
    assert derived(log, rubric="quality@2", name=first.run).is_new is False
    assert judge_run(log.ledger, first.run) == found.tallies
    assert log.ledger.head() == head


def test_c28_a_judge_s_verdict_is_carried_as_it_was(log: Log) -> None:
    """With its words, its grader and what it repeats, under the revised rubric's hash."""
    run = derived(log, rubric=lax()).run
    old, new = verdicts(log.ledger, RUN), verdicts(log.ledger, run)
    assert carried(log.ledger, run) == [(name, "j1") for name in ("q1", "q2", "q3", "q6", "q7")]
    for question, field in (("q1", "reasoning"), ("q2", "shown"), ("q2", "raw"), ("q7", "raw")):
        texts = [log.ledger.blob(getattr(known[question, "j1"], field)) for known in (old, new)]
        assert texts[0] == texts[1]
        assert texts[0]
    before, after = old["q2", "j1"], new["q2", "j1"]
    assert isinstance(before, JudgmentRecorded)
    assert isinstance(after, JudgmentRecorded)
    assert (after.verdict, after.by, after.grader) == (before.verdict, before.by, before.grader)
    assert after.rubric == log.ledger.registry().rubric("quality@2").rubric_hash != before.rubric
    assert after.gold == before.gold


def test_c19_a_carried_verdict_costs_nothing(log: Log) -> None:
    """Its judge was paid in the parent; the derived run has no spend of its own."""
    run = derived(log, rubric=lax()).run
    with log.model() as model:
        assert model.accounts(run) == []
        (judge,) = model.accounts(RUN)
        assert (judge.name, judge.unknown_count) == ("judge", 5)


def test_c31_an_override_is_not_inherited(log: Log) -> None:
    """A person answered the old rubric; under the new one the judge's own verdict counts again."""
    run = derived(log, rubric=lax()).run
    assert ("q2", "o1") in verdicts(log.ledger, RUN)
    assert ("q2", "o1") not in verdicts(log.ledger, run)
    assert (log.value("judged", RUN), log.value("judged", run)) == ("4-6 of 10", "7/2-11/2 of 10")


def test_c23_a_failed_judge_is_carried_as_failed(log: Log) -> None:
    """Neither right nor wrong, and without the failure, which is the parent's."""
    run = derived(log, rubric=lax()).run
    failed = verdicts(log.ledger, run)["q7", "j1"]
    assert isinstance(failed, JudgmentFailed)
    assert (failed.reason, failed.occurrence, failed.carried_from) == ("judge_failed", None, "j1")
    assert log.score("judged", run).outcomes["judge_failed"] == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"judge": {**JUDGE, "prompt": "{answer}?"}},
        {"metrics": {**METRICS, "judged": {**METRICS["judged"], "grader": "outside@1"}}},
    ],
    ids=["prompt", "grader"],
)
def test_c14_under_another_prompt_or_grader_nothing_is_carried(
    log: Log, changes: dict[str, Any]
) -> None:
    """Nobody has given a verdict under that; all are open, none wrong."""
    found = derived(log, rubric=revised(**changes))
    assert counted(found.tallies)["given"] == {"exact": 6}
    assert "carried" not in counted(found.tallies)
    assert sum(counted(found.tallies)["left"].values()) == 6
    assert carried(log.ledger, found.run) == []


def test_c02_corrected_gold_is_judged_by_code_and_left_open_by_the_judge(log: Log) -> None:
    """Verdicts stand for questions whose words and gold are the same, and for no other."""
    log.ledger.freeze([corrected(gold={"q2": "Ur", "q8": None}, q3="Which city is q3?")])
    found = derived(log, dataset="example@2")
    assert found.run == "fast-01.dataset-2"
    assert counted(found.tallies) == {
        "given": {"exact": 6},
        "carried": {"judged": 3},
        "left": {NEEDS_JUDGE: 3},
    }
    assert {question for question, _ in carried(log.ledger, found.run)} == {"q1", "q6", "q7"}
    new = verdicts(log.ledger, found.run)
    right, none = new["q2", EXACT], new["q8", EXACT]
    assert isinstance(right, JudgmentRecorded)
    assert isinstance(none, JudgmentRecorded)
    assert (right.score, none.score, none.verdict) == ("1", None, "not_gradable")
    assert none.gold is None
    reason = log.ledger.blob(none.reasoning) if none.reasoning else None
    assert reason == b"the question has no gold"


EXACT = "exact:normalised-match@1"


def test_both_may_be_revised_at_once(log: Log) -> None:
    """The name tells both."""
    log.ledger.freeze([corrected(version="b", gold={"q2": "Ur"})])
    found = derived(log, rubric=revised(version="a", name="stricter"), dataset="example@b")
    assert found.run == "fast-01.stricter-a-dataset-b"


def test_c14_the_parent_grows_and_a_second_run_is_derived(log: Log) -> None:
    """What came later is not in the first one, whose number stays."""
    first = derived(log, rubric=lax())
    number = log.value("exact", first.run)
    log.run = RUN
    log.trial("q10", answer=ANSWERS["q10"])
    second = derived(log, rubric="quality@2")
    assert (second.run, second.is_new) == ("fast-01.rubric-2.2", True)
    assert second.link > first.link
    assert counted(second.tallies)["given"] == {"exact": 7}
    assert log.value("exact", first.run) == number
    assert derived(log, rubric="quality@2").run == second.run


def test_c12_a_taken_name_is_refused(log: Log) -> None:
    """Whether by the parent, by another derived run, or by none that is alike."""
    first = derived(log, rubric=lax(), name="mine")
    for name, wanted in (("mine", "quality@3"), (RUN, "quality@2")):
        log.ledger.freeze([revised(version="3")])
        size = log.ledger.store.size()
        with pytest.raises(RefusedError) as caught:
            derived(log, rubric=wanted, name=name)
        (problem,) = caught.value.problems
        assert (problem.clause, problem.message) == ("C12", f"run {name} exists")
        assert log.ledger.store.size() == size
    assert derived(log, rubric="quality@2", name="mine").run == first.run


def test_c14_what_cannot_be_derived_leaves_nothing_behind(log: Log) -> None:
    """Not even the rubric that came with it."""
    first = derived(log, rubric=lax())
    log.ledger.freeze([corrected(version="b", gold={"q2": "Ur"})])
    size = log.ledger.store.size()
    third = revised(version="3")
    cases: tuple[tuple[dict[str, Any], type[Exception], str], ...] = (
        ({"parent": first.run}, RefusedError, f"run {first.run}.rubric-3: 1 event refused"),
        ({"name": "No Name"}, InvalidInputError, "run No Name not acceptable: 1 fault"),
        ({"reason": " \n"}, RuleError, r"needs a reason in words \(C14\)"),
        ({"dataset": "example@9"}, RuleError, "run fast-01.rubric-3-dataset-9: 1 event refused"),
        ({"rubric": "quality@9"}, RuleError, r"rubric quality@9 is not frozen \(C14\)"),
        ({"rubric": revised(version="1", max_undecided="1")}, RuleError, "exists and differs"),
        ({"rubric": None}, RuleError, "judged under quality@1 with example@1 already"),
        ({"rubric": small_rubric()}, RuleError, "judged under quality@1 with example@1 already"),
        ({"parent": "gone"}, NotFoundError, "run gone was never opened"),
    )
    for changes, kind, message in cases:
        with pytest.raises(kind, match=message):
            derived(log, **{"rubric": third, **changes})
    assert log.ledger.store.size() == size


def test_c16_a_dataset_that_lacks_questions_is_refused(log: Log) -> None:
    """The trials of a question that is gone could not be scored: it says how many and which."""
    whole = corrected(version="b")
    short = type(whole)(
        **{
            name: getattr(whole, name)
            for name in whole.__struct_fields__
            if name not in {"questions", "gold"}
        },
        questions=whole.questions[2:],
        gold={name: gold for name, gold in whole.gold.items() if name not in {"q1", "q2"}},
    )
    log.ledger.freeze([short])
    size = log.ledger.store.size()
    with pytest.raises(RefusedError) as caught:
        derived(log, dataset="example@b")
    (problem,) = caught.value.problems
    assert (problem.clause, problem.field) == ("C16", "data.dataset")
    assert problem.message == "dataset example@b lacks 2 questions of run fast-01, as 'q1'"
    assert log.ledger.store.size() == size


@pytest.mark.parametrize(
    ("entry", "expected"), [("imported", "appended"), ("appended", "appended"), ("live", "live")]
)
def test_a_derived_run_comes_in_as_its_parent_did(
    tmp_path: Path, entry: str, expected: str
) -> None:
    """But for one that was imported: these judgments are our own. A live one keeps its rules."""
    log = Log(tmp_path, entry=entry)
    log.trial("q1", answer=ANSWERS["q1"])
    log.judge("q1", "judged", "correct", reasoning="yes")
    log.act("run.closed", status="complete")
    found = derived(log, rubric=lax())
    assert log.ledger.run_opened(found.run).entry == expected
    assert counted(found.tallies) == {"given": {"exact": 1}, "carried": {"judged": 1}}
    log.ledger.close()


def test_names_are_made_of_letters_that_names_have(tmp_path: Path) -> None:
    """Whatever a version looks like and however long the parent's name is."""
    log = Log(tmp_path, entry=None)
    log.open("a" * 80)
    log.trial("q1")
    version = "Ü 7/" + "x" * 40
    found = derived(log, parent="a" * 80, rubric=revised(version=version))
    assert found.run == "a" * 34 + ".rubric-7-" + "x" * 31
    only = derived(log, parent="a" * 80, rubric=revised(version="Ü"))
    assert only.run == "a" * 68 + ".rubric"
    log.ledger.close()


def test_without_gold_file_texts_cannot_be_carried(log: Log, tmp_path: Path) -> None:
    """A judge's words lie in the gold file; it is named, and nothing is written."""
    log.ledger.close()
    gold_path(log.path).rename(tmp_path / "elsewhere")
    only = revised(metrics={"judged": METRICS["judged"]}, primary="judged")
    with Ledger.open(log.path, write=True, tools=tools(tmp_path, pins=False)) as ledger:
        size = ledger.store.size()
        with pytest.raises(NotFoundError, match="the gold file is not here"):
            derive_run(ledger, revision(rubric=only))
        assert ledger.store.size() == size


def test_c03_a_verdict_whose_words_were_erased_is_carried_without(log: Log) -> None:
    """The verdict stands; what is gone stays gone."""
    known = verdicts(log.ledger, RUN)["q1", "j1"]
    assert isinstance(known, JudgmentRecorded)
    assert known.reasoning is not None
    erase(log.ledger, known.reasoning.blob)
    again = verdicts(log.ledger, derived(log, rubric=lax()).run)["q1", "j1"]
    assert isinstance(again, JudgmentRecorded)
    assert (again.verdict, again.reasoning) == ("correct", None)


Competitor = Callable[[Ledger], object]


@pytest.fixture
def meanwhile(log: Log, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Competitor], None]]:
    """Let another writer act between looking for a name and taking it, once."""
    usual = rescoring.place_for
    other = Ledger.open(log.path, write=True, tools=tools(log.path.parent, pins=False, seed=8))

    def prepare(act: Competitor) -> None:
        def interrupted(ledger: Ledger, wanted: RunOpened, *, name: str | None) -> object:
            found = usual(ledger, wanted, name=name)
            monkeypatch.setattr(rescoring, "place_for", usual)
            act(other)
            return found

        monkeypatch.setattr(rescoring, "place_for", interrupted)

    with other:
        yield prepare


@pytest.mark.parametrize("reason", ["a second look", "another"])
def test_c14_another_writer_derives_the_same_run_at_once(
    log: Log, meanwhile: Callable[[Competitor], None], reason: str
) -> None:
    """There is one run, and who came second says that it was there, whatever reason each gave."""
    meanwhile(lambda other: derive_run(other, revision(rubric=lax(), reason=reason)))
    found = derived(log, rubric=lax())
    assert (found.run, found.is_new) == ("fast-01.rubric-2", False)
    assert counted(found.tallies)["present"] == {"exact": 6, "judged": 5}
    assert log.ledger.store.run_names("") == [RUN, "fast-01.rubric-2"]
    assert log.ledger.verify().is_intact


def test_another_writer_takes_the_name_for_something_else(
    log: Log, meanwhile: Callable[[Competitor], None]
) -> None:
    """A made name gives way to the next one; one that was asked for is refused."""
    other = revised(name="other", version="1", metrics={**METRICS, "exact": INCLUDES})
    meanwhile(lambda book: derive_run(book, revision(rubric=other, name="fast-01.rubric-2")))
    assert derived(log, rubric=lax()).run == "fast-01.rubric-2.2"
    meanwhile(lambda book: derive_run(book, revision(rubric=other, name="mine")))
    with pytest.raises(RefusedError, match="run mine: 1 event refused"):
        derived(log, rubric="quality@2", name="mine")
