"""The demo's harness: what it tells the ledger, when, and how failures come out."""

import io
import json
import re
import signal
import subprocess
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any, TextIO, cast

import pytest

from trial_cli.demo import harness, search_service
from trial_cli.demo.search_service import FAULTS, Index, Service

Events = list[dict[str, Any]]

DATA = files("trial_cli.demo")


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    """Return the index over this Python's docstrings, built once."""
    built = Index(Path(sysconfig.get_path("stdlib")))
    yield built
    built.connection.close()


@contextmanager
def running(server: HTTPServer) -> Iterator[int]:
    """Serve while the block runs."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, where answers are left, and without waiting for rate limits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search_service, "RETRY_AFTER_S", 0)
    return tmp_path


def manifest(folder: Path, port: int, name: str = "ranked", **changed: str) -> str:
    """Write one of the demo's manifests for a port, with lines changed, and return its path."""
    text = DATA.joinpath(f"manifest-{name}.toml").read_text("utf-8").replace(":PORT", f":{port}")
    for key, value in changed.items():
        text = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
    path = folder / f"{name}.toml"
    path.write_text(text, "utf-8")
    return str(path)


def execute(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Events, str]:
    """Execute a manifest without a ledger; return the events and what was flagged."""
    harness.main([*arguments, "--run", "r-1", "--appended"])
    out, err = capsys.readouterr()
    return [json.loads(line) for line in out.splitlines()], err


def kinds_of(events: Events, question: str, repetition: int) -> list[str]:
    """Return the kinds of one trial's events in order, without failure.surfaced."""
    key = {"question": question, "configuration": "ranked", "repetition": repetition}
    found = [event["kind"] for event in events if event.get("trial") == key]
    return [kind for kind in found if kind != "failure.surfaced"]


def data_of(events: Events, kind: str) -> list[dict[str, Any]]:
    """Return the data of every event of a kind."""
    return [event["data"] for event in events if event["kind"] == kind]


def test_a_whole_run(folder: Path, index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    """Every planned slot is executed, every provoked fault is recorded, flagged and accounted."""
    with running(Service(0, index, FAULTS)) as port:
        events, flagged = execute(capsys, manifest(folder, port))
    counts = Counter(event["kind"] for event in events)
    assert counts["trial.started"] == counts["trial.finished"] == 54
    assert counts["call.started"] == counts["call.finished"] + counts["response.lost"]
    classes = Counter(data["class"] for data in data_of(events, "failure.occurred"))
    assert classes == {"rate_limited": 1, "timeout": 2, "response_lost": 1}
    assert counts["failure.occurred"] == counts["failure.surfaced"] == 4
    assert counts["failure.recovered"] == counts["failure.assessed"] == 3
    assert flagged.count("\n! r-1 ") == 4
    assert "\nr-1: 54 trials, 4 failures, 3 recovered\n" in flagged
    assert events[0]["data"]["entry"] == "appended"
    assert data_of(events, "run.closed") == [{"status": "complete"}]
    assert len({event["id"] for event in events}) == len(events)
    costs = Counter(data["cost"] is None for data in data_of(events, "call.finished"))
    assert costs[True] == classes["timeout"], "only what never came whole has an unknown cost"
    answers = [json.loads(line) for line in Path("r-1.answers.jsonl").read_text().splitlines()]
    outcomes = Counter(answer["outcome"] for answer in answers)
    assert outcomes["errored"] == 1
    assert outcomes["answered"] + outcomes["abstained"] == 53


def test_the_order_of_a_trial(
    folder: Path, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    """Intent comes before effect, the failure before what names it, the answer before the end."""
    faults = {1: "rate_limited", 3: "cut"}
    with running(Service(0, index, faults)) as port:
        events, flagged = execute(capsys, manifest(folder, port, repetitions="1"))
    assert kinds_of(events, "q01", 1) == [
        "trial.started", "call.started", "failure.occurred", "call.finished",
        "call.started", "call.finished", "failure.recovered", "failure.assessed",
        "answer.submitted", "trial.finished",
    ]  # fmt: skip
    assert kinds_of(events, "q02", 1) == [
        "trial.started", "call.started", "failure.occurred", "response.lost", "trial.finished",
    ]  # fmt: skip
    first, second = data_of(events, "call.started")[:2]
    assert (first["call"], first["attempt"], first["retry_of"]) == ("c1", 1, None)
    assert (second["call"], second["attempt"], second["retry_of"]) == ("c2", 2, "c1")
    assert first["request"] == "GET /search?mode=ranked&q=leading+whitespace+every"
    (lost,) = data_of(events, "response.lost")
    assert lost["bytes_received"] == lost["bytes_expected"] // 2
    finished = data_of(events, "trial.finished")
    assert (finished[1]["outcome"], finished[1]["reason"]) == ("errored", "response_lost")
    assert "! r-1 q01#1 rate_limited: 429 Too Many Requests; again at once\n" in flagged
    assert "; trial lost\n" in flagged


def test_the_agent_is_given_no_gold(
    folder: Path, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recorded input has id, question, date and context, and names just these."""
    with running(Service(0, index, {})) as port:
        events, _ = execute(capsys, manifest(folder, port, repetitions="1"))
    for data in data_of(events, "trial.started"):
        assert set(json.loads(data["input"])) == set(data["fields"])
        assert set(data["fields"]) <= {"id", "question", "as_of", "context"}
        assert data["seed"] == 20261002
    statuses = Counter(data["status"] for data in data_of(events, "call.finished"))
    assert set(statuses) == {"ok"}, "full text always finds something"


def test_a_configuration_mistake_ends_the_run_early(
    folder: Path, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    """After three lost trials in a row the run is closed as failed and says why."""
    with running(Service(0, index, {})) as port:
        events, flagged = execute(capsys, manifest(folder, port, "draft"))
    assert len(data_of(events, "trial.started")) == 3
    (closed,) = data_of(events, "run.closed")
    assert closed == {"status": "failed", "reason": "gave up: 3 trials lost in a row"}
    for data in data_of(events, "failure.occurred"):
        assert (data["class"], data["fault"]) == ("client_error", "harness")
        assert (data["message"], data["impact"]) == ("400 no mode 'substr'", "trial_failed")
    assert "! r-1 q01#1 client_error: 400 no mode 'substr'; trial lost\n" in flagged


class Broken(BaseHTTPRequestHandler):
    """A service that is out of order."""

    def do_GET(self) -> None:
        """Answer 503."""
        self.send_response(HTTPStatus.SERVICE_UNAVAILABLE)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - inherited name
        """Print nothing."""


def test_a_service_out_of_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A 503 and a closed port are failures of the provider, each of its own class."""
    with running(HTTPServer(("127.0.0.1", 0), Broken)) as port:
        path = manifest(folder, port)
        events, _ = execute(capsys, path)
        assert {data["class"] for data in data_of(events, "failure.occurred")} == {"server_error"}
    events, _ = execute(capsys, path)
    found = data_of(events, "failure.occurred")
    assert {(data["class"], data["fault"]) for data in found} == {("connect", "search_provider")}
    assert {data["cost"] for data in data_of(events, "call.finished")} == {None}


def test_retries_end(folder: Path, index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    """What may be tried again is tried as often as the manifest says, and no more."""
    limited = dict.fromkeys(range(1, 100), "rate_limited")
    with running(Service(0, index, limited)) as port:
        events, flagged = execute(capsys, manifest(folder, port, pause_after="1"))
    occurred = data_of(events, "failure.occurred")
    assert [data["attempt"] for data in occurred] == [1, 2, 3]
    assert [data["impact"] for data in occurred] == ["unknown", "unknown", "trial_failed"]
    assert data_of(events, "failure.recovered") == []
    assert flagged.count("again at once") == 2


def test_an_agent_that_ends_is_an_agent_error(
    folder: Path, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial whose agent ends without an answer is lost by the agent."""
    script = folder / "mute.py"
    script.write_text("input()\n")
    with running(Service(0, index, {})) as port:
        arguments = [manifest(folder, port, pause_after="2"), "--agent", str(script)]
        events, _ = execute(capsys, *arguments)
    found = [(data["class"], data["fault"]) for data in data_of(events, "failure.occurred")]
    assert found == [("agent_error", "agent")] * 2


class Acknowledging:
    """Standard input on which a ledger acknowledges what it has been sent."""

    def __init__(self, sent: io.StringIO) -> None:
        self.sent = sent
        self.count = 0

    def readline(self) -> str:
        """Acknowledge the next line; a real ledger would never answer one that was not sent."""
        self.count += 1
        assert self.count <= self.sent.getvalue().count("\n")
        return '{"seq": 1}\n'


def test_no_request_leaves_before_its_acknowledgement(
    folder: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever a request arrives, everything sent so far has been acknowledged."""
    out = io.StringIO()
    acknowledgements = Acknowledging(out)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stdin", acknowledgements)
    arrived = []
    search = index.search

    def watched(mode: str, query: str) -> list[dict[str, str]]:
        arrived.append(acknowledgements.count == out.getvalue().count("\n"))
        return search(mode, query)

    monkeypatch.setattr(index, "search", watched)
    with running(Service(0, index, {})) as port:
        harness.main([manifest(folder, port, repetitions="1"), "--run", "r-1"])
    assert len(arrived) > 18
    assert all(arrived)
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert events[0]["data"]["entry"] == "live"
    assert acknowledgements.count == len(events)


def test_acknowledgements_are_read_in_time() -> None:
    """However much is sent without a request, only so much waits for its acknowledgement."""
    out = io.StringIO()
    acknowledgements = Acknowledging(out)
    ledger = harness.Ledger("r", out, cast("TextIO", acknowledgements))
    for _ in range(harness.MANY - 1):
        ledger.send("note.added", {})
    assert acknowledgements.count == 0
    ledger.send("note.added", {})
    assert acknowledgements.count == harness.MANY


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ('{"problems": ["no"]}\n', '{"problems": ["no"]}'),
        ("", "the ledger acknowledges no more"),
    ],
)
def test_a_refusal_ends_the_harness(folder: Path, answers: str, message: str) -> None:
    """Where the ledger refuses or is gone the harness stops in one line, before any request."""
    command = [sys.executable, "-m", "trial_cli.demo.harness", manifest(folder, 9), "--run", "r-1"]
    done = subprocess.run(command, input=answers, capture_output=True, check=False, text=True)
    assert done.returncode == 1
    assert done.stderr == f"r-1: stopped: {message}\n"
    assert not Path("r-1.answers.jsonl").exists()


def test_an_interrupt_ends_the_harness_in_one_line(folder: Path) -> None:
    """Interrupted while it waits for an acknowledgement, it ends without a traceback."""
    command = [sys.executable, "-m", "trial_cli.demo.harness", manifest(folder, 9), "--run", "r-1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert process.returncode == 1
    assert error == b"r-1: stopped: interrupted\n"


def test_a_correction_names_what_it_supersedes(
    folder: Path, index: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    """The opening of a correcting run carries the run and the reason it was given."""
    with running(Service(0, index, {})) as port:
        path = manifest(folder, port, "draft")
        events, _ = execute(capsys, path, "--supersedes", "r-0", "--reason", "wrong mode")
    assert events[0]["data"] == {
        "manifest": "substring-draft",
        "entry": "appended",
        "supersedes": "r-0",
        "reason": "wrong mode",
    }
