"""One request over the network and what came of it; nothing is recorded here.

Invariant: nothing is raised for what the other side or the way to it does: it is returned as what
it is. Redirects are not followed, and the environment's proxies and passwords are not used: only
what the manifest names is asked (C24).
"""

import socket
import ssl
import time

import anyio
import httpx
import msgspec

from trial_ledger.causes import causes_of
from trial_ledger.events import FailureClass
from trial_ledger.running.search.base import Request

__all__ = ["Broken", "Reply", "class_of", "client_for", "exchanged", "microseconds_since"]

NANOSECONDS = 1_000
SECOND_MS = 1_000


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A whole response."""

    status: int
    """HTTP status."""
    headers: dict[str, str]
    """Headers, names in lower case."""
    content: bytes
    """Body."""
    duration_us: int
    """Microseconds from request to the end of the body."""

    @property
    def media(self) -> str:
        """Media type of the body."""
        return self.headers.get("content-type", "").partition(";")[0].strip() or "text/plain"


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """No whole response came."""

    class_: FailureClass
    """What kind of failure."""
    detail_class: str
    """Name of the error."""
    message: str
    """What was reported."""
    duration_us: int
    """Microseconds from request to the failure."""
    content: bytes = b""
    """What had arrived of the body."""
    expected: int | None = None
    """Bytes that the response announced; None where it did not."""


def client_for(connections: int) -> httpx.AsyncClient:
    """Return what requests are sent with, at most that many at the same time."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    # `exchanged` limits the time of all of it; httpx would limit that of each part.
    no_limit = httpx.Timeout(None)
    return httpx.AsyncClient(
        follow_redirects=False, trust_env=False, timeout=no_limit, limits=limits
    )


def microseconds_since(began_ns: int) -> int:
    """Return the microseconds since a reading of the monotonic clock."""
    return (time.monotonic_ns() - began_ns) // NANOSECONDS


async def exchanged(
    client: httpx.AsyncClient,
    request: Request,
    secret: dict[str, str],
    timeout_ms: int | None,
) -> Reply | Broken:
    """Send one request and return what came.

    Args:
        client: from `client_for`.
        request: what is sent.
        secret: headers that carry a key; they leave with the request and are kept nowhere.
        timeout_ms: longest time for all of it; None for no limit.
    """
    began = time.monotonic_ns()
    content = bytearray()
    expected: int | None = None
    answered = False
    timeout = None if timeout_ms is None else timeout_ms / SECOND_MS
    try:
        with anyio.fail_after(timeout):
            async with client.stream(
                request.method,
                request.url,
                headers={**request.headers, **secret},
                content=request.content or None,
            ) as response:
                answered = True
                expected = announced(response)
                async for chunk in response.aiter_bytes():
                    content += chunk
    except TimeoutError:
        return Broken(
            class_="timeout",
            detail_class="timeout",
            message=f"no whole answer in {timeout_ms} ms, {len(content)} bytes came",
            duration_us=microseconds_since(began),
            content=bytes(content),
            expected=expected,
        )
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        class_ = class_of(error, answered=answered)
        return Broken(
            class_=class_,
            detail_class=type(error).__name__,
            message=f"{type(error).__name__}: {error}",
            duration_us=microseconds_since(began),
            content=bytes(content),
            expected=expected,
        )
    return Reply(
        status=response.status_code,
        headers={name.lower(): value for name, value in response.headers.items()},
        content=bytes(content),
        duration_us=microseconds_since(began),
    )


def announced(response: httpx.Response) -> int | None:
    """Return how many bytes of body a response announces; None where it does not say."""
    length = response.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None


def class_of(error: BaseException, *, answered: bool) -> FailureClass:
    """Return the failure class of an error on the way.

    Args:
        error: what was raised.
        answered: whether a response had begun: what breaks then has lost it.
    """
    if isinstance(error, httpx.DecodingError):
        return "decode_error"
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL | httpx.LocalProtocolError):
        return "client_error"
    if answered or isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
        return "response_lost"
    chain = list(causes_of(error))
    if any(isinstance(cause, socket.gaierror) for cause in chain):
        return "dns"
    if any(isinstance(cause, ssl.SSLError) for cause in chain):
        return "tls"
    return "connect"
