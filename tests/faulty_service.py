"""A service on this machine that fails in every way that the path of a request asks for.

`/v1/…` is a model, `/search/…` a search; the last part of the path names what happens.
"""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHAT = {
    "model": "m",
    "system_fingerprint": "fp1",
    "choices": [{"message": {"content": "hm"}}],
    "usage": {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 3},
    },
}
EXA = {"results": [{"url": "https://e.org"}], "costDollars": {"total": 0.0071}}
STREAM = [
    {"model": "m", "choices": [{"delta": {"content": "h"}}]},
    {"model": "m", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
]
HALF = b'{"results": ['


class Faulty(BaseHTTPRequestHandler):
    """Answers as the path asks."""

    protocol_version = "HTTP/1.1"
    elsewhere = ""
    counts: dict[str, int] = {}

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers.get("content-length", "0")))
        self.do_GET()

    def do_GET(self) -> None:
        """Answer."""
        name = self.path.partition("?")[0].rpartition("/")[2]
        act: Callable[[], None] = getattr(self, f"act_{name}")
        act()

    def answer(self, body: object, status: int = 200, **headers: str) -> None:
        """Send a whole response."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        given = {"content_type": "application/json", "content_length": str(len(raw)), **headers}
        for header, value in given.items():
            self.send_header(header.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def act_chat(self) -> None:
        """Answer as a model."""
        self.answer(CHAT)

    def act_packed(self) -> None:
        """Compress the body."""
        self.answer(gzip.compress(json.dumps(CHAT).encode()), content_encoding="gzip")

    def act_badpack(self) -> None:
        """Claim to compress it."""
        self.answer(b"no gzip at all", content_encoding="gzip")

    def act_swapped(self) -> None:
        """Answer as another model."""
        self.answer({**CHAT, "model": "smaller"})

    def act_exa(self) -> None:
        """Answer as a search that tells its price."""
        self.answer(EXA)

    def act_empty(self) -> None:
        """Find nothing."""
        self.answer({"results": []})

    def act_noresult(self) -> None:
        """Say as an error that nothing was found."""
        self.answer({"error": {"code": "SEARCH_QUERY_NO_RESULT"}}, 400)

    def act_inside(self) -> None:
        """Put an error into a success."""
        self.answer({"error": {"type": "overloaded_error", "message": "try later"}})

    def act_beside(self) -> None:
        """Put an error beside results."""
        self.answer({**EXA, "error": "one source failed"})

    def act_nothing(self) -> None:
        """Have no body."""
        self.answer(b"", 204)

    def act_items(self) -> None:
        """Fail for one item, warn about a cache."""
        error = {"id": "https://x.org", "status": "error", "error": {"tag": "CRAWL_TIMEOUT"}}
        warned = {"type": "stale", "message": "cached fallback was used"}
        self.answer({**EXA, "statuses": [error], "warnings": [warned]})

    def act_limited(self) -> None:
        """Refuse, and ask to wait."""
        self.answer({"error": {"message": "slow down"}}, 429, retry_after="7")

    def act_once(self) -> None:
        """Refuse every odd request."""
        count = self.counts["once"] = self.counts.get("once", 0) + 1
        self.act_limited() if count % 2 else self.answer(EXA)

    def act_broken(self) -> None:
        """Fail."""
        self.answer({"error": "oops"}, 500)

    def act_page(self) -> None:
        """Answer with a page."""
        self.answer(b"<html>welcome</html>", content_type="text/html")

    def act_away(self) -> None:
        """Redirect to another host."""
        self.answer(b"", 307, location=f"{self.elsewhere}/search/exa")

    def act_nowhere(self) -> None:
        """Redirect to what is no URL."""
        self.answer(b"", 307, location="http://[::1/x")

    def act_near(self) -> None:
        """Redirect within the host."""
        self.answer(b"", 307, location="/search/exa")

    def act_cut(self) -> None:
        """Break off in the middle of the body."""
        self.answer(HALF, content_length="400")
        self.close_connection = True

    def act_hangup(self) -> None:
        """Close without an answer."""
        self.close_connection = True
        self.connection.close()

    def act_slow(self) -> None:
        """Stop in the middle of the body."""
        self.answer(HALF, content_length="400")
        self.wfile.flush()
        self.rfile.read(1)  # Until whoever asked has gone.
        self.close_connection = True

    def act_stream(self) -> None:
        """Send events, piece by piece."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.end_headers()
        for part in STREAM:
            self.wfile.write(b"data: " + json.dumps(part).encode() + b"\n\n")
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


@contextmanager
def served(elsewhere: str = "") -> Iterator[str]:
    """Serve on a free port; yield the URL."""
    handler = type("Handler", (Faulty,), {"elsewhere": elsewhere, "counts": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
