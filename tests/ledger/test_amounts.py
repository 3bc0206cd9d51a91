"""Unknown amounts are counted and never become zero; currencies are never mixed (C18)."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.amounts import Cost, DecimalText, Tally, Usage

CURRENCIES = st.sampled_from(["USD", "EUR", "JPY"])
AMOUNTS = st.decimals(
    min_value=0, max_value=10**9, places=6, allow_nan=False, allow_infinity=False
).map(lambda value: format(value, "f"))
COSTS = st.none() | st.builds(
    Cost, amount=AMOUNTS, currency=CURRENCIES, basis=st.sampled_from(["reported", "computed"])
)


def tally(costs: list[Cost | None]) -> Tally:
    """Return the sum of some costs."""
    found = Tally()
    for cost in costs:
        found.add(cost)
    return found


def test_c18_an_unknown_cost_is_counted_and_adds_nothing() -> None:
    """One known and two unknown amounts give the known sum and the count of the others."""
    found = tally([Cost(amount="0.10", currency="USD", basis="reported"), None, None])
    assert found == Tally(known={"USD": "0.1"}, known_count=1, unknown_count=2)


def test_c18_nothing_known_is_not_zero() -> None:
    """A sum of unknown amounts has no known part at all."""
    assert tally([None]).known == {}


def test_currencies_stay_apart() -> None:
    """Amounts of two currencies are two sums."""
    found = tally(
        [
            Cost(amount="1", currency="USD", basis="reported"),
            Cost(amount="2", currency="EUR", basis="reported"),
        ]
    )
    assert found.known == {"USD": "1", "EUR": "2"}


def test_sums_are_exact() -> None:
    """Ten times a tenth is one, which binary numbers would miss."""
    tenth = Cost(amount="0.1", currency="USD", basis="reported")
    assert tally([tenth] * 10).known == {"USD": "1"}


@given(st.lists(COSTS), st.lists(COSTS))
def test_merging_tallies_is_adding_all_their_parts(
    left: list[Cost | None], right: list[Cost | None]
) -> None:
    """It does not matter whether amounts are added one by one or in two parts."""
    merged = tally(left)
    merged.merge(tally(right))
    assert merged == tally(left + right)


@given(st.lists(COSTS))
def test_the_known_sum_is_the_sum(costs: list[Cost | None]) -> None:
    """Each currency's text means the exact sum of its amounts."""
    found = tally(costs)
    for currency in {cost.currency for cost in costs if cost}:
        amounts = [Decimal(cost.amount) for cost in costs if cost and cost.currency == currency]
        assert Decimal(found.known[currency]) == sum(amounts)
    assert found.known_count + found.unknown_count == len(costs)


@pytest.mark.parametrize("text", ["0", "0.0025", "12", "9" * 31 + "." + "9" * 30])
def test_accepted_amounts(text: str) -> None:
    """Plain notation, up to 31 digits before and 30 after the point."""
    assert msgspec.convert(text, DecimalText) == text


@pytest.mark.parametrize("text", ["", "-1", "01", "1.", ".5", "1e3", "1,5", "9" * 32, "1\n"])
def test_refused_amounts(text: str) -> None:
    """Signs, exponents and other notations are refused."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(text, DecimalText)


def test_usage_that_nobody_measured_is_unknown() -> None:
    """Every part of a usage is unknown until somebody says otherwise."""
    found = msgspec.to_builtins(Usage())
    assert found.pop("units") == {}
    assert set(found.values()) == {None}
