"""The `python` agent: a callable of this process, plain or async.

Invariant: what it raises is a failure of its trial; what the ledger raises is raised again. It
shares the process with the runner and is not isolated from it, nor from the gold file.

It is called as `agent(asked, tools)`. `asked` is what it is given; `tools.use(name, arguments)`
uses a tool of the manifest and returns `{"hits": […]}` or `{"error": {…}}`, to be awaited in an
async agent. It returns the answer as a text or any JSON value, or an object with `answer`,
`citations` and `abstained`.
"""

import importlib
import inspect
import traceback
from collections.abc import Callable, Mapping
from functools import partial

from anyio import CapacityLimiter, from_thread, to_thread

from trial_ledger.errors import InvalidInputError
from trial_ledger.running.line_protocol import Unreadable, answer_of
from trial_ledger.running.work import Agent, Result, Tools, Work, errored, fault_of_ledger

__all__ = ["AsyncTools", "PlainTools", "loaded", "python_agent", "result_of"]

ANSWER_FIELDS = frozenset({"answer", "citations", "abstained"})


class AsyncTools:
    """Tools in the hands of an async agent."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def use(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """Use a tool of the manifest; return its hits, or its error."""
        return (await self._tools.use(name, arguments)).content


class PlainTools:
    """Tools in the hands of an agent in a worker thread."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def use(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """Use a tool of the manifest; return its hits, or its error."""
        return from_thread.run(self._tools.use, name, arguments).content


def loaded(target: str) -> Callable[..., object]:
    """Return the callable that `package.module:name` names.

    Raises:
        InvalidInputError: there is none.
    """
    module, _, path = target.partition(":")
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise InvalidInputError.single(
            f"cannot be loaded: {error}", what="agent", field="agent.target", found=target
        ) from error
    if not callable(found):
        raise InvalidInputError.single(
            "is no callable", what="agent", field="agent.target", found=target
        )
    return found


def python_agent(target: str, threads: int) -> Agent:
    """Return the agent of a callable.

    Args:
        target: `package.module:name`.
        threads: how many plain calls may run at the same time.

    Raises:
        InvalidInputError: there is no such callable.
    """
    function = loaded(target)
    limiter = CapacityLimiter(threads)

    async def agent(work: Work) -> Result:
        asked = dict(work.asked)
        try:
            if inspect.iscoroutinefunction(function):
                said: object = await function(asked, AsyncTools(work.tools))
            else:
                call = partial(function, asked, PlainTools(work.tools))
                said = await to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)
        except BaseException as error:
            if fault_of_ledger(error) is not None or not isinstance(error, Exception):
                raise
            told = "".join(traceback.format_exception(error)).encode("utf-8", "replace")
            message = f"{type(error).__name__}: {error}"
            return errored(message, word=type(error).__name__, detail=told)
        return result_of(said)

    return agent


def result_of(said: object) -> Result:
    """Return the result of what an agent returned."""
    is_whole = isinstance(said, dict) and said.keys() & ANSWER_FIELDS
    try:
        answer = answer_of(said if isinstance(said, dict) and is_whole else {"answer": said})
    except (TypeError, ValueError) as error:
        return errored(f"the answer is no JSON value: {error}", word="no_answer")
    if isinstance(answer, Unreadable):
        return errored(answer.reason, word="no_answer")
    return Result(outcome="abstained" if answer.abstained else "answered", answer=answer)
