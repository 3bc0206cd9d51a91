"""Rules that say how far a mean may be off: the standard errors that sources publish beside it.

Invariant: everything that the mean in question counts enters, once; where a trial of it is
undecided there is no number.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

from trial_ledger.exact import rational_text
from trial_projections.aggregate import View, views
from trial_projections.cells import Cell
from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.repetition_rules import (
    ESTIMATORS,
    modes,
    passed_counts,
    where_repeated,
)
from trial_projections.source_rules.view_rules import BY_TRIALS, CHOICES, both_means
from trial_projections.statistics.clusters import cluster_errors, clusters_of
from trial_projections.statistics.result import Result
from trial_projections.statistics.standard_error import standard_error

__all__ = ["SPREAD_RULES"]

HEADLINE, MODE = "headline", "mode"
OR_ZERO = "or_zero"
"""Argument: 0 where there is one value, as some tools have it."""
FEWEST = 2
MOST_CHOSEN = 10
"""Largest k of whose pass@k and pass^k an error is tried."""


class Drawn(msgspec.Struct, frozen=True):
    """The scores of every question that a mean counts."""

    questions: list[list[Fraction]]
    """Scores by question; those without a score are left out."""
    undecided: int
    """Trials that count and have no score."""
    left_out: dict[str, int]
    """What our headline counts and this mean does not: by outcome class, how many."""


def drawn(facts: RunFacts, view: str) -> Drawn:
    """Return the scores that a mean counts, by question."""
    table = views(facts.score.scale)

    def chosen(cell: Cell) -> tuple[Fraction, Fraction] | None:
        return CHOICES[view](table, cell)

    headline: View = table[HEADLINE]
    found: defaultdict[str, list[Fraction]] = defaultdict(list)
    undecided, left_out = 0, Counter[str]()
    for slot in facts.placed:
        bounds = chosen(slot.cell)
        if bounds is not None:
            undecided += bounds[0] != bounds[1]
            found[slot.question].append(bounds[0])
        elif headline(slot.cell) is not None:
            left_out[slot.cell.outcome] += 1
    return Drawn(list(found.values()), undecided, dict(left_out))


def error_of(found: Result[Decimal], left_out: dict[str, int]) -> Computed:
    """Return a standard error, to 50 digits, or why there is none."""
    if found.value is None:
        return Computed(value=None, reason=found.reason)
    return Computed(value=rational_text(Fraction(found.value)), left_out=left_out)


def standard_error_rule(facts: RunFacts, argument: str) -> Computed:
    """Return the standard error of a mean of questions, or of trials, taken for independent."""
    if facts.score.unavailable is not None:
        return undefined(facts.score.unavailable)
    base, _, k = argument.partition(":")
    if base in ESTIMATORS:
        return error_of_choices(facts, base, int(k))
    if base == MODE:
        return error_of_values(list(modes(facts)), "are undecided")
    by_trials = facts.score.aggregate == "trial-mean" or argument == BY_TRIALS
    found = drawn(facts, argument if argument in CHOICES else HEADLINE)
    if found.undecided:
        return undefined(f"{found.undecided} undecided")
    values: Sequence[Fraction] = [score for scores in found.questions for score in scores]
    if not by_trials:
        values = [sum(scores, Fraction(0)) / len(scores) for scores in found.questions]
    if argument == OR_ZERO and len(values) < FEWEST:
        return number(0, left_out=found.left_out)
    return error_of(standard_error(values), found.left_out)


def error_of_choices(facts: RunFacts, name: str, k: int) -> Computed:
    """Return the standard error of the mean over questions of pass@k or pass^k."""
    counts, undecided = passed_counts(facts)
    if undecided:
        return undefined(f"{undecided} undecided")
    found = [ESTIMATORS[name](n, passed, k).value for n, passed in counts]
    return error_of_values(found, f"have fewer than {k} repetitions")


def error_of_values(found: Sequence[Fraction | None], why: str) -> Computed:
    """Return the standard error of one value a question, or how many have none and why."""
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return undefined(f"{len(found) - len(values)} questions {why}")
    return error_of(standard_error(values), {})


def clustered_error_rule(facts: RunFacts, argument: str) -> Computed:
    """Return the standard error of a mean of trials, clustered by question."""
    if facts.score.unavailable is not None:
        return undefined(facts.score.unavailable)
    found = drawn(facts, argument or HEADLINE)
    if found.undecided:
        return undefined(f"{found.undecided} undecided")
    return error_of(cluster_errors(clusters_of(found.questions)).cr1, found.left_out)


def views_tried(facts: RunFacts) -> list[str]:
    """Return the mean of our headline, then those that leave something out."""
    del facts
    return ["", *(name for name in CHOICES if name != HEADLINE)]


def means_tried(facts: RunFacts) -> list[str]:
    """Return every mean whose error is tried: views of scores, then choices of repetitions."""
    chosen: list[str] = []
    if where_repeated(facts):
        most = min(facts.source.slots.repetitions, MOST_CHOSEN)
        chosen = [MODE, *(f"{name}:{k}" for name in ESTIMATORS for k in range(1, most + 1))]
    questions = sum(any(cell.counts for cell in cells) for cells in facts.cells().values())
    alone = [OR_ZERO] if questions < FEWEST else []
    return [*both_means(facts), *alone, *views_tried(facts)[1:], *chosen]


KNOWN_AS = ("stderr", "standard error", "std err", "se")

SPREAD_RULES = (
    Rule(
        name="standard_error",
        says="is the standard error of the mean, sqrt(s^2/n), of independent values",
        compute=standard_error_rule,
        arguments=means_tried,
        known_as=KNOWN_AS,
    ),
    Rule(
        name="clustered_error",
        says="is the standard error of the mean of trials, clustered by question (CR1)",
        compute=clustered_error_rule,
        arguments=views_tried,
        known_as=(*KNOWN_AS, "clustered stderr", "clustered standard error"),
    ),
)
"""How far a mean may be off."""
