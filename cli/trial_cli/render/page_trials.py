"""The trials of an HTML report: a row a slot, which opens to all that is known of it.

Invariant: question, answer, gold, judgments and reasoning stand side by side; a text that is not
there says why.
"""

from typing import TYPE_CHECKING

from trial_cli.output import fit
from trial_cli.render.facts import shown_words, spaced, text_words, verdict_words
from trial_cli.render.markup import anchor, element
from trial_cli.words import duration_text

if TYPE_CHECKING:
    from trial_projections.report_structs import RunReport, TrialRow, VerdictRow

__all__ = ["OPEN", "trial_place", "trials_section"]

OPEN = 10
"""Slots in trouble that are open when the page is."""
TROUBLED = ("error", "undecided", "failed")
BEGINNING = 60
"""Characters of the question that a closed row shows."""


def trial_place(place: str, slot: str) -> str:
    """Return where in the page a slot stands."""
    return f"{place}-t-{anchor(slot)}"


def trials_section(run: "RunReport", place: str) -> list[str]:
    """Return every slot that the report holds."""
    listed = {failure.seq for failure in run.failures}
    return [
        element("h3", text="Trials", id=f"{place}-trials"),
        element("p", text=shown_words(run.shown, run.summary.run.name)),
        *(
            trial_row(trial, place, listed, is_open=number < OPEN and trial.status in TROUBLED)
            for number, trial in enumerate(run.trials)
        ),
    ]


def trial_row(trial: "TrialRow", place: str, listed: set[int], *, is_open: bool) -> str:
    """Return one slot."""
    marks = [trial.status, spaced(trial.outcome)]
    marks += ["INVALIDATED"] * (not trial.valid) + ["GOLD LEAKED"] * trial.leaked
    beginning = fit(text_words(trial.question, "question not in the source"), BEGINNING)
    title = element(
        "summary",
        element("strong", text=trial.slot),
        element(
            "span",
            text=f" {', '.join(marks)} ",
            class_="g" if trial.status == "passed" else "e" if trial.status in TROUBLED else "m",
        ),
        element("span", text=beginning, dir="auto"),
    )
    cells = [
        cell("question", text_words(trial.question, "not in the source")),
        cell("answer", text_words(trial.answer, "none")),
    ]
    if trial.gold is not None:
        cells.append(cell("gold", text_words(trial.gold, "")))
    cells += [verdict_cell(verdict) for verdict in trial.verdicts]
    cells.append(facts_cell(trial, place, listed))
    attributes = {"open": ""} if is_open else {}
    return element(
        "details",
        title,
        element("div", *cells, class_="t"),
        id=trial_place(place, trial.slot),
        **attributes,
    )


def cell(label: str, text: str) -> str:
    """Return one labelled text."""
    return element(
        "div", element("b", text=label), element("div", text=text, class_="x", dir="auto")
    )


def verdict_cell(verdict: "VerdictRow") -> str:
    """Return a judgment with its reasoning."""
    parts = [element("b", text="judgment"), element("div", text=verdict_words(verdict))]
    if verdict.reasoning is not None:
        reasoning = text_words(verdict.reasoning, "")
        parts.append(element("div", text=reasoning, class_="x", dir="auto"))
    return element("div", *parts)


def facts_cell(trial: "TrialRow", place: str, listed: set[int]) -> str:
    """Return when it was, how long it took, and what failed, each with its trace."""
    facts = [f"took {duration_text(trial.duration_us)}"]
    if trial.seq is not None:
        facts.append(f"seq {trial.seq}")
    if trial.reason is not None:
        facts.append(f"ended: {trial.reason}")
    facts += [f"{name} does not count" for name in trial.other_sessions]
    parts = [element("b", text="trial"), element("div", text="; ".join(facts))]
    for seq in trial.failures:
        text = f"ledger trace {seq}"
        if seq in listed:
            parts.append(element("div", element("a", text=text, href=f"#{place}-f{seq}")))
        else:
            parts.append(element("div", element("code", text=text)))
    return element("div", *parts)
