"""One SQLite library, settings that survive power loss, and errors of our own."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlite_utils.utils

from trial_ledger import sqlite
from trial_ledger.errors import LedgerError, StorageError, VerificationError
from trial_ledger.locking import FileLock
from trial_ledger.sqlite import (
    Connection,
    closed_on_error,
    connect_reader,
    connect_writer,
    integrity_faults,
    needs_recovery,
    open_reader,
    sqlite3,
    storage_error,
    translated,
    translating,
)


def made(path: Path) -> Path:
    """Make a small database by the settings of a writer."""
    connection = connect_writer(path, create=True)
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (1)")
    connection.close()
    return path


def test_there_is_one_sqlite_library_in_the_process() -> None:
    """Two libraries in one process lose rows silently: ours is the one that sqlite-utils uses."""
    assert sqlite3 is vars(sqlite_utils.utils)["sqlite3"]


def test_a_writer_has_the_settings_that_survive_power_loss(tmp_path: Path) -> None:
    """Journal, syncing, triggers and erasing are set, whatever the library's defaults are."""
    connection = connect_writer(made(tmp_path / "a"))
    found = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in (
            "journal_mode", "synchronous", "fullfsync", "foreign_keys", "recursive_triggers",
            "trusted_schema", "cell_size_check", "secure_delete", "mmap_size",
        )
    }  # fmt: skip
    connection.close()
    assert found == {
        "journal_mode": "truncate", "synchronous": 3, "fullfsync": 1, "foreign_keys": 1,
        "recursive_triggers": 1, "trusted_schema": 0, "cell_size_check": 1, "secure_delete": 1,
        "mmap_size": 0,
    }  # fmt: skip


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    """A reader's connection refuses every change, twice over."""
    connection = connect_reader(made(tmp_path / "a"))
    assert connection.execute("PRAGMA query_only").fetchone()[0] == 1
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM t")
    connection.execute("PRAGMA query_only = OFF")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM t")
    connection.close()


@pytest.mark.parametrize("name", ["a b", "a?mode=rw", "a#b", "100%25", "ä", "a;b&c", "\udcff"])
def test_any_file_name_is_a_file_name(tmp_path: Path, name: str) -> None:
    """No character of a name is taken for part of a URI; names need not be UTF-8."""
    path = made(tmp_path / name)
    assert {file.name for file in tmp_path.iterdir()} == {name, f"{name}-journal"}
    connection = connect_reader(path)
    assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]
    connection.close()


def test_a_journal_mode_that_another_program_keeps_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another program has the file in WAL mode we do not write to it."""
    path = made(tmp_path / "a")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("INSERT INTO t VALUES (2)")
    monkeypatch.setattr(sqlite, "LOCK_WAIT_SECONDS", 0.05)
    with pytest.raises(StorageError) as caught:
        connect_writer(path)
    other.close()
    assert caught.value.exit_code == 7
    connect_writer(path).close()


def test_a_journal_mode_that_is_not_taken_is_refused(tmp_path: Path) -> None:
    """What SQLite answers is read back: a database in memory has no journal to truncate."""
    with pytest.raises(StorageError, match="journal mode is memory, expected truncate") as caught:
        connect_writer(Path(":memory:"), create=True)
    assert caught.value.hint == "another program changed it; close it and try again"
    assert list(tmp_path.iterdir()) == []


def test_a_refused_file_is_not_changed(tmp_path: Path) -> None:
    """A check that refuses comes before the journal mode, which would be written to the file."""
    path = tmp_path / "a"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    before = path.read_bytes()

    def refuse(_: Connection) -> None:
        message = "not ours"
        raise StorageError(message)

    with pytest.raises(StorageError, match="not ours"):
        connect_writer(path, check=refuse)
    assert path.read_bytes() == before


def test_no_handle_is_left_open_after_a_failure(tmp_path: Path) -> None:
    """A connection that turns out to be useless is closed, as open handles would drop locks."""
    path = tmp_path / "a"
    path.write_bytes(b"no database at all, but long enough to look at" * 100)
    handles = Path("/proc/self/fd")
    if not handles.exists():
        pytest.skip("open handles are counted in /proc, which is not here")
    before = len(list(handles.iterdir()))
    for _ in range(5):
        with pytest.raises(StorageError, match="not a database"):
            connect_writer(path)
        with pytest.raises(StorageError, match="not a database"):
            open_reader(path, FileLock(tmp_path / "a.lock"), warn=print)
    assert len(list(handles.iterdir())) == before


# Errors


def failing(name: str) -> sqlite3.OperationalError:
    """Return an error of SQLite with a name."""
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("SQLITE_BUSY", StorageError, "is busy"),
        ("SQLITE_BUSY_SNAPSHOT", StorageError, "is busy"),
        ("SQLITE_LOCKED", StorageError, "is busy"),
        ("SQLITE_NOTADB", StorageError, "is not a ledger: not a database"),
        ("SQLITE_CORRUPT_INDEX", VerificationError, "is damaged, or the disk cannot read it: what"),
        ("SQLITE_FULL", StorageError, "no space for"),
        ("SQLITE_READONLY_ROLLBACK", StorageError, "in the middle of a write"),
        ("SQLITE_READONLY_DBMOVED", StorageError, "cannot be opened or written"),
        ("SQLITE_CANTOPEN_ISDIR", StorageError, "cannot be opened or written"),
        ("SQLITE_PERM", StorageError, "cannot be opened or written"),
        ("SQLITE_AUTH", StorageError, "cannot be opened or written"),
        ("SQLITE_CONSTRAINT_TRIGGER", StorageError, "refuses the row"),
        ("SQLITE_IOERR_FSYNC", StorageError, "what SQLite says (SQLITE_IOERR_FSYNC)"),
    ],
)
def test_every_error_of_sqlite_has_words_and_a_hint(
    name: str, kind: type[LedgerError], words: str
) -> None:
    """Each names the file, says one thing, and hints at the next step."""
    error = storage_error(Path("a.ledger"), failing(name))
    assert type(error) is kind
    assert words in error.message
    assert "a.ledger" in error.message
    assert error.hint


def test_an_error_without_a_name_is_named_by_its_class() -> None:
    """Errors that Python's module raises itself are not lost."""
    error = storage_error(Path("a"), sqlite3.ProgrammingError("closed"))
    assert error.message == "a: closed (ProgrammingError)"
    assert "append them again by id" in (error.hint or "")


def test_bytes_that_are_no_text_are_damage() -> None:
    """Where SQLite's own message cannot be decoded, the file is damaged."""
    error = storage_error(Path("a"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"))
    assert isinstance(error, VerificationError)
    assert error.message.startswith("a is damaged: ")


class Reader:
    """Something with a file, to try the decorator on."""

    path = Path("a")

    @translating
    def run(self, act: Callable[[], int], *, more: int = 0) -> int:
        """Return what an act returns."""
        return act() + more


def test_errors_are_translated_in_blocks_and_methods() -> None:
    """Both forms turn SQLite's errors into ours, keep the cause, and leave all others alone."""

    def busy() -> int:
        raise failing("SQLITE_BUSY")

    def wrong() -> int:
        raise KeyError("x")

    assert Reader().run(lambda: 1, more=2) == 3
    assert Reader.run.__name__ == "run"
    with pytest.raises(StorageError, match="a is busy") as caught:
        Reader().run(busy)
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    with pytest.raises(StorageError, match="b is busy"), translated(Path("b")):
        busy()
    with pytest.raises(KeyError):
        Reader().run(wrong)
    with pytest.raises(KeyError), translated(Path("b")):
        wrong()


class Door:
    """Something that can be closed."""

    closed = False

    def close(self) -> None:
        """Close it."""
        self.closed = True


def test_what_is_of_no_use_is_closed() -> None:
    """On any error, an interrupt included, what was opened is closed; otherwise it stays open."""
    door = Door()
    with closed_on_error(door):
        pass
    assert not door.closed
    with pytest.raises(KeyboardInterrupt), closed_on_error(door):
        raise KeyboardInterrupt
    assert door.closed


def test_sqlite_checks_its_own_pages(tmp_path: Path) -> None:
    """A sound file has no faults; an index that misses a row has one."""
    path = made(tmp_path / "a")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE INDEX i ON t (a)")
    assert integrity_faults(connection) == []
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (a) WHERE a > 5'"
                       " WHERE name = 'i'")  # fmt: skip
    connection.close()
    connection = sqlite3.connect(path)
    assert len(integrity_faults(connection)) >= 1
    connection.close()


def crashed(folder: Path) -> Path:
    """Return a file as a writer leaves it that dies in the middle of a transaction."""
    path, left = folder / "whole", folder / "left"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("CREATE TABLE kept (a)")
    connection.execute("INSERT INTO kept VALUES (1)")
    connection.execute("PRAGMA cache_size=1")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
        " INSERT INTO kept SELECT randomblob(1000) FROM n"
    )
    for name in ("", "-journal"):
        shutil.copyfile(f"{path}{name}", f"{left}{name}")
    connection.close()
    return left


def test_a_reader_rolls_back_what_a_writer_left_and_says_so(tmp_path: Path) -> None:
    """What was not committed is gone, what was is there; the second reader finds nothing to do."""
    path = crashed(tmp_path)
    told: list[str] = []
    lock = FileLock(tmp_path / "lock")
    for _ in range(2):
        connection = open_reader(path, lock, warn=told.append)
        assert connection.execute("SELECT a FROM kept").fetchall() == [(1,)]
        connection.close()
    assert told == [f"{path}: rolled back what a crashed writer had not committed"]


def test_another_error_is_no_journal(tmp_path: Path) -> None:
    """A file that cannot be read for another reason is not taken for one to be rolled back."""
    path = made(tmp_path / "whole")
    connection = connect_reader(path)
    connection.set_progress_handler(lambda: 1, 1)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        needs_recovery(connection)
    connection.close()
