"""Batch: all faults of an input with their places, and none that would only echo another."""

import pytest

from ledger_cases import opened, started, trial
from trial_ledger.batch import FROZEN_KINDS, Entry, Faults, drafted
from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    NotFoundError,
    Problem,
    RefusedError,
    RuleError,
)
from trial_ledger.intake import COMMAND_KINDS, Draft, draft
from trial_ledger.submission import Submission

NOTE = Submission(kind="note.added", data={"about": "x", "text": "y"})


def place(line: int, submission: Submission | LedgerError = NOTE) -> Entry:
    """Return an entry of an input file."""
    return Entry(submission=submission, source="in.jsonl", line=line)


def test_an_entry_is_a_draft_or_its_fault() -> None:
    """A good submission becomes a draft; a bad one, or none at all, the error that says why."""
    assert isinstance(drafted(place(1)), Draft)
    assert isinstance(drafted(place(1, Submission(kind="no"))), InvalidInputError)
    error = NotFoundError("no run")
    assert drafted(place(1, error)) is error


@pytest.mark.parametrize("kind", sorted(FROZEN_KINDS))
def test_c09_a_document_is_frozen_and_not_appended(kind: str) -> None:
    """Whatever its event says: only freezing checks a document against its hashes."""
    found = drafted(place(3, Submission(kind=kind, data={})))
    assert isinstance(found, InvalidInputError)
    assert str(found.problems[0]) == (
        f"kind: documents are frozen, not appended, found {kind}, expected `{COMMAND_KINDS[kind]}`"
    )
    assert found.hint == "Ledger.freeze, or on the command line: ledger freeze"


def test_an_input_without_faults_goes_on() -> None:
    """Nothing wrong, nothing raised."""
    Faults().stop("in.jsonl")


def test_faults_keep_their_own_place_or_get_that_of_the_entry() -> None:
    """A fault that knows its line keeps it; one that does not gets the entry's."""
    faults = Faults()
    own = Problem(message="deep", source="other", line=9)
    faults.add(InvalidInputError([own, Problem(message="new")]), place(3))
    with pytest.raises(InvalidInputError) as caught:
        faults.stop("in.jsonl")
    assert [str(problem) for problem in caught.value.problems] == [
        "other:9: deep",
        "in.jsonl:3: new",
    ]


def test_only_rules_are_refusals_and_any_form_is_invalid_input() -> None:
    """Refusals alone make a refusal; one fault of form makes the input not acceptable."""
    faults = Faults()
    faults.add(RuleError("twice", clause="C16", field="trial"), place(1))
    faults.add(NotFoundError("run r9 was never opened"), place(2))
    faults.add(RefusedError([Problem(message="again")], what="x"), place(3))
    with pytest.raises(RefusedError) as refused:
        faults.stop("in.jsonl")
    assert [str(problem) for problem in refused.value.problems] == [
        "in.jsonl:1: trial: twice (C16)",
        "in.jsonl:2: run r9 was never opened",
        "in.jsonl:3: again",
    ]
    faults.add(InvalidInputError.single("form"), place(4))
    with pytest.raises(InvalidInputError):
        faults.stop("in.jsonl")


def test_hints_are_passed_on_once_each_and_not_too_many() -> None:
    """The first three different hints stand under the faults, then what was left unchecked."""
    faults = Faults()
    for line, hint in enumerate(("a", "b", "a", None, "c", "d"), 1):
        faults.add(RuleError("no", hint=hint), place(line))
    assert faults.hint() == "a; b; c"
    faults.taint(started("r1", trial("q1")))
    assert faults.taints(draft(started("r1", trial("q1"))))
    assert faults.hint() == "a; b; c; not checked: 1 later event of the same trials"
    assert faults.taints(draft(started("r1", trial("q1"))))
    assert faults.hint() == "a; b; c; not checked: 2 later events of the same trials"


def test_a_refused_event_taints_its_trial_only() -> None:
    """Later events of the trial of a refused one are not checked; those of others are."""
    faults = Faults()
    faults.taint(started("r1", trial("q1")))
    assert faults.taints(draft(started("r1", trial("q1"))))
    assert not faults.taints(draft(started("r1", trial("q2"))))
    assert not faults.taints(draft(started("r2", trial("q1"))))
    assert faults.unchecked == 1


def test_a_refused_opening_taints_the_whole_run() -> None:
    """Where a run could not be opened, nothing of it is checked."""
    faults = Faults()
    faults.taint(opened("r1"))
    assert faults.taints(draft(started("r1", trial("q1"))))
    assert faults.taints(draft(opened("r1")))
    assert not faults.taints(draft(opened("r2")))


def test_an_entry_that_is_no_submission_taints_what_it_tells() -> None:
    """Of a bad line, run and trial taint as far as they could be read."""
    bad = InvalidInputError.single("bad")
    assert place(1, bad).scope is None
    about = started("r1", trial("q1"))
    assert Entry(submission=bad, about=about).scope is about
    assert place(1, about).scope is about
    faults = Faults()
    faults.taint(None)
    assert faults.tainted == set()
