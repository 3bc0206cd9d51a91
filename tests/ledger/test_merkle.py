"""The tree is that of RFC 6962: published roots, a recursive reference, and every earlier root."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.merkle import (
    EMPTY_ROOT,
    Frontier,
    leaf_hash,
    node_hash,
    peak_positions,
    root_at,
)

LEAVES = [
    bytes.fromhex(text)
    for text in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
"""The eight entries that Certificate Transparency implementations test with."""

ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""Their published roots, for 0 to 8 entries."""

LARGEST = 130
"""Crosses a power of two twice."""


def naive_root(leaves: list[bytes]) -> bytes:
    """Return MTH(D[n]) exactly as RFC 6962, section 2.1, defines it."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return sha256(b"\x01" + naive_root(leaves[:half]) + naive_root(leaves[half:])).digest()


class Grown:
    """A tree grown leaf by leaf, with every node that it finished."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.frontier = Frontier(0, [])
        self.nodes: dict[tuple[int, int], bytes] = {}
        for position, leaf in enumerate(leaves):
            self.nodes[0, position] = leaf_hash(leaf)
            for level, place, digest in self.frontier.append(leaf_hash(leaf)):
                assert (level, place) not in self.nodes, "a node is finished once"
                self.nodes[level, place] = digest

    def node(self, level: int, position: int) -> bytes:
        """Return a stored node."""
        return self.nodes[level, position]


@pytest.mark.parametrize("size", range(9))
def test_published_roots(size: int) -> None:
    """The roots over the first 0 to 8 well-known entries are the published ones."""
    assert Grown(LEAVES[:size]).frontier.root().hex() == ROOTS[size]


def test_the_empty_root_is_the_hash_of_nothing() -> None:
    """RFC 6962: MTH({}) = SHA-256()."""
    assert EMPTY_ROOT.hex() == ROOTS[0]


def test_every_size_agrees_with_the_recursive_definition() -> None:
    """The growing edge gives the root of the definition at each size up to 130."""
    leaves = [number.to_bytes(2, "big") for number in range(LARGEST)]
    frontier = Frontier(0, [])
    for size in range(LARGEST):
        assert frontier.root() == naive_root(leaves[:size])
        frontier.append(leaf_hash(leaves[size]))
    assert frontier.root() == naive_root(leaves)


def test_every_stored_node_is_the_root_of_its_part() -> None:
    """A node at (level, position) covers exactly 2^level entries from position * 2^level."""
    leaves = [number.to_bytes(2, "big") for number in range(LARGEST)]
    nodes = Grown(leaves).nodes
    for (level, position), digest in nodes.items():
        first = position << level
        assert digest == naive_root(leaves[first : first + (1 << level)])
    finished = {(level, position) for level in range(8) for position in range(LARGEST >> level)}
    assert set(nodes) == finished


def test_the_root_at_an_earlier_size_is_the_root_of_that_time() -> None:
    """From the nodes of the whole tree, every earlier root can be had."""
    leaves = [number.to_bytes(2, "big") for number in range(LARGEST)]
    tree = Grown(leaves)
    for size in range(LARGEST + 1):
        assert root_at(size, tree.node) == naive_root(leaves[:size])


@given(st.integers(min_value=0, max_value=2**53))
def test_peaks_cover_a_log_without_gaps(size: int) -> None:
    """Peaks are ordered, touch one another, shrink, and end where the log ends."""
    covered = 0
    levels = []
    for level, position in peak_positions(size):
        assert position << level == covered
        covered += 1 << level
        levels.append(level)
    assert covered == size
    assert levels == sorted(set(levels), reverse=True)


@given(st.lists(st.binary(max_size=8), max_size=40), st.integers(min_value=0, max_value=40))
def test_a_loaded_edge_goes_on_like_the_one_that_grew(leaves: list[bytes], cut: int) -> None:
    """Stopping anywhere and loading the edge from stored nodes changes nothing."""
    cut = min(cut, len(leaves))
    tree = Grown(leaves)
    loaded = Frontier.load(cut, tree.node)
    for leaf in leaves[cut:]:
        loaded.append(leaf_hash(leaf))
    assert loaded.root() == tree.frontier.root()
    assert loaded.size == len(leaves)


def test_leaves_and_nodes_cannot_be_confused() -> None:
    """Two leaves together are not the leaf of their hashes (RFC 6962: the 0x00 and 0x01 prefix)."""
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert node_hash(left, right) != leaf_hash(left + right)


def test_nonsense_is_refused() -> None:
    """A negative size, and an edge with too few peaks, are faults of the caller."""
    with pytest.raises(AssertionError):
        peak_positions(-1)
    with pytest.raises(AssertionError):
        Frontier(3, [b"one peak"])
