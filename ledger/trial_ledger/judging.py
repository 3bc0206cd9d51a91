"""Judgments of a run's answers: anew by code graders, or carried from the parent of a derived run.

Invariant: judging twice appends nothing; what could not be judged here is counted with its reason
and stays unjudged, never wrong. A judgment is carried only where everything that gave it is the
same under both rubrics, and an override never is (C14, C28, C31).
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec
from blake3 import blake3

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.building import ACTOR
from trial_ledger.canonical import decode_event
from trial_ledger.carrying import carried_metrics, carried_name, origin_of, unchanged_questions
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.rubric_structs import Metric, Rubric
from trial_ledger.errors import StorageError
from trial_ledger.events import Actor, BlobRef
from trial_ledger.grading.grader import CodeGrader, Grade, Task, gold_of
from trial_ledger.grading.graders import grader_of
from trial_ledger.identifiers import TrialKey
from trial_ledger.registry import Registry
from trial_ledger.submission import NewText, Submission

__all__ = ["Judging", "Life", "Tallies", "judging_of", "judging_of_derived"]

LIFE_KINDS = ("trial.started", "answer.submitted", "trial.finished")
VERDICT_KINDS = ("judgment.recorded", "judgment.failed")

BY_ANSWER = frozenset({"answered", "limit", "unknown"})
"""Outcomes under which an answer is judged; every other is a class of its own before a judgment."""

JUDGES = {
    "judge": "needs its model judge",
    "human": "needs a person",
    "source": "only its source could judge it",
}
"""What a trial lacks that stays unjudged, by grader."""

CARRIED_TEXTS = ("reasoning", "shown", "raw")


class Life(msgspec.Struct, kw_only=True):
    """What a grader needs to know of one trial."""

    trial: TrialKey
    """The trial."""
    outcome: str | None = None
    """How it ended; None while it is open."""
    answer: BlobRef | None = None
    """Its answer; None where it gave none, or the source does not show it."""
    abstained: bool = False
    """Whether the answer declines."""
    judgments: list[events.JudgmentRecorded | events.JudgmentFailed] = []
    """Its judgments, overrides left out, in order."""


class Tallies(msgspec.Struct, kw_only=True):
    """What came of judging, by metric."""

    given: Counter[str] = msgspec.field(default_factory=Counter)
    """Judgments given anew."""
    carried: Counter[str] = msgspec.field(default_factory=Counter)
    """Judgments repeated from the parent."""
    present: Counter[str] = msgspec.field(default_factory=Counter)
    """Judgments that were there already."""
    left: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """Trials that nobody judged here, by metric and reason."""


def lives_of(ledger: Ledger, run: str, *, link: int | None = None) -> list[Life]:
    """Return the trials of a run with their answers and judgments, in the order they were started.

    Args:
        ledger: an open ledger.
        run: a run that is not derived.
        link: only as far as this link of the run; None for all of it.
    """
    found: dict[str, Life] = {}
    documents = ledger.store.link_documents(run, LIFE_KINDS + VERDICT_KINDS, upto=link)
    for document in documents:
        event = decode_event(document)
        assert event.trial is not None, "these kinds belong to a trial"
        key = str(event.trial)
        life = found.get(key)
        if life is None:
            life = found[key] = Life(trial=event.trial)
        match event.data:
            case events.AnswerSubmitted(answer=answer, abstained=abstained):
                life.answer, life.abstained = answer, abstained
            case events.TrialFinished(outcome=outcome):
                life.outcome = outcome
            case events.JudgmentRecorded() | events.JudgmentFailed() as data:
                life.judgments.append(data)
            case _:
                pass  # A start says nothing that a grader needs.
    return list(found.values())


class Judging(msgspec.Struct, kw_only=True):
    """Judges the answers of one run under its rubric, one trial in memory at a time."""

    ledger: Ledger
    """Where answers and gold are read."""
    run: str
    """The run that is judged."""
    rubric: Rubric
    """Its rubric."""
    dataset: str
    """Its dataset, `name@version`."""
    carried: frozenset[str] = frozenset()
    """Metrics whose judgments come from the parent."""
    unchanged: frozenset[str] | None = None
    """Questions that are asked as the parent asked them, with the same gold; None for all.
    Judgments on others are not carried."""
    present: Mapping[str, frozenset[tuple[str, str]]] = {}
    """Judgments that the run has already: trial → (metric, `name@version` or what is carried)."""
    tallies: Tallies = msgspec.field(default_factory=Tallies)
    """What came of it so far."""
    graders: dict[str, CodeGrader] = {}
    """The code grader of every metric that has one, from `prepare`."""
    digests: dict[str, str] = {}
    """Digest of each of these with the metric's settings."""

    def prepare(self) -> None:
        """Find the graders and check their settings.

        Raises:
            InvalidInputError: a metric has settings that its grader does not understand.
            StorageError: there is no gold file.
        """
        for name, metric in self.rubric.metrics.items():
            grader = grader_of(metric)
            if grader is not None:
                self.graders[name] = grader
                self.digests[name] = grader.digest(metric)
        if self.graders and self.ledger.gold is None:
            message = "answers are judged against gold, and the gold file is not here"
            raise StorageError(message, hint="put the .gold file beside the ledger")

    def submissions(self, lives: list[Life]) -> Iterator[Submission]:
        """Yield the judgments of every trial, in the order of the trials."""
        registry = self.ledger.registry()
        questions = registry.questions(self.dataset)
        commitments = registry.commitments(self.dataset)
        for life in lives:
            question = questions[life.trial.question]
            coded: dict[str, Metric] = {}
            for name, metric in self.rubric.metrics.items():
                if metric.shapes and question.task_shape not in metric.shapes:
                    continue
                if name in self.graders:
                    coded[name] = metric
                else:
                    yield from self.repeated(life, name)
            yield from self.anew(life, question, commitments.get(question.id), coded)

    def anew(
        self, life: Life, question: Question, commitment: str | None, coded: Mapping[str, Metric]
    ) -> Iterator[Submission]:
        """Yield what code graders make of one answer, where they have not judged it yet."""
        wanted = self.wanted(life, coded)
        answer = self.answer_of(life, wanted) if wanted else None
        if answer is None:
            return
        gold = gold_of(self.gold_record(commitment))
        for name in wanted:
            task = Task(
                question=question,
                gold=gold,
                answer=answer,
                metric=coded[name],
                empty_sets=self.rubric.empty_sets,
            )
            self.tallies.given[name] += 1
            yield self.judgment(life.trial, name, self.graders[name].grade(task))

    def wanted(self, life: Life, coded: Mapping[str, Metric]) -> list[str]:
        """Return the metrics under which a trial is still to be judged by code."""
        names = []
        for name in coded:
            grader = self.graders[name]
            if self.is_present(life, name, grader.reference):
                self.tallies.present[name] += 1
            elif life.outcome not in BY_ANSWER or life.abstained:
                pass  # It counts by its own class, whatever a grader might say.
            else:
                names.append(name)
        return names

    def is_present(self, life: Life, metric: str, origin: str) -> bool:
        """Return whether the run has a judgment of a trial of that origin already."""
        return (metric, origin) in self.present.get(str(life.trial), frozenset())

    def answer_of(self, life: Life, wanted: list[str]) -> str | None:
        """Return the answer that is judged; None, counted with the reason, where there is none."""
        reason = "no answer recorded"
        if life.answer is not None:
            content = self.ledger.blob(life.answer)
            if content is not None:
                return content.decode("utf-8", errors="replace")
            reason = "the answer was redacted"
        for name in wanted:
            self.tallies.left[name, reason] += 1
        return None

    def gold_record(self, commitment: str | None) -> bytes | None:
        """Return the gold record of a question; None where it has none."""
        assert self.ledger.gold is not None, "prepare looked"
        if commitment is None:
            return None
        return self.ledger.gold.blobs.read_named(bytes.fromhex(commitment))

    def judgment(self, trial: TrialKey, metric: str, grade: Grade) -> Submission:
        """Return the judgment of a code grader as an event."""
        grader = self.graders[metric]
        return Submission(
            kind="judgment.recorded",
            run=self.run,
            trial=trial,
            data={
                "judgment": f"{metric}:{grader.reference}",
                "metric": metric,
                "by": "code",
                "grader": {
                    "name": grader.name,
                    "version": grader.version,
                    "digest": self.digests[metric],
                },
                "verdict": grade.verdict,
                "score": grade.score,
                "parts": msgspec.to_builtins(grade.parts),
                "reasoning": NewText.of(grade.reasoning),
            },
            id=self.event_id(trial, metric, grader.reference),
            actor=Actor(role="grader", name=grader.name, version=grader.version),
        )

    def repeated(self, life: Life, metric: str) -> Iterator[Submission]:
        """Yield the parent's judgments of a trial that still stand under the revised rubric."""
        found = False
        if metric in self.carried and self.is_unchanged(life.trial.question):
            for known in life.judgments:
                if known.metric == metric:
                    found = True
                    yield from self.carry(life, known)
        if found:
            return
        if any(name == metric for name, _ in self.present.get(str(life.trial), ())):
            self.tallies.present[metric] += 1
        elif life.outcome in BY_ANSWER and not life.abstained:
            self.tallies.left[metric, self.reason_left(metric)] += 1

    def carry(
        self, life: Life, known: events.JudgmentRecorded | events.JudgmentFailed
    ) -> Iterator[Submission]:
        """Yield one judgment of the parent again, unless it is here already."""
        if self.is_present(life, known.metric, carried_name(known.judgment)):
            self.tallies.present[known.metric] += 1
            return
        self.tallies.carried[known.metric] += 1
        data = {
            field: value
            for field, value in msgspec.to_builtins(known).items()
            if field not in {"rubric", "gold", "calls", "usage", "cost", "occurrence", "type"}
            and field not in CARRIED_TEXTS
        }
        for field in CARRIED_TEXTS:
            reference: BlobRef | None = getattr(known, field, None)
            content = None if reference is None else self.ledger.blob(reference)
            if reference is not None and content is not None:
                data[field] = NewText(content=content, media=reference.media)
        data["carried_from"] = known.judgment
        yield Submission(
            kind=VERDICT_KINDS[isinstance(known, events.JudgmentFailed)],
            run=self.run,
            trial=life.trial,
            data=data,
            id=self.event_id(life.trial, known.metric, carried_name(known.judgment)),
            actor=ACTOR,
        )

    def is_unchanged(self, question: str) -> bool:
        """Return whether a question and its gold are what the parent was judged by."""
        return self.unchanged is None or question in self.unchanged

    def reason_left(self, metric: str) -> str:
        """Return why a trial stays unjudged under a metric that no code grader gives."""
        grader = self.rubric.metrics[metric].grader
        return JUDGES.get(grader) or f"needs the grader {grader}"

    def event_id(self, trial: TrialKey, metric: str, what: str) -> str:
        """Return the id that makes a judgment come only once."""
        parts = ["judged", self.ledger.id, self.run, str(trial), metric, what]
        return blake3(canonical_json(parts)).hexdigest(length=16)


def judging_of(ledger: Ledger, run: str) -> tuple[Judging, list[Life]]:
    """Return what judges a run that exists, and the trials to judge.

    Raises:
        NotFoundError: it was never opened.
        InvalidInputError: a metric has settings that its grader does not understand.
        StorageError: there is no gold file.
    """
    opened = ledger.run_opened(run)
    registry = ledger.registry()
    assert opened.rubric is not None, "the ledger fills it"
    rubric = registry.rubric_document(registry.rubric(opened.rubric))
    own = lives_of(ledger, run)
    present = {str(life.trial): given_in(life) for life in own}
    if opened.derived_from is not None:
        judging, lives = judging_of_derived(ledger, registry, run, opened, rubric)
    else:
        judging, lives = new_judging(ledger, run, opened, rubric), own
    judging.present = present
    return judging, lives


def given_in(life: Life) -> frozenset[tuple[str, str]]:
    """Return the judgments that a trial has: metric, and `name@version` or what is carried."""
    origins = ((known.metric, origin_of(known)) for known in life.judgments)
    return frozenset((metric, origin) for metric, origin in origins if origin is not None)


def judging_of_derived(
    ledger: Ledger, registry: Registry, run: str, opened: events.RunOpened, rubric: Rubric
) -> tuple[Judging, list[Life]]:
    """Return what judges a derived run, whether it exists yet or not, and its parent's trials.

    Args:
        ledger: an open ledger.
        registry: its documents.
        run: the derived run's name.
        opened: how it is opened.
        rubric: its rubric, which may not be frozen yet.

    Raises:
        RuleError: its dataset is not registered.
        InvalidInputError: a metric has settings that its grader does not understand.
        StorageError: there is no gold file.
    """
    origin = opened.derived_from
    assert origin is not None, "the run is derived"
    parent = ledger.run_opened(origin.run)
    assert parent.dataset is not None, "the ledger fills it"
    assert parent.rubric is not None, "the ledger fills it"
    judging = new_judging(ledger, run, opened, rubric)
    old = registry.rubric_document(registry.rubric(parent.rubric))
    judging.carried = carried_metrics(old, rubric)
    judging.unchanged = unchanged_questions(registry, parent.dataset, judging.dataset)
    return judging, lives_of(ledger, origin.run, link=origin.link)


def new_judging(ledger: Ledger, run: str, opened: events.RunOpened, rubric: Rubric) -> Judging:
    """Return what judges a run by code alone."""
    assert opened.dataset is not None, "the ledger fills it"
    judging = Judging(ledger=ledger, run=run, rubric=rubric, dataset=opened.dataset)
    judging.prepare()
    return judging
