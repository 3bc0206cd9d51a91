"""A report as one HTML file: no script, no image, nothing from elsewhere.

Invariant: every text of the log is text in it and never markup, address or style; the page says
the same as the other forms, what went wrong first.
"""

from typing import TYPE_CHECKING

from trial_cli.render.budget import fitted
from trial_cli.render.facts import count_words, head_words, moment_words
from trial_cli.render.markup import element, quoted
from trial_cli.render.measures import comparison_sheets
from trial_cli.render.page_run import run_section, sheet_table
from trial_cli.render.style import STYLE, security_policy

if TYPE_CHECKING:
    from trial_projections.report_structs import Report

__all__ = ["html_report"]


def html_report(report: "Report") -> str:
    """Return a report as HTML; where it would be too large, texts of trials are cut shorter."""
    return fitted(report, page_of)


def page_of(report: "Report") -> str:
    """Return a report as HTML, of whatever size."""
    names = ", ".join(run.summary.run.name for run in report.runs)
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content={quoted(security_policy())}>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"{element('title', text=f'Evaluation report: {names}')}\n<style>{STYLE}</style>"
    )
    sections = [run_section(run, number) for number, run in enumerate(report.runs, 1)]
    body = element(
        "body",
        element("header", *heading(report, names), joint="\n"),
        element("main", *sections, *comparison_section(report), log_section(report), joint="\n"),
        joint="\n",
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n{body}\n</html>\n'


def heading(report: "Report", names: str) -> list[str]:
    """Return the title and where in the page what is."""
    parts = [element("h1", text="Evaluation report"), element("p", text=names)]
    invalid = [run.summary.run.name for run in report.runs if not run.summary.run.is_valid]
    if invalid:
        text = f"{count_words(len(invalid), 'run')} in this report INVALID: {', '.join(invalid)}"
        parts.append(element("p", text=text, class_="bad"))
    if report.include_gold:
        parts.append(element("p", text="Holds gold: do not publish.", class_="bad"))
    items = [
        (f"#r{number}", f"Run {run.summary.run.name}") for number, run in enumerate(report.runs, 1)
    ]
    if report.comparison is not None:
        items.append(("#compared", "The runs compared"))
    items.append(("#log", "The log and how to check this"))
    links = [element("li", element("a", text=words, href=place)) for place, words in items]
    parts.append(element("nav", element("ul", *links, class_="o"), aria_label="Contents"))
    return parts


def comparison_section(report: "Report") -> list[str]:
    """Return the first run beside each of the others, question by question (C35)."""
    if report.comparison is None:
        return []
    tables = [sheet_table(sheet) for sheet in comparison_sheets(report.comparison)]
    parts = [element("h2", text="The runs compared"), *tables]
    return [element("section", *parts, joint="\n", id="compared")]


def log_section(report: "Report") -> str:
    """Return of what log the page speaks, who signed for it, and how to check it."""
    parts = [
        element("h2", text="The log and how to check this"),
        element("p", text=moment_words(report)),
        element("p", text=head_words(report)),
    ]
    if report.head is not None:
        parts.append(element("pre", text=report.head.note))
    if not report.include_gold:
        text = "Texts that may show gold are not in this page; --include-gold puts them in."
        parts.append(element("p", text=text))
    parts.append(element("p", text="Check the log and make this report again:"))
    parts.append(element("pre", text="\n".join(report.commands)))
    return element("section", *parts, joint="\n", id="log")
