"""Which judgments of a run still stand under a revised rubric or other gold (C14, C28).

Invariant: a judgment is carried only where everything that gave it is the same under both; pure
functions of the frozen documents.
"""

from typing import cast

from msgspec import UNSET

from trial_ledger.documents.canonical_form import Json, without_nulls
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.rubric_structs import Rubric
from trial_ledger.events import JudgmentFailed, JudgmentRecorded
from trial_ledger.grading.graders import grader_of
from trial_ledger.registry import Registry

__all__ = [
    "GIVERS",
    "carried_metrics",
    "carried_name",
    "origin_of",
    "prompt_of",
    "unchanged_questions",
    "what_gives",
]

GIVERS = ("measure", "grader", "normaliser", "options", "scale", "empty_sets")
"""What `what_gives` returns, by name."""


def carried_metrics(old: Rubric, new: Rubric) -> frozenset[str]:
    """Return the metrics of a revised rubric whose old judgments still stand under it.

    Everything that gives the verdict has to be the same: measure, grader, normaliser, options,
    scale, values for empty sets, and the judge where it is a judge's. What a verdict then counts
    may differ. A metric that a code grader gives is never carried: its answers are judged again.
    """
    found = set()
    for name, metric in new.metrics.items():
        if name not in old.metrics or grader_of(metric) is not None:
            continue
        if what_gives(old, name) == what_gives(new, name) and (
            metric.grader != "judge" or prompt_of(old) == prompt_of(new)
        ):
            found.add(name)
    return frozenset(found)


def what_gives(rubric: Rubric, name: str) -> tuple[object, ...]:
    """Return everything of a metric that a verdict depends on, in the order of `GIVERS`.

    A setting that is null is one that is not given: TOML, in which rubrics are revised, has no
    null. A label is the same on any scale; the scale bounds what it counts.
    """
    metric = rubric.metrics[name]
    scale = None if metric.measure == "verdict" else metric.scale
    options = without_nulls(cast("dict[str, Json]", metric.options))
    kind, _, value = metric.measure.partition(".")
    empty_sets = rubric.empty_sets if kind == "list" else {}
    cases = {case: getattr(values, value) for case, values in empty_sets.items()}
    return (metric.measure, metric.grader, metric.normaliser, options, scale, cases)


def prompt_of(rubric: Rubric) -> object:
    """Return everything of a judge that its verdict depends on: not how often it is tried."""
    judge = rubric.judge
    return None if judge is None else (judge.model, judge.prompt, judge.sampling)


def unchanged_questions(registry: Registry, old: str, new: str) -> frozenset[str] | None:
    """Return the questions that two datasets ask alike, with the same gold; None for all.

    Args:
        registry: the documents.
        old: the parent's dataset, `name@version`.
        new: the derived run's.

    Raises:
        RuleError: one of them is not registered.
    """
    if old == new:
        return None
    before, after = registry.questions(old), registry.questions(new)
    gold = (registry.commitments(old), registry.commitments(new))
    return frozenset(
        name
        for name, question in after.items()
        if name in before
        and asked(before[name]) == asked(question)
        and gold[0].get(name) == gold[1].get(name)
    )


def asked(question: Question) -> tuple[object, ...]:
    """Return everything of a question that an answer to it depends on."""
    return (question.question, question.context, question.as_of)


def origin_of(known: JudgmentRecorded | JudgmentFailed) -> str | None:
    """Return where a judgment comes from: another judgment or a grader; None where none came."""
    if known.carried_from is not UNSET:
        return carried_name(known.carried_from)
    if isinstance(known, JudgmentFailed):
        return None
    grader = known.grader
    return grader.name if grader.version is None else f"{grader.name}@{grader.version}"


def carried_name(judgment: str) -> str:
    """Return the origin of a judgment that repeats another; no grader has such a name."""
    return f"carried\n{judgment}"
