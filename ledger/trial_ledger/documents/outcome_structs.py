"""The parts of an outcome policy: the classes, and the rule of one of them (C20).

Invariant: the classes are closed. This module reads no document, so that scores need no reader.
"""

import msgspec

__all__ = ["OUTCOME_CLASSES", "OutcomeRule"]

OUTCOME_CLASSES: tuple[str, ...] = (
    "correct",
    "partial",
    "incorrect",
    "abstained",
    "refused",
    "filtered",
    "limit",
    "unjudged",
    "judge_failed",
    "not_gradable",
    "lost_in_source",
    "trial_errored",
    "harness_fault",
    "search_provider_fault",
    "model_provider_fault",
    "environment_fault",
    "cancelled",
    "unfinished",
    "not_started",
    "invalidated",
)
"""Every class that a trial can fall into, for one metric (events.md, Outcome policy)."""


class OutcomeRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one class counts."""

    score: str | None = None
    """Rational text; None leaves it undecided (or, outside the denominator, without meaning)."""
    denominator: bool = True
    """Whether such a trial stays in the denominator."""
    retryable: bool = False
    """Whether such a session may give way to a later one, where the manifest allows retries."""
