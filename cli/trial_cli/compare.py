"""`ledger compare`: what two or more runs differ in, question by question.

Invariant: a difference stands with its interval and test, or with the reason why there is no
verdict; questions that only one run has are named; what is undecided widens the difference.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.compare_screen import compare_lines
from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit
from trial_ledger.errors import InvalidInputError, NotFoundError, Problem

if TYPE_CHECKING:
    from trial_projections.comparison_structs import Comparison
    from trial_projections.reading import ReadModel
    from trial_projections.records import RunRecord

__all__ = ["command"]

LISTS = ("only_first", "only_second", "flips")
"""Questions, of which a row has the number only."""
NESTED = ("scale", "missing")
"""Parts that a row has not, or field by field."""
MISSING = ("first", "second", "lost_first", "lost_second", "low", "high", "lost_p")


@click.command("compare", short_help="Runs over the same questions: differences, tests, frontier")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--metric", "metrics", multiple=True, metavar="METRIC", help="Only these; may be repeated."
)
@ledger_option
@as_of_option
@format_options
def command(
    runs: tuple[str, ...], *, metrics: tuple[str, ...], as_of: str | None, output_format: str
) -> None:
    """Compare the first RUN with each of the others, question by question.

    Shows what their manifests differ in; for every metric the difference of means by question with
    a 95 % interval, the exact sign-flip test (Student's where counting takes too long), what
    missing outcomes can do to it, and the questions that changed; and which runs no other one beats
    in quality, cost and latency. Tests are adjusted for their number: Holm's rule for the primary
    metric over all runs, Benjamini and Hochberg's for all other metrics together.

    Pilot and final, invalid and open runs, other rubrics and other datasets give no verdict; across
    rubrics and datasets the way from one number to the other is shown instead.
    """
    from trial_projections.comparison import compare  # noqa: PLC0415 - others start faster

    with read_model(as_of) as model:
        records = fit_runs(model, runs, metrics)
        found = compare(model, records, metrics)
    value = msgspec.to_builtins(found)
    lines = compare_lines(found)
    emit(
        Screen(schema="ledger.compare/1", value=value, rows=rows_of(found), lines=lines),
        output_format,
    )


def fit_runs(
    model: "ReadModel", names: tuple[str, ...], metrics: tuple[str, ...]
) -> "list[RunRecord]":
    """Return the runs that are named; refuse all that is wrong with them and the metrics at once.

    Raises:
        NotFoundError: there is no such run, or several, and nothing else is wrong.
        InvalidInputError: several faults, less than two runs, one run twice, or metrics that a
            rubric lacks.
    """
    runs: dict[str, RunRecord] = {}
    unknown: list[NotFoundError] = []
    problems: list[Problem] = []
    for name in names:
        try:
            run = model.run(name)
        except NotFoundError as error:
            unknown.append(error)
            continue
        if run.name in runs:
            problems.append(
                Problem(message="named twice", field="RUN", found=run.name,
                        expected="every run once")
            )  # fmt: skip
        runs[run.name] = run
    if len(names) == 1:
        problems.append(
            Problem(message="nothing to compare it with", field="RUN", found=names[0],
                    expected="two runs or more")
        )  # fmt: skip
    problems += lacking(model, runs.values(), metrics)
    if len(unknown) == 1 and not problems:
        raise unknown[0]
    problems = [*(Problem(message=each.message, field="RUN") for each in unknown), *problems]
    if problems:
        raise InvalidInputError(
            problems, what="command line", hint="ledger runs lists the runs", nothing_written=False
        )
    return list(runs.values())


def lacking(
    model: "ReadModel", runs: "Iterable[RunRecord]", metrics: tuple[str, ...]
) -> list[Problem]:
    """Return the metrics that a rubric lacks."""
    return [
        Problem(
            message=f"rubric {run.rubric} of {run.name} has no such metric",
            field="--metric",
            found=metric,
            expected=", ".join(sorted(known)),
        )
        for metric in metrics
        for run in runs
        for known in [model.rubric(run).metrics]
        if metric not in known
    ]


def rows_of(found: "Comparison") -> list[dict[str, object]]:
    """Return a row for every metric of every pair, questions counted and not named."""
    rows: list[dict[str, object]] = []
    for pair in found.pairs:
        for metric in pair.metrics:
            fields: dict[str, object] = msgspec.to_builtins(metric)
            row: dict[str, object] = {"first": pair.first, "second": pair.second}
            row |= {name: fields[name] for name in fields if name not in {*row, *NESTED}}
            missing = {} if metric.missing is None else msgspec.to_builtins(metric.missing)
            row |= {f"missing_{name}": missing.get(name) for name in MISSING}
            row |= {name: len(getattr(metric, name)) for name in LISTS}
            row["no_verdict"] = "; ".join(pair.no_verdict) or None
            rows.append(row)
    return rows
