"""A person's review of one trial: its events, and what is said of them.

Invariant: review, disagreement, override and resolution are one transaction; what the judgment says
is told only after the review was written (C29, C30, C31).
"""

import shlex
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from trial_cli.acts import HINT, NO_ACTOR, NO_REASON, metric_lines, model_at, seen, submission
from trial_cli.output import Screen, clean
from trial_cli.words import wrapped
from trial_ledger.errors import InvalidInputError, NotFoundError, Problem
from trial_ledger.exact import parse_rational

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trial_ledger.book import Ledger
    from trial_ledger.building import Acknowledgement
    from trial_ledger.documents.rubric_structs import Metric
    from trial_ledger.submission import Submission
    from trial_projections.acts import MetricChange
    from trial_projections.addresses import About
    from trial_projections.reading import ReadModel
    from trial_projections.records import JudgmentRecord, RunRecord, SessionRecord
    from trial_projections.reviewing import Judged

__all__ = ["FINDINGS", "Opinion", "Plan", "metric_of", "perform_review", "plan_review"]

FINDINGS = ("judge_wrong", "reviewer_wrong", "gold_wrong", "rubric_ambiguous")
NO_VALUE = Problem(
    message="not one opinion",
    field="--verdict, --score",
    expected="a verdict, or a score where the metric has scores; one of both",
)
VERDICTS = ("correct", "partial", "incorrect", "abstained", "not_gradable")
NAMED_SCORES = ("correct", "incorrect", "not_gradable")
"""Verdicts that say how a metric of scores counts: the best end, the worst end, undecided."""
ENDS = ("correct", "incorrect")


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of a trial."""

    verdict: str | None
    """The label given."""
    score: str | None = None
    """Or the value."""
    reason: str | None
    """Why."""
    actor: str | None
    """Who."""
    judgment: str | None = None
    """The judgment that was looked at; None while blind."""
    finding: str | None = None
    """Who was right, where they differ; None leaves the disagreement open."""
    override: bool = False
    """Whether to put the verdict in the place of the judgment, where they differ."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The events of a review, before they are written."""

    about: "About"
    """The trial and the judgment that the review is compared with."""
    review: str
    """Id of the review."""
    drawing: str
    """The drawing it belongs to, or `purposive`."""
    opinion: Opinion
    """What the person says."""
    standing: "JudgmentRecord"
    """The judgment that it is compared with."""
    agrees: bool
    """Whether both say the same."""
    disagreement: str | None
    """Id of the disagreement; None where they agree."""
    override: str | None
    """Id of the override; None without one."""
    finding: str | None
    """What was found; None where the disagreement stays open, and where there is none."""
    events: "list[Submission]"
    """The events, in order."""


def require_complete(opinion: Opinion, metric: "Metric") -> None:
    """Refuse an opinion that lacks something, or says what the metric cannot take.

    Raises:
        InvalidInputError: with every fault.
    """
    faults = [
        *([] if opinion.actor else [NO_ACTOR]),
        *([] if opinion.reason else [NO_REASON]),
        *value_faults(opinion, metric),
    ]
    if faults:
        raise InvalidInputError(faults, what="review", hint=HINT)


def value_faults(opinion: Opinion, metric: "Metric") -> list[Problem]:
    """Return what is wrong with the verdict or score of an opinion."""
    verdict, score = opinion.verdict, opinion.score
    if (verdict is None) == (score is None):
        return [NO_VALUE]
    if score is not None:
        return score_faults(score, metric)
    if verdict not in VERDICTS:
        expected = f"one of {', '.join(VERDICTS)}"
        found = repr(str(verdict)[:40])
        return [Problem(message="no verdict", field="--verdict", found=found, expected=expected)]
    if opinion.override and metric.measure != "verdict" and verdict not in NAMED_SCORES:
        message = "this verdict names no score to put in the place of the judgment's"
        return [Problem(message=message, field="--verdict", expected="--score", clause="C20")]
    return []


def score_faults(score: str, metric: "Metric") -> list[Problem]:
    """Return what is wrong with the score of an opinion."""
    if metric.measure == "verdict":
        message = "this metric takes a verdict and no score"
        return [Problem(message=message, field="--score", expected="--verdict", clause="C20")]
    low, high = metric.scale
    expected = f"a rational from {low} to {high}, such as 3/4"
    try:
        fits = parse_rational(low) <= parse_rational(score) <= parse_rational(high)
    except ValueError:
        fits = False
    found = repr(score[:40])
    problem = Problem(message="no score", field="--score", found=found, expected=expected)
    return [] if fits else [problem]


def said_in(review: str, metric: str, drawing: str, opinion: Opinion) -> dict[str, object]:
    """Return what review.recorded says."""
    return {
        "review": review,
        "metric": metric,
        "judgment": opinion.judgment,
        "plan": drawing,
        "verdict": opinion.verdict,
        "score": opinion.score,
        "reason": opinion.reason,
        "blind": opinion.judgment is None,
    }


def plan_review(
    model: "ReadModel",
    run: str,
    trial: str,
    metric: str,
    opinion: Opinion,
    *,
    token: str | None = None,
) -> Plan:
    """Return the events of a review.

    Args:
        model: the read side.
        run: name of the run.
        trial: `question#repetition[@session]`.
        metric: a metric of its rubric.
        opinion: what the person says.
        token: makes the ids of what is recorded; None takes the next free ones.

    Raises:
        InvalidInputError: the opinion lacks something.
        NotFoundError: no judgment of the metric decides the trial, or it has no such judgment.
    """
    from trial_projections.addresses import About, key_in  # noqa: PLC0415 - slow to import
    from trial_projections.reviewing import agrees  # noqa: PLC0415 - likewise

    judged, rules = judged_trial(model, run, trial, metric)
    require_complete(opinion, rules)
    if opinion.judgment is not None:
        require_judgment(judged.record, opinion.judgment, metric)
    key = key_in(model, run, judged.record)
    standing = judged.standing
    about = About(run=run, trial=key, judgment=standing.id, metric=metric)
    review = new_name("r", (known.id for known in judged.record.reviews), token)
    drawing = drawing_of(model, run, judged.trial, metric)
    given = said_in(review, metric, drawing, opinion)
    events = [submission("review.recorded", about, opinion.actor, given)]
    same = agrees(opinion.verdict, opinion.score, standing, rules)
    disagreement = override = finding = None
    if not same:
        disagreement = new_name("d", (known.id for known in judged.record.disagreements), token)
        pair = {"disagreement": disagreement, "judgment": standing.id, "review": review}
        events.append(submission("disagreement.opened", about, opinion.actor, pair))
        if opinion.override:
            override, overriding = override_of(about, judged.record, opinion, rules)
            events.append(overriding)
        finding = opinion.finding or ("judge_wrong" if opinion.override else None)
        if finding is not None:
            found = {**pair, "finding": finding, "reason": opinion.reason}
            events.append(submission("disagreement.resolved", about, opinion.actor, found))
    return Plan(
        about=about,
        review=review,
        drawing=drawing,
        opinion=opinion,
        standing=standing,
        agrees=same,
        disagreement=disagreement,
        override=override,
        finding=finding,
        events=events,
    )


def judged_trial(model: "ReadModel", run: str, trial: str, metric: str) -> "tuple[Judged, Metric]":
    """Return a judged trial and the metric's rules; no other question is read.

    Raises:
        InvalidInputError: the trial is not named as one.
        NotFoundError: there is no such metric, or no automated judgment of it decides the trial.
    """
    from trial_ledger.identifiers import parse_trial  # noqa: PLC0415 - slow to import
    from trial_projections.reviewing import judged_trials  # noqa: PLC0415 - likewise

    record = model.run(run)
    key = parse_trial(trial, configuration=model.manifest(record).configuration)
    rules = metric_of(model, record, metric)
    if key.question in model.slots(record).questions:
        source = model.question_input(record, key.question)
        for judged in judged_trials(source, metric):
            if judged.trial == str(key):
                return judged, rules
    message = f"no judgment of {metric} decides a trial {str(key)[:80]} of {record.name}"
    raise NotFoundError(message, hint=f"ledger trials {record.name}")


def metric_of(model: "ReadModel", run: "RunRecord", metric: str) -> "Metric":
    """Return a metric of a run's rubric.

    Raises:
        NotFoundError: there is none of that name.
    """
    metrics = model.rubric(run).metrics
    if metric not in metrics:
        message = f"rubric {run.rubric} has no metric {metric[:80]!r}"
        raise NotFoundError(message, hint=f"it has {', '.join(sorted(metrics))}")
    return metrics[metric]


def require_judgment(record: "SessionRecord", name: str, metric: str) -> None:
    """Refuse a review of a judgment that the trial does not have, or not of this metric.

    Raises:
        NotFoundError: it is not there.
    """
    known = [judgment.id for judgment in record.judgments if judgment.metric == metric]
    if name not in known:
        message = f"no judgment {name[:80]!r} of {metric} in this trial"
        raise NotFoundError(message, hint=f"it has {', '.join(known)}")


def drawing_of(model: "ReadModel", run: str, trial: str, metric: str) -> str:
    """Return the last drawing of a metric that named a trial, or `purposive`."""
    from trial_projections.review_coverage import (  # noqa: PLC0415 - slow to import
        PURPOSIVE,
        drawings_of,
    )
    from trial_projections.reviewing import drawn  # noqa: PLC0415 - likewise

    plans = [
        known.plan
        for known in drawings_of(model, model.run(run))
        if known.document is not None
        and known.document.metric == metric
        and trial in drawn(known.document)
    ]
    return plans[-1] if plans else PURPOSIVE


def new_name(letter: str, known: "Iterable[str]", token: str | None = None) -> str:
    """Return the first of r1, r2 and so on that is not taken, or one made of a token."""
    if token is not None:
        return f"{letter}-{token}"
    taken = set(known)
    return next(name for number in count(1) if (name := f"{letter}{number}") not in taken)


def override_of(
    about: "About", record: "SessionRecord", opinion: Opinion, metric: "Metric"
) -> "tuple[str, Submission]":
    """Return id and event of an override by what a reviewer said."""
    known = [judgment.id for judgment in record.judgments]
    name = new_name("o", [*known, *(failed.id for failed in record.failed_judgments)])
    verdict, score = opinion.verdict, opinion.score
    if metric.measure != "verdict" and verdict in ENDS:
        low, high = metric.scale
        best = metric.direction == "higher"
        score = high if best == (verdict == "correct") else low
    data: dict[str, object] = {
        "judgment": name,
        "replaces": about.judgment,
        "verdict": verdict,
        "score": score,
        "reason": opinion.reason,
    }
    return name, submission("judgment.overridden", about, opinion.actor, data)


def perform_review(ledger: "Ledger", model: "ReadModel", plan: Plan) -> Screen:
    """Write a review in one transaction and return what is said of it.

    Args:
        ledger: a ledger open for writing.
        model: the read side that the plan was made of; closed here.
        plan: the review.

    Raises:
        InvalidInputError: a value has a wrong form.
        RefusedError: a guard refuses an event.
        StorageError: the file, or the gold file, cannot be written.
    """
    from trial_ledger.batch import Entry  # noqa: PLC0415 - slow to import
    from trial_projections.acts import metric_changes  # noqa: PLC0415 - likewise

    entries = [Entry(submission=event) for event in plan.events]
    if plan.override is None:
        model.close()
        return review_screen(plan, ledger.append_all(entries, what="review"), [])
    before = seen(model, plan.about)
    found = ledger.append_all(entries, what="review")
    after = seen(model_at(ledger, found[-1].seq), plan.about)
    changes = metric_changes(before, after, plan.about)
    return review_screen(plan, found, changes)


def review_screen(
    plan: Plan, found: "list[Acknowledgement]", changes: "list[MetricChange]"
) -> Screen:
    """Return what a review shows, in every form."""
    opinion, standing, about = plan.opinion, plan.standing, plan.about
    trial = f"{about.run}/{about.trial}"
    said = opinion.verdict or opinion.score
    seen_as = "blind" if opinion.judgment is None else f"of {opinion.judgment}"
    judged = " ".join(part for part in (standing.verdict, standing.score) if part is not None)
    lines = [
        f"{'event':<10}seq {found[0].seq}  {found[0].hash[:32]}",
        *wrapped("review", f"{trial}/{plan.review} {said}, by {opinion.actor}, {seen_as}"),
        *wrapped("drawing", plan.drawing),
        *wrapped("judgment", f"{about} {judged}, by {standing.by} {standing.grader}"),
    ]
    if plan.agrees:
        lines.append("agree     both say the same; nothing to resolve")
    else:
        lines += difference_lines(plan, trial)
    for change in changes:
        lines += metric_lines(change)
    events = [
        {"kind": event.kind, "seq": known.seq, "id": known.id, "hash": known.hash}
        for event, known in zip(plan.events, found, strict=True)
    ]
    value: dict[str, object] = {
        "run": about.run,
        "trial": str(about.trial),
        "metric": about.metric,
        "review": plan.review,
        "plan": plan.drawing,
        "blind": opinion.judgment is None,
        "verdict": opinion.verdict,
        "score": opinion.score,
        "judgment": {
            "id": standing.id,
            "verdict": standing.verdict,
            "score": standing.score,
            "by": standing.by,
            "grader": standing.grader,
        },
        "agrees": plan.agrees,
        "disagreement": plan.disagreement,
        "override": plan.override,
        "finding": plan.finding,
    }
    return Screen(
        schema="ledger.review.record/1",
        value={**value, "events": events, "metrics": changes},
        rows=[{**value, "judgment": standing.id, "seq": found[0].seq, "hash": found[0].hash}],
        lines=lines,
    )


def difference_lines(plan: Plan, trial: str) -> list[str]:
    """Return what became of a disagreement."""
    address = f"{trial}/{plan.disagreement}"
    lines = wrapped("disagree", f"{address} opened")
    if plan.override is not None:
        lines += wrapped("override", f"{trial}/{plan.override}; {plan.standing.id} stays")
    if plan.finding is not None:
        return [*lines, *wrapped("resolved", plan.finding)]
    command = f"ledger resolve {shlex.quote(address)} --finding F --reason TEXT"
    return [*lines, f"{'next':<10}{clean(command)}"]
