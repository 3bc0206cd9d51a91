"""Rules over the criteria of judgments: labels counted, pooled shares, weighted trees.

Invariant: criteria are those of the standing judgments; a tree's value is made of its leaves and
weights alone, never of values that a source stored for inner nodes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction

from trial_ledger.exact import fraction_from_decimal_text
from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.facts import RunFacts

__all__ = ["CRITERIA_RULES", "tree_value"]

NO_CRITERIA = "no judgment names its criteria"
WEIGHTS = "weights"
"""Option of a metric: weight by path, `2.1` being the first child of the second root child."""
HALF = Fraction(1, 2)


def labels(facts: RunFacts) -> Counter[str]:
    """Return how many criteria have each label; those without one are left out."""
    return Counter(
        part.outcome for _, parts in facts.parts for part in parts if part.outcome is not None
    )


def total(facts: RunFacts, argument: str) -> Computed:
    """Return how many criteria have a label."""
    del argument
    return number(labels(facts).total()) if facts.parts else undefined(NO_CRITERIA)


def count(facts: RunFacts, argument: str) -> Computed:
    """Return how many criteria have one label."""
    return number(labels(facts)[argument]) if facts.parts else undefined(NO_CRITERIA)


def pooled(facts: RunFacts, argument: str) -> Computed:
    """Return (C + P / 2) / N over the criteria of all judgments, which weigh alike."""
    del argument
    found = labels(facts)
    if not found.total():
        return undefined(NO_CRITERIA)
    met = found["correct"] + found["partial"] * HALF
    return number(met / found.total(), count=found.total())


def tree(facts: RunFacts, argument: str) -> Computed:
    """Return the mean over judgments of the weighted tree of their leaves."""
    del argument
    weights = facts.source.rubric.metrics[facts.metric].options.get(WEIGHTS)
    if not isinstance(weights, dict):
        return undefined("the metric names no weights of a tree")
    if not facts.parts:
        return undefined(NO_CRITERIA)
    by_path = {path: fraction_from_decimal_text(str(text)) for path, text in weights.items()}
    values: list[Fraction] = []
    for (question, repetition), parts in facts.parts:
        leaves = {
            part.name: Fraction(part.numerator, part.denominator)
            for part in parts
            if part.numerator is not None and part.denominator
        }
        value = tree_value(by_path, leaves)
        if value is None:
            return undefined(f"a leaf of {question}#{repetition} has no value")
        values.append(value)
    return number(sum(values, Fraction(0)) / len(values), count=len(values))


def tree_value(weights: Mapping[str, Fraction], leaves: Mapping[str, Fraction]) -> Fraction | None:
    """Return the weighted mean of a tree, from its leaves upwards.

    A node's value is the mean of its children by weight; weights of one level need not add up to 1.
    Weights of 0 throughout leave a node without a value.

    Args:
        weights: weight of every node below the root, by its path, as `2.1`.
        leaves: value of every leaf, by its path.

    Returns:
        None where a node has no value that its parent would need.
    """
    children: defaultdict[str, list[str]] = defaultdict(list)
    for path in weights:
        children[path.rpartition(".")[0]].append(path)
    values: dict[str, Fraction | None] = {}
    for path in sorted({"", *weights}, key=lambda path: (-path.count("."), not path, path)):
        below = children.get(path)
        values[path] = leaves.get(path) if below is None else weighted(below, weights, values)
    return values[""]


def weighted(
    paths: list[str], weights: Mapping[str, Fraction], values: Mapping[str, Fraction | None]
) -> Fraction | None:
    """Return the mean of some nodes by weight; None where one that weighs has no value."""
    known = [(weights[path], values[path]) for path in paths if weights[path]]
    if not known:
        return None
    sum_of = Fraction(0)
    for weight, value in known:
        if value is None:
            return None
        sum_of += weight * value
    return sum_of / sum(weight for weight, _ in known)


def known_labels(facts: RunFacts) -> list[str]:
    """Return the labels that criteria can be counted by."""
    return list(dict.fromkeys(["correct", "partial", "missing", *sorted(labels(facts))]))


CRITERIA_RULES: tuple[Rule, ...] = (
    Rule(
        name="criteria_count",
        says="counts the criteria of one label",
        compute=count,
        arguments=known_labels,
        known_as=("{}",),
    ),
    Rule(
        name="criteria_total",
        says="counts the criteria",
        compute=total,
        known_as=("checkpoints", "checkpoints total", "criteria"),
    ),
    Rule(
        name="criteria_pooled",
        says="pools the criteria of all answers, a partly met one as half",
        compute=pooled,
        known_as=("coverage", "coverage (c+p/2)/n"),
        instead="headline",
    ),
    Rule(
        name="criteria_tree",
        says="takes the weighted mean of a tree of criteria, from its leaves upwards",
        compute=tree,
        known_as=("root from leaves", "score", "root score"),
        instead="headline",
    ),
)
"""The rules of rubric benchmarks."""
