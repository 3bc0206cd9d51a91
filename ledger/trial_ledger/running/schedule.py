"""In which order slots are asked: random, the same for the same seed, manifests side by side.

Invariant: the order of two slots depends on the seed and on nothing else, so that a resumed run
keeps the order of the one that was interrupted.
"""

from collections.abc import Iterable, Sequence

import msgspec
from blake3 import blake3

from trial_ledger.identifiers import TrialKey

__all__ = ["Slot", "ordered", "trial_seed"]

SEED_BITS = 31
"""Seeds of trials fit into a signed 32-bit integer: what most samplers take."""


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """One planned trial that is to be started."""

    run: str
    """Name of its run."""
    key: TrialKey
    """Its key, with the session that is begun."""


def drawn(seed: int, *parts: object) -> bytes:
    """Return bytes that follow from a seed and from what they are for (BLAKE3)."""
    return blake3("\0".join(str(part) for part in (seed, *parts)).encode()).digest()


def ordered(slots: Iterable[Slot], seed: int) -> Sequence[Slot]:
    """Return slots in the order of a seed.

    The same question and repetition stands together for every run, the runs in an order of its own,
    so that what changes in the world while a run executes meets all configurations alike.
    """

    def place(slot: Slot) -> tuple[bytes, bytes]:
        asked = (slot.key.question, slot.key.repetition)
        return drawn(seed, *asked), drawn(seed, *asked, slot.run)

    return sorted(slots, key=place)


def trial_seed(seed: int | None, key: TrialKey) -> int | None:
    """Return the seed of a repetition of a question; None where the manifest seeds nothing.

    Another session of the slot has the same seed: it is another try at the same thing.
    """
    if seed is None:
        return None
    number = int.from_bytes(drawn(seed, key.question, key.repetition)[:4], "big")
    return number & ((1 << SEED_BITS) - 1)
