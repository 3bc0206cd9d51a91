"""`ledger runs`: every run, invalid and superseded ones too.

Invariant: no run is left out.
"""

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit, table
from trial_cli.words import time_text

__all__ = ["command"]


@click.command("runs", short_help="Every run, invalid ones too")
@ledger_option
@as_of_option
@format_options
def command(*, as_of: str | None, output_format: str) -> None:
    """List every run with its state, entry and counts."""
    with read_model(as_of) as model:
        rows: list[dict[str, object]] = [
            {
                "run": run.name,
                "state": run.status if run.is_valid else f"INVALID {run.status}",
                "entry": run.entry,
                "phase": model.manifest(run).phase,
                "planned": run.planned,
                "started": run.started,
                "finished": run.finished,
                "configuration": model.manifest(run).configuration,
                "dataset": run.dataset,
                "rubric": run.rubric,
                "supersedes": run.supersedes,
                "superseded_by": run.superseded_by,
                "derived_from": run.derived_from,
                "opened_at": run.at,
                "seq": run.opened.seq,
            }
            for run in model.runs()
        ]
    shown = [{**row, "opened": time_text(row["opened_at"])} for row in rows]  # type: ignore[arg-type]
    names = ("run", "state", "entry", "planned", "started", "finished", "opened")
    lines = table(shown, names, "no runs yet")
    lines += [f"  {row['run']} supersedes {row['supersedes']}" for row in rows if row["supersedes"]]
    emit(
        Screen(schema="ledger.runs/1", value={"runs": rows}, rows=rows, lines=lines), output_format
    )
