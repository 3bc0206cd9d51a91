"""The `ledger` program itself: finding commands, turning errors into exit codes."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from cli_cases import COMMANDS, LEDGER, Here, environment, ledger, ready
from trial_cli import main as program
from trial_cli.main import cli, main, run
from trial_ledger import __version__
from trial_ledger.errors import GateError

CRASH = (
    "import trial_cli.options as options\n"
    "def opened(**_): raise ZeroDivisionError('by \\x1b[31mus')\n"
    "options.opened = opened"
)
"""A fault of the program itself."""


def test_without_arguments_help_is_shown(tmp_path: Path) -> None:
    """`ledger` alone, with `-h` and with `--help` shows the most used commands, and is fine."""
    alone = ledger(tmp_path)
    assert (alone.code, alone.err) == (0, "")
    shown = alone.out.partition("Most used commands:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in shown.splitlines()] == [
        "scores", "explain", "trace", "import", "append", "run", "rescore", "verify",
    ]  # fmt: skip
    assert "ledger help commands" in alone.out
    assert ledger(tmp_path, "--help") == alone
    assert max(len(line) for line in alone.out.splitlines()) <= 80


def test_the_version_is_told(here: Here) -> None:
    """`--version` names program and version."""
    assert here("--version") == (0, f"trial-ledger, version {__version__}\n", "")


def test_both_scripts_are_the_same_program(tmp_path: Path) -> None:
    """`ledger` and `trial-ledger` beside the interpreter run this program."""
    folder = Path(sys.executable).parent
    for name in ("ledger", "trial-ledger"):
        if not (folder / name).exists():
            pytest.skip("the package is not installed here")
        done = subprocess.run(
            [folder / name, "--version"],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"trial-ledger, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("scors",), "no command 'scors'. Did you mean scores?"),
        (("xyzzy",), "no command 'xyzzy'. See ledger help commands."),
        (("freeze", "datset"), "Did you mean 'dataset'?"),
        (("runs", "--jsn"), "Did you mean '--json'?"),
        (("--verison",), "Did you mean '--version'?"),
        (("log", "--after", "-1"), "-1 is not in the range x>=0"),
        (("runs", "--format", "xml"), "'xml' is not one of 'text', 'json', 'jsonl', 'csv', 'md'"),
    ],
)
def test_what_was_mistyped_is_said(arguments: tuple[str, ...], says: str, here: Here) -> None:
    """A wrong command or option ends with 2 and the nearest right one."""
    result = here(*arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert "--help' for help" in result.err


def test_every_command_is_there_and_no_other() -> None:
    """The commands are those that documentation and hints may name."""
    assert tuple(sorted(program.COMMANDS)) == COMMANDS
    context = click.Context(cli)
    assert tuple(cli.list_commands(context)) == COMMANDS
    assert set(program.MOST_USED) <= set(COMMANDS)
    for name in COMMANDS:
        found = cli.get_command(context, name)
        assert found is not None
        assert found.name == name
    assert cli.get_command(context, "none") is None


def test_a_command_is_imported_only_when_it_runs(tmp_path: Path) -> None:
    """`ledger --version` loads neither SQLite nor what only some commands need."""
    heavy = ("sqlite3", "httpx", "anyio", "sqlite_utils", "rich", "trial_ledger.book")
    check = f"import atexit, sys; atexit.register(lambda: print({heavy!r} & sys.modules.keys()))"
    done = ledger(tmp_path, "--version", before=check.replace(f"{heavy!r}", f"{set(heavy)!r}"))
    assert done.out.splitlines()[-1] == "set()"


def test_the_ledger_may_be_named_before_or_after_the_command(tmp_path: Path, here: Here) -> None:
    """`--ledger`, `$LEDGER_PATH` and the default name the file, in this order."""
    ready(tmp_path).rename(tmp_path / "other.ledger")
    assert here("stats").code == 6
    for arguments in (
        ("--ledger", "other.ledger", "stats"),
        ("stats", "--ledger", "other.ledger"),
        ("--ledger", "none", "stats", "--ledger", "other.ledger"),
    ):
        assert here(*arguments).code == 0
    here.monkeypatch.setenv("LEDGER_PATH", "other.ledger")
    assert here("stats").code == 0
    assert here("stats", "--ledger", "none").code == 6


def test_a_fault_of_the_program_shows_no_traceback(tmp_path: Path) -> None:
    """An unexpected exception is one harmless line and exit code 1; its place on request."""
    ready(tmp_path)
    crashed = ledger(tmp_path, "stats", before=CRASH)
    assert (crashed.code, crashed.out) == (1, "")
    assert crashed.err == (
        "Error: ZeroDivisionError: by \ufffd[31mus\n"
        "hint: LEDGER_DEBUG=1 shows where; please report it\n"
    )
    debug = ledger(tmp_path, "stats", before=CRASH, variables={"LEDGER_DEBUG": "1"})
    assert debug.code == 1
    assert "Traceback (most recent call last):" in debug.err
    assert "please report it" in debug.err


def test_debugging_keeps_the_exit_code(tmp_path: Path) -> None:
    """With LEDGER_DEBUG=1 an error of the user has its traceback, its message and its code."""
    missing = ledger(tmp_path, "stats", variables={"LEDGER_DEBUG": "1"})
    assert missing.code == 6
    assert "Traceback" in missing.err
    assert missing.err.endswith("hint: ledger init, or name the file with --ledger PATH\n")


def test_an_interrupt_is_130(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C anywhere ends with 130 and one word."""

    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trial_cli.stats.opened", interrupted)
    result = here("stats")
    assert result.code == 130
    assert result.err.strip() == "Interrupted."


def test_the_exit_code_of_an_error_is_its_class_s(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a command raises becomes the code of its class."""

    def gated(**_: object) -> None:
        message = "no"
        raise GateError(message)

    monkeypatch.setattr("trial_cli.stats.opened", gated)
    assert here("stats") == (5, "", "Error: no\n")


def test_main_exits_with_the_code_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program's exit status is what `run` returns, of the arguments of the process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ledger", "stats"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 6
    assert run(["help"]) == 0


@pytest.mark.parametrize(
    "arguments", [["log", "--format", "jsonl"], ["help", "commands"], ["show", "2", "--raw"]]
)
def test_a_closed_output_ends_quietly(arguments: list[str], tmp_path: Path) -> None:
    """Output that nobody reads any more is no error, whether it is noticed early or late."""
    ready(tmp_path)
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m trial_cli {' '.join(arguments)} | true"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""


def test_a_full_output_is_an_error_of_storage(tmp_path: Path) -> None:
    """Where standard output cannot be written, that is said and nothing is lost in silence."""
    ready(tmp_path)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "trial_cli", "log", "--json"],
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 7
    assert b"Error: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("runs", "--as-of"), ("log",), ("show",), ("help",)])
def test_arguments_that_are_no_text_are_refused(
    arguments: tuple[str, ...], tmp_path: Path, here: Here
) -> None:
    """An argument of bytes that are no UTF-8 is never a fault of the program."""
    ready(tmp_path)
    result = here(*arguments, "\udcff")
    assert result.code in {2, 6}
    assert "please report it" not in result.err
    assert (tmp_path / LEDGER).exists()
