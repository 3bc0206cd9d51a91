"""What outcomes that are missing can do to a difference, and whether runs lost trials alike.

Invariant: a missing outcome is undecided, or one in which the system had no fair try; it may be
right or wrong, and nothing is put in its place.

Bounds of missing data: Manski 1989 (Journal of Human Resources 24:343).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from trial_ledger.exact import rational_text
from trial_projections.aggregate import is_missing, views
from trial_projections.cells import INFRASTRUCTURE_CLASSES
from trial_projections.comparison_structs import MissingOutcomes
from trial_projections.scores import RunInput, place_slots
from trial_projections.statistics.decimals import shown_text
from trial_projections.statistics.paired_range import ranged_test
from trial_projections.statistics.result import total_of

__all__ = ["missing_of"]


class Question(msgspec.Struct, kw_only=True):
    """One question of one run."""

    slots: int = 0
    """Slots that count."""
    missing: int = 0
    """Of these, how many are undecided or without a fair try."""
    lost: int = 0
    """Of these, how many are without a fair try."""
    worst: Fraction = Fraction(0)
    """Sum of scores, what is missing at the lowest."""
    best: Fraction = Fraction(0)
    """Sum of scores, what is missing at the highest."""


def missing_of(
    sources: tuple[RunInput, RunInput], metric: str, questions: Sequence[str]
) -> MissingOutcomes | None:
    """Return what missing outcomes can do to the difference of two runs; None where none is.

    Args:
        sources: both runs.
        metric: a metric of both rubrics.
        questions: those that count in both.
    """
    first, second = (counted(source, metric) for source in sources)
    rows = [(first[question], second[question]) for question in questions]
    if not any(old.missing or new.missing for old, new in rows):
        return None
    lows = [new.worst / new.slots - old.best / old.slots for old, new in rows]
    highs = [new.best / new.slots - old.worst / old.slots for old, new in rows]
    lost = [Fraction(new.lost, new.slots) - Fraction(old.lost, old.slots) for old, new in rows]
    is_tested = any(old.lost or new.lost for old, new in rows)
    return MissingOutcomes(
        first=sum(old.missing for old, _ in rows),
        second=sum(new.missing for _, new in rows),
        lost_first=sum(old.lost for old, _ in rows),
        lost_second=sum(new.lost for _, new in rows),
        low=rational_text(total_of(lows) / len(rows)),
        high=rational_text(total_of(highs) / len(rows)),
        lost_p=shown_text(ranged_test([(each, each) for each in lost]).p) if is_tested else None,
    )


def counted(source: RunInput, metric: str) -> Mapping[str, Question]:
    """Return every question that counts in a run."""
    ends = views(source.rubric.metrics[metric].scale)
    found: dict[str, Question] = {}
    for slot in place_slots(source, metric):
        worst, best = ends["worst"](slot.cell), ends["best"](slot.cell)
        if worst is not None and best is not None:
            question = found.setdefault(slot.question, Question())
            question.slots += 1
            question.missing += is_missing(slot.cell)
            question.lost += slot.cell.outcome in INFRASTRUCTURE_CLASSES
            question.worst += worst[0]
            question.best += best[1]
    return found
