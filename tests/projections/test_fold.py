"""The fold: states by key, in memory and in the file, and their digest."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import full_ledger
from trial_ledger.errors import StorageError
from trial_ledger.keyed_file import KeyedFile
from trial_ledger.view import Stored
from trial_projections import fold as folding
from trial_projections.fold import State, fold, key_of, state_digest
from trial_projections.replay import PROJECTIONS, fold_part


class Counted(msgspec.Struct):
    """A record of the tests."""

    number: int
    word: str = ""


class Number(msgspec.Struct):
    """A part of it."""

    number: int


@pytest.fixture
def file() -> Iterator[KeyedFile]:
    """An empty temporary file."""
    made = KeyedFile.temporary()
    yield made
    made.close()


@pytest.fixture
def state(file: KeyedFile) -> State[Counted]:
    """An empty state."""
    return State(file, "counts", Counted)


def test_a_record_is_changed_in_place_and_written_back(state: State[Counted]) -> None:
    """What a projection does to a record is there after saving, and before."""
    assert state.get("a") is None
    state.put("a", Counted(number=1))
    found = state.get("a")
    assert found is not None
    found.number += 1
    state.save()
    assert state.read("a") == Counted(number=2)
    again = state.get("a")
    assert again is not None
    again.word = "changed"
    state.save()
    assert state.read("a") == Counted(number=2, word="changed")
    assert state.read("b") is None


def test_a_scan_gives_records_by_key_and_only_of_its_parts(
    state: State[Counted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run's keys do not run into those of a run whose name begins alike."""
    for place, parts in enumerate((("run", "b"), ("run", "a"), ("run-2", "a"), ("ru", "z"))):
        state.put(key_of(*parts), Counted(number=place, word="long"))
    state.save()
    assert [record.number for record in state.scan("run")] == [1, 0]
    assert [record.number for record in state.scan()] == [3, 1, 0, 2]
    assert list(state.scan_as(Number, "ru")) == [Number(number=3)]
    monkeypatch.setattr(folding, "SCAN_RECORDS", 2)
    assert [record.number for record in state.scan()] == [3, 1, 0, 2]


def test_memory_is_bounded(state: State[Counted], monkeypatch: pytest.MonkeyPatch) -> None:
    """A fold of any length fits: what is kept is written back."""
    monkeypatch.setattr(folding, "CACHE_RECORDS", 3)
    state.put("a", Counted(number=1))
    state.put("b", Counted(number=1))
    state.trim()
    assert len(state.cache) == 2
    state.put("c", Counted(number=1))
    state.trim()
    assert state.cache == {}
    assert state.read("a") == Counted(number=1)


@pytest.mark.parametrize("value", [b"\xc1", msgspec.msgpack.encode({"number": "x"})])
def test_a_record_that_somebody_changed_is_told(state: State[Counted], value: bytes) -> None:
    """Bytes that are no record are a damaged file, which may be deleted."""
    state.file.put_many("counts", [("a", value)])
    for read in (lambda: state.get("a"), lambda: state.read("a"), lambda: list(state.scan())):
        with pytest.raises(StorageError, match="temporary is damaged") as caught:
            read()
        assert caught.value.hint == "delete it: ledger replay makes a new one"


def test_the_digest_covers_names_keys_and_values(file: KeyedFile) -> None:
    """Whatever moves from one part into another changes it; the order of names does not."""
    file.put_many("a", [("k", b"v")])
    file.put_many("b", [("k", b"v")])
    both = state_digest(file, ["a", "b"])
    assert both == state_digest(file, ["b", "a"])
    assert both != state_digest(file, ["a"])
    file.put_many("b", [("k", b"w")])
    changed = state_digest(file, ["a", "b"])
    assert changed != both
    file.clear("b")
    file.put_many("b", [("kw", b"")])
    assert state_digest(file, ["a", "b"]) != changed


def test_each_event_is_fed_once_and_counted(tmp_path: Path) -> None:
    """One loop feeds every projection, in order."""
    with full_ledger(tmp_path) as ledger:
        seen: list[int] = []

        class Watching:
            """Writes down what it is fed."""

            name = "watching"
            version = 1

            def start(self, file: KeyedFile) -> State[Counted]:
                """Return its state."""
                return State(file, self.name, Counted)

            def apply(self, state: State[Counted], stored: Stored) -> None:
                """Take one event into account."""
                seen.append(stored.event.seq)
                state.put(stored.event.kind, Counted(number=stored.event.seq))

        watching = Watching()
        file = KeyedFile.temporary()
        state = watching.start(file)
        size = ledger.store.size()
        assert fold([(watching, state)], ledger.events()) == size
        assert seen == list(range(1, size + 1))
        assert state.read("ledger.opened") == Counted(number=1)
        file.close()


@pytest.mark.parametrize("records", [1, 2, 3, 7])
def test_c33_eviction_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int
) -> None:
    """However few records memory holds, the states are the same bytes."""
    names = [projection.name for projection in PROJECTIONS]
    with full_ledger(tmp_path) as ledger:
        whole = fold_part(ledger.events(), ledger.store.size())
        expected = state_digest(whole.file, names)
        whole.close()
        monkeypatch.setattr(folding, "CACHE_RECORDS", records)
        evicting = fold_part(ledger.events(), ledger.store.size())
        assert state_digest(evicting.file, names) == expected
        evicting.close()
