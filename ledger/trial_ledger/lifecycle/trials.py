"""Guards of trials, calls, failures and answers (C3, C16, C21 to C24).

Invariant: nothing is refused that merely went wrong: a failure occurrence is always accepted.
"""

from trial_ledger import events
from trial_ledger.documents.manifest_structs import endpoint_policy
from trial_ledger.lifecycle.scope import Scope, require, require_human, require_words
from trial_ledger.lifecycle.states import CallState, OccurrenceState, RunState, TrialState
from trial_ledger.strict_json import SHOWN_CHARACTERS

__all__ = ["check_call", "check_failure", "check_trial"]


def started_trial(scope: Scope) -> tuple[RunState, TrialState]:
    """Return the run and trial of an event that needs a started trial.

    Raises:
        RuleError: no trial named, or it was never started.
    """
    run, trial = scope.run, scope.trial
    require(trial is not None, f"{scope.kind} belongs to a trial, none is named", field="trial")
    assert run is not None, "a trial lies in a run"
    assert trial is not None, "required above"
    require(
        trial.started,
        f"trial {scope.trial_key} of run {run.name} was never started",
        field="trial",
        hint="append its trial.started first",
    )
    return run, trial


def open_trial(scope: Scope) -> tuple[RunState, TrialState]:
    """Return the run and trial of an event that needs an open trial in an open run.

    Raises:
        RuleError: the trial ended or the run is closed.
    """
    run, trial = started_trial(scope)
    require_own_trial(run)
    require(
        trial.outcome is None,
        f"trial {scope.trial_key} already finished as {trial.outcome}",
        field="trial",
    )
    require(
        not run.is_closed,
        f"run {run.name} is closed",
        hint="append run.resumed first",
    )
    return run, trial


def require_own_trial(run: RunState) -> None:
    """Refuse what an agent or a person does to a trial through a derived run.

    Raises:
        RuleError: the run is derived.
    """
    origin = run.opened.derived_from
    require(
        origin is None,
        f"{run.name} only judges the trials of {origin.run if origin else ''}",
        clause="C14",
        hint="append it to the parent run",
    )


def check_trial(scope: Scope, data: events.AnyData) -> None:
    """Refuse an event of a trial's own life that may not follow.

    Raises:
        RuleError: with the clause.
    """
    match data:
        case events.TrialStarted():
            check_started(scope, data)
        case events.AnswerSubmitted():
            _, trial = open_trial(scope)
            require(not trial.answered, f"trial {scope.trial_key} already has an answer")
            require(
                data.answer is not None or data.abstained,
                "an answer without text must be an abstention",
                field="data.answer",
            )
        case events.TrialFinished():
            run, trial = open_trial(scope)
            calls = trial.open_calls()
            require(not calls, f"calls still open: {', '.join(calls[:5])}", field="trial")
            require(
                data.outcome != "unknown" or run.is_imported,
                "outcome unknown is for imported runs only",
                field="data.outcome",
            )
        case events.TrialInvalidated() | events.TrialReinstated():
            check_trial_standing(scope, data)
        case events.QueryInspected():
            run, _ = started_trial(scope)
            require_own_trial(run)
            require_words(scope, "C22")
        case _:
            check_retrieval_miss(scope)


def check_started(scope: Scope, data: events.TrialStarted) -> None:
    """Refuse a trial that is not planned, not new, or whose input shows gold."""
    run, trial, key = scope.run, scope.trial, scope.trial_key
    require(key is not None, "trial.started names no trial", field="trial", clause="C16")
    assert run is not None, "the writer found the run"
    assert trial is not None, "a key has a state"
    assert key is not None, "required above"
    require_own_trial(run)
    require(not run.is_closed, f"run {run.name} is closed", hint="append run.resumed first")
    require(
        not trial.started,
        f"trial {key} of run {run.name} exists",
        clause="C16",
        field="trial",
        hint="another try at the slot is another session",
    )
    require(
        run.is_planned(key),
        f"slot {key.question}#{key.repetition} is not planned in run {run.name}",
        clause="C16",
        field="trial",
        hint=f"planned are {len(run.slots.questions)} questions x {run.slots.repetitions}",
    )
    if run.is_live:
        require(
            data.input is not None, "a live trial shows its input", clause="C17", field="data.input"
        )
        require(
            scope.leak is None,
            f"the input of trial {key} shows gold: {(scope.leak or '')[:SHOWN_CHARACTERS]}",
            clause="C3",
            field="data.input",
            hint="send the agent only id, question, as_of and context",
        )


def check_trial_standing(
    scope: Scope, data: events.TrialInvalidated | events.TrialReinstated
) -> None:
    """Refuse to invalidate twice, to reinstate what stands, or to do either without a person."""
    run, trial = started_trial(scope)
    require_own_trial(run)
    if not (scope.actor.role == "ledger" and isinstance(data, events.TrialInvalidated)):
        require_human(scope, "C12")
    require_words(scope, "C12")
    wanted = isinstance(data, events.TrialInvalidated)
    require(
        trial.invalidated is not wanted,
        f"trial {scope.trial_key} is {'already' if wanted else 'not'} invalidated",
        clause="C12",
    )


def check_retrieval_miss(scope: Scope) -> None:
    """Refuse a retrieval miss before the queries were inspected, or where a response was lost."""
    run, trial = started_trial(scope)
    require_own_trial(run)
    require_words(scope, "C22")
    require_words(scope, "C22", "missing")
    require(
        trial.inspected == "adequate",
        f"the queries of trial {scope.trial_key} were"
        f" {'found inadequate' if trial.inspected else 'not inspected'}",
        clause="C22",
        hint="append query.inspected with verdict adequate first",
    )
    require(
        not trial.lost_response,
        f"a response was lost in trial {scope.trial_key}: that is a harness fault, not a miss",
        clause="C22",
        hint=f"ledger trace {run.name}/{scope.trial_key}",
    )


def check_call(scope: Scope, data: events.AnyData) -> None:
    """Refuse an event of a call that may not follow.

    Raises:
        RuleError: with the clause.
    """
    if isinstance(data, events.CallStarted):
        check_call_started(scope, data)
        return
    assert isinstance(data, events.CallFinished | events.ResponseLost), "kinds of a call"
    _, trial = started_trial(scope)
    call = trial.calls.get(data.call)
    require(
        call is not None,
        f"call {data.call} was never started",
        field="data.call",
        hint="append its call.started before the request leaves",
    )
    assert call is not None, "required above"
    if isinstance(data, events.CallFinished):
        check_call_finished(trial, call, data)
    else:
        check_response_lost(trial, call, data)


def check_call_started(scope: Scope, data: events.CallStarted) -> None:
    """Refuse a call of a used id, outside the endpoint policy, or of an ended trial."""
    run, trial = started_trial(scope)
    if data.purpose == "judge":
        pass_on = run
    else:
        pass_on, _ = open_trial(scope)
    require(data.call not in trial.calls, f"call {data.call} exists", field="data.call")
    require(
        data.retry_of is None or data.retry_of in trial.calls,
        f"call {data.retry_of} to be retried was never started",
        field="data.retry_of",
    )
    if not pass_on.is_imported:
        check_endpoint(pass_on, trial, data)


def check_endpoint(run: RunState, trial: TrialState, data: events.CallStarted) -> None:
    """Refuse a call outside the frozen endpoint policy that no occurrence discloses (C24)."""
    if data.endpoint is None:
        require(
            data.purpose == "tool",
            f"a {data.purpose} call names no endpoint",
            clause="C24",
            field="data.endpoint",
        )
        return
    allowed = endpoint_policy(run.manifest)
    if data.purpose == "judge":
        judge = run.rubric.judge
        named = None if judge is None else judge.endpoint
        allowed = frozenset() if named is None else frozenset({named})
    if data.endpoint in allowed:
        return
    occurrence = trial.occurrences.get(data.occurrence or "")
    require(
        occurrence is not None and occurrence.class_ == "endpoint_fallback",
        f"endpoint {data.endpoint} is outside the policy of {run.configuration}:"
        f" {', '.join(sorted(allowed)) or 'no endpoint'}",
        clause="C24",
        field="data.endpoint",
        hint="record a failure.occurred of class endpoint_fallback and name it in `occurrence`",
    )


def check_call_finished(trial: TrialState, call: CallState, data: events.CallFinished) -> None:
    """Refuse to end a call twice, or as failed without its failure."""
    require(call.is_open, f"call {data.call} already ended", field="data.call")
    if data.status == "failed":
        require(
            data.occurrence is not None,
            "a failed call names its failure",
            clause="C23",
            field="data.occurrence",
            hint="append failure.occurred first",
        )
    require_occurrence(trial, data.occurrence)


def check_response_lost(trial: TrialState, call: CallState, data: events.ResponseLost) -> None:
    """Refuse a lost response whose failure is not a harness fault (C21)."""
    require(not call.is_lost, f"the response of call {data.call} is already lost")
    occurrence = require_occurrence(trial, data.occurrence)
    assert occurrence is not None, "the field is required"
    require(
        occurrence.class_ == "response_lost" and occurrence.fault == "harness",
        f"a lost response is a harness fault of class response_lost; {data.occurrence} is"
        f" {occurrence.class_}, fault {occurrence.fault}",
        clause="C21",
        field="data.occurrence",
    )


def require_occurrence(trial: TrialState, name: str | None) -> OccurrenceState | None:
    """Return a named occurrence; None where none is named.

    Raises:
        RuleError: it was never recorded.
    """
    if name is None:
        return None
    occurrence = trial.occurrences.get(name)
    require(
        occurrence is not None,
        f"occurrence {name} was never recorded",
        clause="C23",
        field="data.occurrence",
        hint="append failure.occurred first",
    )
    return occurrence


def check_failure(scope: Scope, data: events.AnyData) -> None:
    """Refuse a reused occurrence id, or news of an occurrence that was never recorded.

    Raises:
        RuleError: with the clause.
    """
    touched = scope.touched
    if isinstance(data, events.FailureOccurred):
        require(
            data.occurrence not in touched.occurrences,
            f"occurrence {data.occurrence} exists",
            field="data.occurrence",
            hint="a repeated failure is another occurrence",
        )
        return
    assert isinstance(
        data, events.FailureRecovered | events.FailureAssessed | events.FailureSurfaced
    ), "kinds of a failure"
    occurrence = require_occurrence(touched, data.occurrence)
    assert occurrence is not None, "the field is required"
    if isinstance(data, events.FailureRecovered):
        require(
            not occurrence.recovered,
            f"occurrence {data.occurrence} was already recovered",
            field="data.occurrence",
        )
