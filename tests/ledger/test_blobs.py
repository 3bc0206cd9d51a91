"""Texts: equal contents lie once, names are salted, and what is read is what was written."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from attack_cases import tampering, without_types
from ledger_cases import seeded_bytes
from trial_ledger import blobs
from trial_ledger.blobs import (
    COMPRESS_FROM_BYTES,
    MAX_BLOB_BYTES,
    BlobTable,
    NewBlob,
    blob_hash,
    compressed,
    expanded,
    next_start,
    sealed_blob,
)
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.events import BlobRef
from trial_ledger.store import Store

RANDOM = seeded_bytes()


def blob(content: bytes, class_: str = "sealed") -> NewBlob:
    """Return a new blob under a fresh salt."""
    return sealed_blob(content, class_=class_, random_bytes=RANDOM)


def reference(new: NewBlob, **changes: object) -> BlobRef:
    """Return the reference that a document would hold."""
    values = {"blob": new.hash.hex(), "bytes": len(new.content), "media": "a/b", "class_": "sealed"}
    return BlobRef(**{**values, **changes})  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a new ledger file in a write transaction."""
    made = Store.create(tmp_path / "a.ledger")
    made.begin()
    yield made
    made.close()


@pytest.fixture
def table(store: Store) -> BlobTable:
    """Return the blobs of that file."""
    return store.blobs


@given(st.binary(max_size=500), st.binary(min_size=32, max_size=32))
def test_names_are_blake3(content: bytes, salt: bytes) -> None:
    """A plain name is BLAKE3, a salted one is keyed BLAKE3: public tools give the same."""
    assert blob_hash(content, None) == blake3(content).digest()
    assert blob_hash(content, salt) == blake3(content, key=salt).digest()


def test_a_plain_blob_has_no_salt_and_others_a_fresh_one() -> None:
    """Two equal sealed texts have different names; two equal plain ones the same."""
    assert blob(b"a", "plain") == blob(b"a", "plain")
    one, other = blob(b"a"), blob(b"a", "gold")
    assert one.salt is not None
    assert len(one.salt) == 32
    assert one.hash != other.hash
    assert one.digest == other.digest


@given(st.binary(max_size=2_000) | st.integers(1, 400).map(lambda n: b"abc" * n))
def test_compressing_is_undone(content: bytes) -> None:
    """Whatever form is chosen, expanding gives the bytes, and the form is never larger."""
    encoding, data = compressed(content)
    assert expanded(encoding, data, len(content)) == content
    assert len(data) <= len(content)


def test_short_and_random_bytes_are_stored_as_they_are() -> None:
    """Compression is used only where it saves something."""
    assert compressed(b"a" * (COMPRESS_FROM_BYTES - 1))[0] == "raw"
    assert compressed(b"a" * COMPRESS_FROM_BYTES)[0] == "zstd"
    assert compressed(seeded_bytes(1)(1_000))[0] == "raw"


def test_no_more_is_expanded_than_was_declared() -> None:
    """A compressed content cannot fill the memory: its own header is compared before anything."""
    encoding, data = compressed(bytes(50_000_000))
    assert encoding == "zstd"
    assert len(data) < 10_000
    with pytest.raises(VerificationError, match="has 50000000 bytes, expected 10"):
        expanded(encoding, data, 10)


@pytest.mark.parametrize(
    ("encoding", "size"),
    [("zstd", -1), ("zstd", -2), ("zstd", MAX_BLOB_BYTES + 1), ("zstd", 2**63), ("lzma", 3)],
)
def test_a_nonsensical_declaration_is_refused(encoding: str, size: int) -> None:
    """Sizes below zero or beyond the limit and unknown encodings are damage."""
    with pytest.raises(VerificationError, match="stored content claims to be"):
        expanded(encoding, b"", size)


def test_damaged_data_is_refused() -> None:
    """What does not decompress is damage, as is a frame cut short or followed by anything."""
    encoding, data = compressed(b"words " * 100)
    for damaged in (b"nonsense", data[:-1], data + b"x", data + data):
        with pytest.raises(VerificationError, match="does not decompress"):
            expanded(encoding, damaged, 600)


def test_threads_compress_side_by_side() -> None:
    """Every thread has its own compressor: what many of them pack at once is undone by others."""
    contents = [seeded_bytes(number)(4_000) * 20 for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        packed = list(pool.map(compressed, contents * 8))
        found = list(pool.map(lambda one: expanded(one[0], one[1], 80_000), packed))
    assert found == contents * 8


def test_what_was_added_is_read(table: BlobTable) -> None:
    """A text is there after the flush, whatever its form."""
    texts = [b"", b"short", b"long " * 400]
    added = [blob(text) for text in texts]
    for new in added:
        table.add(new)
    table.flush()
    assert [table.read(reference(new)) for new in added] == texts
    assert [table.has(new.hash) for new in added] == [True] * 3


def test_equal_contents_lie_once(table: BlobTable) -> None:
    """However often a text is added, before or after a flush, its bytes are stored once."""
    for _ in range(2):
        for _ in range(3):
            table.add(blob(b"the same words"))
        table.flush()
    assert table.totals() == blobs.BlobTotals(blobs=6, erased=0, content_bytes=14, stored_bytes=14)


def test_a_plain_blob_is_added_once(table: BlobTable) -> None:
    """A document that is there already is not added again, flushed or not."""
    for _ in range(2):
        table.add(blob(b"document", "plain"))
        table.add(blob(b"document", "plain"))
        table.flush()
    assert table.totals().blobs == 1


def test_the_digest_of_a_text_is_known_at_once(table: BlobTable) -> None:
    """Comparing contents works before and after the flush, and where the bytes were there before.

    The second text's content is stored already when it is collected.
    """
    first, second = blob(b"words"), blob(b"words")
    table.add(first)
    assert table.digest(first.hash) == first.digest
    table.flush()
    assert table.digest(first.hash) == first.digest
    table.add(second)
    assert table.digest(second.hash) == second.digest
    table.flush()
    assert table.digest(second.hash) == second.digest
    assert table.digest(b"unknown") is None


def test_what_is_discarded_was_never_there(table: BlobTable) -> None:
    """A discarded text leaves neither name nor digest."""
    new = blob(b"words")
    table.add(new)
    table.discard()
    table.flush()
    assert table.digest(new.hash) is None
    assert not table.has(new.hash)
    assert table.totals().blobs == 0


def test_an_unknown_blob_is_an_error(table: BlobTable) -> None:
    """A reference to what was never stored is damage, not None."""
    with pytest.raises(VerificationError, match=r"blob (ab){32} is not in .*a\.ledger"):
        table.read(reference(blob(b"x"), blob="ab" * 32))


def test_a_name_that_is_no_hash_is_an_error(table: BlobTable) -> None:
    """A forged reference is damage, not a crash."""
    with pytest.raises(VerificationError, match="blob 'zz' is named by no hash"):
        table.read(reference(blob(b"x"), blob="zz"))


def test_a_reference_of_another_size_is_an_error(table: BlobTable) -> None:
    """The size in the document is held against the bytes."""
    new = blob(b"words")
    table.add(new)
    table.flush()
    with pytest.raises(VerificationError, match="has 5 bytes, expected 6"):
        table.read(reference(new, bytes=6))


def test_an_erased_blob_is_none(store: Store) -> None:
    """Where salt and bytes are gone there is nothing to read and nothing to compare."""
    new = blob(b"words")
    store.blobs.add(new)
    store.commit()
    with tampering(store.path) as connection:
        connection.execute("UPDATE blob SET salt = NULL, content = NULL")
    assert store.blobs.read(reference(new)) is None
    assert store.blobs.digest(new.hash) is None
    assert store.blobs.totals().erased == 1
    assert list(store.blobs.names()) == [(new.hash, True)]


@pytest.mark.parametrize(
    "change",
    ["salt = NULL", "salt = zeroblob(32)", "content = NULL", "content = 99"],
)
def test_a_damaged_blob_is_an_error(store: Store, change: str) -> None:
    """Bytes without their salt, or a salt without its bytes, are damage."""
    new = blob(b"words")
    store.blobs.add(new)
    store.commit()
    with tampering(store.path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(f"UPDATE blob SET {change}")  # noqa: S608 - a constant of this test
    with pytest.raises(VerificationError, match="are not what was written"):
        store.blobs.read(reference(new))
    assert len(list(store.blobs.faults())) >= 1


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE blob SET salt = x'00'", "its bytes are not what was written"),
        ("UPDATE content SET data = NULL", "has lost its content"),
        ("UPDATE content SET encoding = NULL", "has lost its content"),
        ("UPDATE content SET bytes = NULL", "has lost its content"),
        ("UPDATE content SET encoding = 'lzma'", "stored content claims to be 5 bytes in encod"),
    ],
)
def test_types_that_no_column_allows_are_faults(store: Store, statement: str, fault: str) -> None:
    """Values that only a damaged page can hold are named, not stumbled over."""
    new = blob(b"words")
    store.blobs.add(new)
    store.commit()
    with without_types(store.path) as connection:
        connection.execute(statement)
    places = dict(store.blobs.faults())
    assert places[f"blob {new.hash.hex()}"].startswith(fault)


def test_all_blobs_are_checked_in_chunks(table: BlobTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """However rows and bytes fall into chunks, each blob is checked once."""
    for number in range(23):
        table.add(blob(b"%d" % number * 50))
    table.flush()
    seen: list[bytes] = []
    monkeypatch.setattr(blobs, "row_fault", lambda row: seen.append(row.name))
    names = [name for name, _ in table.names()]
    for rows, size in ((500, 10**9), (7, 10**9), (500, 100), (1, 1), (23, 10**9)):
        monkeypatch.setattr(blobs, "CHUNK_ROWS", rows)
        monkeypatch.setattr(blobs, "CHUNK_BYTES", size)
        seen.clear()
        assert list(table.faults()) == []
        assert seen == names
    assert len(names) == 23
    assert names == sorted(names)
    monkeypatch.setattr(blobs, "CHUNK_NAMES", 3)
    assert [name for name, _ in table.names()] == names


def test_rows_out_of_order_end_the_reading() -> None:
    """In a damaged file, going on from a smaller key would never end."""
    assert next_start(b"a", b"b") == b"b"
    with pytest.raises(VerificationError, match="blobs are out of order: 61 follows 62"):
        next_start(b"b", b"a")


def test_a_content_that_nobody_names_is_a_fault(store: Store) -> None:
    """Bytes without a blob cannot come from this program."""
    store.commit()
    with tampering(store.path) as connection:
        connection.execute(
            "INSERT INTO content (hash, bytes, encoding, data) VALUES (zeroblob(32), 0, 'raw', x'')"
        )
    assert list(store.blobs.faults()) == [("content 1", "no blob names it")]


def test_errors_of_sqlite_are_ours(store: Store) -> None:
    """Every method turns SQLite's errors into ours."""
    table = store.blobs
    store.commit()
    store.connection.close()
    for act in (
        table.begin, table.flush, table.totals, lambda: table.has(b"x"),
        lambda: table.digest(b"x"), lambda: table.read_named(b"x"), lambda: list(table.names()),
        lambda: list(table.faults()), table.unnamed_contents, lambda: table.content_id(blob(b"a")),
    ):  # fmt: skip
        with pytest.raises(StorageError, match="closed database"):
            act()
