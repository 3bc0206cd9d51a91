"""The parts of a report, `ledger.report/1`: one value, from which every form of it is rendered.

Invariant: everything here follows from the log up to `size`; no clock, no path, no machine.
"""

from typing import Literal

import msgspec

from trial_projections.comparison_structs import Comparison
from trial_projections.derivation import Derivation
from trial_projections.failure_groups import FailureGroup
from trial_projections.fault_effects import FaultEffect
from trial_projections.latency import Latency
from trial_projections.report_texts import ReportText
from trial_projections.review_estimate import ReviewEstimate
from trial_projections.summary import RunSummary

__all__ = [
    "Change",
    "DatasetFacts",
    "DisagreementRow",
    "FailureRow",
    "HeadFacts",
    "MissRow",
    "RelatedRun",
    "Report",
    "ReviewRow",
    "RunReport",
    "Shown",
    "Status",
    "TrialRow",
    "VerdictRow",
]

Status = Literal["error", "undecided", "failed", "partial", "excluded", "passed"]
"""How a slot stands in the first metric that covers it, what went wrong first.

`error` has no fair try or no verdict because something broke, `undecided` has no verdict for
another reason, `excluded` is not in the denominator, `partial` lies between the ends of the scale.
"""


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How one slot counts under one metric."""

    metric: str
    """The metric."""
    outcome: str
    """Outcome class."""
    score: str | None
    """Rational text; None where undecided or not in the denominator."""
    basis: Literal["judgment", "rule", "nothing"]
    """What decided."""
    counts: bool
    """Whether it is in the denominator."""
    judgment: str | None
    """Id of the judgment that decided."""
    by: str | None
    """code, model or human."""
    grader: str | None
    """`name@version`, or the person."""
    seq: int | None
    """Place of the judgment in the log."""
    overrides: str | None
    """Id of the judgment that a person replaced by it; both stay (C31)."""
    reasoning: ReportText | None
    """Why; None where nobody said."""


class TrialRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One planned slot, with what was asked, answered and decided."""

    slot: str
    """As `question#repetition`."""
    trial: str | None
    """The session that counts; None where none was started."""
    status: Status
    """How it stands."""
    outcome: str
    """How the trial ended, or `not_started`, or `unfinished`."""
    reason: str | None
    """Short reason of its end."""
    valid: bool
    """Whether it stands; an invalidated trial is shown all the same (C12)."""
    leaked: bool
    """Whether gold was found where the agent could see it (C3)."""
    duration_us: int | None
    """Microseconds it took; None where unknown."""
    seq: int | None
    """Place of its start."""
    question: ReportText | None
    """What was asked; None in a reconstructed dataset."""
    answer: ReportText | None
    """What was answered; None without an answer."""
    gold: ReportText | None
    """Its gold record; None without gold, or where it was not asked for."""
    verdicts: list[VerdictRow]
    """Every metric that covers it, the primary first."""
    failures: list[int]
    """Places of its failure occurrences."""
    other_sessions: list[str]
    """Sessions of the slot that do not count (C16)."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """Which slots a report holds."""

    planned: int
    """Slots of the run."""
    embedded: int
    """Of these, how many the report holds."""
    troubled: int
    """Slots whose status is error, undecided or failed."""
    troubled_embedded: int
    """Of these, how many the report holds."""
    text_limit: int
    """Most characters of one text."""


class FailureRow(msgspec.Struct, frozen=True, kw_only=True, rename={"class_": "class"}):
    """One failure occurrence, recovered or not."""

    seq: int
    """Its place; `ledger trace` takes it."""
    trial: str | None
    """Its trial; None for the run as a whole."""
    slot: str | None
    """The slot of that trial."""
    at: str | None
    """When; None where unknown."""
    class_: str
    """Failure class."""
    detail_class: str | None
    """The source's own word for it."""
    fault: str | None
    """Whose; None where unknown."""
    endpoint: str | None
    """Where; None where unknown."""
    impact: str
    """What it did to the trial."""
    recovered_by: str | None
    """How it was made good; None where it was not."""
    surfaced: str | None
    """Whether anybody could see it; None where it was not surfaced."""
    message: ReportText | None
    """What was reported."""


class MissRow(msgspec.Struct, frozen=True, kw_only=True):
    """A retrieval miss, which is no failure (C26)."""

    slot: str
    """Its slot."""
    seq: int
    """Place of its declaration."""


class DisagreementRow(msgspec.Struct, frozen=True, kw_only=True):
    """Reviewer and judge differ (C30)."""

    slot: str | None
    """Its slot."""
    disagreement: str
    """Its id."""
    seq: int
    """Place where it was opened."""
    finding: str | None
    """What was found; None while it is open."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An invalidation of a run, or its opposite (C12)."""

    seq: int
    """Its place."""
    valid: bool
    """Whether the run counts from here on."""
    actor: str | None
    """Who said so."""
    reason: ReportText | None
    """Why."""


class RelatedRun(msgspec.Struct, frozen=True, kw_only=True):
    """Another run that asked some of the same questions: an earlier try, another rubric."""

    run: str
    """Its name."""
    how: list[str]
    """How it is related, in words."""
    valid: bool
    """Whether it counts."""
    status: str
    """How it ended."""
    phase: str | None
    """pilot, final, or None where its source does not say."""
    configuration: str
    """Its configuration."""
    dataset: str
    """`name@version`."""
    rubric: str
    """`name@version`."""
    shared: int
    """Questions that both ask."""
    seq: int
    """Place where it was opened."""


class DatasetFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the questions (C1, C5)."""

    reference: str
    """`name@version`."""
    seq: int
    """Place of its registration."""
    questions: int
    """Questions in it."""
    by_shape: dict[str, int]
    """Questions by task shape."""
    commitments_root: str
    """Hash over the commitments to its gold."""
    cutoff: str | None
    """Date after which nothing may be used."""
    provenance: ReportText | None
    """Where the records come from."""
    reconstructed: bool
    """Rebuilt from another tool's log."""
    warnings: list[str]
    """What registration warned of."""


class ReviewRow(msgspec.Struct, frozen=True, kw_only=True):
    """How far people reviewed one metric, and how they agree with what was judged (C29, C30)."""

    metric: str
    """The metric."""
    judged: int
    """Trials that were judged automatically."""
    reviewed: int
    """Of these, how many count as reviewed."""
    needed: int
    """How many the rubric's plan needs."""
    is_met: bool
    """Whether every stratum has as many as it needs."""
    judged_right: int
    """Trials that were judged right."""
    confusion: list[tuple[str, str, int]]
    """(automated verdict, reviewer's verdict, trials)."""
    estimate: ReviewEstimate
    """What the reviews say about all judged trials."""


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a report says of one run."""

    summary: RunSummary
    """What `scores` shows."""
    manifest: str
    """Hash of the manifest."""
    manifest_seq: int
    """Place where it was frozen."""
    system: str
    """Hash over what changes the behaviour of the system under test."""
    rubric_hash: str
    """Hash of the rubric."""
    rubric_seq: int
    """Place where it was frozen."""
    shapes: dict[str, list[str]]
    """Metric to the task shapes that it covers; empty for all."""
    dataset: DatasetFacts
    """Its questions."""
    derivations: list[Derivation]
    """What each number is made of, the primary first; members are those of `explain --json`."""
    latency: Latency
    """How long its trials and their calls took."""
    effects: list[FaultEffect]
    """What each kind of fault does to each metric."""
    reviews: list[ReviewRow]
    """How its metrics were reviewed; none of those where nothing was judged automatically."""
    changes: list[Change]
    """Invalidations and reinstatements, in order."""
    closing_reason: ReportText | None
    """Why it ended as it did."""
    failures: list[FailureRow]
    """Failure occurrences, those not recovered first."""
    failures_total: int
    """All of them, where the report holds fewer."""
    failure_groups: list[FailureGroup]
    """All of them by class, fault and endpoint."""
    misses: list[MissRow]
    """Retrieval misses."""
    disagreements: list[DisagreementRow]
    """Disagreements of reviewers and judges, open ones first."""
    related: list[RelatedRun]
    """Other runs on the same questions, in the order in which they were opened."""
    losses: list[str]
    """What an imported source had already lost."""
    shown: Shown
    """Which slots are here."""
    trials: list[TrialRow]
    """Slots, what went wrong first."""
    limitations: list[str]
    """What weakens these numbers, and what this report does not compute."""
    commands: list[str]
    """What shows the same from the log."""


class HeadFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The newest signed head within the part of the log that was read."""

    size: int
    """Events under it."""
    root: str
    """Root that it states."""
    unsigned_tail: int
    """Events after it, for which nobody signed."""
    note: str
    """The note itself, as `ledger check` and other programs read it."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole report (C35)."""

    ledger: str
    """Id of the ledger."""
    size: int
    """Events that were read."""
    root: str
    """Root of the tree over them."""
    recorded_at: str
    """When the last of them was recorded: the moment of this report."""
    head: HeadFacts | None
    """The signed head; None where nobody signed."""
    include_gold: bool
    """Whether texts that may show gold are in it."""
    comparison: Comparison | None
    """The first run with each of the others; None where there is one only."""
    runs: list[RunReport]
    """The runs, in the order in which they were asked for; never mixed in one number."""
    commands: list[str]
    """What checks the log and makes this report again."""
