"""`ledger demo` from end to end: what it runs, shows and leaves behind."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from documented_screens import documented, normalised, of_demo
from trial_cli.demo import command, stage
from trial_cli.demo.stage import Stage
from trial_cli.main import COMMANDS
from trial_ledger.errors import InvalidInputError, LedgerError

LEDGER = [sys.executable, "-m", "trial_cli"]


class Ran:
    """One demo that was run: its folder and its output."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder / "demo-out"
        self.environment = environment
        done = subprocess.run(
            [*LEDGER, "demo"],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
            text=True,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def ledger(self, *arguments: str, code: int = 0) -> str:
        """Run a ledger command in the folder that was left behind."""
        done = subprocess.run(
            [*LEDGER, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    def screen(self, command_line: str) -> str:
        """Return what was printed below a command, up to the next command or explanation."""
        _, found, rest = self.out.partition(f"$ {command_line}\n")
        assert found, f"{command_line} was not run"
        return rest.partition("\n$ ")[0]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Run the demo once, with a LEDGER_PATH that must not lead it astray."""
    folder = tmp_path_factory.mktemp("demo")
    environment = os.environ | {
        "XDG_STATE_HOME": str(folder / "state"),
        "LEDGER_PATH": str(folder / "other.ledger"),
        "COLUMNS": "80",
    }
    found = Ran(folder, environment)
    environment.pop("LEDGER_PATH")
    return found


def test_the_demo_succeeds_and_touches_no_other_ledger(ran: Ran) -> None:
    """It ends with 0 and works in its own folder only."""
    assert ran.code == 0, ran.err
    assert sorted(path.name for path in ran.folder.parent.iterdir()) == ["demo-out", "state"]


def test_failures_are_flagged_while_the_runs_execute(ran: Ran) -> None:
    """Each provoked fault is one line; what a retry made good is told from what was lost."""
    for run in ("ranked-1", "substring-2"):
        flagged = re.findall(rf"! {run} \S+ (\w+): .*; (.*)\n", ran.err)
        assert sorted(flagged) == [
            ("rate_limited", "again after 1 s"),
            ("response_lost", "trial lost"),
            ("timeout", "again at once"),
            ("timeout", "again at once"),
        ]
        assert f"{run}: 54 trials, 4 failures, 3 recovered\n" in ran.err
    assert ran.err.count("! substring-1 ") == 3


def test_the_runs_are_live_and_the_mistaken_one_is_superseded(ran: Ran) -> None:
    """Three runs: two complete, one invalid with a reason and a successor; all witnessed live."""
    runs = {run["run"]: run for run in json.loads(ran.ledger("runs", "--json"))["runs"]}
    assert set(runs) == {"ranked-1", "substring-1", "substring-2"}
    assert {run["entry"] for run in runs.values()} == {"live"}
    states = {name: run["state"] for name, run in runs.items()}
    assert states == {
        "ranked-1": "complete",
        "substring-1": "INVALID failed",
        "substring-2": "complete",
    }
    assert runs["substring-2"]["supersedes"] == "substring-1"
    assert "(ledger exits with 5)" in ran.screen("ledger scores substring-1 >/dev/null")


def test_the_configurations_really_differ(ran: Ran) -> None:
    """Full text is right more often than plain substring, and both are wrong sometimes."""
    shares = {}
    for run in ("ranked-1", "substring-2"):
        document = json.loads(ran.ledger("scores", run, "--json"))
        (primary,) = (one for one in document["metrics"] if one["name"] == "right")
        shares[run] = Fraction(primary["headline"]["low"]["value"])
        assert primary["denominator"] == 54
        assert primary["decided"] == 54
    tenth = Fraction(1, 10)
    assert 2 * tenth < shares["substring-2"] < shares["ranked-1"] - tenth
    assert shares["ranked-1"] < 1 - tenth


def test_the_flipped_byte_is_found(ran: Ran) -> None:
    """The copy fails verification, the ledger itself does not, and one byte is the difference."""
    original = (ran.folder / "trials.ledger").read_bytes()
    copy = (ran.folder / "copy.ledger").read_bytes()
    assert len([1 for one, other in zip(original, copy, strict=True) if one != other]) == 1
    assert "(ledger exits with 4)" in ran.screen("ledger verify --ledger copy.ledger | head -3")
    ran.ledger("verify")
    ran.ledger("verify", "--ledger", "copy.ledger", code=4)
    with sqlite3.connect(f"file:{ran.folder / 'copy.ledger'}?mode=ro", uri=True) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_c21_the_demos_cut_response_is_as_documented(ran: Ran) -> None:
    """Half of a body came, the model saw nothing, the trial is lost; word by word."""
    for command_line, screen in documented().items():
        if of_demo(command_line):
            shown = ran.ledger(*command_line.split())
            assert normalised(shown) == normalised(screen)
            assert max(map(len, shown.splitlines())) <= 80


def test_gold_is_not_in_the_ledger(ran: Ran) -> None:
    """What only gold says stands in the gold file and nowhere in the ledger."""
    assert b"the demo's author" not in (ran.folder / "trials.ledger").read_bytes()


def test_the_output_fits_a_terminal(ran: Ran) -> None:
    """Explanations and commands stay within 80 columns."""
    shown = [line for line in ran.out.splitlines() if line.startswith(("$ ", "    |", "    --"))]
    assert len(shown) > 15
    assert max(map(len, shown)) < 80


def test_the_printed_commands_are_real(ran: Ran) -> None:
    """Every command that is shown or recommended exists, and the recommended ones succeed."""
    for name in re.findall(r"(?:\$|\|) ledger (\w+)", ran.out):
        assert name in COMMANDS
    for line, _ in command.NEXT:
        assert f"  {line} " in ran.out
        ran.ledger(*line.split()[1:])


def test_the_printed_pipeline_works_in_a_shell(ran: Ran, tmp_path: Path) -> None:
    """The line with the named pipe, typed into a shell, executes a run; here without a service."""
    folder = tmp_path / "again"
    folder.mkdir()
    for name in (*command.SCRIPTS, *command.DOCUMENTS, *command.MANIFESTS):
        (folder / name).write_bytes((ran.folder / name).read_bytes())
    script = (
        'set -e; mkfifo acks; ledger() { python -m trial_cli "$@"; }\n'
        "ledger init; ledger freeze dataset dataset.jsonl --name stdlib-docs --version 1\n"
        "ledger freeze rubric rubric.toml; ledger freeze manifest manifest-ranked.toml\n"
        "python harness.py manifest-ranked.toml --run ranked-1 <acks |"
        " ledger append - --stream >acks\n"
        "ledger runs --json"
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=ran.environment | {"PATH": path},
        capture_output=True,
        check=True,
        text=True,
    )
    assert "! ranked-1 q01#1 connect: ConnectionRefusedError" in done.stderr
    (run,) = json.loads(done.stdout[done.stdout.index("\n{") :])["runs"]
    assert (run["started"], run["state"]) == (3, "failed")


def test_a_folder_is_not_overwritten_unless_told(ran: Ran, tmp_path: Path) -> None:
    """An earlier demo is replaced by --force only, anything else never."""
    with pytest.raises(InvalidInputError) as refused:
        command.prepare(ran.folder, force=False)
    assert refused.value.hint == "ledger demo --force replaces it"
    (tmp_path / "dear.txt").write_text("keep me")
    for force in (False, True):
        with pytest.raises(InvalidInputError) as refused:
            command.prepare(tmp_path, force=force)
        assert "no earlier demo" in str(refused.value.problems[0])
    assert (tmp_path / "dear.txt").exists()
    folder = tmp_path / "new"
    command.prepare(folder, force=False)
    (folder / "trials.ledger").touch()
    command.prepare(folder, force=True)
    assert not (folder / "trials.ledger").exists()


def test_a_command_that_ends_otherwise_stops_the_demo(tmp_path: Path) -> None:
    """The error names the command, both exit codes, and where the remains are."""
    with pytest.raises(
        LedgerError, match="ledger scores ended with exit code 6, expected 0"
    ) as error:
        Stage(tmp_path).require("ledger scores", 6)
    assert str(tmp_path) in (error.value.hint or "")


@pytest.mark.parametrize(
    ("script", "why"), [("", "it says nothing"), ("raise SystemExit('no FTS5')", "no FTS5")]
)
def test_a_service_that_does_not_start_is_named(tmp_path: Path, script: str, why: str) -> None:
    """What the service says on its way out is in the error."""
    (tmp_path / "search_service.py").write_text(script)
    service = Stage(tmp_path).service()
    with pytest.raises(LedgerError, match=f"the search service did not start: {why}"):
        service.__enter__()


def test_nothing_to_flip_is_an_error(tmp_path: Path) -> None:
    """A file without the sought bytes is left alone."""
    path = tmp_path / "x.ledger"
    path.write_bytes(b"nothing")
    with pytest.raises(LedgerError, match="holds no"):
        command.flip(path)
    assert path.read_bytes() == b"nothing"


def test_long_command_lines_are_broken_where_a_shell_allows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line is broken before an option or a pipe, with a backslash, within the width."""
    Stage(tmp_path).show("python", "x" * 40, "--option 'a b'", "--other " + "y" * 20, "| cat")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "$ python " + "x" * 40 + " --option 'a b' \\",
        "    --other " + "y" * 20 + " | cat",
    ]
    assert max(map(len, lines)) <= stage.WIDTH
