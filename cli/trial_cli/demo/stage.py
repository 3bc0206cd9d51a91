"""Run the demo's commands in one folder and print each as a user would type it.

Invariant: what is printed after `$` is what is run, and a command that ends in another way than the
demo announces stops it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from trial_ledger.errors import LedgerError

__all__ = ["Stage"]

Process = subprocess.Popen[bytes]
File = IO[bytes] | int | None

WIDTH = 79
"""Explanations and command lines are broken for a terminal of 80 columns."""
BREAK = " \\"


class Stage:
    """The folder of one demo, and what is shown of what happens in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if name != "LEDGER_PATH"
        }
        """Without LEDGER_PATH, so that the commands find the ledger beside them, as printed."""
        self.after_screen = False
        """Whether a screen was shown, from which the next command is set apart."""

    def say(self, text: str) -> None:
        """Print one paragraph of explanation."""
        self.after_screen = False
        click.echo()
        click.echo(click.wrap_text(text, WIDTH))

    def show(self, *words: str) -> None:
        """Print a command line, broken where it is too long; what it prints follows."""
        if self.after_screen:
            click.echo()
        self.after_screen = False
        lines = ["$"]
        for part in re.split(r" (?=--\w|[|<>])", " ".join(words).rstrip()):
            if len(lines[-1]) + len(part) > WIDTH - len(BREAK):
                lines[-1] += BREAK
                lines.append("   ")
            lines[-1] += f" {part}"
        click.secho("\n".join(lines), bold=True)

    def ledger(self, *arguments: str, expect: int = 0, shown: int | None = None) -> None:
        """Run one ledger command and let its screen through, or only so many lines of it."""
        filtered = {None: "", 0: ">/dev/null"}.get(shown, f"| head -{shown}")
        self.show("ledger", *map(shlex.quote, arguments), filtered)
        out = None if shown is None else subprocess.PIPE
        process = self.start(ledger_command(*arguments), stdout=out)
        for line in (process.communicate()[0] or b"").decode().splitlines()[:shown]:
            click.echo(line)
        self.after_screen = shown is None or shown > 1
        if expect:
            click.echo(f"(ledger exits with {process.returncode})")
        self.require(f"ledger {arguments[0]}", process.returncode, expect)

    def execute(self, manifest: str, run: str, *more: str) -> None:
        """Execute a manifest: events go one way through a pipe, acknowledgements back by `acks`."""
        arguments = ["harness.py", manifest, "--run", run, *more]
        quoted = map(shlex.quote, arguments)
        self.show("python", *quoted, "<acks | ledger append - --stream >acks")
        pipe = self.folder / "acks"
        # A shell opens both ends in two processes; here the first end may not wait for the second.
        back = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        forth = os.open(pipe, os.O_WRONLY)
        os.set_blocking(back, True)
        harness = self.start([sys.executable, *arguments], back, subprocess.PIPE)
        ledger = self.start(ledger_command("append", "-", "--stream"), harness.stdout, forth)
        os.close(back)
        os.close(forth)
        self.finish("harness.py", harness, ledger)

    def pipe(self, *arguments: str) -> None:
        """Let a script pipe JSON lines into the ledger, all or nothing."""
        quoted = map(shlex.quote, arguments)
        self.show("python", *quoted, "| ledger append - >/dev/null")
        script = self.start([sys.executable, *arguments], None, subprocess.PIPE)
        ledger = self.start(ledger_command("append", "-"), script.stdout, subprocess.DEVNULL)
        self.finish(arguments[0], script, ledger)

    def make_fifo(self, name: str) -> None:
        """Make a named pipe."""
        self.show("mkfifo", name)
        os.mkfifo(self.folder / name)

    def copy(self, source: str, target: str) -> None:
        """Copy a file."""
        self.show("cp", source, target)
        shutil.copyfile(self.folder / source, self.folder / target)

    def start(
        self,
        command: Sequence[str],
        stdin: File = None,
        stdout: File = None,
        stderr: File = None,
    ) -> Process:
        """Start a program in the folder."""
        return subprocess.Popen(  # noqa: S603 - our own programs
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )

    def finish(self, name: str, script: Process, ledger: Process) -> None:
        """Wait for both ends of a pipe."""
        assert script.stdout, "the script writes into a pipe"
        script.stdout.close()
        codes = ledger.wait(), script.wait()
        self.require("ledger append", codes[0])
        self.require(name, codes[1])

    def require(self, name: str, code: int, expect: int = 0) -> None:
        """Stop where a program did not end as it should.

        Raises:
            LedgerError: it did not.
        """
        if code != expect:
            message = f"{name} ended with exit code {code}, expected {expect}"
            raise LedgerError(message, hint=f"what was done until then lies in {self.folder}")

    @contextmanager
    def service(self) -> Iterator[str]:
        """Serve searches while the block runs; yield the service's port.

        Raises:
            LedgerError: it did not start.
        """
        self.show("python search_service.py 2>service.log &")
        log = self.folder / "service.log"
        with log.open("wb") as file:
            command = [sys.executable, "search_service.py"]
            service = self.start(command, stdout=subprocess.PIPE, stderr=file)
        with service:
            assert service.stdout, "it was given a pipe"
            address = service.stdout.readline().decode()
            if not address:
                why = log.read_text("utf-8", "replace").strip() or "it says nothing"
                raise LedgerError(f"the search service did not start: {why}")
            click.echo(address, nl=False)
            try:
                yield address.partition("/search")[0].rpartition(":")[2]
            finally:
                service.terminate()


def ledger_command(*arguments: str) -> list[str]:
    """Return the command line of this program, whether or not it is on PATH."""
    return [sys.executable, "-m", "trial_cli", *arguments]
