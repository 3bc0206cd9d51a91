"""What `ledger review draw` and `ledger review status` show.

Invariant: a share stands beside what it is a share of and what is needed; nothing here says what a
judgment said of a trial, but for counts.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from trial_cli.output import Screen, clean, columns
from trial_cli.words import decimal_of, run_title, wrapped
from trial_ledger.exact import fraction_from_decimal_text, parse_rational, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trial_projections.records import RunRecord
    from trial_projections.review_coverage import Coverage
    from trial_projections.reviewing import DrawDocument

__all__ = ["draw_screen", "status_screen"]

SHOWN = 5
"""Remaining trials of a metric that the text names."""


def stratum_text(by: dict[str, str]) -> str:
    """Return what a stratum's trials have in common, as `configuration=a judged=success`."""
    return " ".join(f"{name}={value}" for name, value in by.items()) or "all"


def draw_screen(
    run: str,
    plan: str,
    seed: str,
    document: "DrawDocument",
    *,
    seq: int | None,
    appended: bool,
) -> Screen:
    """Return what a drawing shows, in every form."""
    rows: list[dict[str, object]] = [
        {"stratum": stratum_text(stratum.by), "judged": stratum.judged, "trial": trial}
        for stratum in document.strata
        for trial in stratum.drawn
    ]
    table = [
        {
            "judged": stratum.judged,
            "drawn": len(stratum.drawn),
            "stratum": stratum_text(stratum.by),
        }
        for stratum in document.strata
    ]
    told = "drawn" if appended else "drawn before, nothing appended"
    lines = [
        *wrapped("plan", f"{plan} of {run} {document.metric}: {told}, seq {seq}"),
        *wrapped(
            "seed", f"{seed}, of the rubric; at least {document.fraction} and {document.floor}"
        ),
        *(f"  {line}" for line in columns(table, ("judged", "drawn", "stratum"))),
        f"{'next':<10}{clean(f'ledger review next {run} {document.metric}')}",
    ]
    value = {
        "run": run,
        "plan": plan,
        "seed": seed,
        "seq": seq,
        "appended": appended,
        **msgspec.structs.asdict(document),
    }
    del value["schema"]
    return Screen(schema="ledger.review.draw/1", value=value, rows=rows, lines=lines)


def status_screen(
    run: "RunRecord", coverages: "Sequence[Coverage]", foreign: "Sequence[str]"
) -> Screen:
    """Return how far a run is reviewed, in every form.

    Args:
        run: the run.
        coverages: its metrics, the primary first.
        foreign: drawings of another form, by which nothing counts.
    """
    lines = wrapped("run", run_title(run))
    for coverage in coverages:
        lines += ["", *coverage_lines(run, coverage)]
    if foreign:
        text = f"{', '.join(foreign)}: of another form, nothing counts by it"
        lines += ["", *wrapped("drawings", text)]
    rows: list[dict[str, object]] = [
        {
            "metric": coverage.metric,
            "stratum": stratum_text(stratum.by),
            "judged": stratum.judged,
            "needed": stratum.needed,
            "done": stratum.done,
        }
        for coverage in coverages
        for stratum in coverage.strata
    ]
    value = {
        "run": run.name,
        "metrics": [
            {**msgspec.structs.asdict(coverage), "met": coverage.is_met} for coverage in coverages
        ],
        "foreign": list(foreign),
    }
    return Screen(schema="ledger.review.status/1", value=value, rows=rows, lines=lines)


def coverage_lines(run: "RunRecord", coverage: "Coverage") -> list[str]:
    """Return how far one metric is reviewed."""
    name = clean(coverage.metric)
    if not coverage.judged:
        return [f"{name}  nothing judged automatically"]
    share = percent_text(Fraction(coverage.reviewed, coverage.judged))
    if not coverage.planned:
        return [f"{name}  {coverage.judged} judged; the rubric has no seed to draw by"]
    met = "met" if coverage.is_met else "not met"
    done = f"{coverage.reviewed} of {coverage.judged} = {share} %"
    lines = [f"{name}  {done}, {coverage.needed} needed: {met}"]
    table = [
        {
            "judged": stratum.judged,
            "needed": stratum.needed,
            "done": stratum.done,
            "stratum": stratum_text(stratum.by),
        }
        for stratum in coverage.strata
    ]
    lines += [f"  {line}" for line in columns(table, ("judged", "needed", "done", "stratum"))]
    if coverage.purposive:
        lines.append(f"  {coverage.purposive} more reviewed without having been drawn")
    lines += confusion_lines(coverage)
    if coverage.open:
        noun = "disagreement" if coverage.open == 1 else "disagreements"
        lines.append(f"  {coverage.open} {noun} open: ledger disagreements {clean(run.name)}")
    if coverage.plan is None:
        lines.append(f"  next: ledger review draw {clean(f'{run.name} {coverage.metric}')}")
    elif coverage.remaining:
        more = len(coverage.remaining) - SHOWN
        names = ", ".join(coverage.remaining[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        lines += wrapped("  next", f"{names}: ledger review next {run.name} {name}")
    return lines


def confusion_lines(coverage: "Coverage") -> list[str]:
    """Return how often which verdict met which, and what that says about all judged trials."""
    if not coverage.confusion:
        return []
    same = sum(times for judged, reviewed, times in coverage.confusion if judged == reviewed)
    found = coverage.estimate
    table = [
        {"trials": times, "judged": judged, "reviewed": reviewed}
        for judged, reviewed, times in coverage.confusion
    ]
    lines = [f"  agree {same} of {coverage.reviewed}"]
    lines += [f"    {line}" for line in columns(table, ("trials", "judged", "reviewed"))]
    names = (("kappa", found.kappa), ("AC1", found.ac1), ("alpha", found.alpha))
    told = ", ".join(
        f"{name} {'undefined' if value is None else decimal_of(parse_rational(value))}"
        for name, value in names
    )
    lines.append(f"  weighted by stratum: {told}")
    raw = percent_text(Fraction(coverage.judged_right, coverage.judged))
    lines.append(f"  judged right   {raw} % of {coverage.judged}")
    if found.right is None or found.low is None or found.high is None:
        return [*lines, f"  by review      unavailable: {found.reason}"]
    right = percent_text(parse_rational(found.right))
    low, high = (percent_text(fraction_from_decimal_text(end)) for end in (found.low, found.high))
    return [*lines, f"  by review      {right} %, 95 % {low}-{high} %, beside, not instead"]
