"""What responses say of themselves, and which failure an error on the way is."""

import json
import socket
import ssl

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_cases import small_manifest
from trial_ledger.amounts import Usage
from trial_ledger.recording.exchange import Sent, endpoint_of, purpose_of, shown
from trial_ledger.recording.httpx_transport import class_of_break
from trial_ledger.recording.reading import reading_of, stream_ended

EVENTS = "text/event-stream"


def test_c18_usage_of_the_known_shapes() -> None:
    """Cached tokens are never counted twice, and what is not told stays unknown."""
    anthropic = {"input_tokens": 5, "cache_read_input_tokens": 9, "output_tokens": 2}
    responses = {
        "input_tokens": 14,
        "input_tokens_details": {"cached_tokens": 9},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 1},
    }
    cached = {"input_tokens_details": {"cached_tokens": 9}}
    found = [
        reading_of(json.dumps({"model": "m", "usage": usage}).encode(), "application/json").usage
        for usage in (anthropic, responses, cached, {}, None)
    ]
    assert found == [
        Usage(input_tokens=5, input_tokens_cache_read=9, output_tokens=2),
        Usage(input_tokens=5, input_tokens_cache_read=9, output_tokens=2, reasoning_tokens=1),
        Usage(input_tokens_cache_read=9),
        Usage(),
        None,
    ]


def test_c18_units_of_searches() -> None:
    """Counted items of Parallel and credits of Tavily are units; neither tells money."""
    parallel = {"results": [{}], "usage": [{"name": "sku_search", "count": 2}]}
    tavily = {"results": [{}], "usage": {"credits": 3}}
    for body, units in ((parallel, {"sku_search": 2}), (tavily, {"credits": 3})):
        found = reading_of(json.dumps(body).encode(), "application/json")
        assert (found.usage, found.cost) == (Usage(units=units), None)


def test_a_streamed_message_is_put_together() -> None:
    """Anthropic tells input at the beginning and output at the end of its stream."""
    begin = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 5}}}
    end = {"type": "message_delta", "usage": {"output_tokens": 7}}
    lines = (
        f"event: message_start\ndata: {json.dumps(begin)}\n\ndata: {json.dumps(end)}\n\ndata: x\n"
    )
    found = reading_of(lines.encode(), EVENTS)
    assert found.usage == Usage(input_tokens=5, output_tokens=7)
    assert found.model == "m"
    assert not stream_ended(lines.encode())
    assert stream_ended(lines.encode() + b"event: message_stop\ndata: {}\n\n")


def test_c24_an_error_inside_a_stream_is_its_failure() -> None:
    """A stream that breaks off with an error has failed, whatever its status was."""
    error = {"type": "error", "error": {"code": "E17", "message": ""}}
    found = reading_of(f"event: error\ndata: {json.dumps(error)}\n\n".encode(), EVENTS)
    assert found.failure is not None
    assert (found.failure.class_, found.failure.detail_class) == ("server_error", "E17")
    assert found.failure.message == "an error in a success"


@settings(max_examples=60)
@given(st.binary(max_size=60), st.sampled_from(["application/json", EVENTS]))
def test_no_body_breaks_the_reading(content: bytes, media: str) -> None:
    """Whatever comes is read, or is unreadable; no number is made up."""
    found = reading_of(content, media)
    assert found.cost is None
    assert found.usage is None


def test_endpoints_are_found_by_place_and_longest_path() -> None:
    """Another port or host is another place; below a path is below the endpoint."""
    manifest = small_manifest(
        endpoints={
            "model": {"url": "http://api.test/v1"},
            "deep": {"url": "http://api.test:80/v1/deep/"},
        }
    )
    assert endpoint_of(manifest, "http://api.test/v1/chat") == "model"
    assert endpoint_of(manifest, "http://api.test/v1/deep/x?q") == "deep"
    assert endpoint_of(manifest, "http://api.test/v1") == "model"
    assert endpoint_of(manifest, "http://api.test/v12") is not None
    assert endpoint_of(manifest, "https://api.test/v1") is None
    assert endpoint_of(manifest, "http://api.test:8080/v1") is None
    assert endpoint_of(manifest, "http://api.test.evil/v1") is None


def test_c19_the_account_of_a_call() -> None:
    """An endpoint of a model is a model's; elsewhere a request that names a model is."""
    manifest = small_manifest()
    assert purpose_of(manifest, "model", None) == "model"
    assert purpose_of(manifest, "search", {"model": "m"}) == "search"
    assert purpose_of(manifest, None, {"model": "m"}) == "model"
    assert purpose_of(manifest, None, None) == "search"


def test_c11_a_request_keeps_what_is_no_credential() -> None:
    """What the provider was asked stays readable."""
    sent = Sent("POST", "http://a.test/x?q=1&key=s3cr3t", {"accept": "a/b"}, b'{"q": "t\\u00e9"}')
    record = json.loads(shown(sent, None).content)
    assert record["body"] == {"q": "té"}
    assert record["headers"] == {"accept": "a/b"}
    assert record["url"].startswith("http://a.test/x?q=1&")


def chained(cause: Exception) -> httpx.ConnectError:
    """Return the error of a connection that a cause broke."""
    error = httpx.ConnectError("no")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "answered", "class_"),
    [
        (httpx.ReadTimeout("t"), True, "timeout"),
        (httpx.ConnectTimeout("t"), False, "timeout"),
        (httpx.UnsupportedProtocol("ftp"), False, "client_error"),
        (httpx.ReadError("r"), False, "response_lost"),
        (ValueError("any"), True, "response_lost"),
        (KeyboardInterrupt(), True, "cancelled"),
        (chained(socket.gaierror(-2, "unknown")), False, "dns"),
        (chained(ssl.SSLError("bad")), False, "tls"),
        (chained(ConnectionRefusedError()), False, "connect"),
    ],
)
def test_c23_errors_on_the_way(error: BaseException, answered: bool, class_: str) -> None:
    """Name, secure connection and connection are told apart by what led to the error."""
    assert class_of_break(error, answered=answered) == class_
