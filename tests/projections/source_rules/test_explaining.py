"""Which named rule gives a published number, and how that differs from ours."""

import json

import pytest

from projection_cases import Log
from rule_cases import labelled, ruled
from trial_ledger.errors import NotFoundError
from trial_projections.reported import Reported
from trial_projections.source_rules.explaining import (
    Explanation,
    explain_all,
    explain_reported,
)
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.registry import RULES, all_names, compute, compute_over_runs


def explained(log: Log, name: str, value: str, rule: str | None = None) -> Explanation:
    """Return the explanation of a number that a source reports of the run."""
    reported = Reported(metric="judged", name=name, reducer=None, value=value, rule=rule)
    with log.model() as model:
        return explain_reported(model, model.run(log.run), reported)


def errored(log: Log, *questions: str) -> None:
    """Append trials that ended with an error of the agent."""
    for question in questions:
        log.append("trial.started", question, {"input": "which?"})
        failure = {"occurrence": "f1", "class": "agent_error", "fault": "agent"}
        log.append("failure.occurred", question, {**failure, "impact": "trial_failed"})
        log.append("trial.finished", question, {"outcome": "errored"})


def eight_of_ten(log: Log) -> None:
    """Append six right, two wrong, two errored."""
    labelled(log, *["correct"] * 6, *["incorrect"] * 2)
    errored(log, "q9", "q10")


def test_a_source_that_leaves_errors_out_is_found_out(log: Log) -> None:
    """6 of 8 is 75 %, and 6 of 10 is ours: what was left out, how many, and the difference."""
    eight_of_ten(log)
    found = explained(log, "accuracy", "0.75")
    assert (found.rule, found.by_name, found.metric) == ("errors_excluded", True, "judged")
    assert found.computed is not None
    assert found.computed.left_out == {"trial_errored": 2}
    assert (found.difference, found.others) == (
        "3/20",
        ["errors_excluded:trials", "complete_case", "complete_case:trials"],
    )
    assert found.words == (
        "source says accuracy 0.75: rule errors_excluded leaves errored trials out; "
        "left out: trial_errored 2; ours 60.0 % (6 of 10)"
    )


@pytest.mark.parametrize("value", ["75.0 %", "75.0", "0.7500"])
def test_percentages_are_read_with_and_without_their_sign(log: Log, value: str) -> None:
    """The same share, written in three ways."""
    eight_of_ten(log)
    assert explained(log, "accuracy", value).rule == "errors_excluded"


def test_ours_comes_first_where_it_gives_the_number(log: Log) -> None:
    """No other rule is blamed for a number that needs none."""
    eight_of_ten(log)
    found = explained(log, "accuracy", "0.6")
    assert (found.rule, found.difference) == ("headline", "0")


def test_a_rule_of_that_name_comes_before_one_that_agrees_by_chance(log: Log) -> None:
    """0.667 is an f1 here; what no rule of that name gives is marked as chance."""
    eight_of_ten(log)
    found = explained(log, "f1", "0.667")
    assert (found.rule, found.by_name) == ("attempted_f1", True)
    other = explained(log, "some statistic", "0.667")
    assert (other.rule, other.by_name, other.others) == ("attempted_f1", False, [])
    count = explained(log, "incorrect", "2")
    assert (count.rule, count.difference) == ("count:incorrect", None)


@pytest.mark.parametrize("value", ["0.123", "none"])
def test_what_no_rule_gives_is_said_to_be_so(log: Log, value: str) -> None:
    """Our own number stands beside it all the same."""
    eight_of_ten(log)
    found = explained(log, "accuracy", value)
    assert (found.rule, found.computed, found.difference) == (None, None, None)
    assert found.words == (
        f"source says accuracy {value}: no named rule gives that from its records; "
        "ours 60.0 % (6 of 10)"
    )


def test_our_range_is_shown_as_one(log: Log) -> None:
    """A source that takes a lost verdict for wrong says so; there is no difference to a range."""
    labelled(log, *["correct"] * 6, *["incorrect"] * 3)
    log.trial("q10")
    found = explained(log, "accuracy", "0.6")
    assert (found.rule, found.difference) == ("null_counts_against", None)
    assert found.words.endswith(
        "assumed: unjudged as the lowest score 1; ours 60.0 to 70.0 % (6 to 7 of 10)"
    )


def test_a_metric_without_a_number_has_none_beside_the_sources(log: Log) -> None:
    """Every planned slot was invalidated before its end."""
    for number in range(1, 11):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        log.act("trial.invalidated", f"q{number}", reason="leaked")
    found = explained(log, "accuracy", "0.6")
    assert (found.ours, found.words.endswith("ours has no number")) == (None, True)
    assert explained(log, "correct", "0").difference is None


def test_every_reported_number_of_a_run_is_explained(log: Log) -> None:
    """In the order of the source; a score that no metric is named after is about the primary."""
    eight_of_ten(log)
    rows = [
        {"score": "judged", "metric": "accuracy", "value": "0.75"},
        {"score": "judged", "metric": "correct", "value": "6"},
        {"score": "another", "metric": "accuracy", "value": "0"},
    ]
    data = {"format": "rows", "files": [], "importer": "rows@1", "reported": json.dumps(rows)}
    log.append("source.imported", None, data)
    with log.model() as model:
        found = explain_all(model, model.run(log.run))
    assert [(each.metric, each.rule) for each in found] == [
        ("judged", "errors_excluded"),
        ("judged", "count:correct"),
        ("exact", "null_counts_against"),
    ]


def test_every_rule_has_one_name_and_can_be_asked_for(log: Log) -> None:
    """Every name worth trying computes, to a value or to a reason and never to both."""
    eight_of_ten(log)
    with log.model() as model:
        facts = RunFacts(model, model.run(log.run), "judged")
        names = list(all_names(facts))
        silent = {"usage", "usage_known", "majority", "mode"}
        assert len(set(names)) == len(names)
        assert {name.partition(":")[0] for name in names} >= set(RULES) - silent
        for name in names:
            found = compute(facts, name)
            assert (found.value is None) == (found.reason is not None), name
            assert found.rule == name


def test_an_unknown_rule_is_not_found(log: Log) -> None:
    """The message lists those that there are."""
    with pytest.raises(NotFoundError, match="no rule 'gone'; there are headline, "):
        ruled(log, "gone:1")


def test_runs_weigh_alike_in_a_mean_of_runs(log: Log) -> None:
    """6 of 10 and 0 of 10; a run without a number leaves the mean without one."""
    eight_of_ten(log)
    log.open("other")
    for number in range(1, 11):
        log.trial(f"q{number}")
        log.judge(f"q{number}", "judged", "incorrect")
    with log.model() as model:
        both = [RunFacts(model, run, "judged") for run in model.runs()]
        found = compute_over_runs(both, "headline")
        assert (found.value, found.count, found.rule) == ("3/10", 2, "mean of runs, headline")
        none = compute_over_runs(both, "criteria_pooled")
        assert none.reason == "run fast-01: no judgment names its criteria"
        assert compute_over_runs([], "headline").reason == "no run"


def test_the_rule_that_a_map_names_comes_first_where_it_gives_the_number(log: Log) -> None:
    """Where it does not, that is said, and what gives the number instead."""
    eight_of_ten(log)
    found = explained(log, "accuracy", "0.75", "complete_case")
    assert (found.rule, found.by_name) == ("complete_case", True)
    found = explained(log, "accuracy", "0.75", "headline")
    assert found.rule == "errors_excluded"
    assert found.words.startswith(
        "source says accuracy 0.75 by rule headline, which does not give that from its records: "
        "rule errors_excluded leaves errored trials out; "
    )


def timed(log: Log, *durations: int | None) -> None:
    """Append judged trials of q1, q2 and so on that took so many seconds; None is unknown."""
    for number, seconds in enumerate(durations, 1):
        log.append("trial.started", f"q{number}", {"input": "which?"})
        log.act("call.started", f"q{number}", call="c1", purpose="model", endpoint="model")
        usage = None if seconds is None else {"input_tokens": seconds}
        log.act("call.finished", f"q{number}", call="c1", status="ok", usage=usage)
        end = {"outcome": "answered", "duration_us": None if seconds is None else seconds * 10**6}
        log.append("trial.finished", f"q{number}", end)


def test_c18_a_source_that_takes_an_unknown_time_for_0_is_found_out(log: Log) -> None:
    """The mean of two is not the mean of three; a total of tokens nobody knows has no number."""
    timed(log, 8, 5, None)
    found = explained(log, "avg_latency", "4.3")
    assert (found.rule, found.difference) == ("mean_latency_unknown_as_zero", "-13/6")
    assert found.words == (
        "source says avg_latency 4.3: rule mean_latency_unknown_as_zero averages unknown durations "
        "in as 0 s; assumed: unknown duration as 0 1; ours 6.5 s of 2"
    )
    found = explained(log, "input tokens", "13")
    assert (found.rule, found.difference) == ("usage_known:input_tokens", None)
    assert found.words.endswith("ours has no number: 1 of 3 calls do not tell their input_tokens")


def test_c14_a_derived_run_has_its_parents_times_and_its_own_labels(log: Log) -> None:
    """The parent judged both right; judged again, one of them is wrong and has its criterion."""
    timed(log, 8, 5)
    for question in ("q1", "q2"):
        log.judge(question, "judged", "correct")
    with log.model() as model:
        link = model.run(log.run).links
    log.open("again", derived_from={"run": log.run, "link": link}, reason="looked again")
    log.judge("q1", "judged", "correct")
    log.judge("q2", "judged", "incorrect", parts=[{"name": "town", "outcome": "wrong"}])
    with log.model() as model:
        facts = RunFacts(model, model.run("again"), "judged")
        assert compute(facts, "mean_latency").value == "13/2"
        assert compute(facts, "count:incorrect").value == "1"
        assert compute(facts, "criteria_count:wrong").value == "1"


def test_our_own_rule_needs_no_other_number_beside_it(log: Log) -> None:
    """Where the source does as we do, and where there is only one way to count."""
    timed(log, 8, 5)
    found = explained(log, "avg_latency", "6.5")
    assert (found.rule, found.difference) == ("mean_latency", "0")
    assert found.words.endswith("averages the durations that are known")
    assert explained(log, "correct", "0").words.endswith("counts the trials of one class")
