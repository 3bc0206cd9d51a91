"""`ledger runs`: every run, invalid and superseded ones too.

Invariant: no run is left out.
"""

from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit, table
from trial_cli.words import time_text

if TYPE_CHECKING:
    from trial_ledger.documents.manifest_structs import Manifest
    from trial_projections.records import RunRecord

__all__ = ["command"]

MINUTES = 16
"""Characters of a time up to its minutes."""


@click.command("runs", short_help="Every run, invalid ones too")
@ledger_option
@as_of_option
@format_options
def command(*, as_of: str | None, output_format: str) -> None:
    """List every run with its state, entry and counts."""
    with read_model(as_of) as model:
        runs = model.runs()
        rows = [row_of(run, model.manifest(run)) for run in runs]
    shown = [
        {
            **row,
            "done": done_text(run),
            "opened": time_text(run.at)[:MINUTES],
        }
        for row, run in zip(rows, runs, strict=True)
    ]
    lines = table(shown, ("run", "state", "entry", "done", "opened"), "no runs yet")
    for run in runs:
        lines += relations(run)
    emit(
        Screen(schema="ledger.runs/1", value={"runs": rows}, rows=rows, lines=lines), output_format
    )


def row_of(run: "RunRecord", manifest: "Manifest") -> dict[str, object]:
    """Return the row of one run."""
    return {
        "run": run.name,
        "state": run.status if run.is_valid else f"INVALID {run.status}",
        "valid": run.is_valid,
        "entry": run.entry,
        "phase": manifest.phase,
        "planned": run.planned,
        "started": run.started,
        "finished": run.finished,
        "configuration": manifest.configuration,
        "dataset": run.dataset,
        "rubric": run.rubric,
        "supersedes": run.supersedes,
        "superseded_by": run.superseded_by,
        "derived_from": run.derived_from,
        "opened_at": run.at,
        "seq": run.opened.seq,
    }


def done_text(run: "RunRecord") -> str:
    """Return how many planned trials have ended; a derived run has none of its own."""
    return "derived" if run.derived_from is not None else f"{run.finished} of {run.planned}"


def relations(run: "RunRecord") -> list[str]:
    """Return how a run relates to others, a line each."""
    lines: list[str] = []
    if run.supersedes is not None:
        lines.append(f"  {run.name} supersedes {run.supersedes}")
    if run.derived_from is not None:
        lines.append(f"  {run.name} judges the trials of {run.derived_from}")
    return lines
