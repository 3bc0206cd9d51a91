"""Guards of where an event belongs, of run.opened, and of names of other runs (C9, C12, C14).

Invariant: a run is opened once, under a name of its own, and points only at runs that exist.
"""

from collections.abc import Callable

from trial_ledger.errors import RuleError
from trial_ledger.events import RunOpened
from trial_ledger.intake import COMMAND_KINDS, Draft
from trial_ledger.lifecycle.scope import require
from trial_ledger.lifecycle.states import RunState

__all__ = ["check_belonging", "check_derivation", "check_opening", "require_run"]

DOCUMENT_KINDS = frozenset(COMMAND_KINDS)
"""Kinds of the ledger as a whole, which no run can have."""

RUNLESS_KINDS = DOCUMENT_KINDS | {"note.added", "source.imported"}
"""Kinds that need no run."""


def check_belonging(draft: Draft) -> None:
    """Refuse an event that names no run where its kind has one, or a run where it has none.

    Raises:
        RuleError: it does.
    """
    if draft.run is None:
        require(
            draft.trial is None and draft.kind in RUNLESS_KINDS,
            f"{draft.kind} names no run",
            field="run",
            hint='give "run": the name of an opened run',
        )
    else:
        require(
            draft.kind not in DOCUMENT_KINDS,
            f"{draft.kind} belongs to the ledger as a whole, run {draft.run} is named",
            field="run",
        )


def check_opening(draft: Draft, data: RunOpened, *, exists: Callable[[str], bool]) -> None:
    """Refuse a run without a name, of a used name, or that points at a run that is not there.

    Raises:
        RuleError: with the clause.
    """
    require(draft.run is not None, "run.opened names no run", field="run")
    require(draft.trial is None, "run.opened belongs to no trial", field="trial")
    assert draft.run is not None, "required above"
    require(
        not exists(draft.run),
        f"run {draft.run} exists",
        clause="C12",
        field="run",
        hint="a correction is a new run under a new name that supersedes the old",
    )
    if data.supersedes is not None:
        require_run(data.supersedes, exists=exists)
    if data.derived_from is not None:
        require_run(data.derived_from.run, exists=exists)


def check_derivation(data: RunOpened, parent: RunState | None) -> None:
    """Refuse a derived run of a derived run, or of more of its parent than there is (C14).

    Raises:
        RuleError: with the clause.
    """
    if parent is None or data.derived_from is None:
        return
    origin = parent.opened.derived_from
    require(
        origin is None,
        f"run {parent.name} is derived itself",
        clause="C14",
        field="data.derived_from",
        hint=f"derive from the run that has the trials: {origin and origin.run}",
    )
    require(
        1 <= data.derived_from.link <= parent.links,
        f"link {data.derived_from.link} is not one of the {parent.links} of run {parent.name}",
        clause="C14",
        field="data.derived_from.link",
    )


def require_run(name: str, *, exists: Callable[[str], bool]) -> None:
    """Refuse to point at a run that was never opened.

    Raises:
        RuleError: it was not.
    """
    if not exists(name):
        message = f"run {name} was never opened"
        raise RuleError(message, clause="C12", hint="ledger runs lists those there are")
