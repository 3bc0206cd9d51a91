"""Runs the examples of a Markdown file and says where the output differs from what it shows.

Invariant: an example shows what the program really prints; only hashes, times and what an ellipsis
stands for may differ.

In a fenced block marked `console` a line that begins with `$ ` is a command, `> ` continues it, and
the lines below it are its output. A block marked with a language and a file name, as
`jsonl trials.jsonl`, is saved under that name first. All blocks of a file run in one shell, in
order, in an empty folder that holds a copy of `docs/examples` and `docs/recompute.py`.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Block", "Command", "differences", "missing_programs", "parse", "refreshed", "run"]

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(?P<indent> *)```(?P<words>.*)")
MARK = "\x1e"
"""Between the outputs of two commands; no program prints it."""

TOOLS = ("sqlite3", "b3sum", "jq", "git")
"""Programs that an example may need and a machine may lack."""

ELLIPSIS = "…"
VARYING = (
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "<hex>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?Z?)?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<time>"),
)
"""What is another one at every run, and what stands for it in a comparison."""


@dataclass
class Command:
    """One command of an example."""

    text: str
    """What is typed, without prompts."""
    expected: list[str] = field(default_factory=list)
    """The lines shown below it."""


@dataclass
class Block:
    """One fenced block that does something."""

    line: int
    """Line of its opening fence, from 1."""
    file: str | None = None
    """Name to save it under; None for commands."""
    content: list[str] = field(default_factory=list)
    """Its lines."""

    @property
    def commands(self) -> list[Command]:
        """Return the commands of a console block, in order."""
        found: list[Command] = []
        for line in self.content if self.file is None else ():
            if line.startswith("$ "):
                found.append(Command(line.removeprefix("$ ")))
            elif line.startswith("> ") and found and not found[-1].expected:
                found[-1].text += "\n" + line.removeprefix("> ")
            elif found:
                found[-1].expected.append(line)
        return found


def parse(text: str) -> list[Block]:
    """Return the blocks of a Markdown text that save a file or run commands, in order."""
    blocks: list[Block] = []
    current: Block | None = None
    closing = ""
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.fullmatch(line)
        if closing:
            if line.strip() == "```":
                closing = ""
                current = None
            elif current is not None:
                current.content.append(line)
        elif fence is not None:
            closing = "```"
            words = fence["words"].split()
            if words == ["console"]:
                current = Block(number)
            elif len(words) > 1:
                current = Block(number, file=words[1])
            if current is not None:
                blocks.append(current)
    return blocks


def missing_programs(blocks: Sequence[Block]) -> list[str]:
    """Return the programs that these examples need and this machine lacks."""
    text = "\n".join(command.text for block in blocks for command in block.commands)
    return [name for name in TOOLS if re.search(rf"\b{name}\b", text) and not shutil.which(name)]


def script_of(blocks: Sequence[Block]) -> str:
    """Return the shell script that runs the blocks and marks where each output ends."""
    lines: list[str] = []
    for block in blocks:
        if block.file is not None:
            lines += [f"cat > '{block.file}' <<'{MARK}'", *block.content, MARK]
        for command in block.commands:
            lines += [command.text, f"status=$?; printf '{MARK}'; (exit $status)"]
    return "\n".join(lines) + "\n"


def run(blocks: Sequence[Block], folder: Path) -> list[list[str]]:
    """Return the lines that each command printed, standard error among them.

    Args:
        blocks: what `parse` returned.
        folder: an empty folder to run in.
    """
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    shutil.copy(ROOT / "docs" / "recompute.py", folder / "docs" / "recompute.py")
    environment = {
        # Examples show what is printed; which lines of the program ran is for others to measure.
        **{name: value for name, value in os.environ.items() if "COVERAGE" not in name},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / ".state"),
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
    for name in ("LEDGER_PATH", "LEDGER_ACTOR", "LEDGER_DEBUG", "LEDGER_KEY", "XDG_CONFIG_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        ["bash", "-c", script_of(blocks)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    parts = done.stdout.decode("utf-8").split(MARK)[:-1]
    return [part.rstrip("\n").split("\n") if part.strip("\n") else [] for part in parts]


def normalised(line: str) -> str:
    """Return a line with what varies from run to run replaced."""
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return line.rstrip()


def pattern_of(expected: Sequence[str]) -> str:
    """Return the regular expression of an expected output; an ellipsis alone is any lines."""
    parts: list[str] = []
    for line in expected:
        if line.strip() == ELLIPSIS:
            parts.append(r"(?:[^\n]*\n)*?")
            continue
        pieces = (re.escape(piece) for piece in normalised(line).split(ELLIPSIS))
        parts.append("[^\n]*".join(pieces) + "\n")
    return "".join(parts)


def matches(expected: Sequence[str], printed: Sequence[str]) -> bool:
    """Return whether an output is what an example shows."""
    wanted = list(expected)
    while wanted and not wanted[-1].strip():
        wanted.pop()
    text = "".join(normalised(line) + "\n" for line in printed)
    return re.fullmatch(pattern_of(wanted), text) is not None


def differences(blocks: Sequence[Block], outputs: Sequence[Sequence[str]]) -> list[str]:
    """Return a paragraph for every command whose output differs from what the example shows."""
    commands = [(block, command) for block in blocks for command in block.commands]
    if len(commands) != len(outputs):
        return [f"{len(commands)} commands, {len(outputs)} outputs: the shell stopped early"]
    return [
        f"line {block.line}: $ {command.text}\n"
        + "\n".join(["  shown:", *command.expected, "  printed:", *printed])
        for (block, command), printed in zip(commands, outputs, strict=True)
        if not matches(command.expected, printed)
    ]


def refreshed(text: str, outputs: Sequence[Sequence[str]]) -> str:
    """Return a Markdown text with every output that differs replaced by the real one."""
    remaining = iter(outputs)
    lines = text.split("\n")
    for block in reversed_with_outputs(parse(text), remaining):
        place, content, new = block
        lines[place : place + len(content)] = new
    return "\n".join(lines)


def reversed_with_outputs(
    blocks: Sequence[Block], outputs: Iterator[Sequence[str]]
) -> list[tuple[int, list[str], list[str]]]:
    """Return (first line, old lines, new lines) of every console block, the last one first."""
    found: list[tuple[int, list[str], list[str]]] = []
    for block in blocks:
        new: list[str] = []
        for command in block.commands:
            printed = next(outputs)
            typed = command.text.split("\n")
            new += [f"$ {typed[0]}", *(f"> {line}" for line in typed[1:])]
            kept = matches(command.expected, printed)
            new += command.expected if kept else [line.rstrip() for line in printed]
        if block.commands:
            found.append((block.line, block.content, new))
    return found[::-1]
