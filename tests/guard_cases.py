"""Tables of guards: what came before, an event that is refused, its neighbour that is not."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledger_cases import PERSON, RUN, Script, opened, small_ledger, small_rubric, started, trial
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError, Problem, RefusedError
from trial_ledger.events import Actor
from trial_ledger.submission import Submission

ENTRIES = ("live", "appended", "imported")
GRADER = Actor(role="grader", name="match")
Q1 = Script(RUN, trial("q1"))
Q2 = Script(RUN, trial("q2"))

START = started(RUN, trial("q1"))
END = Q1.event("trial.finished", outcome="answered")
CALL = Q1.call("c1", "search")
CALLED = Q1.event("call.finished", call="c1", status="ok")
ANSWER = Q1.event("answer.submitted", answer="Babylon")
LOST = Q1.failure("f1", "response_lost", "harness", call="c1")
JUDGE_CALL = Q1.call("c9", "judge")


class Guard(NamedTuple):
    """One guard: what it refuses, and what lies just on the other side."""

    refused: Submission
    """The event that is refused."""
    accepted: Submission | None
    """Its nearest neighbour that is accepted."""
    message: str
    """What the refusal says, without its clause."""
    before: tuple[Submission, ...] = ()
    """What happened before, after the run was opened."""
    clause: str | None = None
    """The clause that refuses it."""
    field: str | None = None
    """The field that is named."""
    entries: tuple[str, ...] = ENTRIES
    """In which runs it is refused; elsewhere it is accepted."""


def run_event(kind: str, *, actor: Actor = PERSON, **data: object) -> Submission:
    """Return an event of the run as a whole, by a person."""
    return Submission(kind=kind, run=RUN, data=data, actor=actor)


def by(actor: Actor, submission: Submission) -> Submission:
    """Return the same event by somebody else."""
    return msgspec.structs.replace(submission, actor=actor)


def changed(submission: Submission, **fields: object) -> Submission:
    """Return the same event with other data; None takes a field away."""
    data = {**submission.data, **fields}
    kept = {name: value for name, value in data.items() if value is not None}
    return msgspec.structs.replace(submission, data=kept)


def of(question: str | None, submission: Submission, run: str | None = RUN) -> Submission:
    """Return the same event of another trial, or of none."""
    key = None if question is None else trial(question)
    return msgspec.structs.replace(submission, trial=key, run=run)


def judgment(script: Script = Q1, **fields: object) -> Submission:
    """Return a verdict by code."""
    values: dict[str, object] = {
        "judgment": "j1", "metric": "exact", "by": "code", "score": "1",
        "grader": {"name": "match", "version": "1"}, "parts": [{"name": "equal"}],
    }  # fmt: skip
    return by(GRADER, changed(script.event("judgment.recorded", **values), **fields))


def verdict(script: Script = Q1, **fields: object) -> Submission:
    """Return a verdict by a judge."""
    values: dict[str, object] = {
        "judgment": "j2", "metric": "judged", "by": "model", "score": None,
        "verdict": "correct", "reasoning": "the same town",
    }  # fmt: skip
    return judgment(script, **{**values, **fields})


def guards_ledger(folder: Path) -> Ledger:
    """Make a ledger with the frozen documents and a second rubric."""
    ledger = small_ledger(folder)
    ledger.freeze([small_rubric(version="2")])
    return ledger


def problems(ledger: Ledger, submissions: Iterable[Submission]) -> list[Problem]:
    """Return what is wrong with events after each other; nothing is kept of them."""
    entries = [Entry(submission=item, line=line) for line, item in enumerate(submissions)]
    try:
        ledger.append_all(entries, dry_run=True)
    except (RefusedError, InvalidInputError) as error:
        return list(error.problems)
    return []


def accepting(guards: Mapping[str, Guard]) -> list[str]:
    """Return the guards beside which something is accepted."""
    return [name for name, guard in guards.items() if guard.accepted is not None]


def assert_refused(ledger: Ledger, guard: Guard, entry: str) -> None:
    """Assert that a guard refuses its event, and only that, or accepts it in other runs."""
    events = [opened(entry=entry), *guard.before, guard.refused]
    found = problems(ledger, events)
    if entry not in guard.entries:
        assert found == []
        return
    assert len(found) == 1, [str(problem) for problem in found]
    (problem,) = found
    assert problem.line == len(events) - 1, str(problem)
    assert guard.message in problem.message
    assert (problem.clause, problem.field) == (guard.clause, guard.field)


def assert_accepted(ledger: Ledger, guard: Guard, entry: str) -> None:
    """Assert that the neighbour of what a guard refuses is accepted."""
    assert guard.accepted is not None, "chosen by `accepting`"
    found = problems(ledger, [opened(entry=entry), *guard.before, guard.accepted])
    assert found == [], [str(problem) for problem in found]
