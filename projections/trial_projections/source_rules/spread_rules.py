"""Rules that say how far a mean may be off: the standard error that sources publish beside it.

Invariant: everything that the headline counts enters, once; where a trial is undecided there is no
number.
"""

from collections import defaultdict
from fractions import Fraction

from trial_ledger.exact import rational_text
from trial_projections.aggregate import views
from trial_projections.source_rules.computed import Computed, Rule, undefined
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.view_rules import BY_TRIALS, both_means
from trial_projections.statistics.standard_error import standard_error

__all__ = ["SPREAD_RULES"]


def standard_error_rule(facts: RunFacts, argument: str) -> Computed:
    """Return the standard error of the headline, to 50 digits: of questions, or of trials."""
    if facts.score.unavailable is not None:
        return undefined(facts.score.unavailable)
    headline = views(facts.score.scale)["headline"]
    by_trials = facts.score.aggregate == "trial-mean" or argument == BY_TRIALS
    drawn: defaultdict[tuple[str, int], list[Fraction]] = defaultdict(list)
    undecided = 0
    for slot in facts.placed:
        bounds = headline(slot.cell)
        if bounds is not None:
            undecided += bounds[0] != bounds[1]
            drawn[slot.question, slot.repetition if by_trials else 0].append(bounds[0])
    if undecided:
        return undefined(f"{undecided} undecided")
    found = standard_error([sum(each, Fraction(0)) / len(each) for each in drawn.values()])
    if found.value is None:
        return Computed(value=None, reason=found.reason)
    return Computed(value=rational_text(Fraction(found.value)))


SPREAD_RULES = (
    Rule(
        name="standard_error",
        says="is the standard error of the mean, sqrt(s^2/n), of independent values",
        compute=standard_error_rule,
        arguments=both_means,
        known_as=("stderr", "standard error", "std err", "se"),
    ),
)
"""How far a mean may be off."""
