"""Serve a search over the docstrings of this machine's standard library, on loopback HTTP.

Invariant: the same Python and the same requests in the same order give the same responses, faults
included: a fault belongs to the number of the request, never to a clock or to chance.

A plain script of the demo; it needs the standard library only (SQLite with FTS5)::

    python search_service.py                  prints its address, serves until terminated
    GET /search?mode=ranked&q=words           full text, best first by bm25
    GET /search?mode=substring&q=words        documents that contain just these words, by name

Sources are parsed, never imported, so that collecting the documents has no side effect.
"""

import argparse
import ast
import json
import signal
import sqlite3
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

MODULES = """
abc argparse ast base64 bdb bisect calendar cmd code codecs collections/__init__ colorsys
configparser contextlib copy csv dataclasses difflib dis email/message email/utils enum filecmp
fileinput fnmatch fractions ftplib functools getopt getpass gettext glob graphlib gzip hashlib heapq
hmac html/__init__ html/parser http/client http/cookies http/server imaplib inspect io ipaddress
json/__init__ json/decoder json/encoder keyword linecache locale logging/__init__ logging/handlers
mailbox mimetypes netrc numbers operator optparse pdb pickle pickletools pkgutil platform plistlib
poplib pprint queue random re/__init__ reprlib sched secrets selectors shelve shlex shutil signal
smtplib socket socketserver statistics string stringprep struct subprocess symtable tabnanny tarfile
tempfile textwrap threading timeit tokenize trace traceback types unittest/case unittest/mock
urllib/parse urllib/request uuid warnings wave weakref webbrowser zipapp
""".split()  # noqa: SIM905 - a hundred quoted names say less
"""Sources below the standard library's folder: the same list for every Python from 3.11 on."""

HITS = 8
"""Documents in one response."""
TEXT = 1500
"""Characters of a docstring in one response; what comes after is cut, as search services do."""
RETRY_AFTER_S = 1
SLOW_S = 0.8
FAULTS = {12: "rate_limited", 31: "slow", 44: "slow", 59: "cut"}
"""Number of a request within its mode, from 1, to the fault that it meets."""


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Document(NamedTuple):
    """One documented name."""

    name: str
    """Qualified name, as `textwrap.dedent`."""
    kind: str
    """module, class, function or method."""
    signature: str
    """Parameters of a function, bases of a class, as written in the source."""
    text: str
    """Its docstring without indentation."""


def documents(folder: Path) -> Iterator[Document]:
    """Yield every public documented name of the listed sources, in source order."""
    for source in MODULES:
        module = source.removesuffix("/__init__").replace("/", ".")
        tree = ast.parse((folder / f"{source}.py").read_bytes())
        text = ast.get_docstring(tree)
        if text:
            yield Document(module, "module", "", text)
        yield from members(tree, module, "function")


def members(owner: ast.AST, prefix: str, kind: str) -> Iterator[Document]:
    """Yield what is documented in a module or class, through its conditional blocks."""
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, ast.If | ast.Try | ast.ExceptHandler):
            yield from members(node, prefix, kind)
        elif isinstance(node, DEFINITIONS) and not node.name.startswith("_"):
            yield from described(node, f"{prefix}.{node.name}", kind)


def described(node: Definition, name: str, kind: str) -> Iterator[Document]:
    """Yield one definition and, for a class, what it holds."""
    text = ast.get_docstring(node)
    if isinstance(node, ast.ClassDef):
        if text:
            yield Document(name, "class", ", ".join(map(ast.unparse, node.bases)), text)
        yield from members(node, name, "method")
    elif text:
        yield Document(name, kind, ast.unparse(node.args), text)


class Index:
    """The documents in SQLite, in memory."""

    def __init__(self, folder: Path) -> None:
        self.lock = threading.Lock()
        """Held for each query: the one connection is shared by the threads of the server."""
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.connection.execute(
            "create virtual table document using fts5(name, kind unindexed, signature, text,"
            " tokenize = 'porter unicode61')"
        )
        known: dict[str, Document] = {}
        for document in documents(folder):
            known.setdefault(document.name, document)
        self.connection.executemany("insert into document values (?, ?, ?, ?)", known.values())
        self.count = len(known)

    def search(self, mode: str, query: str) -> list[dict[str, str]]:
        """Return the first hits of a query as the service sends them."""
        words = query.split()
        if not words:
            return []
        if mode == "ranked":
            quoted = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
            where, order, sought = "document match ?", "bm25(document, 5, 0, 1, 1), name", quoted
        else:
            where = "instr(lower(name || char(10) || signature || char(10) || text), lower(?))"
            order, sought = "name", " ".join(words)
        statement = (
            "select name, kind, signature, substr(text, 1, ?) from document"  # noqa: S608 - constants
            f" where {where} order by {order} limit ?"
        )
        with self.lock, closing(self.connection.cursor()) as cursor:
            rows = cursor.execute(statement, (TEXT, sought, HITS)).fetchall()
        return [
            {"name": name, "kind": kind, "signature": signature, "text": text}
            for name, kind, signature, text in rows
        ]


class Service(ThreadingHTTPServer):
    """The HTTP server: counts the requests of each mode and knows which of them fail."""

    daemon_threads = True

    def __init__(self, port: int, index: Index, faults: dict[int, str]) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.index = index
        self.faults = faults
        self.seen = {"ranked": 0, "substring": 0}
        self.lock = threading.Lock()
        """Held while a request takes its number."""

    def fault(self, mode: str) -> str | None:
        """Number a request of a mode and return the fault it meets."""
        with self.lock:
            self.seen[mode] += 1
            fault = self.faults.get(self.seen[mode])
            sys.stderr.write(f"{mode} {self.seen[mode]} {fault or 'ok'}\n")
        return fault

    def handle_error(self, request: object, client_address: object) -> None:
        """Say in one line what went wrong, as a client that did not wait for a slow answer."""
        del request, client_address
        sys.stderr.write(f"{sys.exception()!r}\n")


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Service

    def do_GET(self) -> None:
        """Answer a search, or fail in the way that its number says."""
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        mode = asked.get("mode", "")
        if url.path != "/search":
            self.reply(HTTPStatus.NOT_FOUND, {"error": f"no {url.path}, only /search"})
            return
        if mode not in self.server.seen:
            self.reply(HTTPStatus.BAD_REQUEST, {"error": f"no mode {mode!r}"})
            return
        fault = self.server.fault(mode)
        if fault == "rate_limited":
            self.reply(HTTPStatus.TOO_MANY_REQUESTS, {"error": "too many requests"})
            return
        if fault == "slow":
            time.sleep(SLOW_S)
        hits = self.server.index.search(mode, asked.get("q", ""))
        self.reply(HTTPStatus.OK, {"mode": mode, "hits": hits}, cut=fault == "cut")

    def reply(self, status: HTTPStatus, body: dict[str, object], *, cut: bool = False) -> None:
        """Send one response; a cut one announces its whole length and ends half-way."""
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            self.send_header("Retry-After", str(RETRY_AFTER_S))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - inherited name
        """Print nothing: `Service.fault` has said which request this is."""


def main(arguments: list[str] | None = None) -> None:
    """Serve until terminated."""
    parser = argparse.ArgumentParser(description="Search over the standard library's docstrings.")
    parser.add_argument("--port", type=int, default=0, help="default: any free port")
    parser.add_argument("--no-faults", action="store_true", help="answer every request properly")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        index = Index(Path(sysconfig.get_path("stdlib")))
    except (OSError, sqlite3.OperationalError) as error:
        sys.exit(f"needs the standard library's sources and SQLite with FTS5: {error}")
    with Service(options.port, index, {} if options.no_faults else FAULTS) as service:
        port = service.server_address[1]
        sys.stdout.write(f"http://127.0.0.1:{port}/search  {index.count} docstrings\n")
        sys.stdout.flush()
        try:
            service.serve_forever(poll_interval=0.05)
        except KeyboardInterrupt:
            sys.stderr.write("stopped\n")


if __name__ == "__main__":
    main()
