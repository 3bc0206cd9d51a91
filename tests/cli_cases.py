"""The command line in tests: the real program in a process of its own, or in this one."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ledger_cases import CONFIGURATION, files_of, full_ledger, small_ledger, tools
from trial_cli.main import run
from trial_ledger.book import Ledger
from trial_ledger.view import Head

LEDGER = "trials.ledger"
RUN = "r1"
OWN_VARIABLES = frozenset({"NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED", "PYTHONIOENCODING"})
"""What changes the output of a program and may be set where the tests run."""
COMMANDS = (
    "append", "backup", "check", "compare", "costs", "demo", "disagreements", "explain",
    "failures", "freeze", "grade", "head", "help", "import", "init", "invalidate", "key",
    "latency", "log", "override", "prove", "receipt",
    "redact", "reinstate", "replay", "report", "rescore", "resolve", "review", "run", "runs",
    "scan",
    "scores", "show", "stats", "trace", "trials", "verify",
)  # fmt: skip
"""Every command there is."""


class Result(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever the command says
        """Return the JSON that it wrote."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return the JSON lines that it wrote."""
        return [json.loads(line) for line in self.out.splitlines()]


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return an environment in which nothing lies outside a folder."""
    # Writing down which lines ran makes a start twice as long: the tests of commands do that.
    measured = os.environ.get("PYTEST_CURRENT_TEST", "").startswith("tests/cli/")
    left_out = ("LEDGER_",) if measured else ("LEDGER_", "COVERAGE")
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(left_out) and name not in OWN_VARIABLES
    }
    own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    return {**inherited, **own, **variables}


def ledger(
    folder: Path,
    *arguments: str | os.PathLike[str],
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
    before: str = "",
) -> Result:
    """Run the real command in a process, with the folder as its working directory.

    Args:
        folder: working directory, and where state lies.
        arguments: of the command.
        stdin: standard input.
        variables: environment variables beside the usual ones.
        before: Python statements that the process runs first, to change its world.
    """
    start = ["-m", "trial_cli"]
    world = environment(folder, **(variables or {}))
    if before:
        start = ["-c", f"{before}\nfrom trial_cli.main import main; main()"]
        # Whose world is smaller cannot also write down which lines it ran.
        world = {name: value for name, value in world.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, *start, *arguments],
        cwd=folder,
        env=world,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


class Here:
    """Runs commands in this process, for what a process of its own would only make slower."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        monkeypatch.chdir(folder)
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        for name in ("LEDGER_PATH", "LEDGER_DEBUG", "LEDGER_KEY"):
            monkeypatch.delenv(name, raising=False)

    def __call__(self, *arguments: str) -> Result:
        """Run one command."""
        self.capsys.readouterr()
        code = run(arguments)
        said = self.capsys.readouterr()
        return Result(code, said.out, said.err)


@cache
def template(make: Callable[..., Ledger]) -> tuple[bytes, bytes]:
    """Return the bytes of a ledger that a function of `ledger_cases` makes, and of its gold."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, world=tools(folder, pins=False)).close()
        book, gold = files_of(folder / LEDGER)
        return book.read_bytes(), gold.read_bytes()


def ready(folder: Path, make: Callable[..., Ledger] = small_ledger) -> Path:
    """Make a closed ledger, with frozen documents unless another is asked for; return its path."""
    path = folder / LEDGER
    for file, content in zip(files_of(path), template(make), strict=True):
        file.write_bytes(content)
    return path


def full(folder: Path) -> Path:
    """Make a closed ledger with the sample run and what people did about it; return its path."""
    return ready(folder, full_ledger)


def head(path: Path) -> Head:
    """Return the end of a closed ledger."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as book:
        return book.head()


def lines(*records: object) -> bytes:
    """Return records as JSON lines; bytes stand as they are."""
    return b"".join(
        (record if isinstance(record, bytes) else json.dumps(record).encode()) + b"\n"
        for record in records
    )


def event(kind: str, question: str | None = None, **data: object) -> dict[str, object]:
    """Return a record of the run, or of its trial of a question."""
    record: dict[str, object] = {"kind": kind, "run": RUN, "data": data}
    if question is not None:
        record["trial"] = f"{question}#1"
    return record


def opening(**data: object) -> dict[str, object]:
    """Return the opening of the run."""
    return event("run.opened", None, **{"manifest": CONFIGURATION, "entry": "live", **data})


def start(question: str, **data: object) -> dict[str, object]:
    """Return the start of a trial with an innocent input."""
    return event("trial.started", question, **{"input": f"riddle {question}", **data})


def write(folder: Path, records: Iterable[object], *, name: str = "in.jsonl") -> str:
    """Write records as JSON lines; return the file's name."""
    (folder / name).write_bytes(lines(*records))
    return name
