"""An input of many events: its entries, and everything that is wrong with it.

Invariant: every fault keeps its place in the input; later events of a trial whose event was refused
are counted, not checked, since their faults would only echo the first.
"""

import msgspec

from trial_ledger.errors import (
    InvalidInputError,
    LedgerError,
    Problem,
    RefusedError,
    RuleError,
)
from trial_ledger.intake import COMMAND_KINDS, Draft, draft
from trial_ledger.submission import Submission

__all__ = ["FROZEN_KINDS", "Entry", "Faults", "drafted"]

HINTS = 3
"""How many different hints an input with many faults gets."""

FROZEN_KINDS = frozenset({"dataset.registered", "rubric.frozen", "manifest.frozen"})
"""Kinds that only freezing writes: their documents are checked against their hashes there."""
FREEZING = "Ledger.freeze, or on the command line: ledger freeze"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an input: a submission, or what is wrong with it."""

    submission: Submission | LedgerError
    """The submission, or why it is none."""
    source: str | None = None
    """File name for faults."""
    line: int | None = None
    """Line for faults, from 1."""
    about: Submission | None = None
    """Kind, run and trial, as far as they can be told, of what is no submission."""

    @property
    def scope(self) -> Submission | None:
        """What tells kind, run and trial; None where nothing does."""
        return self.submission if isinstance(self.submission, Submission) else self.about


class Faults:
    """What is wrong with an input, and which trials later faults would only echo."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.hints: dict[str, None] = {}
        self.only_rules = True
        self.tainted: set[tuple[str | None, str]] = set()
        self.unchecked = 0

    def taint(self, item: Submission | None) -> None:
        """Remember that an event of this trial, or of this run's opening, was refused."""
        if item is None:
            return
        self.tainted.add((item.run, "" if item.trial is None else str(item.trial)))
        if item.kind == "run.opened":
            self.tainted.add((item.run, "*"))

    def taints(self, item: Draft) -> bool:
        """Return whether an earlier refusal makes the check of this event meaningless."""
        scope = "" if item.trial is None else str(item.trial)
        found = (item.run, "*") in self.tainted or (
            item.trial is not None and (item.run, scope) in self.tainted
        )
        self.unchecked += found
        return found

    def add(self, error: LedgerError, entry: Entry) -> None:
        """Add the faults of one entry, with its place and what to try next."""
        if isinstance(error, InvalidInputError | RefusedError):
            found = list(error.problems)
            self.only_rules = self.only_rules and isinstance(error, RefusedError)
        elif isinstance(error, RuleError):
            found = [error.problem()]
        else:
            found = [Problem(message=error.message)]
        self.problems += [
            msgspec.structs.replace(
                problem, source=problem.source or entry.source, line=problem.line or entry.line
            )
            for problem in found
        ]
        if error.hint is not None:
            self.hints[error.hint] = None

    def hint(self) -> str | None:
        """Return what to try next: the first hints, and what was left unchecked."""
        hints = list(self.hints)[:HINTS]
        if self.unchecked:
            later = "1 later event" if self.unchecked == 1 else f"{self.unchecked} later events"
            hints.append(f"not checked: {later} of the same trials")
        return "; ".join(hints) or None

    def stop(self, what: str) -> None:
        """Raise everything that was found, if anything was.

        Raises:
            InvalidInputError: some entry has a wrong form.
            RefusedError: all have the right form.
        """
        if not self.problems:
            return
        if self.only_rules:
            raise RefusedError(self.problems, what=what, hint=self.hint())
        raise InvalidInputError(self.problems, what=what, hint=self.hint())


def frozen_fault(kind: str) -> Problem:
    """Return the fault of a frozen document that is submitted as an event."""
    return Problem(
        message="documents are frozen, not appended",
        field="kind",
        found=kind,
        expected=f"`{COMMAND_KINDS[kind]}`",
    )


def drafted(entry: Entry) -> Draft | LedgerError:
    """Return the draft of an entry, or what is wrong with its form.

    A frozen document is none of them: its event holds hashes that only freezing can vouch for.
    """
    if isinstance(entry.submission, LedgerError):
        return entry.submission
    if entry.submission.kind in FROZEN_KINDS:
        return InvalidInputError([frozen_fault(entry.submission.kind)], hint=FREEZING)
    try:
        return draft(entry.submission)
    except InvalidInputError as error:
        return error
