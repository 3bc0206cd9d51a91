"""What a run cost: known sums, unknown counts, accounts apart (C18, C19)."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projection_cases import Log
from trial_ledger.amounts import Cost, Tally, Usage
from trial_projections.accounts import Account
from trial_projections.costs import add
from trial_projections.records import AccountRecord


def dollars(amount: str, currency: str = "USD") -> dict[str, str]:
    """Return a reported cost."""
    return {"amount": amount, "currency": currency, "basis": "reported"}


def accounts_of(log: Log) -> dict[str, Account]:
    """Return the accounts of the run by name."""
    with log.model() as model:
        return {account.name: account for account in model.accounts(log.run)}


def call(log: Log, name: str, purpose: str, *, question: str = "q1", **end: Any) -> None:  # noqa: ANN401 - fields
    """Append a call and its end; without fields of an end it stays open."""
    log.act(
        "call.started", question, call=name, purpose=purpose,
        endpoint=None if purpose == "tool" else purpose,
    )  # fmt: skip
    if end:
        log.act("call.finished", question, call=name, **{"status": "ok", **end})


@pytest.fixture
def started(log: Log) -> Log:
    """A run with one open trial."""
    log.act("trial.started", "q1", input="which?")
    return log


def summed(account: Account) -> tuple[int, dict[str, str], int, int]:
    """Return calls, known sums, and how many costs are known and unknown."""
    return account.calls, account.known, account.known_count, account.unknown_count


def test_c18_a_known_sum_stands_beside_the_count_of_the_unknown(started: Log) -> None:
    """Nobody's silence is a price of nothing."""
    call(started, "c1", "model", cost=dollars("0.0025"))
    call(started, "c2", "model", cost=dollars("0.0975"))
    call(started, "c3", "model", delivered=True)
    assert summed(accounts_of(started)["inference"]) == (3, {"USD": "0.1"}, 2, 1)


def test_c18_a_reported_zero_is_known(started: Log) -> None:
    """A call that costs nothing says so."""
    call(started, "c1", "search", cost=dollars("0"))
    assert summed(accounts_of(started)["search"]) == (1, {"USD": "0"}, 1, 0)


def test_c18_a_call_that_never_ended_or_was_lost_is_unknown(started: Log) -> None:
    """Open calls and lost responses may have been billed."""
    call(started, "c1", "search")
    call(started, "c2", "search")
    started.act(
        "failure.occurred",
        "q1",
        occurrence="f1",
        class_="response_lost",
        fault="harness",
        call="c2",
    )
    assert summed(accounts_of(started)["search"]) == (2, {}, 0, 2)
    started.act("response.lost", "q1", call="c2", occurrence="f1")
    search = accounts_of(started)["search"]
    assert (summed(search), search.usage_unknown) == ((2, {}, 0, 2), 2)


def test_c18_a_response_that_is_lost_after_its_end_is_counted_once(started: Log) -> None:
    """The call has told its cost already."""
    call(started, "c1", "search", cost=dollars("0.5"))
    started.act(
        "failure.occurred",
        "q1",
        occurrence="f1",
        class_="response_lost",
        fault="harness",
        call="c1",
    )
    started.act("response.lost", "q1", call="c1", occurrence="f1")
    assert summed(accounts_of(started)["search"]) == (1, {"USD": "0.5"}, 1, 0)


def test_c18_currencies_are_never_added(started: Log) -> None:
    """Each has a sum of its own."""
    call(started, "c1", "model", cost=dollars("1.50"))
    call(started, "c2", "model", cost=dollars("0.25", "EUR"))
    call(started, "c3", "model", cost=dollars("0.75", "EUR"))
    assert summed(accounts_of(started)["inference"]) == (3, {"USD": "1.5", "EUR": "1"}, 3, 0)


def test_c19_judging_is_an_account_of_its_own(started: Log) -> None:
    """By the judge's calls, or by the judgment itself where no call was recorded."""
    call(started, "c1", "model", cost=dollars("1"))
    call(started, "c2", "tool", cost=dollars("2"))
    call(started, "c3", "search", cost=dollars("3"))
    started.act("trial.finished", "q1", outcome="answered")
    call(started, "c4", "judge", cost=dollars("4"))
    started.judge("q1", "judged", "correct", calls=["c4"])
    started.judge("q1", "judged", "correct", name="j2", pass_=2, cost=dollars("5"))
    started.judge("q1", "judged", "correct", name="j3", pass_=3)
    found = accounts_of(started)
    assert list(found) == ["inference", "search", "judge"]
    assert summed(found["inference"]) == (1, {"USD": "1"}, 1, 0)
    assert summed(found["search"]) == (2, {"USD": "5"}, 2, 0)
    assert summed(found["judge"]) == (3, {"USD": "9"}, 2, 1)


def test_c19_code_and_people_judge_without_an_account(started: Log) -> None:
    """No call was made and nobody was paid by the call."""
    started.act("trial.finished", "q1", outcome="answered")
    started.act(
        "judgment.recorded", "q1", judgment="j1", metric="exact", by="code",
        grader={"name": "match"}, score="1",
    )  # fmt: skip
    assert accounts_of(started) == {}


@pytest.mark.parametrize(
    ("reason", "recorded", "expected"),
    [("judge_failed", False, 1), ("judge_failed", True, 1), ("lost_in_source", False, 0)],
)
def test_c18_a_judge_that_crashed_may_have_been_billed(
    started: Log, reason: str, recorded: bool, expected: int
) -> None:
    """Its cost is unknown: by its call where one was recorded, else by the failed judgment."""
    started.act("trial.finished", "q1", outcome="answered")
    if recorded:
        call(started, "c1", "judge")
    started.act("failure.occurred", "q1", occurrence="f1", class_="judge_error", fault="judge")
    started.act(
        "judgment.failed", "q1", judgment="j1", metric="judged", reason=reason, occurrence="f1",
        calls=["c1"] if recorded else [],
    )  # fmt: skip
    judge = accounts_of(started).get("judge")
    assert (0 if judge is None else judge.unknown_count) == expected


def test_usage_says_how_many_calls_told_each_part(started: Log) -> None:
    """A part that one call did not measure is no zero of that call; units keep names apart."""
    call(started, "c1", "model", usage={"input_tokens": 100, "output_tokens": 7})
    call(started, "c2", "model", usage={"output_tokens": 3, "units": {"input_tokens": 1}})
    call(started, "c3", "model", delivered=True)
    call(started, "c4", "model", usage={})
    inference = accounts_of(started)["inference"]
    assert inference.usage == {"input_tokens": 100, "output_tokens": 10, "units.input_tokens": 1}
    assert inference.usage_calls == {"input_tokens": 1, "output_tokens": 2, "units.input_tokens": 1}
    assert inference.usage_unknown == 1


def test_another_run_has_accounts_of_its_own(started: Log) -> None:
    """Nothing leaks from one run into another."""
    call(started, "c1", "model", cost=dollars("1"))
    started.open("fast-02")
    assert accounts_of(started) == {}
    started.act("trial.started", "q1", input="which?")
    call(started, "c1", "model")
    assert summed(accounts_of(started)["inference"]) == (1, {}, 0, 1)
    started.run = "fast-01"
    assert summed(accounts_of(started)["inference"]) == (1, {"USD": "1"}, 1, 0)


costs = st.one_of(
    st.none(),
    st.builds(
        Cost,
        amount=st.integers(0, 10**9).map(lambda value: f"{value // 10**4}.{value % 10**4:04d}"),
        currency=st.sampled_from(["USD", "EUR"]),
        basis=st.just("reported"),
    ),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(parts=st.lists(costs, max_size=20))
def test_c18_every_cost_is_counted_once_in_any_order(parts: list[Cost | None]) -> None:
    """Known and unknown add up to all, and sums do not depend on the order."""

    def account(order: list[Cost | None]) -> AccountRecord:
        record = AccountRecord(tally=Tally())
        for cost in order:
            add(record, cost, None if cost is None else Usage())
        return record

    forward, backward = account(parts), account(parts[::-1])
    assert forward == backward
    unknown = sum(cost is None for cost in parts)
    assert forward.tally.known_count + unknown == len(parts)
    assert (forward.tally.unknown_count, forward.usage_unknown) == (unknown, unknown)
    assert set(forward.tally.known) == {cost.currency for cost in parts if cost is not None}
