"""A frozen rubric as people write one: to be read, revised and frozen under the next version.

Invariant: reading what stands here gives the very rubric again, but for settings that are null,
which TOML cannot say.
"""

import msgspec
import tomli_w

from trial_ledger.documents.canonical_form import Json, without_nulls
from trial_ledger.documents.difference import next_version
from trial_ledger.documents.outcome_structs import OutcomeRule
from trial_ledger.documents.rubric_structs import Rubric

__all__ = ["rubric_table", "rubric_toml"]

UNDECIDED = "undecided"
FREE = frozenset({"options", "sampling", "digests"})
"""Settings that mean something to a grader or a model only, so that `{}` in them may too."""


def rubric_toml(rubric: Rubric) -> str:
    """Return the TOML document of a rubric, with a line that says how to revise it."""
    note = (
        f"# {rubric.reference} as it was frozen.\n"
        f"# A changed rubric needs another version, such as {next_version(rubric.version)}.\n"
    )
    return note + tomli_w.dumps(rubric_table(rubric), multiline_strings=True)


def rubric_table(rubric: Rubric) -> dict[str, Json]:
    """Return a rubric as the table of rubric.toml; what is None or empty is left out."""
    outcomes: dict[str, Json] = {}
    for name, rule in rubric.outcomes.items():
        outcomes[name] = rule_table(rule)
    outcomes["failures"] = msgspec.to_builtins(rubric.failure_outcomes)
    metrics: dict[str, Json] = {}
    for name, metric in rubric.metrics.items():
        table = stated(msgspec.to_builtins(metric))
        if metric.outcomes:
            own: dict[str, Json] = {}
            for outcome, rule in metric.outcomes.items():
                own[outcome] = rule_table(rule)
            table["outcomes"] = own
        metrics[name] = table
    document = stated(msgspec.to_builtins(rubric))
    del document["failure_outcomes"]
    if not rubric.reconstructed:
        del document["reconstructed"]
    return {**document, "metrics": metrics, "outcomes": outcomes}


def rule_table(rule: OutcomeRule) -> dict[str, Json]:
    """Return the rule of one outcome class; an undecided score is written so."""
    table: dict[str, Json] = {}
    if rule.denominator:
        table["score"] = rule.score or UNDECIDED
    else:
        table["denominator"] = False
        if rule.score is not None:
            table["score"] = rule.score
    if rule.retryable:
        table["retryable"] = True
    return table


def stated(table: dict[str, Json]) -> dict[str, Json]:
    """Return a table without what it leaves open, which TOML cannot say; settings stay whole."""
    found: dict[str, Json] = {}
    for key, value in table.items():
        if value is None or value in ({}, []):
            continue
        if key in FREE:
            found[key] = without_nulls(value)
        else:
            found[key] = stated(value) if isinstance(value, dict) else value
    return found
