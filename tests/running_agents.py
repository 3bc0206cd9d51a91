"""Agents that tests put into manifests as `running_agents:name`."""

import asyncio
import time
from typing import Any

from trial_ledger.errors import StorageError

Asked = dict[str, Any]


def echo(asked: Asked, _tools: Any) -> str:  # noqa: ANN401 - whatever the runner gives
    """Answer with the question's id."""
    return f"answer to {asked['id']}"


def searching(asked: Asked, tools: Any) -> dict[str, object]:  # noqa: ANN401
    """Search once and answer with what came."""
    found = tools.use("search_web", {"query": asked["question"], "limit": 3})
    hits = found.get("hits")
    if hits is None:
        return {"answer": f"failed: {found['error']['class']}", "citations": []}
    return {"answer": hits[0]["text"] if hits else "nothing", "citations": [h["url"] for h in hits]}


async def searching_async(asked: Asked, tools: Any) -> dict[str, object]:  # noqa: ANN401
    """The same, awaited, after an odd call or two."""
    odd = [
        await tools.use("gone", {"query": "x"}),
        await tools.use("search_web", {"n": 1}),
    ]
    found = await tools.use("search_web", {"query": asked["question"]})
    return {"answer": [one["error"]["class"] for one in odd] + sorted(found)}


async def asking_once(asked: Asked, tools: Any) -> str:  # noqa: ANN401
    """Search at once, awaited."""
    found = await tools.use("search_web", {"query": asked["question"]})
    return str(found)


def leaking(_asked: Asked, tools: Any) -> str:  # noqa: ANN401
    """Ask for what only the gold file says."""
    tools.use("search_web", {"query": "is it Samarkand or Bukhara or Khiva"})
    return "x"


def raising(asked: Asked, _tools: Any) -> str:  # noqa: ANN401
    """Fail."""
    raise RuntimeError(asked["id"])


def odd(asked: Asked, _tools: Any) -> object:  # noqa: ANN401
    """Return what is no answer, in several ways."""
    ways: dict[str, object] = {
        "q1": None,
        "q2": {"answer": None, "abstained": True},
        "q3": object(),
        "q4": 7,
    }
    return ways.get(asked["id"], "x")


def broken_ledger(_asked: Asked, _tools: Any) -> str:  # noqa: ANN401
    """Fail as the ledger fails."""
    message = "the disk is full"
    raise StorageError(message)


async def broken_ledger_in_group(_asked: Asked, _tools: Any) -> str:  # noqa: ANN401
    """Fail as the ledger fails, inside a group."""
    message = "the disk is full"
    raise ExceptionGroup("two", [ValueError("x"), StorageError(message)])


class Odd(BaseException):
    """What no agent should raise."""


def interrupting(_asked: Asked, _tools: Any) -> str:  # noqa: ANN401
    """Raise what is no failure of a trial."""
    message = "MemoryError"
    raise Odd(message)


async def sleeping(_asked: Asked, _tools: Any) -> str:  # noqa: ANN401
    """Take longer than anybody waits."""
    await asyncio.sleep(30)
    return "late"


def short_sleep(asked: Asked, tools: Any) -> str:  # noqa: ANN401
    """Search, and take a moment."""
    tools.use("search_web", {"query": asked["question"]})
    time.sleep(0.01)
    return f"answer to {asked['id']}"


not_callable = 7


async def stubborn(_asked: Asked, _tools: Any) -> str:  # noqa: ANN401
    """Hold the event loop's end up for as long as anybody waits."""
    try:
        await asyncio.sleep(30)
    finally:
        time.sleep(15)  # noqa: ASYNC251 - that is what is stubborn about it
    return "late"
