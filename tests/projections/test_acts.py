"""What an act of a person changes: the number after it is what counting every trial anew gives."""

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ledger_cases import PERSON, RUN, small_rubric
from policy_cases import (
    CONFIGURATIONS,
    METRICS,
    QUESTIONS,
    REPETITIONS,
    append_random,
    policy_ledger,
)
from projection_cases import Log
from run_cases import Session, runs, value_of
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.keyed_file import projections_path
from trial_ledger.submission import Submission
from trial_projections import acts, reading
from trial_projections.acts import Seen, announced, look, mark_changes, metric_changes
from trial_projections.addresses import About, key_in
from trial_projections.aggregate import Profile
from trial_projections.reading import ReadModel
from trial_projections.scores import score_run

NAMES = itertools.count()
RunPlan = dict[tuple[str, int], list[Session]]
Plan = tuple[str, RunPlan, list[int]]
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger to which every example appends a run of its own; every tally of it is kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "LEAST_SLOTS", 1)
        with policy_ledger(tmp_path_factory.mktemp("acts")) as made:
            yield made


def plans() -> st.SearchStrategy[Plan]:
    """Return a configuration, a random run of it, and which acts follow."""

    def with_run(name: str) -> st.SearchStrategy[Plan]:
        questions = QUESTIONS[CONFIGURATIONS[name][2]]
        return st.tuples(
            st.just(name),
            runs(questions, REPETITIONS, (*METRICS, "judged")),
            st.lists(st.integers(0, 1000), min_size=1, max_size=4),
        )

    return st.sampled_from(tuple(CONFIGURATIONS)).flatmap(with_run)


def possible_acts(ledger: Ledger, run: str) -> list[tuple[About, Submission]]:
    """Return acts that the guards accept now: on the run, on its trials, on its judgments."""
    model = ReadModel.open(ledger)
    record = model.run(run)
    found = [standing_act(About(run=run), valid=record.is_valid)]
    for trial in model.trials(record):
        if trial.started is None:
            continue
        about = About(run=run, trial=key_in(model, run, trial))
        found.append(standing_act(about, valid=not trial.changes or trial.changes[-1].valid))
        for judgment in trial.judgments:
            if judgment.replaced_by is None:
                found += overrides(about, judgment.id, judgment.metric)
    model.close()
    return found


def standing_act(about: About, *, valid: bool) -> tuple[About, Submission]:
    """Return the act that changes how a run or trial stands."""
    scope = "run" if about.trial is None else "trial"
    kind = f"{scope}.{'invalidated' if valid else 'reinstated'}"
    return about, act(kind, about, reason="looked")


def overrides(about: About, judgment: str, metric: str) -> Iterator[tuple[About, Submission]]:
    """Yield decisions that may replace a judgment."""
    scope = About(run=about.run, trial=about.trial, judgment=judgment, metric=metric)
    for choice in range(3):
        data = {"judgment": f"{judgment}+", "replaces": judgment, "reason": "looked"}
        value = value_of(METRICS[metric], choice)
        yield scope, act("judgment.overridden", scope, **data, **value)


def act(kind: str, about: About, **data: object) -> Submission:
    """Return an event of a person."""
    return Submission(kind=kind, run=about.run, trial=about.trial, data=data, actor=PERSON)


def seen(model: ReadModel, about: About, earlier: Seen | None = None) -> Seen:
    """Look, and close the read side."""
    try:
        return look(model, about, earlier=earlier)
    finally:
        model.close()


def counted_anew(ledger: Ledger, run: str) -> dict[str, tuple[object, object, object]]:
    """Return headline, number without invalidated trials and why there is none, by metric."""
    model = ReadModel.open(ledger)
    scores = score_run(model.score_input(model.run(run)))
    model.close()
    return {
        name: (
            score.headline,
            score.sensitivity.get("without_invalidated"),
            score.unavailable,
        )
        for name, score in scores.items()
    }


def differences(ledger: Ledger, plan: Plan) -> list[str]:
    """Append a run and do some acts; return where a number differs from one counted anew."""
    configuration, run_plan, choices = plan
    run = f"run-{next(NAMES)}"
    append_random(ledger, run, configuration, run_plan)
    found: list[str] = []
    numbers = counted_anew(ledger, run)
    for choice in choices:
        possible = possible_acts(ledger, run)
        about, submission = possible[choice % len(possible)]
        before = seen(ReadModel.open(ledger), about)
        ledger.append(submission)
        after = seen(ReadModel.open(ledger), about, before)
        anew = counted_anew(ledger, run)
        for change in metric_changes(before, after, about):
            for value, expected in ((change.before, numbers), (change.after, anew)):
                ours = (value.headline, value.without_invalidated, value.unavailable)
                if ours != expected[change.metric]:
                    found.append(f"{submission.kind} {change.metric}: {ours}")
        numbers = anew
    return found


@EXAMPLES
@given(plans())
def test_c33_the_number_after_an_act_is_that_of_counting_anew(ledger: Ledger, plan: Plan) -> None:
    """Random runs, random acts one after the other: no digit differs, with and without tallies."""
    assert differences(ledger, plan) == []


def forgetful(
    tally: Counter[Profile],
    before: Profile | None,
    after: Profile | None,
) -> Counter[Profile]:
    """Count the question as it is now and leave in how it was."""
    return tally if before == after or after is None else tally + Counter([after])


def test_c33_a_tally_that_is_moved_wrongly_is_caught(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same comparison finds a planted fault."""
    monkeypatch.setattr(acts, "moved", forgetful)

    @settings(EXAMPLES, phases=[Phase.generate], database=None, max_examples=200)
    @given(plans())
    def compare(plan: Plan) -> None:
        assert differences(ledger, plan) == []

    with pytest.raises(BaseException) as caught:  # noqa: PT011 - one failure, or a group of them
        compare()
    failures = getattr(caught.value, "exceptions", [caught.value])
    assert {type(failure) for failure in failures} == {AssertionError}


@pytest.mark.parametrize("kept", [1, 1000], ids=["kept", "not kept"])
def test_what_is_foreseen_is_what_comes(
    log: Log, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """A dry run shows what the act then does, and leaves log and projections as they were."""
    monkeypatch.setattr(reading, "LEAST_SLOTS", kept)
    log.trial("q1")
    log.judge("q1", "judged", "incorrect")
    log.open("again", derived_from={"run": RUN, "link": 5}, reason="another rubric")
    run = About(run=RUN)
    with log.model() as model:
        trial = About(run=RUN, trial=key_in(model, RUN, model.trials(model.run(RUN))[0]))
    verdict = About(run=RUN, trial=trial.trial, judgment="j1", metric="judged")
    decision = {"judgment": "o1", "replaces": "j1", "verdict": "correct"}
    for about, submission in (
        (verdict, act("judgment.overridden", verdict, reason="it is", **decision)),
        (trial, act("trial.invalidated", trial, reason="wrong page")),
        (run, act("run.invalidated", run, reason="wrong")),
    ):
        before = seen(ReadModel.open(log.ledger), about)
        size = log.ledger.store.size()
        (found,) = log.ledger.append_all([Entry(submission=submission)], dry_run=True)
        event = announced(log.ledger, before.run, submission, found)
        foreseen = seen(ReadModel.foreseen(log.ledger, event), about, before)
        assert log.ledger.store.size() == size
        with log.model() as model:
            assert model.size == size
        log.ledger.append(submission)
        after = seen(ReadModel.open(log.ledger), about, before)
        assert foreseen.size == after.size == size + 1
        assert metric_changes(before, foreseen, about) == metric_changes(before, after, about)
        assert mark_changes(before, foreseen) == mark_changes(before, after)


def test_an_event_is_foreseen_without_stored_projections(log: Log) -> None:
    """They are folded for it, and forgotten."""
    log.trial("q1")
    about = About(run=RUN)
    submission = act("run.invalidated", about, reason="wrong")
    (found,) = log.ledger.append_all([Entry(submission=submission)], dry_run=True)
    with log.model(as_of=log.ledger.store.size()) as model:
        run = model.run(RUN)
    model = ReadModel.foreseen(log.ledger, announced(log.ledger, run, submission, found))
    assert not model.run(RUN).is_valid
    model.close()


def test_a_foresight_that_fails_leaves_no_file_open(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its transaction is given up, so that the next reader need not wait."""
    about = About(run=RUN)
    submission = act("run.invalidated", about, reason="wrong")
    (found,) = log.ledger.append_all([Entry(submission=submission)], dry_run=True)
    with log.model() as model:
        event = announced(log.ledger, model.run(RUN), submission, found)
    with monkeypatch.context() as patch:
        patch.setattr(log.ledger, "events", lambda **_: iter([None]))
        log.trial("q1")
        with pytest.raises(AttributeError):
            ReadModel.foreseen(log.ledger, event)
    with log.model() as model:
        assert model.size == log.ledger.store.size()


def test_c14_the_marks_of_derived_runs_come_and_go(log: Log) -> None:
    """Invalidating the parent marks what was derived from it; reinstating takes the mark away."""
    log.trial("q1")
    log.open("again", derived_from={"run": RUN, "link": 4}, reason="another rubric")
    about = About(run=RUN)
    for kind, gained in (("run.invalidated", True), ("run.reinstated", False)):
        before = seen(ReadModel.open(log.ledger), about)
        log.ledger.append(act(kind, about, reason="looked"))
        after = seen(ReadModel.open(log.ledger), about, before)
        own, derived = mark_changes(before, after)
        assert (own.run, derived.run) == (RUN, "again")
        more, fewer = (derived.after, derived.before) if gained else (derived.before, derived.after)
        assert [mark for mark in more if mark not in fewer] == [f"parent {RUN} invalidated"]


def test_c14_a_verdict_of_a_derived_run_moves_its_own_number(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trials are the parent's at the cited link, whatever became of them since."""
    monkeypatch.setattr(reading, "LEAST_SLOTS", 1)
    log.trial("q1")
    log.trial("q2")
    log.judge("q1", "judged", "correct")
    log.ledger.freeze([small_rubric(version="2")])
    log.open(
        "again", rubric="quality@2", derived_from={"run": RUN, "link": 8}, reason="another rubric"
    )
    log.judge("q1", "judged", "incorrect")
    log.ledger.append(
        act("trial.invalidated", key_about(log, "q1"), reason="after the link of the derived run")
    )
    about = key_about(log, "q1", run="again", judgment="j1")
    before = seen(ReadModel.open(log.ledger), about)
    decision = {"judgment": "o1", "replaces": "j1", "verdict": "correct"}
    log.ledger.append(act("judgment.overridden", about, reason="it is", **decision))
    after = seen(ReadModel.open(log.ledger), about, before)
    (change,) = metric_changes(before, after, about)
    anew = counted_anew(log.ledger, "again")["judged"]
    assert (change.after.headline, change.after.without_invalidated, None) == anew
    assert change.before.headline != change.after.headline
    assert mark_changes(before, after) == []


def key_about(log: Log, question: str, *, run: str = RUN, judgment: str | None = None) -> About:
    """Return what an act on a trial is about."""
    with log.model() as model:
        record = next(trial for trial in model.trials(model.run(RUN)) if trial.question == question)
        key = key_in(model, RUN, record)
    metric = None if judgment is None else "judged"
    return About(run=run, trial=key, judgment=judgment, metric=metric)


def test_a_run_in_which_nothing_counts_has_no_number(tmp_path: Path) -> None:
    """A rubric that counts no trial that was not started leaves no denominator."""
    log = Log(
        tmp_path,
        rubric={
            "metrics": {
                "judged": {
                    "measure": "verdict",
                    "outcomes": {"not_started": {"denominator": False}},
                }
            },
            "primary": "judged",
        },
    )
    about = About(run=RUN)
    before = seen(ReadModel.open(log.ledger), about)
    (change,) = metric_changes(before, before, about)
    assert change.before.unavailable == "no planned slot counts"
    assert change.before.headline is None
    log.ledger.close()


def test_an_event_is_foreseen_beside_a_file_that_cannot_be_used(log: Log) -> None:
    """The states are folded elsewhere and a note says so; the file is left alone."""
    warnings: list[str] = []
    log.ledger.tools = msgspec.structs.replace(log.ledger.tools, warn=warnings.append)
    path = projections_path(log.path)
    path.write_bytes(b"not a database at all" * 100)
    about = About(run=RUN)
    submission = act("run.invalidated", about, reason="wrong")
    (found,) = log.ledger.append_all([Entry(submission=submission)], dry_run=True)
    with log.model(as_of=log.ledger.store.size()) as model:
        run = model.run(RUN)
    model = ReadModel.foreseen(log.ledger, announced(log.ledger, run, submission, found))
    assert not model.run(RUN).is_valid
    model.close()
    assert [warning.partition(":")[0] for warning in warnings] == ["projections not used"]
    assert path.read_bytes() == b"not a database at all" * 100
