"""Summaries of how trials ended: denominators, abstention, slots of records, citations.

Invariant: every count that went in stands in one denominator that is named; what nobody knows
bounds a number and is never filled in.
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from trial_projections.statistics.result import Number, Result, known, ratio_of, total_of, undefined

__all__ = [
    "Attempts",
    "CitationSupport",
    "Denominators",
    "SlotScores",
    "attempts",
    "citation_support",
    "criteria_bounds",
    "denominators",
    "penalised_share",
    "penalty_for_confidence",
    "slot_scores",
]

HALF = Fraction(1, 2)


class Denominators(msgspec.Struct, frozen=True, kw_only=True):
    """One share of successes over several denominators."""

    planned: int
    """Everything that was planned."""
    primary: Result[Fraction]
    """Successes over planned."""
    without_faults: Result[Fraction]
    """Over what met no fault of the infrastructure."""
    complete: Result[Fraction]
    """Over what was judged."""
    worst: Result[Fraction]
    """Over planned, if nothing that is missing had succeeded (Manski 1989)."""
    best: Result[Fraction]
    """Over planned, if all that is missing had."""


class Attempts(msgspec.Struct, frozen=True, kw_only=True):
    """Right, wrong and abstained answers."""

    right: Result[Fraction]
    """Share of right ones among all."""
    wrong: Result[Fraction]
    """Share of wrong ones among all."""
    abstained: Result[Fraction]
    """Share of abstentions among all."""
    right_of_attempted: Result[Fraction]
    """Share of right ones among those that were attempted."""
    f1: Result[Fraction]
    """Harmonic mean of the first and the last: 2C/(n + C + I)."""


class SlotScores(msgspec.Struct, frozen=True, kw_only=True):
    """Precision and recall of filled slots, partly right ones by half."""

    precision: Result[Fraction]
    """(COR + PAR/2) / (COR + INC + PAR + SPU)."""
    recall: Result[Fraction]
    """(COR + PAR/2) / (COR + INC + PAR + MIS)."""
    f1: Result[Fraction]
    """2 (COR + PAR/2) over the sum of both denominators."""
    slot_error_rate: Result[Fraction]
    """(INC + PAR/2 + MIS + SPU) over the slots of the gold (Makhoul et al. 1999)."""
    error: Result[Fraction]
    """The same over all slots, spurious ones too."""


class CitationSupport(msgspec.Struct, frozen=True, kw_only=True):
    """How many citations support what they stand for."""

    valid_share: Result[Fraction]
    """Supported over supported and not supported; those nobody could check are in neither."""
    lower: Result[Fraction]
    """The same with all of them as not supported."""
    upper: Result[Fraction]
    """The same with all of them as supported."""
    supported_each: Result[Fraction]
    """Mean number of supported citations of the answers that cite at all."""
    without: int
    """Answers that cite nothing, which no number here counts."""


def denominators(success: int, failure: int, faults: int, unjudged: int) -> Denominators:
    """Return the share of successes over every denominator that can be defended.

    Args:
        success: trials that succeeded.
        failure: trials that failed.
        faults: trials that the infrastructure lost.
        unjudged: trials that nobody judged.
    """
    planned = success + failure + faults + unjudged
    return Denominators(
        planned=planned,
        primary=ratio_of(success, planned),
        without_faults=ratio_of(success, planned - faults),
        complete=ratio_of(success, success + failure),
        worst=ratio_of(success, planned),
        best=ratio_of(success + faults + unjudged, planned),
    )


def attempts(right: int, wrong: int, abstained: int) -> Attempts:
    """Return the shares of answers, with and without abstentions.

    SimpleQA (Wei et al. 2024, arXiv 2411.04368), section 2.3; its code gives 0 where nothing was
    attempted, which has no accuracy here.
    """
    n = right + wrong + abstained
    return Attempts(
        right=ratio_of(right, n),
        wrong=ratio_of(wrong, n),
        abstained=ratio_of(abstained, n),
        right_of_attempted=ratio_of(right, right + wrong, "nothing was attempted"),
        f1=ratio_of(2 * right, n + right + wrong),
    )


def penalised_share(right: int, wrong: int, count: int, penalty: Number) -> Result[Fraction]:
    """Return (C - λ I)/n: wrong answers cost something, abstentions nothing.

    With a penalty of 1 it is CRAG's truthfulness, (2C + M)/n - 1 (Yang et al. 2024,
    arXiv 2406.04744).

    Args:
        right: right answers.
        wrong: wrong answers.
        count: all answers, abstentions too.
        penalty: λ, declared before the run.
    """
    return ratio_of(right - Fraction(penalty) * wrong, count)


def penalty_for_confidence(target: Number) -> Result[Fraction]:
    """Return the penalty at which answering pays from a confidence on: t/(1 - t).

    Kalai et al. 2025 (arXiv 2509.04664), section 4.2.

    Args:
        target: the confidence, from 0 to below 1.
    """
    return ratio_of(target, 1 - Fraction(target), "no penalty asks for certainty")


def slot_scores(right: int, wrong: int, partial: int, missing: int, spurious: int) -> SlotScores:
    """Return precision, recall and error of filled slots (MUC-5, Chinchor & Sundheim 1993).

    Args:
        right: COR, slots filled as the gold has them.
        wrong: INC, slots filled otherwise.
        partial: PAR, slots filled partly as the gold has them.
        missing: MIS, slots of the gold that were not filled.
        spurious: SPU, slots filled that the gold does not have.
    """
    possible, actual = right + wrong + partial + missing, right + wrong + partial + spurious
    good, bad = right + HALF * partial, wrong + HALF * partial + missing + spurious
    return SlotScores(
        precision=ratio_of(good, actual, "nothing was filled"),
        recall=ratio_of(good, possible, "the gold has no slot"),
        f1=ratio_of(2 * good, possible + actual),
        slot_error_rate=ratio_of(bad, possible, "the gold has no slot"),
        error=ratio_of(bad, possible + spurious),
    )


def citation_support(answers: Sequence[tuple[int, int, int] | None]) -> CitationSupport:
    """Return how many citations support what they stand for.

    FACT of DeepResearch Bench (Du et al. 2025, arXiv 2506.11763), with bounds for what its code
    drops.

    Args:
        answers: of every answer, citations that support, that do not, and that nobody could check;
            None for one that cites nothing.
    """
    citing = [answer for answer in answers if answer is not None]
    supported = sum(yes for yes, _, _ in citing)
    not_supported = sum(no for _, no, _ in citing)
    unknown = sum(open_ for _, _, open_ in citing)
    whole = supported + not_supported + unknown
    return CitationSupport(
        valid_share=ratio_of(supported, supported + not_supported, "no citation was checked"),
        lower=ratio_of(supported, whole),
        upper=ratio_of(supported + unknown, whole),
        supported_each=ratio_of(supported, len(citing), "no answer cites"),
        without=len(answers) - len(citing),
    )


def criteria_bounds(
    criteria: Sequence[tuple[Number, bool | None]],
) -> tuple[Result[Fraction], Result[Fraction]]:
    """Return the least and the most that criteria score where some are not judged.

    Points of the criteria that are met over all positive points; what is not judged stays in the
    denominator.

    Args:
        criteria: points, and whether the criterion is met; None where nobody judged it.
    """
    whole = total_of(points for points, _ in criteria if points > 0)
    low = high = Fraction(0)
    for points, met in criteria:
        low += points * (points < 0 if met is None else met)
        high += points * (points > 0 if met is None else met)
    if not whole:
        return undefined("no criterion has points"), undefined("no criterion has points")
    return known(low / whole), known(high / whole)
