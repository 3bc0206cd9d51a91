"""Judgments after overrides: both stay, the last one counts (C31).

Invariant: a judgment is effective until an override names it; which of several effective ones
decides a metric is the rubric's rule, the first valid one.
"""

from trial_ledger import events
from trial_ledger.view import Stored
from trial_projections.records import FailedJudgment, JudgmentRecord, Mark, TrialRecord

__all__ = ["apply_judgment", "effective_judgment"]


def grader_name(grader: events.Grader) -> str:
    """Return `name@version`, or the name alone."""
    return grader.name if grader.version is None else f"{grader.name}@{grader.version}"


def apply_judgment(trial: TrialRecord, stored: Stored, mark: Mark) -> None:
    """Take one event about the verdicts on a trial into account."""
    match stored.event.data:
        case events.JudgmentRecorded() as data:
            trial.judgments.append(
                JudgmentRecord(
                    data.judgment,
                    mark,
                    data.metric,
                    data.pass_,
                    data.by,
                    grader_name(data.grader),
                    data.verdict,
                    data.score,
                )
            )
        case events.JudgmentFailed() as data:
            trial.failed_judgments.append(
                FailedJudgment(data.judgment, mark, data.metric, data.reason)
            )
        case events.JudgmentOverridden() as data:
            replaced = next(known for known in trial.judgments if known.id == data.replaces)
            replaced.replaced_by = data.judgment
            trial.judgments.append(
                JudgmentRecord(
                    data.judgment,
                    mark,
                    replaced.metric,
                    replaced.pass_,
                    "human",
                    stored.event.actor.name or "unnamed",
                    data.verdict,
                    data.score,
                    data.replaces,
                )
            )
        case _:
            pass  # Reviews and item verdicts have projections of their own.


def effective_judgment(trial: TrialRecord, metric: str) -> JudgmentRecord | None:
    """Return the judgment that decides a metric of a trial: of the lowest pass, the first.

    None where nothing was judged. An override keeps the pass of what it replaces, so it stands
    where that stood.
    """
    standing = [
        judgment
        for judgment in trial.judgments
        if judgment.metric == metric and judgment.replaced_by is None
    ]
    return min(
        standing, key=lambda judgment: (judgment.pass_, origin(trial, judgment)), default=None
    )


def origin(trial: TrialRecord, judgment: JudgmentRecord) -> int:
    """Return the seq of the judgment that a chain of overrides began with."""
    while judgment.replaces is not None:
        judgment = next(known for known in trial.judgments if known.id == judgment.replaces)
    return judgment.mark.seq
