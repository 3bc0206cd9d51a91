"""C3: gold in what an agent sends after its first input."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger_cases import PERSON, RUN, opened, small_ledger, started, trial
from trial_ledger import leak_guard
from trial_ledger.book import Ledger
from trial_ledger.events import BlobRef, FailureOccurred
from trial_ledger.redaction import redact
from trial_ledger.submission import Submission

KEY = trial("q1")
GOLD = "Samarkand"
CANARY = "canary 5bd2d8a6"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Give a ledger with one open trial of a live run."""
    with small_ledger(tmp_path) as book:
        book.append_many([opened(), started(RUN, KEY)])
        yield book


def call(name: str, request: str | None, *, purpose: str = "search") -> Submission:
    """Return the start of a call."""
    data = {"call": name, "purpose": purpose, "endpoint": "search", "request": request}
    return Submission(kind="call.started", run=RUN, trial=KEY, data=data)


def answered(name: str, response: str | None, *, delivered: bool | None = True) -> Submission:
    """Return the end of a call."""
    data = {"call": name, "status": "ok", "response": response, "delivered": delivered}
    return Submission(kind="call.finished", run=RUN, trial=KEY, data=data)


def kinds_after(ledger: Ledger, seq: int) -> list[str]:
    """Return the kinds of the events after a seq."""
    return [stored.event.kind for stored in ledger.events(after=seq)]


def test_c03_gold_in_a_later_request_is_a_failure_occurrence_by_the_ledger(ledger: Ledger) -> None:
    """A request that holds gold the agent was never shown is disclosed right behind it."""
    acknowledged = ledger.append(call("c1", f"why is {GOLD} right?"))
    assert kinds_after(ledger, acknowledged.seq) == ["failure.occurred"]
    event = ledger.read(acknowledged.seq + 1).event
    assert event.actor.role == "ledger"
    assert isinstance(event.data, FailureOccurred)
    assert (event.data.class_, event.data.call) == ("gold_leak", "c1")
    message = event.data.message
    assert isinstance(message, BlobRef)
    assert message.class_ == "gold", "what says which gold leaked shows gold"
    assert b"samarkand" in (ledger.blob(message) or b"")


@pytest.mark.parametrize("delivered", [True, None])
def test_c03_gold_that_a_response_showed_is_no_leak(ledger: Ledger, delivered: bool | None) -> None:
    """What an earlier response delivered, or may have delivered, an agent may repeat."""
    ledger.append_many(
        [call("c1", "old towns"), answered("c1", f"{GOLD} is old.", delivered=delivered)]
    )
    acknowledged = ledger.append(call("c2", f"more about {GOLD}"))
    assert kinds_after(ledger, acknowledged.seq) == []


def test_c03_a_response_that_never_reached_the_model_explains_nothing(ledger: Ledger) -> None:
    """Gold in an undelivered response was never shown, so using it is a leak."""
    ledger.append_many(
        [
            call("c1", "old towns"),
            answered("c1", f"{GOLD} is old.", delivered=False),
            call("c2", None),
            answered("c2", None),
        ]
    )
    acknowledged = ledger.append(call("c3", f"more about {GOLD}"))
    assert kinds_after(ledger, acknowledged.seq) == ["failure.occurred"]


def test_c03_a_canary_invalidates_the_trial(ledger: Ledger) -> None:
    """A request with the canary discloses the leak and invalidates the trial, by the ledger."""
    acknowledged = ledger.append(call("c1", f"{CANARY} {GOLD}"))
    assert kinds_after(ledger, acknowledged.seq) == ["failure.occurred", "trial.invalidated"]
    assert ledger.read(acknowledged.seq + 2).event.actor.role == "ledger"
    assert ledger.verify().is_intact


def test_c03_a_judge_may_see_gold(ledger: Ledger) -> None:
    """A judge's request holds gold by design."""
    ledger.append(
        Submission(kind="trial.finished", run=RUN, trial=KEY, data={"outcome": "cancelled"})
    )
    judge = ledger.registry().rubric_document(next(iter(ledger.registry().rubrics.values()))).judge
    assert judge is not None
    data = {"call": "j1", "purpose": "judge", "endpoint": judge.endpoint, "request": GOLD}
    acknowledged = ledger.append(Submission(kind="call.started", run=RUN, trial=KEY, data=data))
    assert kinds_after(ledger, acknowledged.seq) == []


def test_c03_the_same_call_again_discloses_nothing_twice(ledger: Ledger) -> None:
    """A repeated append of one id finds the event and adds no second occurrence."""
    submission = Submission(
        kind="call.started",
        run=RUN,
        trial=KEY,
        data={"call": "c1", "purpose": "search", "endpoint": "search", "request": GOLD},
        id="ab" * 16,
    )
    first = ledger.append(submission)
    size = ledger.head().size
    again = ledger.append(submission)
    assert (again.seq, again.status, ledger.head().size) == (first.seq, "exists", size)


def test_c03_without_the_guard_the_leak_stays_undisclosed(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted fault: a guard that sees every gold text as shown lets the leak pass."""
    monkeypatch.setattr(leak_guard.LeakGuard, "unseen", lambda *_: [])
    acknowledged = ledger.append(call("c1", GOLD))
    assert kinds_after(ledger, acknowledged.seq) == []


def test_c03_an_imported_log_is_left_alone(tmp_path: Path) -> None:
    """What another tool recorded of responses may have gaps, so nothing is inferred from it."""
    with small_ledger(tmp_path) as book:
        book.append_many([opened(entry="imported"), started(RUN, KEY)])
        acknowledged = book.append(call("c1", GOLD))
        assert kinds_after(book, acknowledged.seq) == []


def test_c03_an_erased_response_shows_nothing(ledger: Ledger) -> None:
    """A response that was redacted cannot explain where the agent knows gold from."""
    ledger.append_many([call("c1", "old towns"), answered("c1", f"{GOLD} is old.")])
    reference = getattr(ledger.read(ledger.head().size).event.data, "response", None)
    assert isinstance(reference, BlobRef)
    redact(ledger, reference.blob, reason="asked to", authority="owner", actor=PERSON)
    acknowledged = ledger.append(call("c2", GOLD))
    assert kinds_after(ledger, acknowledged.seq) == ["failure.occurred"]
