"""Blobs and their contents: hashing, salting, compressing, and the two tables that hold them.

Invariant: equal contents lie once in a file, although their salted hashes differ; what is read is
always checked against the hash that a document names.

A blob that was redacted has neither salt nor content, so nothing is left to guess from.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import zstandard
from blake3 import blake3

from trial_ledger.errors import VerificationError
from trial_ledger.events import BlobRef
from trial_ledger.sqlite import Connection, translating

__all__ = ["BlobTable", "NewBlob", "blob_hash", "content_hash"]

COMPRESS_FROM_BYTES = 96
"""Below this zstd saves nothing on text."""

COMPRESSION_LEVEL = 3


class Zstandard(threading.local):
    """One compressor and one decompressor a thread, which must not share them.

    They serve every frame: making one takes longer than using it on a typical text.
    """

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(COMPRESSION_LEVEL).compress
        self.decompress = zstandard.ZstdDecompressor().decompress


ZSTANDARD = Zstandard()

MAX_BLOB_BYTES = 512 * 1024 * 1024
"""Largest text that is accepted: SQLite's own limit is 1 GB a row."""

SALT_BYTES = 32
"""Key length of BLAKE3."""

HASH_BYTES = 32
"""Length of BLAKE3."""

CHUNK_ROWS = 500
CHUNK_BYTES = 4 * 1024 * 1024
"""After either a reader ends its short transaction, so that no writer waits long for it."""

CHUNK_NAMES = 5_000
"""The same where only names are read, which takes a few milliseconds."""


class NewBlob(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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
        packed = ZSTANDARD.compress(content)
        if len(packed) < len(content):
            return "zstd", packed
    return "raw", content


def expanded(encoding: str, data: bytes, size: int) -> bytes:
    """Return the stored bytes, exactly as many as were declared.

    Raises:
        VerificationError: the data is damaged or of another size than declared.
    """
    if encoding == "raw":
        return data
    if encoding != "zstd" or not 0 <= size <= MAX_BLOB_BYTES:
        message = f"stored content claims to be {size} bytes in encoding {encoding!r}"
        raise VerificationError(message)
    try:
        # The frame's own header is asked first: as much memory is taken as it says.
        found = zstandard.frame_content_size(data)
        if found == size:
            return ZSTANDARD.decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        message = f"stored content does not decompress: {error}"
        raise VerificationError(message) from error
    message = f"stored content has {found} bytes, expected {size}"
    raise VerificationError(message)


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
        self.new_digests: dict[bytes, bytes] = {}
        self.next_content = 0

    @translating
    def begin(self) -> None:
        """Read where the tables end; call at the start of every write transaction."""
        self.discard()
        row = self.connection.execute("SELECT coalesce(max(id), 0) FROM content").fetchone()
        self.next_content = row[0] + 1

    def discard(self) -> None:
        """Forget what was collected since the last flush."""
        self.new_contents.clear()
        self.new_blobs.clear()
        self.new_digests.clear()

    def add(self, blob: NewBlob) -> None:
        """Collect one blob, unless one of that name is there already."""
        if blob.salt is None and (blob.hash in self.new_blobs or self.has(blob.hash)):
            return
        content = self.content_id(blob)
        self.new_blobs[blob.hash] = (blob.hash, blob.salt, content)
        self.new_digests[blob.hash] = blob.digest

    @translating
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

    @translating
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

    @translating
    def has(self, name: bytes) -> bool:
        """Return whether a blob of that hash is stored, erased or not."""
        return (
            self.connection.execute("SELECT 1 FROM blob WHERE hash = ?", (name,)).fetchone()
            is not None
        )

    @translating
    def digest(self, name: bytes) -> bytes | None:
        """Return BLAKE3 of a blob's bytes; None where it was erased or never stored."""
        pending = self.new_digests.get(name)
        if pending is not None:
            return pending
        row = self.connection.execute(
            "SELECT content.hash FROM blob JOIN content ON content.id = blob.content"
            " WHERE blob.hash = ?",
            (name,),
        ).fetchone()
        return None if row is None else bytes(row[0])

    def read(self, reference: BlobRef) -> bytes | None:
        """Return the checked bytes of a blob; None where it was erased.

        Raises:
            VerificationError: it was never stored, or its bytes are not what the reference says.
        """
        try:
            name = bytes.fromhex(reference.blob)
        except ValueError as error:
            message = f"blob {reference.blob[:64]!r} is named by no hash"
            raise VerificationError(message, hint="ledger verify") from error
        content = self.read_named(name)
        if content is not None and len(content) != reference.bytes:
            message = f"blob {reference.blob} has {len(content)} bytes, expected {reference.bytes}"
            raise VerificationError(message, hint="ledger verify")
        return content

    def read_named(self, name: bytes) -> bytes | None:
        """Return the checked bytes of a blob by its hash; None where it was erased.

        Raises:
            VerificationError: it was never stored, or its bytes are not what was written.
        """
        found = self.salted(name)
        return None if found is None else found[1]

    @translating
    def salted(self, name: bytes) -> tuple[bytes | None, bytes] | None:
        """Return the salt of a blob, None for a plain one, and its checked bytes.

        Returns:
            Both; None where the blob was erased.

        Raises:
            VerificationError: it was never stored, or its bytes are not what was written.
        """
        if name in self.new_blobs:
            self.flush()
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
        return salt, content

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield (blob or content, what is wrong) for everything that is not what was written."""
        after = b""
        while rows := self.stored_rows(after):
            for row in rows:
                fault = row_fault(row)
                if fault is not None:
                    yield fault
            after = next_start(after, rows[-1].name)
        for identifier in self.unnamed_contents():
            yield f"content {identifier}", "no blob names it"

    @translating
    def stored_rows(self, after: bytes) -> list["StoredRow"]:
        """Return the next blobs with their contents, as many as fit a short transaction.

        Values are cast to the type of their column, whatever type a damaged page gives them.
        """
        cursor = self.connection.execute(
            "SELECT coalesce(CAST(blob.hash AS BLOB), x''), CAST(blob.salt AS BLOB), blob.content,"
            " CAST(content.hash AS BLOB), content.encoding, CAST(content.data AS BLOB),"
            " CAST(content.bytes AS INTEGER)"
            " FROM blob LEFT JOIN content ON content.id = blob.content"
            " WHERE blob.hash > ? ORDER BY blob.hash LIMIT ?",
            (after, CHUNK_ROWS),
        )
        rows: list[StoredRow] = []
        size = 0
        for row in map(StoredRow._make, cursor):
            rows.append(row)
            size += len(row.data or b"")
            if size >= CHUNK_BYTES:
                break
        cursor.close()
        return rows

    @translating
    def unnamed_contents(self) -> list[int]:
        """Return the contents that no blob names."""
        rows = self.connection.execute(
            "SELECT id FROM content WHERE id NOT IN"
            " (SELECT content FROM blob WHERE content IS NOT NULL) ORDER BY id"
        ).fetchall()
        return [row[0] for row in rows]

    @translating
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
        after = b""
        while rows := self.name_rows(after):
            for name, erased in rows:
                yield name, bool(erased)
            after = next_start(after, rows[-1][0])

    @translating
    def name_rows(self, after: bytes) -> list[tuple[bytes, int]]:
        """Return (hash, is erased) of the next blobs; a hash that is no bytes counts as zeros."""
        return self.connection.execute(
            "SELECT CASE typeof(hash) WHEN 'blob' THEN hash ELSE zeroblob(32) END, content IS NULL"
            " FROM blob WHERE hash > ? ORDER BY hash LIMIT ?",
            (after, CHUNK_NAMES),
        ).fetchall()


class StoredRow(NamedTuple):
    """One blob with its content, as it stands in the file."""

    name: bytes
    salt: bytes | None
    content: int | None
    digest: bytes | None
    encoding: str | None
    data: bytes | None
    size: int | None


def row_fault(row: StoredRow) -> tuple[str, str] | None:
    """Return (blob or content, what is wrong) where a row is not what was written."""
    place = f"blob {row.name.hex()}"
    if row.content is None:
        return None if row.salt is None else (place, "is half erased: its salt is still there")
    if row.data is None or row.encoding is None or row.size is None:
        return place, "has lost its content"
    try:
        content = expanded(row.encoding, row.data, row.size)
    except VerificationError as error:
        return place, error.message
    is_salt = row.salt is None or len(row.salt) == SALT_BYTES
    if not is_salt or blob_hash(content, row.salt) != row.name:
        return place, "its bytes are not what was written"
    if content_hash(content) != row.digest or len(content) != row.size:
        return f"content {row.content}", "its hash or size is not that of its bytes"
    return None


def next_start(after: bytes, last: bytes) -> bytes:
    """Return where the next chunk of a table begins.

    Raises:
        VerificationError: the rows of a damaged file do not ascend, and reading would never end.
    """
    if last <= after:
        message = f"blobs are out of order: {last.hex()} follows {after.hex()}"
        raise VerificationError(message, hint="ledger verify")
    return last


def sealed_blob(content: bytes, *, class_: str, random_bytes: Callable[[int], bytes]) -> NewBlob:
    """Return the blob of some bytes: unsalted for plain, under a fresh salt otherwise."""
    salt = None if class_ == "plain" else random_bytes(SALT_BYTES)
    digest = content_hash(content)
    name = digest if salt is None else blob_hash(content, salt)
    return NewBlob(hash=name, salt=salt, digest=digest, content=content)
