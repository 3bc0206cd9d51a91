"""`ledger review next`: one drawn trial at a time, without what was judged of it.

Invariant: nothing that is shown before a review is recorded comes from a judgment; nobody is asked
anything where there is no terminal (C29).
"""

import shlex
import sys
from typing import TYPE_CHECKING

import click
import msgspec

from trial_cli.output import Screen, clean
from trial_cli.review_act import Opinion, metric_of, perform_review, plan_review
from trial_cli.words import wrapped
from trial_ledger.errors import NotFoundError

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_projections.reading import ReadModel
    from trial_projections.review_sheet import Sheet

__all__ = ["has_terminal", "next_sheet", "review_at_terminal", "sheet_screen"]

KEYS = {
    "c": "correct",
    "p": "partial",
    "i": "incorrect",
    "a": "abstained",
    "n": "not_gradable",
}
"""Key → verdict."""
QUIT = "q"


def has_terminal() -> bool:
    """Return whether a person can be asked something."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def next_sheet(
    model: "ReadModel", run: str, metric: str | None, *, include_gold: bool
) -> "tuple[Sheet, int]":
    """Return the sheet of the next drawn trial that nobody reviewed, and how many remain.

    Raises:
        NotFoundError: nothing is drawn, or nothing remains.
    """
    from trial_projections.review_coverage import coverage_of  # noqa: PLC0415 - slow to import
    from trial_projections.review_sheet import sheets_of  # noqa: PLC0415 - likewise

    record = model.run(run)
    if metric is not None:
        metric_of(model, record, metric)
    source = model.score_input(record)
    names = sorted(source.rubric.metrics) if metric is None else [metric]
    for name in names:
        coverage = coverage_of(model, record, source, name)
        if coverage.plan is not None and coverage.remaining:
            (sheet,) = sheets_of(
                model, record, source, name, coverage.remaining[:1], include_gold=include_gold
            )
            return sheet, len(coverage.remaining)
    message = f"no drawn trial of {record.name} is left to review"
    raise NotFoundError(message, hint=f"ledger review status {record.name}")


def sheet_screen(run: str, sheet: "Sheet", remaining: int) -> Screen:
    """Return a trial as a reviewer sees it, and the command that records the review."""
    address = f"{run}/{sheet.trial}"
    command = (
        f"ledger review record {shlex.quote(address)} {shlex.quote(sheet.metric)}"
        " --verdict V --reason TEXT"
    )
    lines = [
        *wrapped("trial", f"{address}  {sheet.metric}, {remaining} to review"),
        *wrapped("question", sheet.question),
        *([] if sheet.context is None else wrapped("context", sheet.context)),
        *wrapped("answer", sheet.answer),
        *([] if sheet.gold is None else wrapped("gold", sheet.gold)),
        f"{'record':<10}{clean(command)}",
    ]
    row: dict[str, object] = {"run": run, **msgspec.structs.asdict(sheet), "command": command}
    value = {**row, "remaining": remaining}
    return Screen(schema="ledger.review.next/1", value=value, rows=[row], lines=lines)


def review_at_terminal(ledger: "Ledger", run: str, sheet: "Sheet", actor: str) -> Screen | None:
    """Ask for a verdict by one key and for a reason, record both; None where the person leaves.

    Args:
        ledger: a ledger open for writing.
        run: the run.
        sheet: what the person was shown.
        actor: the person.
    """
    from trial_projections.reading import ReadModel  # noqa: PLC0415 - slow to import

    keys = "  ".join(f"{key} {verdict}" for key, verdict in KEYS.items())
    click.echo(f"{keys}  {QUIT} leave")
    key = ""
    while key not in KEYS:
        key = click.getchar().lower()
        if key == QUIT:
            return None
    verdict = KEYS[key]
    reason = click.prompt(f"{verdict}, because")
    opinion = Opinion(verdict=verdict, reason=reason, actor=actor)
    # Read again: nobody else is kept waiting while a person thinks.
    model = ReadModel.open(ledger)
    try:
        plan = plan_review(model, run, sheet.trial, sheet.metric, opinion)
    except BaseException:
        model.close()
        raise
    return perform_review(ledger, model, plan)
