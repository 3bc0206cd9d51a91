"""`ledger reinstate`: a person takes an invalidation back.

Invariant: the invalidation stays in the log; taking it back is another event (C12).
"""

import click

from trial_cli.acts import act_options
from trial_cli.options import format_options, ledger_option
from trial_cli.standing_acts import change_standing

__all__ = ["command"]


@click.command("reinstate", short_help="Take an invalidation back")
@click.argument("name", metavar="RUN|RUN/TRIAL")
@act_options
@ledger_option
@format_options
def command(
    name: str, *, actor: str | None, reason: str | None, dry_run: bool, output_format: str
) -> None:
    """Let an invalidated run count again, or a trial named as RUN/question#repetition[@session].

    The invalidation and its reason stay in the log.
    """
    change_standing(
        name,
        valid=True,
        superseded_by=None,
        actor=actor,
        reason=reason,
        dry_run=dry_run,
        output_format=output_format,
    )
