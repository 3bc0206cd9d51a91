"""Judgments after overrides: both stay, the last one counts (C31).

Invariant: a judgment is effective until an override names it; which of several effective ones
decides a metric is the rubric's rule, the first valid one or what most passes agree on.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import msgspec

from trial_ledger import events
from trial_ledger.exact import parse_rational, rational_text
from trial_ledger.kinds.judgments import UNJUDGED
from trial_ledger.view import Stored
from trial_projections.records import (
    DisagreementRecord,
    FailedJudgment,
    JudgmentRecord,
    Mark,
    ReviewRecord,
    SessionRecord,
)

__all__ = ["apply_judgment", "deciding_judgment", "original", "standing_judgments"]


def grader_name(grader: events.Grader) -> str:
    """Return `name@version`, or the name alone."""
    return grader.name if grader.version is None else f"{grader.name}@{grader.version}"


def apply_judgment(trial: SessionRecord, stored: Stored, mark: Mark) -> None:
    """Take one event about the verdicts on a trial into account."""
    match stored.event.data:
        case events.JudgmentRecorded() as data:
            recorded = JudgmentRecord(
                data.judgment,
                mark,
                data.metric,
                data.pass_,
                data.by,
                grader_name(data.grader),
                data.verdict,
                data.score,
                None,
                None,
                *range_of(data),
            )
            trial.judgments += (recorded,)
        case events.JudgmentFailed() as data:
            failed = FailedJudgment(data.judgment, mark, data.metric, data.reason)
            trial.failed_judgments += (failed,)
        case events.JudgmentOverridden() as data:
            override(trial, data, stored.event.actor.name or "unnamed", mark)
        case events.ReviewRecorded() as data:
            person = stored.event.actor.name or "unnamed"
            given = (data.review, mark, data.metric, data.plan, person, data.verdict, data.score)
            trial.reviews += (ReviewRecord(*given, data.blind),)
        case events.DisagreementOpened() as data:
            opened = DisagreementRecord(data.disagreement, mark, data.judgment, data.review)
            trial.disagreements += (opened,)
        case events.DisagreementResolved() as data:
            resolve(trial, data, mark)
        case _:
            pass  # Item verdicts decide no metric.


def range_of(data: events.JudgmentRecorded) -> tuple[str, str] | tuple[None, None]:
    """Return between what a score lies of which a part is not judged; None where nothing says so.

    The first ratio among the parts is the least; what is unjudged may be right or wrong (C6).
    """
    unjudged = sum(part.numerator or 0 for part in data.parts if part.name == UNJUDGED)
    if data.verdict != "not_gradable" or not unjudged:
        return None, None
    for part in data.parts:
        if part.numerator is not None and part.denominator:
            low = Fraction(part.numerator, part.denominator)
            return rational_text(low), rational_text(low + Fraction(unjudged, part.denominator))
    return None, None


def resolve(trial: SessionRecord, data: events.DisagreementResolved, mark: Mark) -> None:
    """Close a disagreement with what was found."""
    trial.disagreements = tuple(
        msgspec.structs.replace(known, resolved=mark, finding=data.finding)
        if known.id == data.disagreement
        else known
        for known in trial.disagreements
    )


def override(
    trial: SessionRecord, data: events.JudgmentOverridden, person: str, mark: Mark
) -> None:
    """Put a person's decision in the place of a judgment, which stays."""
    position = next(
        place for place, known in enumerate(trial.judgments) if known.id == data.replaces
    )
    replaced = trial.judgments[position]
    decision = JudgmentRecord(
        data.judgment,
        mark,
        replaced.metric,
        replaced.pass_,
        "human",
        person,
        data.verdict,
        data.score,
        data.replaces,
    )
    trial.judgments = (
        *trial.judgments[:position],
        msgspec.structs.replace(replaced, replaced_by=data.judgment),
        *trial.judgments[position + 1 :],
        decision,
    )


def standing_judgments(trial: SessionRecord, metric: str) -> list[JudgmentRecord]:
    """Return the judgments of a metric that nothing replaced: by pass, then as first recorded.

    An override keeps the pass of what it replaces, so it stands where that stood. A range stands
    until the same grader gave another one or a number.
    """
    standing = [
        judgment
        for judgment in trial.judgments
        if judgment.metric == metric and judgment.replaced_by is None
    ]
    if len(standing) > 1:
        standing.sort(key=lambda judgment: (judgment.pass_, origin(trial, judgment)))
        return [known for known in standing if not is_narrowed(known, standing)]
    return standing


def is_narrowed(judgment: JudgmentRecord, standing: Sequence[JudgmentRecord]) -> bool:
    """Return whether the same grader knew more later: a range gives way to what came after it.

    Nothing else does: a score or a verdict stands, whoever judges again (C6).
    """
    return judgment.low is not None and any(
        later.grader == judgment.grader and later.mark.seq > judgment.mark.seq for later in standing
    )


def origin(trial: SessionRecord, judgment: JudgmentRecord) -> int:
    """Return the seq of the judgment that a chain of overrides began with."""
    return original(trial, judgment).mark.seq


def original(trial: SessionRecord, judgment: JudgmentRecord) -> JudgmentRecord:
    """Return the judgment that a chain of overrides began with."""
    while judgment.replaces is not None:
        judgment = next(known for known in trial.judgments if known.id == judgment.replaces)
    return judgment


def deciding_judgment(
    standing: Sequence[JudgmentRecord], *, majority: bool
) -> JudgmentRecord | None:
    """Return which of the standing judgments of a metric decides it; None where they disagree.

    Without `majority` the first does. With it, a person's override does, and else the first of
    those that more than half agree with; where no value has so many, none decides.

    Args:
        standing: what `standing_judgments` returned, at least one.
        majority: the rubric's rule for several passes.
    """
    if not majority or len(standing) == 1:
        return standing[0]
    by_people = [judgment for judgment in standing if judgment.replaces is not None]
    if by_people:
        return by_people[0]
    values = [value_of(judgment) for judgment in standing]
    value, count = Counter(values).most_common(1)[0]
    return standing[values.index(value)] if 2 * count > len(standing) else None


def value_of(judgment: JudgmentRecord) -> tuple[str | None, Fraction | None]:
    """Return what passes are compared by; 1/2 and 2/4 agree."""
    score = judgment.score
    return judgment.verdict, None if score is None else parse_rational(score)
