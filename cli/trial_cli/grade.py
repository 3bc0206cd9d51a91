"""`ledger grade`: judgments under a run's own rubric, by its code graders.

Invariant: grading twice appends nothing; what only a judge or a person can give is named, not
skipped in silence.
"""

import click

from trial_cli.judging_lines import tally_lines, tally_rows
from trial_cli.options import format_options, ledger_option, opened, run_named
from trial_cli.output import Screen, emit

__all__ = ["command"]


@click.command("grade", short_help="Judge a run's answers by its code graders")
@click.argument("run")
@ledger_option
@format_options
def command(run: str, *, output_format: str) -> None:
    """Judge the answers of RUN under its own rubric, by the code graders that it names.

    Judgments that are there already stay, and nothing is added to them. Under another rubric a run
    is judged again by ledger rescore.
    """
    from trial_ledger.rescoring import judge_run  # noqa: PLC0415 - slow to import

    with opened(write=True) as ledger:
        name = run_named(ledger, run)
        tallies = judge_run(ledger, name)
    given = tallies.given.total()
    judgments = "1 judgment" if given == 1 else f"{given} judgments"
    lines = [f"{name}  {judgments} appended", *tally_lines(tallies)]
    lines.append(f"next: ledger scores {name}")
    rows = tally_rows(tallies)
    emit(
        Screen(
            schema="ledger.grade/1",
            value={"run": name, "appended": given, "metrics": rows},
            rows=rows,
            lines=lines,
        ),
        output_format,
    )
