"""Fills what only the ledger knows: references, planned slots, gold commitments, the leak check.

Invariant: a field that the writer gave is never changed, only refused where it contradicts what
the ledger knows.
"""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from trial_ledger import events
from trial_ledger.amounts import Cost
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.leaks import find_leak, gold_terms
from trial_ledger.documents.manifest_structs import Manifest, prices_hash
from trial_ledger.errors import InvalidInputError, RuleError
from trial_ledger.events import AnyData, BlobRef, RunOpened
from trial_ledger.goldfile import GoldFile
from trial_ledger.identifiers import TrialKey
from trial_ledger.intake import Draft
from trial_ledger.lifecycle.states import RunState, Slots
from trial_ledger.loading import decode_slots, encode_slots
from trial_ledger.registry import Registry
from trial_ledger.submission import NewText
from trial_ledger.texts import PLACEHOLDER

__all__ = ["Filler"]

Costed = TypeVar("Costed", events.CallFinished, events.JudgmentRecorded)


class Filler:
    """Completes drafts for one ledger."""

    def __init__(self, gold: GoldFile | None, registry: Registry) -> None:
        self.gold = gold
        self.registry = registry
        self.terms: dict[tuple[str, str], tuple[str, ...]] = {}
        self.canaries: dict[str, str | None] = {}

    def fill(self, draft: Draft, run: RunState | None) -> tuple[AnyData, str | None]:
        """Return the completed data, and what the leak guard found in a first input.

        Raises:
            RuleError: the writer's own value contradicts what the ledger knows.
        """
        data = draft.data
        match data:
            case events.TrialStarted() if run is not None:
                filled, leak = self.fill_started(draft, data, run)
                refuse_other_check(data.leak_check, filled.leak_check)
                return filled, leak
            case events.JudgmentRecorded() if run is not None:
                return self.fill_judgment(draft, data, run), None
            case events.CallFinished() if run is not None:
                return fill_prices(data, run.manifest), None
            case _:
                return data, None

    def fill_started(
        self, draft: Draft, data: events.TrialStarted, run: RunState
    ) -> tuple[events.TrialStarted, str | None]:
        """Return trial.started with its leak check (C3)."""
        text = draft.texts.get("input")
        if text is None or draft.trial is None or self.gold is None:
            return msgspec.structs.replace(data, leak_check="not_done"), None
        leak = self.leak_in(run, draft.trial, text.content)
        check = "clean" if leak is None else "leak"
        return msgspec.structs.replace(data, leak_check=check), leak

    def leak_in(self, run: RunState, trial: TrialKey, text: bytes) -> str | None:
        """Return the canary or first gold text in some bytes; None where there is none to find."""
        if self.gold is None:
            return None
        assert run.opened.dataset is not None, "the ledger filled it"
        terms = self.gold_terms(run.opened.dataset, trial.question)
        canary = self.canary(run.opened.dataset)
        return find_leak(text.decode("utf-8", "replace"), terms, canary)

    def gold_terms(self, dataset: str, question: str) -> tuple[str, ...]:
        """Return the gold texts that a question's first input may not show."""
        known = self.terms.get((dataset, question))
        if known is not None:
            return known
        assert self.gold is not None, "the caller looked"
        commitment = self.registry.commitments(dataset).get(question)
        content = None
        if commitment is not None:
            content = self.gold.blobs.read_named(bytes.fromhex(commitment))
        terms: tuple[str, ...] = ()
        if content is not None:
            record = msgspec.json.decode(content)
            shown = self.registry.questions(dataset)[question]
            shortest = self.registry.dataset(dataset).leak_min_length
            terms = gold_terms(record, shown, shortest)
        self.terms[dataset, question] = terms
        return terms

    def canary(self, dataset: str) -> str | None:
        """Return a dataset's canary string, or None where it has none."""
        if dataset not in self.canaries:
            commitment = self.registry.dataset(dataset).canary
            assert self.gold is not None, "the caller looked"
            content = None
            if commitment is not None:
                content = self.gold.blobs.read_named(bytes.fromhex(commitment))
            self.canaries[dataset] = None if content is None else content.decode("utf-8")
        return self.canaries[dataset]

    def fill_judgment(
        self, draft: Draft, data: events.JudgmentRecorded, run: RunState
    ) -> events.JudgmentRecorded:
        """Return judgment.recorded with its rubric, the gold it was graded against, and prices."""
        assert run.opened.dataset is not None, "the ledger filled it"
        question = "" if draft.trial is None else draft.trial.question
        commitment = self.registry.commitments(run.opened.dataset).get(question)
        if data.gold is not None and data.gold != commitment:
            message = f"gold {data.gold} is not what {run.opened.dataset} commits to"
            raise RuleError(message, clause="C2", field="data.gold")
        filled = msgspec.structs.replace(
            data, rubric=data.rubric or run.opened.rubric_hash, gold=commitment
        )
        return fill_prices(filled, run.manifest)

    def opened_run(
        self, draft: Draft, data: RunOpened, parent: RunState | None
    ) -> tuple[RunOpened, Slots]:
        """Return run.opened with every reference resolved, and its planned slots.

        Args:
            draft: the draft, whose texts gain the slots.
            data: its data.
            parent: the parent of a derived run.

        Raises:
            RuleError: a reference is not frozen or contradicts the manifest (C9, C14).
            InvalidInputError: submitted slots are of another form.
        """
        manifest_event = self.registry.manifest(data.manifest)
        manifest = self.registry.manifest_document(manifest_event)
        rubric = data.rubric or manifest_event.rubric
        dataset = data.dataset or manifest_event.dataset
        if data.derived_from is None:
            refuse_other("rubric", rubric, manifest_event.rubric, clause="C14")
            refuse_other("dataset", dataset, manifest_event.dataset, clause="C9")
        if manifest_event.reconstructed and data.entry == "live":
            message = "a live run needs a manifest frozen beforehand, this one is reconstructed"
            raise RuleError(message, clause="C9", field="data.manifest")
        rubric_hash = self.registry.rubric(rubric).rubric_hash
        if data.rubric_hash is not None and data.rubric_hash != rubric_hash:
            message = f"rubric {rubric} has hash {rubric_hash}, not {data.rubric_hash}"
            raise RuleError(message, clause="C14", field="data.rubric_hash")
        slots = self.planned_slots(draft, dataset, manifest, parent)
        if data.planned is not None and data.planned != slots.count:
            message = f"{slots.count} slots are planned, not {data.planned}"
            raise RuleError(message, clause="C16", field="data.planned")
        content = encode_slots(slots)
        draft.texts["slots"] = NewText(content=content, media="application/json")
        reference = BlobRef(
            blob=PLACEHOLDER, bytes=len(content), media="application/json", class_="plain"
        )
        filled = msgspec.structs.replace(
            data,
            manifest=manifest_event.manifest_hash,
            rubric=rubric,
            rubric_hash=rubric_hash,
            dataset=dataset,
            planned=slots.count,
            slots=reference,
        )
        return filled, slots

    def planned_slots(
        self, draft: Draft, dataset: str, manifest: Manifest, parent: RunState | None
    ) -> Slots:
        """Return the slots that a run plans: its parent's, those submitted, or the manifest's."""
        questions = self.registry.questions(dataset)
        if parent is not None:
            lacking = [name for name in parent.slots.questions if name not in questions]
            if lacking:
                message = (
                    f"dataset {dataset} lacks {len(lacking)} questions of run {parent.name},"
                    f" as {lacking[0]!r}"
                )
                raise RuleError(message, clause="C16", field="data.dataset")
            return parent.slots
        submitted = draft.texts.get("slots")
        if submitted is None:
            return Slots(
                questions=planned_questions(manifest, questions),
                repetitions=manifest.repetitions or 1,
            )
        try:
            slots = decode_slots(submitted.content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidInputError.single(
                "not planned slots",
                what="event",
                field="data.slots",
                found=str(error),
                expected='{"questions": [ids], "repetitions": n}',
            ) from error
        foreign = [name for name in slots.questions if name not in questions]
        doubled = len(slots.questions) != len(set(slots.questions))
        if foreign or doubled or slots.repetitions < 1:
            raise InvalidInputError.single(
                "not planned slots of this dataset",
                what="event",
                field="data.slots",
                found=f"{len(foreign)} unknown questions" if foreign else "repeated or no slots",
                expected=f"different questions of {dataset}, repetitions from 1",
            )
        return slots


def planned_questions(manifest: Manifest, questions: Mapping[str, Question]) -> tuple[str, ...]:
    """Return the ids that a manifest plans: those listed, or those of its splits."""
    if manifest.questions is not None:
        missing = [name for name in manifest.questions if name not in questions]
        if missing:
            message = f"manifest names questions that the dataset lacks, as {missing[0]!r}"
            raise RuleError(message, clause="C16", field="questions")
        return tuple(manifest.questions)
    splits = manifest.splits
    planned = tuple(
        name for name, question in questions.items() if not splits or question.split in splits
    )
    if not planned:
        message = f"no question of {manifest.dataset} is in the manifest's splits"
        raise RuleError(message, clause="C16", field="splits")
    return planned


def refuse_other_check(given: str | None, found: str | None) -> None:
    """Refuse a leak check that the writer gives and the ledger does not find (C3).

    Raises:
        RuleError: they differ.
    """
    if given is not None and given != found:
        message = f"the leak guard finds {found}, not {given}"
        raise RuleError(message, clause="C3", field="data.leak_check", hint="leave the field out")


def refuse_other(what: str, given: str, declared: str, *, clause: str) -> None:
    """Refuse a run whose rubric or dataset is not its manifest's.

    Raises:
        RuleError: they differ and the run is not derived.
    """
    if given != declared:
        message = f"{what} {given} is not the manifest's {declared}"
        raise RuleError(
            message,
            clause=clause,
            field=f"data.{what}",
            hint="another rubric or dataset over the same trials is a derived run:"
            ' give "derived_from": {"run": "…", "link": n}',
        )


def fill_prices(data: Costed, manifest: Manifest) -> Costed:
    """Return the data with the manifest's price table behind a computed cost."""
    cost: Cost | None = data.cost
    if cost is None or cost.basis != "computed" or cost.prices is not None:
        return data
    prices = prices_hash(manifest)
    return msgspec.structs.replace(data, cost=msgspec.structs.replace(cost, prices=prices))
