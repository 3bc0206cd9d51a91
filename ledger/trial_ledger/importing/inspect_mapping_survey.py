"""The first pass over an Inspect log: which slots were planned, and what its samples are made of.

Invariant: nothing is kept of a sample but what its question, gold and kinds of scores are; planned
slots are the listed sample ids times the epochs, never the size of the dataset.
"""

from collections.abc import Mapping, Sequence

import msgspec

from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.inspect_mapping_scores import Metrics
from trial_ledger.importing.inspect_reader import InspectLog, SampleRecord, question_id
from trial_ledger.importing.lenient_json import (
    JsonObject,
    count_at,
    list_at,
    mapping_at,
    mappings_at,
    text_at,
)

__all__ = ["Slot", "Survey", "survey"]

MAX_SLOTS = 10_000_000
Slot = tuple[str, int]
"""Question and repetition."""


class Survey(msgspec.Struct, kw_only=True):
    """What the first pass found."""

    samples: dict[str, JsonObject]
    """Question, choices, target and metadata of the first sample of each question."""
    present: set[Slot]
    """Slots of which the log holds a sample."""
    completed: int
    """Samples that ended without an error."""
    listed: Sequence[str]
    """Question ids that the log lists as planned; empty where it lists none."""
    repetitions: int
    """Planned epochs."""
    metrics: Metrics
    """Every metric that appears anywhere in the log."""
    invalidated: int = 0
    """Samples that somebody invalidated."""
    uuids: list[str]
    """Ids that the source gave its samples."""
    lost: Sequence[Slot]
    """Slots whose sample the log shows to have run, but does not hold."""
    uncertain: int
    """Samples that ran and are not held, where nothing says which they were."""

    @property
    def questions(self) -> Sequence[str]:
        """Planned question ids: the listed ones, then those that only a sample shows."""
        return list(dict.fromkeys([*self.listed, *self.samples]))

    @property
    def planned(self) -> int:
        """How many slots were planned."""
        return len(self.questions) * self.repetitions

    @property
    def unlisted(self) -> Sequence[str]:
        """Questions of samples that the log does not list as planned."""
        listed = set(self.listed)
        return [question for question in self.samples if question not in listed]


def survey(log: InspectLog) -> Survey:
    """Return what a log holds, after reading every sample once.

    Raises:
        InvalidInputError: a sample cannot be read, or question ids collide.
    """
    found = Survey(
        samples={},
        present=set(),
        completed=0,
        listed=listed_questions(log),
        repetitions=1,
        metrics=Metrics(),
        uuids=[],
        lost=[],
        uncertain=0,
    )
    declare_metrics(log, found.metrics)
    for record in log.samples():
        take(record, found)
    found.metrics.settle(
        name
        for scorer in mappings_at(log.header.spec, "scorers")
        if (name := text_at(scorer, "name")) is not None
    )
    found.repetitions = planned_epochs(log, found)
    if found.planned > MAX_SLOTS:
        raise InvalidInputError.single(
            "too many planned slots",
            what="Inspect log",
            source=log.source.label,
            found=str(found.planned),
            expected=f"<= {MAX_SLOTS}",
        )
    found.lost, found.uncertain = lost_slots(log, found)
    return found


def listed_questions(log: InspectLog) -> Sequence[str]:
    """Return the question ids that the log lists as planned.

    Raises:
        InvalidInputError: two of them are the same id.
    """
    raw = list_at(mapping_at(log.header.spec, "dataset"), "sample_ids")
    questions = [question_id(value) for value in raw]
    if len(set(questions)) != len(questions):
        twice = next(name for name in questions if questions.count(name) > 1)
        raise InvalidInputError.single(
            "a question id is listed twice",
            what="Inspect log",
            source=log.source.label,
            field="eval.dataset.sample_ids",
            found=repr(twice[:80]),
        )
    return questions


def declare_metrics(log: InspectLog, metrics: Metrics) -> None:
    """Name the metrics in the order in which the log reports or declares them."""
    for score in reported_scores(log.header.results):
        name, scorer = text_at(score, "name"), text_at(score, "scorer")
        if name is not None and scorer in {None, name}:
            metrics.of(name, None)
        elif name is not None and scorer is not None:
            metrics.of(scorer, name)


def reported_scores(results: JsonObject) -> Sequence[JsonObject]:
    """Return the source's own scores, in the form of the oldest logs too."""
    scores = [score for score in list_at(results, "scores") if isinstance(score, dict)]
    former = mapping_at(results, "scorer")
    if former and not scores:
        return [{**former, "metrics": mapping_at(results, "metrics")}]
    return scores


def take(record: SampleRecord, found: Survey) -> None:
    """Take one sample into account."""
    sample = record.content
    found.present.add((record.question, record.repetition))
    found.completed += not mapping_at(sample, "error")
    found.invalidated += bool(mapping_at(sample, "invalidation"))
    found.samples.setdefault(
        record.question, {key: sample.get(key) for key in ("id", *QUESTION_FIELDS)}
    )
    found.metrics.see_sample(scores_of(sample))
    uuid = text_at(sample, "uuid")
    if uuid is not None:
        found.uuids.append(uuid)


QUESTION_FIELDS = ("input", "choices", "target", "metadata")


def scores_of(sample: JsonObject) -> Mapping[str, object]:
    """Return the scores of a sample by scorer; the oldest logs have one without a name."""
    former = mapping_at(sample, "score")
    return {"score": former} if former else mapping_at(sample, "scores")


def planned_epochs(log: InspectLog, found: Survey) -> int:
    """Return how many epochs were planned: as declared, else as the number of samples shows."""
    seen = max((repetition for _, repetition in found.present), default=1)
    declared = count_at(mapping_at(log.header.spec, "config"), "epochs")
    if declared:
        return max(declared, seen)
    total = count_at(log.header.results, "total_samples") or 0
    questions = len(found.questions)
    implied = total // questions if questions and total % questions == 0 else 1
    return max(implied, seen)


def lost_slots(log: InspectLog, found: Survey) -> tuple[list[Slot], int]:
    """Return the slots that ran without their sample being here, and how many more there are."""
    questions = set(found.questions)
    lost = [
        slot
        for slot in log.header.summaries
        if slot not in found.present and slot[0] in questions and slot[1] <= found.repetitions
    ]
    reported = count_at(log.header.results, "completed_samples") or 0
    missing = reported - found.completed - len(lost)
    absent = found.planned - len(found.present)
    if 0 < missing == absent - len(lost):
        held = found.present | set(lost)
        lost += [
            (question, repetition)
            for question in found.questions
            for repetition in range(1, found.repetitions + 1)
            if (question, repetition) not in held
        ]
        missing = 0
    return lost, max(missing, 0)
