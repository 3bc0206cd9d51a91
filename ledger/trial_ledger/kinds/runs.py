"""Events of a run: opened, closed, related, invalidated.

Invariant: a run is corrected by another run, never by a change (C12).
"""

from typing import Literal

from trial_ledger.forms import HashForm, NameForm, RunNameForm
from trial_ledger.identifiers import Count
from trial_ledger.kinds.base import (
    Data,
    Entry,
    PlainText,
    Text,
)

__all__ = [
    "DerivedFrom",
    "RunClosed",
    "RunInvalidated",
    "RunOpened",
    "RunReinstated",
    "RunRelated",
    "RunResumed",
]


class DerivedFrom(Data, frozen=True, kw_only=True, gc=False):
    """The parent of a derived run, and how much of it."""

    run: RunNameForm
    """The parent."""
    link: Count
    """Last link of the parent that counts."""


class RunOpened(Data, frozen=True, kw_only=True, gc=False):
    """One execution of one manifest begins."""

    manifest: NameForm
    """Hash of the manifest; on submission also `configuration` or `configuration@prefix`."""
    rubric: NameForm | None = None
    """`name@version`; the manifest's unless this is a derived run."""
    rubric_hash: HashForm | None = None
    """Hash of that rubric; the ledger fills it."""
    dataset: NameForm | None = None
    """`name@version`; the manifest's unless this is a derived run."""
    entry: Entry
    """How the events come in: live, appended after the fact, imported."""
    planned: Count | None = None
    """Number of planned slots; the ledger fills it."""
    slots: PlainText | None = None
    """Planned slots as JSON {"questions": [ids], "repetitions": n}; filled from the manifest."""
    reason: Text | None = None
    """Why, where the run corrects or derives."""
    supersedes: RunNameForm | None = None
    """Run that this one corrects (C12)."""
    derived_from: DerivedFrom | None = None
    """Set for a derived run: judged again under another rubric or gold (C14)."""


class RunResumed(Data, frozen=True, kw_only=True, gc=False):
    """A closed or interrupted run goes on."""

    reason: Text | None = None
    """Why."""


class RunClosed(Data, frozen=True, kw_only=True, gc=False):
    """A run ends."""

    status: Literal["complete", "interrupted", "failed"]
    """How."""
    reason: Text | None = None
    """Why, where it did not complete."""


class RunRelated(Data, frozen=True, kw_only=True, gc=False):
    """Another run of the same source."""

    run: RunNameForm
    """The other."""
    how: NameForm
    """In which way, as `same eval id, other bytes`."""


class RunInvalidated(Data, frozen=True, kw_only=True, gc=False):
    """A person says that a run does not count; it stays readable (C12)."""

    reason: Text
    """Why."""
    superseded_by: RunNameForm | None = None
    """The run that takes its place, where there is one."""


class RunReinstated(Data, frozen=True, kw_only=True, gc=False):
    """An invalidation is taken back."""

    reason: Text
    """Why."""
