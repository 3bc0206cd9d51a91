"""The way from one number to another on a screen: what each cause adds, and the slots that moved.

Invariant: the parts shown are those of the bridge, rounded for the eye only; the JSON form has them
exactly.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trial_cli.output import clean
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
CAUSE, WAY, TRIALS, POINTS = 20, 24, 8, 10
"""Widths of the columns."""


def bridge_lines(found: "Bridge", scale: tuple[str, str]) -> list[str]:
    """Return what each cause adds to the difference of two numbers.

    Args:
        found: the bridge.
        scale: the new metric's scale.
    """
    both = not (found.old.is_point and found.new.is_point)
    unit = "points" if scale == SHARE else "value"
    ends = f"{'lower':>{POINTS}}{'upper':>{POINTS}}" if both else f"{unit:>{POINTS}}"
    lines = [
        *number_lines("from", found.old_run, found.old_metric, found.old, scale),
        " " * (CAUSE + WAY) + f"{'trials':>{TRIALS}}{ends}",
    ]
    same: list[str] = []
    for step in found.steps:
        if not step.slots and (step.low, step.high) == ("0", "0"):
            same.append(step.cause)
            continue
        lines.append(
            f"  {step.cause:<{CAUSE - 2}}{directions(step):<{WAY}}{step.slots:>{TRIALS}}"
            + ends_text(step.low, step.high, scale, both=both)
        )
    if same:
        lines += wrapped("  nothing by", ", ".join(same), indent=CAUSE)
    total = ends_text(found.low, found.high, scale, both=both)
    lines.append(f"{'  together':<{CAUSE + WAY + TRIALS}}{total}")
    lines += number_lines("to", found.new_run, found.new_metric, found.new, scale)
    if found.rubric:
        lines += wrapped("rule", "; ".join(found.rubric), indent=6)
    return lines


def number_lines(
    word: str, run: str, metric: str, number: "Range", scale: tuple[str, str]
) -> list[str]:
    """Return one of the two numbers with where it stands."""
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
    """Return the slots that count otherwise: both judgments of each, and the rule that changed."""
    lines: list[str] = []
    for change in changes[:most]:
        old, new = side_text(change.old), side_text(change.new)
        lines += wrapped(f"  {clean(change.slot)}", f"{old} -> {new}", indent=14)
        causes = "; ".join(cause_text(move.cause, move.because) for move in change.moves)
        if causes:
            lines += wrapped("", f"by {causes}", indent=14)
    if most is not None and len(changes) > most:
        lines.append(f"  … {len(changes) - most} more: --json names all {len(changes)}")
    return lines


def cause_text(cause: str, because: "Sequence[str]") -> str:
    """Return a cause with the rules that changed; where they are many, with their names."""
    if not because:
        return cause
    told = ", ".join(because)
    if len(told) > LONGEST_RULES:
        told = ", ".join(text.partition(":")[0] for text in because)
    return f"{cause} ({told})"


def side_text(side: "Side | None") -> str:
    """Return how a slot counts in one number, and the judgment behind it."""
    if side is None:
        return "not planned"
    score = side.low if side.low == side.high else f"{side.low} to {side.high}"
    text = f"{side.outcome.replace('_', ' ')} {'left out' if side.low is None else score}"
    if side.event is not None:
        text += f" [{side.grader} seq {side.event.seq}]"
    return text


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
