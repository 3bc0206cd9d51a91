"""What a code grader gave, as events: a judgment, or the failure of the judge that it read (C28).

Invariant: a judge that said nothing readable is named as a failure before its judgment fails (C23).
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from trial_ledger.events import Actor
from trial_ledger.grading.grader import CodeGrader, Grade
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import NewText, Submission

__all__ = ["Given", "Tallies", "verdict_events"]


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


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """One judgment of a code grader and where it belongs."""

    run: str
    """The run."""
    trial: TrialKey
    """The trial."""
    metric: str
    """The metric."""
    judgment: str
    """Id of the judgment."""
    pass_: int
    """Its pass."""
    grader: CodeGrader
    """Who gave it."""
    digest: str
    """Digest of the grader with the metric's settings."""
    ids: tuple[str, str]
    """Event ids of the judgment and of the failure before it, which make them come only once."""


def verdict_events(given: Given, grade: Grade) -> Iterator[Submission]:
    """Yield the judgment; where no judge said anything readable, the failure and that it failed."""
    actor = Actor(role="grader", name=given.grader.name, version=given.grader.version)
    common = {"judgment": given.judgment, "metric": given.metric, "pass": given.pass_}
    if grade.verdict is None and grade.score is None:
        occurrence = f"{given.judgment}:failure"
        yield Submission(
            kind="failure.occurred",
            run=given.run,
            trial=given.trial,
            data={
                "occurrence": occurrence,
                "class": "judge_unparseable",
                "fault": "judge",
                "impact": "none",
                "message": NewText.of(grade.reasoning),
            },
            id=given.ids[1],
            actor=actor,
        )
        yield Submission(
            kind="judgment.failed",
            run=given.run,
            trial=given.trial,
            data={**common, "reason": "judge_failed", "occurrence": occurrence},
            id=given.ids[0],
            actor=actor,
        )
        return
    grader = {"name": given.grader.name, "version": given.grader.version, "digest": given.digest}
    yield Submission(
        kind="judgment.recorded",
        run=given.run,
        trial=given.trial,
        data={
            **common,
            "by": "code",
            "grader": grader,
            "verdict": grade.verdict,
            "score": grade.score,
            "parts": msgspec.to_builtins(grade.parts),
            "reasoning": NewText.of(grade.reasoning),
        },
        id=given.ids[0],
        actor=actor,
    )
