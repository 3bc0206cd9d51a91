"""What a trial or a failure does to each metric: as it is, and had it been right."""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ledger_cases import RUN
from naive_policy import Plan, Slot, bounds, number, rule_of, slots_of
from policy_cases import (
    CONFIGURATIONS,
    METRICS,
    QUESTIONS,
    REPETITIONS,
    append_random,
    plan_of,
    policy_ledger,
    read_side,
)
from run_cases import Session, runs
from trace_cases import Story, effects
from trial_ledger.book import Ledger
from trial_ledger.submission import Submission
from trial_projections.aggregate import Range
from trial_projections.cells import MetricRules
from trial_projections.reading import ReadModel
from trial_projections.trace import Trace, trace
from trial_projections.trace_lookup import find_target

NAMES = itertools.count()
EXAMPLES = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RunPlan = dict[tuple[str, int], list[Session]]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger to which every example appends a run of its own."""
    with policy_ledger(tmp_path_factory.mktemp("effects")) as made:
        yield made


def configured_runs() -> st.SearchStrategy[tuple[str, RunPlan]]:
    """Return a configuration and a random run of it."""

    def with_run(name: str) -> st.SearchStrategy[tuple[str, RunPlan]]:
        return st.tuples(
            st.just(name), runs(QUESTIONS[CONFIGURATIONS[name][2]], REPETITIONS, tuple(METRICS))
        )

    return st.sampled_from(tuple(CONFIGURATIONS)).flatmap(with_run)


def with_one_right(
    plan: Plan, events: list[Submission], name: str, *, slot: tuple[str, int], session: str
) -> list[Slot] | None:
    """Return a naive copy of a metric's slots with one of them right; None where it has no part."""
    metric = plan.rubric["metrics"][name]
    slots = slots_of(plan, events, name)
    asked = [question for question in plan.shapes if question in {one.question for one in slots}]
    if slot[0] not in asked:
        return None
    place = asked.index(slot[0]) * plan.repetitions + slot[1] - 1
    here = slots[place]
    if here.session is None or here.outcome == "invalidated":
        return None
    keys = {event.trial.session for _, event in here.session.events if event.trial is not None}
    if keys != {session}:
        return None
    right = number(metric.get("scale", ("0", "1"))[1])
    counts = True
    if metric["measure"] == "verdict":
        rule = rule_of(plan, metric, "correct")
        right, counts = number(rule["score"]), rule["denominator"]
    return [
        *slots[:place],
        Slot(here.question, "correct", right, counts, True, here.invalidated),
        *slots[place + 1 :],
    ]


def ends(found: Range | None) -> tuple[Fraction | None, Fraction | None]:
    """Return the two ends of a number."""
    if found is None or found.low.value is None or found.high.value is None:
        return None, None
    return Fraction(found.low.value), Fraction(found.high.value)


def differences(
    model: ReadModel, run: str, configuration: str, events: list[Submission]
) -> Iterator[str]:
    """Yield where the numbers of a trial's trace are not those of scoring a copy anew."""
    plan = plan_of(configuration)
    trials = {event.trial for event in events if event.trial is not None}
    for key in sorted(trials):
        found = trace(model, find_target(model, f"{run}/{key}"))
        for effect in found.effects:
            where = f"{key} {effect.metric}"
            slots = with_one_right(plan, events, effect.metric, slot=key.slot, session=key.session)
            real = slots_of(plan, events, effect.metric)
            if effect.why == "unavailable":
                yield from () if effect.as_it_is is None else [f"{where}: a number of none"]
            elif ends(effect.as_it_is) != bounds(plan, effect.metric, real):
                yield f"{where}: as it is {effect.as_it_is}"
            elif slots is None:
                yield from [] if effect.ground == "none" else [f"{where}: it has no part"]
            elif ends(effect.had_it_been_right) != bounds(plan, effect.metric, slots):
                yield f"{where}: had it been right {effect.had_it_been_right}"


@EXAMPLES
@given(case=configured_runs())
def test_c34_had_it_been_right_is_scoring_a_copy_anew(
    ledger: Ledger, case: tuple[str, RunPlan]
) -> None:
    """Exactly, for every trial, metric, policy and session; and nothing where it has no part."""
    name = f"run-{next(NAMES)}"
    events = append_random(ledger, name, case[0], case[1])
    with read_side(ledger) as model:
        assert list(differences(model, name, case[0], events)) == []


def score_the_worst(patch: pytest.MonkeyPatch) -> None:
    """Take wrong for right."""
    patch.setattr(
        MetricRules,
        "right",
        lambda rules, _: rules.new_cell(
            "incorrect", None, judged=True, invalidated=False, leaked=False
        ),
    )


def change_another_slot(patch: pytest.MonkeyPatch) -> None:
    """Change the last slot of the question instead of the trial's."""
    from trial_projections import trace_effect  # noqa: PLC0415 - to be changed

    real = trace_effect.had_it_been_right
    patch.setattr(
        trace_effect,
        "had_it_been_right",
        lambda source, name, tally, placed, _: real(
            source,
            name,
            tally,
            placed,
            [slot for slot in placed if slot.trial is not None][-1],
        ),
    )


def ignore_sessions(patch: pytest.MonkeyPatch) -> None:
    """Let a session that does not count have an effect."""
    from trial_projections import trace_effect  # noqa: PLC0415 - to be changed

    patch.setattr(
        trace_effect,
        "why_away",
        lambda here, _: None if here is not None and here.trial is not None else "not_planned",
    )


@pytest.mark.parametrize("plant", [score_the_worst, change_another_slot, ignore_sessions])
def test_a_planted_fault_is_found(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """The comparison has teeth."""
    cases: list[tuple[str, str, list[Submission]]] = []

    @settings(EXAMPLES, max_examples=12, phases=[Phase.generate], derandomize=True, database=None)
    @given(case=configured_runs())
    def collect(case: tuple[str, RunPlan]) -> None:
        name = f"run-{next(NAMES)}"
        cases.append((name, case[0], append_random(ledger, name, case[0], case[1])))

    collect()
    with read_side(ledger) as model:
        sound = [fault for case in cases for fault in differences(model, *case)]
        assert sound == []
        plant(monkeypatch)
        assert any(fault for case in cases for fault in differences(model, *case))


def failed(story: Story, impact: str = "trial_failed", **data: object) -> None:
    """Let a search of the trial fail for good."""
    story.call("12:00:01.000000", "c1")
    story.fail("12:00:02.000000", "f1", "c1", impact=impact, **data)


def whys(found: Trace) -> dict[str, tuple[str, str]]:
    """Return ground and reason by metric."""
    return {name: (effect.ground, effect.why) for name, effect in effects(found).items()}


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A run with one trial begun."""
    made = Story(tmp_path)
    made.start()
    return made


def test_a_trial_that_was_lost_by_a_failure(story: Story) -> None:
    """Every metric lost it, by exactly one slot of ten."""
    failed(story)
    story.end("12:00:03.000000", "errored")
    found = effects(story.trace("f1"))
    assert {effect.ground for effect in found.values()} == {"lost"}
    before, after = found["exact"].as_it_is, found["exact"].had_it_been_right
    assert ends(before) == (Fraction(0), Fraction(0))
    assert ends(after) == (Fraction(1, 10), Fraction(1, 10))
    assert (found["exact"].outcome, found["exact"].score) == ("search_provider_fault", "0")


@pytest.mark.parametrize(
    ("impact", "expected"),
    [
        ("none", ("none", "impact_none")),
        ("degraded", ("possible", "impact_degraded")),
        ("unknown", ("possible", "impact_unknown")),
        ("trial_failed", ("possible", "impact_trial_failed")),
    ],
)
def test_a_trial_that_was_judged_was_not_lost(
    story: Story, impact: str, expected: tuple[str, str]
) -> None:
    """What a failure did to its answer is known only where somebody said that it did nothing."""
    failed(story, impact)
    story.end("12:00:03.000000", "answered")
    story.judge("q1", "exact", "0")
    assert whys(story.trace("f1"))["exact"] == expected
    assert effects(story.trace("f1"))["exact"].judged
    story.tell(None, "failure.recovered", occurrence="f1", by="retry")
    assert whys(story.trace("f1"))["exact"] == ("none", "recovered")
    assert effects(story.trace("f1"))["exact"].had_it_been_right is None


def test_a_judges_failure_touches_only_what_it_judges(story: Story) -> None:
    """The metric without its judgment is lost until another pass gives one."""
    story.end("12:00:03.000000", "answered")
    story.judge("q1", "exact", "1")
    story.tell(None, "failure.occurred", occurrence="g1", class_="judge_error", fault="judge")
    story.tell(None, "failure.occurred", occurrence="g2", class_="judge_error", fault="judge")
    story.tell(
        None, "judgment.failed", judgment="j2", metric="judged", reason="judge_failed",
        occurrence="g1",
    )  # fmt: skip
    assert whys(story.trace("g1")) == {
        "exact": ("none", "judging_only"),
        "judged": ("lost", "judgment_failed"),
    }
    assert {ground for ground, _ in whys(story.trace("g2")).values()} == {"none"}
    story.judge("q1", "judged", "correct", name="j3", pass_=2)
    assert whys(story.trace("g1"))["judged"] == ("none", "judging_only")


def test_only_the_session_that_counts_has_an_effect(story: Story) -> None:
    """One that gave way has none; nor has a trial that was invalidated before its end."""
    failed(story)
    story.tell(None, "trial.started", session="s2", input="which?")
    story.end("12:00:03.000000", "errored")
    assert whys(story.trace("q1#1@s2"))["exact"] == ("none", "other_session")
    assert whys(story.trace("q1#1@s1"))["exact"] == ("lost", "trial_itself")
    story.start("q2")
    story.act("trial.invalidated", "q2", reason="the page was down")
    assert whys(story.trace("q2#1"))["exact"] == ("none", "invalidated")


def test_of_several_failures_the_strongest_decides(story: Story) -> None:
    """A call that failed twice lost the trial where either did."""
    failed(story, "none")
    story.tell(
        None, "failure.occurred", occurrence="f2", class_="timeout", call="c1",
        impact="trial_failed",
    )  # fmt: skip
    story.end("12:00:03.000000", "errored")
    assert whys(story.trace("c1"))["exact"] == ("lost", "trial_lost")


def test_a_trial_that_never_started_has_no_part(story: Story) -> None:
    """Its failures are kept, and lost nothing but what was not started anyway."""
    story.tell(None, "failure.occurred", "q3", occurrence="f3", class_="environment")
    assert whys(story.trace("f3"))["exact"] == ("none", "not_started")


def test_a_metric_of_other_shapes_and_one_without_a_number(tmp_path: Path) -> None:
    """Neither has an effect; each says why."""
    metrics = {
        "exact": {"measure": "fact.correctness"},
        "listed": {"measure": "score", "grader": "source", "shapes": ["list"]},
    }
    story = Story(tmp_path, rubric={"metrics": metrics, "judge": None})
    story.start()
    found = effects(story.trace("q1#1"))
    assert (found["listed"].why, found["listed"].outcome) == ("unavailable", None)
    assert found["exact"].ground == "lost"


def test_a_right_answer_may_leave_nothing_that_counts(tmp_path: Path) -> None:
    """Where the rubric takes right answers out of the only slot there is."""
    metrics = {
        "odd": {
            "measure": "verdict",
            "grader": "judge",
            "outcomes": {"correct": {"denominator": False}},
        }
    }
    story = Story(
        tmp_path,
        rubric={"metrics": metrics, "primary": "odd"},
        manifest={"questions": ["q1"]},
    )
    story.start()
    effect = effects(story.trace("q1#1"))["odd"]
    assert (effect.ground, effect.had_it_been_right) == ("lost", None)
    assert effect.as_it_is is not None


def test_the_best_score_is_the_low_end_where_lower_is_better(tmp_path: Path) -> None:
    """And the high end elsewhere; a label counts by its rule."""
    metrics = {
        "errors": {
            "measure": "score", "grader": "source", "scale": ["-2", "3"], "direction": "lower",
        },
        "quality": {"measure": "score", "grader": "source", "scale": ["-2", "3"]},
    }  # fmt: skip
    story = Story(tmp_path, rubric={"metrics": metrics, "primary": "errors", "judge": None})
    story.start()
    with story.model() as model:
        source = model.score_input(model.run(RUN))
    (trial,) = source.sessions["q1", 1]
    best = {name: MetricRules(source.rubric, name).right(trial).score for name in metrics}
    assert best == {"errors": "-2", "quality": "3"}
