"""Transports for httpx that record every request of the current trial.

Invariant: a request leaves when its announcement is durable; its end is durable before whoever
reads the body learns of it; bytes pass through as they come.

`RecordingTransport` is the `transport` of an `httpx.Client`, `AsyncRecordingTransport` that of an
`httpx.AsyncClient`; clients of services take such a client as `http_client`. A retry of the client
is a request of its own here. The inner transport MUST NOT retry by itself, since that happens below
this one: `httpx.HTTPTransport(retries=0)`, the default. Outside of a trial nothing is recorded. Do
not put such a request into a call of your own: it would be told twice.
"""

from collections.abc import AsyncIterator, Iterator

import httpx

from trial_ledger.events import FailureClass
from trial_ledger.recording.calls import CallRecorder
from trial_ledger.recording.exchange import Came, Exchange, Sent
from trial_ledger.recording.journal import Written
from trial_ledger.recording.reading import stream_ended
from trial_ledger.recording.trials import CALL, current_trial
from trial_ledger.running.exchange import class_of

__all__ = ["AsyncRecordingTransport", "RecordingTransport"]


def class_of_break(error: BaseException, *, answered: bool) -> FailureClass:
    """Return the failure class of what ended an exchange, an interruption from here among it.

    Args:
        error: what was raised.
        answered: whether a response had begun: what breaks then has lost it.
    """
    if not isinstance(error, Exception):
        return "cancelled"
    if isinstance(error, httpx.TimeoutException):
        return "timeout"
    return class_of(error, answered=answered)


def sent(request: httpx.Request) -> Sent:
    """Return a request whose body was read."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Sent(request.method, str(request.url), headers, request.content)


def failed(exchange: Exchange, error: BaseException) -> Written:
    """Tell that no response began."""
    class_ = class_of_break(error, answered=False)
    name = type(error).__name__
    written = exchange.broke(class_, f"{name}: {error}", detail_class=name, received=None)
    exchange.explain(error)
    return written


class Body:
    """The body of one response while it passes through.

    Args:
        exchange: its request.
        response: its status and headers.
    """

    def __init__(self, exchange: Exchange, response: httpx.Response) -> None:
        self.exchange = exchange
        self.response = response
        self.content = bytearray()
        self.written: Written | None = None

    @property
    def expected(self) -> int | None:
        """Bytes that were announced; None where they were not."""
        length = self.response.headers.get("content-length", "")
        return int(length) if length.isascii() and length.isdigit() else None

    def whole(self) -> Written:
        """Tell that all of it came; once."""
        headers = {name.lower(): value for name, value in self.response.headers.items()}
        raw = bytes(self.content)
        try:
            content = httpx.Response(200, headers=headers, content=raw).content
        except httpx.DecodingError as error:
            return self.broke("decode_error", f"DecodingError: {error}", "DecodingError")
        self.written = self.exchange.came(Came(self.response.status_code, headers, content))
        return self.written

    def broke(self, class_: FailureClass, message: str, name: str) -> Written:
        """Tell that it broke off; once."""
        self.written = self.exchange.broke(
            class_,
            message,
            detail_class=name,
            received=bytes(self.content),
            expected=self.expected,
        )
        return self.written

    def raised(self, error: BaseException) -> Written:
        """Tell that reading it failed."""
        name = type(error).__name__
        written = self.broke(class_of_break(error, answered=True), f"{name}: {error}", name)
        self.exchange.explain(error)
        return written

    def closed(self) -> Written:
        """Tell that nobody reads on: it is whole where nothing more was to come."""
        if self.written is not None:
            return self.written
        if len(self.content) == self.expected or stream_ended(bytes(self.content)):
            return self.whole()
        return self.broke("response_lost", "closed before its end", "closed")


class RecordedStream(httpx.SyncByteStream):
    """A body that is recorded as it is read."""

    def __init__(self, body: Body, inner: httpx.SyncByteStream) -> None:
        self.body = body
        self.inner = inner

    def settle(self, written: Written) -> None:
        """Wait until events are durable."""
        self.body.exchange.trial.journal.settle([written])

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self.inner:
                self.body.content += chunk
                yield chunk
        except GeneratorExit:
            raise  # Nobody reads on; `close` tells.
        except BaseException as error:
            self.settle(self.body.raised(error))
            raise
        self.settle(self.body.whole())

    def close(self) -> None:
        """Close it, and tell where it had not ended."""
        try:
            self.inner.close()
        finally:
            self.settle(self.body.closed())


class AsyncRecordedStream(httpx.AsyncByteStream):
    """A body that is recorded as it is read."""

    def __init__(self, body: Body, inner: httpx.AsyncByteStream) -> None:
        self.body = body
        self.inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self.inner:
                self.body.content += chunk
                yield chunk
        except GeneratorExit:
            raise  # Nobody reads on; `aclose` tells.
        except BaseException as error:
            await self.body.raised(error)
            raise
        await self.body.whole()

    async def aclose(self) -> None:
        """Close it, and tell where it had not ended."""
        try:
            await self.inner.aclose()
        finally:
            await self.body.closed()


class RecordingTransport(httpx.BaseTransport):
    """Records what a client sends and gets.

    Args:
        inner: sends and gets; None takes httpx's own without retries.
    """

    def __init__(self, inner: httpx.BaseTransport | None = None) -> None:
        self.inner = inner or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; see `httpx.BaseTransport`."""
        trial = current_trial()
        if trial is None:
            return self.inner.handle_request(request)
        request.read()
        exchange = Exchange(trial, sent(request))
        exchange.call.__enter__()
        try:
            response = self.inner.handle_request(request)
        except BaseException as error:
            trial.journal.settle([failed(exchange, error)])
            raise
        assert isinstance(response.stream, httpx.SyncByteStream), "of a transport that waits"
        stream = RecordedStream(Body(exchange, response), response.stream)
        return replaced(response, stream, exchange.call)

    def close(self) -> None:
        """Close the inner transport."""
        self.inner.close()


class AsyncRecordingTransport(httpx.AsyncBaseTransport):
    """Records what an asynchronous client sends and gets.

    Args:
        inner: sends and gets; None takes httpx's own without retries.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport | None = None) -> None:
        self.inner = inner or httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; see `httpx.AsyncBaseTransport`."""
        trial = current_trial()
        if trial is None:
            return await self.inner.handle_async_request(request)
        await request.aread()
        exchange = Exchange(trial, sent(request))
        await exchange.call.__aenter__()
        try:
            response = await self.inner.handle_async_request(request)
        except BaseException as error:
            await failed(exchange, error)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream), "of a transport that is awaited"
        stream = AsyncRecordedStream(Body(exchange, response), response.stream)
        return replaced(response, stream, exchange.call)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self.inner.aclose()


def replaced(
    response: httpx.Response,
    stream: httpx.SyncByteStream | httpx.AsyncByteStream,
    call: CallRecorder,
) -> httpx.Response:
    """Return a response with another body, which knows its call."""
    return httpx.Response(
        response.status_code,
        headers=response.headers,
        stream=stream,
        extensions={**response.extensions, CALL: call},
    )
