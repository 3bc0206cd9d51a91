"""Derived runs: another rubric judges the trials of a run as they were at one link (C14)."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from guard_cases import (
    ANSWER,
    CALL,
    CALLED,
    END,
    Q1,
    START,
    by,
    changed,
    guards_ledger,
    judgment,
    problems,
    run_event,
    verdict,
)
from ledger_cases import HARNESS, PERSON, RUN, opened, trial
from trial_ledger.book import Ledger
from trial_ledger.errors import Problem
from trial_ledger.submission import Submission

DERIVED = "second-look"
INVALID = by(PERSON, Q1.event("trial.invalidated", reason="wrong page"))
REVIEW = by(
    PERSON,
    Q1.event(
        "review.recorded", review="r1", metric="judged", judgment="j2", plan="purposive",
        verdict="incorrect", reason="another town", blind=False,
    ),
)  # fmt: skip
PARENT = (
    opened(),
    START,
    CALL,
    CALLED,
    ANSWER,
    Q1.call("c9", "judge"),
    Q1.event("call.finished", call="c9", status="ok"),
    END,
    judgment(),
    verdict(calls=["c9"]),
    REVIEW,
)
LINK_OF_END = 4
"""Links of the parent: opened, started, answer, finished."""


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with a parent run."""
    with guards_ledger(tmp_path) as ledger:
        ledger.append_many(PARENT)
        yield ledger


def opening(link: int) -> Submission:
    """Return the opening of a derived run."""
    origin = {"run": RUN, "link": link}
    return opened(DERIVED, rubric="quality@2", derived_from=origin, reason="a clearer rubric")


def derived(submission: Submission) -> Submission:
    """Return the same event of the derived run."""
    return msgspec.structs.replace(submission, run=DERIVED)


def found(book: Ledger, *submissions: Submission, link: int = LINK_OF_END) -> list[Problem]:
    """Return what is wrong with events of a derived run."""
    return problems(book, [opening(link), *map(derived, submissions)])


def test_the_parent_s_trial_is_judged_again(book: Ledger) -> None:
    """Verdicts, judge calls, failures and reviews of a derived run have names of their own."""
    again = (
        judgment(),
        Q1.call("c9", "judge"),
        Q1.failure("f9", "judge_error", "judge", call="c9"),
        Q1.event("call.finished", call="c9", status="failed", occurrence="f9"),
        verdict(),
        REVIEW,
        run_event("run.closed", status="complete"),
    )
    assert found(book, *again) == []
    parent = book.registry().rubric("quality@1").rubric_hash
    (problem,) = found(book, judgment(rubric=parent))
    assert (problem.clause, problem.field) == ("C14", "data.rubric")


@pytest.mark.parametrize(
    "submission",
    [
        START,
        ANSWER,
        END,
        CALL,
        INVALID,
        Q1.event("query.inspected", verdict="adequate", reason="good"),
        Q1.event("retrieval_miss.declared", missing="page", reason="none"),
    ],
)
def test_nothing_else_happens_to_a_trial_through_a_derived_run(
    submission: Submission, book: Ledger
) -> None:
    """What an agent, a harness or a person does to a trial belongs to its own run."""
    (problem,) = found(book, submission)
    assert problem.clause == "C14"
    assert problem.message == f"{DERIVED} only judges the trials of {RUN}"


def test_the_parent_s_calls_failures_and_judgments_are_not_there(book: Ledger) -> None:
    """A derived run cites what is its own: no call, failure, judgment or review of the parent."""
    cases = {
        "call c1 was never started": CALLED,
        "call c9 is no judge call of this trial": verdict(calls=["c9"]),
        "judgment j2 does not exist in trial q1#1@s1": REVIEW,
        "occurrence f9 was never recorded": Q1.surfaced("f9"),
    }
    for message, submission in cases.items():
        (problem,) = found(book, submission)
        assert problem.message == message


def test_membership_ends_at_the_cited_link(book: Ledger) -> None:
    """A trial that had not ended at the link, or not begun, is not judged."""
    (problem,) = found(book, judgment(), link=LINK_OF_END - 1)
    assert problem.message == "trial q1#1@s1 has not finished"
    (problem,) = found(book, judgment(), link=1)
    assert problem.message == "trial q1#1@s1 of run second-look was never started"


def test_what_happens_to_the_parent_later_does_not_enter(book: Ledger) -> None:
    """A trial that starts in the parent after the link is none of the derived run's."""
    book.append(opening(LINK_OF_END))
    second = trial("q2")
    for kind, data in (("trial.started", {"input": "x"}), ("trial.finished", {"outcome": "limit"})):
        book.append(Submission(kind=kind, run=RUN, trial=second, data=data, actor=HARNESS))
    late = msgspec.structs.replace(derived(judgment()), trial=second)
    (problem,) = problems(book, [late])
    assert problem.message == "trial q2#1@s1 of run second-look was never started"
    assert problems(book, [derived(judgment())]) == []


def test_a_derived_run_opened_in_the_batch_of_its_parent(tmp_path: Path) -> None:
    """Parent and derived run may come in one input: the link is looked up before it is durable."""
    with guards_ledger(tmp_path) as book:
        events = [*PARENT, opening(LINK_OF_END), derived(judgment()), derived(changed(verdict()))]
        assert problems(book, events) == []
        book.append_many(events)
        assert book.verify().is_intact


def test_a_run_that_is_not_derived_must_use_its_manifest_s_rubric(book: Ledger) -> None:
    """The second rubric over new trials is another manifest, over old ones a derived run."""
    (problem,) = problems(book, [opened("r3", rubric="quality@2")])
    assert (problem.clause, problem.field) == ("C14", "data.rubric")
