"""Records what the real program asks of its disk: every write, sync and name, in order.

The steps of a scenario are processes that are followed through their system calls. What a
recording cannot express (a shared mapping, a copy inside the kernel) is refused, so that nothing
is missed. None of this may import pytest: it runs in a process forked from a server.
"""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tracing_cases import Call, Traced

CREATE, FOLDER, WRITE, TRUNCATE, SYNC, SYNC_FOLDER, RENAME, UNLINK, ACKNOWLEDGED = range(9)

SHARED_MEMORY = "-shm"
"""SQLite makes this file of a WAL anew after a crash: what it held does not matter."""
UNEXPECTED_FILES = frozenset({
    "writev", "pwritev", "pwritev2", "sendfile", "fallocate", "copy_file_range", "sync_file_range",
})  # fmt: skip
UNEXPECTED_NAMES = frozenset({"truncate", "rmdir", "creat", "link", "symlink"})
UNEXPECTED_NAMES_AT = frozenset({"linkat", "symlinkat"})
MAP_SHARED, PROTECTION_WRITE = 1, 2
FCNTL_DUPLICATE = (0, 1030)
SEQ = re.compile(rb'"seq": ?([0-9]+)')
LAST_SIZE = -1
"""Stands for the size of the log at the end of the step."""


class Operation(NamedTuple):
    """One thing that happened to the disk."""

    kind: int
    file: int = 0
    """Number of the file, by the order in which they were made."""
    offset: int = 0
    """Where it was written; how long a truncated file is; how many events are acknowledged."""
    data: bytes = b""
    name: str = ""
    """Path below the root of the recording."""
    other: str = ""
    """The name after a rename."""


class Step(NamedTuple):
    """One process of a scenario."""

    start: Callable[[], None]
    """What the child does; it may replace its program."""
    folder: Path
    """Its working directory."""
    ends: int = 0
    """How it must end."""
    tells: bool = False
    """Whether it writes the seq of each acknowledgement; else the first thing that it writes to
    standard output acknowledges all that it appends."""


def nothing_fails(_: Traced, __: Call) -> None:
    """Let every call run."""


class Handle:
    """One open file of the process."""

    def __init__(self, name: str, file: int, *, appends: bool) -> None:
        self.name = name
        self.file = file
        self.position = 0
        self.appends = appends


class Recorder:
    """Turns system calls into operations on the files below a root."""

    def __init__(self, root: Path, size: Callable[[], int]) -> None:
        """Begin with an empty root.

        Args:
            root: an absolute path without links.
            size: returns how many events the ledger holds.
        """
        self.root = str(root) + "/"
        self.size = size
        self.operations: list[Operation] = []
        self.files: dict[str, int] = {}
        self.folders = {""}
        self.lengths: list[int] = []
        self.handles: dict[int, Handle] = {}
        self.folder = root
        self.tells = False

    def record(self, steps: Iterable[Step]) -> None:
        """Run the steps, one after the other."""
        for step in steps:
            first = len(self.operations)
            self.handles.clear()
            self.folder, self.tells = step.folder, step.tells
            code = Traced(step.start).follow(nothing_fails, self.after)
            assert code == step.ends, f"a step ended with {code}, not {step.ends}"
            told = [
                place
                for place in range(first, len(self.operations))
                if self.operations[place].offset == LAST_SIZE
            ]
            if told:  # A look would roll back what a killed process left, unrecorded.
                done = Operation(ACKNOWLEDGED, offset=self.size())
                for place in told:
                    self.operations[place] = done

    def named(self, traced: Traced, folder: int, address: int) -> str | None:
        """Return a path below the root; None for any other."""
        text = traced.text(address)
        handle = self.handles.get(folder)
        base = self.folder if handle is None else Path(self.root, handle.name)
        path = os.path.normpath(base / text)
        if not (path + "/").startswith(self.root) or path.endswith(SHARED_MEMORY):
            return None
        return path[len(self.root) :]

    def after(self, traced: Traced, call: Call) -> None:
        """Take one call that ran."""
        if call.result < 0:
            return
        take = getattr(self, f"take_{call.name}", None)
        if take is not None:
            take(traced, call)
        else:
            assert not self.is_unexpected(traced, call), f"{call.name} cannot be recorded"

    def is_unexpected(self, traced: Traced, call: Call) -> bool:
        """Return whether a call changes a recorded file in a way that is not followed."""
        first, second, third = call.arguments[:3]
        if call.name in UNEXPECTED_NAMES:
            return self.named(traced, -1, first) is not None
        if call.name in UNEXPECTED_NAMES_AT:
            return self.named(traced, first, second) is not None
        if call.name in UNEXPECTED_FILES:
            return first in self.handles or (
                call.name in {"sendfile", "copy_file_range"} and third in self.handles
            )
        return False

    # Names

    def opened(self, name: str | None, flags: int, descriptor: int) -> None:
        """Remember a handle; note a new file, and one that was emptied."""
        self.handles.pop(descriptor, None)
        if name is None:
            return
        if name in self.folders:
            self.handles[descriptor] = Handle(name, -1, appends=False)
            return
        if name not in self.files:
            assert flags & os.O_CREAT, f"{name} was not made in this recording"
            self.files[name] = len(self.lengths)
            self.lengths.append(0)
            self.operations.append(Operation(CREATE, self.files[name], name=name))
        file = self.files[name]
        if flags & os.O_TRUNC and self.lengths[file]:
            self.truncated(file, 0)
        self.handles[descriptor] = Handle(name, file, appends=bool(flags & os.O_APPEND))

    def take_open(self, traced: Traced, call: Call) -> None:
        """Take open(2)."""
        self.opened(self.named(traced, -1, call.arguments[0]), call.arguments[1], call.result)

    def take_openat(self, traced: Traced, call: Call) -> None:
        """Take openat(2)."""
        folder, address, flags = call.arguments[:3]
        self.opened(self.named(traced, folder, address), flags, call.result)

    def made(self, name: str | None) -> None:
        """Note a new folder."""
        if name is not None:
            self.folders.add(name)
            self.operations.append(Operation(FOLDER, name=name))

    def take_mkdir(self, traced: Traced, call: Call) -> None:
        """Take mkdir(2)."""
        self.made(self.named(traced, -1, call.arguments[0]))

    def take_mkdirat(self, traced: Traced, call: Call) -> None:
        """Take mkdirat(2)."""
        self.made(self.named(traced, *call.arguments[:2]))

    def renamed(self, old: str | None, new: str | None) -> None:
        """Note another name of a file."""
        if old is not None or new is not None:
            assert old is not None, "a file comes from outside the recording"
            assert new is not None, "a file leaves the recording"
            self.files[new] = self.files.pop(old)
            self.operations.append(Operation(RENAME, name=old, other=new))

    def take_rename(self, traced: Traced, call: Call) -> None:
        """Take rename(2)."""
        first, second = call.arguments[:2]
        self.renamed(self.named(traced, -1, first), self.named(traced, -1, second))

    def take_renameat(self, traced: Traced, call: Call) -> None:
        """Take renameat(2)."""
        one, first, other, second = call.arguments[:4]
        self.renamed(self.named(traced, one, first), self.named(traced, other, second))

    take_renameat2 = take_renameat

    def removed(self, name: str | None) -> None:
        """Note that a name went."""
        if name is not None:
            self.files.pop(name)
            self.operations.append(Operation(UNLINK, name=name))

    def take_unlink(self, traced: Traced, call: Call) -> None:
        """Take unlink(2)."""
        self.removed(self.named(traced, -1, call.arguments[0]))

    def take_unlinkat(self, traced: Traced, call: Call) -> None:
        """Take unlinkat(2)."""
        self.removed(self.named(traced, *call.arguments[:2]))

    # Handles

    def take_close(self, _: Traced, call: Call) -> None:
        """Take close(2)."""
        self.handles.pop(call.arguments[0], None)

    def take_dup(self, _: Traced, call: Call) -> None:
        """Take dup(2) and its kin."""
        if call.arguments[0] in self.handles:
            self.handles[call.result] = self.handles[call.arguments[0]]

    take_dup2 = take_dup3 = take_dup

    def take_fcntl(self, traced: Traced, call: Call) -> None:
        """Take what of fcntl(2) copies a handle."""
        if call.arguments[1] in FCNTL_DUPLICATE:
            self.take_dup(traced, call)

    def take_lseek(self, _: Traced, call: Call) -> None:
        """Take lseek(2)."""
        if call.arguments[0] in self.handles:
            self.handles[call.arguments[0]].position = call.result

    def take_read(self, _: Traced, call: Call) -> None:
        """Take read(2), which moves on."""
        if call.arguments[0] in self.handles:
            self.handles[call.arguments[0]].position += call.result

    def take_mmap(self, _: Traced, call: Call) -> None:
        """Refuse a mapping through which a recorded file could be written."""
        protection, flags, descriptor = call.arguments[2:5]
        if descriptor in self.handles:
            written = flags & MAP_SHARED and protection & PROTECTION_WRITE
            assert not written, "a shared mapping cannot be recorded"

    # Contents

    def written(self, handle: Handle, offset: int, data: bytes) -> None:
        """Note bytes that were written."""
        self.operations.append(Operation(WRITE, handle.file, offset, data))
        self.lengths[handle.file] = max(self.lengths[handle.file], offset + len(data))

    def take_pwrite64(self, traced: Traced, call: Call) -> None:
        """Take pwrite(2)."""
        descriptor, address, _, offset = call.arguments[:4]
        handle = self.handles.get(descriptor)
        if handle is not None:
            self.written(handle, offset, traced.content(address, call.result))

    def take_write(self, traced: Traced, call: Call) -> None:
        """Take write(2); what goes to standard output is an acknowledgement."""
        descriptor, address = call.arguments[:2]
        handle = self.handles.get(descriptor)
        if handle is not None:
            offset = self.lengths[handle.file] if handle.appends else handle.position
            self.written(handle, offset, traced.content(address, call.result))
            handle.position = offset + call.result
        elif descriptor == 1:
            said = traced.content(address, call.result)
            size = max(map(int, SEQ.findall(said))) if self.tells else LAST_SIZE
            self.operations.append(Operation(ACKNOWLEDGED, offset=size))

    def truncated(self, file: int, length: int) -> None:
        """Note that a file was cut or lengthened."""
        self.operations.append(Operation(TRUNCATE, file, length))
        self.lengths[file] = length

    def take_ftruncate(self, _: Traced, call: Call) -> None:
        """Take ftruncate(2)."""
        handle = self.handles.get(call.arguments[0])
        if handle is not None:
            self.truncated(handle.file, call.arguments[1])

    def take_fsync(self, _: Traced, call: Call) -> None:
        """Take fsync(2) and fdatasync(2), of a file or a folder."""
        handle = self.handles.get(call.arguments[0])
        if handle is not None:
            kind = SYNC_FOLDER if handle.file < 0 else SYNC
            self.operations.append(Operation(kind, handle.file, name=handle.name))

    take_fdatasync = take_fsync
