"""What a benchmark's own code makes of a run's trials, beside the mean of the rubric (C15).

Invariant: a number is what the published code would print for these trials, faults and all; while
a trial is undecided there is none. None of them replaces the headline.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import msgspec

from trial_ledger.exact import parse_rational, percent_text
from trial_projections.cells import Placed
from trial_projections.statistics.published import healthbench_mean, tau_pass_hat_k
from trial_projections.statistics.result import Result, known, ratio_of, undefined

__all__ = ["OfficialNumber", "numbers_text", "official_numbers"]


class OfficialNumber(msgspec.Struct, frozen=True):
    """One number that a benchmark publishes."""

    name: str
    """What it is called."""
    result: Result[Fraction]
    """Its value, or why there is none."""


def official_numbers(grader: str, placed: Sequence[Placed]) -> list[OfficialNumber]:
    """Return what a benchmark's own code prints; empty where that is the rubric's mean.

    Args:
        grader: the pinned grader, `name@version`.
        placed: every planned slot of the headline metric and how it counts.
    """
    slots = [slot for slot in placed if slot.cell.counts]
    open_slots = sum(slot.cell.score is None for slot in slots)
    if grader not in NUMBERS:
        return []
    if open_slots:
        why: Result[Fraction] = undefined(f"{open_slots} of {len(slots)} slots undecided")
        return [OfficialNumber("every number", why)]
    return [OfficialNumber(name, result) for name, result in NUMBERS[grader](slots).items()]


def numbers_text(numbers: Sequence[OfficialNumber]) -> str:
    """Return numbers in words, as `accuracy 40.0 %, F1 undefined (there is nothing to count)`."""
    return ", ".join(
        f"{number.name} undefined ({number.result.reason})"
        if number.result.value is None
        else f"{number.name} {percent_text(number.result.value)} %"
        for number in numbers
    )


def simpleqa(slots: Sequence[Placed]) -> dict[str, Result[Fraction]]:
    """Return SimpleQA's accuracy, that of the attempted, and their harmonic mean, 0 of nothing."""
    correct, wrong = count(slots, "correct"), count(slots, "incorrect")
    tried = correct + wrong
    return {
        "correct": ratio_of(correct, len(slots)),
        "accuracy of the attempted": known(Fraction(correct, tried or 1)),
        "F1": ratio_of(2 * correct, len(slots) + tried),
    }


def browsecomp(slots: Sequence[Placed]) -> dict[str, Result[Fraction]]:
    """Return BrowseComp's accuracy as published, which is 0 whatever was judged, and patched."""
    return {
        "accuracy as published": ratio_of(0, len(slots)),
        "accuracy with group-1": ratio_of(count(slots, "correct"), len(slots)),
    }


def squad_2(slots: Sequence[Placed]) -> dict[str, Result[Fraction]]:
    """Return the mean of what was answered: SQuAD 2.0's script leaves missing predictions out."""
    answered = [slot for slot in slots if slot.cell.basis == "judgment"]
    return {"of the answered alone": ratio_of(sum(map(score_of, answered)), len(answered))}


def healthbench(slots: Sequence[Placed]) -> dict[str, Result[Fraction]]:
    """Return HealthBench's mean, cut to lie from 0 to 1."""
    return {"mean cut to 0 to 1": healthbench_mean([score_of(slot) for slot in slots])}


def tau_bench(slots: Sequence[Placed]) -> dict[str, Result[Fraction]]:
    """Return tau-bench's pass^k for every k, of the trials that were started."""
    tasks = {name: place for place, name in enumerate(dict.fromkeys(s.question for s in slots))}
    results = [
        (tasks[slot.question], slot.repetition, int(score_of(slot) == 1))
        for slot in slots
        if slot.trial is not None
    ]
    longest = len({repetition for _, repetition, _ in results})
    return {f"pass^{k}": tau_pass_hat_k(results, k) for k in range(1, longest + 1)}


def count(slots: Sequence[Placed], outcome: str) -> int:
    """Return how many slots count in one outcome class."""
    return sum(slot.cell.outcome == outcome for slot in slots)


def score_of(slot: Placed) -> Fraction:
    """Return the score of a decided slot."""
    assert slot.cell.score is not None, "undecided slots have no numbers"
    return parse_rational(slot.cell.score)


NUMBERS: Mapping[str, Callable[[Sequence[Placed]], dict[str, Result[Fraction]]]] = {
    "simpleqa@1": simpleqa,
    "browsecomp@1": browsecomp,
    "squad-2.0@1": squad_2,
    "healthbench@1": healthbench,
    "tau-bench@1": tau_bench,
}
