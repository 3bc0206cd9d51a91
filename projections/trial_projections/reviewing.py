"""Which trials people review: strata of judged trials, and the draw from the rubric's seed.

Invariant: the draw depends on the seed and the trials' names alone, so that nobody can steer it
and anybody can make it again (C29); a person's override moves no trial into another stratum.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import msgspec
from blake3 import blake3

from trial_ledger.documents.rubric_structs import Metric, Review
from trial_ledger.errors import InvalidInputError, Problem
from trial_ledger.exact import parse_rational
from trial_projections.cells import Placed
from trial_projections.derivation import trial_name
from trial_projections.effective import original
from trial_projections.records import JudgmentRecord, ReviewRecord, SessionRecord
from trial_projections.scores import RunInput, place_slots

__all__ = [
    "CONTEXT",
    "STRATA",
    "DrawDocument",
    "Judged",
    "Stratum",
    "agrees",
    "document_text",
    "draw",
    "draw_document",
    "drawn",
    "judged_trials",
    "label_of",
    "needed",
    "require_strata",
    "strata_of",
]

CONTEXT = "trial-ledger 2026 review.drawn: order of trials"
"""Context under which BLAKE3 derives the key of the draw from the rubric's seed."""

STRATA = ("configuration", "judged", "task_shape", "split")
"""What a draw can be stratified by."""

UNKNOWN = "unknown"
"""The stratum of what the source does not say."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A trial whose slot an automated judgment decided, or a person's in the place of one."""

    trial: str
    """`question#repetition@session`."""
    question: str
    """Its question."""
    record: SessionRecord
    """The record of its judgments and reviews."""
    automated: JudgmentRecord
    """The judgment that a code grader or a model gave."""
    standing: JudgmentRecord
    """The judgment that decides now: the same, or a person's override."""
    judged: str
    """`success`, `failure` or `undecided`, as the automated judgment says."""


class Stratum(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Judged trials that are alike, and which of them are drawn."""

    by: dict[str, str]
    """What they have in common, by name."""
    judged: int
    """How many there are."""
    drawn: tuple[str, ...]
    """Of these, the drawn ones, in the order of the draw."""


class DrawDocument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What review.drawn says of a drawing, as canonical JSON."""

    schema: int = 1
    """Version of this form."""
    metric: str
    """The metric whose judgments are reviewed."""
    fraction: str
    """Least share of each stratum, as the rubric has it."""
    floor: int
    """Least number of each stratum, as far as it has so many."""
    strata: tuple[Stratum, ...]
    """The strata by what they have in common."""


def judged_trials(source: RunInput, metric: str) -> list[Judged]:
    """Return the trials of a metric that an automated judgment decides, in planned order.

    Of several sessions of a slot only the one that counts is among them. What a person judged in
    the first place needs no review by a person.

    Args:
        source: the run.
        metric: a metric of its rubric.
    """
    rules = source.rubric.metrics[metric]
    strata: dict[tuple[str | None, str | None], str] = {}
    found: list[Judged] = []
    for placed in place_slots(source, metric):
        judged = judged_slot(placed, rules, strata)
        if judged is not None:
            found.append(judged)
    return found


def judged_slot(
    placed: Placed, metric: Metric, strata: dict[tuple[str | None, str | None], str]
) -> Judged | None:
    """Return the judged trial of a slot; None where no automated judgment decides it.

    Args:
        placed: the slot.
        metric: the metric.
        strata: what was found of other trials by verdict and score, of which there are few.
    """
    if placed.judgment is None:
        return None
    assert placed.trial is not None, "a judged slot has a trial"
    assert placed.judged is not None, "a judged slot has judgments"
    automated = original(placed.judged, placed.judgment)
    if automated.by == "human":
        return None
    said = (automated.verdict, automated.score)
    if said not in strata:
        strata[said] = success_of(label_of(automated, metric))
    return Judged(
        trial=trial_name(placed.trial),
        question=placed.question,
        record=placed.judged,
        automated=automated,
        standing=placed.judgment,
        judged=strata[said],
    )


def success_of(label: str) -> str:
    """Return the stratum of a label."""
    return {"correct": "success", "not_gradable": "undecided"}.get(label, "failure")


def label_of(said: JudgmentRecord | ReviewRecord, metric: Metric) -> str:
    """Return what a judgment or a review says, as a verdict.

    Where a score was given, the best end of the scale is `correct`, the worst `incorrect`, and what
    lies between is `partial`. Who gave neither score nor verdict decided nothing.
    """
    if said.score is None:
        return said.verdict or "not_gradable"
    value = parse_rational(said.score)
    low, high = (parse_rational(end) for end in metric.scale)
    best, worst = (high, low) if metric.direction == "higher" else (low, high)
    return "correct" if value == best else "incorrect" if value == worst else "partial"


def agrees(
    verdict: str | None, score: str | None, judgment: JudgmentRecord, metric: Metric
) -> bool:
    """Return whether a reviewer says what a judgment says.

    A score is compared with the score, a verdict with the verdict or with what the score is called.

    Args:
        verdict: the reviewer's label, where no score was given.
        score: the reviewer's value.
        judgment: the judgment.
        metric: the metric of both.
    """
    if score is not None:
        said = judgment.score
        return said is not None and parse_rational(score) == parse_rational(said)
    return verdict == label_of(judgment, metric)


def needed(judged: int, review: Review) -> int:
    """Return how many of a stratum are to be reviewed (C29).

    At least the rubric's fraction, rounded up, and at least its floor as far as there are so many.

    Args:
        judged: trials in the stratum.
        review: the rubric's review plan.
    """
    share = parse_rational(review.fraction) * judged
    return min(judged, max(ceiling(share), review.floor))


def ceiling(value: Fraction) -> int:
    """Return the smallest integer that is no less."""
    return -(-value.numerator // value.denominator)


def draw(trials: Iterable[str], seed: str, count: int) -> tuple[str, ...]:
    """Return the trials with the smallest keyed hashes, smallest first.

    The hash is BLAKE3 of the trial's name, keyed with the key that BLAKE3 derives from the seed
    under `CONTEXT`; `b3sum --derive-key` and `b3sum --keyed` reproduce both.

    Args:
        trials: the names of a stratum's trials, in any order.
        seed: the rubric's seed.
        count: how many.
    """
    key = blake3(seed.encode(), derive_key_context=CONTEXT).digest()
    order = {name: blake3(name.encode(), key=key).digest() for name in trials}
    return tuple(sorted(order, key=order.__getitem__)[:count])


def require_strata(review: Review) -> None:
    """Refuse to draw by strata that this program does not know.

    Raises:
        InvalidInputError: the rubric names some.
    """
    unknown = [name for name in review.strata if name not in STRATA]
    if unknown:
        faults = [
            Problem(
                message="no such stratum",
                field="review.strata",
                found=repr(name),
                expected=f"one of {', '.join(STRATA)}",
                clause="C29",
            )
            for name in unknown
        ]
        raise InvalidInputError(
            faults, what="rubric", hint="ledger rescore RUN --rubric FILE with other strata"
        )


def strata_of(
    source: RunInput, judged: Iterable[Judged], review: Review, configuration: str
) -> dict[tuple[tuple[str, str], ...], list[Judged]]:
    """Return judged trials by what the rubric's strata name, in the order of that.

    A stratum of an unknown name divides nothing.

    Args:
        source: the run.
        judged: its judged trials under one metric.
        review: the rubric's review plan.
        configuration: the run's configuration.
    """
    found: dict[tuple[tuple[str, str], ...], list[Judged]] = {}
    keys: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for trial in judged:
        place = (trial.question, trial.judged)
        if place not in keys:
            question = source.questions[trial.question]
            values: Mapping[str, str | None] = {
                "configuration": configuration,
                "judged": trial.judged,
                "task_shape": question.task_shape,
                "split": question.split,
            }
            keys[place] = tuple((name, values.get(name) or UNKNOWN) for name in review.strata)
        found.setdefault(keys[place], []).append(trial)
    return dict(sorted(found.items()))


def draw_document(
    source: RunInput,
    metric: str,
    review: Review,
    configuration: str,
    *,
    judged: Sequence[Judged] | None = None,
) -> DrawDocument:
    """Return the drawing of a metric as the log is now.

    Args:
        source: the run.
        metric: a metric of its rubric.
        review: the rubric's review plan.
        configuration: the run's configuration.
        judged: its judged trials under the metric, where they are known already.
    """
    known = judged_trials(source, metric) if judged is None else judged
    groups = strata_of(source, known, review, configuration)
    return DrawDocument(
        metric=metric,
        fraction=review.fraction,
        floor=review.floor,
        strata=tuple(
            Stratum(
                by=dict(key),
                judged=len(trials),
                drawn=draw(
                    (trial.trial for trial in trials), review.seed, needed(len(trials), review)
                ),
            )
            for key, trials in groups.items()
        ),
    )


def drawn(document: DrawDocument) -> frozenset[str]:
    """Return every drawn trial of a drawing."""
    return frozenset(trial for stratum in document.strata for trial in stratum.drawn)


def document_text(document: DrawDocument) -> str:
    """Return a drawing as canonical JSON: the keys of every object sorted, no spaces."""
    return msgspec.json.encode(msgspec.to_builtins(document), order="sorted").decode()
