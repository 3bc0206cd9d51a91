"""Rules about who agrees with whom: reviewers, graders, majorities.

Invariant: raters are reviewers by name, most of them as `majority`, or the graders of a metric by
the metric's name; only slots that both labelled are compared.
"""

from itertools import combinations

from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.facts import MAJORITY, RunFacts
from trial_projections.statistics.agreement import Agreement, agreement

__all__ = ["PEOPLE_RULES"]

BETWEEN = ","
"""Parts the two raters in an argument."""


def compared(facts: RunFacts, argument: str) -> Agreement | str:
    """Return how two raters agree, or why that cannot be said."""
    names = argument.split(BETWEEN)
    known = [facts.labels(name) for name in names]
    for name, labels in zip(names, known, strict=True):
        if labels is None:
            return f"nobody is called {name}"
    first, second = (labels or {} for labels in known)
    return agreement((label, second[key]) for key, label in first.items() if key in second)


def equal(facts: RunFacts, argument: str) -> Computed:
    """Return how many slots two raters labelled alike."""
    found = compared(facts, argument)
    return undefined(found) if isinstance(found, str) else number(found.equal, count=found.count)


def both(facts: RunFacts, argument: str) -> Computed:
    """Return how many slots both raters labelled."""
    found = compared(facts, argument)
    return undefined(found) if isinstance(found, str) else number(found.count)


def share(facts: RunFacts, argument: str) -> Computed:
    """Return the share of the slots labelled by both that two raters labelled alike."""
    found = compared(facts, argument)
    if isinstance(found, str):
        return undefined(found)
    share_of_equal = found.share.value
    if share_of_equal is None:
        return undefined("no slot is labelled by both")
    return number(share_of_equal, count=found.count)


def kappa(facts: RunFacts, argument: str) -> Computed:
    """Return Cohen's kappa of two raters."""
    found = compared(facts, argument)
    if isinstance(found, str):
        return undefined(found)
    if found.kappa.value is None:
        reason = found.kappa.reason if found.count else None
        return undefined(reason or "no slot is labelled by both")
    return number(found.kappa.value, count=found.count)


def majority_count(facts: RunFacts, argument: str) -> Computed:
    """Return how many slots most reviewers gave one label."""
    if not facts.reviewers:
        return undefined("there is no review")
    found = list(facts.majorities.values())
    return number(found.count(argument), left_out={"no majority": found.count(None)})


def labelled(facts: RunFacts, argument: str) -> Computed:
    """Return of how many slots there is a judgment of a metric, or a failed one."""
    if argument not in facts.source.rubric.metrics:
        return undefined(f"no metric is called {argument}")
    judged = failed = 0
    for slot in facts.placed:
        if facts.judgment(slot, argument) is not None:
            judged += 1
        elif slot.judged is not None:
            failed += any(known.metric == argument for known in slot.judged.failed_judgments)
    return number(judged + failed, assumed={"failed judgment as a row": failed})


def pairs(facts: RunFacts) -> list[str]:
    """Return every pair of raters."""
    people = [*facts.reviewers, MAJORITY] if facts.reviewers else []
    names = [*people, *facts.source.rubric.metrics]
    return [BETWEEN.join(pair) for pair in combinations(names, 2) if BETWEEN not in "".join(pair)]


def given_labels(facts: RunFacts) -> list[str]:
    """Return every label that some reviewer gave."""
    return sorted({label for labels in facts.reviewers.values() for label in labels.values()})


PEOPLE_RULES: tuple[Rule, ...] = (
    Rule(
        name="cohen_kappa",
        says="corrects the agreement of two raters for chance",
        compute=kappa,
        arguments=pairs,
        known_as=("cohen kappa {}", "kappa {}"),
    ),
    Rule(
        name="raters_share",
        says="divides what two raters labelled alike by what both labelled",
        compute=share,
        arguments=pairs,
        known_as=("agreement {}",),
    ),
    Rule(
        name="raters_equal",
        says="counts what two raters labelled alike",
        compute=equal,
        arguments=pairs,
    ),
    Rule(
        name="raters_both",
        says="counts what two raters both labelled",
        compute=both,
        arguments=pairs,
    ),
    Rule(
        name="majority",
        says="counts the trials to which most reviewers gave one label",
        compute=majority_count,
        arguments=given_labels,
        known_as=("majority label {}",),
    ),
    Rule(
        name="rows_of",
        says="counts the rows of a judge, failed ones too",
        compute=labelled,
        arguments=lambda facts: sorted(facts.source.rubric.metrics),
        known_as=("rows {}",),
    ),
)
"""Agreement of people and judges."""
