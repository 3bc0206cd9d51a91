"""Where the spread of scores comes from: questions, repetitions, passes of a judge.

Invariant: components are exact; a negative estimate is kept beside the 0 that is shown for it; what
the design cannot tell apart has no value.
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from trial_projections.statistics.result import (
    Number,
    Result,
    because,
    known,
    ratio_of,
    total_of,
    undefined,
)

__all__ = [
    "NestedComponents",
    "VarianceComponents",
    "nested_components",
    "variance_components",
    "variance_of_mean",
]

ONE_GROUP = "one question has no spread between questions"
SINGLE = "one repetition has no spread within a question"
NO_SPREAD = "all scores are equal"
UNEVEN = "questions have different numbers of repetitions or passes"


class VarianceComponents(msgspec.Struct, frozen=True, kw_only=True):
    """A one-way analysis of variance with random questions."""

    between_square: Result[Fraction]
    """Mean square between questions."""
    within_square: Result[Fraction]
    """Mean square within questions."""
    size: Result[Fraction]
    """Repetitions of a question, on average in the sense of the analysis."""
    between_raw: Result[Fraction]
    """Variance of the questions' true scores, as estimated; may be below 0."""
    between: Result[Fraction]
    """The same, at least 0."""
    within: Result[Fraction]
    """Variance between repetitions of a question."""
    correlation: Result[Fraction]
    """Intraclass correlation ICC(1): how alike repetitions of one question are."""


class NestedComponents(msgspec.Struct, frozen=True, kw_only=True):
    """An analysis of variance of questions, repetitions within, and judge passes within these."""

    question_square: Result[Fraction]
    """Mean square of questions."""
    repetition_square: Result[Fraction]
    """Mean square of repetitions within questions."""
    judge_square: Result[Fraction]
    """Mean square of judge passes within repetitions."""
    question: Result[Fraction]
    """Variance of questions, as estimated; may be below 0."""
    repetition: Result[Fraction]
    """Variance of repetitions, as estimated; may be below 0."""
    judge: Result[Fraction]
    """Variance of passes of the judge over one answer."""
    mean: Result[Fraction]
    """Variance of the mean of all."""


def less(first: Result[Fraction], second: Result[Fraction], over: Number) -> Result[Fraction]:
    """Return a difference of mean squares over a number; undefined where one is."""
    if first.value is None or second.value is None:
        return because(first, second)
    return known((first.value - second.value) / over)


def variance_components(groups: Sequence[Sequence[Number]]) -> VarianceComponents:
    """Return how scores vary between questions and between repetitions.

    One-way random effects (Searle, Casella & McCulloch 1992, section 3.6); ICC(1) as Shrout &
    Fleiss 1979 (Psychological Bulletin 86:420).

    Args:
        groups: the scores of every question, at least one each.
    """
    sizes = [len(scores) for scores in groups]
    assert all(sizes), "a question without a score has no place here"
    k, n = len(groups), sum(sizes)
    totals = [total_of(scores) for scores in groups]
    parts = total_of(t * t / size for t, size in zip(totals, sizes, strict=True))
    squares = total_of(Fraction(x) * x for scores in groups for x in scores)
    enough = k > 1
    middle = total_of(totals) ** 2 / (n or 1)
    between = known((parts - middle) / (k - 1)) if enough else undefined(ONE_GROUP)
    within = ratio_of(squares - parts, n - k, SINGLE)
    uneven = Fraction(sum(size * size for size in sizes), n or 1)
    size = known((n - uneven) / (k - 1)) if enough else undefined(ONE_GROUP)
    raw = less(between, within, size.value or 1)
    correlation = raw
    if raw.value is not None and within.value is not None:
        correlation = ratio_of(raw.value, raw.value + within.value, NO_SPREAD)
    return VarianceComponents(
        between_square=between,
        within_square=within,
        size=size,
        between_raw=raw,
        between=raw if raw.value is None else known(max(Fraction(0), raw.value)),
        within=within,
        correlation=correlation,
    )


def variance_of_mean(questions: Number, repetitions: Number, k: int, count: int = 1) -> Fraction:
    """Return the variance of a mean of questions, each asked k times.

    Miller 2024 (arXiv 2411.00640), section 3: (Var(x) + E[σ²]/K) / n.

    Args:
        questions: variance of the questions' true scores.
        repetitions: mean variance between repetitions of a question.
        k: repetitions of each.
        count: questions.
    """
    return (questions + Fraction(repetitions) / k) / count


def nested_components(data: Sequence[Sequence[Sequence[Number]]]) -> NestedComponents:
    """Return how scores vary between questions, repetitions and passes of a judge.

    Balanced nested random effects by expected mean squares (Searle, Casella & McCulloch 1992,
    chapter 4). Judging a fixed answer again is all that tells a judge's noise from an agent's.

    Args:
        data: scores by question, repetition and pass of the judge.

    Returns:
        Nothing has a value where questions have different numbers of repetitions or passes.
    """
    q = len(data)
    r = len(data[0]) if data else 0
    j = len(data[0][0]) if r else 0
    even = q and r and j and all(len(t) == r and all(len(p) == j for p in t) for t in data)
    if not even:
        none: Result[Fraction] = undefined(UNEVEN)
        return NestedComponents(**dict.fromkeys(NestedComponents.__struct_fields__, none))
    passes = [[total_of(each) for each in question] for question in data]
    by_question = [total_of(each) for each in passes]
    correction = total_of(by_question) ** 2 / (q * r * j)
    questions = total_of(t * t for t in by_question) / (r * j)
    repetitions = total_of(t * t for each in passes for t in each) / j
    squares = total_of(Fraction(x) * x for t in data for p in t for x in p)
    question = ratio_of(questions - correction, q - 1, ONE_GROUP)
    repetition = ratio_of(repetitions - questions, q * (r - 1), SINGLE)
    judge = ratio_of(squares - repetitions, q * r * (j - 1), "one pass has no spread")
    mean = question if question.value is None else known(question.value / (q * r * j))
    return NestedComponents(
        question_square=question,
        repetition_square=repetition,
        judge_square=judge,
        question=less(question, repetition, r * j),
        repetition=less(repetition, judge, j),
        judge=judge,
        mean=mean,
    )
