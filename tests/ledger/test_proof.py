"""Inclusion, consistency and joint proofs: every one up to 130 leaves, and nothing else.

The rolling hashes are those of the IETF draft on Merkle tree certificates (appendix C.1), which the
transparency-dev project checks itself against; the eight roots are Certificate Transparency's.
"""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.errors import VerificationError
from trial_ledger.merkle import Frontier, leaf_hash, node_hash, root_at
from trial_ledger.proof import (
    InclusionProof,
    consistency_path,
    format_consistency,
    format_inclusion,
    inclusion_path,
    parse_inclusion,
    root_of_several,
    several_path,
    verify_consistency,
    verify_inclusion,
)

MOST = 130
SUBTREES = "b82806ad4265bb151c1119c0f4db437bb4d1a1f887b3a7fba1cd4ebf552e3e81"
INCLUSIONS = "ac2a8f989e44d99e399db448050ff5f19757df53cfb716aa81015d3955d8163f"
CT_LEAVES = (
    b"", b"\x00", b"\x10", b" !", b"01", b"@ABC", b"PQRSTUVW", b"`abcdefghijklmno",
)  # fmt: skip
CT_ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


def leaf(index: int) -> bytes:
    """Return the hash of a leaf of one byte."""
    return leaf_hash(bytes([index]))


@cache
def node(level: int, position: int) -> bytes:
    """Return the hash of a finished subtree."""
    if level == 0:
        return leaf(position)
    return node_hash(node(level - 1, 2 * position), node(level - 1, 2 * position + 1))


@cache
def root(size: int) -> bytes:
    """Return the root over the first leaves."""
    return root_at(size, node)


def shifted(start: int) -> Callable[[int, int], bytes]:
    """Return the nodes of a tree that begins at a leaf, aligned as its size needs."""
    return lambda level, position: node(level, position + (start >> level))


def is_subtree(start: int, end: int) -> bool:
    """Return whether leaves are a subtree: aligned to the power of two that covers them."""
    return start <= end and start % (1 << max(end - start - 1, 0).bit_length()) == 0


def test_the_roots_of_certificate_transparency() -> None:
    """RFC 6962's reference trees of one to eight leaves have the published roots."""
    frontier = Frontier(0, [])
    for content, expected in zip(CT_LEAVES, CT_ROOTS, strict=True):
        frontier.append(leaf_hash(content))
        assert frontier.root().hex() == expected


def test_every_subtree_has_its_hash() -> None:
    """The rolling hash over all subtrees of up to 130 leaves is the published one."""
    rolling = sha256()
    for end in range(MOST + 1):
        for start in range(end + 1):
            if is_subtree(start, end):
                found = root_at(end - start, shifted(start))
                rolling.update(f"[{start}, {end}) {found.hex()}\n".encode())
    assert rolling.hexdigest() == SUBTREES


def test_every_inclusion_proof_is_the_published_one() -> None:
    """The rolling hash over every proof in every subtree is the published one."""
    rolling = sha256()
    for end in range(MOST + 1):
        for start in range(end + 1):
            if is_subtree(start, end):
                for index in range(start, end):
                    path = inclusion_path(index - start, end - start, shifted(start))
                    line = f"{index} [{start}, {end})" + "".join(f" {one.hex()}" for one in path)
                    rolling.update(line.encode() + b"\n")
    assert rolling.hexdigest() == INCLUSIONS


def test_all_proofs_up_to_130_leaves_verify() -> None:
    """8,515 of inclusion and 8,515 of consistency; cut or prolonged, none of them does."""
    count = 0
    for size in range(1, MOST + 1):
        for index in range(size):
            path = inclusion_path(index, size, node)
            verify_inclusion(leaf(index), index=index, size=size, root=root(size), path=path)
            count += 1
        for old in range(1, size + 1):
            path = consistency_path(old, size, node)
            consistent(old, size, path)
            count += 1
            with pytest.raises(VerificationError):
                consistent(old, size, [*path, root(1)])
    assert count == 17_030


def consistent(old: int, size: int, path: Sequence[bytes], **changes: bytes) -> None:
    """Check one consistency proof."""
    roots = {"old_root": root(old), "root": root(size), **changes}
    verify_consistency(old_size=old, size=size, path=path, **roots)


def refused(check: Callable[[], object]) -> None:
    """Check that something does not verify."""
    with pytest.raises(VerificationError):
        check()


@given(st.integers(1, MOST), st.data())
def test_no_other_inclusion_verifies(size: int, data: st.DataObject) -> None:
    """Another leaf, place, root, a cut, a prolonged or a changed path: each is refused."""
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(index, size, node)
    good = {"index": index, "size": size, "root": root(size), "path": path}
    verify_inclusion(leaf(index), **good)  # type: ignore[arg-type]
    other = (index + 1) % MOST
    changes: list[dict[str, object]] = [
        {"root": root(size % MOST + 1)},
        {"path": [*path, leaf(0)]},
        {"path": [leaf(0), *path]},
        {"index": -1},
        {"index": size},
        {"size": 0},
    ]
    if path:
        place = data.draw(st.integers(0, len(path) - 1))
        bit = data.draw(st.integers(0, 255))
        flipped = bytearray(path[place])
        flipped[bit // 8] ^= 1 << bit % 8
        changes += [
            {"path": path[:-1]},
            {"path": path[1:]},
            {"path": [*path[:place], bytes(flipped), *path[place + 1 :]]},
        ]
    for change in changes:
        refused(lambda change=change: verify_inclusion(leaf(index), **{**good, **change}))  # type: ignore[misc]
    refused(lambda: verify_inclusion(leaf(other), **good))  # type: ignore[arg-type]


@given(st.integers(1, MOST), st.data())
def test_no_other_consistency_verifies(size: int, data: st.DataObject) -> None:
    """Other roots, sizes, a cut or changed path: each is refused; so is an empty log."""
    old = data.draw(st.integers(1, size))
    path = consistency_path(old, size, node)
    consistent(old, size, path)
    refused(lambda: consistent(old, size, path, old_root=root(old % MOST + 1)))
    refused(lambda: consistent(old, size, path, root=root(size % MOST + 1)))
    refused(
        lambda: verify_consistency(
            old_size=0, old_root=sha256(b"").digest(), size=size, root=root(size), path=[]
        )
    )
    refused(
        lambda: verify_consistency(
            old_size=size + 1, old_root=root(1), size=size, root=root(size), path=path
        )
    )
    for place in range(len(path)):
        refused(lambda place=place: consistent(old, size, path[:place] + path[place + 1 :]))  # type: ignore[misc]
        flipped = bytes([path[place][0] ^ 1]) + path[place][1:]
        changed = [*path[:place], flipped, *path[place + 1 :]]
        refused(lambda changed=changed: consistent(old, size, changed))  # type: ignore[misc]


@given(st.integers(1, MOST), st.data())
def test_several_leaves_have_one_proof(size: int, data: st.DataObject) -> None:
    """It leads to the root, and with a leaf less or more, or another hash, it does not."""
    places = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    indices = sorted(places)
    path = several_path(indices, size, node)
    leaves = {index: leaf(index) for index in indices}
    assert root_of_several(leaves, size, path) == root(size)
    assert len(path) <= sum(len(inclusion_path(index, size, node)) for index in indices)
    refused(lambda: root_of_several(leaves, size, [*path, root(1)]))
    refused(lambda: root_of_several({}, size, path))
    refused(lambda: root_of_several({**leaves, size: leaf(0)}, size, path))
    if path:
        refused(lambda: root_of_several(leaves, size, path[:-1]))
        changed = [bytes([path[0][0] ^ 1]) + path[0][1:], *path[1:]]
        assert root_of_several(leaves, size, changed) != root(size)
    swapped = {**leaves, indices[0]: leaf((indices[0] + 1) % MOST)}
    assert root_of_several(swapped, size, path) != root(size)


def test_a_proof_is_written_and_read_as_c2sp_says() -> None:
    """Header, index, hashes in base64, an empty line, the note."""
    path = tuple(inclusion_path(5, 9, node))
    proof = InclusionProof(index=5, path=path, note="origin\n9\nroot\n\n— origin signature\n")
    text = format_inclusion(proof)
    assert text.startswith("c2sp.org/tlog-proof@v1\nindex 5\n")
    assert parse_inclusion(text) == proof
    old = format_consistency(4, consistency_path(4, 9, node), "note\n")
    assert old.splitlines()[0] == "old 4"
    assert old.endswith("\n\nnote\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2"),
        ("index 5", "index 05"),
        ("index 5", "index -5"),
        ("index 5", "index 5 "),
        ("index 5", "place 5"),
        ("index 5\n", ""),
        ("\n\n", "\n"),
        ("=\n", "\n"),
        ("index 5\n", "index 5\n" + "AAAA\n"),
        ("index 5\n", "index 5\n" + "*" * 44 + "\n"),
        ("index 5\n", "index 5\n" + ("A" * 43 + "=\n") * 70),
        ("index 5\n", "index 5\n" + "A" * 42 + "B=\n"),
    ],
)
def test_nothing_else_is_read_as_a_proof(before: str, after: str) -> None:
    """Another header, an index in other digits, hashes in other spellings, too many of them."""
    proof = InclusionProof(index=5, path=tuple(inclusion_path(5, 9, node)), note="note\n")
    text = format_inclusion(proof)
    assert before in text
    refused(lambda: parse_inclusion(text.replace(before, after, 1)))
