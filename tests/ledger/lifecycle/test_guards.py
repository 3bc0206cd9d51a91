"""Guards of a run's own life, and of what belongs to a run or to the ledger as a whole."""

import pytest

from guard_cases import (
    CALL,
    CALLED,
    END,
    ENTRIES,
    LOST,
    Q1,
    Q2,
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
from ledger_cases import HARNESS, RUN, opened, started, trial
from trial_ledger.book import Ledger
from trial_ledger.identifiers import TrialKey
from trial_ledger.lifecycle.guards import check
from trial_ledger.lifecycle.scope import Scope
from trial_ledger.submission import Submission

COMPLETE = run_event("run.closed", status="complete")
FAILED = run_event("run.closed", status="failed", reason="power")
RESUMED = run_event("run.resumed")
INVALID = run_event("run.invalidated", reason="wrong dataset")
VALID = run_event("run.reinstated", reason="right dataset")
RELATED = run_event("run.related", run="r2", how="same source")
OTHER = opened("r2")

RUNS: dict[str, Guard] = {
    "resumption of an open run": Guard(RESUMED, COMPLETE, "run fast-01 is not closed"),
    "closing twice": Guard(COMPLETE, RESUMED, "run fast-01 is already closed", (COMPLETE,)),
    "an interruption without a reason": Guard(
        run_event("run.closed", status="interrupted"), FAILED,
        "a run closed as interrupted says why", field="data.reason",
    ),
    "completeness with an open trial": Guard(
        COMPLETE, FAILED, "run fast-01 is not complete: 1 open, as trial q1#1@s1",
        (START,), field="data.status",
    ),
    "completeness with an open call": Guard(
        COMPLETE, FAILED, "2 open, as trial q1#1@s1", (START, CALL), field="data.status"
    ),
    "completeness with an open call of a judge": Guard(
        COMPLETE, FAILED, "1 open, as call c9 of trial q1#1@s1",
        (START, END, Q1.call("c9", "judge")), field="data.status",
    ),
    "a closing of one trial": Guard(
        of("q1", COMPLETE), END, "run.closed belongs to the run as a whole, trial q1#1@s1 is named",
        (START,), field="trial",
    ),
    "an invalidation by a program": Guard(
        by(HARNESS, INVALID), INVALID, "run.invalidated is the act of a named person",
        clause="C12", field="actor",
    ),
    "an invalidation without a reason": Guard(
        changed(INVALID, reason="  "), INVALID, "run.invalidated needs a reason in words",
        clause="C12", field="data.reason",
    ),
    "an invalidation twice": Guard(
        INVALID, VALID, "run fast-01 is already invalidated", (INVALID,), "C12"
    ),
    "a reinstatement of what stands": Guard(
        VALID, INVALID, "run fast-01 is not invalidated", (INVALID, VALID), "C12"
    ),
    "a successor that does not exist": Guard(
        changed(INVALID, superseded_by="r3"), changed(INVALID, superseded_by="r2"),
        "run r3 was never opened", (OTHER,), "C12",
    ),
    "a run that supersedes itself": Guard(
        changed(INVALID, superseded_by=RUN), changed(INVALID, superseded_by="r2"),
        "run fast-01 supersedes itself", (OTHER,), "C12", "data.superseded_by",
    ),
    "a relation to a run that does not exist": Guard(
        changed(RELATED, run="r3"), RELATED, "run r3 was never opened", (OTHER,), "C12"
    ),
    "a run without a name": Guard(
        of(None, OTHER, run=None), OTHER, "run.opened names no run", field="run"
    ),
    "a run of a trial": Guard(
        of("q1", OTHER, run="r2"), OTHER, "run.opened belongs to no trial", field="trial"
    ),
    "a run twice": Guard(opened(), OTHER, "run fast-01 exists", clause="C12", field="run"),
    "a correction of nothing": Guard(
        opened("r2", supersedes="r3"), opened("r2", supersedes=RUN), "run r3 was never opened",
        clause="C12",
    ),
    "a derivation of nothing": Guard(
        opened("r2", derived_from={"run": "r3", "link": 1}),
        opened("r2", derived_from={"run": RUN, "link": 1}), "run r3 was never opened", clause="C12",
    ),
    "a derivation of a derived run": Guard(
        opened("r3", derived_from={"run": "r2", "link": 1}),
        opened("r3", derived_from={"run": RUN, "link": 1}), "run r2 is derived itself",
        (opened("r2", derived_from={"run": RUN, "link": 1}),), "C14", "data.derived_from",
    ),
    "a derivation of more than there is": Guard(
        opened("r2", derived_from={"run": RUN, "link": 3}),
        opened("r2", derived_from={"run": RUN, "link": 2}),
        "link 3 is not one of the 2 of run fast-01", (START,), "C14", "data.derived_from.link",
    ),
    "a derivation of no link": Guard(
        opened("r2", derived_from={"run": RUN, "link": 0}),
        opened("r2", derived_from={"run": RUN, "link": 1}),
        "link 0 is not one of the 1 of run fast-01", (), "C14", "data.derived_from.link",
    ),
    "a trial of another configuration": Guard(
        Submission(
            kind="trial.started", run=RUN, data=START.data,
            trial=TrialKey(question="q1", configuration="remote", repetition=1),
        ),
        START, "trial q1#1@s1 is of configuration remote, run fast-01 of local",
        clause="C16", field="trial.configuration",
    ),
    "a trial of no run": Guard(
        of("q1", START, run=None), START, "trial.started names no run", field="run"
    ),
    "a note on a trial of no run": Guard(
        Submission(kind="note.added", trial=trial("q1"), data={"about": "x", "text": "y"}),
        Submission(kind="note.added", data={"about": "x", "text": "y"}),
        "note.added names no run", field="run",
    ),
    "a document of a run": Guard(
        Submission(
            kind="key.rotated", run=RUN, data={"new_public_key": "k"},
        ),
        Submission(kind="key.rotated", data={"new_public_key": "k"}),
        "key.rotated belongs to the ledger as a whole, run fast-01 is named", field="run",
    ),
    "a second beginning": Guard(
        Submission(kind="ledger.opened", data={"format": 1, "algorithms": {}}), None,
        "ledger.opened is the first event and there is one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", RUNS)
def test_what_a_guard_refuses(name: str, entry: str, frozen: Ledger) -> None:
    """The event is refused with its clause and field in every kind of run."""
    assert_refused(frozen, RUNS[name], entry)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", accepting(RUNS))
def test_what_a_guard_lets_pass(name: str, entry: str, frozen: Ledger) -> None:
    """The nearest neighbour of what is refused is accepted in every kind of run."""
    assert_accepted(frozen, RUNS[name], entry)


def test_a_run_whose_everything_ended_is_complete(frozen: Ledger) -> None:
    """Trials that ended, calls that ended or were lost, even twice, leave nothing open."""
    gone = Q1.event("response.lost", call="c1", occurrence="f1")
    late = (CALL, CALLED, LOST, gone, END)
    assert problems(frozen, [opened(), START, *late, COMPLETE]) == []
    second = started(RUN, trial("q2"))
    loss = (Q2.call("c1", "search"), Q2.failure("f1", "response_lost", "harness"))
    lost = Q2.event("response.lost", call="c1", occurrence="f1")
    end = Q2.event("trial.finished", outcome="errored")
    assert problems(frozen, [opened(), second, *loss, lost, end, COMPLETE]) == []


def test_a_failure_of_the_run_as_a_whole_has_its_own_names(frozen: Ledger) -> None:
    """Occurrences of the run and of a trial may have the same name and are told apart."""
    failure = Q1.failure("f1", "environment", "environment")
    recovered = Q1.event("failure.recovered", occurrence="f1", by="repair")
    events = [opened(), START, failure, of(None, failure), of(None, recovered), recovered]
    assert problems(frozen, events) == []
    found = problems(frozen, [*events, of(None, recovered)])
    assert [problem.message for problem in found] == ["occurrence f1 was already recovered"]


@pytest.mark.parametrize(
    "submission",
    [
        Submission(kind="note.added", run=RUN, data={"about": "x", "text": "y"}),
        Submission(kind="note.added", run=RUN, trial=trial("q1"), data={"about": "x", "text": "y"}),
        Submission(
            kind="source.imported", run=RUN, data={"format": "x", "files": [], "importer": "y"}
        ),
        Submission(kind="source.imported", data={"format": "x", "files": [], "importer": "y"}),
    ],
)
def test_remarks_and_sources_may_belong_to_a_run_or_not(
    submission: Submission, frozen: Ledger
) -> None:
    """Notes and sources are accepted with and without a run."""
    assert problems(frozen, [opened(), submission]) == []


def test_a_kind_of_no_guard_is_a_fault_of_ours(frozen: Ledger) -> None:
    """Data that is of no kind does not pass in silence."""
    scope = Scope(
        kind="x", actor=HARNESS, run=None, trial_key=None, trial=None, texts={}, leak=None
    )
    with pytest.raises(AssertionError):
        check(scope, object())  # type: ignore[arg-type]
    assert frozen.head().size == 5
