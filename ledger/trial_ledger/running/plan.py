"""What is to be run: runs that are opened or resumed, and the trials that are left in each.

Invariant: a run is opened by an event before anything of it happens; what a crash left open is
ended by the one that resumes it.
"""

from collections.abc import Mapping, Sequence

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.errors import RuleError
from trial_ledger.events import RunOpened
from trial_ledger.lifecycle.states import Slots
from trial_ledger.running.history import (
    ORDER,
    History,
    history_of,
    planned_slots,
    to_do,
)
from trial_ledger.running.schedule import Slot
from trial_ledger.running.trial_log import HARNESS
from trial_ledger.submission import Submission

__all__ = ["Opening", "Plan", "opened_plan", "resumed_plan"]

SEED_BYTES = 6


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """A run to be opened."""

    run: str
    """Its name."""
    manifest: str
    """Hash of its frozen manifest."""
    supersedes: str | None = None
    """Run that it corrects."""
    reason: str | None = None
    """Why."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is left to do in one run."""

    run: str
    """Its name."""
    manifest: Manifest
    """Its manifest."""
    questions: Mapping[str, Question]
    """The questions of its dataset."""
    slots: Sequence[Slot]
    """Sessions to be started."""
    planned: int
    """How many slots it has."""
    history: History
    """What it has done already."""
    order_seed: int
    """Seed of the order."""


def opened_plan(ledger: Ledger, opening: Opening, order_seed: int | None) -> Plan:
    """Open a run and return its plan.

    Args:
        ledger: opened for writing.
        opening: which.
        order_seed: seed of the order; None takes the manifest's, or draws one.

    Raises:
        RuleError: the run exists, or its manifest is not frozen.
    """
    data = {
        "manifest": opening.manifest,
        "entry": "live",
        "supersedes": opening.supersedes,
        "reason": opening.reason,
    }
    given = {name: value for name, value in data.items() if value is not None}
    ledger.append(Submission(kind="run.opened", run=opening.run, data=given, actor=HARNESS))
    manifest = manifest_of(ledger, ledger.run_opened(opening.run))
    if order_seed is None:
        order_seed = manifest.seed
    if order_seed is None:
        order_seed = int.from_bytes(ledger.tools.random_bytes(SEED_BYTES), "big")
    note = {"about": ORDER, "text": str(order_seed)}
    ledger.append(Submission(kind="note.added", run=opening.run, data=note, actor=HARNESS))
    return plan_of(ledger, opening.run, retry_errored=False)


def resumed_plan(ledger: Ledger, run: str, *, retry_errored: bool) -> Plan:
    """Return the plan of what is left of a run that was begun.

    Raises:
        RuleError: the run came in otherwise, so that nobody here may go on with it.
        NotFoundError: it was never opened.
    """
    opened = ledger.run_opened(run)
    if opened.entry != "live" or opened.derived_from is not None:
        message = f"run {run} was not executed here: there is nothing to go on with"
        raise RuleError(message, clause="C9", hint="ledger runs")
    return plan_of(ledger, run, retry_errored=retry_errored)


def manifest_of(ledger: Ledger, opened: RunOpened) -> Manifest:
    """Return the frozen manifest of a run."""
    registry = ledger.registry()
    return registry.manifest_document(registry.manifest(opened.manifest))


def plan_of(ledger: Ledger, run: str, *, retry_errored: bool) -> Plan:
    """Return what is left to do in a run."""
    opened = ledger.run_opened(run)
    manifest = manifest_of(ledger, opened)
    assert opened.slots is not None, "the ledger filled it"
    assert opened.dataset is not None, "the ledger filled it"
    slots = msgspec.json.decode(ledger.document_bytes(opened.slots), type=Slots)
    history = history_of(ledger, run)
    keys = to_do(
        history,
        planned_slots(slots.questions, slots.repetitions),
        manifest.configuration,
        retry_errored=retry_errored,
    )
    return Plan(
        run=run,
        manifest=manifest,
        questions=ledger.registry().questions(opened.dataset),
        slots=[Slot(run=run, key=key) for key in keys],
        planned=slots.count,
        history=history,
        order_seed=history.order_seed or 0,
    )
