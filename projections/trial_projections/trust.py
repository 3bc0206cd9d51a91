"""What stands behind a run's numbers, and what does not: the marks beside every metric.

Invariant: a mark states a fact of the log; nothing that weakens a number is left out because it is
awkward.
"""

from typing import Literal

import msgspec

from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.scores import MetricScore

__all__ = ["TrustMark", "trust_marks"]


class TrustMark(msgspec.Struct, frozen=True, kw_only=True):
    """One fact about how far a number can be trusted."""

    level: Literal["ok", "!"]
    """`ok` supports it, `!` weakens it."""
    text: str
    """The fact."""


def trust_marks(
    model: ReadModel, run: RunRecord, scores: dict[str, MetricScore]
) -> list[TrustMark]:
    """Return the marks of a run, what supports its numbers first."""
    good = [order_mark(model, run)]
    bad: list[str] = []
    if not run.is_valid:
        change = run.changes[-1]
        bad.append(f"INVALID since seq {change.mark.seq}, said {change.actor}")
    if run.derived_from is not None:
        bad += derived_marks(model, run)
    elif run.derived:
        bad.append(f"{len(run.derived) + 1} rubrics or datasets tried on these trials")
    bad += dataset_marks(model, run)
    invalidated = max((score.invalidated_after for score in scores.values()), default=0)
    if invalidated:
        bad.append(f"{invalidated} trials invalidated after a verdict still count")
    retried = max((score.retried for score in scores.values()), default=0)
    if retried:
        bad.append(f"retried {retried}: a later session counts there")
    failed = [score.name for score in scores.values() if not score.gate_decided]
    if failed:
        bad.append(f"gate decided failed: {', '.join(failed)}")
    bad.append("no human review recorded")
    bad.append("no outside anchor: the owner could still rewrite everything")
    return good + [TrustMark(level="!", text=text) for text in bad]


def order_mark(model: ReadModel, run: RunRecord) -> TrustMark:
    """Return whether the order of this run's events was witnessed."""
    if run.entry != "live":
        return TrustMark(level="!", text=f"order not witnessed: {run.entry} after the fact")
    frozen = model.registry.places[run.manifest]
    first = model.ledger.store.first_of_kind(run.name, "trial.started")
    before = f"manifest frozen at seq {frozen}"
    if first is not None:
        before += f", first trial at seq {first}"
    return TrustMark(level="ok", text=f"recorded live; {before}")


def derived_marks(model: ReadModel, run: RunRecord) -> list[str]:
    """Return the marks that a derived run bears (C14)."""
    assert run.derived_from is not None, "the caller looked"
    parent = model.run(run.derived_from)
    marks = [
        f"rubric after the fact: derived from {parent.name} as of its link {run.derived_link}",
        f"{len(parent.derived) + 1} rubrics or datasets tried on these trials",
    ]
    if not parent.is_valid:
        marks.append(f"parent {parent.name} invalidated")
    return marks


def dataset_marks(model: ReadModel, run: RunRecord) -> list[str]:
    """Return what registration already warned of (C5)."""
    dataset = model.registry.datasets[run.dataset]
    marks: list[str] = []
    if dataset.warning_count:
        marks.append(f"{dataset.warning_count} dataset warnings")
    if dataset.reconstructed:
        marks.append("manifest, rubric and dataset reconstructed from the source's log")
    return marks
