"""The demo's search service: what it finds in its two modes, and the faults it provokes."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from trial_cli.demo import search_service
from trial_cli.demo.search_service import FAULTS, HITS, Index, Service, documents

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    """Return the index over this Python's docstrings, built once."""
    built = Index(Path(sysconfig.get_path("stdlib")))
    yield built
    built.connection.close()


@contextmanager
def serving(index: Index, faults: dict[int, str]) -> Iterator[int]:
    """Serve on a free port while the block runs."""
    with Service(0, index, faults) as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        yield service.server_address[1]
        service.shutdown()
        thread.join()


def get(port: int, target: str, timeout: float = 5) -> Answer:
    """Send one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read()
    finally:
        connection.close()


def names(hits: list[dict[str, str]]) -> list[str]:
    """Return the names of hits in order."""
    return [hit["name"] for hit in hits]


def test_documents_are_public_and_come_through_conditional_blocks() -> None:
    """Private names stay out; what is defined under `if` or `try` is there."""
    found = {one.name: one for one in documents(Path(sysconfig.get_path("stdlib")))}
    assert {"textwrap", "textwrap.dedent", "shutil.disk_usage", "threading.Thread.join"} <= set(
        found
    )
    assert not [name for name in found if re.search(r"\._", name)]
    assert found["textwrap"].kind == "module"
    assert found["threading.Thread"].kind == "class"
    assert found["threading.Thread.join"].kind == "method"
    assert found["optparse.OptionConflictError"].signature == "OptionError"
    assert found["difflib.get_close_matches"].signature == "word, possibilities, n=3, cutoff=0.6"


def test_no_source_is_imported() -> None:
    """Collecting the documents imports none of the modules that it reads, so nothing happens."""
    script = (
        "import sys, sysconfig, pathlib\n"
        "from trial_cli.demo.search_service import documents\n"
        "print(len(list(documents(pathlib.Path(sysconfig.get_path('stdlib'))))) > 1000)\n"
        "print(sorted({'mailbox', 'pdb', 'tabnanny', 'webbrowser'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"True\n[]\n"


def test_ranked_puts_the_best_first(index: Index) -> None:
    """Full text finds by words in any order and form."""
    hits = index.search("ranked", "whitespace leading removes every line")
    assert names(hits)[0] == "textwrap.dedent"
    assert len(hits) == HITS


def test_substring_needs_the_words_as_they_stand(index: Index) -> None:
    """A substring search finds nothing by reordered words, and sorts by name."""
    assert index.search("substring", "whitespace leading removes every line") == []
    found = names(index.search("substring", "LEADING  whitespace"))
    assert "textwrap.dedent" in found
    assert found == sorted(found)


@pytest.mark.parametrize("mode", ["ranked", "substring"])
def test_a_query_is_only_words(index: Index, mode: str) -> None:
    """Quotes and operators of the query language are ordinary text; no words find nothing."""
    assert index.search(mode, " ") == []
    assert index.search(mode, 'dedent" NEAR( textwrap:') == index.search(
        mode, 'DEDENT" near( TEXTWRAP:'
    )


def test_faults_belong_to_request_numbers(index: Index) -> None:
    """Each mode counts for itself, and the number alone decides what goes wrong."""
    faults = {1: "rate_limited", 3: "cut"}
    with serving(index, faults) as port:
        for mode in ("ranked", "substring"):
            target = f"/search?mode={mode}&q=dedent"
            status, headers, body = get(port, target)
            assert (status, headers["Retry-After"]) == (429, "1")
            assert json.loads(body) == {"error": "too many requests"}
            status, headers, body = get(port, target)
            assert (status, headers["Content-Length"]) == (200, str(len(body)))
            assert "textwrap.dedent" in names(json.loads(body)["hits"])
            with pytest.raises(http.client.IncompleteRead) as cut:
                get(port, target)
            assert len(cut.value.partial) == len(body) // 2
            assert get(port, target)[2] == body


def test_a_slow_answer_outlasts_an_impatient_client(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow request times out for a client in a hurry; the next is answered."""
    monkeypatch.setattr(search_service, "SLOW_S", 0.3)
    with serving(index, {1: "slow"}) as port:
        with pytest.raises(TimeoutError):
            get(port, "/search?mode=ranked&q=dedent", timeout=0.05)
        assert get(port, "/search?mode=ranked&q=dedent")[0] == 200


@pytest.mark.parametrize(
    ("target", "status", "error"),
    [
        ("/", 404, "no /, only /search"),
        ("/search?mode=substr&q=x", 400, "no mode 'substr'"),
        ("/search", 400, "no mode ''"),
    ],
)
def test_a_wrong_request_is_told_why(index: Index, target: str, status: int, error: str) -> None:
    """A wrong path or mode is refused in words and counts as no request of a mode."""
    with serving(index, {1: "rate_limited"}) as port:
        found, _, body = get(port, target)
        assert (found, json.loads(body)) == (status, {"error": error})
        assert get(port, "/search?mode=ranked&q=x")[0] == 429


def test_a_broken_connection_is_one_line(index: Index, capsys: pytest.CaptureFixture[str]) -> None:
    """A client that hangs up is named in one line, without a traceback."""
    with Service(0, index, {}) as service:
        try:
            os.write(-1, b"x")
        except OSError:
            service.handle_error(None, None)
    assert capsys.readouterr().err == "OSError(9, 'Bad file descriptor')\n"


def test_what_the_machine_lacks_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the sources, as in a stripped Python, the service says what it needs."""
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit, match=r"needs the standard library's sources.*abc\.py"):
        search_service.main([])


@pytest.mark.parametrize(("option", "expected"), [((), 429), (("--no-faults",), 200)])
def test_the_script_says_where_it_is_and_ends_when_told(
    option: tuple[str, ...], expected: int
) -> None:
    """Started as a program it prints its address, provokes faults unless told not to, and stops."""
    command = [sys.executable, "-m", "trial_cli.demo.search_service", *option]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout
        place = re.fullmatch(
            r"http://127\.0\.0\.1:(\d+)/search  \d+ docstrings\n", process.stdout.readline()
        )
        assert place
        limited = min(number for number, fault in FAULTS.items() if fault == "rate_limited")
        for number in range(1, limited + 1):
            status = get(int(place[1]), "/search?mode=substring&q=x")[0]
            assert status == (expected if number == limited else 200)
        process.send_signal(signal.SIGTERM)
        log = process.communicate()[1].splitlines()
    assert process.returncode == 0
    assert log[0] == "substring 1 ok"
    assert log[-1] == "stopped"
