"""Every failure occurrence, recovered or not (C23, C25, C26): the `failures` projection."""

import pytest

from projection_cases import Log
from trial_projections.failures import FailureCounts, count_failures
from trial_projections.records import OccurrenceRecord


def occurrences_of(log: Log) -> dict[str, OccurrenceRecord]:
    """Return the occurrences of the run by id."""
    with log.model() as model:
        return {known.id: known for known in model.occurrences(log.run)}


@pytest.fixture
def started(log: Log) -> Log:
    """A run with one open trial and one call."""
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="search", endpoint="search", attempt=2)
    return log


def test_c23_an_occurrence_keeps_where_whose_and_what(started: Log) -> None:
    """Class, fault, call, attempt, endpoint, message and impact, as they were told."""
    started.act(
        "failure.occurred", "q1", occurrence="f1", class_="other", detail_class="WeirdError",
        fault="environment", call="c1", attempt=2, endpoint="mirror", message="odd",
        impact="degraded",
    )  # fmt: skip
    found = occurrences_of(started)["f1"]
    assert (found.trial, found.class_, found.detail_class) == ("q1#1@s1", "other", "WeirdError")
    assert (found.fault, found.call, found.attempt) == ("environment", "c1", 2)
    assert (found.endpoint, found.purpose, found.impact) == ("mirror", "search", "degraded")
    assert found.message is not None
    assert found.mark.hash == started.ledger.read(found.mark.seq).hash
    assert (found.recovered, found.surfaced) == (None, None)


def test_c23_what_the_call_says_fills_what_the_failure_does_not(started: Log) -> None:
    """Endpoint and purpose come from the call; without a call they are unknown."""
    started.act("failure.occurred", "q1", occurrence="f1", class_="timeout", call="c1")
    started.act("failure.occurred", "q1", occurrence="f2", class_="timeout")
    started.act("failure.occurred", "q1", occurrence="f3", class_="timeout", call="elsewhere")
    found = occurrences_of(started)
    assert (found["f1"].endpoint, found["f1"].purpose) == ("search", "search")
    assert (found["f2"].endpoint, found["f2"].purpose) == (None, None)
    assert (found["f3"].endpoint, found["f3"].purpose) == (None, None)


def test_c23_recovery_assessment_and_surfacing_are_added(started: Log) -> None:
    """The occurrence stays, and says what became of it."""
    started.act("failure.occurred", "q1", occurrence="f1", class_="timeout", call="c1")
    started.act("failure.recovered", "q1", occurrence="f1", by="retry", call="c1")
    started.act("failure.assessed", "q1", occurrence="f1", impact="none")
    started.act("failure.surfaced", "q1", occurrence="f1", channel="stderr", seen="terminal")
    found = occurrences_of(started)["f1"]
    assert (found.recovered_by, found.impact, found.surfaced) == ("retry", "none", "terminal")
    assert found.recovered is not None
    assert found.recovered.seq == found.mark.seq + 1


def test_c23_a_failure_of_the_run_as_a_whole_has_no_trial(started: Log) -> None:
    """An outage that no trial met is an occurrence too, with ids of its own."""
    started.act("failure.occurred", None, occurrence="f1", class_="overloaded", endpoint="search")
    started.act("failure.occurred", "q1", occurrence="f1", class_="timeout")
    started.act("failure.recovered", None, occurrence="f1", by="repair")
    with started.model() as model:
        found = [(known.trial, known.recovered_by) for known in model.occurrences(started.run)]
    assert found == [(None, "repair"), ("q1#1@s1", None)]


def test_a_derived_run_has_failures_of_its_own(started: Log) -> None:
    """A judge that fails there is no failure of the parent, though its id is known there."""
    started.act("failure.occurred", "q1", occurrence="f1", class_="timeout")
    started.act("call.finished", "q1", call="c1", status="ok")
    started.act("trial.finished", "q1", outcome="answered")
    started.open("again", derived_from={"run": "fast-01", "link": 4}, reason="new rubric")
    assert occurrences_of(started) == {}
    started.act("failure.occurred", "q1", occurrence="f1", class_="judge_error", fault="judge")
    started.act("failure.assessed", "q1", occurrence="f1", impact="trial_failed")
    assert occurrences_of(started)["f1"].class_ == "judge_error"
    started.run = "fast-01"
    assert [(known.class_, known.impact) for known in occurrences_of(started).values()] == [
        ("timeout", "unknown")
    ]


def test_c26_failures_are_counted_by_class_most_first(started: Log) -> None:
    """Recovered, not recovered, of these the judge's, and what nobody could have seen."""
    for name, class_, fault, call in (
        ("f1", "timeout", None, None),
        ("f2", "timeout", "judge", None),
        ("f3", "auth", None, "c1"),
        ("f4", "dns", None, None),
    ):
        started.act(
            "failure.occurred", "q1", occurrence=name, class_=class_, fault=fault, call=call
        )
    started.act("call.started", "q1", call="c2", purpose="judge", endpoint="judge")
    started.act("failure.occurred", "q1", occurrence="f5", class_="auth", call="c2")
    for name in ("f1", "f2"):
        started.act("failure.recovered", "q1", occurrence=name, by="retry")
    started.act("failure.surfaced", "q1", occurrence="f3", channel="stderr", seen="emitted")
    with started.model() as model:
        counts = count_failures(model.occurrences(started.run))
    assert counts == FailureCounts(
        total=5,
        recovered=2,
        unrecovered=3,
        judge=1,
        unsurfaced=4,
        by_class={"auth": 2, "timeout": 2, "dns": 1},
        example=counts.example,
    )
    assert list(counts.by_class) == ["auth", "timeout", "dns"]


def test_nothing_failed() -> None:
    """Counts of no occurrences are zeros that were counted."""
    assert count_failures([]) == FailureCounts(
        total=0, recovered=0, unrecovered=0, judge=0, unsurfaced=0, by_class={}, example=None
    )


def test_the_example_is_the_failure_that_mattered_most(started: Log) -> None:
    """The first that ended a trial, else the first that was not recovered, else the first."""

    def example() -> str | None:
        with started.model() as model:
            seq = count_failures(model.occurrences(started.run)).example
        assert seq is not None
        return str(started.ledger.read(seq).event.data.occurrence)  # type: ignore[union-attr]

    for name, impact in (("f1", "none"), ("f2", "degraded"), ("f3", "trial_failed")):
        started.act(
            "failure.occurred", "q1", occurrence=name, class_="timeout", call="c1", impact=impact
        )
    assert example() == "f3"
    for name, following in (("f3", "f1"), ("f1", "f2"), ("f2", "f3")):
        started.act("failure.recovered", "q1", occurrence=name, by="retry", call="c1")
        assert example() == following
