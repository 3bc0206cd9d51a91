"""What an import of rows says that the source had lost, and the numbers that the source reports.

Invariant: the sentences depend on the bytes of the file and on its map alone.
"""

from collections.abc import Iterator, Mapping, Sequence

from trial_ledger.importing.rows_runs import RunFacts
from trial_ledger.importing.rows_structs import RowMap
from trial_ledger.importing.rows_trials import TrialFacts
from trial_ledger.importing.rows_values import RowReader

__all__ = ["losses_of", "reported_of"]

SHOWN = 20


def listing(names: Sequence[str]) -> str:
    """Return names as a list, a long one shortened."""
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def losses_of(row_map: RowMap, run: RunFacts, reader: RowReader) -> list[str]:
    """Return what was already lost or could not be carried over, in plain sentences."""
    return [
        *(f"Not recorded by the source, as its map says: {what}." for what in row_map.unknown),
        *slot_losses(row_map, run),
        *trial_losses(row_map, [trial for trial, _ in run.trials]),
        *file_losses(row_map, reader),
    ]


def slot_losses(row_map: RowMap, run: RunFacts) -> Iterator[str]:
    """Yield the sentences about planned slots."""
    if row_map.planned == type(row_map.planned)():
        yield (
            "What was planned is not stated: planned are the questions and repetitions of the rows,"
            f" {len(run.questions)} x {run.repetitions}."
        )
    if run.missing:
        places = listing([f"{question}#{repetition}" for question, repetition in run.missing])
        what = (
            "never started, as the map says"
            if row_map.planned.missing == "not_started"
            else 'undecided, unless the map says planned.missing = "not_started"'
        )
        yield f"Slots without a row: {len(run.missing)} ({places}), {what}."


def trial_losses(row_map: RowMap, trials: Sequence[TrialFacts]) -> Iterator[str]:
    """Yield the sentences about what the rows hold."""
    if row_map.calls is None:
        yield "Calls are not shown" + (
            ": what a trial consumed stands on one call for each account."
            if row_map.spend
            else ", nor what they cost."
        )
    for name, metric in row_map.metrics.items():
        judged = [one for trial in trials for one in trial.judgments if one.metric == name]
        counts = {
            "Trials that the source does not judge": len(trials) - len(judged),
            "Judgments without a reason": sum(one.reasoning is None for one in judged)
            if metric.reasoning is not None
            else len(judged),
        }
        for sentence, count in counts.items():
            if count:
                yield f"{sentence}, {name}: {count} of {len(trials)}."
    unlisted = [
        failure.detail_class or failure.class_
        for trial in trials
        for failure in [*trial.failures, *(call.failure for call in trial.calls)]
        if failure is not None and not failure.listed
    ]
    if unlisted:
        names = listing(list(dict.fromkeys(unlisted)))
        yield f"Failures of no class that the map or their words name, kept as other: {names}."


def file_losses(row_map: RowMap, reader: RowReader) -> Iterator[str]:
    """Yield the sentences about the whole file."""
    for field, count in sorted(reader.unknown.items()):
        yield f"Values that the map declares unknown, {field}: {count} in the file."
    for field, count in sorted(reader.without_offset.items()):
        yield f"Times without an offset from UTC, so unknown, {field}: {count} in the file."
    if row_map.format == "csv":
        named = {where.path[0] for where in reader.asked.values() if where.path}
        unused = [name or '""' for name in reader.columns if name not in named]
        if unused:
            yield f"Columns that the map does not name stay in the source file: {listing(unused)}."


def reported_of(row_map: RowMap, run: RunFacts, reader: RowReader) -> list[Mapping[str, object]]:
    """Return the numbers that the source itself reports about a run, as it writes them."""
    found: list[Mapping[str, object]] = []
    for reported in row_map.reported:
        text = reader.text(reported.value, run.row)
        if text is not None:
            found.append(
                {
                    "score": reported.metric,
                    "scorer": None,
                    "metric": reported.name,
                    "reducer": None,
                    "rule": reported.rule,
                    "value": text,
                }
            )
    return found
