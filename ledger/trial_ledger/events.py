"""The closed union of event kinds; docs/reference/events.md lists the same kinds and fields.

Invariant: a kind's tag is written out in `KINDS`, so that renaming a class changes no stored byte.

Evolution: a new field gets a default; a type never changes; a change of meaning is a new `v` of
that kind with an upcaster (`trial_ledger.upcasting`).
"""

from collections.abc import Mapping

import msgspec

from trial_ledger.forms import EventIdForm, HashForm, RunNameForm, TimestampForm
from trial_ledger.identifiers import Positive, TrialKey
from trial_ledger.kinds.base import (
    Actor,
    BlobClass,
    BlobRef,
    Data,
    FailureClass,
    Link,
    Phase,
    Purpose,
)
from trial_ledger.kinds.documents import (
    BlobRedacted,
    DatasetRegistered,
    FileDigest,
    KeyRotated,
    LedgerOpened,
    ManifestFrozen,
    NoteAdded,
    Official,
    RubricFrozen,
    SourceImported,
)
from trial_ledger.kinds.judgments import (
    DisagreementOpened,
    DisagreementResolved,
    Grader,
    ItemJudged,
    JudgmentFailed,
    JudgmentOverridden,
    JudgmentRecorded,
    MetricPublished,
    ReviewDrawn,
    ReviewRecorded,
    ScorePart,
)
from trial_ledger.kinds.runs import (
    DerivedFrom,
    RunClosed,
    RunInvalidated,
    RunOpened,
    RunReinstated,
    RunRelated,
    RunResumed,
)
from trial_ledger.kinds.trials import (
    AnswerSubmitted,
    CallFinished,
    CallStarted,
    FailureAssessed,
    FailureOccurred,
    FailureRecovered,
    FailureSurfaced,
    QueryInspected,
    ResponseLost,
    RetrievalMissDeclared,
    Served,
    TrialFinished,
    TrialInvalidated,
    TrialReinstated,
    TrialStarted,
)

__all__ = [
    "KINDS",
    "LINKED_KINDS",
    "TAGS",
    "TEXT_CLASSES",
    "Actor",
    "AnswerSubmitted",
    "AnyData",
    "BlobClass",
    "BlobRedacted",
    "BlobRef",
    "CallFinished",
    "CallStarted",
    "Data",
    "DatasetRegistered",
    "DerivedFrom",
    "DisagreementOpened",
    "DisagreementResolved",
    "Envelope",
    "Event",
    "FailureAssessed",
    "FailureClass",
    "FailureOccurred",
    "FailureRecovered",
    "FailureSurfaced",
    "FileDigest",
    "Grader",
    "ItemJudged",
    "JudgmentFailed",
    "JudgmentOverridden",
    "JudgmentRecorded",
    "KeyRotated",
    "LedgerOpened",
    "Link",
    "ManifestFrozen",
    "MetricPublished",
    "NoteAdded",
    "Official",
    "Phase",
    "Purpose",
    "QueryInspected",
    "ResponseLost",
    "RetrievalMissDeclared",
    "ReviewDrawn",
    "ReviewRecorded",
    "RubricFrozen",
    "RunClosed",
    "RunInvalidated",
    "RunOpened",
    "RunReinstated",
    "RunRelated",
    "RunResumed",
    "ScorePart",
    "Served",
    "SourceImported",
    "TrialFinished",
    "TrialInvalidated",
    "TrialReinstated",
    "TrialStarted",
]

AnyData = (
    LedgerOpened | DatasetRegistered | RubricFrozen | ManifestFrozen
    | RunOpened | RunResumed | RunClosed | RunRelated | RunInvalidated | RunReinstated
    | TrialStarted | CallStarted | CallFinished | ResponseLost
    | FailureOccurred | FailureRecovered | FailureAssessed | FailureSurfaced
    | AnswerSubmitted | TrialFinished | TrialInvalidated | TrialReinstated
    | QueryInspected | RetrievalMissDeclared
    | JudgmentRecorded | JudgmentFailed | JudgmentOverridden | ItemJudged
    | ReviewDrawn | ReviewRecorded | DisagreementOpened | DisagreementResolved
    | MetricPublished | BlobRedacted | SourceImported | NoteAdded | KeyRotated
)  # fmt: skip

KINDS: Mapping[str, type[AnyData]] = {
    "ledger.opened": LedgerOpened,
    "dataset.registered": DatasetRegistered,
    "rubric.frozen": RubricFrozen,
    "manifest.frozen": ManifestFrozen,
    "run.opened": RunOpened,
    "run.resumed": RunResumed,
    "run.closed": RunClosed,
    "run.related": RunRelated,
    "run.invalidated": RunInvalidated,
    "run.reinstated": RunReinstated,
    "trial.started": TrialStarted,
    "call.started": CallStarted,
    "call.finished": CallFinished,
    "response.lost": ResponseLost,
    "failure.occurred": FailureOccurred,
    "failure.recovered": FailureRecovered,
    "failure.assessed": FailureAssessed,
    "failure.surfaced": FailureSurfaced,
    "answer.submitted": AnswerSubmitted,
    "trial.finished": TrialFinished,
    "trial.invalidated": TrialInvalidated,
    "trial.reinstated": TrialReinstated,
    "query.inspected": QueryInspected,
    "retrieval_miss.declared": RetrievalMissDeclared,
    "judgment.recorded": JudgmentRecorded,
    "judgment.failed": JudgmentFailed,
    "judgment.overridden": JudgmentOverridden,
    "item.judged": ItemJudged,
    "review.drawn": ReviewDrawn,
    "review.recorded": ReviewRecorded,
    "disagreement.opened": DisagreementOpened,
    "disagreement.resolved": DisagreementResolved,
    "metric.published": MetricPublished,
    "blob.redacted": BlobRedacted,
    "source.imported": SourceImported,
    "note.added": NoteAdded,
    "key.rotated": KeyRotated,
}

TAGS: Mapping[type[AnyData], str] = {kind: tag for tag, kind in KINDS.items()}

LINKED_KINDS = frozenset({
    "run.opened", "run.resumed", "run.closed", "run.related", "run.invalidated", "run.reinstated",
    "trial.started", "trial.finished", "trial.invalidated", "trial.reinstated",
    "answer.submitted", "response.lost",
    "failure.occurred", "failure.recovered", "failure.assessed", "failure.surfaced",
    "judgment.recorded", "judgment.failed", "judgment.overridden", "item.judged",
    "review.drawn", "review.recorded", "disagreement.opened", "disagreement.resolved",
    "metric.published",
})  # fmt: skip
"""Kinds that can change a score: they carry a link (architecture, The event)."""


def text_classes(kind: type[AnyData]) -> dict[str, BlobClass]:
    """Return the text fields of a kind, by encoded name, each with its default blob class."""
    found: dict[str, BlobClass] = {}
    for field in msgspec.structs.fields(kind):
        for part in (field.type, *getattr(field.type, "__args__", ())):
            for meta in getattr(part, "__metadata__", ()):
                if "class" in (meta.extra or {}):
                    found[field.encode_name] = meta.extra["class"]
    return found


TEXT_CLASSES: Mapping[str, Mapping[str, BlobClass]] = {
    tag: text_classes(kind) for tag, kind in KINDS.items()
}


class Envelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The document of an event with its data still as bytes; field order is canonical order."""

    actor: Actor
    at: TimestampForm | None
    data: msgspec.Raw
    id: EventIdForm
    kind: str
    ledger: EventIdForm
    link: Link | None
    prev: HashForm
    recorded_at: TimestampForm
    run: RunNameForm | None
    seq: Positive
    trial: TrialKey | None
    v: Positive


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One immutable fact. Field order is canonical (sorted) order."""

    actor: Actor
    """Who did it."""
    at: TimestampForm | None
    """When it happened, UTC with six digits; None where the source does not say."""
    data: AnyData
    """What happened."""
    id: EventIdForm
    """The writer's id, which makes append idempotent."""
    kind: str
    """The tag of the kind."""
    ledger: EventIdForm
    """The ledger it belongs to."""
    link: Link | None
    """Its place in the chain of its run; None for kinds that cannot change a score."""
    prev: HashForm
    """Hash of the event before it in the log."""
    recorded_at: TimestampForm
    """When the ledger wrote it."""
    run: RunNameForm | None
    """The run it belongs to."""
    seq: Positive
    """Its place in the log, from 1."""
    trial: TrialKey | None
    """The trial it belongs to."""
    v: Positive
    """Schema version of its kind."""
