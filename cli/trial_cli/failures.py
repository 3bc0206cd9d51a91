"""`ledger failures`: every failure occurrence of a run, recovered or not.

Invariant: nothing is summarised away: the counts stand above the whole list.
"""

from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import WIDTH, Screen, emit, fit, table
from trial_cli.words import counts_text, run_title, wrapped

if TYPE_CHECKING:
    from trial_projections.failures import FailureCounts
    from trial_projections.records import OccurrenceRecord, RunRecord

__all__ = ["command"]


@click.command("failures", short_help="Failure occurrences of a run, recovered or not")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
@click.option("--unrecovered", is_flag=True, help="Only those that were not recovered.")
def command(run: str, *, unrecovered: bool, as_of: str | None, output_format: str) -> None:
    """List the failure occurrences of RUN, with where, whose, and what became of them."""
    from trial_projections.derivation import trial_name  # noqa: PLC0415 - slow to import
    from trial_projections.failures import count_failures  # noqa: PLC0415 - likewise
    from trial_projections.records import TrialRecord  # noqa: PLC0415 - likewise

    with read_model(as_of) as model:
        record = model.run(run)
        occurrences = model.occurrences(record.name)
        trials = model.own_records(record.name, TrialRecord)
    counts = count_failures(occurrences)
    rows = [
        row_of(occurrence)
        for occurrence in occurrences
        if occurrence.recovered is None or not unrecovered
    ]
    misses: list[dict[str, object]] = [
        {"trial": trial_name(trial), "seq": mark.seq, "hash": mark.hash}
        for trial in trials
        for mark in trial.misses
    ]
    misses.sort(key=lambda miss: int(str(miss["seq"])))
    lines = heading(record, counts)
    names = ("seq", "trial", "class", "fault", "recovered", "impact", "endpoint")
    lines += ["", *(fit(line, WIDTH) for line in table(rows, names, "none"))]
    if misses:
        named = ", ".join(f"{miss['trial']} seq {miss['seq']}" for miss in misses)
        lines += ["", *wrapped("misses", f"{len(misses)}, no failures: {named}")]
    lines += ["", "one of them: ledger show SEQ"] if rows or misses else []
    value = {
        "run": record.name,
        "valid": record.is_valid,
        "counts": counts,
        "failures": rows,
        "retrieval_misses": misses,
    }
    emit(Screen(schema="ledger.failures/1", value=value, rows=rows, lines=lines), output_format)


def heading(run: "RunRecord", counts: "FailureCounts") -> list[str]:
    """Return the counts."""
    lines = wrapped(
        "",
        f"{run_title(run)}  {counts.total} failures: {counts.recovered} recovered,"
        f" {counts.unrecovered} not ({counts.judge} judge);"
        f" {counts.unsurfaced} not known to be surfaced",
        indent=0,
    )
    if counts.total:
        lines += wrapped("", counts_text(counts.by_class), indent=2)
    if run.derived_from is not None:
        lines.append(f"  those of the trials: ledger failures {run.derived_from}")
    return lines


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
        "recovered": "no" if recovered is None else occurrence.recovered_by,
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
