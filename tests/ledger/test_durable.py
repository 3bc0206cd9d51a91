"""Files beside the database: whole or not there, and no litter."""

import os
import stat
from pathlib import Path

import pytest

from trial_ledger.durable import is_there, remove_unfinished, sync_folder, write_whole
from trial_ledger.errors import StorageError


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    """What is written is there whole, with the mode that was asked for, and nothing else."""
    file = tmp_path / "a"
    write_whole(file, b"one", mode=0o600)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    write_whole(file, b"two")
    assert file.read_bytes() == b"two"
    assert [found.name for found in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """Where the file system refuses, the old file stays, whole, and nothing lies beside it."""
    file = tmp_path / "a"
    write_whole(file, b"one")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, failing, refuse)
    with pytest.raises(OSError, match="Input/output error"):
        write_whole(file, b"two")
    assert file.read_bytes() == b"one"
    assert [found.name for found in tmp_path.iterdir()] == ["a"]


def test_a_folder_that_cannot_be_synced_is_an_error(tmp_path: Path) -> None:
    """A sync that did not happen is told."""
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "none")


def failing(*_: object, **__: object) -> bool:
    """Be a disk that fails."""
    raise OSError(5, "Input/output error")


def test_a_name_is_looked_for(tmp_path: Path) -> None:
    """A folder is something and no file; where the disk fails, that is no answer."""
    assert is_there(tmp_path)
    assert not is_there(tmp_path, kind=Path.is_file)
    assert not is_there(tmp_path / "none")
    with pytest.raises(StorageError, match=r"cannot look for .*: Input/output error") as caught:
        is_there(tmp_path, kind=failing)
    assert caught.value.hint


def test_what_was_not_finished_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Removing twice is fine; where it cannot be done, the user is told to do it."""
    file = tmp_path / "a"
    file.touch()
    remove_unfinished(file)
    remove_unfinished(file)
    assert not file.exists()
    monkeypatch.setattr(Path, "unlink", failing)
    with pytest.raises(StorageError, match="was not finished, and cannot be removed") as caught:
        remove_unfinished(file)
    assert caught.value.hint == "remove it, then try again"
