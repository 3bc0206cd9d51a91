"""The way to one endpoint: how many at once, how often, and whether it is down.

Invariant: no request passes while its endpoint is paused, but one at a time that tries whether it
is back.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import anyio

from trial_ledger.documents.manifest_structs import Endpoint, Manifest
from trial_ledger.events import FailureClass

__all__ = ["Gate", "gates_of", "setting"]

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US

DOWN: frozenset[FailureClass] = frozenset(
    {
        "timeout", "connect", "dns", "tls", "rate_limited", "overloaded", "server_error",
        "response_lost",
    }
)  # fmt: skip
"""Failure classes that can mean that a service is down; the others are about one request."""

Told = Callable[[str], Awaitable[None]]


async def tell_nobody(_message: str) -> None:
    """Say nothing."""


def setting(endpoint: Endpoint, name: str) -> int | None:
    """Return a whole number above 0 among an endpoint's options; None without one."""
    value = endpoint.options.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


class Gate:
    """The way to one endpoint; of one event loop.

    Args:
        name: the endpoint's name in the manifest.
        at_once: most requests at the same time.
        per_minute: most requests in a minute, evenly spread; None for no limit.
        pause_after: failures in a row after which nothing is sent; None never pauses.
        pause_us: microseconds after which one request may try whether it is back.
        told: is given one clause when it pauses and when it goes on.
    """

    def __init__(
        self,
        name: str,
        *,
        at_once: int,
        per_minute: int | None = None,
        pause_after: int | None = None,
        pause_us: int = MINUTE_US,
        told: Told = tell_nobody,
    ) -> None:
        self.name = name
        self.limiter = anyio.CapacityLimiter(at_once)
        self.pace_us = MINUTE_US // per_minute if per_minute else 0
        self.pause_after = pause_after
        self.pause_us = pause_us
        self.told = told
        self.next_us = 0
        self.failures = 0
        self.is_paused = False
        self.has_scout = False
        self.news = anyio.Event()
        self.trying = anyio.Lock()

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[None]:
        """Wait until a request may leave, and hold its place until it has ended.

        While the endpoint is paused one request at a time waits out the pause and then tries; the
        others wait for it to bring news.
        """
        while self.is_paused:
            async with self.trying:
                if self.is_paused:
                    await sleep_us(self.pause_us)
                    async with self.limiter:
                        yield
                    return
        async with self.limiter:
            await self.pace()
            yield

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[None]:
        """Wait until a trial may start that will use this endpoint, and mark its end.

        While the endpoint is paused one new trial at a time is let in: its requests find out.
        """
        while self.is_paused and self.has_scout:
            await self.news.wait()
        is_scout = self.is_paused
        self.has_scout = self.has_scout or is_scout
        try:
            yield
        finally:
            if is_scout:
                self.has_scout = False
                self.spread_news()

    def spread_news(self) -> None:
        """Wake everybody who waits for news."""
        news, self.news = self.news, anyio.Event()
        news.set()

    async def pace(self) -> None:
        """Wait for this request's turn where there is a rate limit."""
        if self.pace_us:
            now = now_us()
            turn = max(self.next_us, now)
            self.next_us = turn + self.pace_us
            await sleep_us(turn - now)

    async def ended(self, class_: FailureClass | None) -> None:
        """Take into account how a request ended: the class of its failure, None for success."""
        if class_ not in DOWN:
            self.failures = 0
            if self.is_paused:
                self.is_paused = False
                self.spread_news()
                await self.told(f"endpoint {self.name} answers again: the run goes on")
            return
        self.failures += 1
        if self.failures == self.pause_after:
            self.is_paused = True
            await self.told(
                f"endpoint {self.name} failed {self.failures} times in a row: the run pauses"
            )


def now_us() -> int:
    """Return the event loop's time in microseconds."""
    return round(anyio.current_time() * SECOND_US)


async def sleep_us(microseconds: int) -> None:
    """Wait."""
    await anyio.sleep(microseconds / SECOND_US)


def gates_of(manifest: Manifest, told: Told = tell_nobody) -> Mapping[str, Gate]:
    """Return the way to every endpoint of a manifest.

    An endpoint's options `concurrency` and `requests_per_minute` hold for it; without the first it
    takes as many requests as there are trials at the same time. A paused endpoint is tried again
    after the longest wait of `[retry]`.
    """
    limits, retry, outage = manifest.limits, manifest.retry, manifest.outage
    at_once = limits.concurrency if limits is not None else 1
    return {
        name: Gate(
            name,
            at_once=setting(endpoint, "concurrency") or at_once,
            per_minute=setting(endpoint, "requests_per_minute"),
            pause_after=None if outage is None else outage.pause_after,
            pause_us=MINUTE_US if retry is None else retry.wait_most_ms * 1_000,
            told=told,
        )
        for name, endpoint in manifest.endpoints.items()
    }
