"""Making and opening a ledger: nothing is overwritten, nothing half made is left behind."""

import errno
from pathlib import Path

import pytest

from ledger_cases import empty_ledger, note, small_ledger, tools
from trial_ledger import store
from trial_ledger.book import Ledger
from trial_ledger.errors import NotFoundError, StorageError, VerificationError
from trial_ledger.events import LedgerOpened
from trial_ledger.goldfile import GoldFile
from trial_ledger.sqlite import sqlite3
from trial_ledger.store import Store


def test_a_new_ledger_says_what_it_is(tmp_path: Path) -> None:
    """The first event names the format, the algorithms and the program."""
    with empty_ledger(tmp_path) as ledger:
        first = ledger.read(1).event
        assert isinstance(first.data, LedgerOpened)
        assert first.data.format == 1
        assert first.data.algorithms["event_hash"] == "BLAKE3"
        assert (first.data.created_by or "").startswith("trial-ledger ")
        assert first.ledger == ledger.id
        assert ledger.head().size == 1
        assert sorted(file.name for file in tmp_path.glob("trials.ledger*")) == [
            "trials.ledger", "trials.ledger-journal", "trials.ledger.gold",
            "trials.ledger.gold-journal", "trials.ledger.lock",
        ]  # fmt: skip


@pytest.mark.parametrize("name", ["trials.ledger", "trials.ledger.gold"])
def test_nothing_that_exists_is_overwritten(tmp_path: Path, name: str) -> None:
    """An existing ledger or gold file stops the making of a new one, and stays as it is."""
    (tmp_path / name).write_bytes(b"precious")
    with pytest.raises(StorageError, match=f"{name} exists") as caught:
        empty_ledger(tmp_path)
    assert caught.value.hint == "choose another name with --ledger PATH"
    assert (tmp_path / name).read_bytes() == b"precious"


def test_a_name_taken_while_waiting_for_the_lock_is_respected(tmp_path: Path) -> None:
    """Whether the file exists is looked at under the lock."""
    (tmp_path / "a").write_bytes(b"precious")
    with pytest.raises(StorageError, match="a exists"):
        Store.create(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"precious"


@pytest.mark.parametrize("failing", ["gold", "append"])
def test_a_failed_making_leaves_nothing_behind(
    tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong, the next try finds the name free."""

    def fail(*_: object) -> None:
        message = "no space"
        raise StorageError(message)

    with monkeypatch.context() as patch:
        if failing == "gold":
            patch.setattr(GoldFile, "create", fail)
        else:
            patch.setattr(Ledger, "append", fail)
        with pytest.raises(StorageError, match="no space"):
            empty_ledger(tmp_path)
    assert not list(tmp_path.glob("trials.ledger.gold"))
    assert not (tmp_path / "trials.ledger").exists()
    empty_ledger(tmp_path).close()


def test_tables_that_cannot_be_made_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk in the middle of the first transaction leaves the name free."""

    def fail(_: object) -> None:
        error = sqlite3.OperationalError("disk full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(store, "create_ledger_schema", fail)
        with pytest.raises(StorageError, match="no space for"):
            Store.create(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    Store.create(tmp_path / "a").close()


def test_a_ledger_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A missing folder is named."""
    with pytest.raises(StorageError, match="No such file or directory"):
        empty_ledger(tmp_path / "nowhere", world=tools(tmp_path))


def test_a_ledger_that_is_not_there(tmp_path: Path) -> None:
    """A missing ledger is exit 6, with the command that makes one."""
    for write in (False, True):
        with pytest.raises(NotFoundError, match="no ledger at") as caught:
            Ledger.open(tmp_path / "a", write=write, tools=tools(tmp_path))
        assert "ledger init" in (caught.value.hint or "")


@pytest.mark.parametrize("content", [b"", b"x" * 5_000])
@pytest.mark.parametrize("write", [False, True])
def test_a_file_that_is_no_ledger(tmp_path: Path, content: bytes, write: bool) -> None:
    """Any other file is refused with exit 7 and left as it is."""
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(StorageError, match="is not a ledger"):
        Ledger.open(path, write=write, tools=tools(tmp_path))
    assert path.read_bytes() == content


def test_a_ledger_whose_making_was_interrupted(tmp_path: Path) -> None:
    """Tables without events are what a crash in the middle of init leaves."""
    Store.create(tmp_path / "a").close()
    with pytest.raises(VerificationError, match="its creation was interrupted") as caught:
        Ledger.open(tmp_path / "a", tools=tools(tmp_path))
    assert caught.value.hint == "remove it and run ledger init again"


def test_a_reader_cannot_append(tmp_path: Path) -> None:
    """A ledger opened for reading refuses to append, with exit 7."""
    small_ledger(tmp_path).close()
    with (
        Ledger.open(tmp_path / "trials.ledger", tools=tools(tmp_path)) as ledger,
        pytest.raises(StorageError, match="readonly"),
    ):
        ledger.append(note("x"))


def test_the_real_world_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without tools the clock, the randomness and the state folder of the machine are used."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Ledger.create(tmp_path / "a") as ledger:
        identifier = ledger.id
    with Ledger.open(tmp_path / "a") as ledger:
        assert ledger.id == identifier
    assert (tmp_path / "state" / "trial-ledger" / "heads" / identifier).exists()


def test_a_ledger_without_pins_keeps_none(tmp_path: Path) -> None:
    """Where no state folder is given nothing is written outside."""
    with small_ledger(tmp_path, world=tools(tmp_path, pins=False)) as ledger:
        assert ledger.pin is None
    assert not (tmp_path / "state").exists()


def test_a_folder_that_may_not_be_looked_into_is_a_matter_of_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told that a ledger is missing where it only cannot be seen."""

    def denied(_: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "is_file", denied)
    with pytest.raises(StorageError, match=r"cannot look for .*: Permission denied"):
        Ledger.open(tmp_path / "trials.ledger")
