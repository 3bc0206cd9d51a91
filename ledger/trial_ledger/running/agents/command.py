"""The `command` agent: a program that reads a question and writes events and an answer.

Invariant: the program runs in an empty folder, with the environment variables that the manifest
names and no file of ours open: nothing that it is given says where the gold file is (C2). Its
exit code, its signal and what it wrote to standard error are recorded, and it does not outlive its
trial.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import msgspec
from anyio.abc import ByteReceiveStream, Process

from trial_ledger.errors import InvalidInputError, LedgerError
from trial_ledger.running.line_protocol import (
    AgentEvent,
    Answer,
    ToolCall,
    read_line,
    written,
)
from trial_ledger.running.trial_log import Mishap
from trial_ledger.running.work import Agent, Result, Work, errored

__all__ = ["RUNNING", "command_agent", "kill_all", "program_of"]

USUAL = ("PATH", "LANG", "LC_ALL", "TZ")
"""Environment variables that every program gets, where they are set."""

LONGEST_LINE = 1 << 22
"""Bytes of one line; an agent that writes longer ones has failed."""
KEPT_OF_STDERR = 1 << 16
"""Bytes of standard error that are kept, the last ones."""
GRACE_S = 5
"""Seconds that a program has to end after its answer."""
RUNNING: set[int] = set()
"""Leaders of the process groups of the programs that run now."""
MOST_UNREADABLE = 20
"""Lines that mean nothing and are each recorded; further ones are only counted."""


def program_of(target: str, arguments: tuple[str, ...], folder: Path) -> list[str]:
    """Return the command to start, files named from a folder on with their whole path.

    The program runs in an empty folder, so that a relative path would mean nothing there.

    Raises:
        InvalidInputError: there is no such program.
    """
    beside = folder / target
    program = str(beside.resolve()) if os.sep in target else shutil.which(target)
    if program is None or not os.access(program, os.X_OK):
        raise InvalidInputError.single(
            "is no program", what="agent", field="agent.target", found=target
        )
    whole = [str((folder / one).resolve()) if is_file(folder, one) else one for one in arguments]
    return [program, *whole]


def is_file(folder: Path, argument: str) -> bool:
    """Return whether an argument names a file from a folder on."""
    return not argument.startswith("-") and (folder / argument).is_file()


def environment_of(names: tuple[str, ...], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a program sees: the usual ones and those of the manifest."""
    return {name: environ[name] for name in (*USUAL, *names) if name in environ}


def command_agent(command: list[str], names: tuple[str, ...]) -> Agent:
    """Return the agent of a program.

    Args:
        command: from `program_of`.
        names: environment variables that it sees beside the usual ones.
    """

    async def agent(work: Work) -> Result:
        with TemporaryDirectory(prefix="trial-") as folder:
            environment = environment_of(names, work.environ)
            async with started(command, environment, folder) as process:
                return await Conversation(process, work).held()

    return agent


@contextlib.asynccontextmanager
async def started(
    command: list[str], environment: Mapping[str, str], folder: str
) -> AsyncIterator[Process]:
    """Start a program in a process group of its own, and leave none of the group behind."""
    process = await anyio.open_process(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    RUNNING.add(process.pid)
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            kill_group(process.pid)
            await process.aclose()


def kill_group(leader: int) -> None:
    """Kill what is left of the process group of a program that was started here."""
    with contextlib.suppress(ProcessLookupError):  # Then all of the group has ended.
        os.killpg(leader, signal.SIGKILL)
    RUNNING.discard(leader)


def kill_all() -> None:
    """Kill every program that was started here, for a runner that is killed itself."""
    for leader in list(RUNNING):
        kill_group(leader)


class Conversation:
    """What is said between the runner and one program."""

    def __init__(self, process: Process, work: Work) -> None:
        self.process = process
        self.work = work
        self.answer: Answer | None = None
        self.stderr = bytearray()
        self.mishaps: list[Mishap] = []
        self.unreadable = 0
        self.told_all = anyio.Event()

    async def held(self) -> Result:
        """Ask, answer the program's calls until it ends, and return what it leaves."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.collect_stderr)
            await self.say(written("question", **self.work.asked))
            assert self.process.stdout is not None, "it is a pipe"
            async for line in lines(self.process.stdout):
                if line.strip():
                    await self.heed(line)
                if self.answer is not None:
                    break
            await self.ended()
            group.cancel_scope.cancel()
        return self.result()

    async def ended(self) -> None:
        """Wait until the program ends; one that has answered is given a few seconds."""
        assert self.process.stdin is not None, "it is a pipe"
        await self.process.stdin.aclose()
        with anyio.move_on_after(GRACE_S if self.answer is not None else None):
            await self.process.wait()
        with anyio.move_on_after(GRACE_S):  # A process that it left behind may hold the pipe.
            await self.told_all.wait()

    async def collect_stderr(self) -> None:
        """Keep the end of what the program writes to standard error."""
        assert self.process.stderr is not None, "it is a pipe"
        async for chunk in self.process.stderr:
            self.stderr += chunk
            del self.stderr[:-KEPT_OF_STDERR]
        self.told_all.set()

    async def say(self, line: bytes) -> None:
        """Write a line to the program; one that does not read any more is left alone."""
        assert self.process.stdin is not None, "it is a pipe"
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.process.stdin.send(line)

    async def heed(self, line: bytes) -> None:
        """Do what a line of the program asks for."""
        said = read_line(line)
        if isinstance(said, ToolCall):
            outcome = await self.work.tools.use(said.name, said.arguments)
            type_ = "error" if outcome.is_error else "result"
            await self.say(written(type_, id=said.id, content=outcome.content))
        elif isinstance(said, AgentEvent):
            await self.report(said)
        elif isinstance(said, Answer):
            self.answer = said
        else:
            await self.misread(said.reason)

    async def report(self, said: AgentEvent) -> None:
        """Append what the program says of itself, and acknowledge it where it wants that."""
        result = await self.work.log.reported(said.kind, said.data)
        if isinstance(result, LedgerError):
            await self.misread(f"{said.kind} was refused: {result.message}")
            if said.id is not None:
                await self.say(written("refused", id=said.id, message=result.message))
            return
        if said.id is not None:
            await self.say(written("recorded", id=said.id, seq=result.seq))

    async def misread(self, reason: str) -> None:
        """Record a line that means nothing, or is refused."""
        self.unreadable += 1
        if self.unreadable <= MOST_UNREADABLE:
            mishap = Mishap(
                class_="agent_error", fault="agent", message=reason, detail_class="line"
            )
            await self.work.log.failure(mishap)

    def result(self) -> Result:
        """Return what the program leaves."""
        code = self.process.returncode
        reason = ending_of(code)
        stderr = bytes(self.stderr) or None
        if self.answer is None:
            lost = errored(f"{reason}, and no answer", word=reason, detail=stderr)
            return msgspec.structs.replace(lost, detail=stderr)
        mishaps: tuple[Mishap, ...] = ()
        if code != 0:
            said = Mishap(
                class_="agent_error",
                fault="agent",
                message=f"{reason} after its answer",
                detail_class=reason,
                detail=stderr,
                impact="none",
            )
            mishaps = (said,)
        return Result(
            outcome="abstained" if self.answer.abstained else "answered",
            answer=self.answer,
            reason=reason,
            detail=stderr,
            mishaps=mishaps,
        )


def ending_of(code: int | None) -> str:
    """Return in one word how a program ended; None is one that had to be stopped."""
    if code is None:
        return "stopped"
    return f"exit {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


async def lines(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    """Yield the lines of a stream, the last one also without its end.

    One that is too long ends the stream: what follows could not be told apart.
    """
    rest = bytearray()
    async for chunk in stream:
        rest += chunk
        while (end := rest.find(b"\n")) >= 0:
            yield bytes(rest[:end])
            del rest[: end + 1]
        if len(rest) > LONGEST_LINE:
            yield bytes(rest[:LONGEST_LINE])
            return
    if rest:
        yield bytes(rest)
