"""What the forms of a report say in the same words: numbers, states, where more is shown.

Invariant: an unknown quantity is called unknown, an undecided one has no point value, and a text
that is not shown says why.
"""

from typing import TYPE_CHECKING

from trial_cli.output import clean, clean_lines
from trial_cli.words import interval_text, interval_words, percent_range, range_text

if TYPE_CHECKING:
    from trial_projections.report_structs import (
        DatasetFacts,
        FailureRow,
        RelatedRun,
        Report,
        RunReport,
        Shown,
        VerdictRow,
    )
    from trial_projections.report_texts import ReportText
    from trial_projections.scores import MetricScore

__all__ = [
    "RULES",
    "confidence_words",
    "count_words",
    "dataset_words",
    "failure_words",
    "head_words",
    "marked_number",
    "moment_words",
    "number_words",
    "recovery_words",
    "related_words",
    "rule_rows",
    "run_words",
    "shown_words",
    "spaced",
    "surfaced_words",
    "text_words",
    "verdict_words",
]

RULES = {
    "errors_excluded": "errors left out",
    "complete_case": "answered and judged only",
    "worst": "everything missing wrong",
    "best": "everything missing right",
    "without_invalidated": "without invalidated trials",
    "without_leaks": "without leaks",
    "first_sessions": "first sessions only",
    "retries_counted": "retries counted",
}
"""Another rule to count by → its words; never a headline."""


def spaced(name: str) -> str:
    """Return a name of ours with blanks."""
    return name.replace("_", " ")


def count_words(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def text_words(text: "ReportText | None", absent: str) -> str:
    """Return a text as harmless lines, or in brackets why it is not shown."""
    if text is None:
        return f"[{absent}]"
    if text.text is None:
        return f"[{text.missing}]"
    shown = clean_lines(text.text)
    if not text.is_cut:
        return shown
    whole = "" if text.blob is None else f": ledger show {text.blob}"
    return f"{shown} … [{text.bytes} bytes in all{whole}]"


def number_words(metric: "MetricScore") -> str:
    """Return the number of a metric, its range, or why it has none."""
    if metric.headline is None:
        return f"unavailable: {clean(metric.unavailable)}"
    return f"{percent_range(metric.headline, metric.scale)} ({range_text(metric.headline)})"


def marked_number(run: "RunReport", metric: "MetricScore") -> str:
    """Return the number of a metric, marked where its run does not count (C12)."""
    number = number_words(metric)
    return number if run.summary.run.is_valid else f"INVALID {number}"


def confidence_words(metric: "MetricScore") -> str:
    """Return the confidence interval of a metric, how it is made, or why there is none."""
    if metric.interval is None:
        return "none: there is no number"
    return f"{interval_text(metric.interval, metric.scale)} ({interval_words(metric.interval)})"


def rule_rows(metric: "MetricScore") -> list[tuple[str, str]]:
    """Return the same number under other rules, by the words of the rule."""
    return [
        (words, f"{percent_range(found, metric.scale)} ({range_text(found)})")
        for name, words in RULES.items()
        if (found := metric.sensitivity.get(name)) is not None
    ]


def run_words(run: "RunReport") -> list[tuple[str, str]]:
    """Return what a run is: label and words."""
    summary, record = run.summary, run.summary.run
    splits = f"; splits {', '.join(summary.splits)}" if summary.splits else ""
    planned = (
        f"{count_words(summary.questions, 'question')} x {summary.repetitions} = {record.planned};"
        f" {record.started} started, {record.finished} finished{splits}"
    )
    rows = [
        ("state", f"{record.status}, {'valid' if record.is_valid else 'INVALID'}"),
        ("phase", summary.phase or "unknown"),
        ("configuration", summary.configuration),
        ("manifest", f"{run.manifest} (seq {run.manifest_seq})"),
        ("system under test", run.system),
        ("rubric", f"{record.rubric} {run.rubric_hash} (seq {run.rubric_seq})"),
        ("dataset", dataset_words(run.dataset)),
        ("gold", f"committed to by {run.dataset.commitments_root}"),
        ("cutoff", run.dataset.cutoff or "none said"),
        ("provenance", text_words(run.dataset.provenance, "not said")),
        ("planned", planned),
        ("entry", record.entry),
    ]
    if run.closing_reason is not None:
        rows.append(("closed because", text_words(run.closing_reason, "")))
    return [(label, clean(words)) for label, words in rows]


def dataset_words(dataset: "DatasetFacts") -> str:
    """Return which dataset it is."""
    shapes = ", ".join(f"{count} {shape}" for shape, count in dataset.by_shape.items())
    rebuilt = "; reconstructed from another tool's log" if dataset.reconstructed else ""
    questions = count_words(dataset.questions, "question")
    return f"{dataset.reference} (seq {dataset.seq}): {questions}: {shapes}{rebuilt}"


def recovery_words(failure: "FailureRow") -> str:
    """Return whether an occurrence was made good."""
    return "not" if failure.recovered_by is None else f"by {failure.recovered_by}"


def surfaced_words(failure: "FailureRow") -> str:
    """Return whether anybody could see an occurrence while the run went on (C25)."""
    return "not known to be" if failure.surfaced is None else spaced(failure.surfaced)


def failure_words(run: "RunReport") -> str:
    """Return the counts of the failures of a run."""
    counts = run.summary.failures
    words = (
        f"{count_words(counts.total, 'occurrence')}: {counts.recovered} recovered,"
        f" {counts.unrecovered} not ({counts.judge} of judging);"
        f" {count_words(run.summary.trials_lost, 'trial')} lost;"
        f" {counts.unsurfaced} not known to be surfaced"
    )
    if len(run.failures) < run.failures_total:
        words += f"; the first {len(run.failures)} are listed"
    if run.summary.run.derived_from is not None:
        words += f"; those of the trials: ledger failures {run.summary.run.derived_from}"
    return words


def shown_words(shown: "Shown", run: str) -> str:
    """Return which slots a report holds."""
    if shown.embedded == shown.planned:
        return f"all {count_words(shown.planned, 'planned slot')}, what went wrong first"
    return (
        f"{shown.embedded} of {shown.planned} planned slots: {shown.troubled_embedded} of the"
        f" {shown.troubled} in error, undecided or failed, and a sample of the others; all of them:"
        f" ledger trials {run}"
    )


def verdict_words(verdict: "VerdictRow") -> str:
    """Return how a slot counts under a metric and who said so."""
    score = "not in the denominator" if not verdict.counts else verdict.score or "undecided"
    ground = {"rule": "by rule of the rubric", "nothing": "nothing decided"}.get(verdict.basis, "")
    if verdict.by is not None:
        ground = f"{verdict.by} {verdict.grader}, judgment {verdict.judgment}, seq {verdict.seq}"
    if verdict.overrides is not None:
        ground += f", in the place of {verdict.overrides}"
    return clean(f"{verdict.metric}: {spaced(verdict.outcome)}, {score} ({ground})")


def related_words(other: "RelatedRun") -> str:
    """Return how another run is related."""
    how = [*other.how, f"{count_words(other.shared, 'question')} in common"]
    state = other.status if other.valid else f"INVALID, {other.status}"
    return clean(f"{other.phase or 'phase unknown'}, {state}; {'; '.join(how)}")


def moment_words(report: "Report") -> str:
    """Return of which part of which log a report speaks."""
    return (
        f"ledger {report.ledger}, events 1 to {report.size}, the last recorded"
        f" {report.recorded_at}; root {report.root}"
    )


def head_words(report: "Report") -> str:
    """Return how much of the log a signed head covers."""
    if report.head is None:
        return f"nobody signed for these {report.size} events: ledger head --sign"
    tail = report.head.unsigned_tail
    return (
        f"a signed head of {report.head.size} events, root {report.head.root};"
        f" {'nothing' if not tail else count_words(tail, 'event')} after it;"
        " its signature was not checked by this command: ledger verify"
    )
