"""Judgments of a run's answers: anew by code graders, or carried from the parent of a derived run.

Invariant: judging twice appends nothing; what could not be judged here is counted with its reason
and stays unjudged, never wrong. A judgment is carried only where everything that gave it is the
same under both rubrics, and an override never is (C14, C28, C31).
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import msgspec
from blake3 import blake3

from trial_ledger import events
from trial_ledger.book import Ledger
from trial_ledger.building import ACTOR
from trial_ledger.carrying import carried_metrics, carried_name, unchanged_questions
from trial_ledger.documents.canonical_form import Json, canonical_json
from trial_ledger.documents.dataset_structs import Question
from trial_ledger.documents.grader_options import settings_of
from trial_ledger.documents.rubric_structs import Metric, Rubric
from trial_ledger.errors import StorageError
from trial_ledger.events import BlobRef
from trial_ledger.exact import rational_text
from trial_ledger.grading.criteria import CRITERIA, CriteriaTask, values_of
from trial_ledger.grading.grader import CodeGrader, Grade, Task, gold_of
from trial_ledger.grading.graders import grader_of
from trial_ledger.grading.replies import JUDGE_REPLY, ReplyTask
from trial_ledger.identifiers import TrialKey
from trial_ledger.lives import (
    VERDICT_KINDS,
    Life,
    digest_of,
    given_anew,
    given_in,
    lives_of,
    ranges_in,
)
from trial_ledger.registry import Registry
from trial_ledger.submission import NewText, Submission
from trial_ledger.verdicts import Given, Tallies, verdict_events

__all__ = ["Judging", "Life", "Tallies", "judging_of", "judging_of_derived"]

BY_ANSWER = frozenset({"answered", "limit", "unknown"})
"""Outcomes under which an answer is judged; every other is a class of its own before a judgment."""

JUDGES = {
    "judge": "needs its model judge",
    "human": "needs a person",
    "source": "only its source could judge it",
}
"""What a trial lacks that stays unjudged, by grader."""

CARRIED_TEXTS = ("reasoning", "shown", "raw")


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
    ranged: Mapping[str, Mapping[str, tuple[str, int]]] = {}
    """Of these, those by code that gave a range last: trial → metric → its id and its pass."""
    own: Mapping[str, tuple[events.JudgmentRecorded | events.JudgmentFailed, ...]] | None = None
    """In a derived run, by trial the judgments that were given in it; None in any other."""
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
        if not wanted:
            return
        gold = gold_of(self.gold_record(commitment))
        added = [name for name in wanted if self.graders[name] is CRITERIA]
        heard = [name for name in wanted if self.graders[name] is JUDGE_REPLY]
        read = [name for name in wanted if name not in {*added, *heard}]
        answer = self.answer_of(life, read) if read else None
        tasks: dict[str, Task] = {}
        for name in read if answer is not None else ():
            assert answer is not None, "the loop is empty without one"
            tasks[name] = Task(
                question=question,
                gold=gold,
                answer=answer,
                metric=coded[name],
                empty_sets=self.rubric.empty_sets,
                judged_items=life.items.get(name, {}),
            )
        for name in added:
            values = self.values(life, name)
            if values:
                tasks[name] = CriteriaTask(
                    question=question, gold=gold, answer="", metric=coded[name], values=values
                )
            else:
                self.tallies.left[name, "no criterion was judged"] += 1
        for name in heard:
            replies = self.reply_task(life, name, question, gold)
            if replies is not None:
                tasks[name] = replies
        for name, task in tasks.items():
            self.tallies.given[name] += 1
            yield from self.judgment(life, name, self.graders[name].grade(task))

    def reply_task(
        self, life: Life, name: str, question: Question, gold: dict[str, Json] | None
    ) -> ReplyTask | None:
        """Return the raw replies that a metric reads; None, counted, where one is not here."""
        metric = self.rubric.metrics[name]
        texts = [self.ledger.blob(raw) for raw in self.replies(life, name)]
        known = [text.decode("utf-8", errors="replace") for text in texts if text is not None]
        if not known or len(known) < len(texts):
            reason = "a raw reply was redacted" if texts else "no raw reply of a judge"
            self.tallies.left[name, reason] += 1
            return None
        judge = self.rubric.judge
        return ReplyTask(
            question=question,
            gold={} if gold is None else gold,
            answer="",
            metric=metric,
            replies=tuple(known),
            majority=judge is not None and judge.canonical == "majority",
        )

    def replies(self, life: Life, metric: str) -> list[BlobRef]:
        """Return the raw replies of a trial that a metric reads, by pass."""
        listened = settings_of(self.rubric.metrics[metric]).text("metric")
        heard = sorted(self.heard(life), key=lambda known: known.pass_)
        return [known.raw for known in heard if known.metric == listened and known.raw is not None]

    def heard(self, life: Life) -> list[events.JudgmentRecorded | events.JudgmentFailed]:
        """Return the judgments of a trial that hold: in a derived run the carried, and its own."""
        if self.own is None:
            return life.judgments
        question = life.trial.question
        carried = [known for known in life.judgments if self.is_carried(known.metric, question)]
        return [*carried, *self.own.get(str(life.trial), ())]

    def values(self, life: Life, metric: str) -> dict[str, Fraction]:
        """Return what was said of the criteria of a trial, in a derived run what holds there."""
        heard = self.heard(life)
        recorded = [known for known in heard if isinstance(known, events.JudgmentRecorded)]
        return values_of(self.rubric, metric, recorded)

    def wanted(self, life: Life, coded: Mapping[str, Metric]) -> list[str]:
        """Return the metrics under which a trial is still to be judged by code."""
        names = []
        for name in coded:
            grader = self.graders[name]
            if self.is_present(life, name, grader.reference) and not self.knows_more(life, name):
                self.tallies.present[name] += 1
            elif life.outcome not in BY_ANSWER or life.abstained:
                pass  # It counts by its own class, whatever a grader might say.
            else:
                names.append(name)
        return names

    def knows_more(self, life: Life, metric: str) -> bool:
        """Return whether items were judged since a code grader gave a range."""
        last, _ = self.last_range(life, metric)
        return last not in {"", self.name_of(life, metric)}

    def last_range(self, life: Life, metric: str) -> tuple[str, int]:
        """Return id and pass of the last judgment that gave a range; pass 0 where none did."""
        return self.ranged.get(str(life.trial), {}).get(metric, ("", 0))

    def name_of(self, life: Life, metric: str) -> str:
        """Return the id of a code grader's judgment, another one for other verdicts on items."""
        name = f"{metric}:{self.graders[metric].reference}"
        if self.graders[metric] is CRITERIA:
            said = sorted(self.values(life, metric).items())
            items = digest_of([(criterion, rational_text(value)) for criterion, value in said])
        elif self.graders[metric] is JUDGE_REPLY:
            items = digest_of([(raw.bytes, raw.blob) for raw in self.replies(life, metric)])
        else:
            items = life.items_judged(metric)
        return f"{name}:{items}" if items else name

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

    def judgment(self, life: Life, metric: str, grade: Grade) -> Iterator[Submission]:
        """Yield the judgment of a code grader as events."""
        name = self.name_of(life, metric)
        what = name.removeprefix(f"{metric}:")
        given = Given(
            run=self.run,
            trial=life.trial,
            metric=metric,
            judgment=name,
            pass_=self.last_range(life, metric)[1] + 1,
            grader=self.graders[metric],
            digest=self.digests[metric],
            ids=(
                self.event_id(life.trial, metric, what),
                self.event_id(life.trial, metric, f"{what}:failure"),
            ),
        )
        yield from verdict_events(given, grade)

    def repeated(self, life: Life, metric: str) -> Iterator[Submission]:
        """Yield the parent's judgments of a trial that still stand under the revised rubric."""
        found = False
        if self.is_carried(metric, life.trial.question):
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

    def is_carried(self, metric: str, question: str) -> bool:
        """Return whether the parent's judgments of a question under a metric still stand."""
        return metric in self.carried and (self.unchanged is None or question in self.unchanged)

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
    ranged = {str(life.trial): ranges_in(life) for life in own}
    if opened.derived_from is not None:
        judging, lives = judging_of_derived(ledger, registry, run, opened, rubric)
    else:
        judging, lives = new_judging(ledger, run, opened, rubric), own
    judging.present, judging.ranged = present, ranged
    if opened.derived_from is not None:
        # Items that were judged after the parent was derived from are known to its own run only.
        judging.own = {str(life.trial): given_anew(life) for life in own}
        judged = {str(life.trial): life.items for life in own}
        for life in lives:
            for metric, items in judged.get(str(life.trial), {}).items():
                life.items[metric] = life.items.get(metric, {}) | items
    return judging, lives


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
    judging.own = {}
    return judging, lives_of(ledger, origin.run, link=origin.link)


def new_judging(ledger: Ledger, run: str, opened: events.RunOpened, rubric: Rubric) -> Judging:
    """Return what judges a run by code alone."""
    assert opened.dataset is not None, "the ledger fills it"
    judging = Judging(ledger=ledger, run=run, rubric=rubric, dataset=opened.dataset)
    judging.prepare()
    return judging
