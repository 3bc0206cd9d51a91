"""Names of blobs are remembered in bounded memory, and compared with those that are stored."""

import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger import named_blobs
from trial_ledger.canonical import canonical_bytes
from trial_ledger.errors import StorageError
from trial_ledger.events import (
    TAGS,
    Actor,
    AnyData,
    BlobClass,
    BlobRedacted,
    BlobRef,
    DatasetRegistered,
    Event,
    NoteAdded,
)
from trial_ledger.named_blobs import PREFIX_BYTES, NamedBlobs, References
from trial_ledger.view import Stored, stored_event

HASHES = st.binary(min_size=32, max_size=32)
SIZES = st.sampled_from([1, 4, 10**9])
"""From a temporary file for every name to none at all."""


def named(hashes: list[bytes], size: int) -> NamedBlobs:
    """Return the names of hashes, the first named at seq 1, the next at seq 2, and so on."""
    found = NamedBlobs(held_records=size)
    for seq, name in enumerate(hashes, 1):
        assert found.add(name.hex(), seq) is None
    return found


def first_seqs(hashes: list[bytes]) -> dict[bytes, int]:
    """Return the first place of every hash."""
    return {name: hashes.index(name) + 1 for name in hashes}


@given(st.lists(HASHES, max_size=30), st.lists(HASHES, max_size=30), SIZES, st.data())
def test_names_are_matched_with_what_is_stored(
    only_named: list[bytes], only_stored: list[bytes], size: int, data: st.DataObject
) -> None:
    """Every name comes out once: stored, missing, or named by nobody, with its first event."""
    both = data.draw(st.lists(HASHES, max_size=30))
    hashes = data.draw(st.permutations(only_named + both + both))
    kept = {name: data.draw(st.booleans()) for name in sorted({*both, *only_stored})}
    names = named(list(hashes), size)
    found = list(names.matched(kept.items()))
    names.close()
    expected = first_seqs(list(hashes))
    assert {(name, erased, seq) for name, erased, seq in found if erased is not None} == {
        (name, erased, expected.get(name)) for name, erased in kept.items()
    }
    missing = {(name, seq) for name, erased, seq in found if erased is None}
    assert missing == {
        (name[:PREFIX_BYTES], seq) for name, seq in expected.items() if name not in kept
    }
    assert len(found) == len({*expected, *kept})


def test_names_go_to_a_file_when_there_are_many() -> None:
    """What is held does not grow beyond the bound, and nothing is lost or put out of order."""
    names = NamedBlobs(held_records=10)
    hashes = [number.to_bytes(32, "big")[::-1] for number in range(1_000)]
    for turn in range(3):
        for number, name in enumerate(hashes):
            names.add(name.hex(), turn * 1_000 + number + 1)
            assert len(names.records) < 10
    names.add(hashes[0].hex(), 5_000)
    assert names.file is not None
    expected = sorted((name[:PREFIX_BYTES], seq) for seq, name in enumerate(hashes, 1))
    assert list(names.names()) == expected
    assert list(names.names()) == expected
    names.close()


def test_a_long_run_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come back from the temporary file whole, wherever a piece ends."""
    monkeypatch.setattr(named_blobs, "READ_RECORDS", 3)
    names = NamedBlobs(held_records=10)
    hashes = [number.to_bytes(32, "big")[::-1] for number in range(10)]
    for name in hashes:
        names.add(name.hex(), 1)
    assert names.records == []
    assert [prefix for prefix, _ in names.names()] == sorted(n[:PREFIX_BYTES] for n in hashes)
    names.close()


def test_no_room_for_temporary_files_is_an_error_of_storage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A check that lacks room says so, with where to find some."""

    def fail(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    names = NamedBlobs(held_records=1)
    with pytest.raises(StorageError, match="no room for temporary files") as caught:
        names.add("ab" * 32, 1)
    assert caught.value.hint == "name another folder with TMPDIR"
    names.close()


@pytest.mark.parametrize("text", ["", "ab", "zz" * 32, "ab" * 33, "ab " * 40, "ä"])
def test_what_is_no_hash_is_told(text: str) -> None:
    """A name that no blob can have is a fault of its event, and is not remembered."""
    names = NamedBlobs()
    fault = names.add(text, 1)
    assert fault == f"names a blob {text[:32]!r}, which is no hash"
    assert list(names.matched([])) == []


def stored(data: AnyData) -> Stored:
    """Return the stored form of an event with these data."""
    event = Event(
        actor=Actor(role="harness"), at=None, data=data, id="0" * 32, kind=TAGS[type(data)],
        ledger="0" * 32, link=None, prev="0" * 64, recorded_at="2026-10-01T12:00:00.000000Z",
        run=None, seq=7, trial=None, v=1,
    )  # fmt: skip
    return stored_event(canonical_bytes(event))


def text(name: bytes, class_: BlobClass) -> BlobRef:
    """Return a reference."""
    return BlobRef(blob=name.hex(), bytes=1, media="a/b", class_=class_)


def test_the_texts_of_an_event_are_remembered_by_file() -> None:
    """A text is looked for in the file that its class puts it in; redactions are noted."""
    one, two, three, four = (bytes([number]) * 32 for number in range(4))
    references = References()
    registered = DatasetRegistered(
        name="d", version="1", questions=text(four, "plain"), count=1,
        commitments=text(four, "plain"), commitments_root="0" * 64, leak_min_length=4,
        canary=three.hex(),
    )  # fmt: skip
    for data in (
        NoteAdded(about="x", text=text(one, "sealed")),
        NoteAdded(about="x", text=text(two, "gold")),
        BlobRedacted(blob=one.hex(), reason=text(three, "sealed"), authority="a"),
        registered,
    ):
        assert references.take(stored(data)) == []
    assert [name[:1] for name, _, _ in references.named.matched([])] == [b"\0", b"\2", b"\3"]
    assert [name[:1] for name, _, _ in references.gold.matched([])] == [b"\1", b"\2"]
    assert references.redacted == {one.hex()}
    references.close()


def test_names_that_are_no_hashes_are_faults_of_their_event() -> None:
    """A forged reference is told, not stumbled over."""
    references = References()
    forged = BlobRef(blob="zz", bytes=1, media="a", class_="gold")
    assert references.take(stored(NoteAdded(about="x", text=forged))) == [
        "names a blob 'zz', which is no hash"
    ]
    references.close()
