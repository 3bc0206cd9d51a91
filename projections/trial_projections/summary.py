"""Everything that `scores` shows of a run, as one value; no formatting.

Invariant: what is shown is of one size of the log, which the value names.
"""

from collections.abc import Iterable, Sequence

import msgspec

from trial_ledger.documents.manifest_structs import Manifest
from trial_projections.accounts import Account
from trial_projections.failures import FailureCounts, count_failures
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord, SessionRecord
from trial_projections.reported import Reported, reported_by_source
from trial_projections.review_coverage import Coverage, coverage_of, disagreements_in
from trial_projections.scores import MetricScore, score_run
from trial_projections.spending import Spending, spending_of
from trial_projections.trust import TrustMark, trust_marks

__all__ = ["RunSummary", "summarise"]


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What `scores` shows."""

    ledger: str
    """Id of the ledger."""
    size: int
    """Events in the log."""
    run: RunRecord
    """The run."""
    configuration: str
    """Its configuration."""
    phase: str | None
    """pilot, final, or None where the source does not say."""
    splits: tuple[str, ...]
    """Splits that were asked; empty for all."""
    questions: int
    """Planned questions."""
    repetitions: int
    """Planned repetitions of each."""
    primary: str
    """The headline metric."""
    metrics: list[MetricScore]
    """Every metric, the primary first."""
    reported: list[Reported]
    """What the source itself reports, for imported runs."""
    failures: FailureCounts
    """Its failure occurrences."""
    trials_lost: int
    """Trials that a failure ended."""
    misses: int
    """Retrieval misses declared; no failures, and counted apart (C26)."""
    accounts: list[Account]
    """Its costs."""
    spending: Spending
    """What its trials cost for every one that the headline metric finds right."""
    trust: list[TrustMark]
    """What supports its numbers and what weakens them."""
    reviewed: bool
    """Whether people reviewed the rubric's share of what was judged, under every metric (C29)."""
    open_disagreements: int
    """Disagreements of reviewer and judge that nobody resolved (C30)."""
    all_failed: bool
    """Whether trials were started and not one came to an end of its own, or still may."""

    def unmet(self, gates: Sequence[str]) -> list[str]:
        """Return which of some gates are not met."""
        holds = {
            "decided": all(metric.gate_decided for metric in self.metrics),
            "valid": self.run.is_valid,
            "live": self.trust[0].level == "ok",
            "reviewed": self.reviewed,
            "resolved": not self.open_disagreements,
            "final": self.phase == "final",
        }
        return [gate for gate in gates if not holds[gate]]


def summarise(model: ReadModel, run: RunRecord) -> RunSummary:
    """Return what `scores` shows of a run."""
    source = model.score_input(run)
    manifest: Manifest = model.manifest(run)
    scores = score_run(source)
    coverages = [coverage_of(model, run, source, name) for name in scores]
    trials = [trial for sessions in source.sessions.values() for trial in sessions]
    return RunSummary(
        ledger=model.ledger.id,
        size=model.size,
        run=run,
        configuration=manifest.configuration,
        phase=manifest.phase,
        splits=tuple(manifest.splits),
        questions=len(source.slots.questions),
        repetitions=source.slots.repetitions,
        primary=source.rubric.primary,
        metrics=list(scores.values()),
        reported=reported_by_source(model, run),
        failures=count_failures(model.occurrences(run.name)),
        trials_lost=sum(trial.outcome == "errored" for trial in trials),
        misses=sum(len(trial.misses) for trial in model.own_records(run.name, SessionRecord)),
        accounts=model.accounts(run.name),
        spending=spending_of(model, run, source, source.rubric.primary),
        trust=trust_marks(model, run, scores, coverages),
        reviewed=is_reviewed(coverages),
        open_disagreements=len(
            [known for known in disagreements_in(source) if known.record.resolved is None]
        ),
        all_failed=all_failed(run, trials),
    )


def is_reviewed(coverages: Iterable[Coverage]) -> bool:
    """Return whether enough was reviewed under every metric; not where nothing was judged."""
    judged = [coverage for coverage in coverages if coverage.judged]
    return bool(judged) and all(coverage.is_met for coverage in judged)


def all_failed(run: RunRecord, trials: Iterable[SessionRecord]) -> bool:
    """Return whether trials were started and not one came to an end of its own, or still may."""
    outcomes = {trial.outcome for trial in trials}
    failed = {"errored", "cancelled"} if run.status == "open" else {"errored", "cancelled", None}
    return bool(outcomes) and outcomes <= failed
