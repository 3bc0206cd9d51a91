"""What the trials of a run cost for every one that was right, where some costs are unknown (C18).

Invariant: judging is no part of it (C19); an unknown cost leaves a lower bound, and an upper one
only where a cap was declared beforehand; it is a ratio of sums and never a mean of ratios.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

import msgspec

from trial_ledger.exact import fraction_from_decimal_text, parse_rational, rational_text
from trial_projections.accounts import Account, known_cost, unknown_calls
from trial_projections.cells import Placed
from trial_projections.derivation import trial_name
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord, TrialSpending
from trial_projections.scores import RunInput, place_slots
from trial_projections.statistics.decimals import shown_result, shown_text
from trial_projections.statistics.order_statistics import censored_quantile
from trial_projections.statistics.result import undefined
from trial_projections.statistics.spending import ratio_error, spending

__all__ = [
    "NO_CALLS",
    "CostPerRight",
    "CostQuantile",
    "Spending",
    "right_range",
    "spending_of",
    "spent_on",
]

NO_CALLS = "no calls were recorded"
NONE_KNOWN = "no cost is known"
SEVERAL = "costs are in several currencies"
QUANTILES = (Fraction(1, 2), Fraction(19, 20))


class CostPerRight(msgspec.Struct, frozen=True, kw_only=True):
    """What a right trial cost, those that were wrong or failed included."""

    low: str | None
    """The least that it can be, decimal text; None for the reason below."""
    high: str | None
    """The most that it can be; None for the reason below."""
    error: str | None
    """Standard error by question of a number without bounds (linearised ratio); None elsewhere."""
    no_low: str | None
    """Why there is no lower bound; None where there is one."""
    no_high: str | None
    """Why there is no upper bound; None where there is one."""


class CostQuantile(msgspec.Struct, frozen=True, kw_only=True):
    """A quantile of the cost of a trial; what is known in part costs at least so much."""

    p: str
    """Which one, rational text."""
    value: str | None
    """The cost of that trial, decimal text; None where unknown costs could be it."""
    at_least: str | None
    """The least that it can be."""
    low: str | None
    """Lower end of its 95 % interval by order statistics."""
    high: str | None
    """Upper end; None where it is open."""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What the trials of a run cost together, judging apart."""

    metric: str
    """The metric that says which trials were right."""
    currency: str | None
    """Its currency; None where none or several are known."""
    known: str | None
    """Sum of the known costs, decimal text."""
    unknown_calls: int
    """Calls of unknown cost."""
    cap: str | None
    """What each of these can have cost at most, as the manifest declared; None without a cap."""
    most: str | None
    """The most that all can have cost together; None where that is not bounded."""
    right_low: int
    """Trials that were right."""
    right_high: int
    """The same with every undecided one."""
    per_right: CostPerRight
    """Cost of a right trial."""
    quantiles: list[CostQuantile]
    """Cost of one trial."""


def right_range(placed: Iterable[Placed], best: str) -> tuple[int, int]:
    """Return how many slots were right, and how many with every undecided one.

    Args:
        placed: the slots of a metric.
        best: the best end of its scale, rational text.
    """
    right = undecided = 0
    for slot in placed:
        if slot.cell.counts:
            right += slot.cell.score == best
            undecided += slot.cell.score is None and reaches(slot.cell.bounds, best)
    return right, right + undecided


def reaches(bounds: tuple[str, str] | None, best: str) -> bool:
    """Return whether an undecided score may be the best one."""
    return bounds is None or best in bounds


def spending_of(model: ReadModel, run: RunRecord, source: RunInput, metric: str) -> Spending:
    """Return what the trials of a run cost for every one that a metric finds right.

    Args:
        model: the read side.
        run: the run.
        source: its input.
        metric: a metric of its rubric; right is who reaches the best end of its scale.
    """
    rules = source.rubric.metrics[metric]
    best = rules.scale[1 if rules.direction == "higher" else 0]
    budget = model.manifest(run).budget
    accounts, trials = model.spending(run)
    return spent_on(
        accounts,
        trials,
        place_slots(source, metric),
        metric=metric,
        best=rational_text(parse_rational(best)),
        cap=None if budget is None else budget.unknown_call_cap,
    )


def spent_on(
    accounts: Iterable[Account],
    trials: Mapping[str, TrialSpending],
    placed: list[Placed],
    *,
    metric: str,
    best: str,
    cap: str | None,
) -> Spending:
    """Return what trials cost, under the metric by which slots were placed.

    Args:
        accounts: those of the run whose trials they are; the judge's is left out.
        trials: what every trial spent, by its name.
        placed: the slots of the metric.
        metric: its name.
        best: the best end of its scale, rational text in lowest terms.
        cap: the most that a call of unknown cost can have cost, US dollars.
    """
    own = [account for account in accounts if account.name != "judge"]
    currencies = {currency for account in own for currency in account.known}
    unknown = sum(account.unknown_count for account in own)
    right_low, right_high = right_range(placed, best)
    reason = None if own else NO_CALLS
    reason = SEVERAL if len(currencies) > 1 else reason
    currency = None
    if reason is None:
        # The cap is in US dollars: with it something is known where no single cost is.
        currency = next(iter(currencies), None if cap is None else "USD")
    sums = (fraction_from_decimal_text(account.known.get(currency or "", "0")) for account in own)
    total = sum(sums, Fraction(0))
    limit = None
    if cap is not None and currency in {"USD", None}:
        limit = fraction_from_decimal_text(cap)
    costs = [total, *[None] * unknown]
    cheapest, dearest = (spending(costs, right, limit) for right in (right_high, right_low))
    per = CostPerRight(low=None, high=None, error=None, no_low=reason, no_high=reason)
    quantiles: list[CostQuantile] = []
    if reason is None:
        low = cheapest.per_right_lower if currencies else undefined(NONE_KNOWN)
        high = dearest.per_right_upper
        per = CostPerRight(
            low=shown_result(low),
            high=shown_result(high),
            error=None,
            no_low=low.reason,
            no_high=high.reason,
        )
        if not unknown and right_low == right_high:
            error = error_by_question(trials, placed, currency, best)
            per = msgspec.structs.replace(per, error=error)
        quantiles = [] if currency is None else quantiles_of(trials, currency)
    return Spending(
        metric=metric,
        currency=currency,
        known=shown_text(total) if currencies and reason is None else None,
        unknown_calls=unknown,
        cap=cap,
        most=shown_result(dearest.upper) if reason is None else None,
        right_low=right_low,
        right_high=right_high,
        per_right=per,
        quantiles=quantiles,
    )


def error_by_question(
    trials: Mapping[str, TrialSpending], placed: Iterable[Placed], currency: str | None, best: str
) -> str | None:
    """Return the standard error of a ratio whose every part is known; None where it has none."""
    costs: dict[str, Fraction] = {}
    rights: dict[str, int] = {}
    for slot in placed:
        names = map(trial_name, slot.sessions)
        spent = [trials[name] for name in names if name in trials]
        costs[slot.question] = costs.get(slot.question, Fraction(0)) + sum(
            (known_cost(trial, currency) for trial in spent), Fraction(0)
        )
        right = slot.cell.counts and slot.cell.score == best
        rights[slot.question] = rights.get(slot.question, 0) + right
    found = ratio_error(list(costs.values()), [rights[question] for question in costs]).error
    return None if found.value is None else shown_text(found.value)


def quantiles_of(trials: Mapping[str, TrialSpending], currency: str) -> list[CostQuantile]:
    """Return quantiles of the cost of a trial; with unknown calls it cost at least the rest."""
    whole: list[Fraction] = []
    parts: list[Fraction] = []
    for trial in trials.values():
        (parts if unknown_calls(trial) else whole).append(known_cost(trial, currency))
    unit = lcm(*(amount.denominator for amount in (*whole, *parts)))
    found = [
        censored_quantile([int(a * unit) for a in whole], [int(a * unit) for a in parts], p)
        for p in (QUANTILES if trials else ())
    ]

    def text(units: int | None) -> str | None:
        return None if units is None else shown_text(Fraction(units, unit))

    return [
        CostQuantile(
            p=str(p),
            value=text(one.value.value),
            at_least=text(one.at_least),
            low=text(one.low.value),
            high=text(one.high.value),
        )
        for p, one in zip(QUANTILES, found, strict=False)
    ]
