"""What each kind of fault does to each metric: as it is, and had its trials been right (C20, C23).

Invariant: both numbers come from the same slots by the same rules; they differ only in the slots
whose outcome is that of the fault. It is a bound and no forecast: nobody knows what those trials
would have answered.
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from trial_projections.aggregate import Range, profiles_of
from trial_projections.cells import FAULT_CLASSES, MetricRules, Placed
from trial_projections.scores import (
    RunInput,
    cells_by_question,
    place_slots,
    unavailable_reason,
)
from trial_projections.trace_effect import headline_of

__all__ = ["FaultEffect", "fault_effects"]


class FaultEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of fault does to one metric."""

    metric: str
    """The metric."""
    scale: tuple[str, str]
    """Lowest and highest score."""
    outcome: str
    """The outcome class of what was lost by it."""
    slots: int
    """Slots of that class."""
    as_it_is: Range | None
    """The number; None where no slot counts."""
    had_they_been_right: Range | None
    """The number with these slots scored as right and everything else as it is."""


def fault_effects(source: RunInput) -> list[FaultEffect]:
    """Return the effect of every kind of fault that cost a run a slot, the primary metric first.

    Args:
        source: the run.
    """
    names = sorted(source.rubric.metrics, key=lambda name: (name != source.rubric.primary, name))
    return [effect for name in names for effect in effects_on(source, name)]


def effects_on(source: RunInput, metric: str) -> Iterator[FaultEffect]:
    """Yield the effects on one metric, in the order in which faults are named everywhere."""
    if unavailable_reason(source, source.rubric.metrics[metric]) is not None:
        return
    placed = place_slots(source, metric)
    counts = Counter(slot.cell.outcome for slot in placed if slot.trial is not None)
    for outcome in dict.fromkeys(FAULT_CLASSES.values()):
        if not counts[outcome]:
            continue
        right = had_been_right(source, metric, placed, outcome)
        yield FaultEffect(
            metric=metric,
            scale=source.rubric.metrics[metric].scale,
            outcome=outcome,
            slots=counts[outcome],
            as_it_is=number_of(source, metric, placed),
            had_they_been_right=number_of(source, metric, right),
        )


def had_been_right(
    source: RunInput, metric: str, placed: list[Placed], outcome: str
) -> list[Placed]:
    """Return the slots with those of one outcome scored as right."""
    rules = MetricRules(source.rubric, metric)
    return [
        slot
        if slot.trial is None or slot.cell.outcome != outcome
        else msgspec.structs.replace(slot, cell=rules.right(slot.trial))
        for slot in placed
    ]


def number_of(source: RunInput, metric: str, placed: list[Placed]) -> Range | None:
    """Return the number that slots give; None where none counts."""
    return headline_of(source, metric, profiles_of(cells_by_question(placed)))
