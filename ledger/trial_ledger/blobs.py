"""Blobs and their contents: hashing, salting, compressing, and the two tables that hold them.

Invariant: equal contents lie once in a file, although their salted hashes differ; what is read is
always checked against the hash that a document names.

A blob that was redacted has neither salt nor content, so nothing is left to guess from.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from blake3 import blake3

from trial_ledger.errors import VerificationError
from trial_ledger.events import BlobRef
from trial_ledger.sqlite import Connection, translated

try:
    from compression import zstd  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    from backports import zstd

__all__ = ["BlobTable", "NewBlob", "blob_hash", "content_hash"]

COMPRESS_FROM_BYTES = 96
"""Below this zstd saves nothing on text."""

COMPRESSION_LEVEL = 3

# One compressor serves every frame: making one costs as much as compressing 5 KB. It is used under
# the book's lock only.
COMPRESSOR = zstd.ZstdCompressor(COMPRESSION_LEVEL)

MAX_BLOB_BYTES = 512 * 1024 * 1024
"""Largest text that is accepted: SQLite's own limit is 1 GB a row."""


class NewBlob(msgspec.Struct, frozen=True, kw_only=True):
    """A blob that is about to be stored."""

    hash: bytes
    """Its name in documents."""
    salt: bytes | None
    """32 random bytes; None for plain ones."""
    digest: bytes
    """BLAKE3 of the bytes."""
    content: bytes
    """The bytes."""


def content_hash(content: bytes) -> bytes:
    """Return BLAKE3 of some bytes."""
    return blake3(content).digest()


def blob_hash(content: bytes, salt: bytes | None) -> bytes:
    """Return the hash by which documents name a blob: keyed where there is a salt."""
    return content_hash(content) if salt is None else blake3(content, key=salt).digest()


def compressed(content: bytes) -> tuple[str, bytes]:
    """Return (encoding, data), whichever encoding is smaller."""
    if len(content) >= COMPRESS_FROM_BYTES:
        packed: bytes = COMPRESSOR.compress(content, zstd.ZstdCompressor.FLUSH_FRAME)
        if len(packed) < len(content):
            return "zstd", packed
    return "raw", content


def expanded(encoding: str, data: bytes, size: int) -> bytes:
    """Return the stored bytes, never more than were declared.

    Raises:
        VerificationError: the data is damaged or longer than declared.
    """
    if encoding == "raw":
        return data
    decompressor = zstd.ZstdDecompressor()
    try:
        content: bytes = decompressor.decompress(data, max_length=size + 1)
    except zstd.ZstdError as error:
        message = f"stored content does not decompress: {error}"
        raise VerificationError(message) from error
    return content


class BlobTotals(msgspec.Struct, frozen=True, kw_only=True):
    """How much a file holds."""

    blobs: int
    """Blobs, erased ones included."""
    erased: int
    """Erased ones."""
    content_bytes: int
    """Bytes of all contents."""
    stored_bytes: int
    """Bytes they take, compressed."""


class BlobTable:
    """The blob and content tables of one file; rows are collected and written by `flush`."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self.new_contents: dict[bytes, tuple[int, bytes, int, str, bytes]] = {}
        self.new_blobs: dict[bytes, tuple[bytes, bytes | None, int]] = {}
        self.next_content = 0

    def begin(self) -> None:
        """Read where the tables end; call at the start of every write transaction."""
        self.discard()
        row = self.connection.execute("SELECT coalesce(max(id), 0) FROM content").fetchone()
        self.next_content = row[0] + 1

    def discard(self) -> None:
        """Forget what was collected since the last flush."""
        self.new_contents.clear()
        self.new_blobs.clear()

    def add(self, blob: NewBlob) -> None:
        """Collect one blob, unless one of that name is there already."""
        if blob.salt is None and (blob.hash in self.new_blobs or self.has(blob.hash)):
            return
        content = self.content_id(blob)
        self.new_blobs[blob.hash] = (blob.hash, blob.salt, content)

    def content_id(self, blob: NewBlob) -> int:
        """Return the row of these bytes, collecting a new one where they are new."""
        pending = self.new_contents.get(blob.digest)
        if pending is not None:
            return pending[0]
        row = self.connection.execute(
            "SELECT id FROM content WHERE hash = ?", (blob.digest,)
        ).fetchone()
        if row is not None:
            return int(row[0])
        encoding, data = compressed(blob.content)
        identifier = self.next_content
        self.next_content += 1
        self.new_contents[blob.digest] = (
            identifier,
            blob.digest,
            len(blob.content),
            encoding,
            data,
        )
        return identifier

    def flush(self) -> None:
        """Write what was collected into the running transaction."""
        self.connection.executemany(
            "INSERT INTO content (id, hash, bytes, encoding, data) VALUES (?, ?, ?, ?, ?)",
            self.new_contents.values(),
        )
        self.connection.executemany(
            "INSERT INTO blob (hash, salt, content) VALUES (?, ?, ?)",
            self.new_blobs.values(),
        )
        self.discard()

    def has(self, name: bytes) -> bool:
        """Return whether a blob of that hash is stored, erased or not."""
        return (
            self.connection.execute("SELECT 1 FROM blob WHERE hash = ?", (name,)).fetchone()
            is not None
        )

    def digest(self, name: bytes) -> bytes | None:
        """Return BLAKE3 of a blob's bytes; None where it was erased or never stored."""
        pending = self.new_blobs.get(name)
        if pending is not None:
            found = next((row for row in self.new_contents.values() if row[0] == pending[2]), None)
            return self.stored_digest(pending[2]) if found is None else found[1]
        row = self.connection.execute(
            "SELECT content.hash FROM blob JOIN content ON content.id = blob.content"
            " WHERE blob.hash = ?",
            (name,),
        ).fetchone()
        return None if row is None else bytes(row[0])

    def stored_digest(self, content: int) -> bytes:
        """Return BLAKE3 of a stored content."""
        row = self.connection.execute(
            "SELECT hash FROM content WHERE id = ?", (content,)
        ).fetchone()
        return bytes(row[0])

    def read(self, reference: BlobRef) -> bytes | None:
        """Return the checked bytes of a blob; None where it was erased.

        Raises:
            VerificationError: it was never stored, or its bytes are not what the reference says.
        """
        content = self.read_named(bytes.fromhex(reference.blob))
        if content is not None and len(content) != reference.bytes:
            message = f"blob {reference.blob} has {len(content)} bytes, expected {reference.bytes}"
            raise VerificationError(message, hint="ledger verify")
        return content

    def read_named(self, name: bytes) -> bytes | None:
        """Return the checked bytes of a blob by its hash; None where it was erased.

        Raises:
            VerificationError: it was never stored, or its bytes are not what was written.
        """
        with translated(self.path):
            row = self.connection.execute(
                "SELECT blob.salt, blob.content, content.encoding, content.data, content.bytes"
                " FROM blob LEFT JOIN content ON content.id = blob.content WHERE blob.hash = ?",
                (name,),
            ).fetchone()
        if row is None:
            message = f"blob {name.hex()} is not in {self.path}"
            raise VerificationError(message, hint="ledger verify")
        salt, content_row, encoding, data, size = row
        if content_row is None and salt is None:
            return None
        content = None if data is None else expanded(encoding, data, size)
        if content is None or len(content) != size or blob_hash(content, salt) != name:
            message = f"the bytes of blob {name.hex()} are not what was written"
            raise VerificationError(message, hint="ledger verify")
        return content

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield (blob or content, what is wrong) for everything that is not what was written."""
        rows = self.connection.execute(
            "SELECT blob.hash, blob.salt, blob.content, content.hash, content.encoding,"
            " content.data, content.bytes FROM blob"
            " LEFT JOIN content ON content.id = blob.content ORDER BY blob.hash"
        )
        for name, salt, content_row, digest, encoding, data, size in rows:
            place = f"blob {bytes(name).hex()}"
            if content_row is None:
                if salt is not None:
                    yield place, "is half erased: its salt is still there"
                continue
            if data is None:
                yield place, "has lost its content"
                continue
            try:
                content = expanded(encoding, data, size)
            except VerificationError as error:
                yield place, error.message
                continue
            if blob_hash(content, salt) != name:
                yield place, "its bytes are not what was written"
            elif content_hash(content) != digest or len(content) != size:
                yield f"content {content_row}", "its hash or size is not that of its bytes"
        unused = self.connection.execute(
            "SELECT id FROM content WHERE id NOT IN"
            " (SELECT content FROM blob WHERE content IS NOT NULL) ORDER BY id"
        )
        for (identifier,) in unused:
            yield f"content {identifier}", "no blob names it"

    def totals(self) -> BlobTotals:
        """Return how much the tables hold."""
        blobs, erased = self.connection.execute(
            "SELECT count(*), coalesce(sum(content IS NULL), 0) FROM blob"
        ).fetchone()
        content, stored = self.connection.execute(
            "SELECT coalesce(sum(bytes), 0), coalesce(sum(length(data)), 0) FROM content"
        ).fetchone()
        return BlobTotals(blobs=blobs, erased=erased, content_bytes=content, stored_bytes=stored)

    def names(self) -> Iterator[tuple[bytes, bool]]:
        """Yield (hash, is erased) of every blob, in hash order."""
        rows = self.connection.execute("SELECT hash, content IS NULL FROM blob ORDER BY hash")
        for name, erased in rows:
            yield bytes(name), bool(erased)


def sealed_blob(content: bytes, *, class_: str, random_bytes: Callable[[int], bytes]) -> NewBlob:
    """Return the blob of some bytes: unsalted for plain, under a fresh salt otherwise."""
    salt = None if class_ == "plain" else random_bytes(32)
    digest = content_hash(content)
    name = digest if salt is None else blob_hash(content, salt)
    return NewBlob(hash=name, salt=salt, digest=digest, content=content)
