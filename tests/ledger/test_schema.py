"""Tables and triggers: what another program may do to a file, and which files are ours."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from ledger_cases import full_ledger, tools
from trial_ledger.book import Ledger
from trial_ledger.errors import StorageError, UnsupportedFormatError
from trial_ledger.goldfile import GoldFile, gold_path
from trial_ledger.locking import FileLock
from trial_ledger.schema import (
    FORMAT_VERSION,
    GOLD_APPLICATION_ID,
    LEDGER_APPLICATION_ID,
    check_format,
    create_ledger_schema,
    schema_differences,
    schema_rows,
)
from trial_ledger.sqlite import Connection, sqlite3
from trial_ledger.store import Store


@pytest.fixture
def connection(honest: Path) -> Iterator[Connection]:
    """Return a plain connection to an honest ledger, as another program would have; rolled back."""
    found = sqlite3.connect(honest, isolation_level=None)
    found.execute("BEGIN")
    yield found
    found.execute("ROLLBACK")
    found.close()


REFUSED = {
    "update of an event": "UPDATE event SET kind = 'x' WHERE seq = 9",
    "delete of an event": "DELETE FROM event WHERE seq = 9",
    "delete of the last event": "DELETE FROM event WHERE seq = 128",
    "delete of all events": "DELETE FROM event",
    "replace of an event": "INSERT OR REPLACE INTO event SELECT * FROM event WHERE seq = 9",
    "replace of an event by id": (
        "INSERT OR REPLACE INTO event SELECT 129, id, kind, run, trial, NULL, nodes, doc"
        " FROM event WHERE seq = 9"
    ),
    "replace of an event by its link": (
        "INSERT OR REPLACE INTO event SELECT 129, zeroblob(16), kind, run, trial, link, nodes, doc"
        " FROM event WHERE link = 1"
    ),
    "ignored insert of an old event": (
        "INSERT OR IGNORE INTO event SELECT * FROM event WHERE seq = 9"
    ),
    "upsert of an event": (
        "INSERT INTO event SELECT * FROM event WHERE seq = 9"
        " ON CONFLICT (seq) DO UPDATE SET kind = 'x'"
    ),
    "an event after a gap": (
        "INSERT INTO event SELECT 130, zeroblob(16), kind, run, trial, NULL, nodes, doc"
        " FROM event WHERE seq = 9"
    ),
    "an event before the first": (
        "INSERT INTO event SELECT 0, zeroblob(16), kind, run, trial, NULL, nodes, doc"
        " FROM event WHERE seq = 9"
    ),
    "update of a content": "UPDATE content SET data = x'00' WHERE id = 1",
    "delete of a content": "DELETE FROM content WHERE id = 1",
    "replace of a content": "INSERT OR REPLACE INTO content SELECT * FROM content WHERE id = 1",
    "a content twice": (
        "INSERT INTO content SELECT (SELECT max(id) + 1 FROM content), hash, bytes, encoding, data"
        " FROM content WHERE id = 1"
    ),
    "a content after a gap": "INSERT INTO content VALUES (9999, zeroblob(32), 0, 'raw', x'')",
    "delete of a blob": "DELETE FROM blob",
    "update of a salt": "UPDATE blob SET salt = zeroblob(32)",
    "update of a hash": "UPDATE blob SET hash = zeroblob(32), salt = NULL, content = NULL",
    "erasing without a word": "UPDATE blob SET salt = NULL, content = NULL",
    "half erasing": "UPDATE blob SET salt = NULL",
    "replace of a blob": "INSERT OR REPLACE INTO blob SELECT * FROM blob LIMIT 1",
}


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED)
def test_triggers_refuse_what_an_append_only_log_must_refuse(
    connection: Connection, statement: str
) -> None:
    """A program that knows nothing of us, with default settings, cannot change what is there."""
    assert connection.execute("PRAGMA recursive_triggers").fetchone()[0] == 0
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)


def test_a_regular_append_is_accepted(connection: Connection) -> None:
    """The next event with a new id may be inserted; the triggers refuse nothing else."""
    connection.execute(
        "INSERT INTO event SELECT 129, zeroblob(16), kind, run, trial, NULL, nodes, doc"
        " FROM event WHERE seq = 9"
    )
    assert connection.execute("SELECT max(seq) FROM event").fetchone()[0] == 129


WRONG_TYPES = {
    "a short id": (1, b"x", "k", None, None, None, b"", "{}"),
    "a text for an id": (1, "0" * 16, "k", None, None, None, b"", "{}"),
    "no kind": (1, bytes(16), None, None, None, None, b"", "{}"),
    "a text for a link": (1, bytes(16), "k", None, None, "one", b"", "{}"),
    "half a node": (1, bytes(16), "k", None, None, None, b"x", "{}"),
    "bytes for a document": (1, bytes(16), "k", None, None, None, b"", b"{}"),
    "a document beyond the limit": (1, bytes(16), "k", None, None, None, b"", "x" * 65_536),
    "a document beyond the limit in bytes": (
        1,
        bytes(16),
        "k",
        None,
        None,
        None,
        b"",
        "ä" * 33_000,
    ),
}


@pytest.mark.parametrize("values", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_columns_take_their_types_only(tmp_path: Path, values: tuple[object, ...]) -> None:
    """The tables are STRICT and bounded."""
    store = Store.create(tmp_path / "a")
    with pytest.raises(sqlite3.IntegrityError):
        store.connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    store.connection.execute(
        "INSERT INTO event VALUES (1, zeroblob(16), 'k', NULL, NULL, NULL, x'', ?)", ("x" * 65_535,)
    )
    store.close()


def test_a_signed_head_is_kept_as_it_is(tmp_path: Path) -> None:
    """Heads are inserted once and never changed."""
    store = Store.create(tmp_path / "a")
    run = store.connection.execute
    run("INSERT INTO head VALUES (1, 'note')")
    for statement in (
        "UPDATE head SET note = 'other'",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head VALUES (1, 'other')",
        "INSERT INTO head VALUES (0, 'none')",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            run(statement)
    assert run("SELECT * FROM head").fetchall() == [(1, "note")]
    store.close()


def test_files_say_what_they_are(honest: Path) -> None:
    """Both files carry their application id and the format in the header."""
    for path, expected in (
        (honest, LEDGER_APPLICATION_ID),
        (gold_path(honest), GOLD_APPLICATION_ID),
    ):
        found = sqlite3.connect(path)
        assert found.execute("PRAGMA application_id").fetchone()[0] == expected
        assert found.execute("PRAGMA user_version").fetchone()[0] == FORMAT_VERSION
        found.close()


def test_an_honest_schema_has_no_differences(honest: Path) -> None:
    """Both files hold exactly the objects that this version makes."""
    found = sqlite3.connect(honest)
    assert schema_differences(found) == []
    assert len(schema_differences(found, gold=True)) > 3
    found.close()


def test_the_frozen_schema() -> None:
    """Files of this format have exactly these objects for ever, whatever makes them.

    The table of applied migrations is made by sqlite-utils: a version of it that makes another
    one would call every older ledger changed, and has to be noticed here.
    """
    made = sqlite3.connect(":memory:", isolation_level=None)
    create_ledger_schema(made)
    rows = sorted((kind, name, table, sql or "") for kind, name, table, sql in schema_rows(made))
    made.close()
    text = "\n".join("\t".join(row) for row in rows)
    assert sha256(text.encode()).hexdigest() == SCHEMA_DIGEST, text


SCHEMA_DIGEST = "d37f91a84b06125dd1398a086cffd48ffb1aa438eac586acac434fecd9d31581"
"""SHA-256 of the sorted objects; a change of it is another format."""


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    """A database without our mark is named as no ledger, with the command that makes one."""
    found = sqlite3.connect(tmp_path / "a")
    with pytest.raises(StorageError, match="is not a ledger: its application id is 0x0") as caught:
        check_format(found, tmp_path / "a", LEDGER_APPLICATION_ID)
    found.close()
    assert caught.value.hint == "ledger init --ledger PATH makes one"


def test_a_gold_file_is_no_ledger_and_a_ledger_no_gold_file(tmp_path: Path) -> None:
    """The two files are told apart by their marks."""
    full_ledger(tmp_path).close()
    path = tmp_path / "trials.ledger"
    with pytest.raises(StorageError, match="is not a ledger: its application id is 0x54724731"):
        Ledger.open(gold_path(path), tools=tools(tmp_path))
    with pytest.raises(StorageError, match="is not a gold file: its application id is 0x54724c31"):
        GoldFile.open(path, FileLock(tmp_path / "l"), writable=False, warn=pytest.fail)


@pytest.mark.parametrize("write", [False, True])
def test_a_newer_format_is_refused_as_such(tmp_path: Path, write: bool) -> None:
    """A file of a newer version asks for a newer program, and nothing is written to it."""
    full_ledger(tmp_path).close()
    path = tmp_path / "trials.ledger"
    found = sqlite3.connect(path)
    found.execute("PRAGMA user_version = 2")
    found.close()
    before = path.read_bytes()
    with pytest.raises(UnsupportedFormatError) as caught:
        Ledger.open(path, write=write, tools=tools(tmp_path))
    assert caught.value.problems[0].found == "format 2"
    assert caught.value.problems[0].expected == "at most 1"
    assert caught.value.hint == "install a newer trial-ledger"
    assert caught.value.exit_code == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, -1])
def test_a_format_that_never_was_is_refused(tmp_path: Path, version: int) -> None:
    """A damaged mark is no older format."""
    full_ledger(tmp_path).close()
    path = tmp_path / "trials.ledger"
    found = sqlite3.connect(path)
    found.execute(f"PRAGMA user_version = {version}")
    found.close()
    with pytest.raises(StorageError, match=f"is of format {version}, which there never was"):
        Ledger.open(path, tools=tools(tmp_path))
