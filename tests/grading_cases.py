"""Tasks for code graders, each in one line."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.grader_options import BUILT_IN
from trial_ledger.documents.rubric_structs import EMPTY_SETS, EmptySet, Metric
from trial_ledger.grading.criteria import CRITERIA, CriteriaTask
from trial_ledger.grading.grader import Grade, Task
from trial_ledger.grading.graders import grader_of
from trial_ledger.grading.replies import JUDGE_REPLY, ReplyTask
from trial_ledger.kinds.base import Verdict

STATED = {
    "both_empty": EmptySet(precision="undefined", recall="undefined", f1="1"),
    "answer_empty": EmptySet(precision="undefined", recall="0", f1="0"),
    "gold_empty": EmptySet(precision="0", recall="undefined", f1="0"),
}
"""The values for empty sets that the design's rubric states."""

assert tuple(STATED) == EMPTY_SETS

LIST_MEASURES = ("list.precision", "list.recall", "list.f1")


def metric_of(
    grader: str, measure: str | None = None, *, normaliser: str = "squad", **options: Json
) -> Metric:
    """Return a metric of one of our graders, as it would be frozen without defaults."""
    form = BUILT_IN[grader]
    return Metric(
        measure=measure or form.measures[0],
        grader=grader,
        normaliser=normaliser if form.normalises else None,
        options=dict(options),
    )


def graded(
    grader: str,
    gold: Mapping[str, Any] | None,
    answer: str,
    measure: str | None = None,
    *,
    context: object = None,
    judged: Mapping[int, Verdict] | None = None,
    empty_sets: Mapping[str, EmptySet] | None = None,
    normaliser: str = "squad",
    **options: Json,
) -> Grade:
    """Return what one of our graders makes of an answer.

    Under `criteria@1` the answer is what was said of the criteria: JSON from id to rational text.
    Under `judge-reply@1` it is the list of raw replies.
    """
    metric = metric_of(grader, measure, normaliser=normaliser, **options)
    if grader == "criteria@1":
        said = {name: Fraction(value) for name, value in json.loads(answer).items()}
        known = None if gold is None else dict(gold)
        question = Question(id="q1", question="Which?")
        added = CriteriaTask(question=question, gold=known, answer="", metric=metric, values=said)
        return CRITERIA.grade(added)
    if grader == "judge-reply@1":
        replies = ReplyTask(
            question=Question(id="q1", question="Which?"), gold={}, answer="", metric=metric,
            replies=tuple(json.loads(answer)),
        )  # fmt: skip
        return JUDGE_REPLY.grade(replies)
    task = Task(
        question=Question(id="q1", question="Which?", context=context),
        gold=None if gold is None else dict(gold),
        answer=answer,
        metric=metric,
        empty_sets=STATED if empty_sets is None else empty_sets,
        judged_items={} if judged is None else judged,
    )
    found = grader_of(metric)
    assert found is not None
    return found.grade(task)


def part(grade: Grade, name: str) -> int | str | tuple[int | None, int] | None:
    """Return what a part of a judgment says: a count, a ratio or a label; None without it."""
    for known in grade.parts:
        if known.name == name:
            if known.denominator is not None:
                return (known.numerator, known.denominator)
            return known.outcome if known.numerator is None else known.numerator
    return None


def ratio(grade: Grade, name: str) -> tuple[int, int]:
    """Return numerator and denominator of a part."""
    found = part(grade, name)
    assert isinstance(found, tuple)
    assert found[0] is not None
    return (found[0], found[1])


def count(grade: Grade, name: str) -> int:
    """Return the count of a part, 0 without it."""
    found = part(grade, name) or 0
    assert isinstance(found, int)
    return found


def fact(answer: Json, *alternatives: Json) -> dict[str, Json]:
    """Return the gold of a fact."""
    return {"answer": answer, "alternatives": list(alternatives)}


def listed(*items: Json, exhaustive: bool | None = True, **aliases: list[str]) -> dict[str, Json]:
    """Return the gold of a list."""
    folded: dict[str, Json] = {name: list(others) for name, others in aliases.items()}
    return {"items": list(items), "aliases": folded, "exhaustive": exhaustive}
