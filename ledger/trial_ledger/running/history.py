"""What a run has done already: its sessions, what it spent, in which order it asks.

Invariant: what is to be done follows from the log alone; an earlier session is never touched but to
end what a crash left open.
"""

import re
from collections.abc import Iterable

import msgspec

from trial_ledger.amounts import Cost
from trial_ledger.book import Ledger
from trial_ledger.events import (
    AnswerSubmitted,
    AnyData,
    CallFinished,
    CallStarted,
    Event,
    FailureOccurred,
    NoteAdded,
    ResponseLost,
    RunClosed,
    RunResumed,
    TrialFinished,
    TrialStarted,
)
from trial_ledger.identifiers import TrialKey

__all__ = ["INTERRUPTED", "ORDER", "History", "Session", "history_of", "planned_slots", "to_do"]

INTERRUPTED = "interrupted"
"""Reason of a trial that the end of its runner ended."""
ORDER = "order of the trials"
"""What the note is about that holds the seed of the order."""
OWN_OCCURRENCE = re.compile(r"f([0-9]{1,9})")


class Session(msgspec.Struct, kw_only=True):
    """One try at a slot."""

    key: TrialKey
    """Its key."""
    outcome: str | None = None
    """How it ended; None while it is open."""
    reason: str | None = None
    """Why, in a word."""
    answered: bool = False
    """Whether an answer was submitted."""
    abstained: bool = False
    """Whether that answer is an abstention."""
    open_calls: set[str] = msgspec.field(default_factory=set)
    """Calls that were begun and did not end."""
    failures: int = 0
    """Highest number of an occurrence that a runner named."""

    def apply(self, data: AnyData) -> None:
        """Take one event of this trial into account."""
        match data:
            case TrialFinished():
                self.outcome, self.reason = data.outcome, data.reason
            case AnswerSubmitted():
                self.answered, self.abstained = True, data.abstained
            case CallStarted():
                self.open_calls.add(data.call)
            case CallFinished() | ResponseLost():
                self.open_calls.discard(data.call)
            case FailureOccurred():
                own = OWN_OCCURRENCE.fullmatch(data.occurrence)
                self.failures = max(self.failures, int(own[1]) if own else 0)
            case _:
                pass  # Nothing else says what is left to do.

    @property
    def was_cut_off(self) -> bool:
        """Whether the end of the runner cost it its answer."""
        if self.answered:
            return False
        is_cancelled = self.outcome == "cancelled" and self.reason == INTERRUPTED
        return self.outcome is None or is_cancelled


class History(msgspec.Struct, kw_only=True):
    """What the log says of a run."""

    sessions: dict[tuple[str, int], list[Session]] = {}
    """Sessions by question and repetition, in the order in which they were started."""
    costs: list[Cost | None] = []
    """Cost of every call that is no judge's; None is unknown."""
    order_seed: int | None = None
    """Seed of the order; None in a run that no runner opened."""
    is_closed: bool = False
    """Whether the run is closed."""

    def open_sessions(self) -> list[Session]:
        """Return the trials that did not end."""
        return [one for all_ in self.sessions.values() for one in all_ if one.outcome is None]


def history_of(ledger: Ledger, run: str) -> History:
    """Return what the log says of a run."""
    history = History()
    by_key: dict[TrialKey, Session] = {}
    purposes: dict[tuple[TrialKey, str], str] = {}
    for stored in ledger.events(run=run):
        event = stored.event
        if event.trial is None:
            apply_to_run(history, ledger, event)
            continue
        if isinstance(event.data, TrialStarted):
            session = by_key[event.trial] = Session(key=event.trial)
            slot = (event.trial.question, event.trial.repetition)
            history.sessions.setdefault(slot, []).append(session)
        by_key[event.trial].apply(event.data)
        count_cost(history, purposes, event.trial, event.data)
    return history


def apply_to_run(history: History, ledger: Ledger, event: Event) -> None:
    """Take one event of the run as a whole into account."""
    match event.data:
        case RunClosed():
            history.is_closed = True
        case RunResumed():
            history.is_closed = False
        case NoteAdded(about=about, text=text) if about == ORDER:
            content = ledger.blob(text)
            found = (content or b"").decode("ascii", "replace")
            history.order_seed = int(found) if found.isdigit() else history.order_seed
        case _:
            pass  # Nothing else says what is left to do.


def count_cost(
    history: History, purposes: dict[tuple[TrialKey, str], str], trial: TrialKey, data: AnyData
) -> None:
    """Take the cost of a call into account; one that never ended has an unknown cost."""
    if isinstance(data, CallStarted):
        purposes[trial, data.call] = data.purpose
        return
    if not isinstance(data, CallFinished | ResponseLost):
        return
    if purposes.pop((trial, data.call), "judge") not in {"judge", "tool"}:
        history.costs.append(data.cost if isinstance(data, CallFinished) else None)


def to_do(
    history: History,
    slots: Iterable[tuple[str, int]],
    configuration: str,
    *,
    retry_errored: bool,
) -> list[TrialKey]:
    """Return the sessions that are to be started.

    Args:
        history: what there is.
        slots: the planned ones.
        configuration: of the run.
        retry_errored: whether errored sessions get another one beside them.
    """
    found: list[TrialKey] = []
    for question, repetition in slots:
        sessions = history.sessions.get((question, repetition), [])
        if sessions and not is_due(sessions[-1], retry_errored=retry_errored):
            continue
        taken = {session.key.session for session in sessions}
        number = next(n for n in range(len(sessions) + 1, 2**31) if f"s{n}" not in taken)
        found.append(
            TrialKey(
                question=question,
                configuration=configuration,
                repetition=repetition,
                session=f"s{number}",
            )
        )
    return found


def is_due(last: Session, *, retry_errored: bool) -> bool:
    """Return whether a slot gets another session after its last one."""
    return last.was_cut_off or (retry_errored and last.outcome == "errored")


def planned_slots(questions: Iterable[str], repetitions: int) -> list[tuple[str, int]]:
    """Return every slot of a plan."""
    return [(question, number) for question in questions for number in range(1, repetitions + 1)]
