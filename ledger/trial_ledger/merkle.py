"""The SHA-256 tree over the documents (RFC 6962, section 2.1; RFC 9162, section 2.1.1).

Invariant: leaf i is the document of event i + 1; only nodes of finished subtrees are stored, so
that the tree, like the log, only ever grows. Leaves are not stored: they are one hash away from
their documents.
"""

from collections.abc import Callable
from hashlib import sha256

__all__ = ["EMPTY_ROOT", "Frontier", "leaf_hash", "node_hash", "peak_positions", "root_at"]

EMPTY_ROOT = sha256(b"").digest()
"""Root of a log without events."""


def leaf_hash(document: bytes) -> bytes:
    """Return SHA-256(0x00 ‖ document)."""
    return sha256(b"\x00" + document).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 ‖ left ‖ right)."""
    return sha256(b"\x01" + left + right).digest()


def peak_positions(size: int) -> list[tuple[int, int]]:
    """Return (level, position) of the largest finished subtrees of a log, left to right."""
    assert size >= 0, "a log has no negative size"
    peaks: list[tuple[int, int]] = []
    covered = 0
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            peaks.append((level, covered >> level))
            covered += 1 << level
    return peaks


def bagged(peaks: list[bytes]) -> bytes:
    """Return the root above finished subtrees, given left to right."""
    if not peaks:
        return EMPTY_ROOT
    root = peaks[-1]
    for peak in reversed(peaks[:-1]):
        root = node_hash(peak, root)
    return root


def root_at(size: int, node: Callable[[int, int], bytes]) -> bytes:
    """Return the root that the log had at an earlier size, from at most log2(size) nodes.

    Args:
        size: number of events, at most the present one.
        node: the hash at (level, position); level 0 is the leaf of that event.
    """
    return bagged([node(level, position) for level, position in peak_positions(size)])


class Frontier:
    """The right edge of the tree: all that is needed to append and to know the root."""

    def __init__(self, size: int, peaks: list[bytes]) -> None:
        assert len(peaks) == size.bit_count(), "one peak for every bit of the size"
        self.size = size
        self.peaks = peaks

    @classmethod
    def load(cls, size: int, node: Callable[[int, int], bytes]) -> "Frontier":
        """Return the frontier of a stored log."""
        return cls(size, [node(level, position) for level, position in peak_positions(size)])

    def append(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf; return the (level, position, hash) of the subtrees that it finished."""
        finished: list[tuple[int, int, bytes]] = []
        carry, level, position = leaf, 0, self.size
        while position & 1:
            carry = node_hash(self.peaks.pop(), carry)
            level += 1
            position >>= 1
            finished.append((level, position, carry))
        self.peaks.append(carry)
        self.size += 1
        return finished

    def root(self) -> bytes:
        """Return the root over everything appended so far."""
        return bagged(self.peaks)
