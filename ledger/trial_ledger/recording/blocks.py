"""What runs, trials and calls have in common: they begin and end in the log, whoever leaves them.

Invariant: a beginning is durable before the block runs; a block that was left has ended.
"""

import re
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

import msgspec

from trial_ledger.errors import LedgerError
from trial_ledger.events import Actor, FailureClass
from trial_ledger.recording.journal import Journal, Written
from trial_ledger.scrubbing import without_credentials
from trial_ledger.submission import NewText, Submission

__all__ = ["AGENT", "HARNESS", "JSON", "Block", "as_text", "class_of_error", "without_secrets"]

HARNESS = Actor(role="harness", name="recorder")
AGENT = Actor(role="agent")
JSON = "application/json"
USER = re.compile(rb"://[^\s/@\"'<>]{1,256}@")
"""User and password in a URL."""


def without_secrets(text: str) -> str:
    """Return what an error says without credentials: it may repeat the URL of a request (C11)."""
    raw = without_credentials(text.encode("utf-8", "replace"))
    return USER.sub(rb"://", raw).decode()


def class_of_error(error: BaseException, otherwise: FailureClass) -> FailureClass:
    """Return the failure class of an exception.

    Args:
        error: what was raised.
        otherwise: class of what no other class is for.
    """
    if not isinstance(error, Exception):
        return "cancelled"  # An interrupt, the end of the process, a cancelled task.
    if isinstance(error, TimeoutError):
        return "timeout"
    return "connect" if isinstance(error, ConnectionError) else otherwise


def as_text(value: object, media: str = "text/plain") -> NewText | None:
    """Return a value as the text of an event: bytes and strings as they are, others as JSON."""
    if value is None or isinstance(value, NewText):
        return value
    if isinstance(value, bytes):
        return NewText(content=value, media=media)
    if isinstance(value, str):
        return NewText(content=value.encode("utf-8", "replace"), media=media)
    return NewText(content=msgspec.json.encode(value), media=JSON)


class Block(ABC):
    """What has a beginning and an end in the log, for `with` and for `async with`."""

    is_async = False
    journal: Journal

    @abstractmethod
    def begin(self) -> Written:
        """Announce it."""

    def forget(self) -> None:  # noqa: B027 - not all have anything to do
        """Take the announcement back, which the ledger refused."""

    def entered(self) -> None:  # noqa: B027 - not all have anything to do
        """Be the current one from now on."""

    def left(self) -> None:  # noqa: B027 - not all have anything to do
        """Be the current one no longer."""

    @abstractmethod
    def end(self, error: BaseException | None) -> Written:
        """End it and all that is open in it."""

    def written(self, submissions: list[Submission]) -> Written:
        """Write events now; under `async with` when what is returned is awaited."""
        pushed = self.journal.push(submissions)
        if not self.is_async:
            self.journal.settle([pushed])
        return pushed

    def __enter__(self) -> Self:
        try:
            self.journal.settle([self.begin()])
        except LedgerError:
            self.forget()
            raise
        self.entered()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.left()
        self.journal.settle([self.end(error)])

    async def __aenter__(self) -> Self:
        self.is_async = True
        try:
            await self.begin()
        except LedgerError:
            self.forget()
            raise
        self.entered()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.left()
        await self.end(error)
