"""What a call cost by the manifest's price table, where its provider does not say.

Invariant: a cost is computed only where every unit that was consumed has a price and every price a
known count; anything else is unknown, never 0 (C18).
"""

from collections.abc import Mapping
from decimal import Decimal, localcontext

from trial_ledger.amounts import Cost, Usage
from trial_ledger.documents.manifest_structs import Manifest, find_price, prices_hash
from trial_ledger.exact import CONTEXT, decimal_text

__all__ = ["computed_cost"]

TOKENS = (
    "input_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
    "output_tokens",
    "reasoning_tokens",
)
REQUEST = "request"
MOST_PLACES = 24
"""Digits after the point that a computed amount is kept to, for prices per three or seven units."""
INCLUDED = "reasoning_tokens"
"""Counted among the output tokens by the providers, so that it needs no price of its own."""


def computed_cost(
    manifest: Manifest, *, endpoint: str | None, name: str | None, usage: Usage | None
) -> Cost | None:
    """Return what a call cost by the price table; None where that cannot be said.

    Args:
        manifest: with the dated price table.
        endpoint: endpoint of the call.
        name: model or tool of the call.
        usage: what it consumed.
    """
    if manifest.prices is None:
        return None
    price = find_price(manifest.prices, endpoint=endpoint, name=name)
    if price is None:
        return None
    consumed = units_of(usage)
    unpriced = any(count for unit, count in consumed.items() if unit not in price.units)
    if unpriced and set(price.units) != {REQUEST}:
        return None
    total = Decimal(0)
    with localcontext(CONTEXT):
        for unit, amount in price.units.items():
            count = 1 if unit == REQUEST else consumed.get(unit)
            if count is None and Decimal(amount):
                return None
            total += Decimal(amount) * (count or 0) / price.per
        total = round(total, MOST_PLACES)
    return Cost(
        amount=decimal_text(total), currency="USD", basis="computed", prices=prices_hash(manifest)
    )


def units_of(usage: Usage | None) -> Mapping[str, int]:
    """Return every known count of a usage by its unit; what is included elsewhere is left out."""
    if usage is None:
        return {}
    found = {unit: getattr(usage, unit) for unit in TOKENS if unit != INCLUDED}
    return {unit: count for unit, count in {**found, **usage.units}.items() if count is not None}
