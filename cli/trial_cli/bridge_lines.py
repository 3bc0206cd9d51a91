"""The way from one number to another on a screen: what each cause adds, and the slots that moved.

Invariant: the parts shown are those of the bridge, rounded for the eye only; the JSON form has them
exactly.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trial_cli.words import decimal_of, percent_range, range_text, wrapped
from trial_ledger.exact import parse_rational

if TYPE_CHECKING:
    from trial_projections.aggregate import Range
    from trial_projections.bridge_structs import Bridge, Side, SlotChange, Step

__all__ = ["bridge_lines", "change_lines", "change_row"]

SHOWN_CHANGES = 12
"""Slots that a screen names; the JSON form names all."""
LONGEST_RULES = 120
"""Characters of changed rules that stand beside a slot; above all slots they stand whole."""
SHARE = ("0", "1")
CAUSE, WAY, SLOTS, POINTS = 20, 24, 8, 10
"""Widths of the columns."""
SLOT = 14
"""Where the words about slots begin."""
TIED = "\N{NO-BREAK SPACE}"
"""Stands for a blank at which no line is broken."""


def bridge_lines(found: "Bridge", scale: tuple[str, str]) -> list[str]:
    """Return what each cause adds to the difference of two numbers.

    Args:
        found: the bridge.
        scale: the new metric's scale.
    """
    moving = [step for step in found.steps if step.slots or (step.low, step.high) != ("0", "0")]
    lines = moving_lines(found, moving, scale) if moving else same_lines(found, scale)
    if found.rubric:
        lines += wrapped("rule", "; ".join(found.rubric), indent=6)
    return lines


def same_lines(found: "Bridge", scale: tuple[str, str]) -> list[str]:
    """Return that two numbers are one, with nothing between them."""
    metric = found.new_metric
    if found.old_metric != metric:
        metric = f"{found.old_metric} and {metric}"
    return number_lines("same", f"{found.old_run} and {found.new_run}", metric, found.new, scale)


def moving_lines(found: "Bridge", moving: "list[Step]", scale: tuple[str, str]) -> list[str]:
    """Return the way from one number to another, a line a cause."""
    both = not (found.old.is_point and found.new.is_point)
    unit = "points" if scale == SHARE else "value"
    ends = f"{'lower':>{POINTS}}{'upper':>{POINTS}}" if both else f"{unit:>{POINTS}}"
    lines = [
        *number_lines("from", found.old_run, found.old_metric, found.old, scale),
        " " * (CAUSE + WAY) + f"{'slots':>{SLOTS}}{ends}",
    ]
    lines += [
        f"  {step.cause:<{CAUSE - 2}}{directions(step):<{WAY}}{step.slots:>{SLOTS}}"
        + ends_text(step.low, step.high, scale, both=both)
        for step in moving
    ]
    if len(moving) > 1:
        total = ends_text(found.low, found.high, scale, both=both)
        lines.append(f"{'  together':<{CAUSE + WAY + SLOTS}}{total}")
    return [*lines, *number_lines("to", found.new_run, found.new_metric, found.new, scale)]


def number_lines(
    word: str, run: str, metric: str, number: "Range", scale: tuple[str, str]
) -> list[str]:
    """Return a number with where it stands."""
    lines = wrapped(word, f"{metric} of {run}", indent=6)
    return [*lines, f"      {percent_range(number, scale)}  {range_text(number)}"]


def directions(step: "Step") -> str:
    """Return how many slots a cause raised and lowered."""
    parts = [f"{count} {word}" for count, word in ((step.up, "up"), (step.down, "down")) if count]
    return ", ".join(parts)


def ends_text(low: str, high: str, scale: tuple[str, str], *, both: bool) -> str:
    """Return a signed change at one end, or at both."""
    ends = (low, high) if both else (low,)
    return "".join(f"{signed(end, scale):>{POINTS}}" for end in ends)


def signed(text: str, scale: tuple[str, str]) -> str:
    """Return a change in percent points of a share, else as a decimal, with its sign."""
    value = parse_rational(text)
    shown = decimal_of(value * 100, 2) if scale == SHARE else decimal_of(value)
    return shown if value <= 0 else f"+{shown}"


def change_lines(changes: "Sequence[SlotChange]", *, most: int | None = SHOWN_CHANGES) -> list[str]:
    """Return the slots that count otherwise: both judgments of each, and the rule that changed.

    Slots that went the same way for the same cause stand together; those that count in one number
    only come last.
    """
    groups: dict[tuple[str, str, str], list[SlotChange]] = {}
    for change in changes:
        causes = "; ".join(cause_text(move.cause, move.because) for move in change.moves)
        groups.setdefault((side_text(change.old), side_text(change.new), causes), []).append(change)
    lines: list[str] = []
    left = len(changes) if most is None else most
    for (old, new, causes), alike in sorted(groups.items(), key=lambda group: not group[0][2]):
        if left <= 0:
            break
        count = "1 slot" if len(alike) == 1 else f"{len(alike)} slots"
        lines += wrapped(f"  {count}", f"{old} -> {new}", indent=SLOT)
        if causes:
            lines += wrapped("", f"by {causes}", indent=SLOT)
        named = ", ".join(map(place_text, alike[:left]))
        lines += [line.replace(TIED, " ") for line in wrapped("", named, indent=SLOT)]
        left -= len(alike)
    unnamed = len(changes) - (most or len(changes))
    if unnamed > 0:
        lines.append(f"  … {unnamed} more: --json names all {len(changes)}")
    return lines


def place_text(change: "SlotChange") -> str:
    """Return a slot and where its two judgments stand in the log, in words that stay together."""
    seqs = [
        None if side is None or side.event is None else side.event.seq
        for side in (change.old, change.new)
    ]
    if seqs == [None, None]:
        return change.slot
    places = " -> ".join("none" if seq is None else str(seq) for seq in seqs)
    return f"{change.slot} seq {places}".replace(" ", TIED)


def cause_text(cause: str, because: "Sequence[str]") -> str:
    """Return a cause with the rules that changed; where they are many, with their names."""
    if not because:
        return cause
    told = ", ".join(because)
    if len(told) > LONGEST_RULES:
        told = ", ".join(text.partition(":")[0] for text in because)
    return f"{cause} ({told})"


def side_text(side: "Side | None") -> str:
    """Return how a slot counts in one number, and who decided."""
    if side is None:
        return "not planned"
    score = side.low if side.low == side.high else f"{side.low} to {side.high}"
    text = f"{side.outcome.replace('_', ' ')} {'left out' if side.low is None else score}"
    return text if side.grader is None else f"{text} [{side.grader}]"


def change_row(change: "SlotChange") -> dict[str, object]:
    """Return a slot that counts otherwise as one flat row."""
    row: dict[str, object] = {"slot": change.slot}
    for word, side in (("old", change.old), ("new", change.new)):
        for field in ("trial", "outcome", "low", "high", "judgment", "grader"):
            row[f"{word}_{field}"] = None if side is None else getattr(side, field)
        event = None if side is None else side.event
        row[f"{word}_seq"] = None if event is None else event.seq
        row[f"{word}_hash"] = None if event is None else event.hash
    row["causes"] = [move.cause for move in change.moves]
    row["because"] = [text for move in change.moves for text in move.because]
    row["low"] = [move.low for move in change.moves]
    row["high"] = [move.high for move in change.moves]
    return row
