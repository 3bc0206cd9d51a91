"""A report as Markdown, for a pull request or a page of notes.

Invariant: no text of the log is markup in it.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trial_cli.output import clean, markdown, markdown_cell
from trial_cli.render.facts import (
    confidence_words,
    failure_words,
    head_words,
    marked_number,
    moment_words,
    recovery_words,
    related_words,
    rule_rows,
    run_words,
    shown_words,
    spaced,
    surfaced_words,
    text_words,
    verdict_words,
)
from trial_cli.render.measures import (
    Sheet,
    agreement_sheet,
    comparison_sheets,
    effect_sheet,
    latency_sheet,
    price_words,
    rows_of,
)
from trial_cli.words import account_text, counts_text

if TYPE_CHECKING:
    from trial_projections.report_structs import Report, RunReport, TrialRow

__all__ = ["markdown_report"]

Row = dict[str, object]


def markdown_report(report: "Report") -> str:
    """Return a report as Markdown."""
    lines = ["# Evaluation report", ""]
    for run in report.runs:
        lines += run_lines(run)
    if report.comparison is not None:
        lines += ["## The runs compared", ""]
        for sheet in comparison_sheets(report.comparison):
            lines += [*sheet_lines(sheet), ""]
    lines += ["## The log", "", *bullets([moment_words(report), head_words(report)])]
    if report.head is not None:
        lines += ["", *indented(report.head.note)]
    if not report.include_gold:
        lines += ["", "Texts that may show gold are not in this report: `--include-gold`."]
    lines += ["", "Check the log and make this report again:", "", *indented_all(report.commands)]
    return "\n".join(lines) + "\n"


def run_lines(run: "RunReport") -> list[str]:
    """Return the part of one run: warnings, numbers, failures, then the rest."""
    summary, record = run.summary, run.summary.run
    invalid = "" if record.is_valid else " (INVALID)"
    phase = f" ({summary.phase or 'phase unknown'})"
    lines = [f"## Run {markdown_cell(record.name)}{invalid}{phase}", ""]
    if not record.is_valid:
        lines += ["**This run does not count.**", ""]
    lines += bullets(
        f"{'since' if not change.valid else 'reinstated at'} seq {change.seq},"
        f" {change.actor}: {text_words(change.reason, 'no reason')}"
        for change in run.changes
    )
    lines += ["", "### Numbers", "", *number_lines(run)]
    lines += ["", "### Failures", "", cell(failure_words(run)), "", *failure_lines(run)]
    if run.effects:
        lines += ["", *sheet_lines(effect_sheet(run))]
    lines += ["", "### Trust and limitations", ""]
    lines += bullets(mark.text for mark in summary.trust if mark.level == "ok")
    lines += bullets(f"! {text}" for text in run.limitations)
    lines += bullets(f"the source had already lost: {loss}" for loss in run.losses)
    lines += ["", "### What was run", "", *pairs(run_words(run), "what", "is")]
    if run.dataset.warnings:
        lines += ["", "Warnings of the dataset:", "", *bullets(run.dataset.warnings)]
    lines += ["", "### Review and agreement", "", *review_lines(run)]
    lines += ["", "### Cost", "", *cost_lines(run), "", cell(price_words(run))]
    lines += ["", "### Latency", "", *sheet_lines(latency_sheet(run))]
    lines += ["", "### Other runs and rubrics on these questions", "", *related_lines(run)]
    lines += ["", "### Trials", "", cell(shown_words(run.shown, record.name)), ""]
    for trial in run.trials:
        lines += trial_lines(trial)
    lines += ["", "### Commands", "", *indented_all(run.commands), ""]
    return lines


def number_lines(run: "RunReport") -> list[str]:
    """Return the metrics, each with its other rules and what it is made of."""
    rows: list[Row] = [
        {
            "metric": metric.name,
            "shapes": ", ".join(run.shapes[metric.name]) or "all",
            "value": marked_number(run, metric),
            "95 % interval by question": confidence_words(metric),
            "decided": f"{metric.decided} of {metric.denominator}",
            "left out": metric.planned - metric.denominator,
            "outcomes": counts_text(metric.outcomes),
        }
        for metric in run.summary.metrics
    ]
    lines = markdown(rows)
    for metric, derivation in zip(run.summary.metrics, run.derivations, strict=True):
        lines += ["", f"#### {markdown_cell(metric.name)}: what it is made of", ""]
        groups: list[Row] = [
            {
                "ground": group.ground,
                "outcome": spaced(group.outcome),
                "slots": group.count,
                "scores": "" if group.low is None else f"{group.low} to {group.high}",
                "which": ", ".join(group.slots) + (" …" if group.count > len(group.slots) else ""),
            }
            for group in derivation.groups
        ]
        lines += markdown(groups)
        lines += ["", *pairs(rule_rows(metric), "other rule, never a headline", "value")]
    reported: list[Row] = [
        {"the source's own": f"{one.metric} {one.name}", "value": one.value}
        for one in run.summary.reported
    ]
    return [*lines, "", *markdown(reported)] if reported else lines


def failure_lines(run: "RunReport") -> list[str]:
    """Return every failure that the report lists, with the command that shows its trace."""
    rows: list[Row] = [
        {
            "trace": f"ledger trace {failure.seq}",
            "slot": failure.slot or "the run",
            "class": failure.class_,
            "fault": failure.fault or "unknown",
            "endpoint": failure.endpoint or "unknown",
            "recovered": recovery_words(failure),
            "surfaced": surfaced_words(failure),
            "impact": spaced(failure.impact),
            "message": text_words(failure.message, "none recorded"),
        }
        for failure in run.failures
    ]
    misses = [f"retrieval miss, no failure: {miss.slot}, seq {miss.seq}" for miss in run.misses]
    disagreements = [
        f"disagreement {row.disagreement} of {row.slot}, seq {row.seq}: {row.finding or 'OPEN'}"
        for row in run.disagreements
    ]
    return [*markdown(rows), *([""] if rows else []), *bullets([*misses, *disagreements])]


def cost_lines(run: "RunReport") -> list[str]:
    """Return the accounts, never added together."""
    rows: list[Row] = [
        {
            "account": account.name,
            "cost": account_text(account),
            "calls": account.calls,
            "of unknown cost": account.unknown_count,
        }
        for account in run.summary.accounts
    ]
    return markdown(rows) or ["No calls recorded: cost unknown."]


def sheet_lines(sheet: Sheet) -> list[str]:
    """Return a table of plain texts below its title."""
    return [f"**{cell(sheet.title)}**", "", *markdown(rows_of(sheet))]


def review_lines(run: "RunReport") -> list[str]:
    """Return how people reviewed the run, and how they agree with what was judged."""
    if not run.reviews:
        return ["Nothing was judged automatically."]
    confusions = [
        f"{row.metric}: {times} judged {judged}, reviewed {reviewed}"
        for row in run.reviews
        for judged, reviewed, times in row.confusion
    ]
    return [*sheet_lines(agreement_sheet(run)), "", *bullets(confusions)]


def related_lines(run: "RunReport") -> list[str]:
    """Return the other runs on the same questions."""
    rows: list[Row] = [
        {
            "run": other.run,
            "rubric": other.rubric,
            "configuration": other.configuration,
            "related": related_words(other),
        }
        for other in run.related
    ]
    return markdown(rows) or ["None in this ledger."]


def trial_lines(trial: "TrialRow") -> list[str]:
    """Return one slot."""
    marks = [trial.status, spaced(trial.outcome)]
    marks += ["invalidated"] * (not trial.valid) + ["gold leaked"] * trial.leaked
    lines = [f"#### {markdown_cell(trial.slot)}: {', '.join(marks)}", ""]
    texts = [
        ("question", text_words(trial.question, "not in the source")),
        ("answer", text_words(trial.answer, "none")),
    ]
    if trial.gold is not None:
        texts.append(("gold", text_words(trial.gold, "")))
    for verdict in trial.verdicts:
        texts.append(("judgment", verdict_words(verdict)))
        if verdict.reasoning is not None:
            texts.append(("reasoning", text_words(verdict.reasoning, "")))
    texts += [("failure", f"ledger trace {seq}") for seq in trial.failures]
    texts += [("other session", f"{name}, does not count") for name in trial.other_sessions]
    lines += [f"- {label}: {cell(text)}" for label, text in texts]
    return [*lines, ""]


def cell(text: object) -> str:
    """Return a text on one line, in which nothing is markup."""
    return markdown_cell(clean(text))


def bullets(texts: Iterable[str]) -> list[str]:
    """Return texts as a list."""
    return [f"- {cell(text)}" for text in texts]


def pairs(rows: Sequence[tuple[str, str]], left: str, right: str) -> list[str]:
    """Return pairs as a table."""
    return markdown([{left: label, right: words} for label, words in rows])


def indented(text: str) -> list[str]:
    """Return a text of our own making as a block of code."""
    return [f"    {clean(line)}" for line in text.rstrip("\n").split("\n")]


def indented_all(commands: Sequence[str]) -> list[str]:
    """Return commands as a block of code."""
    return [line for command in commands for line in indented(command)]
