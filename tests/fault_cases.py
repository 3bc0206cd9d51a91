"""Makes one operation on a ledger's files fail, then heals the disk and tries again.

A process is followed through its system calls. One that touches a file below a folder fails
instead of running: once, or it and every later one of its kind until the process says that the
disk is well again. None of this may import pytest: it runs in a process forked from a server.
"""

import contextlib
import ctypes
import errno
import os
import shutil
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import msgspec

from commit_path_cases import die_writing
from ledger_cases import HARNESS, RUN, event_id, note, opened, small_ledger
from process_cases import world
from tracing_cases import LIBRARY, Call, Traced, cannot_trace
from trial_ledger import sqlite
from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError
from trial_ledger.heads import Signer
from trial_ledger.keys import create_key, load_key
from trial_ledger.locking import FileLock
from trial_ledger.store import Store
from trial_ledger.submission import NewText, Submission
from trial_ledger.writer import Writer

__all__ = ["SCENARIOS", "Fault", "Told", "Try", "crash", "make_template", "with_faults"]

ON_HANDLES = frozenset({
    "read", "pread64", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fstat", "flock",
    "fcntl", "getdents64", "fchmod", "newfstatat",
})  # fmt: skip
ON_NAMES = {
    "open": 0, "stat": 0, "lstat": 0, "access": 0, "unlink": 0, "rename": 0, "mkdir": 0,
    "readlink": 0, "chmod": 0, "openat": 1, "newfstatat": 1, "faccessat": 1, "faccessat2": 1,
    "statx": 1, "unlinkat": 1, "renameat": 1, "renameat2": 1, "mkdirat": 1, "readlinkat": 1,
}  # fmt: skip
"""Which argument is the name."""
NEEDS_SPACE = frozenset(
    {"write", "pwrite64", "ftruncate", "mkdir", "mkdirat", "rename", "renameat", "renameat2"}
)
LOCKING = (5, 6, 7)
"""What of fcntl(2) touches the file: the locks."""
HEALED = -77
"""flock(2) of this descriptor tells the tracer that the disk is well again."""
SECONDS = 0.05
"""How long a lock is waited for: nobody else holds one here."""


class Fault(NamedTuple):
    """What fails."""

    place: int
    """Which operation, from 0."""
    error: int
    """What it fails with; `ENOSPC` counts and fails only what needs space."""
    stays: bool
    """Whether later ones fail too, until the disk is healed."""


class Told(NamedTuple):
    """What a process told of one try."""

    when: str
    """`broken`, `healed` or `reopened`."""
    what: str
    """`appended`, `exists`, `opened`, `warned`, a class of error, or `traceback`."""
    detail: str
    """Seq and hash, or the message."""
    code: int = 0
    """Exit code of an error."""
    hint: str = ""
    """What the error says to do."""


class Breaker:
    """Counts operations on the files below a root, and makes some fail."""

    def __init__(self, root: Path, fault: Fault | None) -> None:
        self.root = str(root)
        self.fault = fault
        self.handles: set[int] = set()
        self.count = 0
        self.failed: list[str] = []

    def before(self, traced: Traced, call: Call) -> int | None:
        """Return the error with which a call fails; None where it runs."""
        if call.name == "flock" and ctypes.c_int(call.arguments[0]).value == HEALED:
            traced.leave_alone()
        if not self.concerns(traced, call):
            return None
        fault = self.fault
        if fault is not None and fault.error == errno.ENOSPC and not needs_space(call):
            return None
        place = self.count
        self.count += 1
        if fault is None or place < fault.place or (place > fault.place and not fault.stays):
            return None
        self.failed.append(call.name)
        return fault.error

    def concerns(self, traced: Traced, call: Call) -> bool:
        """Return whether a call touches a file below the root."""
        if call.name in ON_HANDLES and call.arguments[0] in self.handles:
            return call.name != "fcntl" or call.arguments[1] in LOCKING
        place = ON_NAMES.get(call.name)
        return place is not None and traced.text(call.arguments[place]).startswith(self.root)

    def after(self, traced: Traced, call: Call) -> None:
        """Remember what was opened and closed."""
        if self.failed and self.fault is not None and not self.fault.stays:
            traced.leave_alone()  # Nothing more will fail.
        if call.name == "close":
            self.handles.discard(call.arguments[0])
        elif call.name in {"open", "openat"} and call.result >= 0:
            self.handles.discard(call.result)
            if traced.text(call.arguments[ON_NAMES[call.name]]).startswith(self.root):
                self.handles.add(call.result)


def needs_space(call: Call) -> bool:
    """Return whether a full disk can refuse a call."""
    if call.name in {"open", "openat"}:
        return bool(call.arguments[ON_NAMES[call.name] + 1] & os.O_CREAT)
    return call.name in NEEDS_SPACE


# What the process does


class Teller:
    """Writes what happens to a pipe, a record a line."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.when = "broken"

    def tell(self, what: str, detail: object, code: int = 0, hint: str | None = None) -> None:
        """Write one record."""
        record = Told(self.when, what, str(detail), code, hint or "")
        os.write(self.descriptor, msgspec.json.encode(record) + b"\n")

    def error(self, error: Exception) -> None:
        """Write what was raised."""
        if isinstance(error, LedgerError):
            self.tell(type(error).__name__, error.message, error.exit_code, error.hint)
        else:
            self.tell("traceback", "".join(traceback.format_exception(error)))

    def heal(self) -> None:
        """Say that the disk is well again."""
        LIBRARY.flock(HEALED, 0)


def items() -> list[Submission]:
    """Return what is appended: a text in the ledger, a gold text, and what signs a head."""
    gold = Submission(
        kind="note.added",
        data={"about": "ledger", "text": NewText(content=b"gold text " * 40, class_="gold")},
        actor=HARNESS,
    )
    closed = Submission(
        kind="run.closed",
        run=RUN,
        data={"status": "interrupted", "reason": "enough"},
        actor=HARNESS,
    )
    return [
        msgspec.structs.replace(item, id=event_id("fault", place))
        for place, item in enumerate([note("words " * 40), gold, closed])
    ]


def append_all(folder: Path, teller: Teller) -> None:
    """Append on a broken disk; once it is healed again by id, and again after opening anew."""
    tools = msgspec.structs.replace(
        world(folder / "state", lambda message: teller.tell("warned", message)),
        signer=lambda: signer(folder),
    )
    ledger: Ledger | None = None
    for when in ("broken", "healed", "reopened"):
        teller.when = when
        if when == "reopened" and ledger is not None:
            ledger.close()
            ledger = None
        try:
            ledger = ledger or Ledger.open(folder / "a.ledger", write=True, tools=tools)
            for item in items():
                append_one(ledger, item, teller)
        except Exception as error:  # noqa: BLE001 - told
            teller.error(error)
        teller.heal()
    if ledger is not None:
        ledger.close()


def append_swallowing(folder: Path, teller: Teller) -> None:
    """Append with a planted fault: an error of a commit is taken for success."""
    commit = Store.commit

    def swallowed(store: Store) -> None:
        with contextlib.suppress(LedgerError):
            commit(store)

    with mock.patch.object(Store, "commit", swallowed):
        append_all(folder, teller)


def append_forgetting(folder: Path, teller: Teller) -> None:
    """Append with a planted fault: nobody looks whether an id is there already."""
    with mock.patch.object(Writer, "appended_before", return_value=None):
        append_all(folder, teller)


def append_one(ledger: Ledger, item: Submission, teller: Teller) -> None:
    """Append one event and tell what came of it."""
    try:
        done = ledger.append(item)
        teller.tell(done.status, f"{done.seq} {done.hash}")
    except Exception as error:  # noqa: BLE001 - told
        teller.error(error)


def signer(folder: Path) -> Signer:
    """Return the key of the ledger; reading it is not what is tested."""
    return load_key(folder.parent / "key.pem")


def open_twice(folder: Path, teller: Teller) -> None:
    """Read on a broken disk, and once it is healed."""
    tools = world(folder / "state", lambda message: teller.tell("warned", message))
    for when in ("broken", "healed"):
        teller.when = when
        try:
            with Ledger.open(folder / "a.ledger", tools=tools) as ledger:
                teller.tell("opened", ledger.head().size)
        except Exception as error:  # noqa: BLE001 - told
            teller.error(error)
        teller.heal()


def make_twice(folder: Path, teller: Teller) -> None:
    """Make a ledger on a broken disk; once it is healed make it, or find it made."""
    tools = world(folder / "state", lambda message: teller.tell("warned", message))
    for when in ("broken", "healed"):
        teller.when = when
        try:
            with Ledger.create(folder / "new.ledger", tools=tools) as ledger:
                teller.tell("appended", ledger.id)
        except Exception as error:  # noqa: BLE001 - told
            teller.error(error)
        teller.heal()


SCENARIOS: dict[str, Callable[[Path, Teller], None]] = {
    "append": append_all,
    "append, errors of commits swallowed": append_swallowing,
    "append, ids not looked up": append_forgetting,
    "recover": open_twice,
    "create": make_twice,
}


# The tries


class Try(NamedTuple):
    """One run of a scenario under one fault."""

    fault: Fault
    failed: list[str]
    """The calls that failed, in order."""
    told: list[Told]
    code: int
    """How the process ended."""
    wrong: str
    """What the ledger looks like afterwards, where that is not as it should be."""


def with_faults(
    pipe: Pipe,
    scenario: str,
    template: Path,
    fault: tuple[int, bool],
    step: int,
    offset: int,
) -> None:
    """Run a scenario with every operation failing in its turn; send what became of each.

    Args:
        pipe: takes a list of tries, or why none can be made here.
        scenario: one of `SCENARIOS`.
        template: a folder of which each run gets a copy, which lies beside it.
        fault: the error, and whether it stays.
        step: every so many places only.
        offset: first place.
    """
    reason = cannot_trace()
    if reason:
        pipe.send(reason)
        return
    vars(sqlite)["LOCK_WAIT_SECONDS"] = SECONDS
    defaults = FileLock.acquire.__kwdefaults__
    assert defaults is not None
    defaults["wait_seconds"] = SECONDS
    warm_up(scenario, template)
    error, stays = fault
    pipe.send(
        [
            (tuple(run.fault), run.failed, [tuple(line) for line in run.told], run.code, run.wrong)
            for run in runs(scenario, template, Fault(offset, error, stays), step)
        ]
    )


def warm_up(scenario: str, template: Path) -> None:
    """Run a scenario here once, so that the processes need not import anything."""
    copy = template.parent / "copy"
    shutil.copytree(template, copy)
    descriptor = os.open(os.devnull, os.O_WRONLY)
    SCENARIOS[scenario](copy, Teller(descriptor))
    os.close(descriptor)
    shutil.rmtree(copy)


def runs(scenario: str, template: Path, fault: Fault, step: int) -> Iterator[Try]:
    """Yield a run for every place, until no operation is left to fail."""
    while True:
        copy = template.parent / "copy"
        shutil.copytree(template, copy)
        run = tried(scenario, copy, fault)
        shutil.rmtree(copy)
        if not run.failed:
            return
        yield run
        fault = fault._replace(place=fault.place + step)


def tried(scenario: str, folder: Path, fault: Fault) -> Try:
    """Run a scenario once."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    teller = Teller(theirs)
    breaker = Breaker(folder, fault)
    traced = Traced(lambda: SCENARIOS[scenario](folder, teller))
    code = traced.follow(breaker.before, breaker.after)
    os.close(theirs)
    with os.fdopen(ours, "rb") as stream:
        told = [msgspec.json.decode(line, type=Told) for line in stream.read().splitlines()]
    return Try(fault, breaker.failed, told, code, what_is_wrong(folder, scenario, told))


def what_is_wrong(folder: Path, scenario: str, told: list[Told]) -> str:
    """Return what is wrong with a ledger after a scenario; empty where nothing is."""
    path = folder / ("new.ledger" if scenario == "create" else "a.ledger")
    if scenario == "create" and not path.exists():
        return ""
    try:
        with Ledger.open(path, tools=world(folder / "state", lambda _: None)) as ledger:
            report = ledger.verify()
            events = {stored.event.id: stored for stored in ledger.events()}
    except LedgerError as error:
        return "" if scenario == "create" and error.hint else error.message
    if report.findings or not scenario.startswith("append"):
        return "; ".join(map(str, report.findings))
    stored = [events[str(item.id)] for item in items() if item.id in events]
    there = {f"{one.event.seq} {one.hash}" for one in stored}
    gone = {one.detail for one in told if one.what in {"appended", "exists"}} - there
    if gone or len(stored) != len(items()) or report.size != TEMPLATE_EVENTS + len(stored):
        return f"{report.size} events, {len(stored)} of ours; acknowledged and gone: {sorted(gone)}"
    return ""


TEMPLATE_EVENTS = 5
"""Events of the template: opened, three documents, a run."""


def make_template(folder: Path) -> None:
    """Make the ledger of which each run gets a copy; its key lies beside the folder."""
    key = create_key(folder.parent / "key.pem")
    tools = msgspec.structs.replace(world(folder / "state"), signer=lambda: key)
    with small_ledger(folder, name="a.ledger", world=tools) as ledger:
        ledger.append(opened())


def crash(folder: Path) -> None:
    """Be killed in the middle of a commit: both files have a hot journal."""
    die_writing(Ledger.open(folder / "a.ledger", write=True, tools=world(folder / "state")))
