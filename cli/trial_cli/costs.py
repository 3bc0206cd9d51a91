"""`ledger costs`: what a run cost, account by account.

Invariant: accounts are never added together, and an unknown cost is counted, not added (C18, C19).
"""

import click
import msgspec

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit
from trial_cli.words import account_text, counts_text

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
    lines = [f"{record.name}  a cost that nobody reported is unknown, never 0"]
    for account in accounts:
        apart = "  (evaluation, separate)" if account.name == "judge" else ""
        lines.append(f"{account.name:<10}{account_text(account)}{apart}")
        lines.append(
            f"          {account.calls} calls: {account.known_count} of known cost,"
            f" {account.unknown_count} unknown"
        )
        usage = counts_text(dict(sorted(account.usage.items()))) or "no usage known"
        lines.append(f"          {usage}; {account.usage_unknown} calls of unknown usage")
    if not accounts:
        lines.append("no calls recorded: cost unknown")
    rows: list[dict[str, object]] = [msgspec.to_builtins(account) for account in accounts]
    value = {"run": record.name, "accounts": rows}
    emit(Screen(schema="ledger.costs/1", value=value, rows=rows, lines=lines), output_format)
