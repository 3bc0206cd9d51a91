"""Rules about labels: how many trials fall into an outcome class, and what sources make of it.

Invariant: a share names what it is a share of; a share of nothing has no number.
"""

from collections import Counter
from fractions import Fraction

from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.facts import RunFacts

__all__ = ["LABEL_RULES"]

NOTHING_ATTEMPTED = "no trial is correct or incorrect"


def outcomes(facts: RunFacts) -> Counter[str]:
    """Return how many counting slots fall into each outcome class."""
    return Counter(slot.cell.outcome for slot in facts.placed if slot.cell.counts)


def known_classes(facts: RunFacts) -> list[str]:
    """Return the outcome classes worth asking for: what a label can say, and what there is."""
    return list(dict.fromkeys(["correct", "partial", "incorrect", "abstained", *outcomes(facts)]))


def count(facts: RunFacts, argument: str) -> Computed:
    """Return how many counting slots fall into a class."""
    return number(outcomes(facts)[argument])


def rate(facts: RunFacts, argument: str) -> Computed:
    """Return the share of the counting slots that fall into a class."""
    found = outcomes(facts)
    total = found.total()
    return (
        number(Fraction(found[argument], total), count=total)
        if total
        else undefined("no planned slot counts")
    )


def correct_rate(facts: RunFacts, argument: str) -> Computed:
    """Return C / N: only the class `correct` counts, whatever score the rubric gives others."""
    del argument
    return rate(facts, "correct")


def given_attempted(facts: RunFacts, argument: str) -> Computed:
    """Return C / (C + I); with the argument `or_zero`, 0 where nothing was attempted."""
    found = outcomes(facts)
    attempted = found["correct"] + found["incorrect"]
    left_out = {
        name: times for name, times in found.items() if name not in {"correct", "incorrect"}
    }
    if attempted:
        return number(Fraction(found["correct"], attempted), count=attempted, left_out=left_out)
    if argument:
        return number(0, count=0, left_out=left_out, assumed={"nothing attempted as 0": 1})
    return undefined(NOTHING_ATTEMPTED)


def attempted_f1(facts: RunFacts, argument: str) -> Computed:
    """Return 2C / (N + C + I), the harmonic mean of C / N and C / (C + I)."""
    del argument
    found = outcomes(facts)
    weight = found.total() + found["correct"] + found["incorrect"]
    if not weight:
        return undefined("no planned slot counts")
    return number(Fraction(2 * found["correct"], weight), count=found.total())


LABEL_RULES: tuple[Rule, ...] = (
    Rule(
        name="count",
        says="counts the trials of one class",
        compute=count,
        arguments=known_classes,
        known_as=("{}", "{} count", "n {}"),
    ),
    Rule(
        name="rate",
        says="divides the trials of one class by all that count",
        compute=rate,
        arguments=known_classes,
        known_as=("{} rate", "is {}"),
    ),
    Rule(
        name="correct_rate",
        says="divides the correct trials by all that count, whatever the others score",
        compute=correct_rate,
        known_as=("correct rate", "is correct"),
        instead="headline",
    ),
    Rule(
        name="accuracy_given_attempted",
        says="leaves out what is neither correct nor incorrect",
        compute=given_attempted,
        arguments=lambda _: ["", "or_zero"],
        known_as=("accuracy given attempted",),
        instead="headline",
    ),
    Rule(
        name="attempted_f1",
        says="takes the harmonic mean of the correct rate and the accuracy given attempted",
        compute=attempted_f1,
        known_as=("f1", "f1 score"),
        instead="headline",
    ),
)
"""The rules of short-answer benchmarks (SimpleQA, arXiv 2411.04368)."""
