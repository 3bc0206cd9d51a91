"""What one process of a test run does in the ledger.

Invariant: all processes of a test run write one run, opened once by an event that is the same in
each of them; it is closed once, by the process that no other outlives.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.errors import LedgerError
from trial_ledger.pytest_plugin import Plan
from trial_ledger.recording import RunRecorder, TrialRecorder, recorded_run
from trial_ledger.recording.blocks import as_text
from trial_ledger.recording.resuming import spools_of

__all__ = ["RecordedSession", "Summary", "closed", "refused", "session_of"]

NO_MANIFEST = (
    "ledger_trial needs a frozen manifest: --ledger-manifest NAME, $LEDGER_MANIFEST, or"
    " ledger_manifest in the ini file"
)
WHICH = 'mark it: @pytest.mark.ledger_question("…"), or name a parameter of it `question`'
REPEAT_STEP = "__pytest_repeat_step_number"
"""Parameter of pytest-repeat, from 0."""


class Summary(NamedTuple):
    """What is said at the end of a test run."""

    lines: tuple[str, ...]
    """One line on the run, one on what comes next."""


class Slot(NamedTuple):
    """Which slot a test is."""

    question: str
    repetition: int


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """Fail a test with what the ledger says, instead of a traceback through it."""
    try:
        yield
    except LedgerError as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        # The message says it all; the traceback would only show the ledger's own code.
        raise pytest.fail.Exception(f"ledger: {error}{hint}", pytrace=False) from None


class RecordedSession:
    """The run as this process sees it.

    Args:
        ledger: opened for writing.
        run: what trials are made from; it was opened.
    """

    def __init__(self, ledger: Ledger, run: RunRecorder) -> None:
        self.ledger = ledger
        self.run = run
        self.tests: dict[Slot, tuple[str, int]] = {}
        """Which test asked a slot, and how often."""

    def entered(self, item: pytest.Item) -> TrialRecorder:
        """Return the trial that a test is, entered.

        A test that is run again asks the same slot in a new session (C16).
        """
        slot = slot_of(item, self.run)
        former, count = self.tests.get(slot, (item.nodeid, 0))
        if former != item.nodeid:
            message = f"slot {slot.question}#{slot.repetition} is {former}; another test"
            pytest.fail(f"ledger: {message} needs another repetition", pytrace=False)
        trial = self.run.trial(slot.question, slot.repetition, session=f"s{count + 1}")
        trial.__enter__()  # it is left when the fixture is
        self.tests[slot] = (former, count + 1)
        return trial

    def left(self, trial: TrialRecorder, error: BaseException | None) -> None:
        """End a trial the way its test ended.

        What a test asserts of an answer is the test's own business: no failure of the agent.
        """
        judged = isinstance(error, AssertionError | pytest.fail.Exception)
        if isinstance(error, pytest.skip.Exception):
            if trial.outcome is None:
                trial.finish("cancelled", reason="skipped")
        elif judged and trial.outcome is None:
            trial.finish("errored", reason="exception")
            message = f"{type(error).__name__}: {error}"
            trial.fail("agent_error", message, impact="trial_failed")
        elif error is not None and not judged:
            trial.__exit__(type(error), error, error.__traceback__)
            return
        trial.__exit__(None, None, None)


def slot_of(item: pytest.Item, run: RunRecorder) -> Slot:
    """Return which slot a test is: by its marker, its parameters, or its id."""
    drawn = getattr(item, "callspec", None)
    params = {} if drawn is None else drawn.params
    marker = item.get_closest_marker("ledger_question")
    said = {} if marker is None else dict(marker.kwargs)
    if marker is not None and marker.args:
        said["id"] = marker.args[0]
    repetition = said.get("repetition", params.get("repetition", params.get(REPEAT_STEP, 0) + 1))
    question = said.get("id", params.get("question"))
    if question is None:
        plain = getattr(item, "originalname", item.name).removeprefix("test_")
        named = [plain] if drawn is None else [drawn.id, plain]
        question = next((name for name in named if name in run.questions), None)
    if question is None or not isinstance(repetition, int):
        pytest.fail(f"ledger: which question does {item.nodeid} ask? {WHICH}", pytrace=False)
    return Slot(str(question), repetition)


def session_of(plan: Plan) -> RecordedSession:
    """Return the run, opened unless another process of this test run did that.

    Raises:
        NotFoundError: there is no such ledger.
        RuleError: the manifest is not frozen (C9), or another run has that name.
    """
    if plan.manifest is None:
        pytest.fail(f"ledger: {NO_MANIFEST}", pytrace=False)
    ledger = Ledger.open(Path(plan.ledger), write=True)
    try:
        run = recorded_run(ledger, plan.manifest, name=plan.run)
        opened = run.event("run.opened", run.opening)
        same = msgspec.structs.replace(opened, id=plan.token, at=None)
        run.journal.settle([run.journal.push([same])])
    except LedgerError:
        ledger.close()
        raise
    return RecordedSession(ledger, run)


def closed(plan: Plan, reason: str | None) -> Summary | None:
    """Close the run of this test run; return what is to be said, None where it was never opened.

    Args:
        plan: names it.
        reason: why the test run did not come to its end; None where it did.
    """
    try:
        return closed_now(plan, reason)
    except LedgerError as error:
        return Summary((f"ledger: run {plan.run} was not closed: {error}",))


def closed_now(plan: Plan, reason: str | None) -> Summary | None:
    """Close the run; see `closed`.

    Raises:
        LedgerError: it cannot be closed.
    """
    with Ledger.open(Path(plan.ledger), write=True) as ledger:
        waiting = spools_of(ledger, plan.run)
        if waiting:
            return Summary((f"ledger: events of run {plan.run} wait: ledger append {waiting[0]}",))
        first = next(ledger.events(run=plan.run), None)
        if first is None or first.event.id != plan.token:
            return None
        counts, open_ = counts_of(ledger, plan.run)
        status = "complete" if reason is None else "interrupted"
        if open_:
            status = "failed"
            reason = f"{open_} trials were left open: the process that recorded them died"
        run = recorded_run(ledger, plan.manifest or "", name=plan.run)
        data = {"status": status, "reason": as_text(reason)}
        run.journal.settle([run.journal.push([run.event("run.closed", data)])])
    told = f"{counts['done']} done, {counts['errored']} failed, {counts['cancelled']} cancelled"
    left = f", {open_} unfinished" if open_ else ""
    command = f"{'grade' if counts['done'] else 'failures'} {plan.run}"
    place = "" if plan.is_usual else f"--ledger {plan.ledger} "
    return Summary((
        f"ledger: run {plan.run}: {told}{left}",
        f"next: ledger {place}{command}",
    ))  # fmt: skip


def counts_of(ledger: Ledger, run: str) -> tuple[Counter[str], int]:
    """Return how many trials of a run ended in which way, and how many are open."""
    counts: Counter[str] = Counter()
    open_ = 0
    for stored in ledger.events(run=run):
        if isinstance(stored.event.data, events.TrialStarted):
            open_ += 1
        elif isinstance(stored.event.data, events.TrialFinished):
            open_ -= 1
            outcome = stored.event.data.outcome
            counts[outcome if outcome in {"errored", "cancelled"} else "done"] += 1
    return counts, open_
