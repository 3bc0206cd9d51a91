"""A log whose events bear the times that a test gives them, and what a trace says of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ledger_cases import CONFIGURATION, HARNESS
from projection_cases import Log
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import Submission
from trial_projections.trace import Trace, trace
from trial_projections.trace_effect import Effect
from trial_projections.trace_fate import Fate
from trial_projections.trace_lookup import find_target
from trial_projections.trace_steps import TraceStep

RETRY = {"attempts": 3, "on": ["timeout", "rate_limited"]}
"""Two more tries after some failures, as the manifest of the cases says."""
DAY = "2026-10-01T"


class Story(Log):
    """A run told with times, as `12:00:00.000000`, with another date before it, or None."""

    def __init__(self, folder: Path, **changes: Any) -> None:  # noqa: ANN401 - of `Log`
        manifest = {"retry": RETRY, **changes.pop("manifest", {})}
        super().__init__(folder, manifest=manifest, **changes)

    def tell(
        self,
        second: str | None,
        kind: str,
        question: str | None = "q1",
        *,
        session: str = "s1",
        **data: object,
    ) -> int:
        """Append one event of the run, or of its trial of a question; return its place."""
        key = None
        if question is not None:
            key = TrialKey(
                question=question, configuration=CONFIGURATION, repetition=1, session=session
            )
        acknowledgement = self.ledger.append(
            Submission(
                kind=kind,
                run=self.run,
                trial=key,
                data={name.rstrip("_"): value for name, value in data.items()},
                at=None if second is None else f"{second if 'T' in second else DAY + second}Z",
                at_unknown=second is None,
                actor=HARNESS,
            )
        )
        return acknowledgement.seq

    def start(self, question: str = "q1", second: str | None = "12:00:00.000000") -> int:
        """Begin a trial."""
        return self.tell(second, "trial.started", question, input="which?")

    def call(self, second: str | None, call: str, **data: object) -> int:
        """Begin a search."""
        known = {"call": call, "purpose": "search", "endpoint": "search", **data}
        return self.tell(second, "call.started", **known)  # type: ignore[arg-type]

    def fail(self, second: str | None, name: str, call: str | None, **data: object) -> int:
        """Let a call fail: the failure, then the end of the call."""
        known = {"occurrence": name, "class_": "timeout", "call": call, **data}
        seq = self.tell(second, "failure.occurred", **known)  # type: ignore[arg-type]
        if call is not None:
            self.tell(second, "call.finished", call=call, status="failed", occurrence=name)
        return seq

    def end(self, second: str | None, outcome: str, question: str = "q1") -> int:
        """End a trial."""
        return self.tell(second, "trial.finished", question, outcome=outcome)

    def trace(self, name: str, *, run: str | None = None, as_of: int | None = None) -> Trace:
        """Return the trace of what a name means."""
        with self.model(as_of=as_of) as model:
            return trace(model, find_target(model, name, run=run))


def fates(found: Trace) -> dict[str, Fate]:
    """Return what became of each occurrence, by id."""
    return {fate.occurrence: fate for fate in found.fates}


def effects(found: Trace) -> dict[str, Effect]:
    """Return the effect on each metric, by name."""
    return {effect.metric: effect for effect in found.effects}


def steps(found: Trace, kind: str) -> Iterator[TraceStep]:
    """Yield the steps of a kind."""
    return (step for step in found.steps if step.kind == kind)
