"""How large a page may be: where texts of trials would make it larger, they are cut shorter.

Invariant: nothing but the end of a text is left out, and each text that was cut says so.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from trial_projections.report_structs import Report, RunReport, TrialRow
    from trial_projections.report_texts import ReportText

__all__ = ["LIMITS", "MOST_BYTES", "fitted", "has_cut"]

MOST_BYTES = 4_000_000
"""A page that is larger is slow to open; one of very many runs may still be."""
LIMITS = (1_000, 100, 20, 2)
"""Characters of one text, tried one after the other."""
PREFIX = 12
"""Characters of a blob's name by which `ledger show` finds it: 48 bits."""


def fitted(report: "Report", render: Callable[["Report"], str]) -> str:
    """Return a rendered report whose texts are as long as its size allows.

    Args:
        report: the report.
        render: what makes it text.
    """
    page = render(report)
    for limit in LIMITS:
        if len(page.encode()) < MOST_BYTES:
            break
        if all(limit >= run.shown.text_limit for run in report.runs):
            continue
        runs = [shorter_run(run, limit) for run in report.runs]
        page = render(msgspec.structs.replace(report, runs=runs))
    return page


def shorter_run(run: "RunReport", limit: int) -> "RunReport":
    """Return a run whose trials have no text of more than so many characters."""
    most = min(limit, run.shown.text_limit)
    return msgspec.structs.replace(
        run,
        shown=msgspec.structs.replace(run.shown, text_limit=most),
        trials=[shorter_trial(trial, most) for trial in run.trials],
    )


def shorter_trial(trial: "TrialRow", limit: int) -> "TrialRow":
    """Return a trial without a text of more than so many characters."""
    return msgspec.structs.replace(
        trial,
        question=shorter(trial.question, limit),
        answer=shorter(trial.answer, limit),
        gold=shorter(trial.gold, limit),
        verdicts=[
            msgspec.structs.replace(verdict, reasoning=shorter(verdict.reasoning, limit))
            for verdict in trial.verdicts
        ],
    )


def shorter(text: "ReportText | None", limit: int) -> "ReportText | None":
    """Return a text of no more than so many characters."""
    if text is None or text.text is None or len(text.text) <= limit:
        return text
    blob = None if text.blob is None else text.blob[:PREFIX]
    return msgspec.structs.replace(text, text=text.text[:limit], is_cut=True, blob=blob)


def has_cut(trials: Iterable["TrialRow"]) -> bool:
    """Return whether any text of some trials was cut."""
    return any(
        text is not None and text.is_cut
        for trial in trials
        for text in (
            trial.question,
            trial.answer,
            trial.gold,
            *(verdict.reasoning for verdict in trial.verdicts),
        )
    )
