"""The trials of an HTML report: a row a slot, which opens to all that is known of it.

Invariant: question, answer, gold, judgments and reasoning stand side by side; a text that is not
there says why.
"""

from typing import TYPE_CHECKING

from trial_cli.output import fit
from trial_cli.render.budget import has_cut
from trial_cli.render.facts import shown_words, spaced, text_words, verdict_words
from trial_cli.render.markup import anchor, element, escaped
from trial_cli.words import duration_text
from trial_projections.report_texts import GOLD_HIDDEN

if TYPE_CHECKING:
    from trial_projections.report_structs import RunReport, TrialRow, VerdictRow

__all__ = ["OPEN", "trial_place", "trials_section"]

OPEN = 10
"""Slots in trouble that are open when the page is."""
TROUBLED = ("error", "undecided", "failed")
BEGINNING = 120
"""Characters of the question that the title of a row shows."""


def trial_place(place: str, slot: str) -> str:
    """Return where in the page a slot stands."""
    return f"{place}-t-{anchor(slot)}"


def trials_section(run: "RunReport", place: str) -> list[str]:
    """Return every slot that the report holds."""
    listed = {failure.seq for failure in run.failures}
    words = shown_words(run.shown, run.summary.run.name)
    if has_cut(run.trials):
        words += (
            f"; texts are cut at {run.shown.text_limit} characters, and behind each stands how long"
            f" it is and what shows it; ledger trials {run.summary.run.name} lists the trials"
        )
    return [
        element("h3", text="Trials", id=f"{place}-trials"),
        element("p", text=words),
        *(
            trial_row(trial, place, listed, is_open=number < OPEN and trial.status in TROUBLED)
            for number, trial in enumerate(run.trials)
        ),
    ]


def trial_row(trial: "TrialRow", place: str, listed: set[int], *, is_open: bool) -> str:
    """Return one slot."""
    marks = [trial.status, spaced(trial.outcome)]
    marks += ["INVALIDATED"] * (not trial.valid) + ["GOLD LEAKED"] * trial.leaked
    question = text_words(trial.question, "question not in the source")
    is_short = len(question) <= BEGINNING and "\n" not in question
    title = element(
        "summary",
        element("b", text=trial.slot),
        element(
            "span",
            text=f" {', '.join(marks)} ",
            class_="g" if trial.status == "passed" else "e" if trial.status in TROUBLED else "m",
        ),
        element("span", text=fit(question, BEGINNING)),
    )
    # What the title holds whole is not said twice: a page of 5,000 trials stays small.
    cells = [] if is_short else [cell("question", question)]
    cells.append(cell("answer", text_words(trial.answer, "none")))
    if trial.gold is not None:
        cells.append(cell("gold", text_words(trial.gold, "")))
    cells += [cell("judgment", judgment_words(verdict)) for verdict in trial.verdicts]
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
    return element("div", element("b", text=label) + escaped(text, lines=True))


def judgment_words(verdict: "VerdictRow") -> str:
    """Return a judgment with its reasoning; that the page holds no gold is said once."""
    words = verdict_words(verdict)
    if verdict.reasoning is None or verdict.reasoning.missing == GOLD_HIDDEN:
        return words
    return f"{words}\n{text_words(verdict.reasoning, '')}"


def facts_cell(trial: "TrialRow", place: str, listed: set[int]) -> str:
    """Return when it was, how long it took, and what failed, each with its trace."""
    facts = [f"took {duration_text(trial.duration_us)}"]
    if trial.seq is not None:
        facts.append(f"seq {trial.seq}")
    if trial.reason is not None:
        facts.append(f"ended: {trial.reason}")
    facts += [f"{name} does not count" for name in trial.other_sessions]
    parts = [element("b", text="trial") + escaped("; ".join(facts))]
    for seq in trial.failures:
        text = f"ledger trace {seq}"
        if seq in listed:
            link = element("a", text=text, href=f"#{place}-f{seq}")
        else:
            link = element("code", text=text)
        parts.append(element("div", link))
    return element("div", *parts)
