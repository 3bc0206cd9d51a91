"""What may still be spent: a cap, and a cap for what nobody knows.

Invariant: the sum of what is known, of the caps of what is unknown and of what is under way never
passes the cap, unless one call costs more than was set aside for it (C18).
"""

from decimal import Decimal, localcontext

from trial_ledger.amounts import Cost
from trial_ledger.documents.manifest_structs import Budget
from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.exact import CONTEXT, decimal_text

__all__ = ["Account", "cap_problem", "refuse_uncapped"]

CURRENCY = "USD"


def cap_problem(budget: Budget | None, source: str) -> Problem | None:
    """Return why a capped run may not start: nothing says what an unknown call counts as."""
    if budget is None or budget.usd is None or budget.unknown_call_cap is not None:
        return None
    return Problem(
        message="caps what is spent, and does not say what a call of unknown cost counts as",
        source=source,
        field="budget.unknown_call_cap",
        expected='an amount such as "0.05"',
        clause="C18",
    )


def refuse_uncapped(problems: list[Problem]) -> None:
    """Refuse to start runs in which an unknown call could pass the cap unseen.

    Raises:
        InvalidInputError: with every such run.
    """
    if problems:
        raise InvalidInputError(
            problems,
            what="manifests to run",
            hint="--allow-unknown-cost runs them with unknown calls counted as nothing",
        )


class Account:
    """The budget of one run, in US dollars."""

    def __init__(self, budget: Budget | None) -> None:
        self.cap = None if budget is None or budget.usd is None else Decimal(budget.usd)
        unknown = None if budget is None else budget.unknown_call_cap
        self.unknown_cap = Decimal(unknown or 0)
        self.known = Decimal(0)
        self.unknown_calls = 0
        self.under_way = 0

    @property
    def reserved(self) -> Decimal:
        """What counts against the cap: known, unknown at its cap, under way at the same cap."""
        with localcontext(CONTEXT):
            return self.known + self.unknown_cap * (self.unknown_calls + self.under_way)

    @property
    def is_open(self) -> bool:
        """Whether the cap allows another call."""
        if self.cap is None:
            return True
        with localcontext(CONTEXT):
            return self.reserved + self.unknown_cap <= self.cap and self.known < self.cap

    def begin(self) -> bool:
        """Set aside what a call may cost; return whether the cap allows it."""
        if self.is_open:
            self.under_way += 1
            return True
        return False

    def end(self, cost: Cost | None) -> None:
        """Put what a call cost in the place of what was set aside; None is unknown."""
        self.under_way -= 1
        self.add(cost)

    def forgo(self) -> None:
        """Give back what was set aside for a call that was not made."""
        self.under_way -= 1

    def add(self, cost: Cost | None) -> None:
        """Take the cost of a call into account that was not begun here."""
        if cost is None or cost.currency != CURRENCY:
            self.unknown_calls += 1
            return
        with localcontext(CONTEXT):
            self.known += Decimal(cost.amount)

    def __str__(self) -> str:
        known = f"${decimal_text(self.known)}"
        calls = "call" if self.unknown_calls == 1 else "calls"
        return (
            known if not self.unknown_calls else f"{known} + {self.unknown_calls} {calls} unknown"
        )
