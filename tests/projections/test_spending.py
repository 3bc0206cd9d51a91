"""What a right trial cost, with unknown costs as bounds (C18, C19)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from document_cases import outcome_table
from projection_cases import Log
from trial_ledger.exact import fraction_from_decimal_text
from trial_projections.spending import Spending, spending_of

METRIC = "judged"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A ledger with an empty run."""
    return Log(tmp_path)


def answered(log: Log, question: str, verdict: str | None, *costs: Any) -> None:  # noqa: ANN401 - amounts
    """Append a trial whose calls cost these amounts of dollars, None for an unknown one."""
    log.act("trial.started", question, input="which?")
    for number, amount in enumerate(costs):
        name = f"{question}-{number}"
        log.act("call.started", question, call=name, purpose="model", endpoint="model")
        end: dict[str, object] = {"call": name, "status": "ok"}
        if amount is not None:
            end["cost"] = {"amount": amount, "currency": "USD", "basis": "reported"}
        log.append("call.finished", question, end)
    log.act("answer.submitted", question, answer="Babylon")
    log.act("trial.finished", question, outcome="answered")
    if verdict is not None:
        log.judge(question, METRIC, verdict)


def spent(log: Log, run: str | None = None) -> Spending:
    """Return what the run spent."""
    with log.model() as model:
        record = model.run(run or log.run)
        return spending_of(model, record, model.score_input(record), METRIC)


def bounds(found: Spending) -> tuple[str | None, str | None]:
    """Return between what the cost of a right trial lies."""
    return found.per_right.low, found.per_right.high


def test_c18_every_trial_is_paid_for_by_the_right_ones(log: Log) -> None:
    """Two right of four trials, 10 cents in all: 5 cents each, with the error of a ratio."""
    for question, verdict, amount in (
        ("q1", "correct", "0.01"),
        ("q2", "correct", "0.02"),
        ("q3", "incorrect", "0.03"),
        ("q4", "abstained", "0.04"),
    ):
        answered(log, question, verdict, amount)
    found = spent(log)
    assert (found.currency, found.known, found.unknown_calls) == ("USD", "0.1", 0)
    assert (bounds(found), found.right_low, found.right_high) == (("0.05", "0.05"), 2, 2)
    assert found.per_right.error is not None
    median = found.quantiles[0]
    assert (median.p, median.value, median.at_least) == ("1/2", "0.02", "0.02")


def test_c18_an_unknown_cost_leaves_a_lower_bound(log: Log) -> None:
    """Nobody said what the call cost at most: there is no upper bound, and a reason."""
    answered(log, "q1", "correct", "0.01", None)
    answered(log, "q2", "correct", "0.03")
    found = spent(log)
    assert (bounds(found), found.unknown_calls, found.most) == (("0.02", None), 1, None)
    assert found.per_right.no_high == "no cap declared"
    assert (found.per_right.error, found.per_right.no_low) == (None, None)
    # The first trial cost a cent or anything more, so it may be the dearest one or the cheapest.
    assert [(one.value, one.at_least) for one in found.quantiles] == [
        (None, "0.01"),
        (None, "0.03"),
    ]


def test_c18_a_declared_cap_bounds_what_is_unknown(tmp_path: Path) -> None:
    """A call of unknown cost cost nothing at least, and its cap at most."""
    budget = {"budget": {"usd": "10", "unknown_call_cap": "0.05"}}
    log = Log(tmp_path, manifest=budget)
    answered(log, "q1", "correct", "0.01", None)
    answered(log, "q2", None, "0.03")
    found = spent(log)
    assert (found.cap, found.most) == ("0.05", "0.09")
    assert (found.right_low, found.right_high) == (1, 2)
    assert bounds(found) == ("0.02", "0.09")


def test_c18_a_cap_alone_is_an_upper_bound(tmp_path: Path) -> None:
    """No cost is known, so that there is no lower bound to speak of."""
    log = Log(tmp_path, manifest={"budget": {"unknown_call_cap": "0.05"}})
    answered(log, "q1", "correct", None)
    found = spent(log)
    assert (found.currency, found.known, bounds(found)) == ("USD", None, (None, "0.05"))
    assert found.per_right.no_low == "no cost is known"


def test_c18_without_a_right_trial_there_is_no_cost_of_one(log: Log) -> None:
    """A division by 0 is no price."""
    answered(log, "q1", "incorrect", "0.01")
    found = spent(log)
    assert bounds(found) == (None, None)
    assert found.per_right.no_low == found.per_right.no_high == "no trial was right"
    assert found.right_high == 0


def test_c18_what_counts_in_no_metric_was_paid_for_and_is_not_right(tmp_path: Path) -> None:
    """A question that is left out makes the others dearer."""
    outcomes = outcome_table() | {"abstained": {"denominator": False}}
    log = Log(tmp_path, rubric={"outcomes": outcomes})
    answered(log, "q1", "correct", "0.1")
    answered(log, "q2", "abstained", "0.3")
    assert bounds(spent(log)) == ("0.4", "0.4")


def test_c18_undecided_trials_may_be_right(log: Log) -> None:
    """With them the price is the lowest; where they alone could be right there is no highest."""
    answered(log, "q1", None, "0.01")
    answered(log, "q2", "incorrect", "0.01")
    found = spent(log)
    assert (bounds(found), found.right_low, found.right_high) == (("0.02", None), 0, 1)
    assert found.per_right.no_high == "no trial was right"


def test_c18_currencies_give_no_common_price(log: Log) -> None:
    """Nobody froze a rate of exchange."""
    answered(log, "q1", "correct", "0.01")
    log.act("trial.started", "q2", input="which?")
    log.act("call.started", "q2", call="e", purpose="model", endpoint="model")
    cost = {"amount": "1", "currency": "EUR", "basis": "reported"}
    log.act("call.finished", "q2", call="e", status="ok", cost=cost)
    found = spent(log)
    assert (found.currency, found.known, bounds(found)) == (None, None, (None, None))
    assert found.per_right.no_low == "costs are in several currencies"
    assert found.quantiles == []


def test_c19_what_judging_cost_is_left_out(log: Log) -> None:
    """A dear judge makes no agent dear; a run without calls has no cost that is known."""
    log.trial("q1")
    log.judge(
        "q1",
        METRIC,
        "correct",
        cost={"amount": "7", "currency": "USD", "basis": "reported"},
    )
    found = spent(log)
    assert bounds(found) == (None, None)
    assert found.per_right.no_low == "no calls were recorded"
    answered(log, "q2", "correct", "0.5")
    assert bounds(spent(log)) == ("0.25", "0.25")


def test_c18_a_call_that_has_not_ended_is_unknown(log: Log) -> None:
    """It may have been billed."""
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="search", endpoint="search")
    answered(log, "q2", "correct", "0.5")
    found = spent(log)
    assert (found.unknown_calls, bounds(found)) == (1, ("0.5", None))
    assert found.quantiles[0].at_least == "0"


def test_c18_a_derived_run_has_the_costs_of_its_parent_as_it_was(log: Log) -> None:
    """What the parent spent after the cited link belongs to no other run."""
    answered(log, "q1", "correct", "0.5")
    parent = log.run
    with log.model() as model:
        link = model.run(parent).links
    for name in ("again", "later"):
        log.open(name, derived_from={"run": parent, "link": link}, reason="once more")
        log.judge("q1", METRIC, "correct")
        assert bounds(spent(log)) == ("0.5", "0.5"), name
        log.run = parent
        answered(log, "q2" if name == "again" else "q3", "correct", "0.1")
    assert bounds(spent(log, parent))[0] == "0.233333333333"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["correct", "incorrect", None]),
            st.lists(st.none() | st.integers(0, 999), min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_c18_whatever_was_unknown_the_bounds_hold(
    tmp_path_factory: pytest.TempPathFactory, trials: list[tuple[str | None, list[int | None]]]
) -> None:
    """With any value up to the cap for what is unknown, the true price lies between the bounds."""
    log = Log(tmp_path_factory.mktemp("book"), manifest={"budget": {"unknown_call_cap": "0.999"}})
    for number, (verdict, costs) in enumerate(trials):
        amounts = [None if cost is None else f"0.{cost:03}" for cost in costs]
        answered(log, f"q{number + 1}", verdict, *amounts)
    found = spent(log)
    for filler in (0, 500, 999):
        total = sum(filler if cost is None else cost for _, costs in trials for cost in costs)
        for unknown_right in (False, True):
            right = sum(
                verdict == "correct" or (verdict is None and unknown_right) for verdict, _ in trials
            )
            if found.per_right.low is not None and right:
                low = fraction_from_decimal_text(found.per_right.low)
                assert abs(low) * right * 1000 <= total + 1
            if found.per_right.high is not None:
                high = fraction_from_decimal_text(found.per_right.high)
                assert right
                assert high * right * 1000 >= total - 1
