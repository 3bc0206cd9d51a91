"""The four charts of an HTML report: outcomes, rules, failures, costs.

Invariant: lengths are whole units computed from exact numbers; unknown and undecided have a colour
of their own and a word beside it.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

from trial_cli.render.charts import WIDTH, ChartRow, Segment, chart, legend, table, upto
from trial_cli.render.facts import RULES, number_words, rule_rows, spaced
from trial_cli.render.markup import element, escaped
from trial_cli.words import account_text, interval_text
from trial_ledger.exact import fraction_from_decimal_text, parse_rational

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trial_projections.aggregate import Range
    from trial_projections.report_structs import RunReport
    from trial_projections.scores import MetricScore

__all__ = ["COLOURS", "cost_chart", "failure_chart", "outcome_chart", "range_chart"]

COLOURS: "Mapping[str, int]" = {
    "scored": 2,
    "correct": 1,
    "partial": 2,
    "incorrect": 3,
    "abstained": 4,
    "refused": 4,
    "filtered": 4,
    "limit": 4,
    "unjudged": 5,
    "judge_failed": 5,
    "not_gradable": 5,
    "lost_in_source": 5,
}
"""Outcome class → colour; every other class is one in which something broke, or nothing ran."""
BROKEN, GOOD, BAD, UNKNOWN, RANGE, INTERVAL = 6, 1, 3, 7, 6, 2


def outcome_chart(run: "RunReport", place: str) -> str:
    """Return how the slots of every metric came out, with the numbers below."""
    lines: list[ChartRow] = []
    rows: list[list[str]] = []
    for metric in run.summary.metrics:
        done, segments = 0, list[Segment]()
        for outcome, count in metric.outcomes.items():
            colour = COLOURS.get(outcome, BROKEN)
            start, done = done, done + count
            ends = upto(start, metric.planned), upto(done, metric.planned)
            segments.append(Segment(*ends, colour))
            swatch = element("span", class_=f"y p{colour}")
            words = f"{metric.name}: {spaced(outcome)}"
            rows.append([swatch + escaped(words), str(count), str(metric.planned)])
        lines.append(ChartRow(metric.name, f"{metric.planned} planned slots", segments))
    title = "Outcomes of the planned slots, by metric"
    drawn = chart(
        f"{place}-o",
        title,
        "One bar a metric, its parts as long as their outcomes are many.",
        lines,
    )
    names = ("outcome", "slots", "of planned")
    return element("figure", drawn, table(title, names, rows))


def range_chart(metric: "MetricScore", name: str) -> str:
    """Return where a number lies on its scale under every rule; its table is the caller's."""
    assert metric.headline is not None, "the caller looked"
    lines = [ChartRow("headline", number_words(metric), [part_of(metric, metric.headline, RANGE)])]
    interval = metric.interval
    if interval is not None and interval.low is not None and interval.high is not None:
        limits = [fraction_from_decimal_text(end) for end in (interval.low, interval.high)]
        lines.append(
            ChartRow(
                "95 % interval by question",
                interval_text(interval, metric.scale),
                [segment(metric, limits[0], limits[1], INTERVAL)],
            )
        )
    for (words, value), rule in zip(
        rule_rows(metric), (rule for rule in RULES if rule in metric.sensitivity), strict=True
    ):
        lines.append(ChartRow(words, value, [part_of(metric, metric.sensitivity[rule], UNKNOWN)]))
    low, high = metric.scale
    text = f"From {low} to {high}. A number is a mark, a range of what is undecided a bar."
    return element("figure", chart(name, f"{metric.name} under every rule", text, lines))


def part_of(metric: "MetricScore", found: "Range", colour: int) -> Segment:
    """Return where a range lies on the scale of its metric; an undefined one lies nowhere."""
    if found.low.value is None or found.high.value is None:
        return Segment(0, WIDTH, UNKNOWN)
    return segment(
        metric, parse_rational(found.low.value), parse_rational(found.high.value), colour
    )


def segment(metric: "MetricScore", low: Fraction, high: Fraction, colour: int) -> Segment:
    """Return where two values lie on the scale of a metric."""
    least, most = (parse_rational(end) for end in metric.scale)
    ends = [int(WIDTH * (value - least) / (most - least)) for value in (low, high)]
    return Segment(max(ends[0] - 1, 0), min(ends[1] + 1, WIDTH), colour)


def failure_chart(run: "RunReport", place: str) -> str:
    """Return the occurrences by class, recovered and not, with the numbers below."""
    classes: dict[str, list[int]] = {}
    for group in run.failure_groups:
        counts = classes.setdefault(group.key["class"] or "unknown", [0, 0])
        counts[0] += group.recovered
        counts[1] += group.unrecovered
    most = max(sum(counts) for counts in classes.values())
    lines = [
        ChartRow(
            spaced(name),
            f"{good} recovered, {bad} not",
            [
                Segment(start, end, colour)
                for start, end, colour, count in (
                    (0, upto(good, most), GOOD, good),
                    (upto(good, most), upto(good + bad, most), BAD, bad),
                )
                if count
            ],
        )
        for name, (good, bad) in classes.items()
    ]
    title = "Failure occurrences by class"
    rows = [[escaped(spaced(name)), str(good), str(bad)] for name, (good, bad) in classes.items()]
    return element(
        "figure",
        chart(f"{place}-fc", title, "Those made good first, then those that were not.", lines),
        legend([(GOOD, "recovered"), (BAD, "not recovered")]),
        table(title, ("class", "recovered", "not recovered"), rows),
    )


def cost_chart(run: "RunReport", place: str) -> str:
    """Return how many calls of each account have a known cost; its table is the caller's."""
    lines: list[ChartRow] = []
    for account in run.summary.accounts:
        total = account.known_count + account.unknown_count
        known = upto(account.known_count, total)
        segments = [Segment(0, known, RANGE)] if account.known_count else []
        if account.unknown_count:
            segments.append(Segment(known, WIDTH, UNKNOWN))
        lines.append(ChartRow(account.name, account_text(account), segments))
    text = "One bar an account: calls of known cost, then calls of which nobody told the cost."
    return element(
        "figure",
        chart(f"{place}-cc", "Calls of known and of unknown cost", text, lines),
        legend([(RANGE, "known"), (UNKNOWN, "unknown")]),
    )
