"""Which of some runs no other one beats in quality, cost and latency, and how sure that is.

Invariant: an unknown value beats nothing and is not beaten; a run is left out only where it is
beaten whatever the unknowns are; replicates draw questions for all runs together.

The replicates are those of `statistics.bootstrap`, so that anybody can make them again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil

import msgspec

from trial_ledger.documents.manifest_structs import Limits
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.exact import fraction_from_decimal_text, rational_text
from trial_projections.accounts import known_cost, unknown_calls
from trial_projections.aggregate import views
from trial_projections.cells import Placed
from trial_projections.comparison_structs import Bounds, Frontier, FrontierPoint
from trial_projections.derivation import trial_name
from trial_projections.latency import Ended, ended
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord, TrialRecord, TrialSpending
from trial_projections.scores import RunInput, place_slots
from trial_projections.statistics.bootstrap import replicates
from trial_projections.statistics.frontier import Axis, Direction, certain_frontier
from trial_projections.statistics.frontier import Bounds as Ends
from trial_projections.statistics.result import total_of

__all__ = ["frontier_of", "question_means"]

MOST_REPLICATES = 200
LEAST_REPLICATES = 20
WORK = 100_000
"""Questions drawn for all runs in all replicates, about: a second or two."""
UNKNOWN: Ends = (None, None)
QUALITY, COST, LATENCY = range(3)
AXES = {QUALITY: "quality", COST: "cost", LATENCY: "latency"}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one question of one run adds."""

    low: Fraction
    """Least mean of its scores."""
    high: Fraction
    """Most."""
    slots: int
    """Planned repetitions."""
    cost: Fraction
    """Sum of the known costs of all its trials."""
    known: int
    """Calls of known cost."""
    unknown: int
    """Calls of unknown cost."""
    times: Sequence[Ended]
    """How long each counting trial took that came to an end."""


def question_means(source: RunInput, metric: str) -> dict[str, tuple[Fraction, Fraction]]:
    """Return the least and most mean of every question that counts, in planned order.

    Args:
        source: a run.
        metric: a metric of its rubric.
    """
    headline = views(source.rubric.metrics[metric].scale)["headline"]
    sums: dict[str, tuple[Fraction, Fraction, int]] = {}
    for slot in place_slots(source, metric):
        ends = headline(slot.cell)
        if ends is not None:
            total = sums.get(slot.question, (Fraction(0), Fraction(0), 0))
            sums[slot.question] = total[0] + ends[0], total[1] + ends[1], total[2] + 1
    return {question: (low / count, high / count) for question, (low, high, count) in sums.items()}


def frontier_of(
    model: ReadModel, runs: Sequence[tuple[RunRecord, RunInput]], metric: str
) -> Frontier | None:
    """Return the frontier of some runs; None where no question counts in all of them.

    Args:
        model: the read side.
        runs: the runs with their input, two or more.
        metric: a metric of all rubrics, which stands for quality.
    """
    spent = [model.spending(run)[1] for run, _ in runs]
    currency = common_currency(spent)
    parts = [
        parts_of(model, run, source, metric, trials, currency)
        for (run, source), trials in zip(runs, spent, strict=True)
    ]
    shared = [question for question in parts[0] if all(question in found for found in parts)]
    if not shared:
        return None
    names = [run.name for run, _ in runs]
    rows = [tuple(found[question] for found in parts) for question in shared]
    caps = [cap_of(model, run, currency) for run, _ in runs]

    def points_of(drawn: Sequence[Sequence[Part]]) -> dict[str, tuple[Ends, ...]]:
        found: dict[str, tuple[Ends, ...]] = {}
        for place, name in enumerate(names):
            own = [row[place] for row in drawn]
            found[name] = (quality_of(own), cost_of(own, caps[place]), median_of(own))
        return found

    points = points_of(rows)
    # An axis on which nothing is known of any run would keep every run from being beaten.
    used = [place for place in AXES if any(each[place] != UNKNOWN for each in points.values())]
    rubric = runs[0][1].rubric
    axes: Axis = [direction_of(rubric, metric) if place == QUALITY else "least" for place in used]

    def unbeaten(found: Mapping[str, tuple[Ends, ...]]) -> list[str]:
        return certain_frontier(
            {name: [ends[place] for place in used] for name, ends in found.items()}, axes
        )

    seed = runs[0][0].rubric if rubric.review is None else rubric.review.seed
    times = max(LEAST_REPLICATES, min(MOST_REPLICATES, WORK // (len(rows) * len(runs))))
    counts = Counter(
        name for drawn in replicates(rows, seed, times) for name in unbeaten(points_of(drawn))
    )
    kept = set(unbeaten(points))
    return Frontier(
        metric=metric,
        axes=[AXES[place] for place in used],
        currency=currency,
        questions=len(shared),
        replicates=times,
        seed=seed,
        points=[
            point_of(
                name, points[name], is_beaten=name not in kept, share=Fraction(counts[name], times)
            )
            for name in names
        ],
    )


def direction_of(rubric: Rubric, metric: str) -> Direction:
    """Return whether more of a metric is better."""
    return "most" if rubric.metrics[metric].direction == "higher" else "least"


def point_of(name: str, ends: Sequence[Ends], *, is_beaten: bool, share: Fraction) -> FrontierPoint:
    """Return a run on all axes."""
    quality, cost, latency = map(bounds_of, ends)
    return FrontierPoint(
        run=name,
        quality=quality,
        cost=cost,
        latency=latency,
        is_beaten=is_beaten,
        share=rational_text(share),
    )


def common_currency(spent: Iterable[Mapping[str, TrialSpending]]) -> str | None:
    """Return the one currency in which costs of the runs are known; None for none or several."""
    found = {
        currency for trials in spent for trial in trials.values() for currency in trial.tally.known
    }
    return found.pop() if len(found) == 1 else None


def cap_of(model: ReadModel, run: RunRecord, currency: str | None) -> Fraction | None:
    """Return what a call of unknown cost can have cost at most; None without a cap."""
    budget = model.manifest(run).budget
    if budget is None or budget.unknown_call_cap is None or currency != "USD":
        return None
    return fraction_from_decimal_text(budget.unknown_call_cap)


def parts_of(
    model: ReadModel,
    run: RunRecord,
    source: RunInput,
    metric: str,
    spent: Mapping[str, TrialSpending],
    currency: str | None,
) -> dict[str, Part]:
    """Return what each question of a run adds that counts."""
    limits = model.manifest(run).limits or Limits()
    times = {
        trial_name(trial): found
        for trial in model.records_of(run, TrialRecord)
        if (found := ended(trial, limits)) is not None
    }
    slots: dict[str, list[Placed]] = {}
    for slot in place_slots(source, metric):
        slots.setdefault(slot.question, []).append(slot)
    return {
        question: part_of(slots[question], mean, times, spent, currency or "")
        for question, mean in question_means(source, metric).items()
    }


def part_of(
    slots: Sequence[Placed],
    mean: tuple[Fraction, Fraction],
    times: Mapping[str, Ended],
    spent: Mapping[str, TrialSpending],
    currency: str,
) -> Part:
    """Return what one question adds; every trial of it is paid for, those that count are timed."""
    names = [trial_name(trial) for slot in slots for trial in slot.sessions]
    costs = [spent[name] for name in names if name in spent]
    counting = [trial_name(slot.trial) for slot in slots if slot.trial is not None]
    return Part(
        low=mean[0],
        high=mean[1],
        slots=len(slots),
        cost=sum((known_cost(trial, currency) for trial in costs), Fraction(0)),
        known=sum(trial.tally.known_count for trial in costs),
        unknown=sum(map(unknown_calls, costs)),
        times=[times[name] for name in counting if name in times],
    )


def quality_of(parts: Sequence[Part]) -> Ends:
    """Return the mean over questions, at both ends."""
    count = len(parts)
    return total_of(part.low for part in parts) / count, total_of(p.high for p in parts) / count


def cost_of(parts: Sequence[Part], cap: Fraction | None) -> Ends:
    """Return the cost of a planned trial; unknown where no cost is known."""
    slots = sum(part.slots for part in parts)
    known, unknown = sum(part.known for part in parts), sum(part.unknown for part in parts)
    if not known and (cap is None or not unknown):
        return UNKNOWN
    total = total_of(part.cost for part in parts)
    most = None if unknown and cap is None else (total + unknown * (cap or 0)) / slots
    return total / slots, most


def median_of(parts: Sequence[Part]) -> Ends:
    """Return the median, of type 1, of what came to an end; unknown where nothing was timed."""
    times = [time for part in parts for time in part.times]
    lows = sorted(low for low, _ in times)
    highs = sorted(high for _, high in times if high is not None)
    rank = ceil(Fraction(len(times), 2))
    if not highs and not any(lows):
        return UNKNOWN
    return lows[rank - 1], highs[rank - 1] if rank <= len(highs) else None


def bounds_of(ends: Ends) -> Bounds:
    """Return both ends of a value as text."""
    low, high = (None if end is None else rational_text(Fraction(end)) for end in ends)
    return Bounds(low=low, high=high)
