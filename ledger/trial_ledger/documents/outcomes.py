"""The outcome policy: which class scores what, and on which class a failure maps (C20).

Invariant: the classes are closed; a policy that leaves one out is never completed silently, the
defaults are only what templates and importers write out.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import get_args

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.outcome_structs import OUTCOME_CLASSES, OutcomeRule
from trial_ledger.documents.reading import Table, nearest
from trial_ledger.events import FailureClass, Purpose
from trial_ledger.exact import fraction_from_decimal_text, parse_rational, rational_text
from trial_ledger.strict_json import shorten

__all__ = [
    "FAILURE_CLASSES",
    "OUTCOME_CLASSES",
    "PURPOSES",
    "UNDECIDED",
    "UNDECIDED_CLASSES",
    "OutcomeRule",
    "default_failure_outcomes",
    "default_outcomes",
]

UNDECIDED_CLASSES = frozenset({"unjudged", "judge_failed", "not_gradable", "lost_in_source"})
"""Classes that may be left undecided, so that the metric becomes a range."""

FAILURE_CLASSES: tuple[str, ...] = get_args(FailureClass)
"""Every class of failure occurrence."""

PURPOSES: tuple[str, ...] = get_args(Purpose)
"""What a call is for; a failure may map by it."""

NO_CALL = "none"
"""Key of a mapping by purpose for an occurrence outside any call."""

LONGEST_NUMBER = 100
"""Characters of a number; a longer one is no weight that anybody chose."""

UNDECIDED = "undecided"
"""How a document writes a score that no rule decides."""


def default_outcomes() -> dict[str, OutcomeRule]:
    """Return the policy that the template spells out: errors score 0 and stay in (C20)."""
    rules = {name: OutcomeRule(score="0") for name in OUTCOME_CLASSES}
    rules["correct"] = OutcomeRule(score="1")
    rules["partial"] = OutcomeRule(score="1/2")
    rules["invalidated"] = OutcomeRule(denominator=False)
    for name in UNDECIDED_CLASSES:
        rules[name] = OutcomeRule()
    for name in (
        "harness_fault",
        "search_provider_fault",
        "model_provider_fault",
        "environment_fault",
    ):
        rules[name] = OutcomeRule(score="0", retryable=True)
    return rules


BY_PURPOSE: Mapping[str, str] = {
    "model": "model_provider_fault",
    "search": "search_provider_fault",
    "tool": "environment_fault",
    "judge": "judge_failed",
    NO_CALL: "trial_errored",
}

SINGLE_OUTCOMES: Mapping[str, str] = {
    "dns": "environment_fault",
    "tls": "environment_fault",
    "auth": "harness_fault",
    "client_error": "harness_fault",
    "response_lost": "harness_fault",
    "agent_error": "trial_errored",
    "agent_timeout": "trial_errored",
    "limit": "limit",
    "judge_error": "judge_failed",
    "judge_unparseable": "judge_failed",
    "gold_leak": "harness_fault",
    "harness_error": "harness_fault",
    "environment": "environment_fault",
    "cancelled": "cancelled",
    "other": "trial_errored",
}
"""Classes whose outcome does not depend on whom the call went to; the others go by purpose."""


def default_failure_outcomes() -> dict[str, str | dict[str, str]]:
    """Return failure class to outcome class, as the template spells it out."""
    return {name: SINGLE_OUTCOMES.get(name) or dict(BY_PURPOSE) for name in FAILURE_CLASSES}


def read_outcomes(table: Table, base: Mapping[str, OutcomeRule]) -> dict[str, OutcomeRule]:
    """Return the rules that a table states; what one leaves out comes from `base` or is plain."""
    rules: dict[str, OutcomeRule] = {}
    for name in table.values:
        if name == "failures":
            continue
        if name not in OUTCOME_CLASSES:
            report_class(table, name)
            continue
        inner = table.table(name)
        if inner is not None:
            rules[name] = read_rule(inner, base.get(name))
    return rules


def report_class(table: Table, name: str) -> None:
    close = nearest(name, OUTCOME_CLASSES)
    table.faults.add(
        "unknown outcome class", field=table.at(name), expected=close or "one of the closed list"
    )


def read_rule(table: Table, base: OutcomeRule | None) -> OutcomeRule:
    rule = base or OutcomeRule()
    denominator = table.boolean("denominator")
    retryable = table.boolean("retryable")
    if denominator is None:
        denominator = rule.denominator
    score = read_score(table, "score") if table.has("score") else rule.score
    if not table.has("score") and base is None and denominator:
        table.faults.add(
            "missing", field=table.at("score"), expected='a rational or "undecided"', clause="C20"
        )
    table.known.add("score")
    table.finish()
    return OutcomeRule(
        score=score,
        denominator=denominator,
        retryable=rule.retryable if retryable is None else retryable,
    )


def read_score(table: Table, key: str) -> str | None:
    """Return a score as canonical rational text, None for `undecided`."""
    value = table.raw(key)
    if value == UNDECIDED:
        return None
    return read_rational(table, key)


def read_rational(table: Table, key: str) -> str | None:
    """Return a number as canonical rational text: `"1/2"`, `"0.5"` or `1`; None where missing."""
    value = table.raw(key)
    if value is None:
        return None
    try:
        return rational_text(number(value))
    except ValueError:
        table.wrong(key, 'a rational as text, such as "1/2"')
        return None


def number(value: Json) -> Fraction:
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER:
        message = "not a number"
        raise ValueError(message)
    return parse_rational(value) if "." not in value else fraction_from_decimal_text(value)


def read_failure_outcomes(table: Table) -> dict[str, str | dict[str, str]]:
    """Return the mapping of every failure class, reporting gaps (C20)."""
    mapping: dict[str, str | dict[str, str]] = {}
    for name in FAILURE_CLASSES:
        value = table.raw(name)
        if isinstance(value, dict):
            inner = table.table(name)
            assert inner is not None, "a dictionary reads as a table"
            mapping[name] = read_by_purpose(inner)
        elif value is not None:
            mapping[name] = read_target(table, name)
    missing = [name for name in FAILURE_CLASSES if not table.has(name)]
    if missing:
        table.faults.add(
            f"failure classes without an outcome: {', '.join(missing)}",
            field=table.path,
            clause="C20",
        )
    table.finish()
    return mapping


def read_by_purpose(table: Table) -> dict[str, str]:
    targets = {purpose: read_target(table, purpose) for purpose in PURPOSES if table.has(purpose)}
    missing = [purpose for purpose in PURPOSES if not table.has(purpose)]
    if missing:
        table.faults.add(
            f"purposes without an outcome: {', '.join(missing)}", field=table.path, clause="C20"
        )
    table.known.update(PURPOSES)
    targets[NO_CALL] = read_target(table, NO_CALL) if table.has(NO_CALL) else BY_PURPOSE[NO_CALL]
    table.known.add(NO_CALL)
    table.finish()
    return targets


def read_target(table: Table, key: str) -> str:
    value = table.raw(key)
    if not isinstance(value, str) or value not in OUTCOME_CLASSES:
        close = nearest(value, OUTCOME_CLASSES) if isinstance(value, str) else None
        table.faults.add(
            "no such outcome class",
            field=table.at(key),
            found=shorten(value),
            expected=close or "one of the outcome classes",
            clause="C20",
        )
        return "trial_errored"
    return value
