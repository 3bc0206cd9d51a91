"""A whole report of some runs as one value: nothing of it is formatted here (C35).

Invariant: built twice from one log it is the same; nothing that weakens a number is left out.
"""

from collections.abc import Iterator, Sequence

import msgspec

from trial_ledger import events
from trial_ledger.canonical import decode_event
from trial_ledger.documents.dataset_structs import DatasetWarning
from trial_ledger.heads import parse_note
from trial_ledger.identifiers import parse_trial
from trial_ledger.merkle import root_at
from trial_projections.comparison import compare
from trial_projections.derivation import derive, slot_name
from trial_projections.failure_groups import group_failures
from trial_projections.fault_effects import fault_effects
from trial_projections.latency import latency_of
from trial_projections.reading import ReadModel
from trial_projections.records import OccurrenceRecord, RunRecord, SessionRecord
from trial_projections.report_structs import (
    Change,
    DatasetFacts,
    DisagreementRow,
    FailureRow,
    HeadFacts,
    MissRow,
    RelatedRun,
    Report,
    ReviewRow,
    RunReport,
)
from trial_projections.report_texts import GOLD_HIDDEN, TextReader
from trial_projections.report_trials import (
    MOST_TRIALS,
    Slot,
    chosen_slots,
    shown_of,
    slots_of,
    text_limit,
    trial_rows,
)
from trial_projections.reported import losses_of
from trial_projections.review_coverage import coverage_of
from trial_projections.scores import RunInput
from trial_projections.summary import RunSummary, summarise
from trial_projections.trust import TrustMark

__all__ = ["MOST_FAILURES", "make_report"]

MOST_FAILURES = 1_000
"""Failure occurrences that a report lists one by one; all of them are counted."""


def make_report(model: ReadModel, names: Sequence[str], *, include_gold: bool = False) -> Report:
    """Return the report of some runs.

    Args:
        model: the read side, at any size of the log.
        names: runs by name or unique prefix, at least one; the same one twice counts once.
        include_gold: hold texts that may show gold: gold records, reasoning, what reviewers said.

    Raises:
        NotFoundError: there is no such run.
        AmbiguousError: there are several of that prefix.
        VerificationError: a text is not what was written.
    """
    runs = list({run.name: run for run in (model.run(name) for name in names)}.values())
    sources = [model.score_input(run) for run in runs]
    slots = [slots_of(source) for source in sources]
    everything = sum(len(found) for found in slots) <= MOST_TRIALS
    chosen = [
        chosen_slots(run.name, found, everything=everything)
        for run, found in zip(runs, slots, strict=True)
    ]
    reader = TextReader(
        model.ledger,
        include_gold=include_gold,
        limit=text_limit(sum(len(kept) for kept in chosen)),
    )
    return Report(
        ledger=model.ledger.id,
        size=model.size,
        root=root_at(model.size, model.ledger.store.node).hex(),
        recorded_at=model.ledger.read(model.size).event.recorded_at,
        head=head_of(model),
        include_gold=include_gold,
        comparison=compare(model, runs) if len(runs) > 1 else None,
        runs=[
            RunBuilder(model, run, source, reader).build(found, kept)
            for run, source, found, kept in zip(runs, sources, slots, chosen, strict=True)
        ],
        commands=[
            "ledger verify",
            report_command(runs, model.size, include_gold=include_gold),
        ],
    )


def report_command(runs: Sequence[RunRecord], size: int, *, include_gold: bool) -> str:
    """Return the command that makes a report again."""
    names = " ".join(run.name for run in runs)
    gold = " --include-gold" if include_gold else ""
    return f"ledger report {names} --as-of {size}{gold} -o FILE"


def head_of(model: ReadModel) -> HeadFacts | None:
    """Return the newest signed head of the part of the log that was read."""
    heads = [head for head in model.ledger.store.heads.all() if head[0] <= model.size]
    if not heads:
        return None
    size, note = heads[-1]
    root = parse_note(note)[1].root.hex()
    return HeadFacts(size=size, root=root, unsigned_tail=model.size - size, note=note)


class RunBuilder:
    """Collects what a report says of one run."""

    def __init__(
        self, model: ReadModel, run: RunRecord, source: RunInput, reader: TextReader
    ) -> None:
        self.model = model
        self.run = run
        self.source = source
        self.reader = reader

    def build(self, slots: Sequence[Slot], chosen: Sequence[Slot]) -> RunReport:
        """Return the report of the run; of its slots only the chosen ones are in it."""
        model, run, registry = self.model, self.run, self.model.registry
        summary = self.summary()
        occurrences = model.occurrences(run.name)
        occurrences.sort(key=lambda found: (found.recovered is not None, found.mark.seq))
        own = model.own_records(run.name, SessionRecord)
        misses = [
            MissRow(slot=slot_name(trial.question, trial.repetition), seq=mark.seq)
            for trial in own
            for mark in trial.misses
        ]
        return RunReport(
            summary=summary,
            manifest=run.manifest,
            manifest_seq=registry.places[run.manifest],
            system=registry.manifests[run.manifest].system_hash,
            rubric_hash=run.rubric_hash,
            rubric_seq=registry.places[run.rubric_hash],
            shapes={
                metric.name: list(self.source.rubric.metrics[metric.name].shapes)
                for metric in summary.metrics
            },
            dataset=self.dataset(),
            derivations=[
                derive(self.source, run, metric.name, size=model.size) for metric in summary.metrics
            ],
            latency=latency_of(model, run),
            effects=fault_effects(self.source),
            reviews=list(self.reviews()),
            changes=[
                Change(
                    seq=change.mark.seq,
                    valid=change.valid,
                    actor=change.actor,
                    reason=self.reader.read(change.reason),
                )
                for change in run.changes
            ],
            closing_reason=self.reader.read(run.closing_reason),
            failures=[self.failure(found) for found in occurrences[:MOST_FAILURES]],
            failures_total=len(occurrences),
            failure_groups=group_failures(
                sorted(occurrences, key=lambda found: found.mark.seq),
                own,
                ("class", "fault", "endpoint"),
            ),
            misses=sorted(misses, key=lambda miss: miss.seq),
            disagreements=self.disagreements(),
            related=self.related(),
            losses=losses_of(model, run),
            shown=shown_of(slots, chosen, self.reader.limit),
            trials=trial_rows(model, run, self.source, chosen, self.reader),
            limitations=[mark.text for mark in summary.trust if mark.level != "ok"],
            commands=commands_of(summary),
        )

    def summary(self) -> RunSummary:
        """Return what `scores` shows; a reason that may show gold only where that was asked for."""
        found = summarise(self.model, self.run)
        if self.run.is_valid or self.reader.include_gold:
            return found
        change = self.run.changes[-1]
        if change.reason.class_ != "gold":
            return found
        said = f"INVALID since seq {change.mark.seq}, said {change.actor}: "
        marks = [
            TrustMark(level=mark.level, text=said + f"({GOLD_HIDDEN})")
            if mark.text.startswith(said)
            else mark
            for mark in found.trust
        ]
        return msgspec.structs.replace(found, trust=marks)

    def dataset(self) -> DatasetFacts:
        """Return what is known of the questions."""
        registry = self.model.registry
        data = registry.datasets[self.run.dataset]
        warnings: list[str] = []
        if data.warnings is not None:
            content = self.model.ledger.document_bytes(data.warnings)
            known = msgspec.json.decode(content, type=list[DatasetWarning])
            warnings = [
                f"{warning.clause} {warning.question or 'dataset'}: {warning.message}"
                for warning in known
            ]
        return DatasetFacts(
            reference=self.run.dataset,
            seq=registry.places[data.questions.blob],
            questions=data.count,
            by_shape=dict(data.by_shape),
            commitments_root=data.commitments_root,
            cutoff=data.cutoff,
            provenance=self.reader.read(data.provenance),
            reconstructed=data.reconstructed,
            warnings=warnings,
        )

    def failure(self, found: OccurrenceRecord) -> FailureRow:
        """Return the row of one failure occurrence."""
        slot = None
        if found.trial is not None:
            key = parse_trial(found.trial, configuration="-")
            slot = slot_name(key.question, key.repetition)
        return FailureRow(
            seq=found.mark.seq,
            trial=found.trial,
            slot=slot,
            at=found.at,
            class_=found.class_,
            detail_class=found.detail_class,
            fault=found.fault,
            endpoint=found.endpoint,
            impact=found.impact,
            recovered_by=found.recovered_by,
            surfaced=found.surfaced,
            message=self.reader.read(found.message),
        )

    def reviews(self) -> Iterator[ReviewRow]:
        """Yield how each metric was reviewed where something was judged automatically."""
        for name in self.source.rubric.metrics:
            found = coverage_of(self.model, self.run, self.source, name)
            if found.judged:
                yield ReviewRow(
                    metric=name,
                    judged=found.judged,
                    reviewed=found.reviewed,
                    needed=found.needed,
                    is_met=found.is_met,
                    judged_right=found.judged_right,
                    confusion=found.confusion,
                    estimate=found.estimate,
                )

    def disagreements(self) -> list[DisagreementRow]:
        """Return the disagreements of the run, open ones first."""
        found: dict[tuple[str | None, str], DisagreementRow] = {}
        kinds = ("disagreement.opened", "disagreement.resolved")
        for document in self.model.ledger.store.link_documents(
            self.run.name, kinds, upto=self.run.links
        ):
            event = decode_event(document)
            trial = event.trial
            slot = None if trial is None else slot_name(trial.question, trial.repetition)
            data = event.data
            if isinstance(data, events.DisagreementOpened):
                found[slot, data.disagreement] = DisagreementRow(
                    slot=slot, disagreement=data.disagreement, seq=event.seq, finding=None
                )
            else:
                assert isinstance(data, events.DisagreementResolved), "only these were asked for"
                opened = found[slot, data.disagreement]
                found[slot, data.disagreement] = msgspec.structs.replace(
                    opened, finding=data.finding
                )
        return sorted(found.values(), key=lambda row: (row.finding is not None, row.seq))

    def related(self) -> list[RelatedRun]:
        """Return the other runs on the same questions, and those that the log relates to this."""
        mine = self.model.planned_texts(self.run)
        found: list[RelatedRun] = []
        for other in self.model.runs():
            if other.name == self.run.name:
                continue
            shared = len(mine & self.model.planned_texts(other))
            how = self.relations(other)
            if not shared and not how:
                continue
            manifest = self.model.manifest(other)
            found.append(
                RelatedRun(
                    run=other.name,
                    how=how,
                    valid=other.is_valid,
                    status=other.status,
                    phase=manifest.phase,
                    configuration=manifest.configuration,
                    dataset=other.dataset,
                    rubric=other.rubric,
                    shared=shared,
                    seq=other.opened.seq,
                )
            )
        return found

    def relations(self, other: RunRecord) -> list[str]:
        """Return how another run is related to this one, in words."""
        run = self.run
        how: list[str] = []
        if other.name == run.supersedes:
            how.append("superseded by this run")
        if other.name == run.superseded_by:
            how.append("supersedes this run")
        if other.name == run.derived_from:
            how.append(f"its trials are judged here, as of its link {run.derived_link}")
        if other.name in run.derived:
            how.append("judges the trials of this run again")
        how += [text for name, text in run.related if name == other.name]
        return how


def commands_of(summary: RunSummary) -> list[str]:
    """Return what shows the numbers of a run from the log."""
    run, at = summary.run.name, f"--as-of {summary.size}"
    return [
        f"ledger scores {run} {at}",
        *(f"ledger explain {run} {metric.name} {at} --json" for metric in summary.metrics),
        f"ledger failures {run} {at}",
        f"ledger trials {run} {at}",
        f"ledger costs {run} {at}",
        f"ledger latency {run} {at}",
        f"ledger review status {run} {at}",
    ]
