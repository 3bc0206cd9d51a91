"""The projections file is made once, whoever comes first, and a temporary one leaves no trace."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from trial_ledger.keyed_file import KeyedFile, StateTag, make_tables, projections_path
from trial_ledger.sqlite import sqlite3

TAG = StateTag(projection="p", version=1, ledger="ab" * 16, size=7, root="cd" * 32)


def test_it_lies_beside_its_ledger() -> None:
    """The name is the ledger's with .projections behind it."""
    assert projections_path(Path("x/a.ledger")) == Path("x/a.ledger.projections")


def test_states_and_their_tag_are_kept_together(tmp_path: Path) -> None:
    """What was committed is there with its tag; what was rolled back took its tag along."""
    file = KeyedFile.open(tmp_path / "a")
    file.begin()
    file.put_many("p", [("k1", b"1"), ("k2", b"2"), ("l", b"3")])
    file.set_tag(TAG)
    file.commit()
    file.begin()
    file.clear("p")
    file.rollback()
    file.rollback()
    file.close()
    again = KeyedFile.open(tmp_path / "a")
    assert again.tags() == {"p": TAG}
    assert list(again.scan("p", "k")) == [("k1", b"1"), ("k2", b"2")]
    assert list(again.values("p")) == [b"1", b"2", b"3"]
    assert again.get("p", "nowhere") is None
    again.close()


def test_tables_are_made_once(tmp_path: Path) -> None:
    """Who comes second finds the tables made and keeps what is in them."""
    connection = sqlite3.connect(tmp_path / "a", isolation_level=None)
    make_tables(connection)
    connection.execute("INSERT INTO state VALUES ('p', 'k', x'01')")
    make_tables(connection)
    assert connection.execute("SELECT count(*) FROM state").fetchone()[0] == 1
    connection.close()


def test_many_may_open_it_at_the_same_time(tmp_path: Path) -> None:
    """Of several that find no file, one makes the tables and all can use them."""
    start = threading.Barrier(8)
    failed: list[Exception] = []

    def work() -> None:
        start.wait()
        try:
            file = KeyedFile.open(tmp_path / "a")
            file.tags()
            file.close()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test has to see it
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_temporary_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """States that are not to be kept lie nowhere in the folder."""
    monkeypatch.chdir(tmp_path)
    file = KeyedFile.temporary()
    file.put_many("p", [("k", b"1")])
    assert list(file.scan("p")) == [("k", b"1")]
    file.close()
    assert list(tmp_path.iterdir()) == []


def test_many_states_change_together_or_not_at_all(tmp_path: Path) -> None:
    """Outside a transaction a batch is one of its own; what breaks it off leaves nothing of it."""

    def broken() -> Iterator[tuple[str, bytes]]:
        yield "a", b"2"
        raise KeyError

    file = KeyedFile.open(tmp_path / "a.projections")
    file.put_many("p", [("a", b"1"), ("b", b"1")])
    with pytest.raises(KeyError):
        file.put_many("p", broken())
    assert list(file.scan("p")) == [("a", b"1"), ("b", b"1")]
    file.begin()
    file.put_many("p", [("a", b"2")])
    file.rollback()
    assert list(file.scan("p")) == [("a", b"1"), ("b", b"1")]
    file.close()
