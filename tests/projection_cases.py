"""A log written event by event, and what the read side makes of it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ledger_cases import (
    CONFIGURATION,
    HARNESS,
    PERSON,
    RUN,
    opened,
    small_dataset,
    small_manifest,
    small_rubric,
    tools,
)
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.events import Actor
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import Submission
from trial_ledger.tools import Tools
from trial_projections.reading import ReadModel
from trial_projections.scores import MetricScore, score_metric
from trial_projections.summary import RunSummary, summarise

VERDICTS = frozenset({"correct", "partial", "incorrect", "abstained", "not_gradable"})
HUMAN_KINDS = ("judgment.overridden", "invalidated", "reinstated", "review.")


class Log:
    """A ledger with the frozen documents of `ledger_cases`, and the run that is written to it."""

    configuration = CONFIGURATION
    """Of the trials that are appended."""

    def __init__(
        self,
        folder: Path,
        *,
        rubric: Mapping[str, object] | None = None,
        manifest: Mapping[str, object] | None = None,
        world: Tools | None = None,
        entry: str | None = "appended",
    ) -> None:
        self.path = folder / "trials.ledger"
        self.ledger = Ledger.create(self.path, tools=world or tools(folder, pins=False))
        documents = (
            small_dataset(),
            small_rubric(**rubric or {}),
            small_manifest(**manifest or {}),
        )
        self.ledger.freeze(documents)
        self.run = RUN
        if entry is not None:
            self.open(RUN, entry=entry)

    def open(self, run: str, **data: object) -> None:
        """Open a run; what follows is written to it."""
        self.run = run
        self.ledger.append(opened(run, **{"entry": "appended", **data}))

    def act(
        self,
        kind: str,
        question: str | None = None,
        *,
        session: str = "s1",
        repetition: int = 1,
        **data: object,
    ) -> Acknowledgement:
        """Append one event of the run, or of its trial of a question."""
        return self.append(kind, question, data, session=session, repetition=repetition)

    def append(
        self,
        kind: str,
        question: str | None,
        data: Mapping[str, object],
        *,
        session: str = "s1",
        repetition: int = 1,
        actor: Actor | None = None,
    ) -> Acknowledgement:
        """Append one event; an underscore at the end of a field's name is for Python only."""
        key = None
        if question is not None:
            key = TrialKey(
                question=question,
                configuration=self.configuration,
                repetition=repetition,
                session=session,
            )
        human = any(part in kind for part in HUMAN_KINDS)
        return self.ledger.append(
            Submission(
                kind=kind,
                run=self.run,
                trial=key,
                data={name.rstrip("_"): value for name, value in data.items()},
                actor=actor or (PERSON if human else HARNESS),
            )
        )

    def trial(
        self,
        question: str,
        *,
        outcome: str | None = "answered",
        answer: str | None = "Babylon",
        session: str = "s1",
        repetition: int = 1,
    ) -> None:
        """Append a trial from its start to its end; no outcome leaves it open."""
        events: tuple[tuple[str, Mapping[str, object] | None], ...] = (
            ("trial.started", {"input": "which?"}),
            ("answer.submitted", None if answer is None else {"answer": answer}),
            ("trial.finished", None if outcome is None else {"outcome": outcome}),
        )
        for kind, data in events:
            if data is not None:
                self.append(kind, question, data, session=session, repetition=repetition)

    def judge(
        self,
        question: str,
        metric: str,
        value: str,
        *,
        name: str = "j1",
        session: str = "s1",
        **data: object,
    ) -> None:
        """Append a verdict or a score."""
        kind = {"verdict" if value in VERDICTS else "score": value}
        grader = {"name": "judge", "version": "1"}
        given = {"judgment": name, "metric": metric, "by": "model", "grader": grader}
        self.append("judgment.recorded", question, {**given, **kind, **data}, session=session)

    @contextmanager
    def model(self, *, as_of: int | None = None) -> Iterator[ReadModel]:
        """Open the read side of the log as it is now, or as it was."""
        model = ReadModel.open(self.ledger, as_of=as_of)
        try:
            yield model
        finally:
            model.close()

    def score(
        self, metric: str, run: str | None = None, *, as_of: int | None = None
    ) -> MetricScore:
        """Return a metric of a run."""
        with self.model(as_of=as_of) as model:
            return score_metric(model.score_input(model.run(run or self.run)), metric)

    def value(self, metric: str, run: str | None = None) -> str:
        """Return the headline of a metric as `6 of 10`, or `5-6 of 10` where it is a range."""
        headline = self.score(metric, run).headline
        assert headline is not None, "there is a number"
        low, high = headline.low, headline.high
        return f"{low.sum if headline.is_point else f'{low.sum}-{high.sum}'} of {low.count}"

    def summary(self, run: str | None = None) -> RunSummary:
        """Return what `scores` shows of a run."""
        with self.model() as model:
            return summarise(model, model.run(run or self.run))
