"""Random runs: what can happen in a trial, in every combination that the guards accept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from trial_ledger.events import Actor
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import Submission

Table = dict[str, Any]

PERSON = Actor(role="human", name="Ada")
IMPORTER = Actor(role="importer", name="cases")

OUTCOMES = (
    *("answered",) * 6, *("errored",) * 4, "abstained", "refused", "filtered", "limit",
    "cancelled", "unknown", None,
)  # fmt: skip
"""How a session ends; None leaves it open."""
FAULTS = (
    None, None, "agent", "harness", "search_provider", "model_provider", "judge", "environment",
)  # fmt: skip
IMPACTS = (*("trial_failed",) * 6, "unknown", "none", "degraded")
FAILURE_CLASSES = (
    "timeout", "auth", "limit", "cancelled", "dns", "judge_error", "server_error", "gold_leak",
)  # fmt: skip
PURPOSES = (None, "model", "search", "tool", "judge")
VERDICTS = ("correct", "partial", "incorrect", "abstained", "not_gradable")


@dataclass
class Failure:
    """One failure occurrence."""

    class_: str
    fault: str | None
    purpose: str | None
    impact: str
    recovered: bool
    assessed: str | None


@dataclass
class Judging:
    """One judgment of one pass, and what people made of it."""

    metric: str
    pass_: int
    value: int
    fails: str | None
    overrides: list[int] = field(default_factory=list)


@dataclass
class Session:
    """One session: what happens in it, and what is said of it later."""

    outcome: str | None
    answered: bool
    failures: list[Failure]
    judgings: list[Judging]
    standing: str
    """When it is invalidated and reinstated: e(arly), r(einstated), l(ate), in order."""


def sessions(metrics: Sequence[str]) -> st.SearchStrategy[Session]:
    """Return random sessions, judged under some of these metrics."""
    failures = st.builds(
        Failure,
        class_=st.sampled_from(FAILURE_CLASSES),
        fault=st.sampled_from(FAULTS),
        purpose=st.sampled_from(PURPOSES),
        impact=st.sampled_from(IMPACTS),
        recovered=st.sampled_from((*(False,) * 3, True)),
        assessed=st.sampled_from((*(None,) * 4, "none", "trial_failed")),
    )
    judgings = st.builds(
        Judging,
        metric=st.sampled_from(metrics),
        pass_=st.integers(1, 3),
        value=st.integers(0, 4),
        fails=st.sampled_from((*(None,) * 6, "judge_failed", "lost_in_source")),
        overrides=st.lists(st.integers(0, 4), max_size=2),
    )
    return st.builds(
        Session,
        outcome=st.sampled_from(OUTCOMES),
        answered=st.booleans(),
        failures=st.lists(failures, max_size=3),
        judgings=st.lists(
            judgings, max_size=8, unique_by=lambda judging: (judging.metric, judging.pass_)
        ),
        standing=st.sampled_from((*("",) * 4, "e", "er", "erl", "l", "lr")),
    )


def runs(
    questions: Sequence[str], repetitions: int, metrics: Sequence[str]
) -> st.SearchStrategy[dict[tuple[str, int], list[Session]]]:
    """Return random runs: for some slots, the sessions that are started in them."""
    slots = [(name, number) for name in questions for number in range(1, repetitions + 1)]
    return st.fixed_dictionaries(
        {},
        optional={slot: st.lists(sessions(metrics), min_size=1, max_size=3) for slot in slots},
    )


class Writer:
    """Writes a random run as events."""

    def __init__(self, run: str, configuration: str, metrics: Table) -> None:
        self.run = run
        self.configuration = configuration
        self.metrics = metrics
        self.late: list[Submission] = []

    def events(self, plan: dict[tuple[str, int], list[Session]]) -> Iterator[Submission]:
        """Yield every event of a run in order; what is said later comes last."""
        yield Submission(
            kind="run.opened",
            run=self.run,
            data={"manifest": self.configuration, "entry": "imported"},
            actor=IMPORTER,
        )
        for (question, repetition), slot in plan.items():
            for number, session in enumerate(slot, 1):
                key = TrialKey(
                    question=question,
                    configuration=self.configuration,
                    repetition=repetition,
                    session=f"s{number}",
                )
                yield from self.session(key, session)
        yield from self.late

    def act(self, key: TrialKey, kind: str, **data: object) -> Submission:
        """Return one event of a trial."""
        human = kind in {"judgment.overridden", "trial.invalidated", "trial.reinstated"}
        actor = PERSON if human else IMPORTER
        return Submission(kind=kind, run=self.run, trial=key, data=data, actor=actor)

    def session(self, key: TrialKey, session: Session) -> Iterator[Submission]:
        """Yield the events of a session; what is said later is kept."""
        yield self.act(key, "trial.started")
        for word in session.standing:
            if word == "e":
                yield self.act(key, "trial.invalidated", reason="early")
            elif word == "l":
                self.late.append(self.act(key, "trial.invalidated", reason="late"))
            elif session.standing[0] == "e":
                yield self.act(key, "trial.reinstated", reason="a mistake")
            else:
                self.late.append(self.act(key, "trial.reinstated", reason="a mistake"))
        for number, failure in enumerate(session.failures):
            yield from self.failure(key, number, failure)
        if session.answered:
            yield self.act(key, "answer.submitted", answer="Babylon")
        if session.outcome is not None:
            yield self.act(key, "trial.finished", outcome=session.outcome)
            for number, judging in enumerate(session.judgings):
                yield from self.judging(key, number, judging)

    def failure(self, key: TrialKey, number: int, failure: Failure) -> Iterator[Submission]:
        """Yield one failure, in a call where it has a purpose."""
        call, name = None, f"f{number}"
        if failure.purpose is not None:
            call = f"c{number}"
            yield self.act(key, "call.started", call=call, purpose=failure.purpose)
        yield self.act(
            key, "failure.occurred", occurrence=name, fault=failure.fault, call=call,
            impact=failure.impact, **{"class": failure.class_},
        )  # fmt: skip
        if call is not None:
            yield self.act(key, "call.finished", call=call, status="ok")
        if failure.recovered:
            yield self.act(key, "failure.recovered", occurrence=name, by="retry")
        if failure.assessed is not None:
            assessed = {"occurrence": name, "impact": failure.assessed}
            self.late.append(self.act(key, "failure.assessed", **assessed))

    def judging(self, key: TrialKey, number: int, judging: Judging) -> Iterator[Submission]:
        """Yield one judgment; a person's other decisions are kept."""
        metric, name = self.metrics[judging.metric], f"j{number}"
        if judging.fails is not None:
            occurrence = None
            if judging.fails == "judge_failed":
                occurrence = f"g{number}"
                yield self.act(
                    key, "failure.occurred", occurrence=occurrence, fault="judge", call=None,
                    impact="unknown", **{"class": "judge_unparseable"},
                )  # fmt: skip
            yield self.act(
                key, "judgment.failed", judgment=name, metric=judging.metric,
                reason=judging.fails, occurrence=occurrence, **{"pass": judging.pass_},
            )  # fmt: skip
            return
        yield self.act(
            key, "judgment.recorded", judgment=name, metric=judging.metric, by="model",
            grader={"name": "judge", "version": "1"}, **{"pass": judging.pass_},
            **value_of(metric, judging.value),
        )  # fmt: skip
        for step, value in enumerate(judging.overrides):
            decision = {"judgment": f"{name}.{step}", "replaces": name, "reason": "looked"}
            name = f"{name}.{step}"
            self.late.append(
                self.act(key, "judgment.overridden", **decision, **value_of(metric, value))
            )


def value_of(metric: Table, choice: int) -> dict[str, str | None]:
    """Return a verdict, or a score on the metric's scale and sometimes a label beside it."""
    if metric["measure"] == "verdict":
        return {"verdict": VERDICTS[choice]}
    low, high = metric.get("scale", ("0", "1"))
    scores = (
        {"score": high},
        {"score": low, "verdict": "incorrect"},
        {"score": "1/3"},
        {"score": "2/6", "verdict": "partial"},
        {"verdict": "not_gradable"},
    )
    return dict(scores[choice])
