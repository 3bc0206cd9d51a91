"""`ledger failures`: every failure occurrence of a run, recovered or not.

Invariant: nothing is summarised away: the counts stand above the whole list, or above groups that
add up to it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import WIDTH, Screen, columns, emit, fit, table
from trial_cli.words import counts_text, next_lines, percent_range, run_title, wrapped

if TYPE_CHECKING:
    from trial_projections.failure_groups import FailureGroup
    from trial_projections.failures import FailureCounts
    from trial_projections.fault_effects import FaultEffect
    from trial_projections.records import OccurrenceRecord, RunRecord

__all__ = ["command"]


KEYS = ("class", "fault", "endpoint", "minute")
"""What `--by` takes."""


@click.command("failures", short_help="Failure occurrences of a run, recovered or not")
@click.argument("run")
@ledger_option
@as_of_option
@format_options
@click.option("--unrecovered", is_flag=True, help="Only those that were not recovered.")
@click.option(
    "--by",
    metavar="KEYS",
    help="Count them by these, comma separated: class, fault, endpoint, minute.",
)
def command(
    run: str, *, unrecovered: bool, by: str | None, as_of: str | None, output_format: str
) -> None:
    """List the failure occurrences of RUN, with where, whose, and what became of them."""
    keys = keys_named(by)
    from trial_projections.derivation import trial_name  # noqa: PLC0415 - slow to import
    from trial_projections.failure_groups import group_failures  # noqa: PLC0415 - likewise
    from trial_projections.failures import count_failures  # noqa: PLC0415 - likewise
    from trial_projections.fault_effects import fault_effects  # noqa: PLC0415 - likewise
    from trial_projections.records import TrialRecord  # noqa: PLC0415 - likewise

    with read_model(as_of) as model:
        record = model.run(run)
        occurrences = model.occurrences(record.name)
        trials = model.own_records(record.name, TrialRecord)
        effects = fault_effects(model.score_input(record))
    counts = count_failures(occurrences)
    chosen = [known for known in occurrences if known.recovered is None or not unrecovered]
    rows = [row_of(occurrence) for occurrence in chosen]
    misses: list[dict[str, object]] = [
        {"trial": trial_name(trial), "seq": mark.seq, "hash": mark.hash}
        for trial in trials
        for mark in trial.misses
    ]
    misses.sort(key=lambda miss: int(str(miss["seq"])))
    value: dict[str, object] = {
        "run": record.name,
        "valid": record.is_valid,
        "counts": counts,
        "failures": rows,
        "retrieval_misses": misses,
        "effects": effects,
    }
    lines = [*heading(record, counts), ""]
    if keys:
        groups = group_failures(chosen, trials, keys)
        total = group_failures(chosen, trials, ())
        value |= {"by": keys, "groups": groups}
        rows = [group_row(group) for group in groups]
        lines += group_lines(groups, total, keys)
    else:
        names = ("seq", "trial", "class", "fault", "recovered", "impact", "endpoint")
        lines += [fit(line, WIDTH) for line in table(rows, names, "none")]
    if misses:
        named = ", ".join(f"{miss['trial']} seq {miss['seq']}" for miss in misses)
        lines += ["", *wrapped("misses", f"{len(misses)}, no failures: {named}")]
    lines += effect_lines(effects)
    lines += next_commands(record, counts, keys) if counts.total else []
    emit(Screen(schema="ledger.failures/1", value=value, rows=rows, lines=lines), output_format)


def effect_lines(effects: "Sequence[FaultEffect]") -> list[str]:
    """Return what each kind of fault does to each metric; nothing where none cost a slot."""
    lines: list[str] = []
    for effect in effects:
        numbers = [
            "no number" if found is None else percent_range(found, effect.scale)
            for found in (effect.as_it_is, effect.had_they_been_right)
        ]
        words = f"{effect.outcome.replace('_', ' ')} {effect.slots}"
        text = f"{words}: {effect.metric} {numbers[0]}, had they been right {numbers[1]}"
        lines += wrapped("" if lines else "effect", text)
    return ["", *lines] if lines else []


def keys_named(by: str | None) -> list[str]:
    """Return what to group by, each once; nothing where it was not asked for.

    Raises:
        BadParameter: with every name that is no key, or where there is none.
    """
    if by is None:
        return []
    names = [name.strip() for name in by.split(",")]
    unknown = [repr(name[:40]) for name in names if name not in KEYS]
    if unknown:
        message = f"no key {', '.join(unknown)}; there is {', '.join(KEYS)}"
        raise click.BadParameter(message, param_hint="--by")
    return list(dict.fromkeys(names))


def group_row(group: "FailureGroup") -> dict[str, object]:
    """Return a group as one flat row."""
    return {
        **group.key,
        "count": group.count,
        "recovered": group.recovered,
        "unrecovered": group.unrecovered,
        "trials_lost": group.trials_lost,
        "first_seq": group.first.seq,
        "last_seq": group.last.seq,
    }


COLUMNS = {
    "count": "count",
    "recovered": "recovered",
    "unrecovered": "not",
    "trials_lost": "trials lost",
    "first_seq": "first",
    "last_seq": "last",
}
"""Number of a group → heading of its column."""


def group_lines(
    groups: "Sequence[FailureGroup]", total: "Sequence[FailureGroup]", keys: Sequence[str]
) -> list[str]:
    """Return the groups as a table with the sum of all below it; no number is ever cut."""
    if not groups:
        return ["none"]
    every = [*groups, *total]
    rows = [group_row(group) for group in every]
    numbers = [{title: row[name] for name, title in COLUMNS.items()} for row in rows]
    labels = [", ".join(keys)]
    labels += [
        ", ".join(label_of(name, value) for name, value in group.key.items()) or "all"
        for group in every
    ]
    lines: list[str] = []
    for start, label in zip(columns(numbers, list(COLUMNS.values())), labels, strict=True):
        lines += wrapped(f"{start}  ", label, indent=len(start) + 2)
    return lines


def label_of(name: str, value: str | None) -> str:
    """Return what a group agrees in, as the table shows it."""
    if value is None:
        return "unknown"
    return value.replace("T", " ") if name == "minute" else value


def next_commands(run: "RunRecord", counts: "FailureCounts", keys: Sequence[str]) -> list[str]:
    """Return what to look at next: one of the failures, and all of them in another form."""
    other = f"ledger failures {run.name}" + ("" if keys else " --by class,endpoint")
    return ["", *next_lines(f"ledger trace {counts.example}", other)]


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
