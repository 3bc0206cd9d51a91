"""`ledger invalidate`: a person says why a run or a trial does not count.

Invariant: what is invalidated stays, marked; a trial invalidated after its verdict stays in the
metrics, and the numbers with and without it are shown (C12).
"""

import click

from trial_cli.acts import act_options
from trial_cli.options import format_options, ledger_option
from trial_cli.standing_acts import change_standing

__all__ = ["command"]


@click.command("invalidate", short_help="Say why a run or trial does not count")
@click.argument("name", metavar="RUN|RUN/TRIAL")
@click.option("--superseded-by", metavar="RUN", help="The run that takes its place.")
@act_options
@ledger_option
@format_options
def command(
    name: str,
    *,
    superseded_by: str | None,
    actor: str | None,
    reason: str | None,
    dry_run: bool,
    output_format: str,
) -> None:
    """Invalidate a run, or a trial named as RUN/question#repetition[@session].

    It stays readable and is marked everywhere. The numbers are shown as they were before and as
    they are after; `ledger reinstate` takes it back by another event.
    """
    change_standing(
        name,
        valid=False,
        superseded_by=superseded_by,
        actor=actor,
        reason=reason,
        dry_run=dry_run,
        output_format=output_format,
    )
