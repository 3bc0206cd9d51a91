"""`ledger costs`: what a run cost, account by account.

Invariant: accounts are never added together, and an unknown cost is counted, not added (C18, C19).
"""

from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit
from trial_cli.words import (
    account_text,
    bounded_text,
    money_text,
    per_right_text,
    percentile_name,
    rounded_money,
    run_title,
    wrapped,
)
from trial_ledger.exact import fraction_from_decimal_text

if TYPE_CHECKING:
    from trial_projections.accounts import Account
    from trial_projections.spending import CostQuantile, Spending

__all__ = ["command"]


@click.command("costs", short_help="What a run cost, account by account")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
def command(run: str, *, as_of: str | None, output_format: str) -> None:
    """Show the accounts of RUN: known sum, how many calls are known, how many unknown.

    Below them, what its trials cost for every one that was right, and quantiles of what one cost;
    with unknown costs these are bounds. Judging is no part of it.
    """
    from trial_projections.spending import spending_of  # noqa: PLC0415 - others start faster

    with read_model(as_of) as model:
        record = model.run(run)
        accounts = model.accounts(record.name)
        source = model.score_input(record)
        spending = spending_of(model, record, source, source.rubric.primary)
    lines = [f"{run_title(record)}  a cost that nobody reported is unknown, never 0"]
    for account in accounts:
        lines += account_lines(account)
    if not accounts:
        lines.append("no calls recorded: cost unknown")
    if record.derived_from is not None:
        lines.append(f"of the trials: ledger costs {record.derived_from}")
    lines += spending_lines(spending)
    rows: list[dict[str, object]] = [msgspec.to_builtins(account) for account in accounts]
    value = {"run": record.name, "valid": record.is_valid, "accounts": rows}
    value["trials"] = msgspec.to_builtins(spending)
    emit(Screen(schema="ledger.costs/1", value=value, rows=rows, lines=lines), output_format)


def account_lines(account: "Account") -> list[str]:
    """Return what is known of one account and how much is not."""
    apart = "  (evaluation, separate)" if account.name == "judge" else ""
    usage = "  ".join(
        f"{name.replace('_', ' ')} {count} ({account.usage_calls[name]} calls)"
        for name, count in sorted(account.usage.items())
    )
    if account.usage_unknown:
        usage = f"{usage or 'no usage known'}; {account.usage_unknown} calls of unknown usage"
    return [
        f"{account.name:<10}{account_text(account)}{apart}",
        (
            f"          {account.calls} calls: {account.known_count} of known cost,"
            f" {account.unknown_count} unknown"
        ),
        *wrapped("", usage),
    ]


def spending_lines(spending: "Spending") -> list[str]:
    """Return what a right trial cost, and quantiles of what one cost."""
    from trial_projections.spending import NO_CALLS  # noqa: PLC0415 - others start faster

    if spending.per_right.no_low == NO_CALLS:
        return []
    right = str(spending.right_low)
    if spending.right_high != spending.right_low:
        right += f"-{spending.right_high}"
    words = f"{per_right_text(spending)}  ({right} right under {spending.metric})"
    if spending.per_right.error is not None:
        error = fraction_from_decimal_text(spending.per_right.error)
        words += f", standard error {rounded_money(spending.currency or '', error)}"
    lines = wrapped("per correct", words, indent=13)
    for quantile in spending.quantiles:
        lines += quantile_lines(spending, quantile)
    return lines


def quantile_lines(spending: "Spending", quantile: "CostQuantile") -> list[str]:
    """Return a quantile of the cost of a trial, with its interval."""
    least, value = (
        None if text is None else amount(spending, text)
        for text in (quantile.at_least, quantile.value)
    )
    low, high = (
        None if text is None else amount(spending, text) for text in (quantile.low, quantile.high)
    )
    ends = f"95 %: {low or 'no lower end'} to {high or 'no upper end'}"
    label = f"{percentile_name(quantile.p)} of one"
    return wrapped(f"{label:<13}", f"{bounded_text(value, least)}  {ends}", indent=13)


def amount(spending: "Spending", text: str) -> str:
    """Return an amount in the currency of a run."""
    return money_text({spending.currency or "": text})
