"""`ledger failures`: every failure occurrence of a run, recovered or not.

Invariant: nothing is summarised away: the counts stand above the whole list.
"""

from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit, table
from trial_cli.words import counts_text

if TYPE_CHECKING:
    from trial_projections.records import OccurrenceRecord

__all__ = ["command"]


@click.command("failures", short_help="Failure occurrences of a run, recovered or not")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
@click.option("--unrecovered", is_flag=True, help="Only those that were not recovered.")
def command(run: str, *, unrecovered: bool, as_of: str | None, output_format: str) -> None:
    """List the failure occurrences of RUN, with where, whose, and what became of them."""
    from trial_projections.failures import count_failures  # noqa: PLC0415 - slow to import

    with read_model(as_of) as model:
        record = model.run(run)
        occurrences = model.occurrences(record.name)
    counts = count_failures(occurrences)
    rows = [
        row_of(occurrence)
        for occurrence in occurrences
        if occurrence.recovered is None or not unrecovered
    ]
    lines = [
        (
            f"{record.name}  {counts.total} failures: {counts.recovered} recovered,"
            f" {counts.unrecovered} not ({counts.judge} judge); {counts.unsurfaced} not surfaced"
        )
    ]
    if counts.total:
        lines.append(f"  {counts_text(counts.by_class)}")
    names = ("seq", "trial", "class", "fault", "endpoint", "impact", "outcome")
    lines += ["", *table(rows, names, "none")]
    lines += ["", "one of them: ledger show SEQ"] if rows else []
    value = {"run": record.name, "counts": counts, "failures": rows}
    emit(Screen(schema="ledger.failures/1", value=value, rows=rows, lines=lines), output_format)


def row_of(occurrence: "OccurrenceRecord") -> dict[str, object]:
    """Return the row of one occurrence."""
    recovered = occurrence.recovered
    return {
        "seq": occurrence.mark.seq,
        "trial": occurrence.trial,
        "class": occurrence.class_,
        "fault": occurrence.fault or "unknown",
        "endpoint": occurrence.endpoint,
        "impact": occurrence.impact,
        "outcome": "not recovered" if recovered is None else f"{occurrence.recovered_by}",
        "occurrence": occurrence.id,
        "detail_class": occurrence.detail_class,
        "call": occurrence.call,
        "purpose": occurrence.purpose,
        "attempt": occurrence.attempt,
        "at": occurrence.at,
        "recovered_seq": None if recovered is None else recovered.seq,
        "surfaced": occurrence.surfaced,
        "hash": occurrence.mark.hash,
    }
