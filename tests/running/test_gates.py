"""The way to an endpoint: how many at once, how often, and what happens while it is down."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from trial_ledger.documents.manifest_structs import (
    Endpoint,
    Limits,
    Manifest,
    Outage,
    Retry,
)
from trial_ledger.running.gates import Gate, gates_of, setting


def play(play_it: Callable[[], Awaitable[None]]) -> None:
    """Play a scene, with a time limit that a stuck one runs into."""

    async def limited() -> None:
        with anyio.fail_after(20):
            await play_it()

    anyio.run(limited)


def test_no_more_at_once_than_allowed() -> None:
    """Ten requests pass a gate for three, never four at a time."""
    inside = most = 0

    async def scene() -> None:
        gate = Gate("search", at_once=3)

        async def request() -> None:
            nonlocal inside, most
            async with gate.passed():
                inside += 1
                most = max(most, inside)
                await anyio.sleep(0.001)
                inside -= 1

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(request)

    play(scene)
    assert (inside, most) == (0, 3)


def test_a_rate_limit_spreads_requests() -> None:
    """At 6,000 a minute six requests take at least five times ten milliseconds."""

    async def scene() -> None:
        gate = Gate("search", at_once=9, per_minute=6_000)
        began = anyio.current_time()
        for _ in range(6):
            async with gate.passed():
                pass
        assert anyio.current_time() - began >= 0.05

    play(scene)


def test_an_outage_pauses_and_one_request_tries() -> None:
    """After three failures in a row one request at a time tries; the first success ends it."""
    said: list[str] = []
    tried: list[int] = []

    async def told(message: str) -> None:
        said.append(message)

    async def scene() -> None:
        gate = Gate("search", at_once=9, pause_after=3, pause_us=2_000, told=told)
        inside = most = 0

        async def request(number: int) -> None:
            nonlocal inside, most
            async with gate.passed():
                inside += 1
                if gate.is_paused:
                    most = max(most, inside)
                await anyio.sleep(0.001)
                tried.append(number)
                inside -= 1
                await gate.ended("server_error" if len(tried) < 3 else None)

        for _ in range(3):
            await gate.ended("timeout")
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(request, number)
        assert not gate.is_paused
        assert most == 1

    play(scene)
    assert len(tried) == 6
    assert said == [
        "endpoint search failed 3 times in a row: the run pauses",
        "endpoint search answers again: the run goes on",
    ]


def test_while_paused_one_trial_at_a_time_is_let_in() -> None:
    """A trial that fails gives its place to the next; news lets everybody in."""
    let_in: list[int] = []
    together: list[int] = []

    async def scene() -> None:
        gate = Gate("search", at_once=9, pause_after=1)
        await gate.ended("connect")

        async def trial(number: int) -> None:
            async with gate.admitted():
                let_in.append(number)
                together.append(len(let_in) if gate.is_paused else 0)
                await anyio.sleep(0.002)
                if number == 2:
                    await gate.ended(None)

        async with anyio.create_task_group() as group:
            for number in range(1, 6):
                group.start_soon(trial, number)
        assert not gate.is_paused

    play(scene)
    assert sorted(let_in) == [1, 2, 3, 4, 5]
    assert together == [1, 2, 0, 0, 0]


@pytest.mark.parametrize("class_", ["auth", "client_error", "schema_mismatch", None])
def test_what_concerns_one_request_is_no_outage(class_: str | None) -> None:
    """A wrong key or request says that the service is up."""
    states: list[bool] = []

    async def scene() -> None:
        gate = Gate("search", at_once=1, pause_after=2)
        for ending in ("timeout", class_, "timeout", "timeout", None):
            await gate.ended(ending)  # type: ignore[arg-type]
            states.append(gate.is_paused)

    play(scene)
    assert states == [False, False, False, True, False]


def test_gates_come_from_the_manifest() -> None:
    """An endpoint's own numbers win over the run's; what is no number counts as not given."""
    endpoint = Endpoint(url="http://h/", options={"concurrency": 2, "requests_per_minute": 600})
    assert setting(endpoint, "concurrency") == 2
    for odd in (0, -1, True, "3", None):
        assert (
            setting(Endpoint(url="http://h/", options={"concurrency": odd}), "concurrency") is None
        )
    found = Manifest(
        configuration="c",
        dataset="d@1",
        rubric="r@1",
        endpoints={"search": endpoint, "model": Endpoint(url="http://h/")},
        limits=Limits(concurrency=5),
        retry=Retry(wait_most_ms=20),
        outage=Outage(pause_after=4),
    )
    bare = Manifest(
        configuration="c", dataset="d@1", rubric="r@1", endpoints={"search": Endpoint(url="u")}
    )

    async def scene() -> None:
        gates = gates_of(found)
        assert (gates["search"].limiter.total_tokens, gates["search"].pace_us) == (2, 100_000)
        assert (gates["model"].limiter.total_tokens, gates["model"].pace_us) == (5, 0)
        assert (gates["model"].pause_after, gates["model"].pause_us) == (4, 20_000)
        gate = gates_of(bare)["search"]
        assert (gate.limiter.total_tokens, gate.pause_after) == (1, None)

    play(scene)
