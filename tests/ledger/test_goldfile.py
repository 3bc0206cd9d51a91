"""The gold file: private, written before the ledger, told apart from every other file (C2)."""

import os
from pathlib import Path

import pytest

from ledger_cases import seeded_bytes
from trial_ledger import goldfile
from trial_ledger.blobs import NewBlob, sealed_blob
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.events import BlobRef
from trial_ledger.goldfile import GoldFile, gold_path
from trial_ledger.locking import FileLock
from trial_ledger.schema import GOLD_APPLICATION_ID
from trial_ledger.sqlite import Connection, connect_writer, sqlite3


def secret(text: str = "Samarkand") -> NewBlob:
    """Return a gold blob."""
    return sealed_blob(text.encode(), class_="gold", random_bytes=seeded_bytes(len(text)))


def reference(blob: NewBlob) -> BlobRef:
    """Return the reference that a document would hold."""
    return BlobRef(blob=blob.hash.hex(), bytes=len(blob.content), media="text/plain", class_="gold")


def reopened(path: Path, *, writable: bool = False) -> GoldFile | None:
    """Open a gold file as a ledger does."""
    return GoldFile.open(path, FileLock(path), writable=writable, warn=pytest.fail)


@pytest.fixture
def gold(tmp_path: Path) -> GoldFile:
    """Return a new gold file."""
    return GoldFile.create(tmp_path / "a.ledger.gold")


def test_it_lies_beside_its_ledger() -> None:
    """The name is the ledger's with .gold behind it."""
    assert gold_path(Path("x/trials.ledger")) == Path("x/trials.ledger.gold")


def test_c02_only_its_owner_can_read_it(gold: GoldFile) -> None:
    """Gold is private from the first moment, whatever the umask is."""
    assert gold.path.stat().st_mode & 0o777 == 0o600
    gold.close()


def test_what_was_committed_is_read(gold: GoldFile) -> None:
    """A blob is there after the commit, and its bytes are checked on reading."""
    blob = secret()
    gold.add(blob)
    gold.add(secret("Bukhara"))
    gold.commit()
    gold.close()
    again = reopened(gold.path)
    assert again is not None
    assert again.read(reference(blob)) == b"Samarkand"
    assert not again.writable
    with pytest.raises(VerificationError, match="is not in"):
        again.read(reference(secret("Khiva and more")))
    again.close()


def test_what_was_rolled_back_is_not_there(gold: GoldFile) -> None:
    """Neither collected nor flushed blobs survive a rollback, and the next add begins anew."""
    lost, kept = secret(), secret("Bukhara")
    gold.add(lost)
    gold.flush()
    gold.rollback()
    gold.rollback()
    gold.add(kept)
    gold.commit()
    assert gold.read(reference(kept)) == b"Bukhara"
    assert not gold.blobs.has(lost.hash)
    gold.close()


def test_nothing_to_write_is_nothing_to_do(gold: GoldFile) -> None:
    """Flush and commit without a blob touch nothing."""
    before = gold.path.read_bytes()
    gold.flush()
    gold.commit()
    assert gold.path.read_bytes() == before
    gold.close()


def test_a_stranger_has_none(tmp_path: Path) -> None:
    """A ledger without its gold file can be opened."""
    assert reopened(tmp_path / "none") is None


def test_c02_gold_that_may_not_be_read_is_left_out(
    gold: GoldFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other users read the ledger without its gold, and are told so; a writer is refused."""
    gold.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    notes: list[str] = []
    lock = FileLock(gold.path)
    assert GoldFile.open(gold.path, lock, writable=False, warn=notes.append) is None
    assert notes == [f"{gold.path} may not be read: gold is left out"]
    writer = GoldFile.open(gold.path, lock, writable=True, warn=notes.append)
    assert writer is not None
    writer.close()


@pytest.mark.parametrize("writable", [True, False])
def test_another_database_is_refused(tmp_path: Path, writable: bool) -> None:
    """A file of another program is no gold file, and is not changed."""
    path = tmp_path / "a"
    sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="is not a gold file: its application id is 0x0"):
        reopened(path, writable=writable)
    assert path.read_bytes() == before


def test_a_name_that_is_taken_is_refused(gold: GoldFile) -> None:
    """An existing gold file is never overwritten."""
    gold.close()
    before = gold.path.read_bytes()
    with pytest.raises(StorageError, match=r"cannot make the gold file .*: File exists"):
        GoldFile.create(gold.path)
    assert gold.path.read_bytes() == before


def test_a_failed_creation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tables cannot be made, the file goes again."""

    def fail(_: Connection) -> None:
        error = sqlite3.OperationalError("disk full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error

    monkeypatch.setattr(goldfile, "create_gold_schema", fail)
    with pytest.raises(StorageError, match="no space for"):
        GoldFile.create(tmp_path / "a.gold")
    assert not (tmp_path / "a.gold").exists()


def test_errors_of_sqlite_are_ours(gold: GoldFile) -> None:
    """A gold file that is closed under us raises an error of storage in every method."""
    gold.add(secret())
    gold.connection.close()
    for act in (gold.flush, gold.commit, lambda: gold.add(secret("x"))):
        with pytest.raises(StorageError, match="closed database"):
            act()


def test_it_is_marked_as_a_gold_file(gold: GoldFile) -> None:
    """The file header says what it is."""
    gold.close()
    connection = connect_writer(gold.path)
    assert connection.execute("PRAGMA application_id").fetchone()[0] == GOLD_APPLICATION_ID
    connection.close()
