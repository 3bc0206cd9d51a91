"""Runs in tests: a faulty local server, small manifests, and what the ledger holds afterwards."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import anyio

from ledger_cases import small_dataset, small_manifest, small_rubric, tools
from trial_ledger.async_book import AsyncLedger
from trial_ledger.book import Ledger
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.events import Event
from trial_ledger.running.plan import Opening, Plan, opened_plan, resumed_plan
from trial_ledger.running.runner import Runner, RunProgress, World

RUN = "run-1"
SEARCH_TOOL = {"name": "search_web", "endpoint": "search"}
HITS = {"hits": [{"url": "https://a.example/1", "title": "One", "text": "first"}]}


class FaultyServer:
    """A service that answers each request as the script of its path says, then with hits.

    Scripts are lists of actions: `{"status", "body", "headers"}`, `"cut"`, `"hang"`.
    """

    def __init__(self) -> None:
        self.scripts: dict[str, list[Any]] = {}
        self.usual: dict[str, Any] = {}
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.answer(self, b"")

            def do_POST(self) -> None:
                outer.answer(self, self.rfile.read(int(self.headers["content-length"] or 0)))

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self.thread.start()

    def answer(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """Answer one request."""
        path = request.path.partition("?")[0]
        with self.lock:
            self.seen.append((request.path, dict(request.headers), body))
            script = self.scripts.get(path, [])
            action = script.pop(0) if script else self.usual.get(path, {"body": HITS})
        if action == "hang":
            self.closing.wait(20)
            action = {"body": HITS}
        content = b"x" * 400
        if isinstance(action, dict):
            raw = action.get("body", {})
            content = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
        given = action if isinstance(action, dict) else {}
        request.send_response(given.get("status", 200))
        for name, value in {"content-type": "application/json", **given.get("headers", {})}.items():
            request.send_header(name, value)
        request.send_header("content-length", str(len(content)))
        request.end_headers()
        if action == "cut":
            request.wfile.write(content[:100])
            request.wfile.flush()
            request.connection.close()
            request.close_connection = True
            return
        request.wfile.write(content)

    def close(self) -> None:
        """Stop answering."""
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def faulty_server() -> Iterator[FaultyServer]:
    """Give a server, and stop it."""
    server = FaultyServer()
    try:
        yield server
    finally:
        server.close()


def manifest(url: str = "http://127.0.0.1:9/search", **changes: object) -> Manifest:
    """Return a manifest of a python agent with a search tool, two questions once each."""
    table: dict[str, object] = {
        "questions": ["q1", "q2"],
        "agent": {"kind": "python", "target": "running_agents:searching"},
        "models": {},
        "tools": [SEARCH_TOOL],
        "endpoints": {"search": {"url": url}},
        "limits": {"timeout_ms": 5000, "concurrency": 2},
        "retry": {"attempts": 3, "on": ["timeout", "rate_limited", "server_error"], "wait_ms": 1,
                  "wait_most_ms": 20},
        "seed": 7,
        **changes,
    }  # fmt: skip
    return small_manifest(**{key: value for key, value in table.items() if value is not None})


class Scene:
    """A ledger in a folder, and what is run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "trials.ledger"
        self.openings = 0
        self.said: list[str] = []
        self.news: list[tuple[str, str, Mapping[str, object]]] = []
        with Ledger.create(self.path, tools=self.world()) as ledger:
            ledger.freeze([small_dataset(), small_rubric()])

    def world(self) -> Any:  # noqa: ANN401 - Tools, with another seed each time
        """Return a world of its own for one opening of the ledger."""
        self.openings += 1
        return tools(self.folder, seed=self.openings, pins=False)

    def plan(self, found: Manifest, run: str = RUN, seed: int | None = None) -> Plan:
        """Freeze a manifest and open a run of it."""
        with Ledger.open(self.path, write=True, tools=self.world()) as ledger:
            ledger.freeze([found])
            digest = list(ledger.registry().manifests)[-1]
            return opened_plan(ledger, Opening(run=run, manifest=digest), seed)

    def rest(self, run: str = RUN, *, retry_errored: bool = False) -> Plan:
        """Return what is left of a run."""
        with Ledger.open(self.path, write=True, tools=self.world()) as ledger:
            return resumed_plan(ledger, run, retry_errored=retry_errored)

    def go(
        self, *plans: Plan, environ: Mapping[str, str] | None = None, stop_after: int | None = None
    ) -> Mapping[str, RunProgress]:
        """Execute plans, in an event loop of their own."""
        runner: Runner | None = None

        def surface(line: str) -> Literal["terminal", "emitted"]:
            self.said.append(line)
            return "emitted"

        def progress(kind: str, run: str, news: Mapping[str, object]) -> None:
            self.news.append((kind, run, news))
            if kind == "trial" and stop_after == sum(one[0] == "trial" for one in self.news):
                assert runner is not None
                runner.stop("interrupted by hand")

        world = World(environ=environ or {}, folder=self.folder, surface=surface, progress=progress)

        async def main() -> Mapping[str, RunProgress]:
            nonlocal runner
            with anyio.fail_after(50):
                async with AsyncLedger.open(self.path, tools=self.world()) as book:
                    runner = Runner(book, plans, world)
                    return await runner.execute()

        return anyio.run(main)

    def events(self, kind: str, run: str = RUN) -> list[Event]:
        """Return the events of one kind of a run, in order."""
        with Ledger.open(self.path, tools=self.world()) as ledger:
            return [one.event for one in ledger.events(run=run) if one.event.kind == kind]

    def data(self, kind: str, run: str = RUN) -> list[Any]:
        """Return the data of the events of one kind."""
        return [event.data for event in self.events(kind, run)]

    def text(self, reference: Any) -> str:  # noqa: ANN401 - a reference to a blob
        """Return a text."""
        with Ledger.open(self.path, tools=self.world()) as ledger:
            return (ledger.blob(reference) or b"").decode()

    def is_intact(self) -> bool:
        """Return whether everything in the ledger checks."""
        with Ledger.open(self.path, tools=self.world()) as ledger:
            return not ledger.verify().findings
