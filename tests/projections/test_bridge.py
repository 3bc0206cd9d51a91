"""The way from one number to another: its parts add up, and each has the right cause."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from document_cases import outcome_table
from ledger_cases import ANSWERS, RUN, small_rubric
from policy_cases import (
    CONFIGURATIONS,
    METRICS,
    QUESTIONS,
    REPETITIONS,
    append_random,
    policy_ledger,
    read_side,
)
from projection_cases import Log
from rescore_cases import corrected, fates_log, lax, revised, revision
from run_cases import Session, runs
from trial_ledger.book import Ledger
from trial_ledger.rescoring import derive_run, judge_run
from trial_projections.aggregate import Share
from trial_projections.bridge import Walk, bridge, end_of
from trial_projections.bridge_cells import changed_givers
from trial_projections.bridge_structs import CAUSES, Bridge, Cause, Step

NAMES = itertools.count()
RunPlan = dict[tuple[str, int], list[Session]]

EXAMPLES = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger to which every example appends runs of its own."""
    with policy_ledger(tmp_path_factory.mktemp("bridge")) as made:
        yield made


def configured_runs() -> st.SearchStrategy[tuple[str, RunPlan, str]]:
    """Return a configuration, a random run of it, and one of its metrics."""

    def with_run(name: str) -> st.SearchStrategy[tuple[str, RunPlan, str]]:
        questions = QUESTIONS[CONFIGURATIONS[name][2]]
        plans = runs(questions, REPETITIONS, (*METRICS, "judged", "judged", "judged"))
        return st.tuples(st.just(name), plans, st.sampled_from((*METRICS, "judged", "judged")))

    return st.sampled_from(tuple(CONFIGURATIONS)).flatmap(with_run)


def total(steps: list[Step], end: str) -> Fraction:
    """Return the sum of all parts at one end."""
    return sum((Fraction(getattr(step, end)) for step in steps), Fraction(0))


def value(share: Share) -> Fraction:
    """Return the number of one end of a range."""
    assert share.value is not None
    return Fraction(share.value)


def parts(found: Bridge) -> dict[Cause, tuple[str, int]]:
    """Return the causes that moved anything: their part at the lower end, and how many slots."""
    return {
        step.cause: (step.low, step.slots)
        for step in found.steps
        if step.slots or (step.low, step.high) != ("0", "0")
    }


def way(log: Log, old: str, new: str) -> Bridge:
    """Return the bridge between the judged metrics of two runs of a log."""
    with log.model() as model:
        found = bridge(*(end_of(model, model.run(run), "judged") for run in (old, new)))
    assert isinstance(found, Bridge)
    return found


@EXAMPLES
@given(first=configured_runs(), second=configured_runs())
def test_c14_the_parts_add_up_to_the_difference_at_both_ends(
    ledger: Ledger,
    first: tuple[str, RunPlan, str],
    second: tuple[str, RunPlan, str],
) -> None:
    """Whatever rubrics, questions, sessions and metrics two runs have, nothing is left over."""
    names = []
    for configuration, plan, _ in (first, second):
        names.append(f"run-{next(NAMES)}")
        append_random(ledger, names[-1], configuration, plan)
    with read_side(ledger) as model:
        ends = [
            end_of(model, model.run(name), metric)
            for name, (_, _, metric) in zip(names, (first, second), strict=True)
        ]
        found = bridge(*ends)
    if isinstance(found, str):
        assert "unavailable" in found
        return
    for end in ("low", "high"):
        difference = value(getattr(found.new, end)) - value(getattr(found.old, end))
        assert total(found.steps, end) == difference == Fraction(getattr(found, end))
    assert [step.cause for step in found.steps] == list(CAUSES)
    moved = [change for change in found.changes if change.moves]
    assert len({change.slot for change in found.changes}) == len(found.changes)
    assert sum(step.slots for step in found.steps if step.cause != "denominator") == sum(
        len(change.moves) for change in moved
    )


@EXAMPLES
@given(first=configured_runs())
def test_a_number_is_no_step_away_from_itself(
    ledger: Ledger, first: tuple[str, RunPlan, str]
) -> None:
    """From a run to itself nothing moves and no slot is named."""
    configuration, plan, metric = first
    name = f"run-{next(NAMES)}"
    append_random(ledger, name, configuration, plan)
    with read_side(ledger) as model:
        found = bridge(*(end_of(model, model.run(name), metric) for _ in range(2)))
    if isinstance(found, Bridge):
        assert (found.low, found.high, found.changes, found.rubric) == ("0", "0", [], [])
        assert parts(found) == {}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A run of ten questions: four right, one wrong, the others never started."""
    made = Log(tmp_path)
    for question in ("q1", "q2", "q3", "q4", "q5"):
        made.trial(question)
        made.judge(question, "judged", "incorrect" if question == "q5" else "correct")
    yield made
    made.ledger.close()


def test_c12_another_run_names_what_changed(log: Log) -> None:
    """Answers fixed and broken, lost to errors, and regained stand apart."""
    log.open("again")
    answers = {"q1": "Babylon", "q2": "Ur", "q5": "Kish"}
    for question, answer in answers.items():
        log.trial(question, answer=answer)
        log.judge(question, "judged", "incorrect" if question == "q2" else "correct")
    log.trial("q3", outcome="errored", answer=None)
    log.trial("q6")
    log.judge("q6", "judged", "correct")
    found = way(log, RUN, "again")
    assert parts(found) == {
        "answers changed": ("0", 2),
        "lost to errors": ("-1/5", 2),
        "regained": ("1/10", 1),
    }
    assert (found.old.low.sum, found.new.low.sum, found.low) == ("4", "3", "-1/10")
    assert found.unmoved == 5
    assert {change.slot: [move.cause for move in change.moves] for change in found.changes} == {
        "q2#1": ["answers changed"],
        "q3#1": ["lost to errors"],
        "q4#1": ["lost to errors"],
        "q5#1": ["answers changed"],
        "q6#1": ["regained"],
    }


def test_c28_the_same_answer_judged_otherwise_is_the_judge(log: Log) -> None:
    """Equal words with another verdict under the same rubric and gold leave only the judge."""
    log.open("again")
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.trial(question)
        log.judge(question, "judged", "incorrect" if question == "q4" else "correct")
    assert parts(way(log, RUN, "again")) == {"judge": ("0", 2)}


def test_c31_an_override_is_a_step_of_its_own(log: Log) -> None:
    """A person's decision in either run is told apart from what the judge said."""
    right: dict[str, Any] = {"judgment": "o1", "replaces": "j1", "reason": "seen again"}
    right["verdict"] = "correct"
    log.act("judgment.overridden", "q5", **right)
    log.open("again")
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.trial(question)
        log.judge(question, "judged", "incorrect" if question == "q5" else "correct")
    log.act("judgment.overridden", "q1", **{**right, "verdict": "incorrect"})
    found = way(log, RUN, "again")
    assert parts(found) == {"override": ("-1/5", 2)}
    first = found.changes[0]
    assert first.old is not None
    assert first.new is not None
    assert (first.old.by, first.new.by, first.new.grader) == ("model", "human", "Ada")


def test_an_undecided_trial_is_lost_at_the_lower_end_only(log: Log) -> None:
    """A judge that failed takes a point from the lower end and none from the upper."""
    log.open("again")
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.trial(question)
        if question != "q1":
            log.judge(question, "judged", "incorrect" if question == "q5" else "correct")
    found = way(log, RUN, "again")
    assert parts(found) == {"lost to errors": ("-1/10", 1)}
    assert (found.low, found.high) == ("-1/10", "0")


def test_c12_later_events_of_the_same_trials_are_told_apart(log: Log) -> None:
    """A derived run sees its parent to a link; what happened to a trial afterwards is named."""
    log.trial("q6", outcome=None, answer="Ur")
    with log.model() as model:
        link = model.run(RUN).links
    log.act("trial.finished", "q6", outcome="errored")
    log.open("again", derived_from={"run": RUN, "link": link}, reason="the first part")
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.judge(question, "judged", "incorrect" if question == "q5" else "correct")
    assert parts(way(log, RUN, "again")) == {}
    with log.model() as model:
        ends = [end_of(model, model.run(run), "judged") for run in (RUN, "again")]
        found = bridge(*ends)
    assert isinstance(found, Bridge)
    assert [(change.slot, change.moves) for change in found.changes] == [("q6#1", [])]


def test_c14_a_stricter_rule_is_named(log: Log) -> None:
    """What a rule of the rubric moved is told with the rule, before and after."""
    log.ledger.freeze([small_rubric(version="2", metrics=STRICTER)])
    with log.model() as model:
        link = model.run(RUN).links
    log.open(
        "again", rubric="quality@2", derived_from={"run": RUN, "link": link}, reason="stricter"
    )
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.judge(question, "judged", "incorrect" if question == "q5" else "correct")
    found = way(log, RUN, "again")
    assert parts(found) == {"rubric": ("-1/10", 1)}
    assert found.changes[0].moves[0].because == ["outcomes.incorrect: 0 -> -1"]
    assert found.rubric == ['scale: ["0","1"] -> ["-1","1"]', "outcomes.incorrect: 0 -> -1"]


STRICTER = {
    "exact": {"measure": "fact.correctness"},
    "judged": {
        "measure": "verdict",
        "grader": "judge",
        "scale": ["-1", "1"],
        "interval": "cluster-t",
        "outcomes": {"incorrect": {"score": "-1"}},
    },
}


def derived(log: Log, run: str, **fields: object) -> None:
    """Open a run that judges the trials of the first one again; what follows is written to it."""
    with log.model() as model:
        link = model.run(RUN).links
    log.open(run, derived_from={"run": RUN, "link": link}, reason="again", **fields)


def test_c12_what_happened_to_a_trial_afterwards_is_a_step(tmp_path: Path) -> None:
    """Unfinished at the link, errored now: neither the rubric nor a judge moved it."""
    outcomes = {**outcome_table(), "unfinished": {"score": "1/2"}}
    log = Log(tmp_path, rubric={"outcomes": outcomes})
    log.trial("q1", outcome=None)
    derived(log, "again")
    log.run = RUN
    log.act("trial.finished", "q1", outcome="errored")
    assert parts(way(log, RUN, "again")) == {"later events": ("1/20", 1)}
    assert parts(way(log, "again", RUN)) == {"later events": ("-1/20", 1)}
    log.ledger.close()


def test_c14_rubric_and_gold_that_changed_at_once_are_named_together(tmp_path: Path) -> None:
    """Nobody judged under one without the other; where gold is the same it is the rubric."""
    log = fates_log(tmp_path)
    judge_run(log.ledger, RUN)
    log.ledger.freeze([corrected(gold={"q2": "Ur"})])
    found = derive_run(log.ledger, revision(rubric=lax(), dataset="example@2"))
    with log.model() as model:
        ends = [end_of(model, model.run(run), "exact") for run in (RUN, found.run)]
        exact = bridge(*ends)
    assert isinstance(exact, Bridge)
    assert parts(exact) == {"rubric": ("3/20", 2), "rubric and gold": ("1/10", 1)}
    because = {change.slot: change.moves[0].because for change in exact.changes}
    grader = "grader: normalised-match@1 -> includes@1"
    assert because == {
        "q2#1": [grader], "q3#1": [grader], "q5#1": ["outcomes.trial_errored: 0 -> 1/2"],
    }  # fmt: skip
    log.ledger.close()


def test_c28_another_prompt_and_other_gold_are_named_together(log: Log) -> None:
    """A judge's verdict under both says nothing of one alone; the prompt is named, not shown."""
    judge = {"model": "judge-model", "endpoint": "judge", "prompt": "{answer}?"}
    log.ledger.freeze([corrected(gold={"q1": "Ur"}), revised(judge=judge)])
    derived(log, "again", rubric="quality@2", dataset="example@2")
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.judge(question, "judged", "incorrect")
    found = way(log, RUN, "again")
    assert parts(found) == {"rubric and gold": ("-1/10", 1), "judge": ("-3/10", 3)}
    assert found.rubric == ["judge: its model, prompt or sampling"]
    assert found.changes[0].moves[0].because == found.rubric


def test_settings_that_changed_are_named_one_by_one(log: Log) -> None:
    """Those of one grader; long values are cut, those of another grader mean nothing here."""
    old = {"measure": "verdict", "grader": "outside@1", "options": {"a": "x" * 50, "b": 1, "c": []}}
    new = {**old, "options": {"a": "y", "b": 1, "d": True}}
    other = {**new, "grader": "elsewhere@2"}
    for version, metric in (("2", old), ("3", new), ("4", other)):
        metrics = {"exact": {"measure": "fact.correctness"}, "judged": metric}
        log.ledger.freeze([revised(version=version, metrics=metrics)])
        derived(log, f"again-{version}", rubric=f"quality@{version}")
        log.judge("q1", "judged", "incorrect" if version == "3" else "correct")
    found = way(log, "again-2", "again-3")
    assert found.rubric == [
        f"options.a: {'x' * 39}… -> y", "options.c: [] -> none", "options.d: none -> true",
    ]  # fmt: skip
    assert parts(found) == {"rubric": ("-1/10", 1)}
    assert found.changes[0].moves[0].because == found.rubric
    assert way(log, "again-3", "again-4").rubric == ["grader: outside@1 -> elsewhere@2"]


def test_another_kind_of_mean_is_the_rubric_without_a_slot(tmp_path: Path) -> None:
    """Where questions have unequal numbers of trials that count; no slot of its own is moved."""
    log = Log(tmp_path, manifest={"repetitions": 2})
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.act("trial.started", "q1", input="which?", repetition=2)
    log.act("trial.invalidated", "q1", reason="the wrong prompt", repetition=2)
    judged = {"measure": "verdict", "grader": "judge", "aggregate": "trial-mean"}
    metrics = {"exact": {"measure": "fact.correctness"}, "judged": judged}
    log.ledger.freeze([revised(metrics=metrics)])
    derived(log, "again", rubric="quality@2")
    log.judge("q1", "judged", "correct")
    found = way(log, RUN, "again")
    assert (value(found.old.low), value(found.new.low)) == (Fraction(1, 10), Fraction(1, 19))
    assert parts(found) == {"rubric": ("-9/190", 0)}
    assert found.rubric == ["aggregate: question-mean -> trial-mean"]
    log.ledger.close()


def test_a_stage_that_would_not_count_leaves_its_part_to_the_next(log: Log) -> None:
    """Under the new rules the old verdict leaves the denominator, the new one stays in it."""
    outcomes = {**outcome_table(), "incorrect": {"denominator": False}}
    judge = {"model": "judge-model", "endpoint": "judge", "prompt": "{answer}?"}
    log.ledger.freeze([revised(outcomes=outcomes, judge=judge)])
    derived(log, "again", rubric="quality@2")
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.judge(question, "judged", "correct")
    assert parts(way(log, RUN, "again")) == {"judge": ("1/10", 1)}


def test_from_an_error_to_an_open_verdict_and_back(log: Log) -> None:
    """Both are losses; an open verdict is worth more than an error that scores nothing."""
    log.trial("q6", outcome="errored", answer=None)
    log.open("again")
    for question in ("q1", "q2", "q3", "q4", "q5", "q6"):
        log.trial(question)
        if question != "q6":
            log.judge(question, "judged", "incorrect" if question == "q5" else "correct")
    there, back = way(log, RUN, "again"), way(log, "again", RUN)
    assert parts(there) == {"regained": ("0", 1)}
    assert parts(back) == {"lost to errors": ("0", 1)}
    assert (there.high, back.high) == ("1/10", "-1/10")


def test_two_metrics_by_label_are_led_from_one_to_the_other(tmp_path: Path) -> None:
    """The old verdicts stand under the other metric's rules first; then its own take over."""
    strict = {
        "measure": "verdict", "grader": "judge", "outcomes": {"incorrect": {"score": "1/2"}},
    }  # fmt: skip
    metrics = {"exact": {"measure": "fact.correctness"}, "judged": strict, "usual": {
        "measure": "verdict", "grader": "judge"}}  # fmt: skip
    log = Log(tmp_path, rubric={"metrics": metrics})
    for question in ("q1", "q2"):
        log.trial(question)
        log.judge(question, "usual", "incorrect")
    log.judge("q1", "judged", "incorrect", name="j2")
    log.judge("q2", "judged", "correct", name="j2")
    log.trial("q3")
    log.act(
        "judgment.failed", "q3", judgment="j1", metric="usual", reason="lost_in_source",
    )  # fmt: skip
    with log.model() as model:
        found = bridge(*(end_of(model, model.run(RUN), name) for name in ("usual", "judged")))
    assert isinstance(found, Bridge)
    assert parts(found) == {"rubric": ("1/10", 2), "judge": ("1/20", 1)}
    assert [change.slot for change in found.changes] == ["q1#1", "q2#1", "q3#1"]
    log.ledger.close()


def test_c08_another_value_for_empty_sets_is_the_rubric(tmp_path: Path) -> None:
    """A list metric is scored by it, so that no judge is suspected."""
    recall = {"measure": "list.recall", "grader": "outside@1", "shapes": ["list"]}
    ends = []
    for value in ("0", "1"):
        case = dict.fromkeys(("precision", "recall", "f1"), value)
        cases = dict.fromkeys(("both_empty", "answer_empty", "gold_empty"), case)
        ends.append(small_rubric(metrics={"judged": recall}, primary="judged", empty_sets=cases))
    log = Log(tmp_path)
    with log.model() as model:
        known = [end_of(model, model.run(RUN), "judged") for _ in ends]
    old, new = (
        replace(end, source=replace(end.source, rubric=rubric))
        for end, rubric in zip(known, ends, strict=True)
    )
    assert changed_givers(old, new) == [
        f"empty_sets.{case}: 0 -> 1" for case in ("answer_empty", "both_empty", "gold_empty")
    ]
    log.ledger.close()


def test_abstentions_without_words_are_not_the_same_answer(log: Log) -> None:
    """Nothing was said, so nothing can be compared: another verdict on it is another answer's."""
    for run, verdict in ((RUN, "correct"), ("again", "incorrect")):
        if run == "again":
            log.open(run)
        log.act("trial.started", "q6", input="which?")
        log.act("answer.submitted", "q6", abstained=True)
        log.act("trial.finished", "q6", outcome="abstained")
        log.judge("q6", "judged", verdict)
    assert parts(way(log, RUN, "again"))["answers changed"] == ("-1/10", 1)


def test_c16_slots_of_one_run_only_are_the_denominator(log: Log) -> None:
    """A trial invalidated before it ended leaves the denominator, which is a step of its own."""
    log.open("again")
    for question in ("q1", "q2", "q3", "q4", "q5"):
        log.trial(question)
        log.judge(question, "judged", "incorrect" if question == "q5" else "correct")
    log.trial("q6", outcome=None)
    log.act("trial.invalidated", "q6", reason="the wrong prompt")
    found = way(log, RUN, "again")
    assert parts(found) == {"denominator": ("2/45", 1)}
    assert value(found.new.low) == Fraction(4, 9)


def test_no_number_no_bridge(tmp_path: Path) -> None:
    """A metric without a number is named with the reason."""
    with policy_ledger(tmp_path) as ledger:
        append_random(ledger, "one", "usual-first-all", {})
        with read_side(ledger) as model:
            ends = [end_of(model, model.run("one"), name) for name in ("recall", "judged")]
            found = bridge(*ends)
    assert found == "recall of one is unavailable: 1 of 2 gold lists not exhaustive"


def test_a_part_that_is_left_out_is_noticed(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of the parts is compared with the numbers themselves, so it can fail."""
    log.open("again")
    monkeypatch.setattr(Walk, "counting_alone", lambda _: 0)
    whole = Walk.moves
    monkeypatch.setattr(
        Walk, "moves", lambda self, old, new: itertools.islice(whole(self, old, new), 0)
    )
    found = way(log, RUN, "again")
    assert total(found.steps, "low") != value(found.new.low) - value(found.old.low)
    assert len(ANSWERS) == found.old.low.count
