"""The tables that all forms of a report share: times, prices, agreement, effects, comparison.

Invariant: a table holds plain text only, which each form makes harmless in its own way; what is
unknown is called so, and a number that has a bound only is shown as a bound.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from trial_cli.compare_screen import metric_difference, metric_interval, metric_test, point_values
from trial_cli.render.facts import spaced
from trial_cli.words import (
    bounded_text,
    decimal_of,
    duration_text,
    per_right_text,
    percent_range,
    percentile_name,
)
from trial_ledger.exact import fraction_from_decimal_text, parse_rational, percent_text

if TYPE_CHECKING:
    from trial_projections.comparison_structs import Comparison, FrontierPoint, Pair
    from trial_projections.latency import Times
    from trial_projections.report_structs import ReviewRow, RunReport

__all__ = [
    "Sheet",
    "agreement_sheet",
    "comparison_sheets",
    "effect_sheet",
    "latency_sheet",
    "price_words",
    "rows_of",
]


class Sheet(msgspec.Struct, frozen=True):
    """A table of plain texts."""

    title: str
    """What it shows."""
    names: tuple[str, ...]
    """Headings."""
    rows: list[tuple[str, ...]]
    """Cells of every row."""


def latency_sheet(run: "RunReport") -> Sheet:
    """Return how long trials and calls took; a trial of unknown time is counted, never 0."""
    every = [run.latency.trials, *run.latency.calls]
    rows = [row for times in every for row in times_rows(times)]
    return Sheet("How long trials and calls took", ("of", "quantile", "time", "95 %"), rows)


def times_rows(times: "Times") -> Iterator[tuple[str, ...]]:
    """Yield a row for every quantile of things of one kind, below how many they are."""
    parts = (times.of if times.purpose is None else times.purpose, times.endpoint)
    name = " ".join(part for part in parts if part is not None)
    counts = (
        f"{times.count}: {times.timed} timed, {times.cut_off} cut off, {times.ended_early}"
        f" ended early, {times.unknown} unknown"
    )
    yield f"{name}, {counts}", "", "" if times.quantiles else "unknown", ""
    for found in times.quantiles:
        value, least, low, high = (
            None if time is None else duration_text(time)
            for time in (found.value_us, found.at_least_us, found.low_us, found.high_us)
        )
        ends = f"{low or 'no lower end'} to {high or 'no upper end'}"
        yield name, percentile_name(found.p), bounded_text(value, least), ends


def price_words(run: "RunReport") -> str:
    """Return what a right trial cost, and under which metric it is right."""
    spending = run.summary.spending
    return f"per correct {per_right_text(spending)}, right under {spending.metric}; judging apart"


def agreement_sheet(run: "RunReport") -> Sheet:
    """Return how far people reviewed a run, and how they agree with what was judged."""
    names = ("metric", "reviewed", "agreement", "right: judged, and by review beside it")
    return Sheet("How people agree with what was judged", names, [*map(review_row, run.reviews)])


def review_row(row: "ReviewRow") -> tuple[str, ...]:
    """Return how one metric was reviewed."""
    found = row.estimate
    met = "met" if row.is_met else "not met"
    coefficients = (("kappa", found.kappa), ("AC1", found.ac1), ("alpha", found.alpha))
    told = ", ".join(f"{name} {coefficient_words(value)}" for name, value in coefficients)
    return (
        row.metric,
        f"{row.reviewed} of {row.judged}, {row.needed} needed: {met}",
        f"agree {share_words(found.agree)}; {told}" if row.reviewed else "nothing reviewed",
        f"{row.judged_right} of {row.judged}; by review {corrected_words(row)}",
    )


def share_words(text: str | None) -> str:
    """Return a share in percent."""
    return "unknown" if text is None else f"{percent_text(parse_rational(text))} %"


def coefficient_words(text: str | None) -> str:
    """Return a coefficient of agreement."""
    return "undefined" if text is None else decimal_of(parse_rational(text))


def corrected_words(row: "ReviewRow") -> str:
    """Return the share that people would find right, or why nobody can say."""
    found = row.estimate
    if found.right is None or found.low is None or found.high is None:
        return f"unavailable: {found.reason}"
    low, high = (percent_text(fraction_from_decimal_text(end)) for end in (found.low, found.high))
    return f"{share_words(found.right)}, 95 % {low}-{high} %"


def effect_sheet(run: "RunReport") -> Sheet:
    """Return what each kind of fault does to each metric."""
    names = ("metric", "fault", "trials", "as it is", "had they been right")
    rows: list[tuple[str, ...]] = []
    for effect in run.effects:
        numbers = (
            "no number" if found is None else percent_range(found, effect.scale)
            for found in (effect.as_it_is, effect.had_they_been_right)
        )
        rows.append((effect.metric, spaced(effect.outcome), str(effect.slots), *numbers))
    return Sheet("What each kind of fault costs each metric", names, rows)


def comparison_sheets(comparison: "Comparison") -> list[Sheet]:
    """Return the pairs of runs metric by metric, and the frontier."""
    sheets = [pair_sheet(pair) for pair in comparison.pairs]
    found = comparison.frontier
    if found is not None:
        rows: list[tuple[str, ...]] = [
            (
                point.run,
                *point_values(point, found),
                standing_words(point, found.replicates),
            )
            for point in found.points
        ]
        sheets.append(Sheet(f"Frontier under {found.metric}", ("run", *found.axes, "beaten"), rows))
    return sheets


def standing_words(point: "FrontierPoint", replicates: int) -> str:
    """Return whether a run is beaten, and how sure that is."""
    state = "beaten" if point.is_beaten else "not beaten"
    share = percent_text(parse_rational(point.share), 0)
    return f"{state}; not in {share} % of {replicates} replicates"


def pair_sheet(pair: "Pair") -> Sheet:
    """Return two runs, metric by metric; what bars a verdict stands in the place of the test."""
    names = ("metric", "numbers", "difference", "test", "questions")
    rows: list[tuple[str, ...]] = []
    for metric in pair.metrics:
        numbers = " -> ".join(
            "unavailable" if found is None else percent_range(found, metric.scale)
            for found in (metric.first, metric.second)
        )
        interval = metric_interval(metric)
        difference = metric_difference(metric) or "none"
        counts = f"{metric.up} up, {metric.down} down, {metric.undecided} undecided"
        barred = "no verdict: " + "; ".join(pair.no_verdict)
        rows.append(
            (
                metric.metric,
                numbers,
                f"{difference}, 95 % {interval}" if interval else difference,
                barred if pair.no_verdict else metric_test(metric),
                f"{metric.pairs} paired, {counts}",
            )
        )
    return Sheet(f"{pair.second} less {pair.first}", names, rows)


def rows_of(sheet: Sheet) -> list[dict[str, object]]:
    """Return a table as rows by heading."""
    return [dict(zip(sheet.names, row, strict=True)) for row in sheet.rows]
