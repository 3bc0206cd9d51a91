"""Execute one manifest: question the agent, search for it, and tell a ledger what happens.

Invariant: what is about to happen is in the ledger before it happens: no request leaves before the
ledger has acknowledged it.

A plain script of the demo; it needs the standard library only and knows the ledger as a program
that reads JSON lines and acknowledges them::

    mkfifo acks
    python harness.py manifest-ranked.toml --run ranked-1 <acks | ledger append - --stream >acks

Events go to standard output, acknowledgements come from standard input, failures are flagged on
standard error as they happen. Answers are also left in `RUN.answers.jsonl` for `grade.py`.
"""

import argparse
import hashlib
import http.client
import itertools
import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from urllib.parse import urlencode, urlsplit

Data = Mapping[str, object]

HERE = Path(__file__).parent
HARNESS = {"role": "harness", "name": "demo-harness", "version": "1"}
AGENT = {"role": "agent", "name": "docstring-reader", "version": "1"}
DELIVERED = ("id", "question", "as_of", "context")
"""Fields of a question that the agent is given: gold is none of them."""
FREE = {"amount": "0", "currency": "USD", "basis": "computed"}
"""What a request costs by the manifest's price table, once a whole response came."""
MANY = 100
"""Events that may wait for their acknowledgement at the same time."""


class LedgerGoneError(Exception):
    """The ledger refused an event or stopped acknowledging."""


class Ledger:
    """Sends the events of one run and reads their acknowledgements."""

    def __init__(self, run: str, out: TextIO, acknowledgements: TextIO | None) -> None:
        self.run = run
        self.out = out
        self.acknowledgements = acknowledgements
        """None where nobody acknowledges, as when the events go to a file."""
        self.sent = 0
        self.acknowledged = 0

    def send(self, kind: str, data: Data, trial: Data | None = None, actor: Data = HARNESS) -> None:
        """Send one event; it may be acknowledged later.

        Its id follows from the run and its place in it, so that sending it twice adds nothing.
        """
        self.sent += 1
        event = {
            "id": short_hash(f"{self.run}/{self.sent}", 32),
            "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "actor": actor,
            "kind": kind,
            "run": self.run,
            **({"trial": trial} if trial else {}),
            "data": data,
        }
        self.out.write(json.dumps(event) + "\n")
        if self.sent - self.acknowledged >= MANY:
            self.settle()

    def settle(self) -> None:
        """Wait until everything that was sent is in the ledger.

        Raises:
            LedgerGoneError: it refused something or stopped.
        """
        self.out.flush()
        while self.acknowledgements and self.acknowledged < self.sent:
            line = self.acknowledgements.readline()
            if "seq" not in json.loads(line or "{}"):
                raise LedgerGoneError(line.strip() or "the ledger acknowledges no more")
            self.acknowledged += 1


class Policy(NamedTuple):
    """What the manifest says about searching."""

    url: str
    mode: str
    timeout_s: float
    attempts: int
    retried: tuple[str, ...]
    """Failure classes that are tried again."""


class Reply(NamedTuple):
    """What came of one request."""

    failure: str | None
    """Failure class; None where it succeeded."""
    fault: str | None
    """Whose."""
    message: str
    """Status or failure in words."""
    body: str | None = None
    """The response; None where it did not come whole."""
    wait_s: int = 0
    """How long the service asks to wait."""
    received: int | None = None
    """Bytes that came of a response that was cut off."""
    expected: int | None = None
    """Bytes it should have had."""


class Trial:
    """One session in one slot: sends its events and counts what happens in it."""

    def __init__(self, ledger: Ledger, key: Data) -> None:
        self.ledger = ledger
        self.key = key
        self.name = f"{ledger.run} {key['question']}#{key['repetition']}"
        self.calls = 0
        self.failures: list[str] = []
        self.recovered = 0

    def send(self, kind: str, data: Data, actor: Data = HARNESS) -> None:
        """Send one event of this trial."""
        self.ledger.send(kind, data, self.key, actor)

    def flag(self, reply: Reply, what_next: str, **where: object) -> str:
        """Record a failure and show it while the run executes; return its occurrence."""
        occurrence = "f-" + short_hash(f"{self.name}/{len(self.failures)}", 6)
        self.failures.append(reply.failure or "")
        impact = "trial_failed" if what_next == "trial lost" else "unknown"
        happened = {"occurrence": occurrence, "class": reply.failure, "fault": reply.fault}
        told = {"message": reply.message, "impact": impact}
        self.send("failure.occurred", {**happened, **told, **where})
        sys.stderr.write(f"! {self.name} {reply.failure}: {reply.message}; {what_next}\n")
        sys.stderr.flush()
        seen = "terminal" if sys.stderr.isatty() else "emitted"
        surfaced = {"occurrence": occurrence, "channel": "stderr", "seen": seen}
        self.send("failure.surfaced", surfaced)
        return occurrence


def short_hash(text: str, digits: int) -> str:
    """Return the first digits of a text's hash: the same text has the same id in every run."""
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def fetch(policy: Policy, target: str) -> Reply:
    """Send one request over a connection of its own."""
    connection = http.client.HTTPConnection(urlsplit(policy.url).netloc, timeout=policy.timeout_s)
    expected: int | None = None
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        expected = response.length
        body = response.read().decode()
    except TimeoutError:
        return Reply("timeout", "search_provider", f"no answer in {policy.timeout_s} s")
    except http.client.IncompleteRead as error:
        received = len(error.partial)
        message = f"cut at {received} of {expected} bytes"
        return Reply("response_lost", "harness", message, received=received, expected=expected)
    except OSError as error:
        return Reply("connect", "search_provider", f"{type(error).__name__}: {error}")
    finally:
        connection.close()
    return by_status(response, body)


def by_status(response: http.client.HTTPResponse, body: str) -> Reply:
    """Return what a whole response means by its status."""
    message = f"{response.status} {response.reason}"
    if response.status == HTTPStatus.OK:
        return Reply(None, None, message, body)
    if response.status == HTTPStatus.TOO_MANY_REQUESTS:
        wait_s = int(response.headers["Retry-After"])
        return Reply("rate_limited", "search_provider", message, body, wait_s)
    if response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        message = f"{response.status} {json.loads(body)['error']}"
        return Reply("client_error", "harness", message, body)
    return Reply("server_error", "search_provider", message, body)


def search(trial: Trial, policy: Policy, query: str) -> str | None:
    """Return the response to a query, None where no attempt that may be made brings one."""
    target = f"{urlsplit(policy.url).path}?{urlencode({'mode': policy.mode, 'q': query})}"
    open_occurrences: list[str] = []
    previous: str | None = None
    attempt = 0
    while True:
        attempt += 1
        call, reply, duration_us = attempt_once(trial, policy, target, attempt, previous)
        if reply.failure is None:
            status = "ok" if json.loads(reply.body or "")["hits"] else "empty"
            came = {"call": call, "status": status, "response": reply.body, "delivered": True}
            known = {"duration_us": duration_us, "cost": FREE, "served": {"endpoint": "search"}}
            trial.send("call.finished", {**came, **known})
            for occurrence in open_occurrences:
                recover(trial, occurrence, call)
            return reply.body
        again = reply.failure in policy.retried and attempt < policy.attempts
        pause = f"after {reply.wait_s} s" if reply.wait_s else "at once"
        what_next = f"again {pause}" if again else "trial lost"
        occurrence = trial.flag(reply, what_next, call=call, attempt=attempt, endpoint="search")
        end_failed(trial, call, occurrence, reply, duration_us)
        if not again:
            return None
        open_occurrences.append(occurrence)
        previous = call
        time.sleep(reply.wait_s)


def attempt_once(
    trial: Trial, policy: Policy, target: str, attempt: int, previous: str | None
) -> tuple[str, Reply, int]:
    """Announce one request, wait until that is in the ledger, send it; return how it went."""
    trial.calls += 1
    call = f"c{trial.calls}"
    intent = {"call": call, "purpose": "search", "endpoint": "search", "name": "local"}
    sent = {"attempt": attempt, "retry_of": previous, "request": f"GET {target}"}
    trial.send("call.started", {**intent, **sent})
    trial.ledger.settle()
    begin = time.monotonic_ns()
    reply = fetch(policy, target)
    return call, reply, (time.monotonic_ns() - begin) // 1000


def end_failed(trial: Trial, call: str, occurrence: str, reply: Reply, duration_us: int) -> None:
    """End a call that failed; only a whole response has a known cost."""
    named = {"call": call, "occurrence": occurrence}
    if reply.failure == "response_lost":
        sizes = {"bytes_received": reply.received, "bytes_expected": reply.expected}
        trial.send("response.lost", {**named, **sizes})
        return
    came = {"status": "failed", "response": reply.body, "delivered": False}
    known = {"duration_us": duration_us, "cost": FREE if reply.body else None}
    trial.send("call.finished", {**named, **came, **known})


def recover(trial: Trial, occurrence: str, call: str) -> None:
    """Record that a retry made a failure good and that the trial lost nothing by it."""
    trial.recovered += 1
    trial.send("failure.recovered", {"occurrence": occurrence, "by": "retry", "call": call})
    reason = "the retry brought the whole response to the agent"
    trial.send("failure.assessed", {"occurrence": occurrence, "impact": "none", "reason": reason})


class Agent:
    """The agent as a process of its own: it sees what is sent to it and nothing else."""

    def __init__(self, script: Path) -> None:
        self.command = [sys.executable, str(script)]
        self.process: subprocess.Popen[str] | None = None

    def tell(self, message: Data) -> dict[str, Any]:
        """Send one line and return the agent's next step, `{}` where it ended instead."""
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True)  # noqa: S603 - our interpreter, the user's script
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        step: dict[str, Any] = json.loads(self.process.stdout.readline() or "{}")
        return step

    def stop(self) -> None:
        """End the process; the next question begins a new one."""
        if self.process is not None:
            self.process.communicate()
            self.process = None


def answer(trial: Trial, agent: Agent, policy: Policy, given: str, seed: int) -> dict[str, Any]:
    """Put one question to the agent and search for it until it answers; `{}` where it cannot."""
    step = agent.tell({"input": json.loads(given), "seed": seed})
    while "search" in step:
        body = search(trial, policy, step["search"])
        if body is None:
            return {}
        step = agent.tell({"hits": json.loads(body)["hits"]})
    if not step:
        trial.flag(Reply("agent_error", "agent", "the agent ended"), "trial lost")
    return step


def run_trial(
    trial: Trial, agent: Agent, policy: Policy, question: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Execute one trial; return what there is to grade."""
    begin = time.monotonic_ns()
    shown = {field: question[field] for field in DELIVERED if field in question}
    given = json.dumps(shown)
    trial.send("trial.started", {"input": given, "fields": list(shown), "seed": seed})
    step = answer(trial, agent, policy, given, seed)
    outcome = "errored"
    if step:
        outcome = "abstained" if "abstain" in step else "answered"
        citations = json.dumps(step["citations"]) if "citations" in step else None
        submitted = {"answer": step.get("answer"), "citations": citations}
        submitted["abstained"] = outcome == "abstained"
        trial.send("answer.submitted", submitted, AGENT)
    else:
        agent.stop()
    ended: dict[str, object] = {"outcome": outcome}
    if outcome == "errored":
        ended["reason"] = trial.failures[-1]
    trial.send("trial.finished", ended | {"duration_us": (time.monotonic_ns() - begin) // 1000})
    return {"run": trial.ledger.run, "trial": trial.key, "outcome": outcome, **step}


def execute(
    ledger: Ledger, manifest: dict[str, Any], questions: list[dict[str, Any]], agent: Agent
) -> list[dict[str, Any]]:
    """Execute every planned slot, until trials are lost so often in a row that it is no use."""
    endpoint, retry = manifest["endpoints"]["search"], manifest["retry"]
    timeout_s = manifest["limits"]["timeout_ms"] / 1000
    policy = Policy(
        endpoint["url"], endpoint["mode"], timeout_s, retry["attempts"], tuple(retry["on"])
    )
    repetitions = range(1, manifest["repetitions"] + 1)
    done: list[dict[str, Any]] = []
    failures = recovered = in_a_row = 0
    for repetition, question in itertools.product(repetitions, questions):
        key = {"question": question["id"], "configuration": manifest["configuration"]}
        trial = Trial(ledger, {**key, "repetition": repetition})
        done.append(run_trial(trial, agent, policy, question, manifest["seed"] + repetition))
        failures += len(trial.failures)
        recovered += trial.recovered
        in_a_row = in_a_row + 1 if done[-1]["outcome"] == "errored" else 0
        if in_a_row == manifest["outage"]["pause_after"]:
            break
    close(ledger, lost_in_a_row=in_a_row, complete=len(done) == len(repetitions) * len(questions))
    sys.stderr.write(
        f"{ledger.run}: {len(done)} trials, {failures} failures, {recovered} recovered\n"
    )
    return done


def close(ledger: Ledger, *, lost_in_a_row: int, complete: bool) -> None:
    """End the run; say why where slots were left out."""
    closed: dict[str, object] = {"status": "complete"}
    if not complete:
        closed = {"status": "failed", "reason": f"gave up: {lost_in_a_row} trials lost in a row"}
    ledger.send("run.closed", closed)
    ledger.settle()


def main(arguments: list[str] | None = None) -> None:
    """Open a run, execute its manifest, close it."""
    parser = argparse.ArgumentParser(description="Execute a manifest, telling a ledger.")
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--run", required=True, help="name of the new run")
    parser.add_argument("--supersedes", help="run that this one corrects")
    parser.add_argument("--reason", help="why")
    parser.add_argument("--dataset", type=Path, default=HERE / "dataset.jsonl")
    parser.add_argument("--agent", type=Path, default=HERE / "agent.py")
    parser.add_argument(
        "--appended", action="store_true", help="wait for no acknowledgement; the run says so"
    )
    options = parser.parse_args(arguments)
    manifest = tomllib.loads(options.manifest.read_text("utf-8"))
    lines = options.dataset.read_text("utf-8").splitlines()
    questions = [one for one in map(json.loads, lines) if one["split"] in manifest["splits"]]
    ledger = Ledger(options.run, sys.stdout, None if options.appended else sys.stdin)
    opened = {
        "manifest": manifest["configuration"],
        "entry": "appended" if options.appended else "live",
        "supersedes": options.supersedes,
        "reason": options.reason,
    }
    agent = Agent(options.agent)
    try:
        ledger.send("run.opened", opened)
        done = execute(ledger, manifest, questions, agent)
    except (LedgerGoneError, BrokenPipeError, KeyboardInterrupt) as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered has no reader
        sys.exit(f"{options.run}: stopped: {str(error) or 'interrupted'}")
    finally:
        agent.stop()
    answers = "".join(json.dumps(one) + "\n" for one in done)
    Path(f"{options.run}.answers.jsonl").write_text(answers, "utf-8")


if __name__ == "__main__":
    main()
