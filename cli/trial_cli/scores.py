"""`ledger scores`: the metrics of a run, with everything that weakens them.

Invariant: an undecided metric has no point value here; what errors do to it always stands beside.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trial_cli.gates import gates_named, is_intact, require_option, unmet_gates
from trial_cli.options import (
    as_of_option,
    format_options,
    ledger_option,
    ledger_path,
    opened,
    read_model,
)
from trial_cli.output import Screen, emit
from trial_cli.scores_screen import scores_screen
from trial_ledger.errors import GateError

if TYPE_CHECKING:
    from trial_projections.reading import ReadModel
    from trial_projections.source_rules.explaining import Explanation
    from trial_projections.summary import RunSummary

__all__ = ["command"]


@click.command("scores", short_help="The metrics of a run and what weakens them")
@click.argument("run", metavar="RUN|FILE")
@click.option("--map", "map_path", metavar="MAP.toml", help="Says where rows stand in a FILE.")
@ledger_option
@as_of_option
@format_options
@require_option
def command(
    run: str, *, map_path: str | None, as_of: str | None, gates: str | None, output_format: str
) -> None:
    """Show the metrics of RUN: range or point, denominator, outcomes, cost, trust.

    Given a FILE instead (an Inspect log, results of the lm-evaluation-harness, or rows with --map)
    it answers at once from a ledger that is thrown away, with the source's own number beside ours.
    """
    wanted = gates_named(gates)
    # os.path also answers for a name that no file can have.
    is_file = os.path.exists(run) and not has_run(run)  # noqa: PTH110 - as said above
    if map_path is not None or is_file:
        if as_of is not None:
            message = "a file has no earlier state; import it first"
            raise click.BadParameter(message, param_hint="--as-of")
        from trial_cli.first_look import first_look  # noqa: PLC0415 - seldom needed

        look = first_look(Path(run), map_path)
        emit(look.screen, output_format)
        for summary in look.summaries:
            refuse_unmet(summary, wanted, intact=False)
        return
    with read_model(as_of) as model:
        summary, screen = look_at(model, run)
    emit(screen, output_format)
    refuse_unmet(summary, wanted, intact=is_intact(wanted))


def look_at(model: "ReadModel", name: str) -> "tuple[RunSummary, Screen]":
    """Return a run's summary and its screen."""
    from trial_projections.summary import summarise  # noqa: PLC0415 - slow to import

    record = model.run(name)
    summary = summarise(model, record)
    explained: Sequence[Explanation] = ()
    if summary.reported:
        from trial_projections.source_rules.explaining import explain_all  # noqa: PLC0415 - slow

        explained = explain_all(model, record)
    return summary, scores_screen(summary, explained=explained)


def has_run(name: str) -> bool:
    """Return whether the ledger of this command has a run of just that name."""
    if not ledger_path().is_file():
        return False
    with opened() as ledger:
        return name in ledger.store.run_names(name)


def refuse_unmet(summary: "RunSummary", wanted: Sequence[str], *, intact: bool) -> None:
    """Fail where a gate that was asked for is not met, or nothing in the run worked.

    Raises:
        GateError: with the gates.
    """
    run = summary.run.name
    if summary.all_failed:
        message = f"every trial of run {run} failed"
        raise GateError(message, hint=f"ledger failures {run}")
    missed = unmet_gates(summary, wanted, intact=intact)
    if missed:
        message = f"run {run} does not meet: {', '.join(missed)}"
        if "verified" in missed:
            raise GateError(message, hint="ledger verify")
        people = "reviewed" in missed or "resolved" in missed
        raise GateError(message, hint=f"ledger {'review status' if people else 'explain'} {run}")
