"""Events about verdicts: judgments, overrides, reviews, published metrics.

Invariant: a verdict is never changed; a later event replaces it and both stay (C31).
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from trial_ledger.amounts import Cost, Usage
from trial_ledger.forms import HashForm, NameForm, RationalForm
from trial_ledger.identifiers import Count, Positive
from trial_ledger.kinds.base import (
    Data,
    GoldText,
    PlainText,
    Text,
    Verdict,
)

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


class Grader(Data, frozen=True, kw_only=True, gc=False):
    """Which grader decided."""

    name: NameForm
    """Its name."""
    version: NameForm | None = None
    """Its version."""
    digest: HashForm | None = None
    """BLAKE3 of its definition."""


UNJUDGED = "unjudged"
"""Name of the part that counts what nobody judged yet. With the verdict not_gradable and a ratio it
makes a score a range: so much the ratio's numerator may still grow (C6)."""


class ScorePart(Data, frozen=True, kw_only=True, gc=False):
    """One part of a judgment: a count, a field, a criterion."""

    name: NameForm
    """What it is, as `returned` or a field's name."""
    numerator: Count | None = None
    """Numerator where it is a ratio or a count."""
    denominator: Count | None = None
    """Denominator where it is a ratio."""
    outcome: NameForm | None = None
    """Label where it is a decision."""


class JudgmentRecorded(Data, frozen=True, kw_only=True, gc=False):
    """One verdict on one trial under one metric (C28)."""

    judgment: NameForm
    """Id of the judgment, unique in its trial."""
    metric: NameForm
    """Which metric of the rubric."""
    pass_: Positive = msgspec.field(name="pass", default=1)
    """Which pass of the grader, from 1."""
    rubric: HashForm | None = None
    """Hash of the rubric; the ledger fills the run's."""
    gold: HashForm | None = None
    """Commitment of the gold record; the ledger fills it where there is one."""
    by: Literal["code", "model", "human"]
    """What decided."""
    grader: Grader
    """Which grader."""
    verdict: Verdict | None = None
    """The label."""
    score: RationalForm | None = None
    """The value on the metric's scale; None where the verdict counts or nothing was decided."""
    parts: tuple[ScorePart, ...] = ()
    """What the value is made of."""
    reasoning: GoldText | None = None
    """Why."""
    shown: GoldText | None = None
    """What the judge was shown."""
    raw: GoldText | None = None
    """The judge's raw reply."""
    model: NameForm | None = None
    """Judge model."""
    prompt: HashForm | None = None
    """Digest of the judge prompt."""
    calls: tuple[NameForm, ...] = ()
    """Judge calls behind it."""
    usage: Usage | None = None
    """Consumption, only where `calls` is empty."""
    cost: Cost | None = None
    """Cost, only where `calls` is empty."""
    duration_us: Count | None = None
    """Microseconds it took."""
    carried_from: NameForm | UnsetType = UNSET
    """In a derived run, the parent's judgment that this repeats, because what gave it is the same
    under both rubrics: grader, prompt and gold; absent where it was given anew."""


class JudgmentFailed(Data, frozen=True, kw_only=True, gc=False):
    """A grader or judge gave no verdict; never right and never wrong."""

    judgment: NameForm
    """Id of the attempt, unique in its trial."""
    metric: NameForm
    """Which metric of the rubric."""
    pass_: Positive = msgspec.field(name="pass", default=1)
    """Which pass."""
    reason: Literal["judge_failed", "lost_in_source"]
    """Whether the judge failed or the source lost the verdict."""
    occurrence: NameForm | None = None
    """The failure occurrence; None when lost in the source."""
    calls: tuple[NameForm, ...] = ()
    """Judge calls behind it."""
    raw: GoldText | None = None
    """The judge's raw reply."""
    carried_from: NameForm | UnsetType = UNSET
    """In a derived run, the parent's failed judgment that this repeats; absent elsewhere."""


class JudgmentOverridden(Data, frozen=True, kw_only=True, gc=False):
    """A person decides otherwise; both judgments stay (C31)."""

    judgment: NameForm
    """Id of the new judgment."""
    replaces: NameForm
    """Id of the effective one that it replaces."""
    verdict: Verdict | None = None
    """The new label."""
    score: RationalForm | None = None
    """The new value."""
    reason: GoldText
    """Why."""


class ItemJudged(Data, frozen=True, kw_only=True, gc=False):
    """An extra item of a list was judged (C6)."""

    metric: NameForm
    """Which metric."""
    position: Count
    """Position in the answer, from 0."""
    item: Text
    """The item."""
    verdict: Verdict
    """Whether it belongs."""
    reason: GoldText
    """Why."""


class ReviewDrawn(Data, frozen=True, kw_only=True, gc=False):
    """Trials were drawn for human review (C29)."""

    plan: NameForm
    """Id of the drawing."""
    seed: NameForm
    """The rubric's seed."""
    strata: PlainText
    """Canonical JSON of strata and drawn trials."""


class ReviewRecorded(Data, frozen=True, kw_only=True, gc=False):
    """A person reviewed a trial."""

    review: NameForm
    """Id of the review."""
    metric: NameForm
    """Which metric."""
    judgment: NameForm | None = None
    """The judgment reviewed; None while blind."""
    plan: NameForm
    """The drawing, or `purposive`."""
    verdict: Verdict | None = None
    """The reviewer's label."""
    score: RationalForm | None = None
    """The reviewer's value."""
    reason: GoldText
    """Why."""
    blind: bool
    """Whether the judgment was hidden."""


class DisagreementOpened(Data, frozen=True, kw_only=True, gc=False):
    """Reviewer and judge differ (C30)."""

    disagreement: NameForm
    """Id of it."""
    judgment: NameForm
    """The judgment."""
    review: NameForm
    """The review."""


class DisagreementResolved(Data, frozen=True, kw_only=True, gc=False):
    """Somebody found out who was right (C30)."""

    disagreement: NameForm
    """Which."""
    judgment: NameForm
    """The judgment."""
    review: NameForm
    """The review."""
    finding: Literal["judge_wrong", "reviewer_wrong", "gold_wrong", "rubric_ambiguous"]
    """What was found."""
    reason: GoldText
    """Why."""


class MetricPublished(Data, frozen=True, kw_only=True, gc=False):
    """A number left the house (C36)."""

    metric: NameForm
    """Which metric."""
    value: RationalForm | None = None
    """Its value; None where only a range stands."""
    low: RationalForm | None = None
    """Lower end of its range."""
    high: RationalForm | None = None
    """Upper end of its range."""
    derivation: HashForm
    """Digest of its derivation."""
    report: Text | None = None
    """The report it stood in."""
    size: Count
    """Events in the log when it was computed."""
    link: Count
    """Links of the run when it was computed."""
