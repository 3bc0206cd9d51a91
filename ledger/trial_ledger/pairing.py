"""Which trials and calls are open, as the log says it.

Invariant: every call and every trial ends, in a run that was closed as complete; elsewhere open
ones are a state, not a fault.
"""

from trial_ledger import events
from trial_ledger.identifiers import TrialKey
from trial_ledger.view import Stored

__all__ = ["Pairing"]


PAIRED = frozenset(
    {"run.closed", "trial.started", "trial.finished", "call.started", "call.finished"}
    | {"response.lost"}
)
"""Kinds that open or end something."""

TrialName = tuple[str, TrialKey]
"""A run and a trial of it."""


class Pairing:
    """Which trials and calls are open."""

    def __init__(self) -> None:
        self.trials: dict[TrialName, bool] = {}
        self.calls: dict[TrialName, set[str]] = {}

    def take(self, stored: Stored) -> list[str]:
        """Take one event into account; return what no guard would have let pass."""
        event = stored.event
        if event.run is None or event.kind not in PAIRED:
            return []
        if isinstance(event.data, events.RunClosed) and event.data.status == "complete":
            return [
                f"calls run {run} complete, but {what} is open"
                for run, what in self.still_open()
                if run == event.run
            ]
        if event.trial is None:
            return []
        return self.take_trial((event.run, event.trial), event.data)

    def take_trial(self, key: TrialName, data: events.AnyData) -> list[str]:
        """Take one event of a trial into account."""
        match data:
            case events.TrialStarted():
                self.trials[key] = True
            case events.TrialFinished():
                if not self.trials.pop(key, False):
                    return ["ends a trial that is not open"]
            case events.CallStarted(call=call):
                self.calls.setdefault(key, set()).add(call)
            case events.CallFinished(call=call):
                if call not in self.calls.get(key, ()):
                    return [f"ends call {call}, which is not open"]
                self.end(key, call)
            case events.ResponseLost(call=call):
                self.end(key, call)
            case _:
                pass  # The end of a run that bears a trial: its form is another check's.
        return []

    def end(self, key: TrialName, call: str) -> None:
        """Forget an open call, and the trial's entry with its last one."""
        calls = self.calls.get(key, set())
        calls.discard(call)
        if not calls:
            self.calls.pop(key, None)

    def still_open(self) -> list[tuple[str, str]]:
        """Return (run, what) of everything open, in order."""
        found = [(run, f"trial {trial} of run {run}") for run, trial in self.trials]
        found += [
            (run, f"call {call} of trial {trial} of run {run}")
            for (run, trial), calls in self.calls.items()
            for call in calls
        ]
        return sorted(found)
