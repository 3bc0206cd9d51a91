"""Caps on what is spent, and prices by the frozen table: unknown is never nothing."""

import pytest

from trial_ledger.amounts import Cost, Usage
from trial_ledger.documents.manifest_structs import Budget, Manifest, Price, Prices, prices_hash
from trial_ledger.errors import InvalidInputError
from trial_ledger.running.budget import Account, cap_problem, refuse_uncapped
from trial_ledger.running.pricing import computed_cost


def dollars(amount: str) -> Cost:
    """Return a reported cost."""
    return Cost(amount=amount, currency="USD", basis="reported")


def test_c18_unknown_calls_count_at_their_cap() -> None:
    """A cap is reached by calls of which nobody says what they cost."""
    account = Account(Budget(usd="1.00", unknown_call_cap="0.30"))
    begun = 0
    while account.begin():
        account.end(None)
        begun += 1
    assert begun == 3
    assert str(account) == "$0 + 3 calls unknown"


def test_c18_calls_under_way_are_set_aside() -> None:
    """Many at the same time cannot pass a cap that one after the other would not."""
    account = Account(Budget(usd="1.00", unknown_call_cap="0.30"))
    assert [account.begin() for _ in range(4)] == [True, True, True, False]
    account.end(dollars("0.10"))
    assert account.begin()
    assert not account.begin()
    assert str(account) == "$0.1"


def test_known_costs_reach_the_cap() -> None:
    """Without a cap for unknown calls the known ones still stop at the cap."""
    account = Account(Budget(usd="1.00"))
    assert account.begin()
    account.end(dollars("1.00"))
    assert not account.begin()


def test_without_a_cap_everything_may_begin() -> None:
    """Spending is counted all the same; another currency is not added as dollars."""
    account = Account(None)
    assert account.begin()
    account.end(Cost(amount="5", currency="EUR", basis="reported"))
    account.add(dollars("0.25"))
    assert str(account) == "$0.25 + 1 call unknown"


def test_c18_a_capped_run_without_a_cap_for_the_unknown_is_refused() -> None:
    """All of them are named at once; what has no cap has nothing to refuse."""
    assert cap_problem(None, "m") is None
    assert cap_problem(Budget(), "m") is None
    assert cap_problem(Budget(usd="1", unknown_call_cap="0"), "m") is None
    problems = [one for name in "ab" if (one := cap_problem(Budget(usd="1"), name)) is not None]
    refuse_uncapped([])
    with pytest.raises(InvalidInputError) as caught:
        refuse_uncapped(problems)
    assert [problem.source for problem in caught.value.problems] == ["a", "b"]


def manifest(**entries: Price) -> Manifest:
    """Return a manifest with a price table."""
    prices = Prices(as_of="2026-10-01", source="x", entries=entries)
    return Manifest(configuration="c", dataset="d@1", rubric="r@1", prices=prices)


TOKENS = Price(per=1_000_000, units={"input_tokens": "3", "output_tokens": "15"})


def priced(found: Manifest, usage: Usage | None) -> str | None:
    """Return what a call of model `m` at endpoint `e` costs."""
    cost = computed_cost(found, endpoint="e", name="m", usage=usage)
    if cost is None:
        return None
    assert (cost.basis, cost.prices) == ("computed", prices_hash(found))
    return cost.amount


def test_c18_a_cost_is_computed_only_from_what_is_known() -> None:
    """Tokens times price, exactly; a missing count or an unpriced unit leaves it unknown."""
    table = manifest(m=TOKENS)
    assert priced(table, Usage(input_tokens=1_000, output_tokens=10)) == "0.00315"
    assert priced(table, Usage(input_tokens=1_000, output_tokens=10, reasoning_tokens=9)) == (
        "0.00315"
    )
    assert priced(table, Usage(input_tokens=1_000)) is None
    assert priced(table, None) is None
    cached = Usage(input_tokens=1, output_tokens=1, input_tokens_cache_read=5)
    assert priced(table, cached) is None
    assert priced(manifest(other=TOKENS), Usage(input_tokens=1, output_tokens=1)) is None
    without = Manifest(configuration="c", dataset="d@1", rubric="r@1")
    assert priced(without, Usage(input_tokens=1, output_tokens=1)) is None


def test_requests_and_units_are_priced() -> None:
    """A price per request needs no usage; one that is 0 needs no count."""
    by_request = manifest(e=Price(units={"request": "0.005"}))
    assert priced(by_request, None) == "0.005"
    assert priced(by_request, Usage(units={"credits": 3})) == "0.005"
    assert priced(manifest(e=Price(units={"credits": "0.008"})), Usage(units={"credits": 2})) == (
        "0.016"
    )
    assert priced(manifest(m=Price(units={"input_tokens": "0"})), None) == "0"
    assert priced(manifest(e=Price(per=3, units={"request": "1"})), None) == (
        "0.333333333333333333333333"
    )
