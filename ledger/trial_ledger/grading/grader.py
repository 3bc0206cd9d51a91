"""What a code grader is given and gives, and the digest of its definition (C28).

Invariant: a judgment under the measure `verdict` has a verdict and no score; under any other it has
a score and no verdict, or the verdict `not_gradable` and no score.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import cast

import msgspec
from blake3 import blake3

from trial_ledger.documents.canonical_form import Json, canonical_json
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.grader_options import BUILT_IN, Settings, settings_of
from trial_ledger.documents.rubric_structs import EmptySet, Metric
from trial_ledger.exact import rational_text
from trial_ledger.kinds.base import Verdict
from trial_ledger.kinds.judgments import ScorePart

__all__ = [
    "CodeGrader",
    "Grade",
    "Task",
    "decided",
    "gold_of",
    "not_gradable",
]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One answer under one metric, with everything that a code grader may look at."""

    question: Question
    """The question as the agent saw it."""
    gold: dict[str, Json] | None
    """The gold of its task shape, as `gold_of` returns it; None where there is none."""
    answer: str
    """The submitted text; empty where the agent submitted an empty one."""
    metric: Metric
    """The metric, whose grader is one of ours."""
    empty_sets: Mapping[str, EmptySet] = {}
    """The rubric's values for lists where something is empty (C8)."""
    judged_items: Mapping[int, Verdict] = {}
    """Verdicts of `item.judged` by position in the answer, from 0: extra items, C6."""


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """A judgment without its event: what was decided, from which parts, by which rule."""

    verdict: Verdict | None = None
    """The label; None where the score counts."""
    score: str | None = None
    """The value from 0 to 1, rational text; None where the verdict counts."""
    parts: tuple[ScorePart, ...] = ()
    """Counts and labels that the decision is made of; they show no gold."""
    reasoning: str
    """The rule that decided, in words; may show gold."""


class CodeGrader(msgspec.Struct, frozen=True, kw_only=True):
    """One grader of ours."""

    name: str
    """Its name."""
    version: str
    """Its version: the same version never decides otherwise about the same task."""
    decide: Callable[[Task, Settings], Grade]
    """The rule; it may rely on gold being there and on an answer of bearable length."""
    modules: tuple[str, ...]
    """The modules of this package that define it."""

    @property
    def reference(self) -> str:
        """Return `name@version`, by which a metric names it."""
        return f"{self.name}@{self.version}"

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the measures that it gives."""
        return BUILT_IN[self.reference].measures

    def digest(self, metric: Metric) -> str:
        """Return the BLAKE3 hash of name, version, settings in force, and source, in hex.

        Raises:
            InvalidInputError: with every setting that this version does not understand.
        """
        settings = settings_of(metric)
        definition: dict[str, Json] = {
            "name": self.name,
            "version": self.version,
            "measure": metric.measure,
            "normaliser": settings.normaliser,
            "options": settings.options,
            "source": {module: source_digest(module) for module in ("grader", *self.modules)},
        }
        return blake3(canonical_json(definition)).hexdigest()

    def grade(self, task: Task) -> Grade:
        """Return the judgment on one answer.

        Raises:
            InvalidInputError: with every setting that this version does not understand.
        """
        assert task.metric.grader == self.reference, "grader_of found the metric's own grader"
        settings = settings_of(task.metric)
        if task.gold is None:
            return not_gradable("the question has no gold")
        return self.decide(task, settings)


@cache
def source_digest(module: str) -> str:
    """Return the BLAKE3 hash of the source of a module of this package, in hex."""
    source = resources.files("trial_ledger.grading").joinpath(f"{module}.py").read_bytes()
    return blake3(source).hexdigest()


def gold_of(record: bytes | None) -> dict[str, Json] | None:
    """Return the gold in a record of the gold file; None where there is none.

    Args:
        record: canonical JSON of `{"extra":…, "gold":…, "id":…}`; None where there is no record.
    """
    if record is None:
        return None
    gold = msgspec.json.decode(record).get("gold")
    return cast("dict[str, Json]", gold) if isinstance(gold, dict) else None


def decided(
    task: Task, value: Fraction | int, reasoning: str, parts: tuple[ScorePart, ...] = ()
) -> Grade:
    """Return a judgment of a value from 0 to 1, as a verdict where the measure is `verdict`."""
    assert 0 <= value <= 1, "a measure lies between 0 and 1"
    if task.metric.measure != "verdict":
        return Grade(score=rational_text(value), parts=parts, reasoning=reasoning)
    assert value in {0, 1}, "what counts by verdict is right or wrong"
    return Grade(verdict="correct" if value else "incorrect", parts=parts, reasoning=reasoning)


def not_gradable(reasoning: str, parts: tuple[ScorePart, ...] = ()) -> Grade:
    """Return that nothing was decided; never right and never wrong."""
    return Grade(verdict="not_gradable", parts=parts, reasoning=reasoning)
