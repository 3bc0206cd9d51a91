"""`ledger costs`: what a run cost, account by account.

Invariant: accounts are never added together, and an unknown cost is counted, not added (C18, C19).
"""

from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit
from trial_cli.words import account_text, run_title, wrapped

if TYPE_CHECKING:
    from trial_projections.accounts import Account

__all__ = ["command"]


@click.command("costs", short_help="What a run cost, account by account")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
def command(run: str, *, as_of: str | None, output_format: str) -> None:
    """Show the accounts of RUN: known sum, how many calls are known, how many unknown."""
    with read_model(as_of) as model:
        record = model.run(run)
        accounts = model.accounts(record.name)
    lines = [f"{run_title(record)}  a cost that nobody reported is unknown, never 0"]
    for account in accounts:
        lines += account_lines(account)
    if not accounts:
        lines.append("no calls recorded: cost unknown")
    if record.derived_from is not None:
        lines.append(f"of the trials: ledger costs {record.derived_from}")
    rows: list[dict[str, object]] = [msgspec.to_builtins(account) for account in accounts]
    value = {"run": record.name, "valid": record.is_valid, "accounts": rows}
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
