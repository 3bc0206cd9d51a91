"""Files beside the database: whole or not there, and no litter."""

import os
import stat
from pathlib import Path

import pytest

from trial_ledger.durable import sync_folder, write_whole


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
