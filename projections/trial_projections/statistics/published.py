"""Formulas of published benchmarks, as their code has them, faults and all.

Invariant: nothing here is ours: each names the code that it follows and gives what that code gives,
even where a definition of ours would have no number.
"""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import comb

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
    "ListScores",
    "SentenceSupport",
    "balanced_f1",
    "healthbench_item",
    "healthbench_mean",
    "qampari_scores",
    "race_score",
    "research_rubrics_item",
    "sentence_support",
    "simpleqa_letter",
    "tau_pass_hat_k",
    "token_f1",
]

LETTER = re.compile("A|B|C")
NO_POINTS = "no criterion has positive points"
ENOUGH = 5
"""Hits that QAMPARI's recall of the first five asks for."""


class SentenceSupport(msgspec.Struct, frozen=True):
    """What one sentence adds to ALCE's recall and precision of citations."""

    supported: int
    """1 where its citations support it together, else 0."""
    precise: int
    """How many of its citations count as precise."""
    citations: int
    """How many it has."""


class ListScores(msgspec.Struct, frozen=True, kw_only=True):
    """QAMPARI's scores of a list."""

    precision: Fraction
    """Share of the predictions that are some name of some answer; repetitions count."""
    recall: Fraction
    """Share of the answers of which some name was predicted."""
    recall_five: Fraction
    """The same, of at most five."""
    f1: Fraction
    """Harmonic mean of precision and recall; 0 where both are."""
    f1_five: Fraction
    """The same with the recall of five."""


def tau_pass_hat_k(results: Sequence[tuple[int, int, int]], k: int) -> Result[Fraction]:
    """Return pass^k as tau-bench computes it (sierra-research/tau-bench@59a200c, run.py).

    Every task is taken to have as many trials as there are different trial numbers anywhere, so a
    lost trial counts as failed.

    Args:
        results: (task, trial, 1 where it passed) of every trial there is.
        k: how many are chosen.
    """
    passed = Counter[int]()
    for task, _, success in results:
        passed[task] += success
    n = len({trial for _, trial, _ in results})
    if n < k:
        return undefined(f"fewer than {k} trials")
    ways = sum(comb(count, k) for count in passed.values())
    return ratio_of(ways, comb(n, k) * len(passed))


def healthbench_item(criteria: Sequence[tuple[Number, bool]]) -> Result[Fraction]:
    """Return HealthBench's score of an answer (openai/simple-evals@ee3b031, healthbench_eval.py).

    Points of the criteria that are met over all positive points; it may be below 0.

    Args:
        criteria: points, and whether the criterion is met.
    """
    whole = total_of(points for points, _ in criteria if points > 0)
    return ratio_of(total_of(points for points, met in criteria if met), whole, NO_POINTS)


def healthbench_mean(items: Sequence[Number]) -> Result[Fraction]:
    """Return HealthBench's score of a run: the mean of the answers', cut to lie from 0 to 1."""
    mean = ratio_of(total_of(items), len(items))
    return mean if mean.value is None else known(min(max(mean.value, Fraction(0)), Fraction(1)))


def balanced_f1(pairs: Sequence[tuple[bool, bool]]) -> Result[Fraction]:
    """Return the mean of F1 for `met` and F1 for `not met` (healthbench_meta_eval.py).

    Args:
        pairs: what the judge says and what a physician says, for each physician of each criterion.
    """
    counts = Counter(pairs)
    wrong = counts[True, False] + counts[False, True]
    met = ratio_of(2 * counts[True, True], 2 * counts[True, True] + wrong, "nothing is met")
    unmet = ratio_of(2 * counts[False, False], 2 * counts[False, False] + wrong, "all is met")
    if met.value is None or unmet.value is None:
        return because(met, unmet)
    return known((met.value + unmet.value) / 2)


def research_rubrics_item(criteria: Sequence[tuple[Number, Number]]) -> Fraction:
    """Return ResearchRubrics' score (scaleapi/researchrubrics, calculate_compliance_score.py).

    Weighted scores over all positive weights, without a bound; 0 where no weight is positive.

    Args:
        criteria: weight, and score: 1, 1/2 or 0.
    """
    whole = total_of(weight for weight, _ in criteria if weight > 0)
    return total_of(weight * score for weight, score in criteria) / whole if whole else Fraction(0)


def race_score(target: Number, reference: Number) -> Fraction:
    """Return RACE's score of a report (Ayanami0730/deep_research_bench@214741e).

    Args:
        target: weighted mean of the report's criteria.
        reference: that of the reference report.

    Returns:
        target/(target + reference); 0 where both are.
    """
    return Fraction(target) / (target + reference) if target + reference else Fraction(0)


def sentence_support(
    joint: bool, alone: Sequence[bool], without: Sequence[bool]
) -> SentenceSupport:
    """Return what a sentence adds to ALCE's citation scores (princeton-nlp/ALCE@246c476, eval.py).

    Where all citations together do not support the sentence, none is precise. One citation is
    precise where it supports; one of several is not where it does not support alone and the others
    still do.

    Args:
        joint: whether all its citations together support it.
        alone: whether each does by itself.
        without: whether the others do, for each.
    """
    count = len(alone)
    if not joint or not count:
        return SentenceSupport(0, 0, count)
    if count == 1:
        return SentenceSupport(1, 1, 1)
    idle = sum(not one and rest for one, rest in zip(alone, without, strict=True))
    return SentenceSupport(1, count - idle, count)


def qampari_scores(items: Sequence[str], gold: Sequence[Sequence[str]]) -> ListScores:
    """Return QAMPARI's scores (princeton-nlp/ALCE@246c476, `compute_qampari_f1`).

    Args:
        items: what was predicted, normalised.
        gold: the names of every answer, normalised; at least one answer.
    """
    names = {name for aliases in gold for name in aliases}
    hits = sum(any(name in items for name in aliases) for aliases in gold)
    precision = Fraction(sum(item in names for item in items), len(items) or 1)
    recall = Fraction(hits, len(gold))
    five = Fraction(min(ENOUGH, hits), min(ENOUGH, len(gold)))
    return ListScores(
        precision=precision,
        recall=recall,
        recall_five=five,
        f1=harmonic(precision, recall),
        f1_five=harmonic(precision, five),
    )


def harmonic(first: Fraction, second: Fraction) -> Fraction:
    """Return the harmonic mean of two shares; 0 where both are."""
    return 2 * first * second / (first + second) if first + second else Fraction(0)


def token_f1(gold: Sequence[str], answer: Sequence[str]) -> Fraction:
    """Return the F1 of common words (SQuAD 2.0 evaluate-v2.0.py, TriviaQA `f1_score`).

    Args:
        gold: the words of the normalised gold.
        answer: the words of the normalised answer.

    Returns:
        Where one has no word: 1 if neither has, else 0.
    """
    if not gold or not answer:
        return Fraction(gold == answer)
    common = (Counter(gold) & Counter(answer)).total()
    return Fraction(2 * common, len(gold) + len(answer))


def simpleqa_letter(reply: str) -> str:
    """Return the grade that SimpleQA's code reads in a judge's reply (openai/simple-evals@ee3b031).

    The first capital A, B or C anywhere, else C: `NOT_ATTEMPTED` is an A, which means correct.
    """
    found = LETTER.search(reply)
    return found.group() if found else "C"
