"""How `ledger scores` looks: 80 columns, one block a metric, no fact left out.

Invariant: lines come from the summary alone; a name that is too long is cut, a number never is.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from trial_cli.output import WIDTH, Screen, clean, fit
from trial_cli.words import (
    account_text,
    counts_text,
    ends_text,
    interval_text,
    interval_words,
    next_lines,
    per_right_text,
    percent_range,
    range_text,
    run_title,
    trust_lines,
    wrapped,
)
from trial_ledger.exact import parse_rational, percent_text

if TYPE_CHECKING:
    from trial_projections.aggregate import Range
    from trial_projections.scores import MetricScore
    from trial_projections.source_rules.explaining import Explanation
    from trial_projections.summary import RunSummary

__all__ = ["scores_screen"]

NAMED = 6
"""Questions that are named; the JSON form names all."""
LABEL = 22
VALUE = 14
COUNT = 14
MISSING = ("errors_excluded", "complete_case", "worst", "best")
"""What differs from the headline only where something is missing."""
SENSITIVITY = (
    ("errors_excluded", "errors left out", "never a headline"),
    ("complete_case", "answered + judged", "never a headline"),
    ("without_invalidated", "without invalidated", "beside, not instead"),
    ("without_leaks", "without leaks", "beside, not instead"),
    ("first_sessions", "first sessions only", "beside, not instead"),
    ("retries_counted", "retries counted", "beside, not instead"),
)


def scores_screen(
    summary: "RunSummary", *, explained: "Sequence[Explanation]" = (), kept: bool = True
) -> Screen:
    """Return what `scores` shows, in every form.

    Args:
        summary: the run.
        explained: the numbers of its source, each with the rule that gives it.
        kept: whether the run stays in a ledger, so that it can be looked into further.
    """
    lines = heading(summary)
    for metric in summary.metrics:
        told = [one for one in explained if one.reported.metric == metric.name]
        lines += ["", *metric_lines(metric), *source_lines(told)]
    names = {metric.name for metric in summary.metrics}
    others = [one for one in explained if one.reported.metric not in names]
    lines += source_lines(others)
    lines += ["", *outcome_lines(summary), *failure_lines(summary), *cost_lines(summary)]
    lines += published_lines(summary)
    lines += trust_lines(summary.trust)
    if kept:
        lines += next_commands(summary)
    value = {**msgspec.to_builtins(summary), "explained": msgspec.to_builtins(explained)}
    return Screen(
        schema="ledger.scores/1",
        value=value,
        rows=[row_of(summary, metric) for metric in summary.metrics],
        lines=lines,
    )


def heading(summary: "RunSummary") -> list[str]:
    """Return which run this is and what was planned."""
    run = summary.run
    split = f"/{','.join(summary.splits)}" if summary.splits else ""
    phase = (summary.phase or "phase unknown").upper()
    title = f"{run_title(run)}  {phase}  {run.dataset}{split}  rubric {run.rubric}"
    lines = textwrap.wrap(clean(title), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    planned = (
        f"{summary.questions} questions x {summary.repetitions} = {run.planned} planned,"
        f" {run.started} started, {run.status}"
    )
    lines.append(planned)
    if run.supersedes is not None:
        lines.append(f"supersedes {run.supersedes}, which is kept")
    if run.superseded_by is not None:
        lines.append(f"superseded by {run.superseded_by}")
    if run.derived_from is not None:
        lines.append(f"derived from {run.derived_from} as of its link {run.derived_link}")
    lines += [f"related to {other}: {clean(how)}" for other, how in run.related]
    return lines


def row(label: str, value: str, count: str, remark: str) -> list[str]:
    """Return a row of a metric's block; columns keep two blanks apart whatever they hold.

    A remark for which there is no room stands on a line of its own.
    """
    numbers = f"{fit(label, LABEL - 1):<{LABEL}}{value:<{VALUE - 2}}  {count:<{COUNT - 2}}"
    line = f"{numbers}  {remark}".rstrip()
    return [line] if len(line) <= WIDTH else [numbers.rstrip(), *wrapped("", remark, indent=LABEL)]


def metric_lines(metric: "MetricScore") -> list[str]:
    """Return the block of one metric."""
    if metric.headline is None:
        return row(metric.name, "unavailable", metric.unavailable or "", "")
    undecided = sum(metric.undecided.values())
    remark = f"{undecided} undecided: no point value" if undecided else decided_text(metric)
    lines = number_row(metric.name, metric.headline, metric, remark)
    if undecided:
        lines += row(
            "  decided",
            f"{metric.decided} of {metric.denominator}",
            by_rule(metric),
            counts_text(metric.undecided),
        )
    if not metric.gate_decided:
        share = percent_text(parse_rational(metric.undecided_share))
        lines += row("  gate decided", "FAILED", "", f"{share} % undecided")
    assert metric.interval is not None, "a number has an interval, or a reason for none"
    value, words = interval_text(metric.interval, metric.scale), interval_words(metric.interval)
    known = metric.interval.unavailable is None
    lines += row("  95 % by question", value, words if known else "", "" if known else words)
    hidden: tuple[str, ...] = ()
    if all(metric.sensitivity[name] == metric.headline for name in MISSING):
        lines.append("  same under every rule")
        hidden = MISSING
    else:
        lines += spread_row(metric)
    for name, label, text in SENSITIVITY:
        if name in metric.sensitivity and name not in hidden:
            lines += number_row(f"  {label}", metric.sensitivity[name], metric, text)
    if metric.dropped_questions:
        named = ", ".join(metric.dropped_questions[:NAMED])
        more = ", …" if len(metric.dropped_questions) > NAMED else ""
        text = f"{len(metric.dropped_questions)} without a counting trial: {named}{more}"
        lines += wrapped("  questions left out", text, indent=LABEL)
    return lines


def source_lines(explained: "Sequence[Explanation]") -> list[str]:
    """Return the numbers of an imported source, each with the rule that gives it, and ours."""
    return [
        line
        for one in explained
        for line in wrapped("  source", one.words.removeprefix("source "), indent=LABEL)
    ]


def number_row(label: str, found: "Range", metric: "MetricScore", remark: str) -> list[str]:
    """Return a row with a value and its count."""
    if found.low.unit == "questions":
        remark = f"of questions; {remark}"
    return row(label, percent_range(found, metric.scale), range_text(found), remark)


def decided_text(metric: "MetricScore") -> str:
    """Return how many trials are decided, and how many of these by rule."""
    rule = by_rule(metric)
    return f"all {metric.decided} decided" + (f", {rule}" if rule else "")


def by_rule(metric: "MetricScore") -> str:
    """Return how many trials a rule of the rubric decided."""
    return f"{metric.by_rule} by rule" if metric.by_rule else ""


def spread_row(metric: "MetricScore") -> list[str]:
    """Return the row from worst to best."""
    worst, best = metric.sensitivity["worst"], metric.sensitivity["best"]
    spread = msgspec.structs.replace(worst, high=best.high)
    outcomes = "outcome" if metric.missing == 1 else "outcomes"
    return number_row("  worst to best", spread, metric, f"{metric.missing} missing {outcomes}")


def outcome_lines(summary: "RunSummary") -> list[str]:
    """Return the outcome classes of the primary metric."""
    primary = summary.metrics[0]
    return wrapped("outcomes", f"{counts_text(primary.outcomes)}  ({primary.name})")


def failure_lines(summary: "RunSummary") -> list[str]:
    """Return the failure occurrences."""
    failures = summary.failures
    text = "none recorded"
    if failures.total:
        text = (
            f"{failures.total}: {failures.recovered} recovered, {failures.unrecovered} not"
            f" ({failures.judge} judge), {summary.trials_lost} "
            + ("trial lost" if summary.trials_lost == 1 else "trials lost")
        )
    if summary.run.derived_from is not None:
        text = f"{text} by judging; of the trials: ledger failures {summary.run.derived_from}"
    if summary.misses:
        text += f"; misses {summary.misses} (apart)"
    return wrapped("failures", text)


def cost_lines(summary: "RunSummary") -> list[str]:
    """Return the accounts, each on a line of its own."""
    lines: list[str] = []
    for account in summary.accounts:
        label = "cost" if not lines else ""
        apart = " (separate)" if account.name == "judge" else ""
        lines.append(f"{label:<10}{account.name:<10}{account_text(account)}{apart}")
    if summary.run.derived_from is not None:
        label = "cost" if not lines else ""
        lines.append(f"{label:<10}of the trials: ledger costs {summary.run.derived_from}")
    if summary.spending.currency is not None:
        lines += wrapped("", f"per correct {per_right_text(summary.spending)}")
    return lines or ["cost      no calls recorded: unknown"]


def published_lines(summary: "RunSummary") -> list[str]:
    """Return the numbers that left the house, and what they are now where that is another (C36)."""
    now = {metric.name: metric for metric in summary.metrics}
    lines: list[str] = []
    for known in summary.run.published:
        metric = now[known.metric]
        text = f"{known.metric} {ends_text(known.low, known.high, metric.scale)}"
        text += f" at seq {known.mark.seq}"
        headline = metric.headline
        if headline is None:
            text += "; no number now"
        elif (headline.low.value, headline.high.value) != (known.low, known.high):
            text += f"; {percent_range(headline, metric.scale)} now"
        lines += wrapped("" if lines else "published", text)
    return lines


def next_commands(summary: "RunSummary") -> list[str]:
    """Return what to look at next: the number, the failures, and one of them that mattered."""
    run = summary.run.name
    commands = [f"ledger explain {run} {summary.primary}", f"ledger failures {run}"]
    if summary.failures.unrecovered:
        commands.append(f"ledger trace {summary.failures.example}")
    return next_lines(*commands)


def row_of(summary: "RunSummary", metric: "MetricScore") -> dict[str, object]:
    """Return a metric as one flat row."""
    low = None if metric.headline is None else metric.headline.low
    high = None if metric.headline is None else metric.headline.high
    return {
        "run": summary.run.name,
        "metric": metric.name,
        "low": None if low is None else low.value,
        "high": None if high is None else high.value,
        "low_sum": None if low is None else low.sum,
        "high_sum": None if high is None else high.sum,
        "count": None if low is None else low.count,
        "decided": metric.decided,
        "undecided": sum(metric.undecided.values()),
        "planned": metric.planned,
        "gate_decided": metric.gate_decided,
        "unavailable": metric.unavailable,
        "valid": summary.run.is_valid,
    }
