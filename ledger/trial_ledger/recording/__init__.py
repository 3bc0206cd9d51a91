"""Recording: what a harness in Python tells the ledger while it works.

Invariant: an effect is announced durably before it happens; what was not ended is closed as lost;
an exception is a failure event and is raised again; no trial is lost because of the ledger.

In short::

    with Ledger.open(path, write=True) as ledger:
        with ledger.run("local", name="local-01") as run:          # run.opened … run.closed
            with run.trial("q001", 1) as t:                        # trial.started … trial.finished
                t.given                                            # what the agent may see (C2)
                with t.call("search", endpoint="search", name="web", request="…") as c:
                    c.respond("…", usage=None, cost=None)          # call.started … call.finished
                failure = t.fail("tool_error", "no such tool")  # failure.occurred, .surfaced
                t.recovered(failure.occurrence, "retry")
                t.answer("Samarkand", citations=["https://…"])     # answer.submitted

`Ledger.resume(name)` goes on with a run that was cut off: it ends what was left open, and its
`remaining()` are the trials still to be entered.

The same objects work under `async with`, on asyncio and on trio: there what writes by itself
(`answer`, `fail`, `recovered`) is awaited; unawaited it is written with the next event of its
trial, and at its end at the latest. `current_trial()` is the trial of this task or thread, by a
context variable; a new thread is given its trial as an argument.

`trial_ledger.recording.httpx_transport` has transports for httpx that record every request of the
current trial by themselves, retries of a client each.
"""

from trial_ledger.recording.calls import CallRecorder
from trial_ledger.recording.journal import Journal, Written
from trial_ledger.recording.resuming import ResumedRun
from trial_ledger.recording.runs import RunRecorder, recorded_run
from trial_ledger.recording.trials import TrialRecorder, current_trial

__all__ = [
    "CallRecorder",
    "Journal",
    "ResumedRun",
    "RunRecorder",
    "TrialRecorder",
    "Written",
    "current_trial",
    "recorded_run",
]
