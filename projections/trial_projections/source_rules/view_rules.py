"""Rules that are a mean of scores: our headline, its sensitivity, and what sources make of it.

Invariant: which scores enter is the only difference between them; each names what it leaves out or
takes for known.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction

from trial_projections.aggregate import View, mean, profiles_of, views
from trial_projections.cells import Cell
from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.facts import RunFacts

__all__ = ["BY_TRIALS", "CHOICES", "NAMES", "VIEW_RULES", "Choice", "both_means"]

Choice = Callable[[dict[str, View], Cell], tuple[Fraction, Fraction] | None]
"""Chooses the lowest and highest score of a cell from the known views; None leaves it out."""

BY_TRIALS = "trials"
"""Argument: the mean of all trials, whatever the rubric says of questions."""


def with_views(
    choose: Choice,
) -> Callable[[RunFacts, str], Computed]:
    """Return the computation of a rule that chooses a value for every cell from the known views."""

    def compute(facts: RunFacts, argument: str) -> Computed:
        table = views(facts.score.scale)

        def view(cell: Cell) -> tuple[Fraction, Fraction] | None:
            return choose(table, cell)

        return mean_of(facts, view, argument)

    return compute


def mean_of(facts: RunFacts, view: View, argument: str) -> Computed:
    """Return the mean of a view, with what it leaves out of the headline or takes for known."""
    if facts.score.unavailable is not None:
        return undefined(facts.score.unavailable)
    headline = views(facts.score.scale)["headline"]
    left_out, assumed = Counter[str](), Counter[str]()
    for slot in facts.placed:
        ours, theirs = headline(slot.cell), view(slot.cell)
        if ours is not None and theirs is None:
            left_out[slot.cell.outcome] += 1
        elif ours is not None and theirs is not None and ours != theirs:
            end = "lowest" if theirs[1] < ours[1] else "highest"
            assumed[f"{slot.cell.outcome} as the {end} score"] += 1
    by_question = facts.score.aggregate == "question-mean" and argument != BY_TRIALS
    found = mean(profiles_of(facts.cells()), view, by_question=by_question)
    if found.low.value is None:
        return undefined("no trial is left")
    if not found.is_point:
        undecided = sum(facts.score.undecided.values())
        return undefined(f"{undecided} undecided: from {found.low.value} to {found.high.value}")
    return number(
        Fraction(found.low.value), count=found.low.count, left_out=left_out, assumed=assumed
    )


def lowest(table: dict[str, View], cell: Cell) -> tuple[Fraction, Fraction] | None:
    """Return the headline's value, undecided ones at the low end of the scale."""
    bounds = table["headline"](cell)
    return None if bounds is None else (bounds[0], bounds[0])


def decided(table: dict[str, View], cell: Cell) -> tuple[Fraction, Fraction] | None:
    """Return the headline's value, without what is undecided."""
    return None if cell.score is None else table["headline"](cell)


def named(view: str) -> Choice:
    """Return the choice of one of the known views."""
    return lambda table, cell: table[view](cell)


def both_means(facts: RunFacts) -> list[str]:
    """Return the rubric's own mean, and that of trials where it can differ."""
    return ["", BY_TRIALS] if facts.score.aggregate == "question-mean" else [""]


CHOICES: Mapping[str, Choice] = {
    "headline": named("headline"),
    "null_counts_against": lowest,
    "errors_excluded": named("errors_excluded"),
    "decided_only": decided,
    "complete_case": named("complete_case"),
}
"""What enters a mean, by name of its rule, as far as nothing missing is made up."""

NAMES = (
    "accuracy",
    "mean",
    "score",
    "average score",
    "reward",
    "correct rate",
    "exact match",
    "acc",
)
"""Under which sources publish a mean of scores."""


def rule(
    name: str,
    says: str,
    choose: Choice,
) -> Rule:
    """Return a rule that is a mean of scores."""
    return Rule(
        name=name,
        says=says,
        compute=with_views(choose),
        arguments=both_means,
        known_as=NAMES,
        instead="headline",
    )


VIEW_RULES: tuple[Rule, ...] = (
    rule("headline", "counts as our headline does", CHOICES["headline"]),
    rule(
        "null_counts_against",
        "takes what has no verdict for the lowest score",
        CHOICES["null_counts_against"],
    ),
    rule("errors_excluded", "leaves errored trials out", CHOICES["errors_excluded"]),
    rule("decided_only", "leaves out what has no verdict", CHOICES["decided_only"]),
    rule(
        "complete_case",
        "leaves out whatever was not answered and judged",
        CHOICES["complete_case"],
    ),
    rule("worst", "takes what is missing for the lowest score", named("worst")),
    rule("best", "takes what is missing for the highest score", named("best")),
)
"""From ours outwards."""
