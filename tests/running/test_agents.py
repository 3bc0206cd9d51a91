"""Agents in processes and services of their own, and the built-in chat loop."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from document_cases import problems_of
from ledger_cases import ANSWERS
from running_cases import HITS, RUN, SEARCH_TOOL, FaultyServer, Scene, faulty_server, manifest
from trial_ledger.running.agents.command import RUNNING, ending_of, kill_all, program_of
from trial_ledger.running.readiness import readiness_problems
from trial_ledger.running.runner import RunProgress


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """Give a faulty server."""
    with faulty_server() as found:
        yield found


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Give a ledger in a folder of its own, beside the folder of the agent."""
    book = tmp_path / "book"
    book.mkdir()
    return Scene(book)


START = "import json, os, sys, time, signal\nasked = json.loads(sys.stdin.readline())\n"
SAY = """
def say(**fields):
    print(json.dumps(fields), flush=True)
def hear():
    return json.loads(sys.stdin.readline())
"""


def command(
    scene: Scene, script: str, *, url: str = "file:documents", **changes: object
) -> RunProgress:
    """Run one question through a program; return how it went."""
    folder = scene.folder.parent / "program"
    folder.mkdir(exist_ok=True)
    (folder / "agent.py").write_text(START + SAY + script, "utf-8")
    documents = scene.folder.parent / "documents"
    documents.mkdir(exist_ok=True)
    (documents / "towns.txt").write_text("Which town is meant by riddle 9", "utf-8")
    agent = {
        "kind": "command",
        "target": sys.executable,
        "arguments": ["-I", str(folder / "agent.py")],
        "environment": ["OWN_VARIABLE"],
    }
    url = url.replace("file:documents", f"file:{documents}")
    changed = manifest(url, agent=agent, questions=["q1"], **changes)
    return scene.go(
        scene.plan(changed), environ={"OWN_VARIABLE": "mine", "OTHER": "hidden", **PATH}
    )[RUN]


PATH = {"PATH": os.environ.get("PATH", "")}


def test_c17_a_command_is_asked_and_answers(scene: Scene) -> None:
    """It gets the recorded question, may use tools and report events, and its end is recorded."""
    found = command(
        scene,
        """
say(type="tool", id="t", name="search_web", arguments={"query": asked["question"]})
hits = hear()
say(type="tool", id="u", name="gone", arguments={})
gone = hear()
say(type="event", id="e", kind="call.started",
    data={"call": "x", "purpose": "tool", "name": "calculator", "request": "1+1"})
recorded = hear()
say(type="event", kind="call.finished", data={"call": "x", "status": "ok", "response": "2"})
say(type="event", kind="call.finished", data={"call": "x", "status": "ok"})
say(type="event", id="r", kind="call.finished", data={"call": "x", "status": "ok"})
refused = hear()
sys.stderr.write("thinking\\n")
say(type="answer", citations=[hits["content"]["hits"][0]["url"]], answer={
    "asked": sorted(asked), "types": [hits["type"], gone["type"], recorded["type"],
    refused["type"]], "environment": sorted(os.environ), "folder": os.listdir(".")})
""",
    )
    assert found.outcomes == {"answered": 1}
    said = json.loads(scene.text(scene.data("answer.submitted")[0].answer))
    assert said["asked"] == [
        "as_of", "context", "id", "options", "question", "seed", "tools", "type",
    ]  # fmt: skip
    assert said["types"] == ["result", "error", "recorded", "refused"]
    assert set(said["environment"]) <= {"OWN_VARIABLE", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}
    assert "OWN_VARIABLE" in said["environment"]
    assert said["folder"] == []
    assert {one.call for one in scene.data("call.started")} == {"c1", "agent/x"}
    (ended,) = scene.data("trial.finished")
    assert (ended.reason, scene.text(ended.detail)) == ("exit 0", "thinking\n")
    assert [one.class_ for one in scene.data("failure.occurred")] == [
        "tool_error",
        "agent_error",
        "agent_error",
    ]
    assert scene.is_intact()


@pytest.mark.parametrize(
    ("script", "outcome", "reason", "impact"),
    [
        ("sys.stderr.write('no idea'); sys.exit(3)", "errored", "exit 3", "trial_failed"),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            "errored",
            "signal SIGKILL",
            "trial_failed",
        ),
        ("say(type='answer', answer='x'); sys.exit(4)", "answered", "exit 4", "none"),
        ("say(type='answer', abstained=True)", "abstained", "exit 0", None),
        ("sys.stdin.close(); say(type='answer', answer='x')", "answered", "exit 0", None),
        (
            "os.close(0)\n"  # noqa: ISC004 - one script
            "for _ in 'abc': say(type='tool', name='search_web', arguments={'q': 'x'})\n"
            "say(type='answer', answer='x')",
            "answered",
            "exit 0",
            None,
        ),
        ("print(json.dumps({'type': 'answer', 'answer': 1}), end='')", "answered", "exit 0", None),
    ],
)
def test_how_a_command_ended_is_recorded(
    scene: Scene, script: str, outcome: str, reason: str, impact: str | None
) -> None:
    """Exit code and signal, with an answer or without one."""
    assert command(scene, script).outcomes == {outcome: 1}
    assert [one.reason for one in scene.data("trial.finished")] == [reason]
    assert [one.impact for one in scene.data("failure.occurred")] == ([impact] if impact else [])


def test_lines_that_mean_nothing_are_recorded(scene: Scene) -> None:
    """Each of the first twenty, and an endless line ends the conversation."""
    found = command(
        scene,
        """
print()
for number in range(25):
    print("chatter", number, flush=True)
sys.stdout.write("x" * (5 << 20)); sys.stdout.flush()
time.sleep(20)
""",
        limits={"trial_timeout_ms": 6000},
    )
    assert found.outcomes == {"errored": 1}
    classes = [one.class_ for one in scene.data("failure.occurred")]
    assert classes == ["agent_error"] * 20 + ["agent_timeout"]


def test_a_command_that_takes_too_long_is_killed(scene: Scene) -> None:
    """Nothing of its process group is left, and its open call is ended."""
    pid = scene.folder / "pid"
    command(
        scene,
        f"""
import subprocess
child = subprocess.Popen(["sleep", "60"])
open({str(pid)!r}, "w").write(str(child.pid))
say(type="event", id="1", kind="call.started", data={{"call": "x", "purpose": "tool"}})
hear()
time.sleep(60)
""",
        limits={"trial_timeout_ms": 4000},
    )
    assert [one.class_ for one in scene.data("failure.occurred")] == ["agent_timeout", "cancelled"]
    status = Path(f"/proc/{pid.read_text()}/stat")
    assert not status.exists() or " Z " in status.read_text()


def test_programs_are_killed_with_their_runner() -> None:
    """The second interrupt leaves nothing behind; one that has ended is no matter."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        RUNNING.add(process.pid)
        kill_all()
        assert process.wait(timeout=10) == -signal.SIGKILL
    RUNNING.add(process.pid)
    kill_all()
    assert not RUNNING


def test_c02_a_gold_hunting_command_finds_nothing(scene: Scene) -> None:
    """What it is given, its environment, open files, folder and neighbourhood show no gold."""
    command(
        scene,
        """
found = [json.dumps(asked), json.dumps(dict(os.environ)), json.dumps(sys.argv), os.getcwd()]
for number in range(3, 64):
    try:
        found.append(os.readlink(f"/proc/self/fd/{number}"))
    except OSError:
        pass
places = [os.getcwd(), os.path.dirname(sys.argv[0])]
for place in places:
    for folder, _, files in os.walk(place):
        for file in files:
            with open(os.path.join(folder, file), "rb") as stream:
                found.append(file + stream.read().decode("latin-1"))
if os.geteuid() != 0:
    for name in ("environ", "maps"):
        try:
            found.append(open(f"/proc/{os.getppid()}/{name}").read())
        except OSError:
            pass
say(type="answer", answer="\\n".join(found))
""",
    )
    found = scene.text(scene.data("answer.submitted")[0].answer)
    assert "Which town is meant by riddle q1?" in found
    assert not any(gold in found for gold in ANSWERS.values())
    assert ".gold" not in found
    assert "trials.ledger" not in found


def test_a_program_is_found_before_it_is_started(tmp_path: Path) -> None:
    """A program on the path or in a folder; its files get whole names, its options stay."""
    (tmp_path / "agent.py").write_text("x", "utf-8")
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\n", "utf-8")
    assert problems_of(lambda: program_of("./run.sh", (), tmp_path))[0].found == "./run.sh"
    script.chmod(0o755)
    command_line = program_of("./run.sh", ("agent.py", "-x", "other"), tmp_path)
    assert command_line == [str(script), str(tmp_path / "agent.py"), "-x", "other"]
    assert problems_of(lambda: program_of("no-such-program", (), tmp_path))
    assert ending_of(None) == "stopped"


def http(scene: Scene, server: FaultyServer, action: object) -> RunProgress:
    """Run one question through a service; return how it went."""
    server.scripts["/agent"] = [action]
    agent = {"kind": "http", "target": server.url + "/agent"}
    return scene.go(scene.plan(manifest(agent=agent, questions=["q1"])))[RUN]


def test_c17_a_service_is_asked_and_answers(scene: Scene, server: FaultyServer) -> None:
    """The recorded input is what it gets; what it reports is recorded, or refused and said."""
    events: list[object] = [
        {"kind": "call.started", "data": {"call": "x", "purpose": "tool"}},
        {"kind": "call.finished", "data": {"call": "x", "status": "ok"}},
        {"kind": "call.finished", "data": {"call": "x", "status": "ok"}},
        {"kind": "trial.finished"},
        7,
    ]
    body = {"answer": "Khiva", "citations": ["u"], "events": events}
    assert http(scene, server, {"body": body}).outcomes == {"answered": 1}
    assert json.loads(server.seen[0][2])["id"] == "q1"
    assert server.seen[0][2].decode() == scene.text(scene.data("trial.started")[0].input)
    assert [one.call for one in scene.data("call.started")] == ["c1", "agent/x"]
    assert len(scene.data("failure.occurred")) == 3


@pytest.mark.parametrize(
    ("action", "class_", "reason"),
    [
        ({"status": 500}, "agent_error", "agent_error"),
        ("cut", "other", "other"),
        ({"body": b"<html>"}, "agent_error", "no_answer"),
        ({"body": [1]}, "agent_error", "no_answer"),
        ({"body": {"events": 3}}, "agent_error", "no_answer"),
    ],
)
def test_a_service_that_fails(
    scene: Scene, server: FaultyServer, action: object, class_: str, reason: str
) -> None:
    """It is the agent that failed, whatever broke."""
    assert http(scene, server, action).outcomes == {"errored": 1}
    failure = scene.data("failure.occurred")[-1]
    assert (failure.class_, failure.fault, failure.impact) == (class_, "agent", "trial_failed")
    assert [one.reason for one in scene.data("trial.finished")] == [reason]


def test_a_service_may_abstain(scene: Scene, server: FaultyServer) -> None:
    """Without words, and it is no failure."""
    assert http(scene, server, {"body": {"abstained": True}}).outcomes == {"abstained": 1}
    assert scene.data("failure.occurred") == []


def turn(reason: str = "stop", content: str | None = "Khiva", **further: object) -> dict[str, Any]:
    """Return a response of a model."""
    message = {"role": "assistant", "content": content, **further}
    return {
        "body": {
            "model": "m-1",
            "choices": [{"message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        }
    }


def asking(query: str | None) -> dict[str, Any]:
    """Return a response that asks for a search."""
    arguments = "no json" if query is None else json.dumps({"query": query})
    call = {
        "id": "t1",
        "type": "function",
        "function": {"name": "search_web", "arguments": arguments},
    }
    return turn("tool_calls", None, tool_calls=[call])


def chat(
    scene: Scene,
    server: FaultyServer,
    script: list[Any],
    *,
    limits: Mapping[str, object] | None = None,
    **options: object,
) -> RunProgress:
    """Run one question through the chat agent; return how it went."""
    server.scripts["/v1/chat/completions"] = script
    changed = manifest(
        questions=["q1"],
        agent={"kind": "chat", "target": "main", "options": options},
        models={"main": {"name": "m-1", "endpoint": "model", "sampling": {"temperature": "0"}}},
        prompts={"p": {"text": "Be brief."}},
        endpoints={
            "model": {"url": server.url + "/v1/"},
            "search": {"url": server.url + "/search"},
        },
        limits={"timeout_ms": 9000, **(limits or {})},
        prices={
            "as_of": "2026-10-01",
            "source": "x",
            "m-1": {"per": 1000, "input_tokens": "1", "output_tokens": "2"},
        },
    )
    return scene.go(scene.plan(changed))[RUN]


def test_c17_a_model_searches_and_answers(scene: Scene, server: FaultyServer) -> None:
    """Both turns and the search are recorded, with usage and the cost by the price table."""
    found = chat(scene, server, [asking("towns"), turn()])
    assert found.outcomes == {"answered": 1}
    assert [(one.purpose, one.name) for one in scene.data("call.started")] == [
        ("model", "m-1"), ("search", "search_web"), ("model", "m-1"),
    ]  # fmt: skip
    ended = scene.data("call.finished")
    assert [one.cost and one.cost.amount for one in ended] == ["0.02", None, "0.02"]
    assert (ended[0].usage.input_tokens, ended[0].served.model) == (10, "m-1")
    sent = json.loads(server.seen[-1][2])
    assert [one["role"] for one in sent["messages"]] == ["system", "user", "assistant", "tool"]
    assert json.loads(sent["messages"][3]["content"])["hits"] == [
        {**HITS["hits"][0], "published": None}
    ]
    assert found.spent == "$0.04 + 1 call unknown"
    assert scene.text(scene.data("answer.submitted")[0].answer) == "Khiva"


@pytest.mark.parametrize(
    ("script", "limits", "options", "outcome", "reason"),
    [
        ([turn("length")], {}, {}, "limit", "length"),
        ([turn("content_filter", None)], {}, {}, "filtered", "content_filter"),
        ([turn("stop", None, refusal="no")], {}, {}, "refused", "stop"),
        ([turn("stop", "I do not know it.")], {}, {"abstention": "I do not"}, "abstained", "stop"),
        ([turn("stop", None)], {}, {}, "abstained", "stop"),
        ([asking("a"), asking("b")], {"model_calls": 2}, {}, "limit", "model_calls"),
        ([asking("a"), turn()], {"output_tokens": 5}, {}, "limit", "output_tokens"),
        ([asking("a"), asking("b")], {"tool_calls": 1}, {}, "limit", "tool_calls"),
        ([{"status": 401}], {}, {}, "errored", "auth"),
        ([{"body": b"<html>"}], {}, {}, "errored", "decode_error"),
        ([{"body": {"x": 1}}], {}, {}, "errored", "schema_mismatch"),
        ([asking(None), turn()], {}, {}, "answered", "stop"),
    ],
)
def test_why_a_model_stopped_is_kept_apart(
    scene: Scene,
    server: FaultyServer,
    script: list[Any],
    limits: dict[str, object],
    options: dict[str, object],
    outcome: str,
    reason: str,
) -> None:
    """Answer, abstention, refusal, filter, limit and error are six outcomes."""
    assert chat(scene, server, script, limits=limits, **options).outcomes == {outcome: 1}
    assert [one.reason for one in scene.data("trial.finished")] == [reason]
    if outcome == "errored":
        assert [one.impact for one in scene.data("failure.assessed")] == ["trial_failed"]
        assert {one.fault for one in scene.data("failure.occurred")} <= {
            "harness", "model_provider",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("served", "classes"),
    [("m-1", []), ("m-1-2026-09-01", []), ("m-1-mini", ["model_fallback"]), (None, [])],
)
def test_c24_another_model_than_asked_for(
    scene: Scene, server: FaultyServer, served: str | None, classes: list[str]
) -> None:
    """A dated version is the model that was asked for; any other is a failure by itself."""
    answer = turn()
    answer["body"]["model"] = served
    del answer["body"]["usage"]
    chat(scene, server, [answer])
    assert [one.class_ for one in scene.data("failure.occurred")] == classes


def test_a_model_that_pauses_is_asked_to_go_on(scene: Scene, server: FaultyServer) -> None:
    """The other dialect, its own header, and a turn that is none yet."""
    pause = {"content": [{"type": "text", "text": "wait"}], "stop_reason": "pause_turn"}
    end = {"content": [{"type": "text", "text": "Khiva"}], "stop_reason": "end_turn"}
    server.scripts["/v1/messages"] = [{"body": pause}, {"body": end}]
    endpoint = {"url": server.url + "/v1", "options": {"provider": "anthropic"}}
    changed = manifest(
        questions=["q1"],
        agent={"kind": "chat", "target": "main"},
        models={"main": {"name": "m-1", "endpoint": "model"}},
        endpoints={"model": endpoint},
        tools=[],
        limits=None,
    )
    assert scene.go(scene.plan(changed))[RUN].outcomes == {"answered": 1}
    assert server.seen[0][1]["anthropic-version"] == "2023-06-01"
    assert len(json.loads(server.seen[1][2])["messages"]) == 2


def test_a_fault_of_our_own_ends_the_trial_only(scene: Scene, server: FaultyServer) -> None:
    """What this program does wrong is a failure of the harness, with its traceback."""
    answer = json.dumps(asking("x")["body"]).replace('"t1"', '"\\ud800"').encode()
    found = chat(scene, server, [{"body": answer}])
    assert found.outcomes == {"errored": 1}
    (failure,) = scene.data("failure.occurred")
    assert (failure.class_, failure.fault) == ("harness_error", "harness")
    assert "Traceback" in scene.text(failure.detail)


def test_a_chat_that_cannot_begin(scene: Scene) -> None:
    """Its dialect is checked before anything is asked."""
    changed = manifest(
        agent={"kind": "chat", "target": "main"},
        models={"main": {"name": "m", "endpoint": "search"}},
        endpoints={"search": {"url": "http://h/", "options": {"provider": "exa"}}},
    )
    plan = scene.plan(changed)
    assert "is no dialect" in str(problems_of(lambda: scene.go(plan))[0])


def test_everything_that_is_missing_is_said_at_once() -> None:
    """Keys, endpoints, providers and the kind of the agent."""
    changed = manifest(
        agent={"kind": "external", "target": "x"},
        tools=[SEARCH_TOOL, {"name": "other", "endpoint": "odd"}, {"name": "bare"}],
        endpoints={
            "search": {"url": "http://h/", "key_env": "NO_SUCH_KEY"},
            "odd": {"url": "http://h/", "options": {"provider": "exxa"}},
        },
    )
    found = readiness_problems(changed, {})
    assert [problem.field for problem in found] == [
        "endpoints.search.key_env",
        "endpoints.odd.options.provider",
        "agent.kind",
    ]
    talking = manifest(
        agent={"kind": "chat", "target": "main"},
        models={"main": {"name": "m", "endpoint": "search"}},
        tools=[{"name": "bare"}],
    )
    assert [one.field for one in readiness_problems(talking, {})] == ["tools.bare.endpoint"]
    assert readiness_problems(manifest(), {}) == []
