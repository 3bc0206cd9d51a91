"""`ledger scores`: the metrics of a run, with everything that weakens them.

Invariant: an undecided metric has no point value here; what errors do to it always stands beside.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit
from trial_cli.scores_screen import scores_screen
from trial_ledger.errors import GateError

if TYPE_CHECKING:
    from trial_projections.summary import RunSummary

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
def command(run: str, *, as_of: str | None, gates: str | None, output_format: str) -> None:
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
    refuse_unmet(summary, wanted)


def refuse_unmet(summary: "RunSummary", wanted: Sequence[str]) -> None:
    """Fail where a gate that was asked for is not met, or nothing in the run worked.

    Raises:
        GateError: with the gates.
    """
    run = summary.run.name
    if summary.all_failed:
        message = f"every trial of run {run} failed"
        raise GateError(message, hint=f"ledger failures {run}")
    missed = summary.unmet(wanted)
    if missed:
        message = f"run {run} does not meet: {', '.join(missed)}"
        raise GateError(message, hint=f"ledger explain {run}")
