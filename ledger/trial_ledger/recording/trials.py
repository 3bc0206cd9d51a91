"""A trial of a harness, as a context manager.

Invariant: whatever way the block is left, what it began is ended: calls as lost, the trial with an
outcome; an exception is a failure occurrence and goes on (C17, C21, C23).
"""

import itertools
import threading
import time
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from trial_ledger.causes import causes_of
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.dataset_structs import AGENT_FIELDS, Question, agent_view
from trial_ledger.errors import RuleError
from trial_ledger.events import Actor, FailureClass, Purpose
from trial_ledger.identifiers import TrialKey
from trial_ledger.kinds.base import Fault, Impact, Outcome
from trial_ledger.recording.blocks import (
    AGENT,
    HARNESS,
    JSON,
    Block,
    as_text,
    class_of_error,
    without_secrets,
)
from trial_ledger.recording.calls import Attempts, CallRecorder
from trial_ledger.recording.journal import Written
from trial_ledger.submission import Submission

if TYPE_CHECKING:
    from trial_ledger.recording.runs import RunRecorder

__all__ = ["CALL", "TrialRecorder", "current_trial"]

NANOSECONDS = 1_000

CALL = "trial_ledger.call"
"""Extension of an HTTP response under which a transport leaves its call."""

CURRENT: ContextVar["TrialRecorder | None"] = ContextVar("trial", default=None)


def current_trial() -> "TrialRecorder | None":
    """Return the trial of this task or thread; None outside of one."""
    return CURRENT.get()


class TrialRecorder(Block):
    """One session in one slot; made by `RunRecorder.trial`."""

    def __init__(
        self, run: "RunRecorder", key: TrialKey, asked: Question, *, given: object, seed: int | None
    ) -> None:
        self.run = run
        self.journal = run.journal
        self.key = key
        self.given: dict[str, object] = {**agent_view(asked)}
        """What the agent may see of the question, by allow-list (C2)."""
        self.input = given if given is not None else canonical_json(self.given)
        self.seed = seed
        self.outcome: Outcome | None = None
        self.reason: str | None = None
        self.calls: dict[str, CallRecorder] = {}
        self.attempts: dict[str, Attempts] = {}
        """Requests by digest that failed so far; a transport keeps them."""
        self.disclosed: dict[str, str] = {}
        """Occurrence by place outside the manifest; a transport keeps them (C24)."""
        self.recorded: tuple[BaseException, str] | None = None
        self.numbers = {"c": itertools.count(1), "f": itertools.count(1)}
        self.began = 0
        self.is_over = False
        self.closing = threading.Lock()
        self.befores: list[TrialRecorder | None] = []

    def number(self, prefix: Literal["c", "f"]) -> str:
        """Return a new id for a call or an occurrence."""
        return f"{prefix}{next(self.numbers[prefix])}"

    def skip_failures(self, count: int) -> None:
        """Leave the ids of failures alone that an earlier process has given."""
        self.numbers["f"] = itertools.count(count + 1)

    def event(self, kind: str, data: Mapping[str, object], actor: Actor = HARNESS) -> Submission:
        """Return an event of this trial."""
        return self.journal.submission(kind, data, self.key, actor)

    def begin(self) -> Written:
        """Announce the trial, with exactly what its agent is given."""
        self.began = time.monotonic_ns()
        self.run.open_trials[self.key] = self
        fields = [name for name in AGENT_FIELDS if self.given[name] is not None]
        media = JSON if isinstance(self.input, bytes) else "text/plain"
        data = {"input": as_text(self.input, media), "fields": fields, "seed": self.seed}
        return self.journal.push([self.event("trial.started", data)])

    def entered(self) -> None:
        """Be the current trial from now on."""
        self.befores.append(CURRENT.get())
        CURRENT.set(self)

    def left(self) -> None:
        """Let the one before be the current trial again."""
        CURRENT.set(self.befores.pop())

    def call(
        self,
        purpose: Purpose,
        *,
        endpoint: str | None = None,
        name: str | None = None,
        request: object = None,
        attempt: int = 1,
        retry_of: str | None = None,
        occurrence: str | None = None,
    ) -> "CallRecorder":
        """Return a call, to be entered before its request leaves.

        Args:
            purpose: `model`, `search` or `tool`; judges are called by `ledger grade`.
            endpoint: the manifest's name of the endpoint; None only for a tool.
            name: model or tool.
            request: what is sent, without credentials.
            attempt: which try, from 1.
            retry_of: id of the call that this one tries again.
            occurrence: the `endpoint_fallback` that allows another endpoint (C24).

        Raises:
            RuleError: the purpose is `judge`, which would show gold to the harness (C2).
        """
        if purpose == "judge":
            message = "a judge is not called inside a trial"
            raise RuleError(message, clause="C2", hint="ledger grade")
        fields = {
            "purpose": purpose,
            "endpoint": endpoint,
            "name": name,
            "request": as_text(request),
            "attempt": attempt,
            "retry_of": retry_of,
            "occurrence": occurrence,
        }
        return CallRecorder(self, fields)

    def answer(
        self, answer: str | None, *, citations: object = None, abstained: bool = False
    ) -> Written:
        """Record the agent's answer, once.

        Args:
            answer: its words; None for an abstention without any.
            citations: its citations, as JSON.
            abstained: whether the agent declined.

        Raises:
            RuleError: there is an answer already.
        """
        self.outcome = self.outcome or ("abstained" if abstained else "answered")
        said = {"answer": as_text(answer), "citations": as_text(citations), "abstained": abstained}
        return self.written([self.event("answer.submitted", said, AGENT)])

    def finish(self, outcome: Outcome, *, reason: str | None = None) -> None:
        """Say how the trial will have ended, as `refused`, `filtered` or `limit`."""
        self.outcome, self.reason = outcome, reason

    def fail(
        self,
        class_: FailureClass,
        message: str,
        *,
        fault: Fault | None = None,
        impact: Impact = "unknown",
        call: CallRecorder | None = None,
        detail_class: str | None = None,
        detail: str | None = None,
    ) -> Written:
        """Record a failure, show it, and record that it was shown (C23, C25).

        What is returned has its id in `occurrence`.
        """
        occurrence = self.number("f")
        message = without_secrets(message)
        data = {
            "occurrence": occurrence,
            "class": class_,
            "detail_class": detail_class or ("unnamed" if class_ == "other" else None),
            "fault": fault,
            "call": None if call is None else call.id,
            "attempt": None if call is None else call.attempt,
            "endpoint": None if call is None else call.endpoint,
            "message": as_text(message),
            "detail": None if detail is None else as_text(without_secrets(detail)),
            "impact": impact,
        }
        shown = self.surfaced(occurrence, f"{class_}: {message}")
        written = self.written([self.event("failure.occurred", data), *shown])
        written.occurrence = occurrence
        return written

    def surfaced(self, occurrence: str, line: str) -> list[Submission]:
        """Show a failure; return the event that says so, none where there is nowhere to show it."""
        seen = self.journal.show(f"{self.run.name} {self.key} {line}")
        if seen is None:
            return []
        data = {"occurrence": occurrence, "channel": "stderr", "seen": seen}
        return [self.event("failure.surfaced", data)]

    def recovered(
        self, occurrence: str, by: Literal["retry", "fallback", "repair"], call: str | None = None
    ) -> Written:
        """Record that a failure was made good."""
        data = {"occurrence": occurrence, "by": by, "call": call}
        return self.written([self.event("failure.recovered", data)])

    def forget(self) -> None:
        """Take the announcement back, which the ledger refused."""
        self.run.open_trials.pop(self.key, None)

    def end(self, error: BaseException | None) -> Written:
        """End the trial and the calls that are open in it."""
        return self.ended(error, None)

    def abandon(self) -> None:
        """End a trial whose run ends before it."""
        self.outcome, self.reason = "cancelled", "not_ended"
        self.ended(None, "the run ended before its trial")

    def ended(self, error: BaseException | None, left: str | None) -> Written:
        """End the trial, once."""
        with self.closing:
            if self.is_over:
                return self.journal.push([])
            self.is_over = True
        self.run.open_trials.pop(self.key, None)
        for call in list(self.calls.values()):
            call.end(None)
        if error is not None:
            self.failed(error)
        elif left is not None:
            self.fail("cancelled", left, fault="harness", impact="trial_failed")
        elif self.outcome is None:
            self.outcome, self.reason = "errored", "no_answer"
            message = "the trial ended without an answer"
            self.fail("agent_error", message, impact="trial_failed")
        took = (time.monotonic_ns() - self.began) // NANOSECONDS
        data = {"outcome": self.outcome, "reason": self.reason, "duration_us": took}
        return self.journal.push([self.event("trial.finished", data)])

    def behind(self, error: BaseException) -> str | None:
        """Return the recorded occurrence that an exception comes from; None where there is none."""
        for cause in causes_of(error):
            if self.recorded is not None and self.recorded[0] is cause:
                return self.recorded[1]
            call = getattr(getattr(cause, "response", None), "extensions", {}).get(CALL)
            if isinstance(call, CallRecorder) and call.trial is self and call.occurrence:
                return call.occurrence
        return None

    def failed(self, error: BaseException) -> None:
        """Record what an exception did to the trial; one that left a call is recorded already."""
        is_stop = not isinstance(error, Exception)
        self.outcome = "cancelled" if is_stop else "errored"
        self.reason = "interrupted" if is_stop else "exception"
        occurrence = self.behind(error)
        if occurrence is not None:
            data = {"occurrence": occurrence, "impact": "trial_failed"}
            self.journal.push([self.event("failure.assessed", data)])
            return
        class_ = class_of_error(error, "agent_error")
        self.fail(
            "agent_timeout" if class_ == "timeout" else class_,
            f"{type(error).__name__}: {error}",
            fault="harness" if is_stop else None,
            impact="trial_failed",
            detail_class=type(error).__name__,
            detail="".join(traceback.format_exception(error)),
        )
