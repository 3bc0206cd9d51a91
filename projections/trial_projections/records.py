"""The records that projections keep: what a log says of a run, a trial, an occurrence, an account.

Invariant: a record holds places and hashes of events, never texts; what is unknown is None.

Records that are read by the ten thousand hold tuples and are unknown to the garbage collector: they
cannot refer to themselves, and the collector would cost more than reading them.
"""

from typing import Literal

import msgspec

from trial_ledger.amounts import Tally
from trial_ledger.events import BlobRef

__all__ = [
    "AccountRecord",
    "CallEnd",
    "CallTime",
    "DisagreementRecord",
    "DrawingRecord",
    "FailedJudgment",
    "JudgmentRecord",
    "Mark",
    "OccurrenceRecord",
    "ReviewRecord",
    "RunRecord",
    "SessionRecord",
    "StandingChange",
    "TrialOccurrence",
    "TrialRecord",
    "TrialSpending",
]


class Mark(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An event by its place and hash."""

    seq: int
    """Place in the log."""
    hash: str
    """BLAKE3 of its document."""


class StandingChange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An invalidation or its opposite."""

    mark: Mark
    """The event."""
    valid: bool
    """Whether the run or trial counts from here on."""
    actor: str | None
    """Who said so."""
    reason: BlobRef
    """Why."""


class DrawingRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A drawing of trials for human review."""

    plan: str
    """Its id."""
    mark: Mark
    """Its review.drawn."""
    strata: BlobRef
    """Strata and drawn trials."""


class PublicationRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A number that left the house (C36)."""

    metric: str
    """Which metric."""
    mark: Mark
    """Its metric.published."""
    low: str
    """Its value, or the lower end of its range, rational text."""
    high: str
    """Its value, or the upper end."""
    derivation: str
    """Digest of what it was made of."""
    size: int
    """Events in the log when it was computed."""


class RunRecord(msgspec.Struct, kw_only=True):
    """What the log says of one run."""

    name: str
    """Its name."""
    opened: Mark
    """Its run.opened."""
    at: str | None
    """When it was opened."""
    entry: str
    """live, appended or imported."""
    manifest: str
    """Hash of its manifest."""
    rubric: str
    """`name@version`."""
    rubric_hash: str
    """Hash of its rubric."""
    dataset: str
    """`name@version`."""
    planned: int
    """Number of planned slots."""
    slots: BlobRef
    """The planned slots."""
    reason: BlobRef | None = None
    """Why it was opened, where it corrects or derives."""
    supersedes: str | None = None
    """Run that it corrects."""
    superseded_by: str | None = None
    """Run that corrects it."""
    derived_from: str | None = None
    """Parent of a derived run."""
    derived_link: int | None = None
    """Last link of the parent that counts."""
    derived: list[str] = []
    """Runs derived from this one."""
    related: list[tuple[str, str]] = []
    """(run, how) of runs that share a source with it."""
    status: Literal["open", "complete", "interrupted", "failed"] = "open"
    """How it ended."""
    closing_reason: BlobRef | None = None
    """Why it ended so."""
    changes: list[StandingChange] = []
    """Invalidations and reinstatements, in order."""
    links: int = 0
    """Number of its last link."""
    started: int = 0
    """Trials started."""
    finished: int = 0
    """Trials finished."""
    last: Mark
    """Its last event."""
    imported: list[Mark] = []
    """Its source.imported events."""
    reviews: int = 0
    """Human reviews recorded."""
    drawings: list[DrawingRecord] = []
    """Drawings of trials for review, in order."""
    published: list[PublicationRecord] = []
    """Numbers that were published, in order."""

    @property
    def is_valid(self) -> bool:
        """Whether it counts now."""
        return not self.changes or self.changes[-1].valid


class TrialOccurrence(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A failure occurrence, as far as it decides how its trial counts."""

    id: str
    """Its id."""
    mark: Mark
    """Its failure.occurred."""
    class_: str
    """Its failure class."""
    fault: str | None
    """Whose failure."""
    purpose: str | None
    """Purpose of the call it happened in."""
    impact: str
    """What it did to the trial, as last assessed."""
    recovered: Mark | None = None
    """Its failure.recovered."""


class JudgmentRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A judgment or an override."""

    id: str
    """Its id."""
    mark: Mark
    """Its event."""
    metric: str
    """Which metric."""
    pass_: int
    """Which pass."""
    by: str
    """code, model or human."""
    grader: str
    """`name@version`, or the person's name."""
    verdict: str | None
    """Its label."""
    score: str | None
    """Its value."""
    replaces: str | None = None
    """The judgment it overrides."""
    replaced_by: str | None = None
    """The override that replaced it."""
    low: str | None = None
    """The least that its score can be, rational text, where it gives a range and no score."""
    high: str | None = None
    """The most."""


class FailedJudgment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A judgment that gave no verdict."""

    id: str
    """Its id."""
    mark: Mark
    """Its event."""
    metric: str
    """Which metric."""
    reason: str
    """judge_failed or lost_in_source."""


class ReviewRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a person found of a trial."""

    id: str
    """Its id."""
    mark: Mark
    """Its review.recorded."""
    metric: str
    """Which metric."""
    plan: str
    """The drawing it belongs to, or `purposive`."""
    reviewer: str
    """Who."""
    verdict: str | None
    """The label given."""
    score: str | None
    """The value given."""
    blind: bool
    """Whether the judgment was hidden."""


class DisagreementRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A judgment and a review that differ."""

    id: str
    """Its id."""
    mark: Mark
    """Its disagreement.opened."""
    judgment: str
    """The judgment."""
    review: str
    """The review."""
    resolved: Mark | None = None
    """Its disagreement.resolved; None while open."""
    finding: str | None = None
    """What was found; None while open."""


class SessionRecord(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """What decides how one trial counts; a part of its `TrialRecord`."""

    question: str
    """Question id."""
    repetition: int
    """Which repetition."""
    session: str
    """Which session."""
    started: Mark | None = None
    """Its trial.started; None in a derived run, which only judges."""
    answered: Mark | None = None
    """Its answer.submitted."""
    abstained: bool = False
    """Whether its answer declines."""
    finished: Mark | None = None
    """Its trial.finished."""
    outcome: str | None = None
    """How it ended; None while it is open."""
    occurrences: tuple[TrialOccurrence, ...] = ()
    """Failure occurrences in order."""
    judgments: tuple[JudgmentRecord, ...] = ()
    """Judgments and overrides in order."""
    failed_judgments: tuple[FailedJudgment, ...] = ()
    """Judgments without a verdict, in order."""
    changes: tuple[StandingChange, ...] = ()
    """Invalidations and reinstatements in order."""
    leak: str | None = None
    """What the leak guard said of its input; `leak` also where gold turned up later (C3)."""
    misses: tuple[Mark, ...] = ()
    """Retrieval misses declared, in order (C22)."""
    reviews: tuple[ReviewRecord, ...] = ()
    """Human reviews in order."""
    disagreements: tuple[DisagreementRecord, ...] = ()
    """Disagreements of reviewer and judge in order (C30)."""


class TrialRecord(SessionRecord, kw_only=True, omit_defaults=True, gc=False):
    """What the log says of one trial."""

    started_at: str | None = None
    """When it was started."""
    reason: str | None = None
    """Short reason of its end."""
    duration_us: int | None = None
    """Microseconds it took."""
    calls: dict[str, str] = {}
    """Purpose of every call by id."""


class OccurrenceRecord(msgspec.Struct, kw_only=True):
    """What the log says of one failure occurrence."""

    id: str
    """Its id."""
    trial: str | None
    """Its trial; None for the run as a whole."""
    mark: Mark
    """Its failure.occurred."""
    at: str | None
    """When."""
    class_: str
    """Its failure class."""
    detail_class: str | None
    """The source's own word for it."""
    fault: str | None
    """Whose failure."""
    call: str | None
    """In which call."""
    purpose: str | None
    """Purpose of that call."""
    attempt: int | None
    """Which attempt."""
    endpoint: str | None
    """Of which endpoint."""
    message: BlobRef | None
    """What was reported."""
    impact: str
    """What it did to the trial, as last assessed."""
    recovered: Mark | None = None
    """Its failure.recovered."""
    recovered_by: str | None = None
    """How."""
    surfaced: str | None = None
    """Whether a terminal was there or it was only emitted; None where it was not surfaced."""


class AccountRecord(msgspec.Struct, kw_only=True):
    """One account of one run."""

    tally: Tally
    """Known sum by currency, how many are known, how many unknown."""
    calls: int = 0
    """Calls started."""
    open: int = 0
    """Of these, those that have not ended."""
    usage: dict[str, int] = {}
    """Known consumption by part."""
    usage_calls: dict[str, int] = {}
    """How many calls told each part."""
    usage_unknown: int = 0
    """Ended calls whose usage is unknown."""


CallEnd = Literal["answered", "failed", "timeout", "lost"]
"""How a call ended: a time-out was cut off, a lost one may have ended any time."""


class CallTime(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How long one call took."""

    purpose: str
    """model, search, tool or judge."""
    endpoint: str | None
    """Of which endpoint."""
    end: CallEnd
    """How it ended."""
    duration_us: int | None
    """Microseconds; None where nobody measured it."""


class TrialSpending(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What one trial spent in calls, judging apart."""

    tally: Tally
    """Cost of its own ended calls: known sum by currency, how many are known, how many unknown."""
    calls: list[CallTime] = []
    """Its ended calls in the order of their end, those of judges among them."""
    open: dict[str, tuple[str, str | None]] = {}
    """Purpose and endpoint of the calls that have not ended, by id."""
    timeouts: list[str] = []
    """Its occurrences that are time-outs."""
