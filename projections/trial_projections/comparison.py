"""Two or more runs over the same questions: paired differences, flips, what bars a verdict (C35).

Invariant: pairs are made by question and are complete; a question that counts in one run only is
named and never dropped in silence; what is undecided widens the difference and is never wrong;
pilot and final, invalid runs, other rubrics and other datasets give no verdict (C12, C13, C14).

Miller 2024 (arXiv 2411.00640) for the paired interval, Fisher 1935 for the test, Holm 1979 and
Benjamini & Hochberg 1995 for several comparisons.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

import msgspec

from trial_ledger.documents.difference import differences
from trial_ledger.exact import fraction_from_decimal_text, parse_rational, rational_text
from trial_projections.bridge import bridge, end_of
from trial_projections.bridge_structs import Bridge
from trial_projections.comparison_frontier import frontier_of, question_means
from trial_projections.comparison_missing import missing_of
from trial_projections.comparison_structs import (
    Comparison,
    Flip,
    Pair,
    PairedMetric,
    SettingChange,
    Verdict,
)
from trial_projections.derivation import trial_name
from trial_projections.reading import ReadModel
from trial_projections.records import RunRecord
from trial_projections.scores import RunInput, place_slots, score_metric
from trial_projections.statistics.decimals import shown_result, shown_text
from trial_projections.statistics.multiplicity import adjust
from trial_projections.statistics.paired import paired_difference
from trial_projections.statistics.paired_range import Span, ranged_interval, ranged_test
from trial_projections.statistics.result import total_of

__all__ = ["compare"]

Means = Mapping[str, tuple[Fraction, Fraction]]
Trials = Mapping[str, Sequence[str]]
SIGNIFICANT = Fraction(1, 20)
METHODS: Final = ("holm", "bh")
NO_PAIR = "no question counts in both runs"
ONE_PAIR = "one question has no spread"
NO_VERDICT = "the two runs give no verdict"
NO_METRIC = "the runs have no metric in common"
NO_QUESTION = "no question counts in every run"


def compare(
    model: ReadModel,
    runs: Sequence[RunRecord],
    metrics: Sequence[str] = (),
    *,
    frontier: bool = True,
) -> Comparison:
    """Return the first of some runs with each of the others.

    Args:
        model: the read side.
        runs: two or more runs, each once.
        metrics: metrics of all their rubrics; empty for all that they have in common.
        frontier: whether to look for the runs that no other one beats, which takes a second.
    """
    sources = [model.score_input(run) for run in runs]
    names = metrics or common_metrics(sources)
    pairs = [
        pair_of(model, (runs[0], run), (sources[0], source), names)
        for run, source in zip(runs[1:], sources[1:], strict=True)
    ]
    found, reason = None, None
    if frontier:
        reasons = [reason for pair in pairs for reason in pair.no_verdict]
        reason = next(iter(reasons), None if names else NO_METRIC)
        if reason is None:
            found = frontier_of(model, list(zip(runs, sources, strict=True)), names[0])
            reason = NO_QUESTION if found is None else None
    return Comparison(
        ledger=model.ledger.id,
        size=model.size,
        pairs=with_verdicts(pairs, sources[0].rubric.primary),
        frontier=found,
        no_frontier=reason,
    )


def common_metrics(sources: Sequence[RunInput]) -> list[str]:
    """Return the metrics that all rubrics have, the first one's primary before the others."""
    first = sources[0].rubric
    order = [first.primary, *(name for name in first.metrics if name != first.primary)]
    return [name for name in order if all(name in source.rubric.metrics for source in sources)]


def pair_of(
    model: ReadModel,
    runs: tuple[RunRecord, RunRecord],
    sources: tuple[RunInput, RunInput],
    metrics: Sequence[str],
) -> Pair:
    """Return two runs side by side, without a verdict yet."""
    first, second = runs
    reasons = list(forbidding(model, first, second))
    found = [paired_metric((first.name, second.name), sources, metric) for metric in metrics]
    if reasons:
        found = [without_test(metric) for metric in found]
    is_other_measure = first.rubric_hash != second.rubric_hash or first.dataset != second.dataset
    return Pair(
        first=first.name,
        second=second.name,
        no_verdict=reasons,
        notes=list(unsaid(model, first, second)),
        settings=changed_settings(model, first, second),
        metrics=found,
        bridges=list(bridges_of(model, runs, metrics)) if is_other_measure else [],
    )


def forbidding(model: ReadModel, first: RunRecord, second: RunRecord) -> Iterator[str]:
    """Yield why two runs give no verdict."""
    for run in (first, second):
        if not run.is_valid:
            yield f"{run.name} is invalid (C12)"
        if run.status == "open":
            yield f"{run.name} is still open"
    phases = [model.manifest(run).phase for run in (first, second)]
    if None not in phases and phases[0] != phases[1]:
        yield f"{first.name} is {phases[0]}, {second.name} {phases[1]}: never compared (C13)"
    if first.rubric_hash != second.rubric_hash:
        yield f"other rubrics: {first.rubric}, {second.rubric} (C14)"
    if first.dataset != second.dataset:
        yield f"other datasets: {first.dataset}, {second.dataset}"


def unsaid(model: ReadModel, first: RunRecord, second: RunRecord) -> Iterator[str]:
    """Yield what nobody recorded of two runs and a verdict takes for granted."""
    phases = {run.name: model.manifest(run).phase for run in (first, second)}
    for run, phase in phases.items():
        if phase is None and set(phases.values()) != {None}:
            yield f"nobody says whether {run} is pilot or final (C13)"


def changed_settings(model: ReadModel, first: RunRecord, second: RunRecord) -> list[SettingChange]:
    """Return what the manifests of two runs differ in."""
    documents = [
        model.registry.read_plain(model.registry.manifests[run.manifest].document)
        for run in (first, second)
    ]
    return [
        SettingChange(path=change.path, old=or_none(change.old), new=or_none(change.new))
        for change in differences(*documents)
    ]


def or_none(value: object) -> object:
    """Return a value of a document; None where the document has no such field."""
    return None if value is msgspec.UNSET else value


def bridges_of(
    model: ReadModel, runs: tuple[RunRecord, RunRecord], metrics: Iterable[str]
) -> Iterator[Bridge]:
    """Yield the way from the first number to the second for every metric that has both."""
    for metric in metrics:
        found = bridge(*(end_of(model, run, metric) for run in runs))
        if isinstance(found, Bridge):
            yield found


def paired_metric(
    runs: tuple[str, str], sources: tuple[RunInput, RunInput], metric: str
) -> PairedMetric:
    """Return one metric of two runs by question, without a verdict yet.

    Args:
        runs: the name of the run that is compared with, and of the other one.
        sources: what their scores depend on.
        metric: a metric of both rubrics.
    """
    scores = [score_metric(source, metric) for source in sources]
    unavailable = [score.unavailable for score in scores if score.unavailable is not None]
    means: list[Means] = [
        {} if unavailable else question_means(source, metric) for source in sources
    ]
    shared = [question for question in means[0] if question in means[1]]
    trials = [trials_of(run, source, metric) for run, source in zip(runs, sources, strict=True)]
    flips = [flip for question in shared for flip in flips_of(question, means, trials)]
    ways = [flip.way for flip in flips]
    found = PairedMetric(
        metric=metric,
        scale=scores[0].scale,
        first=scores[0].headline,
        second=scores[1].headline,
        pairs=len(shared),
        only_first=[question for question in means[0] if question not in means[1]],
        only_second=[question for question in means[1] if question not in means[0]],
        up=ways.count("up"),
        down=ways.count("down"),
        same=len(shared) - len(flips),
        undecided=ways.count("undecided"),
        low=None, high=None, interval_low=None, interval_high=None,
        error=None, unpaired_error=None, correlation=None,
        test=None, p=None, p_adjusted=None, adjusted_by="holm", family=1,
        reason=unavailable[0] if unavailable else None if shared else NO_PAIR,
        verdict=None,
        missing=missing_of(sources, metric, shared),
        flips=flips,
    )  # fmt: skip
    return tested(found, [(means[0][name], means[1][name]) for name in shared])


def trials_of(run: str, source: RunInput, metric: str) -> Trials:
    """Return the addresses of the trials that count, by question."""
    found: dict[str, list[str]] = {}
    for slot in place_slots(source, metric):
        if slot.trial is not None:
            found.setdefault(slot.question, []).append(f"{run}/{trial_name(slot.trial)}")
    return found


def flips_of(question: str, means: Sequence[Means], trials: Sequence[Trials]) -> Iterator[Flip]:
    """Yield how the mean of a question differs; nothing where it is the same for certain."""
    old, new = (side[question] for side in means)
    if old == new and old[0] == old[1]:
        return
    up, down = new[0] > old[1], new[1] < old[0]
    yield Flip(
        question=question,
        way="up" if up else "down" if down else "undecided",
        first_low=rational_text(old[0]),
        first_high=rational_text(old[1]),
        second_low=rational_text(new[0]),
        second_high=rational_text(new[1]),
        first_trials=list(trials[0].get(question, ())),
        second_trials=list(trials[1].get(question, ())),
    )


def tested(found: PairedMetric, pairs: Sequence[tuple[Span, Span]]) -> PairedMetric:
    """Return a paired metric with its difference, interval and test."""
    if not pairs:
        return found
    spans = [(new[0] - old[1], new[1] - old[0]) for old, new in pairs]
    low, high = (total_of(span[end] for span in spans) / len(spans) for end in (0, 1))
    changes: dict[str, object] = {"low": rational_text(low), "high": rational_text(high)}
    if len(pairs) == 1:
        return msgspec.structs.replace(found, **changes, reason=ONE_PAIR)
    interval, test = ranged_interval(spans), ranged_test(spans)
    changes |= {"reason": interval.reason, "test": test.name, "p": shown_text(test.p)}
    if interval.value is not None:
        changes["interval_low"] = shown_text(interval.value.low)
        changes["interval_high"] = shown_text(interval.value.high)
    if low == high:
        usual = paired_difference([new[0] for _, new in pairs], [old[0] for old, _ in pairs])
        changes |= {
            "error": shown_result(usual.error),
            "unpaired_error": shown_result(usual.unpaired_error),
            "correlation": shown_result(usual.correlation),
        }
    return msgspec.structs.replace(found, **changes)


def without_test(metric: PairedMetric) -> PairedMetric:
    """Return a paired metric of two runs that give no verdict: the difference alone."""
    return msgspec.structs.replace(
        metric, interval_low=None, interval_high=None, error=None, unpaired_error=None,
        correlation=None, test=None, p=None, reason=metric.reason or NO_VERDICT,
    )  # fmt: skip


def with_verdicts(pairs: Sequence[Pair], primary: str) -> list[Pair]:
    """Return the pairs with p-values adjusted for all of them, and what these show.

    The primary metric is what the runs are compared for: every pair that was asked for, tested or
    not, is in its family. The other metrics are looked through, all pairs of all of them together.
    """
    judged_pairs = [list(pair.metrics) for pair in pairs]
    for method in METHODS:
        members = [
            (metrics, place)
            for metrics in judged_pairs
            for place, metric in enumerate(metrics)
            if (metric.metric == primary) == (method == "holm")
        ]
        values = [metrics[place].p for metrics, place in members]
        adjusted = adjust(
            [None if p is None else fraction_from_decimal_text(p) for p in values], method
        )
        for (metrics, place), found in zip(members, adjusted, strict=True):
            metrics[place] = msgspec.structs.replace(
                judged(metrics[place], found.value), adjusted_by=method, family=len(members)
            )
    return [
        msgspec.structs.replace(pair, metrics=metrics)
        for pair, metrics in zip(pairs, judged_pairs, strict=True)
    ]


def judged(metric: PairedMetric, p: Fraction | None) -> PairedMetric:
    """Return a paired metric with its adjusted p-value and what it shows."""
    if p is None or metric.low is None:
        return metric
    verdict: Verdict = "no difference shown"
    if p <= SIGNIFICANT:
        verdict = "higher" if parse_rational(metric.low) > 0 else "lower"
    return msgspec.structs.replace(metric, p_adjusted=shown_text(p), verdict=verdict)
