"""Replays a recording, crashes after every operation, and looks at what each crash can leave."""

import collections
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from crash_cases import Disk, Image
from recording_cases import ACKNOWLEDGED, Operation
from survival_cases import Fault, Life, digest_of, look_with_the_product

__all__ = ["Outcome", "final_image", "replay"]


@dataclass
class Outcome:
    """What a replay found."""

    states: int = 0
    """States looked at: an operation, and what a crash after it leaves."""
    different: set[bytes] = field(default_factory=set)
    """Digests of the states."""
    whole: int = 0
    """States that the product itself opened, verified and went on with."""
    faults: collections.Counter[str] = field(default_factory=collections.Counter)
    """What was wrong, and in how many states."""
    first: dict[str, str] = field(default_factory=dict)
    """The first place of each fault."""


def final_image(operations: Sequence[Operation]) -> Image:
    """Return what is there after everything was done and synced."""
    disk = Disk()
    for operation in operations:
        disk.do(operation)
    return disk.image(len(disk.pending), lambda _: True)


def bounds(operations: Sequence[Operation]) -> list[tuple[int, int]]:
    """Return for each place how many events are acknowledged, and how many with those in flight."""
    found: list[tuple[int, int]] = []
    acknowledged = 0
    sizes = [item.offset for item in operations if item.kind == ACKNOWLEDGED]
    for operation in operations:
        if operation.kind == ACKNOWLEDGED:
            acknowledged = operation.offset
        later = (size for size in sizes if size > acknowledged)
        found.append((acknowledged, next(later, acknowledged)))
    return found


def replay(
    operations: Sequence[Operation],
    folder: Path,
    *,
    count: int,
    every: int,
    seed: int = 1,
    stop_at: int | None = None,
) -> Outcome:
    """Crash after every operation and look at the states.

    Args:
        operations: the recording, whole.
        folder: an empty one for files, best in memory.
        count: states after each operation, where more than one is possible.
        every: of so many sound states the product itself opens one.
        seed: of the chance by which states are chosen.
        stop_at: enough faults.
    """
    (folder / "quick").mkdir()
    (folder / "whole").mkdir()
    life = Life(final_image(operations), folder / "quick")
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    disk, found, has_key = Disk(), Outcome(), False
    for place, (operation, (least, most)) in enumerate(
        zip(operations, bounds(operations), strict=True)
    ):
        disk.do(operation)
        has_key = has_key or operation.kind == ACKNOWLEDGED  # Its making is the first thing told.
        for image in disk.states(random, count):
            found.states += 1
            found.different.add(digest_of(image))
            try:
                size = life.size_of(image, has_key=has_key)
                require(size, least, most)
                if found.states % every == 0:
                    found.whole += 1
                    look_with_the_product(image, folder / "whole", size)
            except Fault as fault:
                what = str(fault.args[0])
                found.faults[what] += 1
                found.first.setdefault(what, f"after operation {place}: {fault}")
        if stop_at is not None and found.faults.total() >= stop_at:
            break
    return found


def require(size: int, least: int, most: int) -> None:
    """Check that what is found ends with the last acknowledged commit, or the one in flight.

    Raises:
        Fault: it does not.
    """
    if size not in {least, most}:
        kind = "lost" if size < least else "not whole"
        raise Fault(kind, f"{size} events found, {least} acknowledged, {most} with those in flight")
