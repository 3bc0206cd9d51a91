"""The projections file: what it keeps, and what is said of one that cannot be used."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.keyed_file import (
    DISPOSABLE,
    KeyedFile,
    StateTag,
    make_tables,
    projections_path,
)
from trial_ledger.sqlite import sqlite3

TAG = StateTag(projection="runs", version=1, ledger="ab" * 16, size=3, root="cd" * 32)


def test_its_name_is_the_ledgers_with_a_suffix() -> None:
    """It lies beside the ledger."""
    assert projections_path(Path("x/trials.ledger")) == Path("x/trials.ledger.projections")


def test_states_and_tags_are_kept_together(tmp_path: Path) -> None:
    """A fold that is rolled back leaves what was there before; a commit is there afterwards."""
    path = tmp_path / "p"
    file = KeyedFile.open(path)
    file.begin()
    file.put_many("runs", [("a", b"1"), ("b", b"2")])
    file.set_tag(TAG)
    file.commit()
    file.begin()
    file.clear("runs")
    file.put_many("runs", [("a", b"3")])
    file.rollback()
    file.rollback()
    file.close()
    again = KeyedFile.open(path)
    assert dict(again.scan("runs")) == {"a": b"1", "b": b"2"}
    assert again.tags() == {"runs": TAG}
    again.close()


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    """It is moved away by a person, not overwritten."""
    path = tmp_path / "p"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="is not a projections file") as caught:
        KeyedFile.open(path)
    assert caught.value.hint == "move it away; ledger replay makes a new one"
    assert path.read_bytes() == before


def test_two_that_make_it_at_once_make_one(tmp_path: Path) -> None:
    """Whoever comes second finds the tables, and takes no half-made file for another program's."""
    path = tmp_path / "p"
    found: list[dict[str, StateTag]] = []
    ready = threading.Barrier(4)

    def make() -> None:
        ready.wait()
        file = KeyedFile.open(path)
        found.append(file.tags())
        file.close()

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [{}, {}, {}, {}]


def test_who_comes_second_leaves_the_tables_as_they_are(filled: Path) -> None:
    """Between looking and locking another process may have made them."""
    file = KeyedFile.open(filled)
    make_tables(file.connection)
    assert file.tags() == {"runs": TAG}
    file.close()


def spoiled(path: Path, offset: int, content: bytes) -> None:
    """Write over a part of a file."""
    data = bytearray(path.read_bytes())
    data[offset : offset + len(content)] = content
    path.write_bytes(bytes(data))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A file with many states."""
    path = tmp_path / "p"
    file = KeyedFile.open(path)
    file.begin()
    file.put_many("runs", [(f"{number:05d}", b"x" * 90) for number in range(500)])
    file.set_tag(TAG)
    file.commit()
    file.close()
    return path


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda file: list(file.scan("runs")), id="scan"),
        pytest.param(lambda file: file.get("runs", "00400"), id="get"),
        pytest.param(lambda file: file.put_many("runs", [("00400", b"y")]), id="put"),
    ],
)
def test_a_damaged_file_is_told_and_no_reason_to_doubt_the_ledger(
    filled: Path, read: Callable[[KeyedFile], object]
) -> None:
    """Wherever the damage is met, the file may be deleted."""
    size = filled.stat().st_size
    spoiled(filled, 4096 * 3, b"\xff" * (size - 4096 * 3))
    file = KeyedFile.open(filled)
    with pytest.raises(StorageError, match="is not a projections file, or damaged") as caught:
        read(file)
    assert caught.value.hint == DISPOSABLE
    assert not isinstance(caught.value, VerificationError)
    file.close()


def test_a_key_that_is_no_text_is_damage(filled: Path) -> None:
    """SQLite does not mind bytes that are not UTF-8; we do."""
    connection = sqlite3.connect(filled)
    connection.execute("INSERT INTO state VALUES ('runs', CAST(x'80' AS TEXT), x'00')")
    connection.commit()
    connection.close()
    file = KeyedFile.open(filled)
    with pytest.raises(StorageError, match="or damaged: Could not decode"):
        list(file.scan("runs"))
    file.close()


def test_a_file_that_cannot_be_opened_says_which(tmp_path: Path) -> None:
    """A folder in its place is no file."""
    (tmp_path / "p").mkdir()
    with pytest.raises(StorageError, match=r"p cannot be opened or written"):
        KeyedFile.open(tmp_path / "p")


def test_a_file_that_another_writes_is_waited_for(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And given up on in the end."""
    monkeypatch.setattr("trial_ledger.keyed_file.LOCK_WAIT_SECONDS", 0)
    first, second = KeyedFile.open(filled), KeyedFile.open(filled)
    first.begin()
    with pytest.raises(StorageError, match="p is busy"):
        second.begin()
    first.rollback()
    second.begin()
    second.rollback()
    first.close()
    second.close()
