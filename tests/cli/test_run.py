"""`ledger run` as a person and as a program see it, killed in the middle and gone on with."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from cli_cases import Here, environment, ledger, ready
from ledger_cases import tools
from running_agents import Odd
from running_cases import faulty_server
from trial_ledger.book import Ledger
from trial_ledger.events import CallStarted, TrialFinished
from trial_ledger.running.execution import hide_from_others, kill

MANIFEST = """
configuration = "{configuration}"
phase = "final"
dataset = "example@1"
rubric = "quality@1"
repetitions = 1
seed = 5
{extra}
[agent]
kind = "python"
target = "running_agents:{target}"
[[tools]]
name = "search_web"
endpoint = "search"
[endpoints.search]
url = "{url}"
[limits]
timeout_ms = 2000
concurrency = {concurrency}
[budget]
{budget}
"""


def write(folder: Path, **changes: object) -> str:
    """Write a manifest; return its name."""
    fields = {
        "configuration": "Plain Run",
        "target": "echo",
        "url": "http://127.0.0.1:9/search",
        "concurrency": 2,
        "budget": "",
        "extra": "",
        **changes,
    }
    name = f"{str(fields['configuration']).replace(' ', '-')}.toml"
    (folder / name).write_text(MANIFEST.format(**fields), "utf-8")
    return name


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """Run commands in this process, beside a ledger with frozen documents."""
    ready(tmp_path)
    return Here(tmp_path, monkeypatch, capsys)


def test_a_file_is_frozen_and_executed(here: Here) -> None:
    """The run gets a free name; a second one of the same manifest gets the next."""
    name = write(here.folder)
    first = here("run", "--freeze", name)
    assert first.code == 0
    assert first.out.startswith("plain-run-1  complete\n  trials    10 of 10  answered 10\n")
    assert first.out.endswith("next: ledger grade plain-run-1\n")
    assert "plain-run-1  10 of 10 slots to do, order by seed 5" in first.err
    again = here("run", "Plain Run", "--json")
    assert again.code == 0
    assert [row["event"] for row in again.rows] == ["trial"] * 10 + ["closed"]
    assert (again.rows[-2]["done"], again.rows[-2]["to_do"]) == (10, 10)
    assert again.err == ""
    assert here("verify").code == 0


def test_a_run_names_what_it_corrects(here: Here) -> None:
    """`--name`, `--supersedes` and `--reason` are recorded."""
    name = write(here.folder)
    here("run", "--freeze", name, "--name", "first")
    code = here(
        "run", "Plain Run", "--name", "second", "--supersedes", "first", "--reason", "again"
    ).code
    assert code == 0
    with Ledger.open(here.folder / "trials.ledger", tools=tools(here.folder, pins=False)) as book:
        assert book.run_opened("second").supersedes == "first"


def test_failures_are_on_standard_error_and_in_the_exit_code(here: Here) -> None:
    """Every one is flagged as it happens; a run in which every trial errored exits 5."""
    name = write(here.folder, target="raising")
    result = here("run", "--freeze", name)
    assert result.code == 5
    assert result.err.count("! plain-run-1 q") == 10
    assert "  failures  agent error 10\n" in result.out
    again = here("run", "--retry-errored", "plain-run-1")
    assert again.code == 5
    assert "10 of 10 slots to do" in again.err


def test_c18_a_capped_run_needs_a_cap_for_the_unknown(here: Here) -> None:
    """Without one it is refused before anything is opened, unless it is told to go on."""
    name = write(here.folder, budget='usd = "1.00"')
    refused = here("run", "--freeze", name)
    assert refused.code == 2
    assert "budget.unknown_call_cap" in refused.err
    assert "--allow-unknown-cost" in refused.err
    assert here("run", "Plain Run", "--allow-unknown-cost").code == 0
    tight = write(
        here.folder,
        configuration="tight",
        target="searching",
        budget='usd = "0.10"\nunknown_call_cap = "0.10"',
    )
    stopped = here("run", "--freeze", tight)
    assert stopped.code == 1
    assert "tight-1  failed: the budget is used up" in stopped.out


@pytest.mark.parametrize(
    "arguments",
    [("run",), ("run", "x", "--resume", "y"), ("run", "x", "y", "--name", "z")],
)
def test_options_that_do_not_go_together(here: Here, arguments: tuple[str, ...]) -> None:
    """Manifests or runs, and one name for one run."""
    assert here(*arguments).code == 2


def test_what_cannot_be_executed_opens_no_run(here: Here) -> None:
    """A missing manifest, agent or provider is said first."""
    assert here("run", "nothing").code == 3
    assert here("run", "--freeze", ".").code == 7
    assert here("run", "--resume", "nothing").code == 6
    gone = write(here.folder, target="gone")
    assert here("run", "--freeze", gone).code == 2
    odd = write(here.folder, configuration="odd", url="file:nowhere")
    assert here("run", "--freeze", odd).code == 7
    url = 'http://h/"\noptions = {provider = "exxa"}\nmode = "x'
    wrong = write(here.folder, configuration="wrong", url=url)
    result = here("run", "--freeze", wrong)
    assert (result.code, "names no search provider" in result.err) == (2, True)
    assert here("runs", "--json").json["runs"] == []


def test_on_a_terminal_a_line_moves(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn over itself, erased before a failure, and gone at the end."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert "\r10/10  answered 10  0 s left" in here("run", "--freeze", write(here.folder)).err
    name = write(here.folder, configuration="other", target="raising")
    result = here("run", "--freeze", name)
    assert "\r10/10  errored 10  failures 10  0 s left" in result.err
    assert all(len(part) < 80 for part in result.err.replace("\n", "\r").split("\r"))


PRELUDE = "import sys; sys.path.insert(0, {path!r})\nfrom trial_cli.main import main; main()"


def start(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start the real command in a process."""
    tests = str(Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE.format(path=tests), *arguments],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def resumed(folder: Path, run: str) -> None:
    """Go on with a run until it is complete."""
    done = start(folder, "run", "--resume", run)
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, (out, err)


def check_killed(folder: Path, moments: int, seed: int) -> None:
    """Kill a run at random moments, go on with it, and check every slot and every attempt."""
    chance = Random(seed)  # noqa: S311 - repeatable on purpose
    ready(folder)
    with faulty_server() as server:
        name = write(folder, target="short_sleep", url=server.url + "/search", concurrency=3)
        process = start(folder, "run", "--freeze", name)
        wait_for_trials(folder)
        for _ in range(moments):
            time.sleep(chance.randrange(800) / 1000)
            process.kill()
            process.communicate()
            process = start(folder, "run", "--resume", "plain-run-1")
        process.communicate(timeout=60)
        if process.returncode != 0:
            assert ledger(folder, "runs").code == 0
        resumed(folder, "plain-run-1")
        asked = len(server.seen)
    with Ledger.open(folder / "trials.ledger", tools=tools(folder, pins=False)) as book:
        assert book.verify().findings == []
        events = [stored.event for stored in book.events(run="plain-run-1")]
    ended = [event for event in events if isinstance(event.data, TrialFinished)]
    counted = Counter(
        event.trial.question  # type: ignore[union-attr]
        for event in ended
        if event.data.outcome == "answered"  # type: ignore[union-attr]
    )
    assert counted == {f"q{number}": 1 for number in range(1, 11)}
    assert {event.data.outcome for event in ended} <= {"answered", "cancelled"}  # type: ignore[union-attr]
    started = {event.trial for event in events if event.kind == "trial.started"}
    assert started == {event.trial for event in ended}
    calls = sum(isinstance(event.data, CallStarted) for event in events)
    assert asked <= calls  # no request left that was not recorded before


def test_c16_a_killed_run_is_gone_on_with(tmp_path: Path) -> None:
    """Killed at two random moments: every slot is answered once, every attempt is kept."""
    check_killed(tmp_path, 2, seed=1)


@pytest.mark.soak
@pytest.mark.skipif(
    not os.environ.get("LEDGER_SOAK"), reason="fifty moments take a minute: make soak"
)
@pytest.mark.parametrize("seed", range(10))
def test_c16_a_run_killed_many_times(tmp_path: Path, seed: int) -> None:
    """The same at fifty moments, five a run."""
    check_killed(tmp_path, 5, seed=seed)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_once_and_twice(tmp_path: Path, times: int) -> None:
    """Once ends the running trials and closes the run; twice kills and leaves them open."""
    ready(tmp_path)
    name = write(tmp_path, target="stubborn" if times > 1 else "sleeping")
    process = start(tmp_path, "run", "--freeze", name)
    assert process.stderr is not None
    process.stderr.readline()
    wait_for_trials(tmp_path)
    process.send_signal(signal.SIGINT)
    if times > 1:
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    with Ledger.open(tmp_path / "trials.ledger", tools=tools(tmp_path, pins=False)) as book:
        events = [stored.event for stored in book.events(run="plain-run-1")]
    closed = [event.data.status for event in events if event.kind == "run.closed"]  # type: ignore[union-attr]
    ended = [event.data.outcome for event in events if event.kind == "trial.finished"]  # type: ignore[union-attr]
    if times > 1:
        assert (closed, ended) == ([], [])
    else:
        assert (closed, ended) == (["interrupted"], ["cancelled", "cancelled"])
        assert b"next: ledger run --resume plain-run-1" in out


def wait_for_trials(folder: Path) -> None:
    """Wait until two trials have started."""
    for _ in range(500):
        time.sleep(0.02)
        with Ledger.open(folder / "trials.ledger", tools=tools(folder, pins=False)) as book:
            found = [stored.event.kind for stored in book.events(run="plain-run-1")]
        if found.count("trial.started") > 1:
            return
    raise AssertionError


def test_c02_other_processes_cannot_look_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a run executes the kernel shows nobody its files and environment; Linux can."""
    get_dumpable = 3
    states = []
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sys, "platform", "darwin")
        hide_from_others(hidden=True)
    if sys.platform == "linux":
        for hidden in (False, True, False):
            hide_from_others(hidden=hidden)
            states.append(ctypes.CDLL(None).prctl(get_dumpable, 0, 0, 0, 0))
        assert states == [1, 0, 1]


def test_the_second_signal_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends at once, with the code of an interruption."""
    codes: list[int] = []
    monkeypatch.setattr("os._exit", codes.append)
    kill(signal.SIGINT, None)
    assert codes == [130]


def test_what_the_ledger_or_the_program_does_wrong_is_told_apart(here: Here) -> None:
    """A failing ledger is its own error; anything else that is raised is raised as it is."""
    broken = write(here.folder, configuration="broken", target="broken_ledger")
    result = here("run", "--freeze", broken)
    assert (result.code, "the disk is full" in result.err) == (7, True)
    strange = write(here.folder, configuration="strange", target="interrupting")
    with pytest.raises(BaseExceptionGroup) as caught:
        here("run", "--freeze", strange)
    assert caught.group_contains(Odd)


def test_documents_on_this_machine_are_searched(here: Here) -> None:
    """A folder beside the manifest is an endpoint."""
    (here.folder / "documents").mkdir()
    (here.folder / "documents" / "a.txt").write_text("Which town is meant by riddle q1", "utf-8")
    name = write(here.folder, target="searching", url="file:documents")
    assert here("run", "--freeze", name).code == 0
