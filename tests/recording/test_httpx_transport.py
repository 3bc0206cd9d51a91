"""What httpx sends and gets within a trial is recorded by itself, whatever goes wrong."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx
import pytest

from faulty_service import HALF, served
from ledger_cases import small_manifest
from recorder_cases import RUN, SECRET, failures, kinds, only, told, words
from trial_ledger.amounts import Cost, Usage
from trial_ledger.book import Ledger
from trial_ledger.events import (
    CallFinished,
    CallStarted,
    FailureAssessed,
    FailureOccurred,
    FailureRecovered,
    ResponseLost,
    RunClosed,
    Served,
)
from trial_ledger.recording.httpx_transport import AsyncRecordingTransport, RecordingTransport

HEADER_SECRET = "hdr-planted-00112233445566"  # noqa: S105 - planted, to be looked for
PATIENCE = httpx.Timeout(30, read=1)
"""Long enough for all that answers; what answers never is waited for no longer."""
WAYS = ("sync", "asyncio", "trio")


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """The URL of a service that no manifest names."""
    with served() as url:
        yield url


@pytest.fixture(scope="module")
def service(elsewhere: str) -> Iterator[str]:
    """The URL of a service that fails as it is asked to."""
    with served(elsewhere) as url:
        yield url


@pytest.fixture
def book(book: Ledger, service: str) -> Ledger:
    """The ledger, with a manifest whose endpoints are the service's."""
    endpoints = {
        "model": {"url": f"{service}/v1", "key_env": "MODEL_KEY", "key_header": "X-Special"},
        "search": {"url": f"{service}/search", "key_env": "SEARCH_KEY"},
    }
    book.freeze([small_manifest(configuration="served", endpoints=endpoints)])
    return book


def ask(book: Ledger, way: str, *urls: str, json: object = None, follow: bool = False) -> list[str]:
    """Ask for each URL within one trial; return the bodies, or the names of what was raised."""
    came: list[str] = []

    def wait() -> None:
        client = httpx.Client(
            transport=RecordingTransport(),
            follow_redirects=follow,
            timeout=PATIENCE,
            trust_env=False,
        )
        with client, book.run("served", name=RUN) as run, run.trial("q1") as trial:
            for url in urls:
                try:
                    came.append(client.post(url, json=json).text)
                except httpx.HTTPError as error:
                    came.append(type(error).__name__)
            trial.answer("x")

    async def soon() -> None:
        client = httpx.AsyncClient(
            transport=AsyncRecordingTransport(),
            follow_redirects=follow,
            timeout=PATIENCE,
            trust_env=False,
        )
        async with client, book.run("served", name=RUN) as run, run.trial("q1") as trial:
            for url in urls:
                try:
                    came.append((await client.post(url, json=json)).text)
                except httpx.HTTPError as error:
                    came.append(type(error).__name__)
            await trial.answer("x")

    if way == "sync":
        wait()
    else:
        anyio.run(soon, backend=way)
    return came


@pytest.mark.parametrize("way", WAYS)
def test_c17_c18_a_model_call_is_recorded(book: Ledger, service: str, way: str) -> None:
    """Request, response, usage, model and fingerprint are as reported; the cost is unknown."""
    (body,) = ask(book, way, f"{service}/v1/chat", json={"model": "m", "messages": []})
    begun, ended = only(book, CallStarted), only(book, CallFinished)
    assert (begun.purpose, begun.endpoint, begun.name) == ("model", "model", "m")
    assert words(book, ended.response) == body
    assert (ended.status, ended.delivered, ended.cost) == ("ok", True, None)
    assert ended.usage == Usage(input_tokens=7, input_tokens_cache_read=3, output_tokens=4)
    assert ended.served == Served(model="m", endpoint="model", fingerprint="fp1")
    assert failures(book) == []
    assert kinds(book)[2:4] == ["call.started", "call.finished"]


def test_c18_a_search_call_is_recorded(book: Ledger, service: str) -> None:
    """Reported dollars are kept exactly, an empty result is no failure, units stay unknown."""
    ask(
        book,
        "sync",
        f"{service}/search/exa",
        f"{service}/search/empty",
        f"{service}/search/nothing",
    )
    first, second, third = told(book, CallFinished)
    assert first.cost == Cost(amount="0.0071", currency="USD", basis="reported")
    assert (first.status, first.usage) == ("ok", None)
    assert (second.status, second.cost) == ("empty", None)
    assert third.status == "ok"
    assert {one.purpose for one in told(book, CallStarted)} == {"search"}
    assert failures(book) == []


FAULTS = {
    "v1/swapped": [("model_fallback", "model_provider", "degraded")],
    "search/items": [
        ("cached_fallback", "search_provider", "degraded"),
        ("partial_result", "search_provider", "degraded"),
    ],
    "search/beside": [("partial_result", "search_provider", "degraded")],
    "search/noresult": [],
    "v1/inside": [("overloaded", "model_provider", "unknown")],
    "search/limited": [("rate_limited", "search_provider", "unknown")],
    "v1/broken": [("server_error", "model_provider", "unknown")],
    "search/page": [("decode_error", "search_provider", "unknown")],
    "search/badpack": [("decode_error", "harness", "unknown")],
    "search/away": [("endpoint_fallback", "search_provider", "unknown")],
    "search/nowhere": [("decode_error", "search_provider", "unknown")],
    "search/cut": [("response_lost", "harness", "unknown")],
    "search/hangup": [("response_lost", "harness", "unknown")],
    "search/slow": [("timeout", "search_provider", "unknown")],
}
STATUSES = {
    "v1/swapped": "ok",
    "search/items": "partial",
    "search/beside": "partial",
    "search/noresult": "empty",
}
LOST = {"search/cut": (len(HALF), 400), "search/hangup": (None, None)}


@pytest.mark.parametrize("path", FAULTS)
@pytest.mark.parametrize("way", ["sync", "asyncio"])
def test_c23_c24_every_fault_has_its_class(book: Ledger, service: str, path: str, way: str) -> None:
    """Class, fault and impact are right, the bytes that came are counted, the call has ended."""
    ask(book, way, f"{service}/{path}", json={"model": "m"})
    assert failures(book) == FAULTS[path]
    if path in LOST:
        lost = only(book, ResponseLost)
        assert (lost.bytes_received, lost.bytes_expected) == LOST[path]
        assert told(book, CallFinished) == []
    else:
        ended = only(book, CallFinished)
        assert ended.status == STATUSES.get(path, "failed")
        assert ended.delivered is (path in STATUSES)
    if path == "search/slow":
        assert words(book, only(book, CallFinished).response) == HALF.decode()


def test_c23_what_was_asked_to_wait_is_kept(book: Ledger, service: str) -> None:
    """The message has the provider's words and its Retry-After."""
    ask(book, "sync", f"{service}/search/limited")
    message = words(book, only(book, FailureOccurred).message)
    assert message == "HTTP 429: slow down; asks to wait 7000 ms"


@pytest.mark.parametrize("way", ["sync", "trio"])
def test_c23_a_retry_is_an_attempt(book: Ledger, service: str, way: str) -> None:
    """The same request after a failure is its next attempt; a success recovers what failed."""
    ask(
        book,
        way,
        *[f"{service}/search/limited"] * 2,
        *[f"{service}/search/once"] * 2,
        *[f"{service}/search/exa"] * 2,
    )
    begun = told(book, CallStarted)
    assert [(one.attempt, one.retry_of) for one in begun] == [
        (1, None), (2, "c1"), (1, None), (2, "c3"), (1, None), (1, None),
    ]  # fmt: skip
    recovered = only(book, FailureRecovered)
    assert (recovered.by, recovered.call) == ("retry", "c4")
    assert recovered.occurrence == told(book, FailureOccurred)[2].occurrence


def test_c24_a_redirect_that_is_followed_is_disclosed(book: Ledger, service: str) -> None:
    """The request to the other host is a call of its own under the redirect's occurrence."""
    ask(book, "sync", f"{service}/search/away", follow=True)
    away, followed = told(book, CallStarted)
    (redirect,) = told(book, FailureOccurred)
    assert redirect.class_ == "endpoint_fallback"
    assert (away.endpoint, away.occurrence) == ("search", None)
    assert followed.occurrence == redirect.occurrence
    assert (followed.endpoint or "").startswith("127.0.0.1:")


def test_a_redirect_on_the_same_host_is_no_failure(book: Ledger, service: str) -> None:
    """Both requests are recorded."""
    ask(book, "sync", f"{service}/search/near", follow=True)
    assert [one.status for one in told(book, CallFinished)] == ["ok", "ok"]
    assert failures(book) == []


def test_c24_a_place_outside_the_manifest_is_disclosed(book: Ledger, elsewhere: str) -> None:
    """It is asked under an occurrence, one for each place; its account is the request's."""
    ask(book, "sync", f"{elsewhere}/v1/chat", f"{elsewhere}/x/page", json={"model": "m"})
    ((class_, fault, impact),) = failures(book)
    assert (class_, fault, impact) == ("endpoint_fallback", "harness", "degraded")
    first, second = told(book, CallStarted)
    assert first.occurrence == second.occurrence == only(book, FailureOccurred).occurrence
    assert first.purpose == "model"
    assert [one.status for one in told(book, CallFinished)] == ["ok", "ok"]


@pytest.mark.parametrize("way", ["sync", "asyncio"])
def test_ways_that_lead_nowhere(book: Ledger, way: str) -> None:
    """A refused connection is the provider's, a bad scheme the harness's; both are raised."""
    raised = ask(book, way, "http://127.0.0.1:1/search", "ftp://127.0.0.1/x")
    assert raised == ["ConnectError", "UnsupportedProtocol"]
    assert [one[:2] for one in failures(book)] == [
        ("endpoint_fallback", "harness"),
        ("connect", "search_provider"),
        ("endpoint_fallback", "harness"),
        ("client_error", "harness"),
    ]


def test_a_compressed_body_is_read(book: Ledger, service: str) -> None:
    """The recorded response is what the body says, not its packing."""
    (body,) = ask(book, "sync", f"{service}/v1/packed", json={"model": "m"})
    assert words(book, only(book, CallFinished).response) == body


@pytest.mark.parametrize("way", ["sync", "asyncio"])
def test_streams_pass_through(book: Ledger, service: str, way: str) -> None:
    """Pieces arrive as they come; usage of the last one counts; an early end is a loss."""
    url = f"{service}/v1/stream"

    def wait() -> None:
        client = httpx.Client(transport=RecordingTransport(), trust_env=False)
        with client, book.run("served", name=RUN) as run, run.trial("q1") as trial:
            with client.stream("POST", url, json={"model": "m"}) as response:
                lines = [line for line in response.iter_lines() if line]
            assert lines[-1] == "data: [DONE]"
            with client.stream("POST", url, json={"model": "m"}) as response:
                next(response.iter_raw(8))
            trial.answer("x")

    async def soon() -> None:
        client = httpx.AsyncClient(transport=AsyncRecordingTransport(), trust_env=False)
        async with client, book.run("served", name=RUN) as run, run.trial("q1") as trial:
            async with client.stream("POST", url, json={"model": "m"}) as response:
                lines = [line async for line in response.aiter_lines() if line]
            assert lines[-1] == "data: [DONE]"
            async with client.stream("POST", url, json={"model": "m"}) as response:
                async for _ in response.aiter_raw(8):
                    break
            await trial.answer("x")

    wait() if way == "sync" else anyio.run(soon)
    whole = told(book, CallFinished)[0]
    assert whole.usage == Usage(input_tokens=5, output_tokens=2)
    assert whole.served == Served(model="m", endpoint="model")
    assert len(told(book, CallFinished)) + len(told(book, ResponseLost)) == 2


def test_a_body_that_nobody_reads_is_lost(book: Ledger, service: str) -> None:
    """What is closed unread, and what is still open when its trial ends, never reached anybody."""
    client = httpx.Client(transport=RecordingTransport(), trust_env=False)
    with client, book.run("served", name=RUN) as run:
        with run.trial("q1") as trial:
            with client.stream("POST", f"{service}/search/exa"):
                pass
            opened = client.stream("POST", f"{service}/search/exa")
            opened.__enter__()
            cut = client.stream("POST", f"{service}/search/cut")
            half = cut.__enter__()
            trial.answer("x")
        opened.__exit__(None, None, None)
        with pytest.raises(httpx.RemoteProtocolError):
            half.read()
    assert failures(book) == [("response_lost", "harness", "unknown")] * 3
    assert [one.bytes_received for one in told(book, ResponseLost)] == [0, None, None]


def test_a_cancelled_request_is_recorded(book: Ledger, service: str) -> None:
    """A task that is cancelled while it waits for the body says so."""

    async def soon() -> None:
        client = httpx.AsyncClient(transport=AsyncRecordingTransport(), trust_env=False)
        async with client, book.run("served", name=RUN) as run, run.trial("q1") as trial:
            with anyio.CancelScope() as scope:
                async with client.stream("POST", f"{service}/search/slow") as response:
                    async for _ in response.aiter_raw():
                        scope.cancel()
            await trial.answer("x")

    anyio.run(soon)
    assert failures(book) == [("cancelled", "harness", "unknown")]


def test_outside_of_a_trial_nothing_is_recorded(book: Ledger, service: str) -> None:
    """Requests without a trial pass through."""

    async def soon() -> int:
        async with httpx.AsyncClient(
            transport=AsyncRecordingTransport(), trust_env=False
        ) as client:
            return (await client.get(f"{service}/search/exa")).status_code

    with book.run("served", name=RUN):
        with httpx.Client(transport=RecordingTransport(), trust_env=False) as client:
            assert client.get(f"{service}/search/exa").status_code == 200
        assert asyncio.run(soon()) == 200
    assert kinds(book) == ["run.opened", "run.closed"]


@pytest.mark.parametrize("form", ["json", "form", "text"])
def test_c11_secrets_are_nowhere_in_the_plain_bytes(
    book: Ledger, service: str, tmp_path: Path, form: str
) -> None:
    """Keys in headers, URL, query and body, and values of the environment, are in no file."""
    headers = {
        "Authorization": f"Bearer {HEADER_SECRET}",
        "X-Special": HEADER_SECRET,
        "Cookie": f"session={HEADER_SECRET}",
        "X-Api-Key": HEADER_SECRET,
        "X-Plain": SECRET,
    }
    host = service.replace("http://", f"http://user:{HEADER_SECRET}@")
    url = f"{host}/v1/chat?api_key={HEADER_SECRET}&q={SECRET}"
    client = httpx.Client(transport=RecordingTransport(), trust_env=False, headers=headers)
    body = {"api_key": HEADER_SECRET, "model": "m", "note": SECRET}
    with client, book.run("served", name=RUN) as run, run.trial("q1") as trial:
        if form == "json":
            client.post(url, json={**body, "inner": {"password": HEADER_SECRET}})
        elif form == "form":
            client.post(url, data=body)
        else:
            client.post(url, content=f"note {SECRET}", headers={"content-type": "text/plain"})
        trial.answer("x")
    request = words(book, only(book, CallStarted).request)
    assert "[credential removed]" in request
    assert "[secret SEARCH_KEY]" in request
    for stored in book.events(run=RUN):
        assert SECRET.encode() not in stored.document
        assert HEADER_SECRET.encode() not in stored.document
    assert SECRET not in request
    assert HEADER_SECRET not in request
    book.close()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert SECRET.encode() not in file.read_bytes()
            assert HEADER_SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize("path", ["search/hangup", "v1/broken"])
def test_c23_what_ends_a_trial_is_the_recorded_failure(
    book: Ledger, service: str, path: str
) -> None:
    """An exception that comes of a recorded request, however wrapped, is no second occurrence."""

    def give_up(client: httpx.Client) -> None:
        try:
            client.get(f"{service}/{path}").raise_for_status()
        except httpx.HTTPError as error:
            message = "the client of the service gave up"
            raise RuntimeError(message) from error

    client = httpx.Client(transport=RecordingTransport(), trust_env=False)
    with client, book.run("served", name=RUN) as run, pytest.raises(RuntimeError), run.trial("q1"):
        give_up(client)
    assert len(failures(book)) == 1
    assert only(book, FailureAssessed).occurrence == only(book, FailureOccurred).occurrence


def test_c23_another_trials_response_explains_nothing(book: Ledger, service: str) -> None:
    """What fails a trial is its own: an exception about other responses is a failure by itself."""
    client = httpx.Client(transport=RecordingTransport(), trust_env=False)
    with client, book.run("served", name=RUN) as run:
        with run.trial("q1") as trial:
            response = client.get(f"{service}/v1/broken")
            trial.answer("x")
        with pytest.raises(httpx.HTTPStatusError), run.trial("q2"):
            response.raise_for_status()
    assert [one[0] for one in failures(book)] == ["server_error", "agent_error"]
    assert told(book, FailureAssessed) == []


def test_c11_an_exception_that_repeats_a_url_keeps_no_secret(
    book: Ledger, service: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Message, traceback, reason of the run and the line on standard error hold no credential."""
    place = service.replace("http://", f"http://user:{HEADER_SECRET}@")
    url = f"{place}/v1/chat?api_key={HEADER_SECRET}"
    caught = pytest.raises(ValueError, match="user")
    with caught, book.run("served", name=RUN) as run, run.trial("q1"):
        raise ValueError(f"no answer from {url}")
    message = words(book, only(book, FailureOccurred).message)
    assert message.endswith("/v1/chat?api_key=[credential removed]")
    assert HEADER_SECRET not in capsys.readouterr().err
    book.close()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or HEADER_SECRET.encode() not in file.read_bytes()
    with Ledger.open(book.store.path, tools=book.tools) as later:
        for data in (only(later, FailureOccurred).detail, only(later, RunClosed).reason):
            assert HEADER_SECRET not in words(later, data)
