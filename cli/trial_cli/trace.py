"""`ledger trace`: forensics of one occurrence, trial or call.

Invariant: the JSON form holds every event of the trial; the text form shows those that belong to
what is traced and counts the others.
"""

import click
import msgspec

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit
from trial_cli.trace_screen import screen_lines

__all__ = ["command"]


@click.command("trace", short_help="One failure, trial or call: what happened around it")
@click.argument("name", metavar="OCCURRENCE|TRIAL|CALL")
@click.option("--run", metavar="RUN", help="Look only in this run, as it counts there.")
@ledger_option
@as_of_option
@format_options
def command(name: str, *, run: str | None, as_of: str | None, output_format: str) -> None:
    """Show the timeline around one failure occurrence, one trial or one call.

    With what came back, what the model saw, how it was recovered, where it was surfaced, what it
    does to each metric, and how many are alike. Named by its id or the beginning of it, by
    RUN/TRIAL/ID, by RUN/TRIAL (question#repetition@session), or by the seq or hash of an event.
    """
    from trial_projections.trace import trace  # noqa: PLC0415 - slow to import
    from trial_projections.trace_lookup import find_target  # noqa: PLC0415 - likewise

    with read_model(as_of) as model:
        found = trace(model, find_target(model, name, run=run))
    value = msgspec.to_builtins(found)
    emit(
        Screen(
            schema="ledger.trace/1", value=value, rows=value["steps"], lines=screen_lines(found)
        ),
        output_format,
    )
