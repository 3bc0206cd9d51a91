"""The closed union of event kinds, data only; docs/events.md lists the same kinds and fields.

Invariant: a kind's tag is written out in `KINDS`, so that renaming a class changes no stored byte;
every field of every kind is a string, a boolean, null, an integer below 2^53, or a list or mapping
of these. No floats.

Evolution: a new field gets a default; a type never changes; a change of meaning is a new `v` of
that kind with an upcaster (`trial_ledger.upcasting`).
"""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from trial_ledger.amounts import Cost, Usage
from trial_ledger.identifiers import Count, EventId, Hash, Name, Positive, RunName, TrialKey

__all__ = [
    "KINDS",
    "LINKED_KINDS",
    "TAGS",
    "TEXT_CLASSES",
    "Actor",
    "AnyData",
    "BlobRef",
    "Data",
    "Envelope",
    "Event",
    "Link",
]

BlobClass = Literal["plain", "sealed", "gold"]
RationalText = Annotated[str, Meta(pattern=r"\A-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?\Z", max_length=400)]
Timestamp = Annotated[
    str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z\Z")
]
Role = Literal["harness", "agent", "grader", "judge", "human", "importer", "ledger"]
Entry = Literal["live", "appended", "imported"]
Phase = Literal["pilot", "final"]
Verdict = Literal["correct", "partial", "incorrect", "abstained", "not_gradable"]
Purpose = Literal["model", "search", "tool", "judge"]
Fault = Literal["agent", "harness", "search_provider", "model_provider", "judge", "environment"]
Impact = Literal["unknown", "none", "degraded", "trial_failed"]
Outcome = Literal[
    "answered", "abstained", "refused", "filtered", "errored", "limit", "cancelled", "unknown"
]
FailureClass = Literal[
    "timeout", "connect", "dns", "tls", "rate_limited", "quota_exhausted", "auth", "overloaded",
    "server_error", "client_error", "response_lost", "decode_error", "schema_mismatch",
    "partial_result", "cached_fallback", "endpoint_fallback", "model_fallback", "tool_error",
    "agent_error", "agent_timeout", "limit", "judge_error", "judge_unparseable", "gold_leak",
    "harness_error", "environment", "cancelled", "other",
]  # fmt: skip


class BlobRef(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True,
    rename={"class_": "class"},
):  # fmt: skip
    """A reference to bytes that lie outside the document."""

    blob: Hash
    """BLAKE3 of the bytes (plain), or keyed BLAKE3 under a 32-byte salt (sealed, gold)."""
    bytes: Count
    """How many bytes."""
    media: Name
    """Media type, as `text/plain`."""
    class_: BlobClass
    """plain: public by design; sealed: erasable; gold: in the gold file only."""


Text = Annotated[BlobRef, Meta(extra={"class": "sealed"})]
"""Text of unbounded length; stored sealed unless the writer asks for gold."""
GoldText = Annotated[BlobRef, Meta(extra={"class": "gold"})]
"""Text that may show gold; always in the gold file."""
PlainText = Annotated[BlobRef, Meta(extra={"class": "plain"})]
"""A frozen document; public by design."""


class Actor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who did it."""

    role: Role
    """In which capacity."""
    name: Name | None = None
    """Program or person; a human act needs one."""
    version: Name | None = None
    """Version of the program; None for people."""


class Link(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Place in the gapless chain of a run's score-bearing events."""

    n: Positive
    """Number of this link in its run, from 1."""
    prev: Hash
    """Hash of the event at link n - 1; zeros for the first."""


class Data(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all kinds share: nothing but the rules of the profile."""


class DerivedFrom(Data, frozen=True, kw_only=True):
    """The parent of a derived run, and how much of it."""

    run: RunName
    """The parent."""
    link: Count
    """Last link of the parent that counts."""


class Official(Data, frozen=True, kw_only=True):
    """A benchmark's own grading, used unchanged (C15)."""

    benchmark: Name
    """Name of the benchmark."""
    grader: Name
    """Its grader, as `name@version`."""
    repository: str | None = None
    """Where it came from."""
    commit: str | None = None
    """At which commit."""
    digests: dict[str, str] = {}
    """File name to digest."""
    patches: tuple[str, ...] = ()
    """What was changed; must be empty for the run to bear the benchmark's name."""


class Grader(Data, frozen=True, kw_only=True):
    """Which grader decided."""

    name: Name
    """Its name."""
    version: Name | None = None
    """Its version."""
    digest: Hash | None = None
    """BLAKE3 of its definition."""


class ScorePart(Data, frozen=True, kw_only=True):
    """One part of a judgment: a count, a field, a criterion."""

    name: Name
    """What it is, as `returned` or a field's name."""
    numerator: Count | None = None
    """Numerator where it is a ratio or a count."""
    denominator: Count | None = None
    """Denominator where it is a ratio."""
    outcome: Name | None = None
    """Label where it is a decision."""


class Served(Data, frozen=True, kw_only=True):
    """What really answered."""

    model: Name | None = None
    """Model that the provider names in its response."""
    endpoint: Name | None = None
    """Endpoint that answered."""
    fingerprint: Name | None = None
    """The provider's build fingerprint."""


class FileDigest(Data, frozen=True, kw_only=True):
    """A source file, by both digests."""

    name: Name
    """File name without its folder."""
    blake3: Hash
    """BLAKE3 of the bytes."""
    sha256: Hash
    """SHA-256 of the bytes."""
    bytes: Count
    """How many bytes."""


class LedgerOpened(Data, frozen=True, kw_only=True):
    """The first event: what this file is."""

    format: Positive
    """Format version of the file."""
    algorithms: dict[str, str]
    """Name of each algorithm by its use."""
    public_keys: tuple[str, ...] = ()
    """Keys that may sign heads; empty until a key is made."""
    created_by: Name | None = None
    """Program and version."""


class DatasetRegistered(Data, frozen=True, kw_only=True):
    """Questions an agent may see, and commitments to gold it may not (C1, C2)."""

    name: Name
    """Name of the dataset."""
    version: Name
    """Its version."""
    reconstructed: bool = False
    """Rebuilt from another tool's log, so that only ids are certain."""
    questions: PlainText
    """Canonical JSON list of the agent's view of each question."""
    count: Count
    """Number of questions."""
    by_shape: dict[str, Count] = {}
    """Questions by task shape; `unknown` where the source does not say."""
    by_split: dict[str, Count] = {}
    """Questions by split; `none` where there is none."""
    commitments: PlainText
    """Canonical JSON: question id to the commitment of its gold record, null without gold."""
    commitments_root: Hash
    """BLAKE3 of that JSON."""
    canary: Hash | None = None
    """Commitment to the canary string; None without one."""
    leak_min_length: Positive
    """Shortest gold text that the leak guard looks for, in characters (C3)."""
    cutoff: str | None = None
    """Date after which nothing may be used."""
    warnings: PlainText | None = None
    """Canonical JSON list of warnings (C4, C5); None without any."""
    warning_count: Count = 0
    """How many."""
    provenance: Text | None = None
    """Where the records come from."""


class RubricFrozen(Data, frozen=True, kw_only=True):
    """How answers are scored, before the first trial (C14, C20)."""

    name: Name
    """Name of the rubric."""
    version: Name
    """Its version."""
    reconstructed: bool = False
    """Rebuilt from another tool's log."""
    document: PlainText
    """Canonical form with every default written out."""
    rubric_hash: Hash
    """Hash of that form."""
    official: Official | None = None
    """Set only where a benchmark's own grading is used unchanged."""


class ManifestFrozen(Data, frozen=True, kw_only=True):
    """The frozen declaration of one configuration (C9, C10)."""

    configuration: Name
    """The manifest's name of the system under test."""
    manifest_hash: Hash
    """Hash over everything."""
    system_hash: Hash
    """Hash over what changes the behaviour of the system under test."""
    phase: Phase | None
    """Pilot or final, never mixed in one metric (C13); None where a source does not say."""
    dataset: Name
    """`name@version` of a registered dataset."""
    rubric: Name
    """`name@version` of a frozen rubric."""
    document: PlainText
    """Canonical form with every default written out."""
    supersedes: Hash | None = None
    """Manifest that this one replaces."""
    reconstructed: bool = False
    """Rebuilt from another tool's log."""


class RunOpened(Data, frozen=True, kw_only=True):
    """One execution of one manifest begins."""

    manifest: Name
    """Hash of the manifest; on submission also `configuration` or `configuration@prefix`."""
    rubric: Name | None = None
    """`name@version`; the manifest's unless this is a derived run."""
    rubric_hash: Hash | None = None
    """Hash of that rubric; the ledger fills it."""
    dataset: Name | None = None
    """`name@version`; the manifest's unless this is a derived run."""
    entry: Entry
    """How the events come in: live, appended after the fact, imported."""
    planned: Count | None = None
    """Number of planned slots; the ledger fills it."""
    slots: PlainText | None = None
    """Planned slots as JSON {"questions": [ids], "repetitions": n}; filled from the manifest."""
    reason: Text | None = None
    """Why, where the run corrects or derives."""
    supersedes: RunName | None = None
    """Run that this one corrects (C12)."""
    derived_from: DerivedFrom | None = None
    """Set for a derived run: judged again under another rubric or gold (C14)."""


class RunResumed(Data, frozen=True, kw_only=True):
    """A closed or interrupted run goes on."""

    reason: Text | None = None
    """Why."""


class RunClosed(Data, frozen=True, kw_only=True):
    """A run ends."""

    status: Literal["complete", "interrupted", "failed"]
    """How."""
    reason: Text | None = None
    """Why, where it did not complete."""


class RunRelated(Data, frozen=True, kw_only=True):
    """Another run of the same source."""

    run: RunName
    """The other."""
    how: Name
    """In which way, as `same eval id, other bytes`."""


class RunInvalidated(Data, frozen=True, kw_only=True):
    """A person says that a run does not count; it stays readable (C12)."""

    reason: Text
    """Why."""
    superseded_by: RunName | None = None
    """The run that takes its place, where there is one."""


class RunReinstated(Data, frozen=True, kw_only=True):
    """An invalidation is taken back."""

    reason: Text
    """Why."""


class TrialStarted(Data, frozen=True, kw_only=True):
    """A session in a slot begins (C16)."""

    input: Text | None = None
    """Exactly what the agent was given; None only where a source does not show it."""
    fields: tuple[Name, ...] = ()
    """Which fields of the question were delivered (C2)."""
    leak_check: Literal["clean", "leak", "not_done"] | None = None
    """What the leak guard found; the ledger fills it (C3)."""
    seed: Count | None = None
    """Seed of this repetition."""


class CallStarted(Data, frozen=True, kw_only=True):
    """A request is about to leave; committed before it does."""

    call: Name
    """Id of the call, unique in its trial."""
    purpose: Purpose
    """Whose account it belongs to (C19)."""
    endpoint: Name | None = None
    """The manifest's name of the endpoint; None only for purpose `tool` and in imports."""
    name: Name | None = None
    """Model or tool that is called."""
    attempt: Positive = 1
    """Which try, from 1."""
    retry_of: Name | None = None
    """Call that this one tries again."""
    occurrence: Name | None = None
    """The `endpoint_fallback` that allows an endpoint outside the policy (C24)."""
    request: Text | None = None
    """What was sent, credentials removed."""


class CallFinished(Data, frozen=True, kw_only=True):
    """A call ended."""

    call: Name
    """Which."""
    status: Literal["ok", "empty", "partial", "failed"]
    """How; an empty result is not a failure."""
    occurrence: Name | None = None
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


class ResponseLost(Data, frozen=True, kw_only=True):
    """A response was lost before it reached the model: a harness fault (C21)."""

    call: Name
    """Which call."""
    occurrence: Name
    """The failure occurrence, already recorded."""
    bytes_received: Count | None = None
    """How much arrived."""
    bytes_expected: Count | None = None
    """How much was announced."""


class FailureOccurred(Data, frozen=True, kw_only=True):
    """Something went wrong; never refused, recovered or not (C23)."""

    occurrence: Name
    """Id of the occurrence, unique in its trial."""
    class_: FailureClass = msgspec.field(name="class")
    """What kind, from the closed list."""
    detail_class: Name | None = None
    """The source's own word for it, needed for `other`."""
    fault: Fault | None = None
    """Whose failure; None where unknown."""
    call: Name | None = None
    """In which call."""
    attempt: Positive | None = None
    """Which attempt of it."""
    endpoint: Name | None = None
    """Of which endpoint."""
    message: Text | None = None
    """What was reported."""
    detail: Text | None = None
    """More of it, as a traceback."""
    impact: Impact = "unknown"
    """What it did to the trial, as far as known when it happened."""


class FailureRecovered(Data, frozen=True, kw_only=True):
    """An occurrence was made good."""

    occurrence: Name
    """Which."""
    by: Literal["retry", "fallback", "repair"]
    """How."""
    call: Name | None = None
    """The call that did it."""


class FailureAssessed(Data, frozen=True, kw_only=True):
    """What an occurrence did to its trial, said afterwards."""

    occurrence: Name
    """Which."""
    impact: Impact
    """The new impact."""
    reason: Text | None = None
    """Why."""


class FailureSurfaced(Data, frozen=True, kw_only=True):
    """An occurrence was shown while the run executed (C25)."""

    occurrence: Name
    """Which."""
    channel: Name
    """Where, as `stderr`."""
    seen: Literal["terminal", "emitted"]
    """Whether a terminal was there, or it was only written."""


class AnswerSubmitted(Data, frozen=True, kw_only=True):
    """The agent's answer; once a trial."""

    answer: Text | None = None
    """The answer; None for an abstention without words."""
    citations: Text | None = None
    """Its citations."""
    abstained: bool = False
    """Whether the agent declined."""


class TrialFinished(Data, frozen=True, kw_only=True):
    """A session ends."""

    outcome: Outcome
    """How; `unknown` in imports only."""
    reason: Name | None = None
    """Short reason, as `message_limit` or `interrupted`."""
    detail: Text | None = None
    """More of it, as a traceback."""
    duration_us: Count | None = None
    """Microseconds from start to end."""


class TrialInvalidated(Data, frozen=True, kw_only=True):
    """A person or the leak guard says that a trial does not count."""

    reason: Text
    """Why."""


class TrialReinstated(Data, frozen=True, kw_only=True):
    """An invalidation is taken back."""

    reason: Text
    """Why."""


class QueryInspected(Data, frozen=True, kw_only=True):
    """Somebody looked at the queries of a trial (C22)."""

    verdict: Literal["adequate", "inadequate"]
    """Whether they could have found the evidence."""
    queries: Text | None = None
    """Which queries."""
    reason: Text
    """Why."""


class RetrievalMissDeclared(Data, frozen=True, kw_only=True):
    """Needed evidence was not retrieved although the queries were adequate (C22)."""

    missing: Text
    """What."""
    reason: Text
    """Why it is a miss."""


class JudgmentRecorded(Data, frozen=True, kw_only=True):
    """One verdict on one trial under one metric (C28)."""

    judgment: Name
    """Id of the judgment, unique in its trial."""
    metric: Name
    """Which metric of the rubric."""
    pass_: Positive = msgspec.field(name="pass", default=1)
    """Which pass of the grader, from 1."""
    rubric: Hash | None = None
    """Hash of the rubric; the ledger fills the run's."""
    gold: Hash | None = None
    """Commitment of the gold record; the ledger fills it where there is one."""
    by: Literal["code", "model", "human"]
    """What decided."""
    grader: Grader
    """Which grader."""
    verdict: Verdict | None = None
    """The label."""
    score: RationalText | None = None
    """The value on the metric's scale; None where the verdict counts or nothing was decided."""
    parts: tuple[ScorePart, ...] = ()
    """What the value is made of."""
    reasoning: GoldText | None = None
    """Why."""
    shown: GoldText | None = None
    """What the judge was shown."""
    raw: GoldText | None = None
    """The judge's raw reply."""
    model: Name | None = None
    """Judge model."""
    prompt: Hash | None = None
    """Digest of the judge prompt."""
    calls: tuple[Name, ...] = ()
    """Judge calls behind it."""
    usage: Usage | None = None
    """Consumption, only where `calls` is empty."""
    cost: Cost | None = None
    """Cost, only where `calls` is empty."""
    duration_us: Count | None = None
    """Microseconds it took."""


class JudgmentFailed(Data, frozen=True, kw_only=True):
    """A grader or judge gave no verdict; never right and never wrong."""

    judgment: Name
    """Id of the attempt, unique in its trial."""
    metric: Name
    """Which metric of the rubric."""
    pass_: Positive = msgspec.field(name="pass", default=1)
    """Which pass."""
    reason: Literal["judge_failed", "lost_in_source"]
    """Whether the judge failed or the source lost the verdict."""
    occurrence: Name | None = None
    """The failure occurrence; None when lost in the source."""
    calls: tuple[Name, ...] = ()
    """Judge calls behind it."""
    raw: GoldText | None = None
    """The judge's raw reply."""


class JudgmentOverridden(Data, frozen=True, kw_only=True):
    """A person decides otherwise; both judgments stay (C31)."""

    judgment: Name
    """Id of the new judgment."""
    replaces: Name
    """Id of the effective one that it replaces."""
    verdict: Verdict | None = None
    """The new label."""
    score: RationalText | None = None
    """The new value."""
    reason: GoldText
    """Why."""


class ItemJudged(Data, frozen=True, kw_only=True):
    """An extra item of a list was judged (C6)."""

    metric: Name
    """Which metric."""
    position: Count
    """Position in the answer, from 0."""
    item: Text
    """The item."""
    verdict: Verdict
    """Whether it belongs."""
    reason: GoldText
    """Why."""


class ReviewDrawn(Data, frozen=True, kw_only=True):
    """Trials were drawn for human review (C29)."""

    plan: Name
    """Id of the drawing."""
    seed: Name
    """The rubric's seed."""
    strata: PlainText
    """Canonical JSON of strata and drawn trials."""


class ReviewRecorded(Data, frozen=True, kw_only=True):
    """A person reviewed a trial."""

    review: Name
    """Id of the review."""
    metric: Name
    """Which metric."""
    judgment: Name | None = None
    """The judgment reviewed; None while blind."""
    plan: Name
    """The drawing, or `purposive`."""
    verdict: Verdict | None = None
    """The reviewer's label."""
    score: RationalText | None = None
    """The reviewer's value."""
    reason: GoldText
    """Why."""
    blind: bool
    """Whether the judgment was hidden."""


class DisagreementOpened(Data, frozen=True, kw_only=True):
    """Reviewer and judge differ (C30)."""

    disagreement: Name
    """Id of it."""
    judgment: Name
    """The judgment."""
    review: Name
    """The review."""


class DisagreementResolved(Data, frozen=True, kw_only=True):
    """Somebody found out who was right (C30)."""

    disagreement: Name
    """Which."""
    judgment: Name
    """The judgment."""
    review: Name
    """The review."""
    finding: Literal["judge_wrong", "reviewer_wrong", "gold_wrong", "rubric_ambiguous"]
    """What was found."""
    reason: GoldText
    """Why."""


class MetricPublished(Data, frozen=True, kw_only=True):
    """A number left the house (C36)."""

    metric: Name
    """Which metric."""
    value: RationalText | None = None
    """Its value; None where only a range stands."""
    low: RationalText | None = None
    """Lower end of its range."""
    high: RationalText | None = None
    """Upper end of its range."""
    derivation: Hash
    """Digest of its derivation."""
    report: Text | None = None
    """The report it stood in."""
    size: Count
    """Events in the log when it was computed."""
    link: Count
    """Links of the run when it was computed."""


class BlobRedacted(Data, frozen=True, kw_only=True):
    """The bytes of a blob are erased; what proves it stays (C11)."""

    blob: Hash
    """Which."""
    reason: Text
    """Why."""
    authority: Name
    """On whose word."""


class SourceImported(Data, frozen=True, kw_only=True):
    """Another tool's log came in."""

    format: Name
    """Its format, as `inspect`."""
    files: tuple[FileDigest, ...]
    """The source files."""
    content: GoldText | None = None
    """The bytes of the source file itself; None where there are several."""
    importer: Name
    """Importer and version."""
    counts: dict[str, Count] = {}
    """How many of what were read."""
    losses: Text | None = None
    """JSON list of what the source had already lost or what could not be carried over."""
    reported: Text | None = None
    """JSON list of the numbers that the source itself reports."""


class NoteAdded(Data, frozen=True, kw_only=True):
    """A remark; changes no number."""

    about: Name
    """What it is about."""
    text: Text
    """The remark."""


class KeyRotated(Data, frozen=True, kw_only=True):
    """Another key signs heads from here on."""

    old_public_key: str | None = None
    """The key before; None where there was none."""
    new_public_key: str
    """The key from now on."""


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
            extra = next(
                (meta.extra for meta in getattr(part, "__metadata__", ()) if meta.extra), None
            )
            if extra is not None:
                found[field.encode_name] = extra["class"]
    return found


TEXT_CLASSES: Mapping[str, Mapping[str, BlobClass]] = {
    tag: text_classes(kind) for tag, kind in KINDS.items()
}


class Envelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The document of an event with its data still as bytes; field order is canonical order."""

    actor: Actor
    at: Timestamp | None
    data: msgspec.Raw
    id: EventId
    kind: str
    ledger: EventId
    link: Link | None
    prev: Hash
    recorded_at: Timestamp
    run: RunName | None
    seq: Positive
    trial: TrialKey | None
    v: Positive


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One immutable fact. Field order is canonical (sorted) order."""

    actor: Actor
    """Who did it."""
    at: Timestamp | None
    """When it happened, UTC with six digits; None where the source does not say."""
    data: AnyData
    """What happened."""
    id: EventId
    """The writer's id, which makes append idempotent."""
    kind: str
    """The tag of the kind."""
    ledger: EventId
    """The ledger it belongs to."""
    link: Link | None
    """Its place in the chain of its run; None for kinds that cannot change a score."""
    prev: Hash
    """Hash of the event before it in the log."""
    recorded_at: Timestamp
    """When the ledger wrote it."""
    run: RunName | None
    """The run it belongs to."""
    seq: Positive
    """Its place in the log, from 1."""
    trial: TrialKey | None
    """The trial it belongs to."""
    v: Positive
    """Schema version of its kind."""
