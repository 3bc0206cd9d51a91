"""The part of an HTML report that is about one run.

Invariant: the number stands beside what weakens it; each number leads to what it is made of, each
failure to its trial and to the command that shows its trace.
"""

from typing import TYPE_CHECKING

from trial_cli.render.charts import table
from trial_cli.render.facts import (
    confidence_words,
    count_words,
    failure_words,
    marked_number,
    number_words,
    recovery_words,
    related_words,
    rule_rows,
    run_words,
    spaced,
    surfaced_words,
    text_words,
)
from trial_cli.render.markup import anchor, element, escaped
from trial_cli.render.measures import (
    Sheet,
    agreement_sheet,
    effect_sheet,
    latency_sheet,
    price_words,
)
from trial_cli.render.page_charts import cost_chart, failure_chart, outcome_chart, range_chart
from trial_cli.render.page_trials import trial_place, trials_section
from trial_cli.words import account_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trial_projections.report_structs import FailureRow, RunReport
    from trial_projections.scores import MetricScore

__all__ = ["run_section", "sheet_table"]

HEADINGS = (
    "trace", "slot", "class", "fault", "endpoint", "recovered", "surfaced", "impact", "message",
)  # fmt: skip
"""Of the table of failures."""


def run_section(run: "RunReport", number: int) -> str:
    """Return the section of one run, the `number`-th of the page."""
    place = f"r{number}"
    parts = [
        *first_screen(run, place),
        *failure_part(run, place),
        *derivation_part(run, place),
        *trust_part(run, place),
        *review_part(run, place),
        *cost_part(run, place),
        *latency_part(run, place),
        *about_part(run, place),
        *related_part(run, place),
        *trials_section(run, place),
        element("h3", text="The same from the log"),
        element("pre", text="\n".join(run.commands)),
    ]
    return element("section", *parts, joint="\n", id=place)


def bullets(texts: "Iterable[str]") -> str:
    """Return texts as a list."""
    return element("ul", *(element("li", text=text) for text in texts))


def first_screen(run: "RunReport", place: str) -> list[str]:
    """Return whether the run counts, its numbers, and how its trials came out."""
    summary, record = run.summary, run.summary.run
    phase = summary.phase or "phase unknown"
    parts = [
        element("h2", text=f"Run {record.name}"),
        element(
            "p",
            text=f"{phase}, {record.status}; {run.dataset.reference}; rubric {record.rubric};"
            f" {count_words(summary.questions, 'question')} x {summary.repetitions}",
        ),
    ]
    if not record.is_valid:
        marks = [mark.text for mark in summary.trust if mark.text.startswith("INVALID")]
        text = f"This run does not count. {'; '.join(marks)}"
        parts.append(element("p", text=text, class_="bad", role="note"))
    elif run.changes:
        parts.append(element("p", text="Invalidated, and reinstated since: see below."))
    parts.append(contents(run, place))
    cards = [card(run, metric, place) for metric in summary.metrics]
    parts.append(element("div", *cards, class_="c"))
    parts.append(outcome_chart(run, place))
    return parts


def contents(run: "RunReport", place: str) -> str:
    """Return where in the section what is, how much of it first."""
    items = (
        ("failures", count_words(run.failures_total, "failure")),
        ("derivation", "what the numbers are made of"),
        ("trust", f"{len(run.limitations)} limitations"),
        ("review", "review and agreement"),
        ("cost", "cost"),
        ("latency", "latency"),
        ("about", "what was run"),
        ("related", count_words(len(run.related), "other run")),
        ("trials", f"trials ({run.shown.troubled} in trouble)"),
    )
    links = [
        element("li", element("a", text=words, href=f"#{place}-{name}")) for name, words in items
    ]
    label = f"Contents of run {run.summary.run.name}"
    return element("nav", element("ul", *links, class_="o"), aria_label=label)


def card(run: "RunReport", metric: "MetricScore", place: str) -> str:
    """Return a metric at a glance: the number leads to what it is made of."""
    shapes = ", ".join(run.shapes[metric.name]) or "all shapes"
    link = element(
        "a", text=marked_number(run, metric), href=f"#{place}-d-{anchor(metric.name)}", class_="n"
    )
    undecided = sum(metric.undecided.values())
    left_out = f"{metric.planned - metric.denominator} of {metric.planned} planned left out"
    facts = [
        f"{metric.measure}, {shapes}, {metric.aggregate}",
        f"{metric.decided} of {metric.denominator} decided, {metric.by_rule} by rule; {left_out}",
    ]
    facts.append(f"95 % interval by question: {confidence_words(metric)}")
    if undecided:
        facts.append(f"{undecided} undecided: no point value")
    lines = [element("p", text=fact, class_="m") for fact in facts]
    if not metric.gate_decided:
        lines.append(element("p", text="gate decided: FAILED", class_="e"))
    return element(
        "div", element("p", element("strong", text=metric.name)), element("p", link), *lines,
        class_="k",
    )  # fmt: skip


def failure_part(run: "RunReport", place: str) -> list[str]:
    """Return every failure, recovered or not; then misses and disagreements."""
    parts = [
        element("h3", text="Failures", id=f"{place}-failures"),
        element("p", text=failure_words(run)),
    ]
    if run.failures:
        slots = {trial.slot for trial in run.trials}
        parts.append(failure_chart(run, place))
        parts.append(
            table(
                "Failure occurrences, those not recovered first",
                HEADINGS,
                [failure_row(failure, place, slots) for failure in run.failures],
            )
        )
    if run.effects:
        parts.append(sheet_table(effect_sheet(run)))
    if run.misses:
        words = [f"{miss.slot}, seq {miss.seq}" for miss in run.misses]
        parts += [element("h4", text="Retrieval misses, which are no failures"), bullets(words)]
    if run.disagreements:
        words = [
            f"{row.disagreement} of {row.slot}, seq {row.seq}: {spaced(row.finding or 'OPEN')}"
            for row in run.disagreements
        ]
        parts += [element("h4", text="Disagreements of reviewer and judge"), bullets(words)]
    return parts


def failure_row(failure: "FailureRow", place: str, slots: set[str]) -> list[str]:
    """Return the cells of one failure; its slot leads to the trial where the page holds it."""
    slot = escaped(failure.slot or "the run")
    if failure.slot in slots:
        slot = element("a", text=failure.slot, href=f"#{trial_place(place, failure.slot)}")
    class_ = failure.class_
    if failure.detail_class is not None:
        class_ += f" ({failure.detail_class})"
    return [
        element("code", text=f"ledger trace {failure.seq}", id=f"{place}-f{failure.seq}"),
        slot,
        escaped(class_),
        escaped(failure.fault or "unknown"),
        escaped(failure.endpoint or "unknown"),
        escaped(recovery_words(failure)),
        escaped(surfaced_words(failure)),
        escaped(spaced(failure.impact)),
        element("span", text=text_words(failure.message, "none recorded"), class_="x"),
    ]


def derivation_part(run: "RunReport", place: str) -> list[str]:
    """Return for each metric its other rules and the slots that it is made of."""
    title = "What the numbers are made of"
    parts = [element("h3", text=title, id=f"{place}-derivation")]
    for metric, derivation in zip(run.summary.metrics, run.derivations, strict=True):
        name = anchor(metric.name)
        parts.append(
            element(
                "h4", text=f"{metric.name}: {marked_number(run, metric)}", id=f"{place}-d-{name}"
            )
        )
        if metric.headline is not None:
            parts.append(range_chart(metric, f"{place}-c-{name}"))
            rows = [(number_words(metric), "headline")]
            rows.append((confidence_words(metric), "95 % interval by question"))
            rows += [(value, f"{words}: never a headline") for words, value in rule_rows(metric)]
            cells = [[escaped(words), escaped(value)] for value, words in rows]
            parts.append(table(f"{metric.name} under every rule", ("rule", "value"), cells))
        groups = [
            [
                escaped(f"{group.ground}: {spaced(group.outcome)}"),
                str(group.count),
                escaped("" if group.low is None else f"{group.low} to {group.high}"),
                escaped(" ".join(group.slots) + (" …" if group.count > len(group.slots) else "")),
            ]
            for group in derivation.groups
        ]
        names = ("how it counts", "slots", "scores", "which")
        parts.append(table(f"{metric.name}: slots by how they count", names, groups))
    if run.summary.reported:
        rows = [(f"{one.metric} {one.name}", one.value) for one in run.summary.reported]
        cells = [[escaped(name), escaped(value)] for name, value in rows]
        parts.append(table("What the source itself reports", ("number", "value"), cells))
    return parts


def trust_part(run: "RunReport", place: str) -> list[str]:
    """Return what supports the numbers, and what weakens them."""
    good = [mark.text for mark in run.summary.trust if mark.level == "ok"]
    parts = [
        element("h3", text="Trust and limitations", id=f"{place}-trust"),
        *(element("p", text=f"ok: {text}", class_="g") for text in good),
        bullets(run.limitations),
    ]
    if run.losses:
        parts += [element("h4", text="What the source had already lost"), bullets(run.losses)]
    if run.changes:
        words = [
            f"{'reinstated' if change.valid else 'invalidated'} at seq {change.seq} by"
            f" {change.actor}: {text_words(change.reason, 'no reason')}"
            for change in run.changes
        ]
        parts += [element("h4", text="Invalidations"), bullets(words)]
    return parts


def cost_part(run: "RunReport", place: str) -> list[str]:
    """Return the accounts, never added together."""
    parts = [element("h3", text="Cost", id=f"{place}-cost")]
    if not run.summary.accounts:
        return [*parts, element("p", text="No calls recorded: cost unknown.")]
    cells = [
        [
            escaped(account.name),
            escaped(account_text(account)),
            str(account.calls),
            str(account.known_count),
            str(account.unknown_count),
        ]
        for account in run.summary.accounts
    ]
    names = ("account", "cost", "calls", "of known cost", "of unknown cost")
    parts += [cost_chart(run, place), table("Accounts, kept apart", names, cells)]
    return [*parts, element("p", text=price_words(run))]


def sheet_table(sheet: Sheet) -> str:
    """Return a table of plain texts."""
    return table(sheet.title, sheet.names, [[escaped(cell) for cell in row] for row in sheet.rows])


def latency_part(run: "RunReport", place: str) -> list[str]:
    """Return how long trials and calls took."""
    heading = element("h3", text="Latency", id=f"{place}-latency")
    return [heading, sheet_table(latency_sheet(run))]


def review_part(run: "RunReport", place: str) -> list[str]:
    """Return how people reviewed the run, and how they agree with what was judged (C29, C30)."""
    heading = element("h3", text="Review and agreement", id=f"{place}-review")
    if not run.reviews:
        return [heading, element("p", text="Nothing was judged automatically.")]
    confusions = [
        f"{row.metric}: {times} judged {judged}, reviewed {reviewed}"
        for row in run.reviews
        for judged, reviewed, times in row.confusion
    ]
    return [
        heading,
        sheet_table(agreement_sheet(run)),
        *([bullets(confusions)] if confusions else []),
    ]


def about_part(run: "RunReport", place: str) -> list[str]:
    """Return configuration, documents, dataset and what it warns of."""
    pairs = [
        part
        for label, words in run_words(run)
        for part in (element("dt", text=label), element("dd", text=words))
    ]
    parts = [element("h3", text="What was run", id=f"{place}-about"), element("dl", *pairs)]
    if run.dataset.warnings:
        parts += [element("h4", text="Warnings of the dataset"), bullets(run.dataset.warnings)]
    return parts


def related_part(run: "RunReport", place: str) -> list[str]:
    """Return the other runs and rubrics on the same questions (C14)."""
    title = "Other runs and rubrics on these questions"
    parts = [element("h3", text=title, id=f"{place}-related")]
    if not run.related:
        return [*parts, element("p", text="None in this ledger.")]
    cells = [
        [
            escaped(other.run),
            escaped(other.rubric),
            escaped(other.configuration),
            escaped(related_words(other)),
        ]
        for other in run.related
    ]
    names = ("run", "rubric", "configuration", "how it is related")
    return [*parts, table("Runs in the order in which they were opened", names, cells)]
