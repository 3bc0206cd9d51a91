"""Quantities that may be unknown, and how they add.

Invariant: an unknown quantity is counted, never added as zero (C18); amounts of different
currencies are never added.
"""

from decimal import Decimal, localcontext
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from trial_ledger.exact import CONTEXT, decimal_text
from trial_ledger.forms import CurrencyForm, DecimalForm, HashForm, NameForm
from trial_ledger.identifiers import Count

__all__ = ["Cost", "DecimalText", "Tally", "Usage"]

DecimalText = Annotated[str, Meta(pattern=r"\A(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?\Z")]
"""A non-negative decimal in plain notation, as `0.0025`."""


class Cost(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What one call or judgment cost, where that is known."""

    amount: DecimalForm
    """The amount, exact."""
    currency: CurrencyForm
    """ISO 4217 code."""
    basis: Literal["reported", "computed"]
    """Whether the provider said it or it was computed from a price table."""
    prices: HashForm | None = None
    """Hash of the price table behind a computed cost; None where the provider reported it."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What one call consumed; each part is None where nobody measured it."""

    input_tokens: Count | None = None
    """Input tokens that were not read from a cache."""
    input_tokens_cache_read: Count | None = None
    """Input tokens read from a cache."""
    input_tokens_cache_write: Count | None = None
    """Input tokens written to a cache."""
    output_tokens: Count | None = None
    """Output tokens, reasoning included where the provider counts it there."""
    reasoning_tokens: Count | None = None
    """Reasoning tokens, where the provider tells them apart."""
    units: dict[NameForm, Count] = {}
    """Other billed units by name, as `requests` or `credits`."""


class Tally(msgspec.Struct, kw_only=True):
    """A sum in which unknown parts stay visible: known amounts by currency, and two counts."""

    known: dict[str, str] = {}
    """Sum of the known amounts by currency, decimal text."""
    known_count: int = 0
    """How many amounts were known."""
    unknown_count: int = 0
    """How many were not."""

    def add(self, cost: Cost | None) -> None:
        """Add one amount; None counts as one unknown."""
        if cost is None:
            self.unknown_count += 1
            return
        with localcontext(CONTEXT):
            total = Decimal(self.known.get(cost.currency, "0")) + Decimal(cost.amount)
        self.known[cost.currency] = decimal_text(total)
        self.known_count += 1

    def merge(self, other: "Tally") -> None:
        """Add every part of another tally."""
        with localcontext(CONTEXT):
            for currency, amount in other.known.items():
                total = Decimal(self.known.get(currency, "0")) + Decimal(amount)
                self.known[currency] = decimal_text(total)
        self.known_count += other.known_count
        self.unknown_count += other.unknown_count
