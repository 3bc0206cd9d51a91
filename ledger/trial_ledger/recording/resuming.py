"""Going on with a run whose process died or was interrupted.

Invariant: what a crash left open is ended before anything else happens; what is left to do follows
from the log alone, and every earlier session stays.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.errors import RuleError
from trial_ledger.identifiers import TrialKey
from trial_ledger.kinds.base import Outcome
from trial_ledger.lifecycle.states import Slots
from trial_ledger.recording.blocks import as_text
from trial_ledger.recording.calls import CallRecorder
from trial_ledger.recording.journal import Journal, Seen, Written, show_on_stderr
from trial_ledger.recording.runs import RunRecorder, journal_of, spool_folders
from trial_ledger.recording.trials import TrialRecorder
from trial_ledger.running.history import (
    INTERRUPTED,
    History,
    Session,
    history_of,
    planned_slots,
    to_do,
)

__all__ = ["ResumedRun", "resumed_run"]

LOST = "the process that waited for this response ended"


class ResumedRun(RunRecorder):
    """A run that goes on; made by `Ledger.resume`.

    Args:
        journal: its events.
        manifest: its frozen manifest.
        questions: of its dataset, by id.
        history: what it has done already.
        slots: what it has planned.
    """

    def __init__(
        self,
        journal: Journal,
        manifest: Manifest,
        questions: dict[str, Question],
        history: History,
        slots: Slots,
    ) -> None:
        super().__init__(journal, manifest, questions, {})
        self.history = history
        self.slots = slots

    def begin(self) -> Written:
        """Say that the run goes on, where it was closed, and end what was left open."""
        if self.history.is_closed:
            again = {"reason": as_text("the rest of its trials")}
            self.journal.push([self.event("run.resumed", again)])
        for session in self.history.open_sessions():
            self.cut_off(session)
        return self.journal.push([])

    def cut_off(self, session: Session) -> None:
        """End a trial that was left open: what was under way in it is lost (C21)."""
        trial = self.of(session.key)
        trial.skip_failures(session.failures)
        for identifier in sorted(session.open_calls):
            call = CallRecorder(trial, {"purpose": "tool", "endpoint": None, "attempt": None})
            call.id = identifier
            call.lost(LOST)
            call.end(None)
        outcome: Outcome = "cancelled"
        if session.answered:
            outcome = "abstained" if session.abstained else "answered"
        data = {"outcome": outcome, "reason": INTERRUPTED}
        self.journal.push([trial.event("trial.finished", data)])

    def of(self, key: TrialKey) -> TrialRecorder:
        """Return the trial of a key."""
        return self.trial(key.question, key.repetition, session=key.session)

    def remaining(self) -> list[TrialRecorder]:
        """Return the trials that are to be entered: of slots never started, or cut off.

        A slot that was cut off gets a new session; what ended otherwise, errors too, is done.
        """
        slots = planned_slots(self.slots.questions, self.slots.repetitions)
        keys = to_do(self.history, slots, self.manifest.configuration, retry_errored=False)
        return [self.of(key) for key in keys]


def resumed_run(
    ledger: Ledger, name: str, *, show: Callable[[str], Seen | None] = show_on_stderr
) -> ResumedRun:
    """Return a run that goes on, to be entered; see `Ledger.resume`.

    Raises:
        NotFoundError: it was never opened.
        RuleError: it was not recorded live, or events of it wait in a spool.
    """
    opened = ledger.run_opened(name)
    if opened.entry != "live" or opened.derived_from is not None:
        message = f"run {name} was not recorded here: there is nothing to go on with"
        raise RuleError(message, clause="C9", hint="ledger runs")
    waiting = spools_of(ledger, name)
    if waiting:
        message = f"events of run {name} wait in {waiting[0]}"
        raise RuleError(message, hint=f"ledger append {waiting[0]}, then remove that file")
    registry = ledger.registry()
    manifest = registry.manifest_document(registry.manifest(opened.manifest))
    assert opened.slots is not None, "the ledger filled it"
    slots = msgspec.json.decode(ledger.document_bytes(opened.slots), type=Slots)
    return ResumedRun(
        journal_of(ledger, registry, name, show),
        manifest,
        registry.questions(manifest.dataset),
        history_of(ledger, name),
        slots,
    )


def spools_of(ledger: Ledger, name: str) -> list[Path]:
    """Return the spools of a run, sorted."""
    start = f"{ledger.store.path.name}.{name}."
    found = [
        path
        for folder in spool_folders(ledger)
        if folder.is_dir()
        for path in folder.iterdir()
        if path.name.startswith(start) and path.name.endswith(".spool")
        if "." not in path.name.removeprefix(start).removesuffix(".spool")
    ]
    return sorted(found)
