"""How many trials of each stratum are reviewed, and which ones.

Invariant: at least a tenth of every stratum, and so of all; the draw depends on the seed and the
trials' names alone, so that nobody can steer it and anybody can make it again.
"""

from collections.abc import Callable, Iterable, Mapping

from blake3 import blake3

__all__ = ["DIVISOR", "FLOOR", "Digest", "draw", "quota", "quotas"]

DIVISOR = 10
"""One of so many is reviewed."""
FLOOR = 5
"""Reviews of a stratum that has as many trials, where nothing else is declared."""

Digest = Callable[[bytes], bytes]
"""A keyless hash of bytes."""


def blake3_digest(content: bytes) -> bytes:
    """Return the BLAKE3 of bytes."""
    return blake3(content).digest()


def quota(trials: int, floor: int = FLOOR) -> int:
    """Return how many of a stratum are reviewed: a tenth, rounded up, and at least the floor.

    Args:
        trials: how many there are; of none, none is reviewed.
        floor: the least number, as far as there are as many.
    """
    return min(trials, max(-(-trials // DIVISOR), floor))


def quotas(strata: Mapping[str, int], floor: int = FLOOR) -> dict[str, int]:
    """Return how many of every stratum are reviewed."""
    return {name: quota(trials, floor) for name, trials in strata.items()}


def draw(names: Iterable[str], seed: str, count: int, digest: Digest = blake3_digest) -> list[str]:
    """Return the names with the smallest hashes of `seed`, a zero byte and the name.

    A larger count adds names and takes none away.

    Args:
        names: the trials of a stratum, in any order.
        seed: the seed that the rubric fixed before anything was judged.
        count: how many.
        digest: the hash.
    """

    def order(name: str) -> tuple[bytes, str]:
        return digest(b"\0".join((seed.encode("utf-8"), name.encode("utf-8")))), name

    return sorted(names, key=order)[:count]
