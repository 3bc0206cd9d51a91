"""What every reconstructed document needs: values of a log that a document may hold.

Invariant: nothing that leaves here is a credential, a decimal or nested too deeply for a document;
equal content gets an equal version, because the version is a digest of the content.
"""

import msgspec

from trial_ledger.documents.canonical_form import Json, canonical_json, document_hash
from trial_ledger.documents.credentials import is_credential_name, url_has_credential
from trial_ledger.documents.rubric import default_failure_outcomes, default_outcomes
from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.importing.lenient_json import whole_text
from trial_ledger.importing.source import safe_name

__all__ = ["VERSION_LENGTH", "content_version", "document_value", "outcome_policy"]

VERSION_LENGTH = 12
"""Digits of a digest that are a version."""
MAX_DEPTH = 8
"""Deeper values of a log become JSON text in a document."""
UNBOUNDED = 1_000_000
"""Deeper than any value that a reader accepts."""


def document_value(value: object, *, depth: int = MAX_DEPTH) -> Json:
    """Return a value of a log as a document may hold it: no decimals, nothing secret, not deep."""
    if isinstance(value, dict | list) and depth == 0:
        return whole_text(document_value(value, depth=UNBOUNDED))
    if isinstance(value, dict):
        return {
            safe_name(key): None
            if isinstance(member, str) and is_credential_name(key)
            else document_value(member, depth=depth - 1)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [document_value(member, depth=depth - 1) for member in value]
    return scalar_value(value)


def scalar_value(value: object) -> Json:
    """Return a single value as a document may hold it."""
    if isinstance(value, str):
        return None if "://" in value and url_has_credential(value) else value
    if isinstance(value, int) and abs(value) <= MAX_INTEGER:
        return value
    return None if value is None else str(value)


def content_version(value: Json) -> str:
    """Return the version of a document: a prefix of its content's digest."""
    return document_hash(canonical_json(value))[:VERSION_LENGTH]


def outcome_policy() -> dict[str, Json]:
    """Return the policy of a reconstructed rubric: the defaults, invalidated trials left out."""
    outcomes = msgspec.to_builtins(default_outcomes())
    policy: dict[str, Json] = {
        name: {**rule, "score": rule["score"] or "undecided"} for name, rule in outcomes.items()
    }
    policy["invalidated"] = {"denominator": False}
    policy["failures"] = msgspec.to_builtins(default_failure_outcomes())
    return policy
