"""How far people reviewed what graders and judges decided, and where they differ (C29, C30).

Invariant: a review counts for the coverage only where the seed draws its trial from what is judged
now and a drawing in the log named it before; whoever picks trials by hand adds nothing to it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from trial_ledger.events import BlobRef
from trial_projections.derivation import trial_name
from trial_projections.reading import ReadModel
from trial_projections.records import (
    DisagreementRecord,
    JudgmentRecord,
    ReviewRecord,
    RunRecord,
    SessionRecord,
)
from trial_projections.review_estimate import ReviewedStratum, ReviewEstimate, estimate_of
from trial_projections.reviewing import (
    DrawDocument,
    Judged,
    draw,
    draw_document,
    drawn,
    judged_trials,
    label_of,
)
from trial_projections.scores import RunInput

__all__ = [
    "PURPOSIVE",
    "Coverage",
    "Disagreement",
    "Drawing",
    "StratumCoverage",
    "coverage_of",
    "disagreements_in",
    "drawings_of",
]

PURPOSIVE = "purposive"
"""The plan of a review whose trial was not drawn."""


NO_DRAWING: tuple[int, frozenset[str]] = (0, frozenset())


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """A drawing in the log."""

    plan: str
    """Its id."""
    seq: int
    """Place of its review.drawn."""
    document: DrawDocument | None
    """What it drew; None where it is of another form, so that nothing counts by it."""


class StratumCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """How far one stratum is reviewed."""

    by: dict[str, str]
    """What its trials have in common."""
    judged: int
    """How many there are."""
    needed: int
    """How many of them are to be reviewed."""
    done: int
    """How many of those are."""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A disagreement with its address."""

    trial: str
    """Its trial."""
    metric: str
    """The metric of its judgment."""
    record: DisagreementRecord
    """What the log says of it."""
    judgment: JudgmentRecord
    """The judgment."""
    review: ReviewRecord
    """The review."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How far the judgments of one metric are reviewed."""

    metric: str
    """The metric."""
    by_model: bool
    """Whether a model gave any of them; else code did."""
    planned: bool
    """Whether the rubric has a review plan; one rebuilt from a source's log may have none."""
    judged: int
    """Trials that an automated judgment decides."""
    reviewed: int
    """Of these, drawn and reviewed."""
    purposive: int
    """Of these, reviewed without having been drawn."""
    needed: int
    """How many are to be reviewed; 0 where the rubric has no plan."""
    strata: list[StratumCoverage]
    """The same by stratum."""
    plan: str | None
    """The drawing that is the one of now; None where there is none."""
    remaining: list[str]
    """Drawn trials that nobody reviewed, in the order of their hashes."""
    open: int
    """Disagreements that are not resolved."""
    confusion: list[tuple[str, str, int]]
    """(automated verdict, reviewer's verdict, trials) of drawn trials, by their last review."""
    judged_right: int
    """Trials that the automated judgments find right."""
    estimate: ReviewEstimate
    """What the reviews say about all judged trials."""

    @property
    def is_met(self) -> bool:
        """Whether the rubric's share of every stratum is reviewed."""
        return self.planned and all(stratum.done >= stratum.needed for stratum in self.strata)


def drawings_of(model: ReadModel, run: RunRecord) -> list[Drawing]:
    """Return the drawings of a run in order."""
    return [
        Drawing(plan=record.plan, seq=record.mark.seq, document=document_of(model, record.strata))
        for record in run.drawings
    ]


def document_of(model: ReadModel, strata: BlobRef) -> DrawDocument | None:
    """Return what a drawing drew; None where it has another form: anybody may append one."""
    content = model.ledger.blob(strata)
    try:
        return msgspec.json.decode(content or b"", type=DrawDocument)
    except msgspec.MsgspecError:
        return None


def coverage_of(model: ReadModel, run: RunRecord, source: RunInput, metric: str) -> Coverage:
    """Return how far the judgments of a metric are reviewed.

    Args:
        model: the read side.
        run: the run.
        source: its input.
        metric: a metric of its rubric.
    """
    plan, judged = source.rubric.review, judged_trials(source, metric)
    document = DrawDocument(metric=metric, fraction="0", floor=0, strata=())
    drawings: list[Drawing] = []
    if plan is not None:
        configuration = model.manifest(run).configuration
        document = draw_document(source, metric, plan, configuration, judged=judged)
        drawings = [
            known
            for known in drawings_of(model, run)
            if known.document is not None and known.document.metric == metric
        ]
    reviews = counting_reviews(judged, document, drawings)
    strata = [
        StratumCoverage(
            by=stratum.by,
            judged=stratum.judged,
            needed=len(stratum.drawn),
            done=sum(trial in reviews for trial in stratum.drawn),
        )
        for stratum in document.strata
    ]
    rules = source.rubric.metrics[metric]
    pairs = {
        trial.trial: (label_of(trial.automated, rules), label_of(reviews[trial.trial], rules))
        for trial in judged
        if trial.trial in reviews
    }
    left = drawn(document) - reviews.keys()
    return Coverage(
        metric=metric,
        by_model=any(trial.automated.by == "model" for trial in judged),
        planned=plan is not None,
        judged=len(judged),
        reviewed=len(reviews),
        purposive=sum(
            trial.trial not in reviews
            and any(review.metric == metric for review in trial.record.reviews)
            for trial in judged
        ),
        needed=sum(stratum.needed for stratum in strata),
        strata=strata,
        plan=next((known.plan for known in drawings if known.document == document), None),
        # Not by stratum: whoever is about to review is not told what was judged.
        remaining=[] if plan is None else list(draw(left, plan.seed, len(left))),
        open=sum(known.record.resolved is None for known in disagreements_in(source, metric)),
        confusion=[(*labels, times) for labels, times in sorted(Counter(pairs.values()).items())],
        judged_right=sum(trial.judged == "success" for trial in judged),
        estimate=estimate_of(
            [
                ReviewedStratum(
                    stratum.judged,
                    len(stratum.drawn),
                    [pairs[trial] for trial in stratum.drawn if trial in pairs],
                )
                for stratum in document.strata
            ]
        ),
    )


def counting_reviews(
    judged: Iterable[Judged], document: DrawDocument, drawings: Sequence[Drawing]
) -> dict[str, ReviewRecord]:
    """Return the last review of every trial that is drawn now and was drawn before its review.

    Args:
        judged: the judged trials of the metric.
        document: the drawing as the log is now.
        drawings: the drawings of the metric in the log.
    """
    chosen = drawn(document)
    named = {
        known.plan: (known.seq, drawn(known.document))
        for known in drawings
        if known.document is not None
    }
    found: dict[str, ReviewRecord] = {}
    for trial in judged:
        if trial.trial not in chosen:
            continue
        for review in trial.record.reviews:
            seq, names = named.get(review.plan, NO_DRAWING)
            ours = review.metric == document.metric and trial.trial in names
            if ours and seq < review.mark.seq:
                found[trial.trial] = review
    return found


def records_in(source: RunInput) -> Iterable[SessionRecord]:
    """Return the records that hold a run's judgments and reviews."""
    if source.judged is not None:
        return source.judged.values()
    return (trial for sessions in source.sessions.values() for trial in sessions)


def disagreements_in(source: RunInput, metric: str | None = None) -> list[Disagreement]:
    """Return the disagreements of a run, in the order in which they were opened.

    Args:
        source: the run.
        metric: only those about its judgments; None for all.
    """
    found: list[Disagreement] = []
    for trial in records_in(source):
        for known in trial.disagreements:
            judgment = next(item for item in trial.judgments if item.id == known.judgment)
            if metric in {None, judgment.metric}:
                review = next(item for item in trial.reviews if item.id == known.review)
                found.append(
                    Disagreement(
                        trial=trial_name(trial),
                        metric=judgment.metric,
                        record=known,
                        judgment=judgment,
                        review=review,
                    )
                )
    return sorted(found, key=lambda known: known.record.mark.seq)
