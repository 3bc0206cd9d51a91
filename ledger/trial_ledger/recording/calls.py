"""A call of a trial, as a context manager.

Invariant: a call is announced durably before its request leaves, and ends once: finished, failed
with an occurrence, or lost, which is the harness's fault (C21). Cost and usage that nobody told are
unknown (C18).
"""

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from trial_ledger.amounts import Cost, Usage
from trial_ledger.events import FailureClass, Served
from trial_ledger.kinds.base import Fault
from trial_ledger.recording.blocks import Block, as_text, class_of_error
from trial_ledger.recording.journal import Written
from trial_ledger.served_models import is_other_model

if TYPE_CHECKING:
    from trial_ledger.recording.trials import TrialRecorder

__all__ = ["Attempts", "CallRecorder"]

NANOSECONDS = 1_000
PROVIDERS: Mapping[str, Fault] = {"model": "model_provider", "search": "search_provider"}
LOST = "the block ended without a response"

Status = Literal["ok", "empty", "partial", "failed"]


class Attempts(msgspec.Struct):
    """Attempts of one request in one trial that failed so far."""

    call: str
    """The last."""
    number: int
    """Which it was, from 1."""
    occurrences: list[str]
    """Their failures."""


class CallRecorder(Block):
    """One attempt of one call; made by `TrialRecorder.call`.

    Args:
        trial: the trial that it belongs to.
        fields: of `call.started`.
    """

    def __init__(self, trial: "TrialRecorder", fields: Mapping[str, object]) -> None:
        self.trial = trial
        self.journal = trial.journal
        self.id = trial.number("c")
        self.fields = fields
        self.status: Status | None = None
        self.occurrence: str | None = None
        self.finished: dict[str, object] = {}
        self.sizes: dict[str, object] = {}
        self.is_lost = False
        self.is_over = False
        self.closing = threading.Lock()
        self.began = 0

    @property
    def endpoint(self) -> str | None:
        """The manifest's name of the endpoint."""
        return self.fields["endpoint"]  # type: ignore[return-value]

    @property
    def provider(self) -> Fault | None:
        """Whose fault it is when the other side fails; None for a tool of one's own."""
        return PROVIDERS.get(str(self.fields["purpose"]))

    def begin(self) -> Written:
        """Announce the call."""
        self.trial.calls[self.id] = self
        self.began = time.monotonic_ns()
        return self.journal.push(
            [self.trial.event("call.started", {"call": self.id, **self.fields})]
        )

    def respond(
        self,
        response: object,
        *,
        status: Status = "ok",
        delivered: bool | None = True,
        media: str = "text/plain",
        usage: Usage | None = None,
        cost: Cost | None = None,
        served: Served | None = None,
    ) -> None:
        """Say what came back; it is written when the block ends.

        Another model or endpoint than the one that was asked is a failure by itself (C24).

        Args:
            response: what came; bytes and strings as they are, other values as JSON.
            status: `empty` is not a failure; `failed` needs a `fail` before it.
            delivered: whether it reaches the model; None where unknown.
            media: media type of bytes and strings.
            usage: what was consumed; None is unknown.
            cost: what it cost; None is unknown, never 0.
            served: what really answered, as far as it says.
        """
        self.status = status
        served = served or Served()
        known = {name: value for name, value in msgspec.structs.asdict(served).items() if value}
        self.finished = {
            "response": as_text(response, media),
            "delivered": delivered,
            "usage": None if usage is None else msgspec.to_builtins(usage),
            "cost": None if cost is None else msgspec.to_builtins(cost),
            "served": known or None,
        }
        asked, model, endpoint = self.fields["name"], served.model, served.endpoint
        is_model = self.fields["purpose"] == "model" and isinstance(asked, str)
        if is_model and model is not None and is_other_model(str(asked), model):
            message = f"{model} answered where {asked} was asked"
            self.noted("model_fallback", message, fault=self.provider)
        if endpoint is not None and endpoint != self.endpoint:
            message = f"{endpoint} answered where {self.endpoint} was asked"
            self.noted("endpoint_fallback", message, fault=self.provider)

    def noted(
        self,
        class_: FailureClass,
        message: str,
        *,
        fault: Fault | None,
        detail_class: str | None = None,
    ) -> Written:
        """Record a failure inside a call that goes on."""
        return self.trial.fail(
            class_,
            message,
            fault=fault,
            impact="degraded",
            call=self,
            detail_class=detail_class,
        )

    @property
    def attempt(self) -> int:
        """Which try it is, from 1."""
        return self.fields["attempt"]  # type: ignore[return-value]

    def fail(
        self,
        class_: FailureClass,
        message: str,
        *,
        fault: Fault | None = None,
        detail_class: str | None = None,
        detail: str | None = None,
    ) -> Written:
        """Record why the call fails; it ends as failed when the block ends."""
        written = self.trial.fail(
            class_,
            message,
            fault=fault,
            call=self,
            detail_class=detail_class,
            detail=detail,
        )
        self.occurrence = written.occurrence
        self.status = "failed"
        return written

    def lost(
        self, message: str, *, received: int | None = None, expected: int | None = None
    ) -> Written:
        """Record that the response was lost before it reached the model (C21).

        Args:
            message: how.
            received: bytes that arrived; None where unknown.
            expected: bytes that were announced; None where unknown.
        """
        self.is_lost = True
        self.sizes = {"bytes_received": received, "bytes_expected": expected}
        return self.fail("response_lost", message, fault="harness")

    def forget(self) -> None:
        """Take the announcement back, which the ledger refused."""
        self.trial.calls.pop(self.id, None)

    def end(self, error: BaseException | None) -> Written:
        """End the call, once."""
        with self.closing:
            if self.is_over:
                return self.journal.push([])
            self.is_over = True
        self.trial.calls.pop(self.id, None)
        if error is not None and self.occurrence is None:
            self.raised(error)
        elif error is not None and self.occurrence is not None:
            self.trial.recorded = (error, self.occurrence)
        elif self.status is None:
            self.lost(LOST)
        took = (time.monotonic_ns() - self.began) // NANOSECONDS
        about = {"call": self.id, "occurrence": self.occurrence}
        if self.is_lost:
            return self.journal.push([self.trial.event("response.lost", {**about, **self.sizes})])
        data = {**self.finished, **about, "status": self.status, "duration_us": took}
        if self.status == "failed":
            data["delivered"] = False
        return self.journal.push([self.trial.event("call.finished", data)])

    def raised(self, error: BaseException) -> None:
        """Record the exception that left the block."""
        purpose = self.fields["purpose"]
        class_ = class_of_error(error, "tool_error" if purpose == "tool" else "other")
        is_stop = class_ == "cancelled"
        is_way = class_ in {"timeout", "connect"}
        written = self.fail(
            class_,
            f"{type(error).__name__}: {error}",
            fault="harness" if is_stop else self.provider if is_way else None,
            detail_class=type(error).__name__,
        )
        self.trial.recorded = (error, written.occurrence)
