"""Several processes and threads on one ledger: none lost, none doubled, nobody stops a reader."""

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random

import pytest

from process_cases import (
    acknowledge_too_early,
    append_some,
    append_to_a_full_disk,
    as_nobody,
    die_in_a_transaction,
    locked_elsewhere,
    note,
    running,
    started,
    told,
    world,
)
from trial_ledger import sqlite
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.errors import StorageError
from trial_ledger.goldfile import gold_path
from trial_ledger.locking import FileLock
from trial_ledger.sqlite import sqlite3

SOAK = os.environ.get("LEDGER_SOAK") == "1"
WRITERS = 8
APPENDS = 1_000 if SOAK else 150
KILLED_WRITERS = 6
KILLS = 5_000 if SOAK else 500


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a ledger that holds ledger.opened only."""
    with Ledger.create(tmp_path / "a.ledger", tools=world(tmp_path / "state")) as ledger:
        return ledger.store.path


@pytest.fixture
def open_to_all(tmp_path: Path) -> Iterator[Path]:
    """Return a ledger in a folder that every user of the machine can look into."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    with Ledger.create(folder / "a.ledger", tools=world(tmp_path / "state")) as ledger:
        ledger.append(note("first", 1))
    yield folder / "a.ledger"
    shutil.rmtree(folder)


@contextlib.contextmanager
def only_to_be_read(path: Path) -> Iterator[Path]:
    """Take the right to write from everybody but root; give a folder for head pins."""
    for file in path.parent.iterdir():
        file.chmod(0o444)
    path.parent.chmod(0o555)
    yield path.parent / "none"
    path.parent.chmod(0o755)
    for file in path.parent.iterdir():
        file.chmod(0o644)


def reopened(path: Path, *, write: bool = False) -> Ledger:
    """Open a ledger in this process; warnings go to the test's output."""
    return Ledger.open(path, write=write, tools=world(path.parent / "state"))


def check_acknowledged(path: Path, files: list[Path]) -> list[str]:
    """Check that a ledger is intact and holds every acknowledged event; return their ids."""
    lines = [line.split() for file in files if file.exists() for line in complete_lines(file)]
    with reopened(path) as ledger:
        found = {stored.event.id: stored for stored in ledger.events()}
        report = ledger.verify()
        size = ledger.head().size
    assert [str(finding) for finding in report.findings] == []
    assert report.size == size == len(found)
    assert sorted(stored.event.seq for stored in found.values()) == list(range(1, size + 1))
    for identifier, seq, digest in lines:
        stored = found[identifier]
        assert (str(stored.event.seq), stored.hash) == (seq, digest)
    return [identifier for identifier, _, _ in lines]


def complete_lines(file: Path) -> list[str]:
    """Return the lines of a file that were written to their end."""
    return [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.soak
def test_eight_processes_lose_and_double_nothing(path: Path, tmp_path: Path) -> None:
    """8 processes of 150 appends: every event is there once, and the places have no gap."""
    files = [tmp_path / f"acknowledged-{number}" for number in range(WRITERS)]
    processes = [
        started(append_some, path, tmp_path / "state", f"writer {number}", APPENDS, file)
        for number, file in enumerate(files)
    ]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * WRITERS
    acknowledged = check_acknowledged(path, files)
    assert len(acknowledged) == len(set(acknowledged)) == WRITERS * APPENDS
    with reopened(path) as ledger:
        assert ledger.head().size == 1 + WRITERS * APPENDS
    longest = max(int(file.with_suffix(".longest").read_text()) for file in files)
    print(f"longest append {longest / 1000:.0f} ms")  # noqa: T201 - for the records, not compared


def kill_writers(
    path: Path,
    target: Callable[..., None],
    kills: int,
    *,
    count: int = KILLED_WRITERS,
    pause: float = 0.04,
) -> list[Path]:
    """Let writers append, kill one after the other, and return where they acknowledged."""
    chosen = Random(20261001)  # noqa: S311 - repeatable on purpose
    folder = path.parent
    files: list[Path] = []

    def another(number: int) -> ForkServerProcess:
        files.append(folder / f"acknowledged-{number}")
        return started(target, path, folder / "state", f"writer {number}", 10_000, files[-1])

    writers = [another(number) for number in range(count)]
    for kill in range(kills):
        time.sleep(chosen.uniform(0.0, pause))
        place = chosen.randrange(count)
        writers[place].kill()
        writers[place].join()
        writers[place] = another(count + kill)
        if kill % 10 == 0:
            with reopened(path) as ledger:
                assert ledger.read(ledger.head().size).event.kind in {"ledger.opened", "note.added"}
    for writer in writers:
        writer.kill()
        writer.join()
    return files


@pytest.mark.soak
def test_no_acknowledged_event_is_lost_by_killing_writers(path: Path) -> None:
    """500 times kill -9 of a random writer: every acknowledged event is there, and readers open."""
    files = kill_writers(path, append_some, KILLS)
    acknowledged = check_acknowledged(path, files)
    assert len(acknowledged) > KILLS // 10
    with reopened(path) as ledger:
        assert len(acknowledged) < ledger.head().size <= len(acknowledged) + 1 + len(files)
    print(f"{KILLS} kills, {len(acknowledged)} acknowledged")  # noqa: T201 - for the records


def test_writers_that_acknowledge_too_early_are_caught(path: Path) -> None:
    """The same check of writers that acknowledge before the commit finds what was lost."""
    files = kill_writers(path, acknowledge_too_early, 10, count=2, pause=0.15)
    with pytest.raises(KeyError):
        check_acknowledged(path, files)


@pytest.mark.parametrize("gold", [False, True], ids=["ledger", "gold file"])
def test_readers_recover_what_a_killed_writer_left(path: Path, tmp_path: Path, gold: bool) -> None:
    """A hot journal in either file is rolled back by the next reader, which says so."""
    hot = gold_path(path) if gold else path
    writer = started(die_in_a_transaction, path, tmp_path / "state", gold=gold)
    writer.join()
    assert writer.exitcode == -9
    assert hot.with_name(hot.name + "-journal").stat().st_size > 0
    notes: list[str] = []
    with Ledger.open(path, tools=world(tmp_path / "state", notes.append)) as ledger:
        assert ledger.head().size == 1
        assert ledger.verify().is_intact
        assert ledger.verify().orphans == 0
    assert f"{hot}: rolled back what a crashed writer had not committed" in notes
    with reopened(path, write=True) as ledger:
        assert ledger.append(note("after", 1)).seq == 2


def test_the_next_writer_recovers_without_a_word(path: Path, tmp_path: Path) -> None:
    """A writer that opens the file after a crash goes on where the last commit ended."""
    writer = started(die_in_a_transaction, path, tmp_path / "state", gold=False)
    writer.join()
    with Ledger.open(path, write=True, tools=world(tmp_path / "state", pytest.fail)) as ledger:
        assert ledger.append(note("after", 1)).seq == 2
        assert ledger.verify().is_intact


def test_a_lock_held_by_another_process_is_exit_7_after_the_wait(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer gives up after its wait, nothing is written, and the next try succeeds."""
    defaults = FileLock.acquire.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "wait_seconds", 0.05)
    with reopened(path, write=True) as ledger:
        with (
            locked_elsewhere(path),
            pytest.raises(StorageError, match="is held by another writer") as caught,
        ):
            ledger.append(note("waiting", 1))
        assert caught.value.exit_code == 7
        assert ledger.append(note("waiting", 1)).status == "appended"
        assert ledger.head().size == 2


def test_another_program_that_keeps_the_file_busy_is_exit_7(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction of a program that knows no lock of ours is waited for, not overrun."""
    monkeypatch.setattr(sqlite, "LOCK_WAIT_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    with reopened(path, write=True) as ledger, reopened(path) as reader:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="is busy") as caught:
            ledger.append(note("waiting", 1))
        assert caught.value.exit_code == 7
        with pytest.raises(StorageError, match="is busy"):
            reader.verify()
        other.execute("ROLLBACK")
        assert ledger.append(note("waiting", 1)).status == "appended"
        assert reader.verify().is_intact
    other.close()


def test_a_full_disk_is_a_clean_error(path: Path, tmp_path: Path) -> None:
    """Where no file may grow nothing is half written; with space back the same event goes in."""
    number, seen = told(append_to_a_full_disk, path, tmp_path / "state")
    assert seen[:number] == ["appended"] * number
    assert seen[number] == ("StorageError", 7)
    assert seen[number + 1 :] == ["appended", "exists"]
    with reopened(path) as ledger:
        assert ledger.verify().is_intact
        assert ledger.head().size == number + 2


# Threads


def test_threads_share_one_ledger(path: Path) -> None:
    """20 threads of 20 appends through one ledger: all durable, each once, in fewer commits."""
    done: list[Acknowledgement] = []
    commits = 0
    with reopened(path, write=True) as ledger:
        commit = ledger.store.commit

        def counted() -> None:
            nonlocal commits
            commits += 1
            commit()

        ledger.store.commit = counted  # type: ignore[method-assign]
        start = threading.Barrier(20)

        def work(name: int) -> None:
            start.wait()
            done.extend(ledger.append(note(f"thread {name}", number)) for number in range(20))

        threads = [threading.Thread(target=work, args=(name,)) for name in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {found.status for found in done} == {"appended"}
        assert sorted(found.seq for found in done) == list(range(2, 402))
        assert ledger.verify().is_intact
    assert commits < 400
    with reopened(path) as ledger:
        stored = {stored.event.id for stored in ledger.events(after=1)}
    assert stored == {found.id for found in done}


def test_a_reader_sees_whole_commits_while_a_writer_works(path: Path, tmp_path: Path) -> None:
    """Verify of a ledger that grows meanwhile finds nothing wrong, whatever it has seen of it."""
    file = tmp_path / "acknowledged"
    state = tmp_path / "state"
    with running(started(append_some, path, state, "writer", 100_000, file, pause=0.002)):
        while not file.exists() or file.stat().st_size < 1_000:
            time.sleep(0.01)
        sizes = []
        for _ in range(5):
            with reopened(path) as ledger:
                found = ledger.verify()
            assert [str(finding) for finding in found.findings] == []
            assert found.pin == "matches"
            sizes.append(found.size)
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


# Other users


def test_another_user_can_read_what_is_readable(open_to_all: Path) -> None:
    """A ledger that may only be read can be opened and verified by anybody."""
    with only_to_be_read(open_to_all) as state:
        found = told(as_nobody, open_to_all, state, write=False)
    assert found == ("opened", True, 2, [])


def test_another_user_cannot_write(open_to_all: Path) -> None:
    """Without the right to write there is a clean error, and the file stays as it is."""
    before = open_to_all.read_bytes()
    with only_to_be_read(open_to_all) as state:
        kind, code, message, hint = told(as_nobody, open_to_all, state, write=True)
    assert (kind, code) == ("StorageError", 7)
    assert "Permission denied" in message
    assert hint == "choose a folder you may write with --ledger PATH"
    assert open_to_all.read_bytes() == before


def test_c02_another_user_reads_the_ledger_without_its_gold(open_to_all: Path) -> None:
    """Gold that only its owner may read is left out for others, who can verify the rest."""
    gold = gold_path(open_to_all)
    with only_to_be_read(open_to_all) as state:
        gold.chmod(0)
        found = told(as_nobody, open_to_all, state, write=False)
    assert found == ("opened", True, 2, [f"{gold} may not be read: gold is left out"])


def test_a_crashed_writers_journal_where_nobody_may_write(
    open_to_all: Path, tmp_path: Path
) -> None:
    """A reader that needs a rollback and may not write says so instead of reading half a commit."""
    writer = started(die_in_a_transaction, open_to_all, tmp_path / "state", gold=False)
    writer.join()
    with only_to_be_read(open_to_all) as state:
        kind, code, _, hint = told(as_nobody, open_to_all, state, write=False)
    assert (kind, code) == ("StorageError", 7)
    assert hint
    with reopened(open_to_all) as ledger:
        assert ledger.head().size == 2
