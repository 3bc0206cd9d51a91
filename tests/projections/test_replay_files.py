"""Projections files that others use, that are none, that are damaged or cannot be written."""

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import RUN, full_ledger
from projection_cases import Log
from trial_ledger.book import Ledger
from trial_ledger.errors import StorageError
from trial_ledger.keyed_file import KeyedFile, projections_path
from trial_ledger.sqlite import sqlite3
from trial_projections import replay
from trial_projections.fold import state_digest
from trial_projections.replay import bring_up_to_date

ROOT_USER = 0


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Ledger]:
    """The sample run and what people did about it."""
    with full_ledger(tmp_path) as ledger:
        yield ledger


def stored_digest(ledger: Ledger) -> str:
    """Return the digest of the states after they were brought up to date."""
    states = bring_up_to_date(ledger)
    digest = state_digest(states.file, states.by_name)
    states.close()
    return digest


def tamper(ledger: Ledger, statement: str) -> None:
    """Change the projections file behind its back."""
    connection = sqlite3.connect(projections_path(ledger.store.path))
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_model_stays_at_its_size_while_others_go_on(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who reads later cannot move the states under an earlier reader; it folds for itself."""
    monkeypatch.setattr("trial_ledger.keyed_file.LOCK_WAIT_SECONDS", 0)
    warnings: list[str] = []
    log.ledger.tools = msgspec.structs.replace(log.ledger.tools, warn=warnings.append)
    log.trial("q1")
    with log.model() as earlier:
        size, before = earlier.size, earlier.run(RUN)
        log.trial("q2")
        with log.model() as later:
            assert (later.size, later.run(RUN).started) == (size + 3, 2)
        assert "is busy" in warnings[0]
        assert (earlier.size, earlier.run(RUN)) == (size, before)
    with log.model() as after:
        assert (after.size, after.run(RUN).started) == (size + 3, 2)
    assert len(warnings) == 1


def test_states_that_another_version_rewrites_are_left_to_it(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions at once do not take turns for ever: one answers from a fold of its own."""
    warnings: list[str] = []
    log.ledger.tools = msgspec.structs.replace(log.ledger.tools, warn=warnings.append)
    real = KeyedFile.commit

    def rewritten(file: KeyedFile) -> None:
        real(file)
        if file.path.name != "temporary":
            tamper(log.ledger, "UPDATE tag SET version = version + 1")

    monkeypatch.setattr(KeyedFile, "commit", rewritten)
    assert log.value("judged") == "0 of 10"
    assert "was rewritten by another version" in warnings[0]


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b""])
def test_a_projections_file_that_is_none(full: Ledger, content: bytes) -> None:
    """Anything else under its name is left alone and noted; an empty file is filled."""
    warnings: list[str] = []
    full.tools = msgspec.structs.replace(full.tools, warn=warnings.append)
    path = projections_path(full.store.path)
    path.write_bytes(content)
    assert stored_digest(full) == replay.digest_at(full, full.store.size())
    assert len(warnings) == (1 if content else 0)
    if content:
        assert "projections not kept" in warnings[0]
        assert path.read_bytes() == content
        with pytest.raises(StorageError, match="is not a projections file, or damaged"):
            replay.replay(full)


def test_a_record_that_cannot_be_resumed_is_noted(log: Log) -> None:
    """A row that is no record any more: the answer comes from a fold of its own."""
    warnings: list[str] = []
    log.ledger.tools = msgspec.structs.replace(log.ledger.tools, warn=warnings.append)
    stored_digest(log.ledger)
    tamper(log.ledger, "UPDATE state SET value = x'c1' WHERE projection = 'runs'")
    log.trial("q1")
    assert log.value("judged") == "0-1 of 10"
    assert "is damaged" in warnings[0]


AS_ANOTHER_USER = """
import os, sys
from pathlib import Path
sys.path[:0] = {paths!r}
from trial_ledger.book import Ledger
from trial_projections.reading import ReadModel
os.setgid(65534); os.setuid(65534)
ledger = Ledger.open(Path({path!r}))
model = ReadModel.open(ledger)
print(model.run({run!r}).finished, model.size)
model.close()
ledger.close()
"""


def test_projections_that_cannot_be_written_are_temporary(full: Ledger, tmp_path: Path) -> None:
    """Who may only read the ledger gets the same answers, with a note, and writes nothing."""
    if os.getuid() != ROOT_USER:
        pytest.skip("only root can become another user")
    path, size = full.store.path, full.store.size()
    for file in tmp_path.iterdir():
        if file.is_file():
            file.chmod(0o644)
    # As many folders above as pytest made for this run, one more where it runs in workers.
    for folder in (tmp_path, *itertools.islice(tmp_path.parents, 3)):
        if folder != Path(tempfile.gettempdir()):
            folder.chmod(0o755)
    code = AS_ANOTHER_USER.format(paths=sys.path, path=str(path), run=RUN)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "nowhere")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"10 {size}\n", done.stderr
    assert "note: projections not kept: " in done.stderr
    assert not projections_path(path).exists()
