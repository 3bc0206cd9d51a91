"""Follows the system calls of a process that it starts, and makes chosen ones fail: ptrace(2).

Plain Python on x86-64 Linux, so that a machine without strace, compiler or library can record what
the real program asks of its disk. A process that starts threads or children is refused: calls
would be missed.
"""

import ctypes
import errno
import os
import platform
import signal
import sys
from collections.abc import Callable
from typing import NamedTuple

NAMES = {
    0: "read", 1: "write", 2: "open", 3: "close", 4: "stat", 5: "fstat", 6: "lstat", 8: "lseek",
    9: "mmap", 17: "pread64", 18: "pwrite64", 20: "writev", 21: "access", 32: "dup", 33: "dup2",
    40: "sendfile", 72: "fcntl", 73: "flock", 74: "fsync", 75: "fdatasync", 76: "truncate",
    77: "ftruncate", 78: "getdents", 80: "chdir", 82: "rename", 83: "mkdir", 84: "rmdir",
    85: "creat", 86: "link", 87: "unlink", 88: "symlink", 89: "readlink", 90: "chmod",
    91: "fchmod", 217: "getdents64", 257: "openat", 258: "mkdirat", 262: "newfstatat",
    263: "unlinkat", 264: "renameat", 265: "linkat", 266: "symlinkat", 267: "readlinkat",
    269: "faccessat", 277: "sync_file_range", 285: "fallocate", 292: "dup3", 295: "preadv",
    296: "pwritev", 316: "renameat2", 326: "copy_file_range", 328: "pwritev2", 332: "statx",
    439: "faccessat2",
}  # fmt: skip
"""Name by number, of the calls that touch files."""

TRACE_ME, CONTINUE, GET_REGISTERS, SET_REGISTERS, SYSCALL, SET_OPTIONS = 0, 7, 12, 13, 24, 0x4200
OPTION_SYSGOOD, OPTION_CHILDREN, OPTION_EXEC, OPTION_EXIT_KILL = 1, 2 | 4 | 8, 16, 0x100000
WAIT_ALL = 0x40000000
CHILD_EVENTS = (1, 2, 3)
SYSCALL_STOP = signal.SIGTRAP | 0x80
TEXT_BYTES = 4096


REGISTERS = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
    "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs",
    "gs",
)  # fmt: skip


class Registers(ctypes.Structure):
    """`struct user_regs_struct` of x86-64."""

    _fields_ = [(name, ctypes.c_ulonglong) for name in REGISTERS]


LIBRARY = ctypes.CDLL(None, use_errno=True)
LIBRARY.ptrace.restype = ctypes.c_long
LIBRARY.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)


def ptrace(request: int, process: int, data: object = 0) -> None:
    """Ask the kernel.

    Raises:
        OSError: it refuses.
    """
    if LIBRARY.ptrace(request, process, 0, data) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


class Call(NamedTuple):
    """One system call, before it runs or after."""

    name: str
    """Empty for one that does not touch files."""
    arguments: tuple[int, ...]
    """All six."""
    result: int
    """What it returned, or minus the error number; 0 before it ran."""


Before = Callable[["Traced", Call], int | None]
After = Callable[["Traced", Call], None]


class Traced:
    """One process under trace."""

    def __init__(self, start: Callable[[], None]) -> None:
        """Start it; it stops before the first thing that `start` does.

        Args:
            start: run in the child, which ends afterwards; it may replace its program.
        """
        self.process = os.fork()
        if self.process == 0:
            self.run(start)
        os.waitpid(self.process, 0)
        options = OPTION_SYSGOOD | OPTION_CHILDREN | OPTION_EXEC | OPTION_EXIT_KILL
        ptrace(SET_OPTIONS, self.process, options)
        self.memory = -1
        self.is_left_alone = False
        self.registers = Registers()

    def run(self, start: Callable[[], None]) -> None:
        """Be the child."""
        code = 70
        try:
            ptrace(TRACE_ME, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            start()
            code = 0
        except BaseException:  # noqa: BLE001 - shown, and told by the code
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)

    def leave_alone(self) -> None:
        """Let it run on without telling of its calls any more."""
        self.is_left_alone = True

    def text(self, address: int) -> str:
        """Return the path at an address of the child."""
        found = b""
        while b"\0" not in found and len(found) < TEXT_BYTES:
            found += self.content(address + len(found), 256 - (address + len(found)) % 256)
        return os.fsdecode(found.partition(b"\0")[0])

    def content(self, address: int, length: int) -> bytes:
        """Return bytes of the child's memory."""
        return os.pread(self.memory, length, address) if length else b""

    def follow(self, before: Before, after: After) -> int:
        """Run the process to its end.

        Args:
            before: told each call before it runs; an error number makes it fail without running.
            after: told each call that ran or was made to fail.

        Returns:
            What the process ended with, as `os.waitstatus_to_exitcode` says it.
        """
        self.memory = os.open(f"/proc/{self.process}/mem", os.O_RDONLY)
        try:
            return self.followed(before, after)
        except BaseException:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, WAIT_ALL)
            raise
        finally:
            os.close(self.memory)

    def followed(self, before: Before, after: After) -> int:
        """Do what `follow` says, in the middle of what it clears up."""
        code: int | None = None
        inside, failing, give = False, None, 0
        while code is None:
            ptrace(CONTINUE if self.is_left_alone else SYSCALL, self.process, give)
            _, status = os.waitpid(self.process, WAIT_ALL)
            give = 0
            if not os.WIFSTOPPED(status):
                code = os.waitstatus_to_exitcode(status)
            elif status >> 16 in CHILD_EVENTS:
                message = "the process under trace starts a thread or a child"
                raise AssertionError(message)
            elif status >> 16:  # It replaced its program: other memory.
                os.close(self.memory)
                self.memory = os.open(f"/proc/{self.process}/mem", os.O_RDONLY)
            elif os.WSTOPSIG(status) != SYSCALL_STOP:
                give = os.WSTOPSIG(status)
            elif inside:
                inside = False
                self.leave(failing, after)
            else:
                inside = True
                failing = self.enter(before)
        return code

    def look(self) -> Call:
        """Return the call at which the process stands."""
        ptrace(GET_REGISTERS, self.process, ctypes.byref(self.registers))
        at = self.registers
        return Call(
            NAMES.get(at.orig_rax, ""),
            (at.rdi, at.rsi, at.rdx, at.r10, at.r8, at.r9),
            ctypes.c_longlong(at.rax).value,
        )

    def enter(self, before: Before) -> tuple[Call, int] | None:
        """Tell of a call before it runs; return it with its error where it is made to fail."""
        call = self.look()
        failure = before(self, call._replace(result=0)) if call.name else None
        if failure is None:
            return None
        self.registers.orig_rax = 2**64 - 1
        ptrace(SET_REGISTERS, self.process, ctypes.byref(self.registers))
        return call, failure

    def leave(self, failing: tuple[Call, int] | None, after: After) -> None:
        """Tell of a call that ran, or give it its error."""
        call = self.look()
        if failing is not None:
            self.registers.rax = 2**64 - failing[1]
            ptrace(SET_REGISTERS, self.process, ctypes.byref(self.registers))
            call = failing[0]._replace(result=-failing[1])
        if call.name:
            after(self, call)


def cannot_trace() -> str:
    """Return why no process can be traced here; empty where it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"system calls are followed on x86-64 Linux only, this is {platform.machine()}"
    seen: list[int] = []

    def before(_: Traced, call: Call) -> int | None:
        return errno.EIO if call.name == "flock" else None

    def after(_: Traced, call: Call) -> None:
        if call.name == "flock":
            seen.append(call.result)

    try:
        Traced(lambda: LIBRARY.flock(-1, 0)).follow(before, after)
    except OSError as error:
        return f"this system does not let a process be traced: {error.strerror}"
    return "" if seen == [-errno.EIO] else "this system does not trace as Linux does"
