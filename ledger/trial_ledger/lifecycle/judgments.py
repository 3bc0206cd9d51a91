"""Guards of judgments, overrides, reviews and published metrics (C14, C28, C30, C31, C36).

Invariant: a verdict is never changed, only replaced by a later event that names it.
"""

from fractions import Fraction
from typing import assert_never

from msgspec import UNSET

from trial_ledger import events
from trial_ledger.documents.rubric_structs import Metric
from trial_ledger.exact import parse_rational
from trial_ledger.lifecycle.scope import (
    Scope,
    require,
    require_human,
    require_no_trial,
    require_words,
)
from trial_ledger.lifecycle.states import RunState, TrialState
from trial_ledger.lifecycle.trials import require_occurrence, started_trial

__all__ = ["check_judgment", "check_published", "check_review"]


def metric_of(run: RunState, name: str) -> Metric:
    """Return a metric of the run's rubric.

    Raises:
        RuleError: the rubric has none of that name.
    """
    metric = run.rubric.metrics.get(name)
    require(
        metric is not None,
        f"rubric {run.rubric.name}@{run.rubric.version} has no metric {name}",
        clause="C14",
        field="data.metric",
        hint=f"it has {', '.join(sorted(run.rubric.metrics))}",
    )
    assert metric is not None, "required above"
    return metric


def ended_trial(scope: Scope) -> tuple[RunState, TrialState]:
    """Return the run and trial of a verdict.

    Raises:
        RuleError: the trial has not ended.
    """
    run, trial = started_trial(scope)
    require(
        trial.outcome is not None,
        f"trial {scope.trial_key} has not finished",
        field="trial",
        hint="append trial.finished first",
    )
    return run, trial


Verdicts = (
    events.JudgmentRecorded
    | events.JudgmentFailed
    | events.JudgmentOverridden
    | events.ItemJudged
)  # fmt: skip
Reviews = (
    events.ReviewDrawn
    | events.ReviewRecorded
    | events.DisagreementOpened
    | events.DisagreementResolved
)  # fmt: skip


def check_judgment(scope: Scope, data: Verdicts) -> None:
    """Refuse a verdict that may not be given.

    Raises:
        RuleError: with the clause.
    """
    run, trial = ended_trial(scope)
    match data:
        case events.JudgmentRecorded():
            check_recorded(scope, run, trial, data)
        case events.JudgmentFailed():
            metric_of(run, data.metric)
            require_new_judgment(trial, data.judgment)
            if data.carried_from is not UNSET:
                failed = carrying_trial(run, trial).failed_judgments.get(data.carried_from)
                require_carried(scope, data.carried_from, same=failed == data.metric)
                return
            require(
                data.reason == "lost_in_source" or data.occurrence is not None,
                "a failed judge names its failure",
                clause="C23",
                field="data.occurrence",
                hint="append failure.occurred with fault judge first",
            )
            require_occurrence(trial, data.occurrence)
        case events.JudgmentOverridden():
            check_override(scope, run, trial, data)
        case events.ItemJudged():
            metric_of(run, data.metric)
            require_words(scope, "C6")
        case _ as unreachable:
            assert_never(unreachable)


def require_new_judgment(trial: TrialState, name: str) -> None:
    """Refuse a judgment id that the trial already has."""
    require(
        name not in trial.judgments and name not in trial.failed_judgments,
        f"judgment {name} exists",
        field="data.judgment",
    )


def check_recorded(
    scope: Scope, run: RunState, trial: TrialState, data: events.JudgmentRecorded
) -> None:
    """Refuse a judgment under another rubric, given twice, or without its reasoning."""
    metric = metric_of(run, data.metric)
    require(
        data.rubric == run.opened.rubric_hash,
        f"rubric {data.rubric} is not the run's {run.opened.rubric_hash}",
        clause="C14",
        field="data.rubric",
        hint="another rubric is a derived run: run.opened with derived_from",
    )
    require_new_judgment(trial, data.judgment)
    grader = data.grader
    require(
        (data.metric, grader.name, grader.version, data.pass_) not in trial.judged,
        f"{grader.name} already judged {data.metric} of trial {scope.trial_key}, pass {data.pass_}",
        field="data.pass",
        hint="another pass has another number; a person decides otherwise with: ledger override",
    )
    check_value(metric, data.verdict, data.score)
    if data.carried_from is not UNSET:
        check_carried(scope, run, trial, data)
    elif data.by == "human":
        require_human(scope, "C28")
    if run.is_live and data.carried_from is UNSET:
        require(
            data.reasoning is not None or data.parts,
            "an automated judgment carries its reasoning: words or parts",
            clause="C28",
            field="data.reasoning",
        )
    for call in data.calls:
        found = trial.calls.get(call)
        require(
            found is not None and found.purpose == "judge",
            f"call {call} is no judge call of this trial",
            clause="C19",
            field="data.calls",
        )
    require(
        not data.calls or (data.usage is None and data.cost is None),
        "usage and cost stand with the judge calls, not here too",
        clause="C19",
        field="data.cost",
    )


def carrying_trial(run: RunState, trial: TrialState) -> TrialState:
    """Return the parent's trial, whose judgments a derived run may repeat.

    Raises:
        RuleError: the run is not derived.
    """
    require(
        trial.carried is not None,
        f"run {run.name} is not derived: there is no parent to carry a judgment from",
        clause="C14",
        field="data.carried_from",
    )
    assert trial.carried is not None, "required above"
    return trial.carried


def require_carried(scope: Scope, name: str, *, same: bool) -> None:
    """Refuse to carry a judgment that the parent does not have, or to change it on the way."""
    require(
        same,
        f"the parent's trial {scope.trial_key} has no judgment {name} that says so",
        clause="C14",
        field="data.carried_from",
        hint="leave carried_from out where something was judged anew",
    )


def check_carried(
    scope: Scope, run: RunState, trial: TrialState, data: events.JudgmentRecorded
) -> None:
    """Refuse a carried judgment that is not the parent's own, or that is an override (C14).

    A person's override answered the old rubric; under another one it has to be given again.
    """
    assert data.carried_from is not UNSET, "the caller looked"
    origin = carrying_trial(run, trial).judgments.get(data.carried_from)
    said = (data.metric, data.verdict, data.score)
    same = origin is not None and (origin.metric, origin.verdict, origin.score) == said
    require_carried(scope, data.carried_from, same=same)
    assert origin is not None, "required above"
    require(
        not origin.is_override,
        f"judgment {data.carried_from} is an override, which a derived run does not inherit",
        clause="C14",
        field="data.carried_from",
    )


def check_value(metric: Metric, verdict: str | None, score: str | None) -> None:
    """Refuse a verdict or score that the metric's measure cannot take."""
    if metric.measure == "verdict":
        require(
            verdict is not None and score is None,
            "a metric of measure verdict takes a verdict and no score",
            clause="C20",
            field="data.verdict",
        )
        return
    if verdict == "not_gradable":
        require(score is None, "not_gradable has no score", clause="C20", field="data.score")
        return
    require(
        score is not None,
        f"a metric of measure {metric.measure} takes a score, or the verdict not_gradable",
        clause="C20",
        field="data.score",
    )
    assert score is not None, "required above"
    low, high = (parse_rational(bound) for bound in metric.scale)
    value: Fraction = parse_rational(score)
    require(
        low <= value <= high,
        f"score {score} lies outside the scale {metric.scale[0]} to {metric.scale[1]}",
        clause="C20",
        field="data.score",
    )


def check_override(
    scope: Scope, run: RunState, trial: TrialState, data: events.JudgmentOverridden
) -> None:
    """Refuse an override without a person, a reason, or an effective judgment to replace."""
    require_human(scope, "C31")
    require_words(scope, "C31")
    require_new_judgment(trial, data.judgment)
    replaced = trial.judgments.get(data.replaces)
    require(
        replaced is not None,
        f"judgment {data.replaces} does not exist in trial {scope.trial_key}",
        clause="C31",
        field="data.replaces",
    )
    assert replaced is not None, "required above"
    require(
        replaced.is_effective,
        f"judgment {data.replaces} was already replaced",
        clause="C31",
        field="data.replaces",
        hint="name the effective one; ledger override does it for a person",
    )
    check_value(metric_of(run, replaced.metric), data.verdict, data.score)


def check_review(scope: Scope, data: Reviews) -> None:
    """Refuse a review or a disagreement that may not follow.

    Raises:
        RuleError: with the clause.
    """
    if isinstance(data, events.ReviewDrawn):
        require_no_trial(scope)
        assert scope.run is not None, "the writer found the run"
        review = scope.run.rubric.review
        require(
            review is not None and data.seed == review.seed,
            f"seed {data.seed} is not the rubric's",
            clause="C29",
            field="data.seed",
        )
        return
    run, trial = ended_trial(scope)
    require_human(scope, "C30")
    match data:
        case events.ReviewRecorded():
            metric_of(run, data.metric)
            require_words(scope, "C28")
            require(data.review not in trial.reviews, f"review {data.review} exists")
            require(
                data.judgment is None or data.judgment in trial.judgments,
                f"judgment {data.judgment} does not exist in trial {scope.trial_key}",
                field="data.judgment",
            )
        case events.DisagreementOpened() | events.DisagreementResolved():
            require(
                data.judgment in trial.judgments and data.review in trial.reviews,
                f"judgment {data.judgment} or review {data.review} does not exist",
                clause="C30",
                field="data.disagreement",
            )
            expected = False if isinstance(data, events.DisagreementResolved) else None
            require(
                trial.disagreements.get(data.disagreement) is expected,
                f"disagreement {data.disagreement} "
                + ("exists" if expected is None else "is not open"),
                clause="C30",
                field="data.disagreement",
            )
        case _ as unreachable:
            assert_never(unreachable)


def check_published(scope: Scope, data: events.MetricPublished) -> None:
    """Refuse to publish a metric that the run's rubric does not have, or of the future."""
    require_no_trial(scope)
    run = scope.run
    assert run is not None, "the writer found the run"
    metric_of(run, data.metric)
    require(
        data.link <= run.links,
        f"link {data.link} is beyond the run's {run.links}",
        clause="C36",
        field="data.link",
    )
