"""Every number of every metric, compared with a slow and obvious reading of the policy."""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from naive_policy import Slot, metric_numbers
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
from trial_ledger.book import Ledger
from trial_projections import aggregate, cells
from trial_projections.aggregate import Range, Share, View
from trial_projections.records import SessionRecord
from trial_projections.scores import MetricScore, score_run

NAMES = itertools.count()
RunPlan = dict[tuple[str, int], list[Session]]

EXAMPLES = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger to which every example appends a run of its own."""
    with policy_ledger(tmp_path_factory.mktemp("policy")) as made:
        yield made


def configured_runs() -> st.SearchStrategy[tuple[str, RunPlan]]:
    """Return a configuration and a random run of it."""

    def with_run(name: str) -> st.SearchStrategy[tuple[str, RunPlan]]:
        questions = QUESTIONS[CONFIGURATIONS[name][2]]
        plans = runs(questions, REPETITIONS, (*METRICS, "judged", "judged", "judged"))
        return st.tuples(st.just(name), plans)

    return st.sampled_from(tuple(CONFIGURATIONS)).flatmap(with_run)


class Appended(NamedTuple):
    """A run in the ledger, and its numbers by the naive reading."""

    name: str
    expected: dict[str, dict[str, Any]]


def appended(ledger: Ledger, configuration: str, plan: RunPlan) -> Appended:
    """Append a run; return it with every number that its metrics must have."""
    name = f"run-{next(NAMES)}"
    events = append_random(ledger, name, configuration, plan)
    reading = plan_of(configuration)
    return Appended(name, {metric: metric_numbers(reading, events, metric) for metric in METRICS})


def differences(ledger: Ledger, run: Appended) -> list[str]:
    """Return where the scores of a run are not those of the naive reading."""
    with read_side(ledger) as model:
        found = score_run(model.score_input(model.run(run.name)))
    assert set(found) == set(METRICS)
    return [
        f"{metric}: {fault}"
        for metric, score in found.items()
        for fault in faults(score, run.expected[metric])
    ]


def faults(score: MetricScore, expected: dict[str, Any]) -> Iterator[str]:
    """Yield every number of a metric that is another one."""
    plain = (
        "planned", "denominator", "decided", "by_rule", "undecided", "missing", "gate_decided",
        "outcomes", "invalidated_after", "leaked", "retried",
    )  # fmt: skip
    for name in plain:
        if getattr(score, name) != expected[name]:
            yield f"{name} {getattr(score, name)}, expected {expected[name]}"
    if Fraction(score.undecided_share) != expected["undecided_share"]:
        yield f"undecided_share {score.undecided_share}, expected {expected['undecided_share']}"
    if expected["unavailable"]:
        if score.unavailable is None or score.headline is not None or score.sensitivity:
            yield "a number where there can be none"
        return
    if score.unavailable is not None or score.headline is None:
        yield f"unavailable: {score.unavailable}"
        return
    views = {"headline": score.headline, **score.sensitivity}
    if set(views) != set(expected["views"]):
        yield f"views {sorted(views)}, expected {sorted(expected['views'])}"
        return
    for name, found in views.items():
        members = [slot for slot in expected["members"][name] if slot.counts]
        yield from range_faults(name, found, expected["views"][name], members, score.aggregate)


def range_faults(
    name: str,
    found: Range,
    expected: tuple[Fraction | None, Fraction | None],
    members: list[Slot],
    rule: str,
) -> Iterator[str]:
    """Yield what is wrong with a range: its ends, and the sums and counts they come from."""
    per_question = {slot.question: 0 for slot in members}
    for slot in members:
        per_question[slot.question] += 1
    uneven = rule == "question-mean" and len(set(per_question.values())) > 1
    unit, count = ("questions", len(per_question)) if uneven else ("trials", len(members))
    for share, value in zip((found.low, found.high), expected, strict=True):
        if (share.unit, share.count) != (unit, count):
            yield f"{name} counts {share.count} {share.unit}, expected {count} {unit}"
        if value_of(share) != value or share.value != (None if value is None else str(value)):
            yield f"{name} {share.value} = {share.sum}/{share.count}, expected {value}"


def value_of(share: Share) -> Fraction | None:
    """Return the quotient of a share's parts."""
    return Fraction(share.sum) / share.count if share.count else None


@EXAMPLES
@given(case=configured_runs())
def test_c20_every_number_is_that_of_the_policy(ledger: Ledger, case: tuple[str, RunPlan]) -> None:
    """Denominator, decided, ranges, sensitivity, sessions: equal to the last digit."""
    assert differences(ledger, appended(ledger, *case)) == []


def judge_refusals(patch: pytest.MonkeyPatch) -> None:
    """Let a judgment count where the trial was refused."""
    patch.setattr(cells, "BEFORE_JUDGMENT", frozenset({"cancelled", "filtered"}))
    patch.setattr(cells, "WITHOUT_JUDGMENT", {**cells.WITHOUT_JUDGMENT, "refused": "refused"})


def forget_errors(patch: pytest.MonkeyPatch) -> None:
    """Let a judgment count where the trial errored."""
    real = cells.outcome_before_judgment
    patch.setattr(
        cells,
        "outcome_before_judgment",
        lambda trial, rubric: (
            None if trial is not None and trial.outcome == "errored" else real(trial, rubric)
        ),
    )
    patch.setattr(cells, "WITHOUT_JUDGMENT", {**cells.WITHOUT_JUDGMENT, "errored": "trial_errored"})


def drop_invalidated(patch: pytest.MonkeyPatch) -> None:
    """Take every invalidated trial out of the denominator, whenever it was invalidated."""
    patch.setattr(
        cells,
        "is_invalidated_before",
        lambda trial: bool(trial.changes) and not trial.changes[-1].valid,
    )


def count_the_last_session(patch: pytest.MonkeyPatch) -> None:
    """Let the last session of a slot count."""
    patch.setattr(cells, "first_counting", lambda sessions, *_, **__: sessions[-1])
    patch.setattr("trial_projections.scores.first_counting", cells.first_counting)


def blame_the_first_failure(patch: pytest.MonkeyPatch) -> None:
    """Let the first failure decide the class of an errored trial."""
    real = cells.errored_class

    def first(trial: SessionRecord, rubric: Any) -> str:  # noqa: ANN401 - a rubric
        reversed_trial = SessionRecord(
            question=trial.question,
            repetition=trial.repetition,
            session=trial.session,
            occurrences=trial.occurrences[::-1],
        )
        return real(reversed_trial, rubric)

    patch.setattr(cells, "errored_class", first)


def ignore_overrides(patch: pytest.MonkeyPatch) -> None:
    """Let the first judgment decide although a person replaced it."""
    patch.setattr(
        cells,
        "standing_judgments",
        lambda trial, metric: [
            known for known in trial.judgments if known.metric == metric and known.replaces is None
        ],
    )


def ignore_majority(patch: pytest.MonkeyPatch) -> None:
    """Let the first pass decide although the rubric asks for a majority."""
    patch.setattr(
        cells, "deciding_judgment", lambda standing, **_: standing[0] if standing else None
    )


def drop_the_range(patch: pytest.MonkeyPatch) -> None:
    """Score what is undecided as wrong, as most tools do."""
    real = aggregate.views

    def views(scale: tuple[str, str]) -> dict[str, View]:
        table = real(scale)
        headline = table["headline"]

        def lowest(cell: cells.Cell) -> tuple[Fraction, Fraction] | None:
            ends = headline(cell)
            return None if ends is None else (ends[0], ends[0])

        return {**table, "headline": lowest}

    patch.setattr("trial_projections.scores.views", views)


def excuse_the_infrastructure(patch: pytest.MonkeyPatch) -> None:
    """Leave infrastructure faults out of worst and best."""
    patch.setattr(aggregate, "INFRASTRUCTURE_CLASSES", frozenset())


def average_trials(patch: pytest.MonkeyPatch) -> None:
    """Take the mean of trials where the rubric asks for that of questions."""
    real = aggregate.mean
    patch.setattr(
        "trial_projections.scores.mean",
        lambda profiles, view, **_: real(profiles, view, by_question=False),
    )


@pytest.fixture(scope="module")
def known_runs(ledger: Ledger) -> list[Appended]:
    """Runs that are the same in every execution of this test."""
    found: list[Appended] = []

    @settings(EXAMPLES, max_examples=60, phases=[Phase.generate], derandomize=True, database=None)
    @given(case=configured_runs())
    def collect(case: tuple[str, RunPlan]) -> None:
        found.append(appended(ledger, *case))

    collect()
    return found


def test_known_runs_have_no_fault(ledger: Ledger, known_runs: list[Appended]) -> None:
    """Without a planted fault there is no difference."""
    assert [fault for run in known_runs for fault in differences(ledger, run)] == []


@pytest.mark.parametrize(
    "plant",
    [
        judge_refusals,
        forget_errors,
        drop_invalidated,
        count_the_last_session,
        blame_the_first_failure,
        ignore_overrides,
        ignore_majority,
        drop_the_range,
        excuse_the_infrastructure,
        average_trials,
    ],
)
def test_a_planted_fault_is_found(
    ledger: Ledger,
    known_runs: list[Appended],
    monkeypatch: pytest.MonkeyPatch,
    plant: Callable[[pytest.MonkeyPatch], None],
) -> None:
    """The comparison has teeth: each of these faults makes it fail."""
    plant(monkeypatch)
    assert any(differences(ledger, run) for run in known_runs)
