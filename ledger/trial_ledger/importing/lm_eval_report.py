"""What an evaluation of the lm-evaluation-harness reports itself, and what its files do not hold.

Invariant: the sentences depend on the bytes of the files alone; numbers stand with their digits.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from trial_ledger.importing.lenient_json import (
    decimal_at,
    mapping_at,
    text_at,
    whole_text,
)
from trial_ledger.importing.lm_eval_documents import SEEDS
from trial_ledger.importing.lm_eval_results import STDERR, Results
from trial_ledger.importing.lm_eval_samples import Samples
from trial_ledger.importing.lm_eval_values import MEAN, Metric

__all__ = ["Tallies", "losses_of", "reported_of"]

UNNAMED = "value"
"""What a number is called of which the source does not say how it was made."""


class Tallies(msgspec.Struct, kw_only=True):
    """What was counted while the events were written."""

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    """How many of what were written, by name."""
    other_answers: int = 0
    """Documents whose filters give different answers."""
    without_prompt: int = 0
    """Documents of which the samples show no prompt."""


def losses_of(
    results: Results, samples: Samples, metrics: Sequence[Metric], tallies: Tallies
) -> list[str]:
    """Return what was already lost or could not be carried over, in plain sentences."""
    groups = ", ".join(results.groups)
    sentences = {
        **file_losses(results, samples),
        **metric_losses(metrics, documents=len(samples.documents)),
        f"Documents whose filters give different answers: {tallies.other_answers}; the answer here"
        f" is that of filter {samples.measures[0].filter}, each judgment shows its own.": (
            tallies.other_answers
        ),
        f"Documents of which the samples show no prompt: {tallies.without_prompt}.": (
            tallies.without_prompt
        ),
        f"Numbers of groups of tasks stand in the results file only: {groups}.": (results.groups),
    }
    return [sentence for sentence, found in sentences.items() if found]


def file_losses(results: Results, samples: Samples) -> dict[str, object]:
    """Return the sentences about the files as a whole, each with whether it is true."""
    content, config = results.content, mapping_at(results.content, "config")
    original = results.counted(samples.task, "original")
    found = len(samples.documents)
    missing = [seed for seed in SEEDS if config.get(seed) is None]
    return {
        "The harness records no times, token usage or cost of single requests: all unknown.": True,
        "The harness records no failed or repeated requests; whether there were any is unknown.": (
            True
        ),
        "Responses may come from a cache; which, the files do not show.": config.get("use_cache"),
        "When the evaluation ran is not shown: the results have no date.": (
            decimal_at(content, "date") is None
        ),
        "Which version of the harness ran is not shown.": text_at(content, "lm_eval_version")
        is None,
        "The commit of the task's definition is not shown (git_hash).": text_at(content, "git_hash")
        is None,
        f"Seeds that are not shown: {', '.join(missing)}.": missing,
        "How many documents were to be evaluated is not shown; planned are those of the samples.": (
            results.counted(samples.task, "effective") is None
        ),
        f"Only {found} of {original} documents were evaluated, as was asked for; planned are these"
        f" {found}.": original is not None and original != found,
        "The results hold no hash of the samples, so that nothing vouches that they belong"
        " together.": text_at(mapping_at(content, "task_hashes"), samples.task) is None,
    }


def metric_losses(metrics: Sequence[Metric], *, documents: int) -> dict[str, object]:
    """Return the sentences about metrics, each with whether it is true."""
    other = [f"{metric.name} {metric.other}" for metric in metrics if metric.other]
    lacking = [
        f"{metric.name} {documents - metric.values}"
        for metric in metrics
        if metric.values < documents
    ]
    aggregated = [
        f"{metric.name} ({metric.aggregation})"
        for metric in metrics
        if metric.aggregation not in {MEAN, None}
    ]
    return {
        "Values that are no numbers, not gradable here although the source may make a number of"
        f" all of them: {', '.join(other)}.": other,
        f"Values that the results report and the samples do not hold: {', '.join(lacking)}.": (
            lacking
        ),
        "Metrics that the source does not aggregate as a mean, so that its number and ours are not"
        f" the same thing: {', '.join(aggregated)}.": aggregated,
    }


def reported_of(results: Results, task: str, metrics: Sequence[Metric]) -> list[dict[str, object]]:
    """Return the numbers that the source itself reports, each as the text it was written with.

    A row names our metric (`score`), how the source comes to the number (`metric`: its aggregation,
    or `stderr`), and the source's own name of it (`key`).
    """
    numbers = results.numbers(task)
    rows: list[dict[str, object]] = []
    for metric in metrics:
        plain = metric.measure
        names = {
            plain.key: metric.aggregation or UNNAMED,
            f"{plain.metric}{STDERR},{plain.filter}": STDERR.strip("_"),
        }
        rows += [
            {
                "score": metric.name,
                "scorer": plain.metric,
                "metric": name,
                "reducer": None,
                "key": key,
                "value": whole_text(numbers[key]),
                "scored_samples": results.counted(task, "effective"),
                "unscored_samples": None,
            }
            for key, name in names.items()
            if key in numbers
        ]
    return rows
