"""The parts of a frozen rubric, its canonical form and its hash (C14, C20).

Invariant: the canonical form has every default written out, so that a later change of a default
changes no old hash.
"""

from typing import Literal

import msgspec

from trial_ledger.documents.canonical_form import canonical_struct, document_hash
from trial_ledger.documents.outcome_structs import OutcomeRule
from trial_ledger.events import Official
from trial_ledger.identifiers import Name, Positive

__all__ = [
    "EMPTY_SETS",
    "MEASURES",
    "UNDEFINED",
    "EmptySet",
    "Judge",
    "Metric",
    "Review",
    "Rubric",
    "canonical",
    "decode_rubric",
    "metric_outcomes",
    "rubric_hash",
]

MEASURES: dict[str, tuple[str, ...]] = {
    "verdict": (),
    "score": (),
    "fact.correctness": ("fact",),
    "fact.support": ("fact",),
    "list.precision": ("list",),
    "list.recall": ("list",),
    "list.f1": ("list",),
    "structured.field_accuracy": ("structured",),
    "structured.record_accuracy": ("structured",),
    "structured.record_precision": ("structured",),
    "research.coverage": ("research",),
    "research.correctness": ("research",),
    "research.sourcing": ("research",),
    "research.composite": ("research",),
}
"""Every measure with the task shapes it applies to, empty where it applies to all (C27).

`verdict` counts the outcome class of the judgment's label, `score` a number that its source gives.
`research.composite` is of criteria of every kind, by the weights that gold states for them.
"""

EMPTY_SETS = ("both_empty", "answer_empty", "gold_empty")
"""The cases in which precision or recall of a list divides by zero (C8)."""

UNDEFINED = "undefined"
"""How a document writes that a trial has no value in such a case and leaves the mean."""


class Metric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number of a rubric: a measure, who grades it, and how trials become one value."""

    measure: str
    """A key of `MEASURES`."""
    shapes: tuple[Literal["fact", "list", "structured", "research"], ...] = ()
    """Task shapes whose planned slots are the denominator; empty means every shape."""
    grader: Name
    """`judge`, `human`, `source` (the imported log) or a code grader as `name@version`."""
    normaliser: Name | None = None
    """How texts are normalised before they are compared; None where nothing is."""
    scale: tuple[str, str] = ("0", "1")
    """Lowest and highest score, rational text."""
    direction: Literal["higher", "lower"] = "higher"
    """Which way is better."""
    aggregate: Literal["question-mean", "trial-mean"] = "question-mean"
    """Mean of repetitions in a question, then of questions; or the mean of all trials."""
    interval: Literal["cluster-wilson", "cluster-t", "none"] = "cluster-wilson"
    """How the confidence interval is made."""
    outcomes: dict[str, OutcomeRule] = {}
    """Classes in which this metric departs from the rubric's policy, each as a whole rule."""
    options: dict[str, object] = {}
    """Settings of the grader, as JSON values."""


class Judge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that judges."""

    model: Name
    """Model name as its provider knows it."""
    endpoint: Name | None = None
    """Name of the endpoint, under which calls are recorded; None only where reconstructed."""
    url: str | None = None
    """Where that endpoint is; None takes the manifest's endpoint of that name."""
    key_env: Name | None = None
    """Environment variable that holds its key; the name, never the value (C11)."""
    prompt: str | None = None
    """Template of the prompt; None only where reconstructed."""
    sampling: dict[str, object] = {}
    """Sampling settings, decimals as text."""
    passes: Positive = 1
    """How many times each answer is judged."""
    canonical: Literal["first-valid", "majority"] = "first-valid"
    """Which pass counts."""
    attempts: Positive = 1
    """How many times a failing judge call is tried."""
    timeout_ms: Positive | None = None
    """Longest wait for one call; None waits without limit."""


class EmptySet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values of the list measures in one case of emptiness: rational text or `undefined`."""

    precision: str
    """Precision."""
    recall: str
    """Recall."""
    f1: str
    """F1."""


class Review(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How trials are drawn for human review (C29)."""

    fraction: str = "1/10"
    """Share of the judged trials, rational text."""
    floor: Positive = 5
    """Least number in each stratum, as far as it has so many."""
    strata: tuple[Name, ...] = ("configuration", "judged")
    """What the draw is stratified by."""
    seed: Name
    """Seed of the draw, frozen before the first trial."""


class Rubric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen rubric."""

    schema: Positive = 1
    """Version of this document's form."""
    name: Name
    """Its name."""
    version: Name
    """Its version."""
    reconstructed: bool = False
    """Rebuilt from another tool's log, so that parts of it may be unknown."""
    primary: Name
    """The headline metric."""
    max_undecided: str = "1/20"
    """Share of undecided trials above which the gate `decided` fails, rational text."""
    official: Official | None = None
    """Set only where a benchmark's own grading is used unchanged (C15)."""
    metrics: dict[Name, Metric]
    """Every metric by name."""
    judge: Judge | None = None
    """The judge; None where no metric needs one."""
    outcomes: dict[str, OutcomeRule]
    """What each outcome class counts, all of them (C20)."""
    failure_outcomes: dict[str, str | dict[str, str]]
    """Failure class to outcome class, or to outcome class by the call's purpose.

    Used where an occurrence has no fault; `none` stands for an occurrence outside any call.
    """
    empty_sets: dict[str, EmptySet] = {}
    """Values of the list measures in the cases of `EMPTY_SETS` (C8)."""
    review: Review | None = None
    """The review plan; None only in a reconstructed rubric."""

    @property
    def reference(self) -> str:
        """Return `name@version`."""
        return f"{self.name}@{self.version}"


def metric_outcomes(rubric: Rubric, metric_name: str) -> dict[str, OutcomeRule]:
    """Return every outcome class with the rule that holds for one metric.

    Raises:
        KeyError: the rubric has no such metric.
    """
    return {**rubric.outcomes, **rubric.metrics[metric_name].outcomes}


def canonical(rubric: Rubric) -> bytes:
    """Return the canonical form, every default written out."""
    return canonical_struct(rubric)


def rubric_hash(rubric: Rubric) -> str:
    """Return the hash of the canonical form."""
    return document_hash(canonical(rubric))


def decode_rubric(document: bytes) -> Rubric:
    """Return the rubric that `canonical` wrote.

    Raises:
        msgspec.ValidationError: the bytes are no such document.
    """
    return msgspec.json.decode(document, type=Rubric)
