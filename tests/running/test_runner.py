"""Runs of manifests: what is recorded of good and bad calls, limits, budgets, interruptions."""

import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from running_cases import HITS, RUN, FaultyServer, Scene, faulty_server, manifest
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError, RuleError, StorageError
from trial_ledger.identifiers import TrialKey
from trial_ledger.running.exchange import class_of
from trial_ledger.submission import Submission


def caused(error: Exception, by: Exception) -> Exception:
    """Return an error with what led to it."""
    error.__cause__ = by
    return error


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """Give a faulty server."""
    with faulty_server() as found:
        yield found


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Give a ledger with a dataset and a rubric."""
    return Scene(tmp_path)


def test_c17_a_run_is_recorded(scene: Scene, server: FaultyServer) -> None:
    """Input, delivered fields, request, response, answer, outcome: all there, and intact."""
    plan = scene.plan(manifest(server.url + "/search"))
    found = scene.go(plan)[RUN]
    assert (found.status, found.done, found.outcomes) == ("complete", 2, {"answered": 2})
    started = scene.data("trial.started")
    assert {one.fields for one in started} == {("id", "question", "as_of", "context")}
    assert all(one.leak_check == "clean" and one.seed is not None for one in started)
    asked = scene.text(started[0].input)
    assert '"options":{}' in asked
    assert "Samarkand" not in asked
    (call, _) = scene.data("call.started")
    assert (call.purpose, call.endpoint, call.name, call.attempt) == (
        "search", "search", "search_web", 1,
    )  # fmt: skip
    assert server.url in scene.text(call.request)
    ended = scene.data("call.finished")[0]
    assert (ended.status, ended.delivered, ended.cost) == ("ok", True, None)
    assert ended.served.endpoint == "search"
    answer = scene.data("answer.submitted")[0]
    assert scene.text(answer.answer) == "first"
    assert scene.text(answer.citations) == '["https://a.example/1"]'
    assert [one.status for one in scene.data("run.closed")] == ["complete"]
    assert scene.is_intact()


@pytest.mark.parametrize(
    ("script", "classes", "outcome", "lost"),
    [
        (
            [{"status": 429, "headers": {"retry-after": "0"}}, {"status": 500}],
            ["rate_limited", "server_error"],
            "first",
            0,
        ),
        (["hang"], ["timeout"], "first", 0),
        (["cut"], ["response_lost"], "failed: response_lost", 1),
        ([{"body": b"<html>"}], ["decode_error"], "failed: decode_error", 0),
        (
            [{"status": 302, "headers": {"location": "http://other.example/"}}],
            ["endpoint_fallback"],
            "failed: endpoint_fallback",
            0,
        ),
        ([{"status": 401}], ["auth"], "failed: auth", 0),
        ([{"body": {"hits": []}}], [], "nothing", 0),
        ([{"body": {**HITS, "warnings": ["stale"]}}], ["other"], "first", 0),
    ],
)
def test_c23_every_attempt_is_recorded(
    scene: Scene,
    server: FaultyServer,
    script: list[object],
    classes: list[str],
    outcome: str,
    lost: int,
) -> None:
    """Class, recovery, surfacing and what the agent was told follow from what the server did."""
    server.scripts["/search"] = list(script)
    limits = {"timeout_ms": 1000 if "hang" in script else 5000}
    plan = scene.plan(manifest(server.url + "/search", questions=["q1"], limits=limits))
    scene.go(plan)
    occurred = scene.data("failure.occurred")
    assert [one.class_ for one in occurred] == classes
    assert len(scene.data("failure.surfaced")) == len(classes)
    assert scene.text(scene.data("answer.submitted")[0].answer) == outcome
    assert len(scene.data("response.lost")) == lost
    is_retried = outcome == "first" and "other" not in classes
    assert len(scene.data("failure.recovered")) == (len(classes) if is_retried else 0)
    calls = scene.data("call.started")
    assert [one.attempt for one in calls] == list(range(1, len(calls) + 1))
    assert len(server.seen) == len(calls)
    if lost:
        (cut,) = scene.data("response.lost")
        assert (cut.bytes_received, cut.bytes_expected) == (100, 400)
    assert scene.is_intact()


def test_nothing_there_and_odd_addresses_are_failures(scene: Scene) -> None:
    """A closed port is no connection, an unknown host no address, and the run goes on."""
    plan = scene.plan(manifest("http://127.0.0.1:1/search", questions=["q1"]), "closed")
    scene.go(plan)
    assert [one.class_ for one in scene.data("failure.occurred", "closed")] == ["connect"]
    assert scene.data("failure.occurred", "closed")[0].fault == "search_provider"


def test_c24_a_declared_fallback_is_disclosed(scene: Scene, server: FaultyServer) -> None:
    """Another endpoint is asked only where the manifest lists it, and an occurrence says so."""
    server.usual["/down"] = {"status": 503}
    endpoints = {
        "search": {"url": server.url + "/down", "fallback": ["other"]},
        "other": {"url": server.url + "/search"},
    }
    scene.go(scene.plan(manifest(endpoints=endpoints, questions=["q1"])))
    assert [one.class_ for one in scene.data("failure.occurred")] == [
        "overloaded",
        "endpoint_fallback",
    ]
    assert [one.endpoint for one in scene.data("call.started")] == ["search", "other"]
    assert scene.data("call.started")[1].occurrence == "f2"
    assert [one.by for one in scene.data("failure.recovered")] == ["fallback"]
    del server.usual["/down"]
    scene.go(scene.plan(manifest(endpoints=endpoints, questions=["q3"]), "up"))
    assert [one.endpoint for one in scene.data("call.started", "up")] == ["search"]
    server.usual["/search"] = server.usual["/down"] = {"status": 503}
    scene.go(scene.plan(manifest(endpoints=endpoints, questions=["q2"]), "again"))
    assert not scene.data("failure.recovered", "again")


def test_c11_a_key_is_sent_and_kept_nowhere(scene: Scene, server: FaultyServer) -> None:
    """The header reaches the service; its value is in no event and in no text."""
    secret = "s3cret-key-of-the-search"  # noqa: S105 - it is looked for
    endpoints = {
        "search": {"url": server.url + "/search", "key_env": "A_KEY", "key_header": "x-api-key"}
    }
    scene.go(scene.plan(manifest(endpoints=endpoints)), environ={"A_KEY": secret})
    assert all(headers.get("x-api-key") == secret for _, headers, _ in server.seen)
    bearer = {"search": {"url": server.url + "/search", "key_env": "A_KEY"}}
    changed = manifest(endpoints=bearer, configuration="bearer", questions=["q1"])
    scene.go(scene.plan(changed, "bearer"), environ={"A_KEY": secret})
    assert server.seen[-1][1]["authorization"] == f"Bearer {secret}"
    assert secret.encode() not in scene.path.read_bytes()


@pytest.mark.parametrize("target", ["searching", "searching_async", "echo"])
def test_python_agents_are_plain_or_async(scene: Scene, server: FaultyServer, target: str) -> None:
    """Both may use the tools; what they ask for that is not there is their own failure."""
    agent = {"kind": "python", "target": f"running_agents:{target}"}
    found = scene.go(scene.plan(manifest(server.url + "/search", agent=agent, questions=["q1"])))
    assert found[RUN].outcomes == {"answered": 1}
    if target == "searching_async":
        answer = scene.text(scene.data("answer.submitted")[0].answer)
        assert answer == '["tool_error","tool_error","hits"]'
        assert [one.fault for one in scene.data("failure.occurred")] == ["agent", "agent"]


def test_what_an_agent_raises_or_returns_is_its_own(scene: Scene) -> None:
    """An exception, no answer and a value that is no JSON end the trial, not the run."""
    raising = {"kind": "python", "target": "running_agents:raising"}
    found = scene.go(scene.plan(manifest(agent=raising, questions=["q1"])))
    assert found[RUN].outcomes == {"errored": 1}
    (failure,) = scene.data("failure.occurred")
    assert (failure.class_, failure.detail_class, failure.impact) == (
        "agent_error", "RuntimeError", "trial_failed",
    )  # fmt: skip
    assert "running_agents.py" in scene.text(failure.detail)
    odd = {"kind": "python", "target": "running_agents:odd"}
    changed = manifest(agent=odd, configuration="odd", questions=["q1", "q2", "q3", "q4"])
    found = scene.go(scene.plan(changed, "odd"))
    assert found["odd"].outcomes == {"errored": 2, "abstained": 1, "answered": 1}


@pytest.mark.parametrize("target", ["broken_ledger", "broken_ledger_in_group"])
def test_what_the_ledger_raises_stops_the_run(scene: Scene, target: str) -> None:
    """A failing ledger is no failing trial: it is raised, and the run says that it stopped."""
    agent = {"kind": "python", "target": f"running_agents:{target}"}
    plan = scene.plan(manifest(agent=agent, questions=["q1"]))
    with pytest.raises(ExceptionGroup) as caught:
        scene.go(plan)
    assert caught.group_contains(StorageError)
    assert [one.status for one in scene.data("run.closed")] == ["interrupted"]
    assert [one.outcome for one in scene.data("trial.finished")] == ["cancelled"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("running_agents:gone", "cannot be loaded"),
        ("no_such_module_here:gone", "cannot be loaded"),
        ("running_agents:not_callable", "is no callable"),
    ],
)
def test_an_agent_that_is_not_there(scene: Scene, target: str, message: str) -> None:
    """Nothing is asked where there is nobody to ask."""
    plan = scene.plan(manifest(agent={"kind": "python", "target": target}))
    with pytest.raises(InvalidInputError) as caught:
        scene.go(plan)
    assert message in str(caught.value.problems[0])


def test_a_trial_has_its_time(scene: Scene) -> None:
    """An agent that takes too long is stopped; the failure is its own."""
    agent = {"kind": "python", "target": "running_agents:sleeping"}
    limits = {"trial_timeout_ms": 50}
    found = scene.go(scene.plan(manifest(agent=agent, limits=limits, questions=["q1"])))
    assert found[RUN].outcomes == {"errored": 1}
    assert [one.class_ for one in scene.data("failure.occurred")] == ["agent_timeout"]
    assert [one.reason for one in scene.data("trial.finished")] == ["agent_timeout"]


def test_tool_calls_are_limited(scene: Scene, server: FaultyServer) -> None:
    """One call too many is refused to the agent and recorded, and nothing is sent."""
    limits = {"tool_calls": 0}
    scene.go(scene.plan(manifest(server.url + "/search", limits=limits, questions=["q1"])))
    assert server.seen == []
    assert [one.class_ for one in scene.data("failure.occurred")] == ["limit"]


def test_c18_a_budget_stops_the_run(scene: Scene, server: FaultyServer) -> None:
    """Unknown calls count at their cap; what was not started stays to be resumed."""
    budget = {"usd": "0.25", "unknown_call_cap": "0.10"}
    limits = {"concurrency": 1}
    changed = manifest(
        server.url + "/search", budget=budget, limits=limits, questions=["q1", "q2", "q3", "q4"]
    )
    found = scene.go(scene.plan(changed))[RUN]
    assert (found.done, found.status) == (2, "failed")
    assert found.why == "the budget is used up: $0 + 2 calls unknown"
    assert len(server.seen) == 2
    again = scene.go(scene.rest())[RUN]
    assert (again.done, len(server.seen)) == (0, 2)


def test_c18_a_budget_holds_inside_a_trial(scene: Scene, server: FaultyServer) -> None:
    """A retry that the cap does not allow is not made, and a failure says so."""
    server.usual["/search"] = {"status": 500}
    budget = {"usd": "0.10", "unknown_call_cap": "0.10"}
    scene.go(scene.plan(manifest(server.url + "/search", budget=budget, questions=["q1"])))
    assert [one.class_ for one in scene.data("failure.occurred")] == ["server_error", "limit"]
    assert scene.text(scene.data("answer.submitted")[0].answer) == "failed: limit"


def test_c16_manifests_run_side_by_side(scene: Scene, server: FaultyServer) -> None:
    """Two runs ask the same questions in the same order, in one execution, by one seed."""
    questions = [f"q{number}" for number in range(1, 7)]
    limits = {"concurrency": 1}
    plans = [
        scene.plan(
            manifest(
                server.url + "/search", configuration=name, questions=questions, limits=limits
            ),
            name,
            11,
        )
        for name in ("one", "two")
    ]
    found = scene.go(*plans)
    assert {one.status for one in found.values()} == {"complete"}
    orders = [[e.trial.question for e in scene.events("trial.started", n)] for n in ("one", "two")]  # type: ignore[union-attr]
    assert orders[0] == orders[1]
    assert orders[0] != questions
    notes = [one for one in scene.data("note.added", "two") if one.about == "order of the trials"]
    assert [scene.text(one.text) for one in notes] == ["11"]


def test_an_interruption_ends_what_runs_and_is_resumed(scene: Scene, server: FaultyServer) -> None:
    """The rest is done by whoever resumes; sessions that were cut off stay beside the new ones."""
    questions = [f"q{number}" for number in range(1, 9)]
    agent = {"kind": "python", "target": "running_agents:searching_async"}
    changed = manifest(server.url + "/search", questions=questions, agent=agent)
    found = scene.go(scene.plan(changed), stop_after=3)[RUN]
    assert (found.status, found.why) == ("interrupted", "interrupted by hand")
    cut = [one for one in scene.data("trial.finished") if one.outcome == "cancelled"]
    assert all(one.reason == "interrupted" for one in cut)
    rest = scene.go(scene.rest())[RUN]
    assert rest.status == "complete"
    counted = Counter(
        event.trial.question  # type: ignore[union-attr]
        for event in scene.events("trial.finished")
        if event.data.outcome == "answered"  # type: ignore[union-attr]
    )
    assert counted == dict.fromkeys(questions, 1)
    assert len(scene.data("run.resumed")) == 1
    assert scene.rest().slots == []
    assert scene.is_intact()


def test_errored_slots_get_another_session_when_asked(scene: Scene, server: FaultyServer) -> None:
    """`--retry-errored` adds a session; `--resume` alone does not."""
    agent = {"kind": "python", "target": "running_agents:raising"}
    scene.go(scene.plan(manifest(server.url + "/search", agent=agent)))
    assert scene.rest().slots == []
    again = scene.rest(retry_errored=True)
    assert {slot.key.session for slot in again.slots} == {"s2"}
    scene.go(again)
    assert len(scene.data("trial.finished")) == 4


def test_c25_an_outage_is_paused_and_resumed(scene: Scene, server: FaultyServer) -> None:
    """After failures in a row one request at a time tries; the log tells when."""
    server.scripts["/search"] = [{"status": 503}] * 4
    questions = [f"q{number}" for number in range(1, 9)]
    changed = manifest(
        server.url + "/search",
        questions=questions,
        outage={"pause_after": 3},
        retry={"attempts": 2, "on": ["overloaded"], "wait_ms": 1, "wait_most_ms": 5},
    )
    found = scene.go(scene.plan(changed))[RUN]
    assert (found.status, found.done) == ("complete", 8)
    notes = [scene.text(one.text) for one in scene.data("note.added") if one.about == "outage"]
    assert notes == [
        "endpoint search failed 3 times in a row: the run pauses",
        "endpoint search answers again: the run goes on",
    ]
    assert [kind for kind, _, _ in scene.news].count("outage") == 2


def test_c03_a_later_leak_is_caught_and_shown(scene: Scene, server: FaultyServer) -> None:
    """A request that holds gold is recorded by the ledger as a leak, and shown to who watches."""
    agent = {"kind": "python", "target": "running_agents:leaking"}
    scene.go(scene.plan(manifest(server.url + "/search", agent=agent, questions=["q1"])))
    assert [one.class_ for one in scene.data("failure.occurred")] == ["gold_leak"]
    assert len(scene.data("failure.surfaced")) == 1
    assert any("gold_leak" in line for line in scene.said)
    assert not any("Samarkand" in line for line in scene.said)


def test_c03_a_correct_agent_is_not_accused(scene: Scene, server: FaultyServer) -> None:
    """Gold that a search returned may be searched for and answered."""
    server.usual["/search"] = {
        "body": {"hits": [{"url": "https://example.org/page", "text": "It is Samarkand."}]}
    }
    found = scene.go(scene.plan(manifest(server.url + "/search", questions=["q1"])))
    assert found[RUN].failures == {}
    assert scene.text(scene.data("answer.submitted")[0].answer) == "It is Samarkand."


def test_c03_an_input_that_shows_gold_is_not_given(scene: Scene) -> None:
    """The ledger refuses the first input; no trial begins, and the run says that it stopped."""
    agent = {
        "kind": "python",
        "target": "running_agents:echo",
        "options": {"hint": "Samarkand, Bukhara, Khiva, Tashkent"},
    }
    plan = scene.plan(manifest(agent=agent, questions=["q1"]))
    with pytest.raises(ExceptionGroup) as caught:
        scene.go(plan)
    assert caught.group_contains(RuleError, match="shows gold")
    assert scene.data("trial.started") == []
    assert [one.status for one in scene.data("run.closed")] == ["interrupted"]


def test_a_run_of_others_is_not_resumed(scene: Scene) -> None:
    """Only what was executed here can be gone on with."""
    scene.plan(manifest())
    with Ledger.open(scene.path, write=True, tools=scene.world()) as ledger:
        digest = next(iter(ledger.registry().manifests))
        data = {"manifest": digest, "entry": "appended"}
        ledger.append(Submission(kind="run.opened", run="theirs", data=data))
    with pytest.raises(RuleError, match="was not executed here"):
        scene.rest("theirs")


def test_without_a_seed_one_is_drawn_and_kept(scene: Scene) -> None:
    """The order of a resumed run is that of the interrupted one."""
    plan = scene.plan(manifest(seed=None))
    assert plan.order_seed > 0
    assert scene.rest().order_seed == plan.order_seed


def submitted(kind: str, session: str, **data: object) -> Submission:
    """Return an event of a trial that a killed runner left."""
    key = TrialKey(question="q1", configuration="local", repetition=1, session=session)
    return Submission(kind=kind, run=RUN, trial=key, data=data)


def test_c21_what_a_crash_left_open_is_ended_by_who_resumes(
    scene: Scene, server: FaultyServer
) -> None:
    """Open calls are lost, an answer stays the answer, the rest is asked again."""
    scene.plan(manifest(server.url + "/search", questions=["q1"]))
    call = {"call": "c1", "purpose": "search", "endpoint": "search"}
    left = [
        submitted("trial.started", "s1", input="x"),
        submitted("call.started", "s1", **call),
        submitted("failure.occurred", "s1", occurrence="f4", **{"class": "timeout"}),
        submitted("failure.occurred", "s1", occurrence="other", **{"class": "timeout"}),
        submitted("trial.started", "s2", input="x"),
        submitted("answer.submitted", "s2", abstained=True),
        submitted("trial.started", "s3", input="x"),
        submitted("answer.submitted", "s3", answer="Khiva"),
        submitted("call.started", "s3", call="t", purpose="tool"),
        submitted("call.finished", "s3", call="t", status="ok"),
        submitted("trial.started", "s5", input="x"),
    ]
    with Ledger.open(scene.path, write=True, tools=scene.world()) as ledger:
        ledger.append_many(left)
    plan = scene.rest()
    assert [slot.key.session for slot in plan.slots] == ["s6"]
    assert scene.go(plan)[RUN].status == "complete"
    ended = {
        str(event.trial): event.data.outcome  # type: ignore[union-attr]
        for event in scene.events("trial.finished")
    }
    assert ended == {
        "q1#1@s1": "cancelled",
        "q1#1@s2": "abstained",
        "q1#1@s3": "answered",
        "q1#1@s5": "cancelled",
        "q1#1@s6": "answered",
    }
    (lost,) = scene.data("response.lost")
    assert (lost.call, lost.occurrence) == ("c1", "f5")
    assert scene.is_intact()


def test_a_call_that_waits_for_its_turn_costs_nothing_when_it_is_cancelled(
    scene: Scene, server: FaultyServer
) -> None:
    """What was set aside for it is given back, and no call is recorded."""
    endpoint = {"url": server.url + "/search", "options": {"requests_per_minute": 1}}
    changed = manifest(
        endpoints={"search": endpoint},
        agent={"kind": "python", "target": "running_agents:asking_once"},
    )
    found = scene.go(scene.plan(changed), stop_after=1)[RUN]
    assert found.outcomes == {"answered": 1, "cancelled": 1}
    assert found.spent == "$0 + 1 call unknown"
    assert len(scene.data("call.started")) == 1


@pytest.mark.parametrize(
    ("error", "answered", "class_"),
    [
        (httpx.DecodingError("x"), True, "decode_error"),
        (httpx.UnsupportedProtocol("x"), False, "client_error"),
        (httpx.InvalidURL("x"), False, "client_error"),
        (httpx.ReadError("x"), False, "response_lost"),
        (httpx.ConnectError("x"), True, "response_lost"),
        (httpx.ConnectError("x"), False, "connect"),
        (caused(httpx.ConnectError("x"), socket.gaierror()), False, "dns"),
        (caused(httpx.ConnectError("x"), ssl.SSLError()), False, "tls"),
    ],
)
def test_c23_every_break_has_its_class(error: Exception, answered: bool, class_: str) -> None:
    """By what broke, and whether a response had begun."""
    assert class_of(error, answered=answered) == class_
