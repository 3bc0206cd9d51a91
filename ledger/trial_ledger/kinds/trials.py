"""Events of a trial: its life, calls, failures, answer and queries.

Invariant: what is about to happen is recorded before it does; what went wrong is recorded as such.
"""

from typing import Literal

import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.forms import NameForm
from trial_ledger.identifiers import Count, Positive
from trial_ledger.kinds.base import (
    Data,
    FailureClass,
    Fault,
    Impact,
    Outcome,
    Purpose,
    Text,
)

__all__ = [
    "AnswerSubmitted",
    "CallFinished",
    "CallStarted",
    "FailureAssessed",
    "FailureOccurred",
    "FailureRecovered",
    "FailureSurfaced",
    "QueryInspected",
    "ResponseLost",
    "RetrievalMissDeclared",
    "Served",
    "TrialFinished",
    "TrialInvalidated",
    "TrialReinstated",
    "TrialStarted",
]


class TrialStarted(Data, frozen=True, kw_only=True, gc=False):
    """A session in a slot begins (C16)."""

    input: Text | None = None
    """Exactly what the agent was given; None only where a source does not show it."""
    fields: tuple[NameForm, ...] = ()
    """Which fields of the question were delivered (C2)."""
    leak_check: Literal["clean", "leak", "not_done"] | None = None
    """What the leak guard found; the ledger fills it (C3)."""
    seed: Count | None = None
    """Seed of this repetition."""


class Served(Data, frozen=True, kw_only=True, gc=False):
    """What really answered."""

    model: NameForm | None = None
    """Model that the provider names in its response."""
    endpoint: NameForm | None = None
    """Endpoint that answered."""
    fingerprint: NameForm | None = None
    """The provider's build fingerprint."""


class CallStarted(Data, frozen=True, kw_only=True, gc=False):
    """A request is about to leave; committed before it does."""

    call: NameForm
    """Id of the call, unique in its trial."""
    purpose: Purpose
    """Whose account it belongs to (C19)."""
    endpoint: NameForm | None = None
    """The manifest's name of the endpoint; None only for purpose `tool` and in imports."""
    name: NameForm | None = None
    """Model or tool that is called."""
    attempt: Positive = 1
    """Which try, from 1."""
    retry_of: NameForm | None = None
    """Call that this one tries again."""
    occurrence: NameForm | None = None
    """The `endpoint_fallback` that allows an endpoint outside the policy (C24)."""
    request: Text | None = None
    """What was sent, credentials removed."""


class CallFinished(Data, frozen=True, kw_only=True, gc=False):
    """A call ended."""

    call: NameForm
    """Which."""
    status: Literal["ok", "empty", "partial", "failed"]
    """How; an empty result is not a failure."""
    occurrence: NameForm | None = None
    """The failure behind a failed call, already recorded."""
    response: Text | None = None
    """What came back."""
    delivered: bool | None = None
    """Whether it reached the model; None where unknown."""
    duration_us: Count | None = None
    """Microseconds from request to end."""
    usage: Usage | None = None
    """What was consumed."""
    cost: Cost | None = None
    """What it cost; None is unknown, never 0."""
    served: Served | None = None
    """What really answered."""


class ResponseLost(Data, frozen=True, kw_only=True, gc=False):
    """A response was lost before it reached the model: a harness fault (C21)."""

    call: NameForm
    """Which call."""
    occurrence: NameForm
    """The failure occurrence, already recorded."""
    bytes_received: Count | None = None
    """How much arrived."""
    bytes_expected: Count | None = None
    """How much was announced."""


class FailureOccurred(Data, frozen=True, kw_only=True, gc=False):
    """Something went wrong; never refused, recovered or not (C23)."""

    occurrence: NameForm
    """Id of the occurrence, unique in its trial."""
    class_: FailureClass = msgspec.field(name="class")
    """What kind, from the closed list."""
    detail_class: NameForm | None = None
    """The source's own word for it, needed for `other`."""
    fault: Fault | None = None
    """Whose failure; None where unknown."""
    call: NameForm | None = None
    """In which call."""
    attempt: Positive | None = None
    """Which attempt of it."""
    endpoint: NameForm | None = None
    """Of which endpoint."""
    message: Text | None = None
    """What was reported."""
    detail: Text | None = None
    """More of it, as a traceback."""
    impact: Impact = "unknown"
    """What it did to the trial, as far as known when it happened."""


class FailureRecovered(Data, frozen=True, kw_only=True, gc=False):
    """An occurrence was made good."""

    occurrence: NameForm
    """Which."""
    by: Literal["retry", "fallback", "repair"]
    """How."""
    call: NameForm | None = None
    """The call that did it."""


class FailureAssessed(Data, frozen=True, kw_only=True, gc=False):
    """What an occurrence did to its trial, said afterwards."""

    occurrence: NameForm
    """Which."""
    impact: Impact
    """The new impact."""
    reason: Text | None = None
    """Why."""


class FailureSurfaced(Data, frozen=True, kw_only=True, gc=False):
    """An occurrence was shown while the run executed (C25)."""

    occurrence: NameForm
    """Which."""
    channel: NameForm
    """Where, as `stderr`."""
    seen: Literal["terminal", "emitted"]
    """Whether a terminal was there, or it was only written."""


class AnswerSubmitted(Data, frozen=True, kw_only=True, gc=False):
    """The agent's answer; once a trial."""

    answer: Text | None = None
    """The answer; None for an abstention without words."""
    citations: Text | None = None
    """Its citations."""
    abstained: bool = False
    """Whether the agent declined."""


class TrialFinished(Data, frozen=True, kw_only=True, gc=False):
    """A session ends."""

    outcome: Outcome
    """How; `unknown` in imports only."""
    reason: NameForm | None = None
    """Short reason, as `message_limit` or `interrupted`."""
    detail: Text | None = None
    """More of it, as a traceback."""
    duration_us: Count | None = None
    """Microseconds from start to end."""


class TrialInvalidated(Data, frozen=True, kw_only=True, gc=False):
    """A person or the leak guard says that a trial does not count."""

    reason: Text
    """Why."""


class TrialReinstated(Data, frozen=True, kw_only=True, gc=False):
    """An invalidation is taken back."""

    reason: Text
    """Why."""


class QueryInspected(Data, frozen=True, kw_only=True, gc=False):
    """Somebody looked at the queries of a trial (C22)."""

    verdict: Literal["adequate", "inadequate"]
    """Whether they could have found the evidence."""
    queries: Text | None = None
    """Which queries."""
    reason: Text
    """Why."""


class RetrievalMissDeclared(Data, frozen=True, kw_only=True, gc=False):
    """Needed evidence was not retrieved although the queries were adequate (C22)."""

    missing: Text
    """What."""
    reason: Text
    """Why it is a miss."""
