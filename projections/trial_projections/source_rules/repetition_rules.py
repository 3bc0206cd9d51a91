"""Rules over the repetitions of a question: passed in any of k, passed in all of k.

Invariant: a repetition passes where it has the highest score of the metric; one of unknown verdict
leaves no number, unless the rule says that it counts against.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from trial_ledger.exact import parse_rational
from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.view_rules import NAMES
from trial_projections.statistics.repetitions import (
    Estimator,
    mean_over_questions,
    pass_at_k,
    pass_hat_k,
)

__all__ = ["ESTIMATORS", "REPETITION_RULES", "modes", "passed_counts", "where_repeated"]

ESTIMATORS: Mapping[str, Estimator] = {"pass_at_k": pass_at_k, "pass_hat_k": pass_hat_k}
"""What is made of the repetitions of a question, by name of its rule."""


def passing(estimator: Estimator, *, nulls_against: bool) -> Callable[[RunFacts, str], Computed]:
    """Return the computation of a rule over repetitions."""

    def compute(facts: RunFacts, argument: str) -> Computed:
        k = int(argument)
        counts, undecided = passed_counts(facts)
        if undecided and not nulls_against:
            return undefined(f"{undecided} trials are undecided")
        return over_questions(estimator, counts, k, undecided)

    return compute


def passed_counts(facts: RunFacts) -> tuple[list[tuple[int, int]], int]:
    """Return (repetitions, how many passed) of every question, and how many are undecided."""
    top = parse_rational(facts.score.scale[1])
    counts: list[tuple[int, int]] = []
    undecided = 0
    for cells in facts.cells().values():
        counting = [cell for cell in cells if cell.counts]
        scores = [cell.score for cell in counting]
        undecided += scores.count(None)
        passed = sum(score is not None and parse_rational(score) == top for score in scores)
        counts.append((len(counting), passed))
    return counts, undecided


def over_questions(
    estimator: Estimator, counts: list[tuple[int, int]], k: int, undecided: int
) -> Computed:
    """Return the mean over questions, or why there is none."""
    value = mean_over_questions(estimator, counts, k).value
    if value is None:
        few = sum(n < k for n, _ in counts)
        return undefined(f"{few} of {len(counts)} questions have fewer than {k} repetitions")
    assumed = {"undecided as not passed": undecided}
    return number(value, count=len(counts), assumed=assumed)


def modes(facts: RunFacts) -> Iterator[Fraction | None]:
    """Yield of every question the score that most repetitions have, of several the first.

    None for a question of which one is undecided.
    """
    for cells in facts.cells().values():
        scores = [cell.score for cell in cells if cell.counts]
        for score, _ in Counter(scores).most_common(1):
            yield None if None in scores or score is None else parse_rational(score)


def mean_of_modes(facts: RunFacts, argument: str) -> Computed:
    """Return the mean over questions of the score that most repetitions have."""
    del argument
    found = list(modes(facts))
    values = [score for score in found if score is not None]
    if not found or len(values) < len(found):
        return undefined(f"{len(found) - len(values)} of {len(found)} questions are undecided")
    return number(sum(values, Fraction(0)) / len(values), count=len(values))


def where_repeated(facts: RunFacts) -> list[str]:
    """Return the one argument of a rule that says something where questions are repeated."""
    return [""] if facts.source.slots.repetitions > 1 else []


def up_to_repetitions(facts: RunFacts) -> list[str]:
    """Return every k from 1 to the planned repetitions, at most 100."""
    return [str(k) for k in range(1, min(facts.source.slots.repetitions, 100) + 1)]


def rules_of(name: str, says: str, estimator: Estimator, known_as: tuple[str, ...]) -> list[Rule]:
    """Return a rule over repetitions and the same where undecided ones count against."""
    return [
        Rule(
            name=name + ("_nulls_against" if nulls_against else ""),
            says=says + (", what has no verdict as not passed" if nulls_against else ""),
            compute=passing(estimator, nulls_against=nulls_against),
            arguments=up_to_repetitions,
            known_as=known_as,
            instead="headline",
        )
        for nulls_against in (False, True)
    ]


REPETITION_RULES: tuple[Rule, ...] = (
    *rules_of(
        "pass_at_k",
        "averages over questions the share of choices of k repetitions in which one passed",
        pass_at_k,
        ("pass@{}", "pass at {}", "pass at k {}"),
    ),
    *rules_of(
        "pass_hat_k",
        "averages over questions the share of choices of k repetitions that all passed",
        pass_hat_k,
        ("pass^{}", "pass hat {}", "pass k {}"),
    ),
    Rule(
        name="mode",
        says="averages over questions the score that most repetitions have, of several the first",
        compute=mean_of_modes,
        arguments=where_repeated,
        known_as=NAMES,
        instead="headline",
    ),
)
"""The rules of benchmarks that repeat (HumanEval, tau-bench), and of Inspect's `mode` reducer."""
