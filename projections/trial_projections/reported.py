"""The numbers that an imported source itself reports, beside ours.

Invariant: a source's number is shown as its text says; it is never recomputed and never a headline.
"""

import msgspec

from trial_ledger.events import SourceImported
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord

__all__ = ["Reported", "losses_of", "reported_by_source"]


REDACTED = "a list of what the source had lost was redacted"
"""Stands for losses that nobody can read any more: they are unknown, not none."""


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """One number of the source."""

    metric: str
    """Our metric that it is about: the source's name of the score."""
    name: str
    """The source's name of the number, as `accuracy`."""
    reducer: str | None
    """How the source reduces repetitions, where it says."""
    value: str
    """The number as the source wrote it."""
    rule: str | None = None
    """Named rule by which the source computes it, where whoever imported it said so."""


def imported_events(model: ReadModel, run: RunRecord) -> list[SourceImported]:
    """Return the source.imported events of a run."""
    found = [model.ledger.read(mark.seq).event.data for mark in run.imported]
    return [data for data in found if isinstance(data, SourceImported)]


def json_list(model: ReadModel, run: RunRecord, field: str) -> list[object]:
    """Return the joined JSON lists of one text field; an erased one adds nothing."""
    joined: list[object] = []
    for data in imported_events(model, run):
        reference = getattr(data, field)
        content = None if reference is None else model.ledger.blob(reference)
        if content is not None:
            joined += msgspec.json.decode(content, type=list[object])
    return joined


def reported_by_source(model: ReadModel, run: RunRecord) -> list[Reported]:
    """Return the numbers that the sources of a run report, in their order."""
    return [
        Reported(
            metric=str(row.get("score")),
            name=str(row.get("metric")),
            reducer=None if row.get("reducer") is None else str(row["reducer"]),
            value=str(row["value"]),
            rule=None if row.get("rule") is None else str(row["rule"]),
        )
        for row in json_list(model, run, "reported")
        if isinstance(row, dict) and row.get("value") is not None
    ]


def losses_of(model: ReadModel, run: RunRecord) -> list[str]:
    """Return what the sources of a run had already lost, in sentences."""
    found = [str(loss) for loss in json_list(model, run, "losses")]
    lists = [data.losses for data in imported_events(model, run) if data.losses is not None]
    redacted = sum(model.ledger.blob(reference) is None for reference in lists)
    return found + [REDACTED] * redacted
