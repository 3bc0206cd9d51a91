"""Runs over the same questions: paired differences, tests, what bars a verdict (C12-C14, C35)."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_cases import RUN, small_dataset, small_manifest, small_rubric
from projection_cases import Log
from trial_ledger.documents.manifest import manifest_from_table
from trial_projections.comparison import compare
from trial_projections.comparison_structs import Comparison, Pair, PairedMetric

METRIC = "judged"
Answers = Sequence[str | None]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with frozen documents and an empty run."""
    return Log(tmp_path)


def answer(log: Log, verdicts: Answers, *, repetition: int = 1) -> None:
    """Append a trial for every verdict; None leaves it undecided."""
    for number, verdict in enumerate(verdicts, 1):
        question = f"q{number}"
        log.trial(question, repetition=repetition)
        if verdict is not None:
            log.append(
                "judgment.recorded",
                question,
                {
                    "judgment": f"j{repetition}",
                    "metric": METRIC,
                    "by": "model",
                    "verdict": verdict,
                    "grader": {"name": "judge", "version": "1"},
                },
                repetition=repetition,
            )


def closed(log: Log, status: str = "complete") -> None:
    """Close the run."""
    reason = {} if status == "complete" else {"reason": "that is enough"}
    log.append("run.closed", None, {"status": status, **reason})


def two(log: Log, first: Answers, second: Answers, **opening: object) -> None:
    """Append two runs that answered the same questions."""
    answer(log, first)
    closed(log)
    log.open("second", **opening)
    log.configuration = str(opening.get("manifest", log.configuration))
    answer(log, second)
    closed(log)


def compared(log: Log, *runs: str, metrics: Sequence[str] = (METRIC,)) -> Comparison:
    """Return the comparison of some runs."""
    with log.model() as model:
        return compare(model, [model.run(name) for name in runs or (RUN, "second")], metrics)


def pair_of(log: Log, *runs: str) -> Pair:
    """Return the only pair of a comparison."""
    (pair,) = compared(log, *runs).pairs
    return pair


def metric_of(log: Log, *runs: str) -> PairedMetric:
    """Return the only metric of the only pair."""
    (metric,) = pair_of(log, *runs).metrics
    return metric


RIGHT, WRONG = "correct", "incorrect"


def test_c35_questions_are_paired(log: Log) -> None:
    """Six became right of ten and one became wrong: exact McNemar, 7 of 7 signs counted."""
    two(log, [RIGHT, *[WRONG] * 9], [WRONG, *[RIGHT] * 6, *[WRONG] * 3])
    found = metric_of(log)
    assert (found.up, found.down, found.same, found.undecided) == (6, 1, 3, 0)
    assert [flip.question for flip in found.flips if flip.way == "down"] == ["q1"]
    assert found.flips[0].first_trials == [f"{RUN}/q1#1@s1"]
    assert found.flips[0].second_trials == ["second/q1#1@s1"]
    assert found.missing is None
    assert (found.low, found.high) == ("1/2", "1/2")
    assert (found.test, found.p) == ("sign-flip", "0.125")
    assert found.verdict == "no difference shown"
    assert found.error is not None
    assert found.unpaired_error is not None


def test_c35_a_difference_is_shown_where_the_test_says_so(log: Log) -> None:
    """Eight of ten became right: 2 in 256 by chance; turned round it is lower."""
    two(log, [WRONG] * 10, [*[RIGHT] * 8, *[WRONG] * 2])
    assert (metric_of(log).p, metric_of(log).verdict) == ("0.0078125", "higher")
    assert metric_of(log, "second", RUN).verdict == "lower"


def test_c35_what_is_undecided_widens_the_difference(log: Log) -> None:
    """A trial without a verdict may be right or wrong; the larger p-value is told."""
    two(log, [WRONG] * 10, [*[RIGHT] * 6, None, *[WRONG] * 3])
    found = metric_of(log)
    assert (found.low, found.high, found.undecided) == ("3/5", "7/10", 1)
    assert (found.p, found.verdict) == ("0.03125", "higher")
    assert found.error is None
    assert found.missing is not None
    assert (found.missing.first, found.missing.second, found.missing.lost_p) == (0, 1, None)
    assert (found.missing.low, found.missing.high) == (found.low, found.high)
    (flip,) = [flip for flip in found.flips if flip.way == "undecided"]
    assert (flip.question, flip.second_low, flip.second_high) == ("q7", "0", "1")


def test_c35_an_undecided_sign_shows_nothing(log: Log) -> None:
    """Where the difference may be none, no p-value speaks against none."""
    two(log, [*[RIGHT] * 3, *[WRONG] * 7], [*[None] * 9, WRONG])
    found = metric_of(log)
    assert (found.low, found.high) == ("-3/10", "3/5")
    assert (found.p, found.verdict) == ("1", "no difference shown")


def test_c35_questions_of_one_run_only_are_named(tmp_path: Path) -> None:
    """A question that is left out of one run's denominator is in no pair, and is told."""
    log = Log(tmp_path)
    answer(log, [RIGHT] * 10)
    closed(log)
    log.open("second")
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the wrong page was up")
    for question in ("q2", "q3"):
        log.trial(question)
        log.judge(question, METRIC, RIGHT)
    closed(log, "interrupted")
    found = metric_of(log)
    assert (found.pairs, found.only_first, found.only_second) == (9, ["q1"], [])
    assert metric_of(log, "second", RUN).only_second == ["q1"]


def test_c35_one_pair_or_none_has_no_test(tmp_path: Path) -> None:
    """One question has no spread, and without a pair there is no difference."""
    for count in (1, 0):
        folder = tmp_path / str(count)
        folder.mkdir()
        log = Log(folder)
        answer(log, [RIGHT] * 10)
        closed(log)
        log.open("second")
        for number in range(1, 11 - count):
            log.act("trial.started", f"q{number}", input="which?")
            log.act("trial.invalidated", f"q{number}", reason="the wrong page was up")
        if count:
            log.trial("q10")
            log.judge("q10", METRIC, WRONG)
        closed(log, "interrupted")
        found = compared(log)
        (metric,) = found.pairs[0].metrics
        assert (metric.pairs, metric.p, metric.verdict) == (count, None, None)
        if count:
            assert (metric.low, metric.reason) == ("-1", "one question has no spread")
            assert found.frontier is not None
        else:
            assert metric.low is None
            assert metric.reason == "no planned slot counts"
            assert found.frontier is None
            assert found.no_frontier == "no question counts in every run"


def test_c35_repetitions_are_means_of_their_question(tmp_path: Path) -> None:
    """Of three repetitions a mean moves by thirds; the signs of questions are flipped."""
    log = Log(tmp_path, manifest={"repetitions": 3})
    for verdicts in ([WRONG] * 4, [WRONG] * 4, [WRONG] * 4):
        answer(log, verdicts, repetition=1 + len(log_repetitions(log)))
    closed(log)
    log.open("second")
    for repetition, verdicts in enumerate(([RIGHT] * 4, [RIGHT] * 2 + [WRONG] * 2, [WRONG] * 4), 1):
        answer(log, verdicts, repetition=repetition)
    closed(log)
    found = metric_of(log)
    assert (found.low, found.up, found.pairs) == ("1/5", 4, 10)
    assert found.flips[0].second_low == "2/3"
    assert (found.test, found.p) == ("sign-flip", "0.125")


def log_repetitions(log: Log) -> set[int]:
    """Return which repetitions the run has so far."""
    with log.model() as model:
        return {trial.repetition for trial in model.trials(model.run(log.run))}


def test_c12_an_invalid_or_open_run_gives_no_verdict(log: Log) -> None:
    """The difference stays, without a test of it."""
    two(log, [WRONG] * 10, [RIGHT] * 10)
    log.run = RUN
    log.act("run.invalidated", reason="wrong prompt")
    pair = pair_of(log)
    assert pair.no_verdict == [f"{RUN} is invalid (C12)"]
    (metric,) = pair.metrics
    assert (metric.low, metric.p, metric.interval_low, metric.verdict) == ("1", None, None, None)
    assert metric.reason == "all questions score alike, which shows no spread"
    log.open("third")
    assert pair_of(log, "second", "third").no_verdict == ["third is still open"]
    assert compared(log, "second", "third").frontier is None
    assert compared(log, "second", "third").no_frontier == "third is still open"


def test_c13_pilot_and_final_are_never_compared(log: Log) -> None:
    """What was tuned on questions is no rival of what was measured on them."""
    log.ledger.freeze((small_manifest(phase="pilot", configuration="tuned"),))
    two(log, [WRONG] * 10, [RIGHT] * 10, manifest="tuned")
    pair = pair_of(log)
    assert pair.no_verdict == [f"{RUN} is final, second pilot: never compared (C13)"]
    assert [change.path for change in pair.settings] == ["configuration", "phase"]
    assert pair.settings[1].old == "final"


def test_c13_a_phase_that_nobody_recorded_is_told(log: Log) -> None:
    """An imported run may have been a pilot: the verdict stands under that reserve."""
    two(log, [WRONG] * 10, [RIGHT] * 10)
    table = {"configuration": "unsaid", "dataset": "example@1", "rubric": "quality@1"}
    log.ledger.freeze((manifest_from_table(table, source=None),))
    log.open("third", manifest="unsaid", entry="imported")
    log.configuration = "unsaid"
    answer(log, [RIGHT] * 10)
    closed(log)
    pair = pair_of(log, RUN, "third")
    assert (pair.notes, pair.no_verdict) == (
        ["nobody says whether third is pilot or final (C13)"], [],
    )  # fmt: skip
    assert pair_of(log).notes == []


def test_c14_across_rubrics_the_way_stands_instead_of_a_verdict(log: Log) -> None:
    """A rubric under which abstaining counts half moves the number without another answer."""
    answer(log, [RIGHT, "abstained", *[WRONG] * 8])
    closed(log)
    with log.model() as model:
        link = model.run(RUN).links
    outcomes = {METRIC: {"measure": "verdict", "grader": "judge",
                         "outcomes": {"abstained": {"score": "1/2"}}}}  # fmt: skip
    log.ledger.freeze((small_rubric(version="2", primary=METRIC, metrics=outcomes),))
    log.open("second", rubric="quality@2", reason="abstaining is half as bad",
             derived_from={"run": RUN, "link": link})  # fmt: skip
    for number, verdict in enumerate([RIGHT, "abstained", *[WRONG] * 8], 1):
        log.judge(f"q{number}", METRIC, verdict)
    closed(log)
    pair = pair_of(log)
    assert pair.no_verdict == ["other rubrics: quality@1, quality@2 (C14)"]
    (way,) = pair.bridges
    moved = {step.cause: step.low for step in way.steps if step.low != "0"}
    assert moved == {"rubric": "1/20"}


def test_another_dataset_gives_no_verdict(log: Log) -> None:
    """Questions of the same name may be other questions."""
    log.ledger.freeze(
        (small_dataset(version="2"), small_manifest(dataset="example@2", configuration="newer"))
    )
    answer(log, [RIGHT] * 10)
    closed(log)
    log.open("second", manifest="newer")
    log.configuration = "newer"
    answer(log, [RIGHT] * 10)
    closed(log)
    assert "other datasets: example@1, example@2" in pair_of(log).no_verdict


def test_c35_several_runs_are_adjusted_together(log: Log) -> None:
    """Two comparisons double the smaller p-value (Holm); one that gives no verdict still counts."""
    two(log, [WRONG] * 10, [*[RIGHT] * 6, *[WRONG] * 4])
    log.open("third")
    answer(log, [*[RIGHT] * 7, *[WRONG] * 3])
    closed(log)
    found = compared(log, RUN, "second", "third")
    values = [(pair.metrics[0].p, pair.metrics[0].p_adjusted) for pair in found.pairs]
    assert values == [("0.03125", "0.03125"), ("0.015625", "0.03125")]
    log.act("run.invalidated", reason="wrong prompt")
    found = compared(log, RUN, "second", "third")
    assert [pair.metrics[0].p_adjusted for pair in found.pairs] == ["0.0625", None]


def test_c35_the_primary_metric_is_a_family_of_its_own(tmp_path: Path) -> None:
    """Two runs: Holm doubles its smaller p-value, though another metric is looked at beside it."""
    log = Log(tmp_path, rubric={"primary": METRIC})
    two(log, [WRONG] * 10, [*[RIGHT] * 6, *[WRONG] * 4])
    log.open("third")
    answer(log, [*[RIGHT] * 2, *[WRONG] * 8])
    closed(log)
    found = compared(log, RUN, "second", "third", metrics=())
    told = [
        (metric.metric, metric.p, metric.p_adjusted, metric.adjusted_by, metric.family)
        for pair in found.pairs
        for metric in pair.metrics
    ]
    assert told == [
        (METRIC, "0.03125", "0.0625", "holm", 2), ("exact", "1", "1", "bh", 2),
        (METRIC, "0.5", "0.5", "holm", 2), ("exact", "1", "1", "bh", 2),
    ]  # fmt: skip


def test_runs_without_a_common_metric_have_nothing_to_compare(log: Log) -> None:
    """Their settings are shown all the same."""
    log.ledger.freeze((
        small_rubric(
            name="other", primary="o", metrics={"o": {"measure": "verdict", "grader": "judge"}}
        ),
        small_manifest(rubric="other@1", configuration="other"),
    ))  # fmt: skip
    closed(log)
    log.open("second", manifest="other")
    closed(log)
    found = compared(log, metrics=())
    assert (found.pairs[0].metrics, found.pairs[0].bridges) == ([], [])
    assert found.frontier is None
    assert found.no_frontier == "other rubrics: quality@1, other@1 (C14)"


MEANS = st.lists(st.sampled_from([RIGHT, WRONG, None, "abstained"]), min_size=2, max_size=5)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MEANS, MEANS)
def test_turned_round_a_comparison_is_the_same_with_other_signs(
    tmp_path_factory: pytest.TempPathFactory, first: Answers, second: Answers
) -> None:
    """And a run has no difference from itself under another name."""
    log = Log(tmp_path_factory.mktemp("book"))
    two(log, first, second)
    log.open("again")
    answer(log, first)
    closed(log)
    one, other = metric_of(log), metric_of(log, "second", RUN)
    assert one.low is not None
    assert one.high is not None
    assert other.low == str(-Fraction(one.high))
    assert (one.up, one.down, one.undecided) == (other.down, other.up, other.undecided)
    assert one.p == other.p
    mirrored: dict[str | None, str | None] = {"higher": "lower", "lower": "higher"}
    assert mirrored.get(one.verdict, one.verdict) == other.verdict
    same = metric_of(log, RUN, "again")
    assert (same.up, same.down, same.verdict) == (0, 0, "no difference shown")


def spend(log: Log, question: str, amount: str | None, duration: int | None) -> None:
    """Append a right trial that cost an amount of dollars and took a time; None is unknown."""
    log.act("trial.started", question, input="which?")
    log.act("call.started", question, call="c1", purpose="model", endpoint="model")
    end: dict[str, object] = {"call": "c1", "status": "ok"}
    if amount is not None:
        end["cost"] = {"amount": amount, "currency": "USD", "basis": "reported"}
    log.append("call.finished", question, end)
    log.act("answer.submitted", question, answer="Babylon")
    finished: dict[str, object] = {"outcome": "answered"}
    if duration is not None:
        finished["duration_us"] = duration
    log.append("trial.finished", question, finished)
    log.judge(question, METRIC, RIGHT)


def runs_of_costs(log: Log, *costs: tuple[str | None, int | None]) -> list[str]:
    """Append a run for every cost and time, which all its ten trials have."""
    names = []
    for number, (amount, duration) in enumerate(costs):
        if number:
            log.open(f"run-{number}")
        for question in range(1, 11):
            spend(log, f"q{question}", amount, duration)
        closed(log)
        names.append(log.run)
    return names


def test_c35_a_run_that_is_dearer_and_slower_is_beaten(log: Log) -> None:
    """As good, twice as dear and slow: in every replicate; equal ones both stay."""
    found = compared(log, *runs_of_costs(log, ("0.1", 5), ("0.2", 9), ("0.1", 5))).frontier
    assert found is not None
    assert found.axes == ["quality", "cost", "latency"]
    assert [(point.is_beaten, point.share) for point in found.points] == [
        (False, "1"), (True, "0"), (False, "1"),
    ]  # fmt: skip
    assert (found.points[0].cost.low, found.points[0].cost.high) == ("1/10", "1/10")
    assert (found.points[1].latency.low, found.currency) == ("9", "USD")


def test_c18_an_unknown_cost_beats_nothing_and_is_not_beaten(log: Log) -> None:
    """Nobody knows whether it is dear; of the other run nobody knows whether it is slow."""
    found = compared(log, *runs_of_costs(log, ("0.1", 5), (None, 5), ("0.1", None))).frontier
    assert found is not None
    assert [point.is_beaten for point in found.points] == [False, False, False]
    unknown = found.points[1].cost
    assert (unknown.low, unknown.high) == (None, None)
    assert (found.points[2].latency.low, found.points[2].latency.high) == (None, None)


def test_c18_what_is_known_of_no_run_is_no_axis(log: Log) -> None:
    """Otherwise nobody could be beaten in anything."""
    names = runs_of_costs(log, (None, 5), (None, 9))
    found = compared(log, *names).frontier
    assert found is not None
    assert (found.axes, found.currency) == (["quality", "latency"], None)
    assert [point.is_beaten for point in found.points] == [False, True]


def test_c18_a_cap_bounds_what_a_trial_can_have_cost(tmp_path: Path) -> None:
    """A dear run is beaten by one of unknown cost whose cap is low; open calls count."""
    log = Log(tmp_path, manifest={"budget": {"unknown_call_cap": "0.05"}})
    names = runs_of_costs(log, ("0.2", 5), (None, 5))
    log.open("open-call")
    for question in range(2, 11):
        spend(log, f"q{question}", "0.01", 5)
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c2", purpose="search", endpoint="search")
    closed(log, "interrupted")
    found = compared(log, *names, "open-call").frontier
    assert found is not None
    assert [(point.cost.low, point.cost.high) for point in found.points] == [
        ("1/5", "1/5"), ("0", "1/20"), ("9/1000", "7/500"),
    ]  # fmt: skip
    assert [point.is_beaten for point in found.points] == [True, False, False]


def test_c17_a_median_beyond_a_time_out_has_no_upper_end(tmp_path: Path) -> None:
    """What was cut off took at least so long; what failed has no time at all."""
    log = Log(tmp_path, manifest={"limits": {"trial_timeout_ms": 5}})
    names = runs_of_costs(log, ("0.1", 5), ("0.1", 5))
    log.open("slow")
    for question in range(1, 11):
        log.act("trial.started", f"q{question}", input="which?")
        class_ = "agent_timeout" if question < 7 else "server_error"
        log.act(
            "failure.occurred", f"q{question}", occurrence=f"f{question}", class_=class_,
            fault="harness", impact="trial_failed",
        )  # fmt: skip
        log.act("trial.finished", f"q{question}", outcome="errored")
    closed(log)
    found = compared(log, *names, "slow").frontier
    assert found is not None
    slow = found.points[2].latency
    assert (slow.low, slow.high) == ("5000", None)


def test_c14_a_number_that_is_not_there_has_no_way_to_it(log: Log) -> None:
    """Of a metric without a number in one of the runs only the reason is told."""
    metrics = {METRIC: {"measure": "verdict", "grader": "judge", "shapes": ["list"]}}
    log.ledger.freeze((
        small_rubric(version="2", primary=METRIC, metrics=metrics),
        small_manifest(rubric="quality@2", configuration="other"),
    ))  # fmt: skip
    two(log, [RIGHT] * 2, [], manifest="other")
    pair = pair_of(log)
    assert pair.bridges == []
    assert pair.metrics[0].reason is not None
    assert (pair.metrics[0].second, pair.metrics[0].low) == (None, None)
