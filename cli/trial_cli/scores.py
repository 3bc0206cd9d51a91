"""`ledger scores`: the metrics of a run, with everything that weakens them.

Invariant: an undecided metric has no point value here; what errors do to it always stands beside.
"""

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit, note
from trial_cli.scores_screen import scores_screen

__all__ = ["command"]

GATES = ("decided", "valid", "live")


@click.command("scores", short_help="The metrics of a run and what weakens them")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
@click.option(
    "--require",
    "gates",
    metavar="GATES",
    help="Exit with 5 unless these hold, comma separated: decided, valid, live.",
)
def command(run: str, *, as_of: str | None, gates: str | None, output_format: str) -> int:
    """Show the metrics of RUN: range or point, denominator, outcomes, cost, trust."""
    wanted = [gate.strip() for gate in (gates or "").split(",") if gate.strip()]
    unknown = [gate for gate in wanted if gate not in GATES]
    if unknown:
        message = f"no gate {unknown[0]!r}; there is {', '.join(GATES)}"
        raise click.BadParameter(message, param_hint="--require")
    from trial_projections.summary import summarise  # noqa: PLC0415 - slow to import

    with read_model(as_of) as model:
        summary = summarise(model, model.run(run))
    screen: Screen = scores_screen(summary)
    emit(screen, output_format)
    missed = summary.unmet(wanted)
    for gate in missed:
        note(f"gate {gate} is not met")
    if summary.all_failed:
        note("every trial of the run failed")
    return 5 if missed or summary.all_failed else 0
