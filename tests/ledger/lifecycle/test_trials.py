"""Guards of trials, calls, failures and answers: each refuses what it must and nothing else."""

import pytest

from guard_cases import (
    ANSWER,
    CALL,
    CALLED,
    END,
    ENTRIES,
    JUDGE_CALL,
    LOST,
    Q1,
    START,
    Guard,
    accepting,
    assert_accepted,
    assert_refused,
    by,
    changed,
    of,
    problems,
    run_event,
)
from ledger_cases import HARNESS, PERSON, opened
from trial_ledger.book import Ledger
from trial_ledger.events import Actor

LEDGER = Actor(role="ledger", name="leak guard")
CLOSED = run_event("run.closed", status="failed", reason="power")
INSPECTED = Q1.event("query.inspected", verdict="adequate", reason="names the town")
MISS = Q1.event("retrieval_miss.declared", missing="its page", reason="not in the results")
GONE = Q1.event("response.lost", call="c1", occurrence="f1")
INVALID = by(PERSON, Q1.event("trial.invalidated", reason="wrong page"))
VALID = by(PERSON, Q1.event("trial.reinstated", reason="right page"))
FALLBACK = Q1.failure("f1", "endpoint_fallback", "harness")
TIMEOUT = Q1.failure("f1", "timeout", "search_provider", call="c1")
RECOVERED = Q1.event("failure.recovered", occurrence="f1", by="retry")
OTHER = changed(CALL, endpoint="mirror")
INPUT = "data.input"

LIVE = ("live",)
NOT_IMPORTED = ("live", "appended")

TRIALS: dict[str, Guard] = {
    "start without a trial": Guard(
        of(None, START), START, "trial.started names no trial", clause="C16", field="trial"
    ),
    "start twice": Guard(
        START, of("q2", START), "trial q1#1@s1 of run fast-01 exists", (START,), "C16", "trial"
    ),
    "start of an unknown question": Guard(
        of("q99", START), START, "slot q99#1 is not planned", clause="C16", field="trial"
    ),
    "start in a closed run": Guard(START, None, "run fast-01 is closed", (CLOSED,)),
    "live start without input": Guard(
        changed(START, input=None), START, "a live trial shows its input",
        clause="C17", field=INPUT, entries=LIVE,
    ),
    "live start that shows gold": Guard(
        changed(START, input="Is it Samarkand?"), changed(START, input="Is it Bukhara?"),
        "the input of trial q1#1@s1 shows gold: samarkand", clause="C3", field=INPUT, entries=LIVE,
    ),
    "live start that shows the canary": Guard(
        changed(START, input="canary 5bd2d8a6"), changed(START, input="canary"),
        "shows gold: canary 5bd2d8a6", clause="C3", field=INPUT, entries=LIVE,
    ),
    "answer without a trial": Guard(
        of(None, ANSWER), ANSWER, "answer.submitted belongs to a trial, none is named", (START,),
        field="trial",
    ),
    "answer of a trial never started": Guard(
        of("q2", ANSWER), ANSWER, "trial q2#1@s1 of run fast-01 was never started", (START,),
        field="trial",
    ),
    "answer twice": Guard(ANSWER, END, "already has an answer", (START, ANSWER)),
    "answer without words": Guard(
        Q1.event("answer.submitted"), Q1.event("answer.submitted", abstained=True),
        "an answer without text must be an abstention", (START,), field="data.answer",
    ),
    "answer after the end": Guard(
        ANSWER, None, "trial q1#1@s1 already finished as answered", (START, END), field="trial"
    ),
    "answer in a closed run": Guard(ANSWER, None, "run fast-01 is closed", (START, CLOSED)),
    "end twice": Guard(END, None, "already finished as answered", (START, END), field="trial"),
    "end with an open call": Guard(
        END, CALLED, "calls still open: c1", (START, CALL), field="trial"
    ),
    "unknown end": Guard(
        changed(END, outcome="unknown"), END, "outcome unknown is for imported runs only",
        (START,), field="data.outcome", entries=NOT_IMPORTED,
    ),
    "invalidation by a program": Guard(
        by(HARNESS, INVALID), by(LEDGER, INVALID),
        "trial.invalidated is the act of a named person, actor is harness cases",
        (START,), "C12", "actor",
    ),
    "reinstatement by the ledger": Guard(
        by(LEDGER, VALID), VALID, "trial.reinstated is the act of a named person",
        (START, INVALID), "C12", "actor",
    ),
    "invalidation by nobody": Guard(
        by(Actor(role="human"), INVALID), INVALID, "actor is human without a name", (START,),
        "C12", "actor",
    ),
    "invalidation without a reason": Guard(
        changed(INVALID, reason=" \n"), INVALID, "trial.invalidated needs a reason in words",
        (START,), "C12", "data.reason",
    ),
    "invalidation twice": Guard(
        INVALID, VALID, "trial q1#1@s1 is already invalidated", (START, INVALID), "C12"
    ),
    "reinstatement of what stands": Guard(
        VALID, INVALID, "trial q1#1@s1 is not invalidated", (START,), "C12"
    ),
    "inspection without a reason": Guard(
        changed(INSPECTED, reason=""), INSPECTED, "query.inspected needs a reason in words",
        (START,), "C22", "data.reason",
    ),
    "miss before inspection": Guard(
        MISS, INSPECTED, "the queries of trial q1#1@s1 were not inspected", (START,), "C22"
    ),
    "miss of inadequate queries": Guard(
        MISS, INSPECTED, "were found inadequate",
        (START, INSPECTED, changed(INSPECTED, verdict="inadequate")), "C22",
    ),
    "miss without what": Guard(
        changed(MISS, missing=""), MISS, "retrieval_miss.declared needs a missing in words",
        (START, INSPECTED), "C22", "data.missing",
    ),
    "miss without why": Guard(
        changed(MISS, reason=""), MISS, "retrieval_miss.declared needs a reason in words",
        (START, INSPECTED), "C22", "data.reason",
    ),
    "miss where a response was lost": Guard(
        MISS, END, "a response was lost in trial q1#1@s1: that is a harness fault, not a miss",
        (START, CALL, LOST, GONE, INSPECTED), "C22",
    ),
}  # fmt: skip

CALLS: dict[str, Guard] = {
    "call of a used id": Guard(
        CALL, changed(CALL, call="c2"), "call c1 exists", (START, CALL), field="data.call"
    ),
    "retry of nothing": Guard(
        changed(CALL, call="c2", retry_of="c0"), changed(CALL, call="c2", retry_of="c1"),
        "call c0 to be retried was never started", (START, CALL), field="data.retry_of",
    ),
    "call after the end": Guard(
        CALL, JUDGE_CALL, "already finished as answered", (START, END), field="trial"
    ),
    "call in a closed run": Guard(
        CALL, JUDGE_CALL, "run fast-01 is closed", (START, CLOSED)
    ),
    "search without an endpoint": Guard(
        changed(CALL, endpoint=None), changed(CALL, endpoint=None, purpose="tool"),
        "a search call names no endpoint", (START,), "C24", "data.endpoint", NOT_IMPORTED,
    ),
    "endpoint outside the policy": Guard(
        OTHER, CALL, "endpoint mirror is outside the policy of local: model, search",
        (START,), "C24", "data.endpoint", NOT_IMPORTED,
    ),
    "undisclosed fallback": Guard(
        changed(OTHER, occurrence="f2"), changed(OTHER, occurrence="f1"),
        "endpoint mirror is outside", (START, FALLBACK), "C24", "data.endpoint", NOT_IMPORTED,
    ),
    "fallback disclosed as something else": Guard(
        changed(OTHER, call="c2", occurrence="f1"), changed(CALL, call="c2", occurrence="f1"),
        "endpoint mirror is outside", (START, CALL, TIMEOUT), "C24", "data.endpoint", NOT_IMPORTED,
    ),
    "judge at an endpoint that is not the rubric's": Guard(
        changed(JUDGE_CALL, endpoint="model"), JUDGE_CALL,
        "endpoint model is outside the policy of local: judge",
        (START,), "C24", "data.endpoint", NOT_IMPORTED,
    ),
    "end of a call never started": Guard(
        CALLED, CALL, "call c1 was never started", (START,), field="data.call"
    ),
    "end of a call twice": Guard(
        CALLED, END, "call c1 already ended", (START, CALL, CALLED), field="data.call"
    ),
    "failed call without its failure": Guard(
        changed(CALLED, status="failed"), changed(CALLED, status="failed", occurrence="f1"),
        "a failed call names its failure", (START, CALL, TIMEOUT), "C23", "data.occurrence",
    ),
    "call that names no failure there is": Guard(
        changed(CALLED, occurrence="f2"), changed(CALLED, occurrence="f1"),
        "occurrence f2 was never recorded", (START, CALL, TIMEOUT), "C23", "data.occurrence",
    ),
    "loss of a response of no call": Guard(
        GONE, CALL, "call c1 was never started", (START, LOST), field="data.call"
    ),
    "loss twice": Guard(
        GONE, END, "the response of call c1 is already lost", (START, CALL, LOST, GONE)
    ),
    "loss without its failure": Guard(
        GONE, LOST, "occurrence f1 was never recorded", (START, CALL), "C23", "data.occurrence"
    ),
    "loss by somebody else's fault": Guard(
        GONE, CALLED, "a lost response is a harness fault of class response_lost; f1 is",
        (START, CALL, changed(LOST, fault="search_provider")), "C21", "data.occurrence",
    ),
    "loss of another class": Guard(
        GONE, CALLED, "f1 is timeout, fault harness",
        (START, CALL, changed(TIMEOUT, fault="harness")), "C21", "data.occurrence",
    ),
}  # fmt: skip

FAILURES: dict[str, Guard] = {
    "failure of a used name": Guard(
        TIMEOUT, changed(TIMEOUT, occurrence="f2"), "occurrence f1 exists",
        (START, TIMEOUT), field="data.occurrence",
    ),
    "recovery of nothing": Guard(
        RECOVERED, TIMEOUT, "occurrence f1 was never recorded", (START,), "C23", "data.occurrence"
    ),
    "recovery twice": Guard(
        RECOVERED, END, "occurrence f1 was already recovered",
        (START, TIMEOUT, RECOVERED), field="data.occurrence",
    ),
    "assessment of nothing": Guard(
        Q1.event("failure.assessed", occurrence="f2", impact="none"),
        Q1.event("failure.assessed", occurrence="f1", impact="none"),
        "occurrence f2 was never recorded", (START, TIMEOUT), "C23", "data.occurrence",
    ),
    "surfacing of nothing": Guard(
        Q1.surfaced("f2"), Q1.surfaced("f1"), "occurrence f2 was never recorded",
        (START, TIMEOUT), "C23", "data.occurrence",
    ),
    "failure of no run": Guard(
        of(None, TIMEOUT, run=None), TIMEOUT, "failure.occurred names no run", field="run"
    ),
}  # fmt: skip

GUARDS = {**TRIALS, **CALLS, **FAILURES}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", GUARDS)
def test_what_a_guard_refuses(name: str, entry: str, frozen: Ledger) -> None:
    """The event is refused with its clause and field; where order is not witnessed, accepted."""
    assert_refused(frozen, GUARDS[name], entry)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", accepting(GUARDS))
def test_what_a_guard_lets_pass(name: str, entry: str, frozen: Ledger) -> None:
    """The nearest neighbour of what is refused is accepted in every kind of run."""
    assert_accepted(frozen, GUARDS[name], entry)


@pytest.mark.parametrize(
    "events",
    [
        (TIMEOUT,),
        (START, END, TIMEOUT),
        (START, CLOSED, TIMEOUT),
        (of(None, TIMEOUT), of(None, RECOVERED)),
    ],
)
def test_c23_a_failure_is_never_refused(events: tuple[object, ...], frozen: Ledger) -> None:
    """A failure is kept whenever it happens: before, after, outside of any trial."""
    assert problems(frozen, [opened(), *events]) == []  # type: ignore[list-item]


def test_a_lost_response_may_follow_the_end_of_its_call(frozen: Ledger) -> None:
    """A response that arrived and never reached the model is lost after its call ended."""
    assert problems(frozen, [opened(), START, CALL, CALLED, LOST, GONE]) == []


def test_a_resumed_run_goes_on(frozen: Ledger) -> None:
    """After run.resumed trials start and answers come again."""
    resumed = run_event("run.resumed")
    assert problems(frozen, [opened(), START, CLOSED, resumed, ANSWER, END]) == []
    assert problems(frozen, [opened(), CLOSED, resumed, START]) == []
