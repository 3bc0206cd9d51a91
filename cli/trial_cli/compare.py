"""`ledger compare`: what two or more runs differ in, question by question.

Invariant: a difference stands with its interval and test, or with the reason why there is no
verdict; questions that only one run has are named; what is undecided widens the difference.
"""

from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.compare_screen import compare_lines
from trial_cli.options import as_of_option, format_options, ledger_option, read_model
from trial_cli.output import Screen, emit
from trial_ledger.errors import InvalidInputError, Problem

if TYPE_CHECKING:
    from trial_projections.comparison_structs import Comparison
    from trial_projections.reading import ReadModel
    from trial_projections.records import RunRecord

__all__ = ["command"]

LISTS = ("only_first", "only_second", "flips")
"""Questions, of which a row has the number only."""


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
    a 95 % interval, the exact sign-flip test (Student's where counting takes too long) adjusted for
    several runs by Holm's rule, and the questions that changed; and which runs no other one beats
    in quality, cost and latency.

    Pilot and final, invalid and open runs, other rubrics and other datasets give no verdict; across
    rubrics and datasets the way from one number to the other is shown instead.
    """
    from trial_projections.comparison import compare  # noqa: PLC0415 - others start faster

    with read_model(as_of) as model:
        records = [model.run(run) for run in runs]
        refuse_unfit(model, records, metrics)
        found = compare(model, records, metrics)
    value = msgspec.to_builtins(found)
    lines = compare_lines(found)
    emit(
        Screen(schema="ledger.compare/1", value=value, rows=rows_of(found), lines=lines),
        output_format,
    )


def refuse_unfit(model: "ReadModel", runs: "list[RunRecord]", metrics: tuple[str, ...]) -> None:
    """Refuse less than two runs, one run twice, and metrics that a rubric lacks; all at once.

    Raises:
        InvalidInputError: what is asked for cannot be compared.
    """
    names = [run.name for run in runs]
    problems = [
        Problem(message="named twice", field="RUN", found=name, expected="every run once")
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if len(names) == 1:
        problems.append(
            Problem(message="nothing to compare it with", field="RUN", found=names[0],
                    expected="two runs or more: ledger runs")
        )  # fmt: skip
    for metric in metrics:
        for run in {run.name: run for run in runs}.values():
            known = model.rubric(run).metrics
            if metric not in known:
                problems.append(
                    Problem(message=f"rubric {run.rubric} of {run.name} has no such metric",
                            field="--metric", found=metric, expected=", ".join(sorted(known)))
                )  # fmt: skip
    if problems:
        raise InvalidInputError(problems, what="command line", nothing_written=False)


def rows_of(found: "Comparison") -> list[dict[str, object]]:
    """Return a row for every metric of every pair, questions counted and not named."""
    rows: list[dict[str, object]] = []
    for pair in found.pairs:
        for metric in pair.metrics:
            fields: dict[str, object] = msgspec.to_builtins(metric)
            row: dict[str, object] = {"first": pair.first, "second": pair.second}
            row |= {name: fields[name] for name in fields if name not in {*row, "scale"}}
            row |= {name: len(getattr(metric, name)) for name in LISTS}
            row["no_verdict"] = "; ".join(pair.no_verdict) or None
            rows.append(row)
    return rows
