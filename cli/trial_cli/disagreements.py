"""`ledger disagreements`: where reviewers and judges differ, and what was found.

Invariant: a resolved disagreement stays listed; both sides stand beside each other (C30).
"""

import shlex
from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, clean, emit
from trial_cli.words import run_title, wrapped

if TYPE_CHECKING:
    from trial_projections.review_coverage import Disagreement

__all__ = ["command"]


@click.command("disagreements", short_help="Where reviewers and judges differ")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
def command(run: str, *, as_of: str | None, output_format: str) -> None:
    """List the disagreements of RUN, open ones first."""
    from trial_projections.review_coverage import disagreements_in  # noqa: PLC0415 - slow

    with read_model(as_of) as model:
        record = model.run(run)
        found = disagreements_in(model.score_input(record))
    found.sort(key=lambda known: known.record.resolved is not None)
    rows = [row_of(record.name, known) for known in found]
    lines = wrapped("run", run_title(record))
    for row in rows:
        lines += ["", *disagreement_lines(row)]
    if not rows:
        lines += ["", "no disagreement recorded"]
    value = {"run": record.name, "disagreements": rows}
    emit(
        Screen(schema="ledger.disagreements/1", value=value, rows=rows, lines=lines),
        output_format,
    )


def row_of(run: str, known: "Disagreement") -> dict[str, object]:
    """Return a disagreement by field."""
    resolved = known.record.resolved
    return {
        "disagreement": f"{run}/{known.trial}/{known.record.id}",
        "metric": known.metric,
        "open": resolved is None,
        "finding": known.record.finding,
        "judgment": known.judgment.id,
        "judged": known.judgment.verdict or known.judgment.score,
        "by": known.judgment.by,
        "grader": known.judgment.grader,
        "review": known.review.id,
        "reviewed": known.review.verdict or known.review.score,
        "reviewer": known.review.reviewer,
        "blind": known.review.blind,
        "opened_seq": known.record.mark.seq,
        "resolved_seq": None if resolved is None else resolved.seq,
    }


def disagreement_lines(row: dict[str, object]) -> list[str]:
    """Return a disagreement on a few lines."""
    address = str(row["disagreement"])
    state = "open" if row["open"] else f"resolved: {row['finding']}, seq {row['resolved_seq']}"
    blind = "blind" if row["blind"] else "not blind"
    lines = [
        *wrapped("", f"{address}  {row['metric']}  {state}", indent=0),
        *wrapped("  judged", f"{row['judged']}, {row['judgment']} by {row['by']} {row['grader']}"),
        *wrapped("  review", f"{row['reviewed']}, {row['review']} by {row['reviewer']}, {blind}"),
    ]
    if row["open"]:
        command = f"ledger resolve {shlex.quote(address)} --finding F --reason TEXT"
        lines.append(f"  {'next':<8}{clean(command)}")
    return lines
