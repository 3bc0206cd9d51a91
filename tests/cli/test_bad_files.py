"""Files that cannot be used, through the real command: exit code, message, nothing changed."""

import fcntl
import json
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, Result, head, ledger, lines, opening, ready, write
from inspect_cases import Archive, header, sample
from trial_ledger.goldfile import gold_path

FORM, VERIFICATION, NOT_FOUND, STORAGE = 2, 4, 6, 7
OTHER_USER = 65534
SHORT_WAIT = (
    "from trial_ledger.locking import FileLock;"
    ' FileLock.acquire.__kwdefaults__["wait_seconds"] = 0.05'
)
"""A writer that gives up at once, so that the test need not wait."""
DROPPED = f"""
import contextlib, io, os, sys, tempfile
from trial_cli.main import run
if os.getuid() == 0:  # Root may write anywhere; another user may not be able to import anything.
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        other = ["--ledger", name + "/trials.ledger"]
        with contextlib.redirect_stderr(io.StringIO()):
            for command in (["init"], ["append", "in.jsonl"], ["log", "--json"], ["verify"]):
                run([*command, *other])
    os.setgroups([])
    os.setgid({OTHER_USER})
    os.setuid({OTHER_USER})
"""
"""Goes on as a user who may not write."""
LARGE = {"kind": "note.added", "data": {"about": "x", "text": secrets.token_hex(1_000_000)}}
"""An event that needs a megabyte of disk."""


def refused(result: Result, code: int, *says: str) -> None:
    """Assert that a command failed in one clause and wrote no data."""
    assert result.code == code, result.err
    assert result.out == ""
    assert "Traceback" not in result.err
    for words in says:
        assert words in result.err


def test_a_missing_ledger_is_not_found(tmp_path: Path) -> None:
    """Without a ledger every command says which file it looked for and how to make one."""
    result = ledger(tmp_path, "runs")
    refused(result, NOT_FOUND, "no ledger at trials.ledger", "hint: ledger init")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no database at all " * 300, "is not a ledger: not a database"),
        (b"", "is not a ledger: its application id is 0x0"),
    ],
)
def test_a_file_that_is_not_a_ledger(content: bytes, says: str, tmp_path: Path) -> None:
    """Neither reading nor appending takes another file for a ledger, nor changes a byte of it."""
    (tmp_path / LEDGER).write_bytes(content)
    refused(ledger(tmp_path, "runs"), STORAGE, says, "ledger init --ledger PATH")
    refused(ledger(tmp_path, "append", stdin=lines(opening())), STORAGE, says)
    assert (tmp_path / LEDGER).read_bytes() == content


def test_another_program_s_database_is_left_alone(tmp_path: Path) -> None:
    """Appending to a database of another program is refused and leaves its every byte."""
    path = tmp_path / LEDGER
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE mine (value)")
    database.close()
    before = path.read_bytes()
    refused(
        ledger(tmp_path, "append", stdin=lines(opening())),
        STORAGE,
        "trials.ledger is not a ledger: its application id is 0x0",
    )
    assert path.read_bytes() == before


def test_a_ledger_of_a_newer_format(tmp_path: Path) -> None:
    """A file of a newer format is refused with both versions, and not touched."""
    path = ready(tmp_path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version=99")
    database.close()
    before = path.read_bytes()
    refused(
        ledger(tmp_path, "append", stdin=lines(opening())),
        FORM,
        "the file is of a newer format, found format 99, expected at most 1",
        "install a newer trial-ledger",
    )
    assert path.read_bytes() == before


def test_a_cut_ledger_fails_verification(tmp_path: Path) -> None:
    """A ledger that lost its last pages is damaged, whichever command meets it."""
    path = ready(tmp_path)
    path.write_bytes(path.read_bytes()[: 4096 * 5])
    for command in ("verify", "log"):
        result = ledger(tmp_path, command)
        assert result.code == VERIFICATION, result
        assert "Traceback" not in result.err


def test_a_missing_gold_file_refuses_gold(tmp_path: Path, here: Here) -> None:
    """Without the gold file nothing that belongs in it is appended; the rest is."""
    path = ready(tmp_path)
    gold_path(path).rename(tmp_path / "kept")
    before = head(path)
    secret = {"kind": "note.added", "data": {"about": "x", "text": {"text": "t", "class": "gold"}}}
    refused(
        ledger(tmp_path, "append", stdin=lines(secret)),
        STORAGE,
        "belongs in the gold file, which is missing",
        "put the .gold file beside the ledger",
    )
    assert head(path) == before
    assert here("append", write(tmp_path, [opening()])).code == 0


@pytest.fixture
def readable() -> Iterator[Path]:
    """Return a folder that every user can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_directory(readable: Path) -> None:
    """Who may only read a folder can read its ledger, and is refused what would write."""
    path = ready(readable)
    path.chmod(0o444)
    before = head(path)
    (readable / "in.jsonl").write_bytes(lines(opening()))
    for file in readable.iterdir():
        file.chmod(0o444)
    (readable / LEDGER).with_name(f"{LEDGER}.lock").unlink(missing_ok=True)
    readable.chmod(0o555)
    cannot = ledger(readable, "append", "in.jsonl", before=DROPPED)
    refused(cannot, STORAGE, "cannot make the lock trials.ledger.lock: Permission denied", "write")
    cannot = ledger(readable, "init", "--ledger", "new", before=DROPPED)
    refused(cannot, STORAGE, "cannot make the lock new.lock: Permission denied", "--ledger PATH")
    shown = ledger(readable, "log", "--json", before=DROPPED)
    assert shown.code == 0, shown.err
    assert len(shown.json["events"]) == before.size
    assert ledger(readable, "verify", before=DROPPED).code == 0
    assert head(path) == before


def test_a_full_disk_by_a_limit(tmp_path: Path, here: Here) -> None:
    """Where a file may not grow, nothing is appended and the ledger stays as it was."""
    path = ready(tmp_path)
    before = head(path)
    size = path.stat().st_size + 65_536
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    refused(ledger(tmp_path, "append", write(tmp_path, [LARGE]), before=limit), STORAGE, LEDGER)
    assert head(path) == before
    assert here("verify").code == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of 700 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=700k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(["mount", *options], check=False).returncode:
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    """On a full disk nothing is appended; what was acknowledged is there and verifies."""
    path = ready(small_disk)
    before = head(path)
    with (small_disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while filler.write(bytes(4096)):
            pass
    arguments = ("append", write(tmp_path, [LARGE]), "--ledger", str(path))
    refused(ledger(tmp_path, *arguments), STORAGE, "no space for", "acknowledged is safe")
    assert head(path) == before
    assert ledger(tmp_path, "verify", "--ledger", str(path)).code == 0
    refused(
        ledger(tmp_path, "init", "--ledger", str(small_disk / "second")), STORAGE, "no space for"
    )


def test_a_locked_file(tmp_path: Path, here: Here) -> None:
    """While another writer holds the lock, an append gives up and says so; reading goes on."""
    path = ready(tmp_path)
    before = head(path)
    with path.with_name(f"{LEDGER}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused(
            ledger(tmp_path, "append", stdin=lines(opening()), before=SHORT_WAIT),
            STORAGE,
            "trials.ledger.lock is held by another writer",
            "try again when it is done",
        )
        assert here("verify").code == 0
    assert head(path) == before


def test_a_truncated_eval_log(tmp_path: Path, here: Here) -> None:
    """Half an `.eval` file is refused as not whole, and nothing of it is imported."""
    path = ready(tmp_path)
    before = head(path)
    archive = Archive()
    archive.add("header.json", json.dumps(header()).encode())
    archive.add("samples/1_epoch_1.json", json.dumps(sample()).encode())
    (tmp_path / "half.eval").write_bytes(archive.content()[:-30])
    result = ledger(tmp_path, "import", "inspect", "half.eval")
    assert result.code == FORM
    assert "half.eval: not a whole ZIP file" in result.err
    assert "half.eval: not imported" in result.err
    assert result.out == "half.eval: refused\n0 of 1 files, 0 events appended\n"
    assert head(path) == before
    assert here("verify").code == 0


def test_an_input_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing input is not found, a folder in its place cannot be read."""
    ready(tmp_path)
    refused(
        ledger(tmp_path, "append", "nothing.jsonl"), NOT_FOUND, "no file nothing.jsonl", "- for"
    )
    refused(ledger(tmp_path, "append", "."), STORAGE, "cannot read .: Is a directory")
    refused(ledger(tmp_path, "freeze", "rubric", "none.toml"), NOT_FOUND, "no file none.toml")
    refused(ledger(tmp_path, "freeze", "rubric", "."), STORAGE, "cannot read .: Is a directory")
