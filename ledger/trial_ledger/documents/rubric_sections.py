"""Read one section of a rubric each: official grading, judge, empty sets, review plan.

Invariant: a reader returns only what its section says; the defaults stand in the structs alone.
"""

from fractions import Fraction

from trial_ledger.documents.credentials import read_variable
from trial_ledger.documents.outcomes import read_rational
from trial_ledger.documents.reading import Table, given
from trial_ledger.documents.rubric_structs import EMPTY_SETS, UNDEFINED
from trial_ledger.exact import parse_rational

__all__ = ["read_empty_sets", "read_judge", "read_official", "read_review", "read_share"]

LEAST_REVIEW = Fraction(1, 10)
"""Least share of the judged trials that people review (C29)."""


def read_share(table: Table, key: str) -> str | None:
    """Return a rational from 0 to 1 as text."""
    text = read_rational(table, key)
    if text is not None and not 0 <= parse_rational(text) <= 1:
        table.wrong(key, "a share from 0 to 1")
    return text


def read_empty_sets(table: Table, *, needed: bool) -> dict[str, dict[str, str | None]]:
    """Return the values of the list measures in each case of emptiness (C8)."""
    outer = table.table("empty_sets")
    if outer is None:
        if needed:
            table.faults.add(
                "missing, but a list measure is used",
                field="empty_sets",
                expected=", ".join(EMPTY_SETS),
                clause="C8",
            )
        return {}
    outer.require(*EMPTY_SETS, clause="C8")
    found: dict[str, dict[str, str | None]] = {}
    for case in EMPTY_SETS:
        inner = outer.table(case)
        if inner is not None:
            inner.require("precision", "recall", "f1", clause="C8")
            found[case] = {key: read_empty(inner, key) for key in ("precision", "recall", "f1")}
            inner.finish()
    outer.finish()
    return found


def read_empty(table: Table, key: str) -> str | None:
    if table.raw(key) == UNDEFINED:
        return UNDEFINED
    return read_share(table, key)


def read_official(table: Table) -> dict[str, object] | None:
    """Return the fields of an `Official`, None where the section is empty (C15)."""
    official = table.table("official")
    if official is None or not official.values:
        return None
    official.require("benchmark", "grader", "digests", clause="C15")
    digests = official.mapping("digests")
    for name, digest in digests.items():
        if not isinstance(digest, str) or not digest:
            official.faults.add(
                "wrong value",
                field=f"official.digests.{name}",
                expected="a digest as text",
                clause="C15",
            )
    if official.has("digests") and not digests:
        official.wrong("digests", "at least one file with its digest", clause="C15")
    found = given(
        benchmark=official.name("benchmark"),
        grader=official.name("grader"),
        repository=official.text("repository"),
        commit=official.text("commit"),
        digests=digests,
        patches=official.names("patches"),
    )
    official.finish()
    return found


def read_judge(table: Table) -> dict[str, object] | None:
    """Return the fields of a `Judge`, None where the section is empty."""
    judge = table.table("judge")
    if judge is None or not judge.values:
        return None
    judge.require("model", clause="C28")
    judge.want("endpoint", "prompt", clause="C28")
    found = given(
        model=judge.name("model"),
        endpoint=judge.name("endpoint"),
        url=judge.text("url"),
        key_env=read_variable(judge, "key_env"),
        prompt=judge.text("prompt"),
        sampling=judge.mapping("sampling"),
        passes=judge.integer("passes", least=1),
        canonical=judge.choice("canonical", ("first-valid", "majority")),
        attempts=judge.integer("attempts", least=1),
        timeout_ms=judge.integer("timeout_ms", least=1),
    )
    judge.finish()
    return found


def read_review(table: Table) -> dict[str, object] | None:
    """Return the fields of a `Review` (C29)."""
    review = table.table("review")
    if review is None:
        return None
    review.require("seed", clause="C29")
    fraction = read_share(review, "fraction")
    if fraction is not None and parse_rational(fraction) < LEAST_REVIEW:
        review.wrong("fraction", "at least 1/10 of the judged trials", clause="C29")
    found = given(
        fraction=fraction,
        floor=review.integer("floor", least=1),
        strata=review.names("strata"),
        seed=review.name("seed"),
    )
    review.finish()
    return found
