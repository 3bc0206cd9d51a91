"""BLAKE3 and Ed25519 as their papers state them, in plain Python: slow, and owing nothing to us.

Written for the second verifier, which uses the standard library only. Both are checked against
published vectors in `test_second_verifier.py`.

Sources: the BLAKE3 paper (O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020), section 2; RFC 8032,
section 5.1.
"""

import hashlib
import struct
from functools import cache, lru_cache

__all__ = ["blake3", "ed25519_verifies"]

WORD = 0xFFFFFFFF
IV = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
    0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)  # fmt: skip
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED = 1, 2, 4, 8, 16
BLOCK, CHUNK = 64, 1024

Words = tuple[int, ...]


def compress(chaining: Words, block: Words, counter: int, length: int, flags: int) -> Words:
    """Return the first eight words of the compression of one block."""
    v = [*chaining, *IV[:4], counter & WORD, counter >> 32, length, flags]
    m = block
    for _ in range(7):
        for place, (a, b, c, d) in enumerate(COLUMNS + DIAGONALS):
            for word, (r, s) in ((m[2 * place], (16, 12)), (m[2 * place + 1], (8, 7))):
                v[a] = (v[a] + v[b] + word) & WORD
                x = v[d] ^ v[a]
                v[d] = (x >> r | x << 32 - r) & WORD
                v[c] = (v[c] + v[d]) & WORD
                x = v[b] ^ v[c]
                v[b] = (x >> s | x << 32 - s) & WORD
        m = tuple(m[place] for place in PERMUTATION)
    return tuple(v[place] ^ v[place + 8] for place in range(8))


def words_of(data: bytes) -> Words:
    """Return a block, filled up with zeros, as sixteen words."""
    return struct.unpack("<16I", data.ljust(BLOCK, b"\0"))


def chunk_words(chunk: bytes, key: Words, counter: int, flags: int, *, is_root: bool) -> Words:
    """Return the chaining value of a chunk of at most 1,024 bytes."""
    blocks = [chunk[place : place + BLOCK] for place in range(0, len(chunk), BLOCK)] or [b""]
    value = key
    for place, block in enumerate(blocks):
        at = flags | (CHUNK_START if place == 0 else 0)
        if place == len(blocks) - 1:
            at |= CHUNK_END | (ROOT if is_root else 0)
        value = compress(value, words_of(block), counter, len(block), at)
    return value


def tree_words(data: bytes, key: Words, counter: int, flags: int, *, is_root: bool) -> Words:
    """Return the chaining value of the subtree over some data."""
    if len(data) <= CHUNK:
        return chunk_words(data, key, counter, flags, is_root=is_root)
    chunks = (len(data) + CHUNK - 1) // CHUNK
    left = 1 << (chunks - 1).bit_length() - 1
    cut = left * CHUNK
    pair = tree_words(data[:cut], key, counter, flags, is_root=False)
    pair += tree_words(data[cut:], key, counter + left, flags, is_root=False)
    return compress(key, pair, 0, BLOCK, flags | PARENT | (ROOT if is_root else 0))


@lru_cache(maxsize=100_000)
def blake3(data: bytes, key: bytes | None = None) -> bytes:
    """Return the 32 bytes of BLAKE3, keyed where there is a key of 32 bytes."""
    start = IV if key is None else struct.unpack("<8I", key)
    words = tree_words(data, start, 0, 0 if key is None else KEYED, is_root=True)
    return struct.pack("<8I", *words)


P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
Point = tuple[int, int, int, int]
"""x, y, z and t with x = x/z, y = y/z, xy = t/z."""


def added(one: Point, other: Point) -> Point:
    """Return the sum of two points."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number: int, point: Point) -> Point:
    """Return a point added to itself so many times."""
    found: Point = (0, 1, 1, 0)
    while number:
        if number & 1:
            found = added(found, point)
        point, number = added(point, point), number >> 1
    return found


def point_of(encoded: bytes) -> Point | None:
    """Return the point of 32 bytes; None where there is none."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


@cache
def base_point() -> Point:
    """Return the point that everything is a multiple of."""
    y = 4 * pow(5, P - 2, P) % P
    found = point_of(y.to_bytes(32, "little"))
    assert found is not None
    return found


@lru_cache(maxsize=10_000)
def ed25519_verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether 64 bytes are the signature of a key over a message (RFC 8032, 5.1.7)."""
    if len(key) != 32 or len(signature) != 64:
        return False
    public, random = point_of(key), point_of(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if public is None or random is None or scalar >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    left = times(scalar, base_point())
    right = added(random, times(int.from_bytes(digest, "little") % ORDER, public))
    same_x = (left[0] * right[2] - right[0] * left[2]) % P == 0
    return same_x and (left[1] * right[2] - right[1] * left[2]) % P == 0
