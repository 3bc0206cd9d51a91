"""Every named rule, and a number computed under one of them, of a run or over several.

Invariant: a rule's name is unique and stays; what no rule reproduces is said to be so.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

import msgspec

from trial_ledger.errors import NotFoundError
from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.criteria_rules import CRITERIA_RULES
from trial_projections.source_rules.facts import RunFacts
from trial_projections.source_rules.label_rules import LABEL_RULES
from trial_projections.source_rules.people_rules import PEOPLE_RULES
from trial_projections.source_rules.repetition_rules import REPETITION_RULES
from trial_projections.source_rules.resource_rules import RESOURCE_RULES
from trial_projections.source_rules.spread_rules import SPREAD_RULES
from trial_projections.source_rules.view_rules import VIEW_RULES

__all__ = ["RULES", "all_names", "compute", "compute_over_runs", "rule_of"]

RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        *VIEW_RULES,
        *LABEL_RULES,
        *REPETITION_RULES,
        *RESOURCE_RULES,
        *CRITERIA_RULES,
        *PEOPLE_RULES,
        *SPREAD_RULES,
    )
}
"""Name → rule, ours first and then outwards."""


def rule_of(name: str) -> tuple[Rule, str]:
    """Return the rule of a full name and its argument, as `count` and `correct`.

    Raises:
        NotFoundError: there is no such rule.
    """
    base, _, argument = name.partition(":")
    if base not in RULES:
        message = f"no rule {base!r}; there are {', '.join(RULES)}"
        raise NotFoundError(
            message, hint="ledger scores RUN says which rule gives a source's number"
        )
    return RULES[base], argument


def compute(facts: RunFacts, name: str) -> Computed:
    """Return what a rule makes of a run.

    Args:
        facts: the run under one metric.
        name: name of the rule, with its argument after a colon, as `pass_at_k:2`.

    Raises:
        NotFoundError: there is no such rule.
    """
    rule, argument = rule_of(name)
    return msgspec.structs.replace(rule.compute(facts, argument), rule=name)


def all_names(facts: RunFacts) -> Iterator[str]:
    """Yield the full name of every rule worth trying on a run, ours first."""
    for rule in RULES.values():
        for argument in rule.arguments(facts):
            yield f"{rule.name}:{argument}" if argument else rule.name


def compute_over_runs(runs: Iterable[RunFacts], name: str) -> Computed:
    """Return the mean over several runs of what a rule makes of each; runs weigh alike.

    Raises:
        NotFoundError: there is no such rule.
    """
    values: list[Fraction] = []
    for facts in runs:
        found = compute(facts, name)
        if found.fraction is None:
            reason = undefined(f"run {facts.run.name}: {found.reason}")
            return msgspec.structs.replace(reason, rule=f"mean of runs, {name}")
        values.append(found.fraction)
    mean = (
        number(sum(values, Fraction(0)) / len(values), count=len(values))
        if values
        else undefined("no run")
    )
    return msgspec.structs.replace(mean, rule=f"mean of runs, {name}")
