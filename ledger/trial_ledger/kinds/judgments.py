"""Events about verdicts: judgments, overrides, reviews, published metrics.

Invariant: a verdict is never changed; a later event replaces it and both stay (C31).
"""

from typing import Literal

import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.identifiers import Count, Hash, Name, Positive
from trial_ledger.kinds.base import Data, GoldText, PlainText, RationalText, Text, Verdict

__all__ = [
    "DisagreementOpened",
    "DisagreementResolved",
    "Grader",
    "ItemJudged",
    "JudgmentFailed",
    "JudgmentOverridden",
    "JudgmentRecorded",
    "MetricPublished",
    "ReviewDrawn",
    "ReviewRecorded",
    "ScorePart",
]


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
