"""How `ledger compare` looks: 80 columns, a block a metric, the frontier last.

Invariant: lines come from the comparison alone; a verdict is never shown without its p-value, and
where there is none its reasons stand in its place.
"""

import shlex
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from trial_cli.bridge_lines import bridge_lines
from trial_cli.output import clean, fit
from trial_cli.words import (
    bounds_text,
    decimal_of,
    duration_text,
    next_lines,
    percent_range,
    rounded_money,
    wrapped,
)
from trial_ledger.exact import (
    fraction_from_decimal_text,
    parse_rational,
    percent_text,
)

if TYPE_CHECKING:
    from trial_projections.comparison_structs import (
        Comparison,
        Flip,
        Frontier,
        FrontierPoint,
        MissingOutcomes,
        Pair,
        PairedMetric,
        SettingChange,
    )

__all__ = [
    "compare_lines",
    "metric_difference",
    "metric_interval",
    "metric_test",
    "paired_lines",
    "point_values",
]

SHARE = ("0", "1")
SIGNIFICANT = Fraction(1, 20)
RULES = {"holm": "Holm", "bh": "BH"}
NAMED = 8
"""Questions that a line names; the JSON form names all."""
SETTINGS = 12
"""Settings that a screen names."""
LONGEST = 40
"""Characters of a setting's value."""
INDENT = 12
RUN = 24
"""Where the values of a run begin."""


def compare_lines(found: "Comparison") -> list[str]:
    """Return what `compare` shows of some runs."""
    lines: list[str] = []
    for pair in found.pairs:
        lines += [*([""] if lines else []), *pair_lines(pair)]
    if found.frontier is not None:
        lines += ["", *frontier_lines(found.frontier)]
    else:
        lines += ["", *wrapped("frontier", f"none: {clean(found.no_frontier)}", indent=INDENT)]
    last = found.pairs[-1]
    return [*lines, *next_lines(*commands(last))]


def commands(pair: "Pair") -> list[str]:
    """Return what to look at next."""
    found = [f"ledger scores {pair.second}"]
    if pair.metrics:
        metric = pair.metrics[0].metric
        found.append(f"ledger explain {pair.second} {metric} --against {pair.first}")
    flips = [flip for metric in pair.metrics for flip in metric.flips if flip.second_trials]
    if flips:
        found.append(f"ledger trace {shlex.quote(clean(flips[0].second_trials[0]))}")
    return found


def pair_lines(pair: "Pair") -> list[str]:
    """Return what is shown of two runs."""
    lines = wrapped("", f"{pair.first} -> {pair.second}  second less first", indent=0)
    lines += settings_lines(pair.settings)
    for place, reason in enumerate(pair.no_verdict):
        lines += wrapped("" if place else "NO VERDICT", clean(reason), indent=INDENT)
    for note in pair.notes:
        lines += wrapped("note", clean(note), indent=INDENT)
    if not pair.metrics:
        lines += wrapped("no metric", "their rubrics have none in common", indent=INDENT)
    for metric in pair.metrics:
        lines += ["", *metric_lines(metric)]
    for way in pair.bridges:
        scale = next(metric.scale for metric in pair.metrics if metric.metric == way.new_metric)
        lines += ["", *bridge_lines(way, scale)]
    return lines


def settings_lines(settings: "Sequence[SettingChange]") -> list[str]:
    """Return what two manifests differ in."""
    if not settings:
        return wrapped("settings", "the manifests are the same", indent=INDENT)
    lines: list[str] = []
    for change in settings[:SETTINGS]:
        text = f"{change.path}: {value_text(change.old)} -> {value_text(change.new)}"
        lines += wrapped("" if lines else "settings", text, indent=INDENT)
    more = len(settings) - SETTINGS
    return lines if more <= 0 else [*lines, *wrapped("", f"and {more} more", indent=INDENT)]


def value_text(value: object) -> str:
    """Return a setting's value, shortened; what is not there is named so."""
    return "none" if value is None else fit(clean(value), LONGEST)


def metric_lines(metric: "PairedMetric") -> list[str]:
    """Return the block of one metric of two runs."""
    numbers = [
        "unavailable" if found is None else percent_range(found, metric.scale)
        for found in (metric.first, metric.second)
    ]
    title = f"{' -> '.join(numbers)}  {metric.pairs} paired questions"
    lines = wrapped(f"{fit(metric.metric, INDENT - 1)}", title, indent=INDENT)
    if metric.low is not None:
        lines += wrapped("  difference", metric_difference(metric), indent=INDENT + 2)
    if metric.interval_low is not None:
        lines += wrapped("  95 %", f"{metric_interval(metric)}  paired t", indent=INDENT + 2)
    elif metric.p is not None:
        lines += wrapped("  95 %", f"none: {clean(metric.reason)}", indent=INDENT + 2)
    label = "  no test" if metric.p is None else "  test"
    lines += wrapped(label, metric_test(metric), indent=INDENT + 2)
    # What is undecided made the difference a range already.
    if metric.missing is not None and metric.missing.lost_first + metric.missing.lost_second:
        lines += missing_lines(metric, metric.missing)
    for way in ("up", "down", "undecided"):
        lines += flip_lines(way, [flip for flip in metric.flips if flip.way == way])
    for label, names in (("first", metric.only_first), ("second", metric.only_second)):
        if names:
            text = f"{len(names)}: {named(names)}"
            lines += wrapped(f"  {label} only", text, indent=INDENT + 2)
    return lines


def missing_lines(metric: "PairedMetric", missing: "MissingOutcomes") -> list[str]:
    """Return what missing outcomes can do to a difference, and whether runs lost trials alike."""
    ends = [parse_rational(end) for end in (missing.low, missing.high)]
    can = "either may be ahead" if ends[0] <= 0 <= ends[1] else "the order stands"
    reach = " to ".join(signed(end, metric) for end in ends)
    counts = f"{missing.first} and {missing.second} outcomes"
    lines = wrapped("  missing", f"{counts}: whatever they are {reach}, {can}", indent=INDENT + 2)
    assert missing.lost_p is not None, "some were lost"
    p = fraction_from_decimal_text(missing.lost_p)
    shown = "the runs did not lose alike" if p <= SIGNIFICANT else "no difference shown"
    counts = f"{missing.lost_first} and {missing.lost_second} without a fair try"
    text = f"{counts}: p = {p_text(missing.lost_p)}, {shown}"
    return [*lines, *wrapped("  lost", text, indent=INDENT + 2)]


def metric_difference(metric: "PairedMetric") -> str:
    """Return the mean difference by question, both ends of it; empty where there is none."""
    if metric.low is None or metric.high is None:
        return ""
    ends = dict.fromkeys(signed(parse_rational(end), metric) for end in (metric.low, metric.high))
    return " to ".join(ends) + (" points" if metric.scale == SHARE else "")


def metric_interval(metric: "PairedMetric") -> str:
    """Return the interval of the difference; empty where there is none."""
    if metric.interval_low is None or metric.interval_high is None:
        return ""
    ends = (metric.interval_low, metric.interval_high)
    return " to ".join(signed(fraction_from_decimal_text(end), metric) for end in ends)


def metric_test(metric: "PairedMetric") -> str:
    """Return the p-value and what it shows, or why there is none."""
    if metric.p is None:
        return clean(metric.reason)
    text = f"p = {p_text(metric.p)}  {metric.test}"
    if metric.p_adjusted is not None and metric.family > 1:
        rule = RULES[metric.adjusted_by]
        text += f", {p_text(metric.p_adjusted)} adjusted for {metric.family} comparisons ({rule})"
    return f"{text}: {metric.verdict}" if metric.verdict is not None else text


def paired_lines(pair: "Pair") -> list[str]:
    """Return the pair's first metric in a line or two, for a screen that is about something else.

    Across rubrics and datasets that screen says why the numbers differ; there is nothing to add.
    """
    if any(reason.startswith("other ") for reason in pair.no_verdict):
        return []
    if pair.no_verdict:
        reasons = "; ".join(pair.no_verdict)
        return wrapped("", f"paired by question: no verdict: {reasons}", indent=0)
    (metric,) = pair.metrics
    interval = metric_interval(metric)
    if metric.p is None or not interval:
        return []
    text = f"{interval}, p = {p_text(metric.p)}: {metric.verdict}"
    return wrapped("", f"paired by question: {text}", indent=0)


def p_text(text: str) -> str:
    """Return a p-value to two digits that say something."""
    value = fraction_from_decimal_text(text)
    if value < Fraction(1, 10_000):
        return "below 0.0001"
    return decimal_of(value, 2 if value >= Fraction(1, 10) else 4)


def flip_lines(way: str, flips: "Sequence[Flip]") -> list[str]:
    """Return the questions that went one way."""
    if not flips:
        return []
    names = named([flip.question for flip in flips])
    return wrapped(f"  {way}", f"{len(flips)}: {names}", indent=INDENT + 2)


def named(questions: Sequence[str]) -> str:
    """Return the first of some questions, and how many more there are."""
    more = len(questions) - NAMED
    text = " ".join(map(clean, questions[:NAMED]))
    return text if more <= 0 else f"{text} and {more} more"


def signed(value: Fraction, metric: "PairedMetric") -> str:
    """Return a difference with its sign, in points of a share."""
    shown = percent_text(value) if metric.scale == SHARE else decimal_of(value)
    return f"+{shown}" if value > 0 else shown


def frontier_lines(found: "Frontier") -> list[str]:
    """Return the runs on the axes of the frontier."""
    axes = {"quality": found.metric, "cost": "cost of a trial", "latency": "median time"}
    text = ", ".join(axes[axis] for axis in found.axes)
    lines = wrapped(
        "frontier", f"{clean(text)}  {found.questions} questions in every run", indent=INDENT
    )
    for point in found.points:
        lines += point_lines(point, found)
    drawn = f"in brackets: not beaten for certain, in how many of {found.replicates} replicates"
    return [*lines, *wrapped("", drawn, indent=INDENT)]


def point_lines(point: "FrontierPoint", found: "Frontier") -> list[str]:
    """Return one run: its values, whether it is beaten, and how sure that is."""
    state = "beaten" if point.is_beaten else "not beaten"
    share = percent_text(parse_rational(point.share), 0)
    text = f"{'  '.join(point_values(point, found))}  {state} ({share} %)"
    return wrapped(f"  {fit(point.run, RUN - 3)}", text, indent=RUN)


def point_values(point: "FrontierPoint", found: "Frontier") -> list[str]:
    """Return the values of a run on the axes of a frontier."""
    currency = found.currency or ""

    def money(text: str) -> str:
        return rounded_money(currency, parse_rational(text))

    values = [bounds_text(point.quality.low, point.quality.high, quality_text)]
    if "cost" in found.axes:
        values.append(bounds_text(point.cost.low, point.cost.high, money))
    if "latency" in found.axes:
        values.append(bounds_text(point.latency.low, point.latency.high, time_of))
    return values


def quality_text(text: str) -> str:
    """Return a quality to three places."""
    return decimal_of(parse_rational(text))


def time_of(text: str) -> str:
    """Return microseconds as a time."""
    return duration_text(int(text))
