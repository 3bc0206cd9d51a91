"""Inclusion and consistency proofs of the tree (RFC 9162, sections 2.1.3 and 2.1.4).

Invariant: a check takes size and root as trusted facts, which its caller has from a verified signed
head, and the index from the document itself; a proof never says where it belongs (an honest proof
verifies under many pairs of index and size).
"""

import base64
import binascii
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

import msgspec

from trial_ledger.errors import VerificationError
from trial_ledger.merkle import node_hash

__all__ = [
    "ConsistencyProof",
    "InclusionProof",
    "consistency_path",
    "format_consistency",
    "format_inclusion",
    "hash_of_text",
    "inclusion_path",
    "parse_consistency",
    "parse_inclusion",
    "root_of_several",
    "several_path",
    "verify_consistency",
    "verify_inclusion",
]

Node = Callable[[int, int], bytes]
"""The hash of a finished subtree at (level, position); level 0 is the leaf of that event."""

HEADER = "c2sp.org/tlog-proof@v1"
HASH_BYTES = 32
LONGEST_PATH = 64
"""Hashes of a proof: a log of more than 2^63 events there is none."""


class InclusionProof(msgspec.Struct, frozen=True, kw_only=True):
    """A tlog-proof: what it claims, before anything is checked."""

    index: int
    """Place of the leaf, from 0; not to be trusted."""
    path: tuple[bytes, ...]
    """Hashes from the leaf's sibling upwards."""
    note: str
    """The signed head that it belongs to."""


class ConsistencyProof(msgspec.Struct, frozen=True, kw_only=True):
    """The body of an add-checkpoint request: what it claims, before anything is checked."""

    old_size: int
    """Size of the earlier head; not to be trusted."""
    path: tuple[bytes, ...]
    """The proof."""
    note: str
    """The later signed head."""


def split_of(size: int) -> int:
    """Return the largest power of two below a size over 1."""
    return 1 << (size - 1).bit_length() - 1


def subtree(begin: int, end: int, node: Node) -> bytes:
    """Return the hash over leaves begin to end; a finished one is stored."""
    width = end - begin
    if width & (width - 1) == 0:
        level = width.bit_length() - 1
        return node(level, begin >> level)
    middle = begin + split_of(width)
    return node_hash(subtree(begin, middle, node), subtree(middle, end, node))


def inclusion_path(index: int, size: int, node: Node) -> list[bytes]:
    """Return the proof that a leaf is in the log at some size.

    Args:
        index: place of the leaf, from 0; below the size.
        size: number of leaves.
        node: hashes of finished subtrees.
    """
    assert 0 <= index < size, "a leaf of that log"
    path: list[bytes] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + split_of(end - begin)
        if index < middle:
            path.append(subtree(middle, end, node))
            end = middle
        else:
            path.append(subtree(begin, middle, node))
            begin = middle
    return path[::-1]


def consistency_path(old: int, size: int, node: Node) -> list[bytes]:
    """Return the proof that the log at an old size is a prefix of the log at another.

    Args:
        old: the earlier size, from 1.
        size: the later size.
        node: hashes of finished subtrees.
    """
    assert 1 <= old <= size, "an earlier size of that log"
    path: list[bytes] = []
    begin, end, whole = 0, size, True
    while old != end:
        middle = begin + split_of(end - begin)
        if old <= middle:
            path.append(subtree(middle, end, node))
            end = middle
        else:
            path.append(subtree(begin, middle, node))
            begin, whole = middle, False
    if not whole:
        path.append(subtree(begin, end, node))
    return path[::-1]


def several_path(indices: Sequence[int], size: int, node: Node) -> list[bytes]:
    """Return the proof that several leaves are in the log: each hash that they do not give, once.

    The hashes stand from left to right, every one as high in the tree as it can be.

    Args:
        indices: places of the leaves, from 0, in order, each once; at least one.
        size: number of leaves.
        node: hashes of finished subtrees.
    """
    path: list[bytes] = []

    def walk(begin: int, end: int, first: int, last: int) -> None:
        if first == last:
            path.append(subtree(begin, end, node))
        elif end - begin > 1:
            middle = begin + split_of(end - begin)
            cut = bisect_left(indices, middle, first, last)
            walk(begin, middle, first, cut)
            walk(middle, end, cut, last)

    walk(0, size, 0, len(indices))
    return path


def root_of_several(leaves: Mapping[int, bytes], size: int, path: Sequence[bytes]) -> bytes:
    """Return the root to which a proof of several leaves leads.

    Args:
        leaves: hash by place, as each leaf's own document says it.
        size: number of leaves of the log, from a verified signed head.
        path: the proof.

    Raises:
        VerificationError: a leaf lies outside the log, or the proof has not as many hashes as it
            must have.
    """
    indices = sorted(leaves)
    if not indices or not 0 <= indices[0] <= indices[-1] < size:
        message = f"the leaves do not lie in a log of {size}"
        raise VerificationError(message)
    hashes = iter(path)

    def walk(begin: int, end: int, first: int, last: int) -> bytes:
        if first == last:
            found = next(hashes, None)
            if found is None:
                raise VerificationError("the proof of several events is too short")
            return found
        if end - begin == 1:
            return leaves[begin]
        middle = begin + split_of(end - begin)
        cut = bisect_left(indices, middle, first, last)
        left = walk(begin, middle, first, cut)
        return node_hash(left, walk(middle, end, cut, last))

    root = walk(0, size, 0, len(indices))
    if next(hashes, None) is not None:
        raise VerificationError("the proof of several events is too long")
    return root


def verify_inclusion(
    leaf: bytes, *, index: int, size: int, root: bytes, path: Sequence[bytes]
) -> None:
    """Check that a leaf stands at a place of a log (RFC 9162, 2.1.3.2).

    Args:
        leaf: its hash.
        index: place of the leaf, from 0, as its own document says.
        size: number of leaves, from a verified signed head.
        root: from the same head.
        path: the proof.

    Raises:
        VerificationError: it does not, or the proof is another one's.
    """
    if not 0 <= index < size:
        message = f"leaf {index} lies outside a log of {size}"
        raise VerificationError(message)
    position, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise VerificationError("the inclusion proof is too long")
        if position & 1 or position == last:
            found = node_hash(sibling, found)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            found = node_hash(found, sibling)
        position >>= 1
        last >>= 1
    if last != 0:
        raise VerificationError("the inclusion proof is too short")
    if found != root:
        raise VerificationError("the inclusion proof leads to another root")


def verify_consistency(
    *, old_size: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]
) -> None:
    """Check that one head is of a prefix of another's log (RFC 9162, 2.1.4.2).

    Args:
        old_size: size of the earlier head, from 1: nothing is consistent with an empty log.
        old_root: its root.
        size: size of the later head.
        root: its root.
        path: the proof; empty where the sizes are equal.

    Raises:
        VerificationError: it is not, or the proof is another one's.
    """
    if not 1 <= old_size <= size:
        message = f"a log of {old_size} cannot be the beginning of one of {size}"
        raise VerificationError(message)
    if old_size == size:
        if path:
            raise VerificationError("the consistency proof is too long")
        before = after = old_root
    else:
        before, after = consistency_roots(old_size, old_root, size, path)
    if before != old_root:
        raise VerificationError("the consistency proof does not lead to the earlier root")
    if after != root:
        raise VerificationError("the consistency proof does not lead to the later root")


def consistency_roots(
    old_size: int, old_root: bytes, size: int, path: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """Return the roots at two sizes to which a proof leads.

    Raises:
        VerificationError: it has not as many hashes as it must have.
    """
    hashes = list(path)
    if old_size & (old_size - 1) == 0:
        hashes.insert(0, old_root)
    if not hashes:
        raise VerificationError("the consistency proof is too short")
    position, last = old_size - 1, size - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    before = after = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            raise VerificationError("the consistency proof is too long")
        if position & 1 or position == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        position, last = position >> 1, last >> 1
    if last != 0:
        raise VerificationError("the consistency proof is too short")
    return before, after


def format_inclusion(proof: InclusionProof) -> str:
    """Return a proof as a C2SP tlog-proof."""
    lines = [HEADER, f"index {proof.index}", *map(encoded, proof.path), ""]
    return "\n".join(lines) + "\n" + proof.note


def format_consistency(old_size: int, path: Sequence[bytes], note: str) -> str:
    """Return a consistency proof as the body of a C2SP add-checkpoint request."""
    return "\n".join([f"old {old_size}", *map(encoded, path), ""]) + "\n" + note


def parse_inclusion(text: str) -> InclusionProof:
    """Return what a C2SP tlog-proof claims.

    Raises:
        VerificationError: the text is no such proof.
    """
    head, blank, note = text.partition("\n\n")
    lines = head.split("\n")
    if not blank or len(lines) < len(("header", "index")) or lines[0] != HEADER:
        raise VerificationError(f"not a proof: it does not begin with {HEADER}")
    if len(lines) > LONGEST_PATH + 2:
        raise VerificationError("not a proof: too many hashes")
    word, _, number = lines[1].partition(" ")
    if word != "index" or not is_plain_number(number):
        raise VerificationError("not a proof: no index in its second line")
    return InclusionProof(index=int(number), path=tuple(map(hash_of_text, lines[2:])), note=note)


def parse_consistency(text: str) -> ConsistencyProof:
    """Return what the body of a C2SP add-checkpoint request claims.

    Raises:
        VerificationError: the text is none.
    """
    head, blank, note = text.partition("\n\n")
    lines = head.split("\n")
    word, _, number = lines[0].partition(" ")
    if not blank or word != "old" or not is_plain_number(number):
        raise VerificationError("not a proof: it does not begin with the size of an old head")
    if len(lines) > LONGEST_PATH + 1:
        raise VerificationError("not a proof: too many hashes")
    path = tuple(map(hash_of_text, lines[1:]))
    return ConsistencyProof(old_size=int(number), path=path, note=note)


def is_plain_number(text: str) -> bool:
    """Return whether a text is a decimal number below 2^63 as everybody writes it."""
    return text.isascii() and text.isdigit() and len(text) <= 18 and str(int(text)) == text  # noqa: PLR2004 - digits


def encoded(value: bytes) -> str:
    """Return a hash in base64."""
    return base64.b64encode(value).decode()


def hash_of_text(text: str) -> bytes:
    """Return the hash of a base64 text, which may be written in one way only.

    Raises:
        VerificationError: it is none.
    """
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        value = b""
    if len(value) != HASH_BYTES or encoded(value) != text:
        raise VerificationError("not a proof: a hash in it is none")
    return value
