"""How long trials and calls took: what was cut off is a bound, what nobody timed is unknown."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projection_cases import Log
from trial_ledger.documents.manifest_structs import Limits
from trial_projections.latency import Latency, Times, latency_of, times_of_calls
from trial_projections.records import CallEnd, CallTime

SECOND = 1_000_000


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run."""
    return Log(tmp_path)


def finished(log: Log, question: str, outcome: str, duration: int | None, **end: object) -> None:
    """Append a trial that ended."""
    log.act("trial.started", question, input="which?")
    if outcome == "answered":
        log.act("answer.submitted", question, answer="Babylon")
    if outcome == "errored":
        failure: dict[str, object] = {"class_": "timeout", "fault": "harness", **end}
        failure |= {"occurrence": f"f-{question}", "impact": "trial_failed"}
        log.append("failure.occurred", question, failure)
    ended: dict[str, object] = {"outcome": outcome}
    if duration is not None:
        ended["duration_us"] = duration
    log.append("trial.finished", question, ended)


def times_of(log: Log, run: str | None = None) -> Latency:
    """Return how long the trials of the run took."""
    with log.model() as model:
        return latency_of(model, model.run(run or log.run))


def counts(times: Times) -> tuple[int, int, int, int, int]:
    """Return of how many it is: timed, cut off, ended early, unknown."""
    return times.count, times.timed, times.cut_off, times.ended_early, times.unknown


def test_c17_a_time_that_nobody_measured_is_unknown(log: Log) -> None:
    """It is counted, and no quantile takes it for 0."""
    finished(log, "q1", "answered", None)
    finished(log, "q2", "answered", 2 * SECOND)
    finished(log, "q3", "abstained", 3 * SECOND)
    trials = times_of(log).trials
    assert counts(trials) == (3, 2, 0, 0, 1)
    assert [quantile.value_us for quantile in trials.quantiles] == [2 * SECOND, *[3 * SECOND] * 3]
    assert trials.quantiles[0].reason is None


def test_c17_without_a_time_there_is_no_quantile(log: Log) -> None:
    """A run of which nobody timed anything has no latency of 0."""
    finished(log, "q1", "answered", None)
    assert counts(times_of(log).trials) == (1, 0, 0, 0, 1)
    assert times_of(log).trials.quantiles == []


def test_c17_what_was_cut_off_took_at_least_so_long(tmp_path: Path) -> None:
    """By its own time, or by the limit of the manifest; a quantile among them is a bound."""
    log = Log(tmp_path, manifest={"limits": {"trial_timeout_ms": 5_000}})
    finished(log, "q1", "answered", SECOND)
    finished(log, "q2", "errored", 6 * SECOND)
    finished(log, "q3", "errored", None, class_="agent_timeout")
    finished(log, "q4", "limit", 2 * SECOND)
    trials = times_of(log).trials
    assert counts(trials) == (4, 1, 3, 0, 0)
    median, *_, last = trials.quantiles
    assert (median.value_us, median.at_least_us) == (None, 2 * SECOND)
    assert median.reason == "times that were cut off could be it"
    assert last.at_least_us == 6 * SECOND


def test_c17_a_timeout_of_unknown_length_is_unknown(log: Log) -> None:
    """Without a time and without a limit nothing bounds it."""
    finished(log, "q1", "errored", None)
    assert counts(times_of(log).trials) == (1, 0, 0, 0, 1)


def test_c17_only_its_own_time_out_says_how_long_a_trial_took_at_least(tmp_path: Path) -> None:
    """A limit of calls or tokens, and the time-out of one call, may come at any moment."""
    log = Log(tmp_path, manifest={"limits": {"trial_timeout_ms": 5_000}})
    finished(log, "q1", "errored", None, class_="timeout")
    finished(log, "q2", "limit", None)
    assert counts(times_of(log).trials) == (2, 0, 0, 0, 2)


def test_c17_what_ended_early_has_no_latency(log: Log) -> None:
    """A trial that failed fast did not answer fast."""
    finished(log, "q1", "errored", 1, class_="server_error")
    finished(log, "q2", "cancelled", 1)
    log.act("trial.started", "q3", input="which?")
    assert counts(times_of(log).trials) == (3, 0, 0, 3, 0)


def test_c17_a_trial_that_never_started_is_in_no_count(log: Log) -> None:
    """A failure is accepted of any trial (C23)."""
    log.act("failure.occurred", "q3", occurrence="f1", class_="dns", fault="environment")
    assert counts(times_of(log).trials) == (0, 0, 0, 0, 0)


def test_c17_an_error_without_an_occurrence_has_no_latency(log: Log) -> None:
    """Nobody says that it was a time-out."""
    log.act("trial.started", "q1", input="which?")
    log.act("trial.finished", "q1", outcome="errored", duration_us=SECOND)
    assert counts(times_of(log).trials) == (1, 0, 0, 1, 0)


def test_c17_calls_are_timed_by_purpose_and_endpoint(log: Log) -> None:
    """Each endpoint has times of its own; one that has not ended is no quick one."""
    log.act("trial.started", "q1", input="which?")
    for number, (purpose, endpoint, duration) in enumerate(
        (("model", "model", 7), ("search", "search", 5), ("search", "search", 9),
         ("tool", None, 3), ("search", "search", None))
    ):  # fmt: skip
        name = f"c{number}"
        log.act("call.started", "q1", call=name, purpose=purpose, endpoint=endpoint)
        if duration is not None:
            log.act("call.finished", "q1", call=name, status="ok", duration_us=duration)
    calls = times_of(log).calls
    assert [(times.purpose, times.endpoint) for times in calls] == [
        ("model", "model"), ("search", "search"), ("tool", None),
    ]  # fmt: skip
    assert counts(calls[1]) == (3, 2, 0, 1, 0)
    assert calls[1].quantiles[0].value_us == 5


def test_c17_a_derived_run_has_the_times_of_its_parent(log: Log) -> None:
    """As they were at the cited link."""
    finished(log, "q1", "answered", SECOND)
    parent = log.run
    log.open("again", derived_from={"run": parent, "link": 4}, reason="once more")
    log.run = parent
    finished(log, "q2", "answered", SECOND)
    assert counts(times_of(log, "again").trials) == (1, 1, 0, 0, 0)
    assert counts(times_of(log).trials) == (2, 2, 0, 0, 0)


def test_c17_limits_of_a_manifest_are_not_those_of_judges() -> None:
    """A judge's time-out of unknown length is unknown; a search's is at least the limit."""
    cut = [CallTime("search", "search", "timeout", None)]
    limits = Limits(timeout_ms=30_000)
    assert counts(times_of_calls("judge", None, cut, limits)) == (1, 0, 0, 0, 1)
    assert counts(times_of_calls("search", "search", cut, limits)) == (1, 0, 1, 0, 0)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["answered", "timeout", "failed", "lost"]),
            st.none() | st.integers(0, 10**9),
        ),
        max_size=30,
    )
)
def test_c17_every_call_is_in_exactly_one_count(calls: list[tuple[CallEnd, int | None]]) -> None:
    """Nothing is left out, and nothing that is shorter than what is known stands as a bound."""
    given_calls = [CallTime("search", "search", end, duration) for end, duration in calls]
    times = times_of_calls("search", "search", given_calls, Limits())
    assert times.count == len(calls)
    assert times.unknown == sum(
        duration is None for end, duration in calls if end in {"answered", "timeout"}
    )
    for quantile in times.quantiles:
        assert quantile.at_least_us is not None
        assert quantile.value_us is None or quantile.value_us == quantile.at_least_us
