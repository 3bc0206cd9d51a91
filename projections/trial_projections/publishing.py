"""Numbers that leave the house, and whether they still follow from the log (C36).

Invariant: a number is computed anew from the events that it was computed from, and no others; what
came later changes nothing about it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from blake3 import blake3

from trial_ledger.book import Ledger
from trial_ledger.documents.canonical_form import canonical_json
from trial_projections.aggregate import Range
from trial_projections.derivation import derive
from trial_projections.reading import ReadModel
from trial_projections.records import PublicationRecord, RunRecord
from trial_projections.scores import RunInput

__all__ = ["Followed", "followed", "publications"]


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """A published number, computed anew from the same events."""

    run: str
    """Its run."""
    metric: str
    """Its metric."""
    seq: int
    """Its metric.published."""
    low: str
    """As it was published, the lower end of its range."""
    high: str
    """The upper end."""
    low_anew: str | None
    """As it comes out now; None where there is no such number."""
    high_anew: str | None
    """The upper end."""
    derived_alike: bool
    """Whether all that it is made of is the same too, and not the number alone."""

    @property
    def follows(self) -> bool:
        """Whether the number follows from the log."""
        return (self.low, self.high) == (self.low_anew, self.high_anew)


def derived(source: RunInput, run: RunRecord, metric: str, size: int) -> tuple[Range | None, str]:
    """Return a number, and the digest of all that it is made of: every member with its events."""
    derivation = derive(source, run, metric, size=size, members=True)
    digest = blake3(canonical_json(msgspec.to_builtins(derivation))).hexdigest()
    return derivation.score.headline, digest


def publications(model: ReadModel, run: RunRecord) -> Iterator[dict[str, Any]]:
    """Yield the data of a metric.published for every metric of a run that has a number.

    Args:
        model: the read side, at the size of the log that the numbers are of.
        run: the run.
    """
    source = model.score_input(run)
    for metric in source.rubric.metrics:
        found, digest = derived(source, run, metric, model.size)
        if found is None:
            continue
        value = {"value": found.low.value} if found.is_point else {}
        yield {
            "metric": metric,
            **value,
            "low": found.low.value,
            "high": found.high.value,
            "derivation": digest,
            "size": model.size,
            "link": run.links,
        }


def followed(ledger: Ledger, runs: Iterable[RunRecord]) -> list[Followed]:
    """Return every published number of some runs, computed anew.

    Args:
        ledger: an open ledger.
        runs: the runs, as they are now.
    """
    by_size: dict[int, list[tuple[str, PublicationRecord]]] = {}
    for run in runs:
        for known in run.published:
            by_size.setdefault(known.size, []).append((run.name, known))
    found: list[Followed] = []
    for size, published in by_size.items():
        model = ReadModel.open(ledger, as_of=size)
        try:
            found += [again(model, name, known) for name, known in published]
        finally:
            model.close()
    return sorted(found, key=lambda one: one.seq)


def again(model: ReadModel, name: str, known: PublicationRecord) -> Followed:
    """Return a published number, computed anew; none where its run was not there yet."""
    run: RunRecord | None = model.state("runs").read(name)
    number, digest = None, None
    if run is not None:
        number, digest = derived(model.score_input(run), run, known.metric, model.size)
    return Followed(
        run=name,
        metric=known.metric,
        seq=known.mark.seq,
        low=known.low,
        high=known.high,
        low_anew=None if number is None else number.low.value,
        high_anew=None if number is None else number.high.value,
        derived_alike=digest == known.derivation,
    )
