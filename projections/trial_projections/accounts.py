"""What the states of `costs` say of one run: its accounts, and what each of its trials spent.

Invariant: a call that has not ended is of unknown cost (C18); accounts are never added together.
"""

from fractions import Fraction

import msgspec

from trial_ledger.exact import fraction_from_decimal_text
from trial_projections.costs import ACCOUNTS
from trial_projections.fold import key_of
from trial_projections.records import AccountRecord, TrialSpending
from trial_projections.replay import States

__all__ = ["Account", "accounts_in", "known_cost", "trials_in", "unknown_calls"]


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One account of one run, open calls counted as unknown (C18)."""

    name: str
    """inference, search or judge."""
    calls: int
    """Calls started."""
    known: dict[str, str]
    """Sum of the known costs by currency, decimal text."""
    known_count: int
    """Calls of known cost."""
    unknown_count: int
    """Calls of unknown cost, lost and unfinished ones included."""
    usage: dict[str, int]
    """Known consumption by part."""
    usage_calls: dict[str, int]
    """How many calls told each part."""
    usage_unknown: int
    """Calls of unknown consumption."""


def accounts_in(states: States, run: str) -> list[Account]:
    """Return the accounts of a run, calls that have not ended as unknown ones."""
    found: list[Account] = []
    for name in ACCOUNTS:
        record = states.by_name["costs"].read(key_of(run, "account", name))
        if record is None:
            continue
        account: AccountRecord = record.account
        found.append(
            Account(
                name=name,
                calls=account.calls,
                known=account.tally.known,
                known_count=account.tally.known_count,
                unknown_count=account.tally.unknown_count + account.open,
                usage=account.usage,
                usage_calls=account.usage_calls,
                usage_unknown=account.usage_unknown + account.open,
            )
        )
    return found


def known_cost(trial: TrialSpending, currency: str | None) -> Fraction:
    """Return the known part of what a trial cost, in a currency."""
    return fraction_from_decimal_text(trial.tally.known.get(currency or "", "0"))


def unknown_calls(trial: TrialSpending) -> int:
    """Return how many of a trial's own calls are of unknown cost, those that have not ended too."""
    open_calls = sum(purpose != "judge" for purpose, _ in trial.open.values())
    return trial.tally.unknown_count + open_calls


def trials_in(states: States, run: str) -> dict[str, TrialSpending]:
    """Return what every trial of a run spent that made a call, by its name."""
    return {key[-1]: record.trial for key, record in states.by_name["costs"].items(run, "trial")}
