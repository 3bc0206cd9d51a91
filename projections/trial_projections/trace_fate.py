"""What became of failures and calls, and whether a retrieval miss can be declared (C22, C23).

Invariant: why a failed call was not tried again is said only where manifest, rubric or log say it;
a call that merely does the same work is never called a retry.
"""

from collections.abc import Collection
from typing import Literal, NamedTuple

import msgspec

from trial_ledger.amounts import Cost
from trial_projections.trace_facts import CallFacts, OccurrenceFacts, Surfacing, TrialFacts
from trial_projections.trace_steps import between

__all__ = [
    "Attempt",
    "Fate",
    "Miss",
    "NextCall",
    "RetryPolicy",
    "attempt_of",
    "endpoint_of",
    "fate_of",
    "miss_of",
    "next_calls",
]

NEXT_CALLS = 5
"""Calls that are told of where none is linked to a failed one as its retry."""

WhyNotTried = Literal[
    "class_not_retried", "attempts_used", "trial_ended", "trial_open", "policy_unknown",
    "not_recorded",
]  # fmt: skip

STOPPED = frozenset({"limit", "cancelled", "filtered", "refused"})
"""Outcomes of trials that were stopped from outside."""


class RetryPolicy(NamedTuple):
    """When a failed call is tried again."""

    attempts: int
    """Tries of one call, the first included."""
    classes: Collection[str] | None
    """Failure classes after which it is; None after every one."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One call, what it cost and whether its intent came first."""

    call: str
    """Its id."""
    seq: int
    """Place of its call.started."""
    attempt: int
    """Which attempt, from 1."""
    purpose: str
    """model, search, tool or judge."""
    ending: str
    """How it ended: the status, `lost`, or `open`."""
    cost: Cost | None
    """What it cost; null where unknown."""
    recorded_before: bool | None
    """Whether its start was in the log before the first news of it, by the clocks of ledger and
    writer; null where unknown."""


class NextCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was made after a failure."""

    call: str
    """Its id."""
    seq: int
    """Place of its call.started."""
    attempt: int
    """Which attempt."""
    ending: str
    """How it ended."""
    linked: bool
    """Whether it says that it tries the failed call again; else it only does the same work."""


class Fate(msgspec.Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """What became of one failure occurrence (C23)."""

    occurrence: str
    """Its id."""
    seq: int
    """Place of its failure.occurred."""
    hash: str
    """BLAKE3 of that document."""
    class_: str
    """Failure class."""
    detail_class: str | None
    """The source's own word for it."""
    fault: str | None
    """Whose failure; null where unknown."""
    impact: str
    """What it did to the trial, as last assessed."""
    call: str | None
    """In which call."""
    purpose: str | None
    """Purpose of that call."""
    attempt: int | None
    """Which attempt of it."""
    endpoint: str | None
    """Of which endpoint; null where unknown."""
    recovered_by: str | None
    """retry, fallback or repair; null where it was not made good."""
    recovered_seq: int | None
    """Place of its failure.recovered."""
    recovered_call: str | None
    """Call that made it good."""
    recovered_at: str | None
    """When; null where unknown."""
    recovered_after_us: int | None
    """Microseconds from the failure to its recovery; null where either time is unknown."""
    next_calls: list[NextCall]
    """What was tried next: the linked retry, or the next calls that do the same work."""
    not_tried: int | None
    """Number of the attempt that was not made; null where one was, or where there was no call."""
    why_not: list[WhyNotTried]
    """Why it was not, as far as known: `class_not_retried`, `attempts_used`, `trial_ended`,
    `trial_open`, `policy_unknown`, `not_recorded`; empty where it was recovered or tried again."""
    surfaced: list[Surfacing]
    """When and where it was shown while the run executed; empty where that is not known (C25)."""


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a retrieval miss can be declared of the trial (C22)."""

    state: Literal["declared", "lost_response", "can_be", "inadequate", "not_inspected", "no_trial"]
    """What stands for or against it."""
    seqs: list[int]
    """The events that say so."""


def endpoint_of(occurrence: OccurrenceFacts, facts: TrialFacts) -> str | None:
    """Return the endpoint of an occurrence, its call's where it names none."""
    call = call_of(occurrence, facts)
    return occurrence.data.endpoint or (None if call is None else call.data.endpoint)


def call_of(occurrence: OccurrenceFacts, facts: TrialFacts) -> CallFacts | None:
    """Return the call that an occurrence happened in."""
    return facts.calls.get((occurrence.key[0], occurrence.data.call or ""))


def next_calls(occurrence: OccurrenceFacts, facts: TrialFacts) -> list[NextCall]:
    """Return what was tried after a failure, up to the call that made it good.

    Where no call says that it tries the failed one again, these are the next few that do the same
    work; a judge's later calls judge something else.
    """
    call = call_of(occurrence, facts)
    if call is None:
        return []
    seq = occurrence.occurred.event.seq
    later = [known for known in facts.like(call, after=seq) if call.data.purpose != "judge"]
    linked = [
        known
        for key, known in facts.calls.items()
        if key[0] == call.key[0] and known.data.retry_of == call.data.call
    ]
    recovery = None if occurrence.recovery is None else occurrence.recovery.call
    names = [known.data.call for known in later]
    if recovery in names:
        later = later[: names.index(recovery) + 1]
    return [
        NextCall(
            call=known.data.call,
            seq=known.started.event.seq,
            attempt=known.data.attempt,
            ending=known.ending,
            linked=known in linked,
        )
        for known in linked or later[:NEXT_CALLS]
    ]


def fate_of(occurrence: OccurrenceFacts, facts: TrialFacts, policy: RetryPolicy | None) -> Fate:
    """Return what became of an occurrence.

    Args:
        occurrence: the failure.
        facts: its trial.
        policy: when such a call is tried again; None where nobody says so.
    """
    data, call = occurrence.data, call_of(occurrence, facts)
    occurred, recovered = occurrence.occurred, occurrence.recovered
    attempt = data.attempt or (None if call is None else call.data.attempt)
    following = next_calls(occurrence, facts)
    retried = any(known.linked for known in following)
    is_final = recovered is None and call is not None and not retried
    recovered_at = None if recovered is None else recovered.event.at
    return Fate(
        occurrence=data.occurrence,
        seq=occurred.event.seq,
        hash=occurred.hash,
        class_=data.class_,
        detail_class=data.detail_class,
        fault=data.fault,
        impact=occurrence.impact,
        call=data.call,
        purpose=None if call is None else call.data.purpose,
        attempt=attempt,
        endpoint=endpoint_of(occurrence, facts),
        recovered_by=None if occurrence.recovery is None else occurrence.recovery.by,
        recovered_seq=None if recovered is None else recovered.event.seq,
        recovered_call=None if occurrence.recovery is None else occurrence.recovery.call,
        recovered_at=recovered_at,
        recovered_after_us=between(occurred.event.at, recovered_at),
        next_calls=following,
        not_tried=attempt + 1 if is_final and attempt is not None else None,
        why_not=why_not(occurrence, facts, policy, attempt) if is_final and attempt else [],
        surfaced=occurrence.surfaced,
    )


def why_not(
    occurrence: OccurrenceFacts, facts: TrialFacts, policy: RetryPolicy | None, attempt: int
) -> list[WhyNotTried]:
    """Return why a failed call was not tried again, as far as anything says so."""
    found: list[WhyNotTried] = []
    if policy is None:
        found.append("policy_unknown")
    else:
        if policy.classes is not None and occurrence.data.class_ not in policy.classes:
            found.append("class_not_retried")
        if attempt >= policy.attempts:
            found.append("attempts_used")
    if facts.outcome in STOPPED:
        found.append("trial_ended")
    if not found:
        found.append("trial_open" if facts.finished is None else "not_recorded")
    return found


def attempt_of(call: CallFacts, *, is_live: bool) -> Attempt:
    """Return one call, what it cost and whether its intent came first.

    Args:
        call: the call.
        is_live: whether its run came in as it happened; else no order was witnessed.
    """
    before = None
    news = None if call.first_news is None else call.first_news.event
    # A time that the ledger filled in says when the news was recorded, not when it came.
    if is_live and news is not None and news.at not in {None, news.recorded_at}:
        assert news.at is not None, "just asked"
        before = call.started.event.recorded_at <= news.at
    return Attempt(
        call=call.data.call,
        seq=call.started.event.seq,
        attempt=call.data.attempt,
        purpose=call.data.purpose,
        ending=call.ending,
        cost=call.cost,
        recorded_before=before,
    )


def miss_of(facts: TrialFacts, *, of_trial: bool) -> Miss:
    """Return whether a retrieval miss can be declared, by the rules of its guard.

    Args:
        facts: the trial.
        of_trial: whether it is one; a run as a whole misses nothing.
    """
    if not of_trial:
        return Miss(state="no_trial", seqs=[])
    if facts.misses:
        return Miss(state="declared", seqs=facts.misses)
    if facts.lost:
        return Miss(state="lost_response", seqs=facts.lost)
    if facts.inspected is None:
        return Miss(state="not_inspected", seqs=[])
    verdict, seq = facts.inspected
    return Miss(state="can_be" if verdict == "adequate" else "inadequate", seqs=[seq])
