"""Another log in a process of its own, run by a Python that has it: appends and checks on demand.

Invariant: it knows nothing of the ledger; what it is given it stores with the peer's own defaults,
and only that work is timed. Orders come as JSON lines, answers go out as lines.
"""

import asyncio
import json
import logging
import os
import resource
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

FLUSHED_EVERY = 10
"""Samples after which Inspect's recorder writes its file, as it does by default from 30 on."""

LOOP = asyncio.new_event_loop()
Append = Callable[[Sequence[str]], object]
Check = Callable[[], object] | None


def wait(work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - whatever the peer gives
    """Return what an awaitable of a peer gives."""
    return LOOP.run_until_complete(work)


def incident_ledger(path: str) -> tuple[Append, Check]:
    """Return how incident-ledger appends and checks."""
    log = import_module("incident_ledger").IncidentLedger(path)

    def append(texts: Sequence[str]) -> None:
        for text in texts:
            log.append(query="q", answer=text, confidence=1.0, model_version="m")

    def check() -> None:
        assert log.verify().ok

    return append, check


def nexuscone(path: str) -> tuple[Append, Check]:
    """Return how nexuscone appends and checks."""
    log = import_module("nexuscone").Ledger(path)
    wait(log.init())

    def append(texts: Sequence[str]) -> None:
        for text in texts:
            wait(log.log(actor="a", action="b", payload={"text": text}))

    def check() -> None:
        assert wait(log.verify_chain())

    return append, check


def eventsourcing(path: str) -> tuple[Append, Check]:
    """Return how an application of eventsourcing appends; it has nothing to check."""
    application = import_module("eventsourcing.application").Application
    domain = import_module("eventsourcing.domain")

    class Item(domain.Aggregate):  # type: ignore[misc, name-defined] # the peer is not installed here
        """What is stored."""

        @domain.event("Added")  # type: ignore[untyped-decorator]
        def __init__(self, text: str) -> None:
            self.text = text

    variables = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": path}
    log = application(env=variables)

    def append(texts: Sequence[str]) -> None:
        for text in texts:
            log.save(Item(text))

    return append, None


def mlflow(path: str) -> tuple[Append, Check]:
    """Return how MLflow records traces, one an event; it has nothing to check."""
    logging.disable(logging.INFO)
    os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
    tracing = import_module("mlflow")
    tracing.set_tracking_uri(f"sqlite:///{path}")
    tracing.set_experiment("bench")

    def append(texts: Sequence[str]) -> None:
        for text in texts:
            tracing.start_span_no_context("event", inputs={"text": text}).end()

    return append, None


def inspect_ai(path: str) -> tuple[Append, Check]:
    """Return how Inspect's recorder stores samples, one a trial; it has nothing to check."""
    logs = import_module("inspect_ai.log")
    message = import_module("inspect_ai.model").ChatMessageUser
    recorders = import_module("inspect_ai.log._recorders.eval")
    recorder = recorders.EvalRecorder(os.path.dirname(path))  # noqa: PTH120 - as plain as it is
    spec = logs.EvalSpec(
        created="2026-10-01T00:00:00+00:00", task="bench", model="mockllm/model",
        dataset=logs.EvalDataset(), config=logs.EvalConfig(),
    )  # fmt: skip
    wait(recorder.log_init(spec, f"{path}.eval"))
    wait(recorder.log_start(spec, logs.EvalPlan()))
    stored = 0

    def append(texts: Sequence[str]) -> None:
        nonlocal stored
        stored += 1
        messages = [message(content=text) for text in texts]
        sample = logs.EvalSample(id=stored, epoch=1, input="q", target="a", messages=messages)
        wait(recorder.log_sample(spec, sample))
        if stored % FLUSHED_EVERY == 0:
            wait(recorder.flush(spec))

    return append, None


PEERS: dict[str, Callable[[str], tuple[Append, Check]]] = {
    "eventsourcing": eventsourcing,
    "incident-ledger": incident_ledger,
    "inspect_ai": inspect_ai,
    "mlflow": mlflow,
    "nexuscone": nexuscone,
}


def main() -> None:
    """Open the named peer's log at a path and do what is asked until nothing is."""
    name, path = sys.argv[1:]
    append, check = PEERS[name](path)
    print(version(name), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        with open(order["file"], encoding="utf-8") as file:  # noqa: PTH123 - as plain as it is
            commits = [json.loads(row) for row in file]
        cpu, wall = time.process_time(), time.perf_counter()
        if order["what"] == "check":
            assert check is not None, "only asked of those that can"
            check()
        for texts in commits:
            append(texts)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(time.process_time() - cpu, time.perf_counter() - wall, used, flush=True)


if __name__ == "__main__":
    main()
