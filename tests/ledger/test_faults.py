"""The disk fails, at every operation in turn: errors are clean, nothing acknowledged is lost.

The real code runs in a process whose system calls on the ledger's files are made to fail, once or
for as long as the disk is broken; then the same events are appended again by id.
"""

import collections
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fault_cases import Fault, Told, Try, crash, make_template, with_faults
from process_cases import started, told

SOAK = os.environ.get("LEDGER_SOAK") == "1"
SPARSE = 1 if SOAK else 5
"""Of what is not an append every so many places are tried; the faults begin at different ones."""
FAULTS = {
    "EIO once": (errno.EIO, False),
    "EIO until healed": (errno.EIO, True),
    "ENOSPC once": (errno.ENOSPC, False),
    "ENOSPC until healed": (errno.ENOSPC, True),
}
READING = frozenset({"read", "pread64"})
READ_ONLY = "attempt to write a readonly database"
"""SQLite opens a file for reading where the disk fails while it is opened for writing."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Return an empty folder, in memory where there is one of the usual name."""
    memory = Path("/dev/shm")  # noqa: S108 - only asked whether it is there
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def template(folder: Path) -> Path:
    """Return the folder of a ledger with an open run and a key."""
    (folder / "template").mkdir()
    make_template(folder / "template")
    return folder / "template"


@pytest.fixture(scope="module")
def crashed(template: Path) -> Path:
    """Return the same with hot journals of both files, as a killed writer leaves them."""
    process = started(crash, template)
    process.join()
    assert process.exitcode == -9
    return template


def tries(scenario: str, template: Path, fault: str, step: int = 1) -> list[Try]:
    """Run a scenario with every operation failing in its turn."""
    offset = list(FAULTS).index(fault) % step
    found: Any = told(with_faults, scenario, template, FAULTS[fault], step, offset)
    if isinstance(found, str):
        pytest.skip(found)
    return [
        Try(Fault(*fault), failed, [Told(*line) for line in lines], code, wrong)
        for fault, failed, lines, code, wrong in found
    ]


def check_errors(run: Try) -> None:
    """Check that a process ended well and told nothing but clean errors, while the disk failed."""
    assert run.code == 0, run
    for line in run.told:
        assert line.what != "traceback", line.detail
        if line.what == "VerificationError":
            # SQLite cannot tell a sector that cannot be read from one that is damaged.
            assert READING & set(run.failed), run
            assert (line.code, line.hint) == (4, "ledger verify"), run
        elif line.code:
            assert (line.what, line.code) == ("StorageError", 7), run
            assert line.hint, run


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_operation_loses_and_doubles_nothing(template: Path, fault: str) -> None:
    """Whatever fails while three events are appended: by id each ends up in the log once.

    One has a text in the ledger, one in the gold file, one signs a head.
    """
    runs = tries("append", template, fault)
    assert len(runs) > 50
    for run in runs:
        check_append(run)
    outcomes = collections.Counter(line.what for run in runs for line in run.told)
    assert outcomes["StorageError"] > len(runs) / 2


def check_append(run: Try) -> None:
    """Check that by id each event is in the log once, and that nothing else was ever told."""
    check_errors(run)
    assert run.wrong == "", run
    told_last = [line.what for line in run.told if line.when == "reopened"]
    assert len(told_last) == 3, run
    assert set(told_last) <= {"exists", "appended"}, run
    for line in run.told:
        if line.when == "healed" and line.what not in {"appended", "exists"}:
            assert READ_ONLY in line.detail, run


@pytest.mark.parametrize(
    "scenario", ["append, errors of commits swallowed", "append, ids not looked up"]
)
def test_planted_faults_are_seen(template: Path, scenario: str) -> None:
    """A writer that takes a failed commit for success, or never looks for an id, is caught."""
    runs = tries(scenario, template, "EIO until healed", 12)
    caught = 0
    for run in runs:
        try:
            check_append(run)
        except AssertionError:
            caught += 1
    assert caught > 0


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_recovery_is_finished_by_the_next(crashed: Path, fault: str) -> None:
    """Whatever fails while hot journals are rolled back, the next reader finds every event."""
    for run in tries("recover", crashed, fault, SPARSE):
        check_errors(run)
        assert run.wrong == "", run
        opened = [line.detail for line in run.told if line.what == "opened"]
        assert set(opened) == {"5"}, run
        assert run.told[-1].when == "healed", run


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_creation_can_be_done_again(template: Path, fault: str) -> None:
    """Whatever fails while a ledger is made, it is whole, or gone, or said to be unfinished."""
    for run in tries("create", template, fault, SPARSE):
        check_errors(run)
        assert run.wrong == "", run
        was_made = any(line.what == "appended" for line in run.told if line.when == "broken")
        (healed,) = [line for line in run.told if line.when == "healed"]
        if not was_made and not run.fault.stays:
            assert healed.what == "appended", run
        elif healed.what != "appended":
            assert "exists" in healed.detail, run
