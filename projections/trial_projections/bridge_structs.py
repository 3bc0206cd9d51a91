"""The parts of a bridge: two ends, the moves of every slot between them, a step for each cause.

Invariant: these are values only; how they are found stands in `bridge`.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal

import msgspec

from trial_ledger.documents.rubric_structs import Metric, Rubric
from trial_ledger.exact import parse_rational
from trial_projections.aggregate import Range
from trial_projections.derivation import EventReference
from trial_projections.records import Mark, RunRecord
from trial_projections.scores import RunInput

__all__ = [
    "CAUSES", "Bounds", "Bridge", "BridgeEnd", "Cause", "Move", "Side", "Slot", "SlotChange", "Step"
]  # fmt: skip

Cause = Literal[
    "answers changed", "lost to errors", "regained", "override", "rubric", "gold",
    "rubric and gold", "judge", "later events", "denominator",
]  # fmt: skip

CAUSES: tuple[Cause, ...] = (
    "answers changed", "lost to errors", "regained", "override", "rubric", "gold",
    "rubric and gold", "judge", "later events", "denominator",
)  # fmt: skip
"""In the order in which they are shown."""

Bounds = tuple[Fraction, Fraction]
Slot = tuple[str, int]


class BridgeEnd(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two numbers, and all that it depends on."""

    run: RunRecord
    """The run."""
    source: RunInput
    """Its input."""
    metric: str
    """The metric."""
    gold: Mapping[str, str | None]
    """Commitment of every question's gold; None where it has none."""
    answer_digest: Callable[[Mark], bytes | None]
    """From an answer.submitted to the digest of its text; None where it has none any more."""

    @property
    def rubric(self) -> Rubric:
        """The rubric."""
        return self.source.rubric

    @property
    def rules(self) -> Metric:
        """The metric's own part of it."""
        return self.source.rubric.metrics[self.metric]

    @property
    def root(self) -> str:
        """The run that has the trials."""
        return self.run.derived_from or self.run.name

    @property
    def scale(self) -> Bounds:
        """Lowest and highest score."""
        low, high = self.rules.scale
        return parse_rational(low), parse_rational(high)


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """How a slot counts in one of the two numbers."""

    trial: str | None
    """The session that counts."""
    outcome: str
    """Its outcome class."""
    low: str | None
    """Lowest score; None where it does not count."""
    high: str | None
    """Highest score; equal to the lowest where decided."""
    judgment: str | None
    """Id of the judgment that decides."""
    by: str | None
    """code, model or human."""
    grader: str | None
    """`name@version`, or the person."""
    event: EventReference | None
    """The judgment's event."""


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One cause's part in what a slot adds."""

    cause: Cause
    """The cause."""
    low: str
    """Change of the slot's lowest score, rational text."""
    high: str
    """Change of its highest."""
    because: list[str]
    """The rules that changed, where rules did."""


class SlotChange(msgspec.Struct, frozen=True, kw_only=True):
    """A slot that counts otherwise in the new number."""

    slot: str
    """`question#repetition`."""
    old: Side | None
    """In the old number; None where it is not planned there."""
    new: Side | None
    """In the new number."""
    moves: list[Move]
    """How it got from one to the other; none where only its class is another."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One cause's part in the difference of the two numbers."""

    cause: Cause
    """The cause."""
    slots: int
    """Slots that it moved."""
    up: int
    """Of these, how many it raised."""
    down: int
    """How many it lowered."""
    low: str
    """Its part at the lower end, rational text."""
    high: str
    """Its part at the upper end."""


class Bridge(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two numbers, taken apart."""

    old_run: str
    """Run of the old number."""
    old_metric: str
    """Its metric."""
    old: Range
    """The old number."""
    new_run: str
    """Run of the new number."""
    new_metric: str
    """Its metric."""
    new: Range
    """The new number."""
    low: str
    """New less old at the lower end, rational text."""
    high: str
    """New less old at the upper end."""
    steps: list[Step]
    """Its parts, one a cause; they add up to `low` and `high`."""
    unmoved: int
    """Slots that count alike in both."""
    changes: list[SlotChange]
    """Every other slot, in the order of the new number."""
    rubric: list[str]
    """What gives verdicts or scores otherwise under the new metric, in words."""
