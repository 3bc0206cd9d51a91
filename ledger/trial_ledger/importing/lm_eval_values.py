"""Values of the harness's metrics as exact scores, and which of them are none.

Invariant: a number counts as the number it is written as; what is no number (a pair for a later
perplexity, a label, NaN) is undecided here, never 0.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import msgspec

from trial_ledger.exact import parse_decimal, rational_text
from trial_ledger.importing.lenient_json import list_at, mapping_at, text_at, whole_text
from trial_ledger.importing.lm_eval_results import Measure, Results
from trial_ledger.importing.lm_eval_samples import Samples
from trial_ledger.importing.source import safe_name

__all__ = ["MEAN", "Metric", "metrics_of", "number_of", "value_label"]

RATIONAL_LENGTH = 100
"""Longest number, written as a rational; it may become an end of the metric's scale."""
LABEL_LENGTH = 200
MEAN = "mean"


class Metric(msgspec.Struct, kw_only=True):
    """One metric of the reconstructed rubric."""

    measure: Measure
    """Metric and filter in the source."""
    name: str
    """Name here: the source's own, as `exact_match,none`."""
    declared: Mapping[str, object]
    """How the task's configuration declares it; empty where it is the task's default."""
    steps: Mapping[str, object]
    """How the configuration declares the filter; empty where it declares none."""
    higher_is_better: bool | None
    """As the results say; None where they do not."""
    values: int = 0
    """How many documents have it."""
    other: int = 0
    """How many of these values are no number."""
    low: Fraction = Fraction(0)
    """Lowest number seen, at most 0."""
    high: Fraction = Fraction(1)
    """Highest number seen, at least 1."""

    @property
    def aggregation(self) -> str | None:
        """How the source makes one number of all; None where it does not say."""
        return text_at(self.declared, "aggregation")

    def see(self, value: object) -> None:
        """Take one value into account."""
        self.values += 1
        number = number_of(value)
        if number is None:
            self.other += 1
        else:
            self.low = min(self.low, number)
            self.high = max(self.high, number)


def number_of(value: object) -> Fraction | None:
    """Return the number that a value is, exactly; a truth value is 1 or 0; None for all else."""
    if isinstance(value, bool):
        return Fraction(value)
    if not isinstance(value, int | Decimal):
        return None
    try:
        number = Fraction(parse_decimal(str(value)))
    except ValueError:
        return None
    return number if len(rational_text(number)) <= RATIONAL_LENGTH else None


def value_label(value: object) -> str:
    """Return a value as the source wrote it, shortened to a label."""
    return safe_name((whole_text(value) or "null")[:LABEL_LENGTH])


def metrics_of(results: Results, samples: Samples) -> list[Metric]:
    """Return the metrics of a task, after one look at every value."""
    config = results.config(samples.task)
    better = mapping_at(mapping_at(results.content, "higher_is_better"), samples.task)
    metrics = [
        Metric(
            measure=measure,
            name=safe_name(measure.key),
            declared=named(config, "metric_list", key="metric", name=measure.metric),
            steps=named(config, "filter_list", key="name", name=measure.filter),
            higher_is_better=truth(better.get(measure.metric)),
        )
        for measure in samples.measures
    ]
    for document in samples.documents.values():
        lines = samples.lines(document)
        for metric in metrics:
            line = lines[metric.measure.filter]
            if metric.measure.metric in line:
                metric.see(line[metric.measure.metric])
    return metrics


def named(config: Mapping[str, object], field: str, *, key: str, name: str) -> Mapping[str, object]:
    """Return the member of a list in the configuration that has a name; empty where none has."""
    for member in list_at(config, field):
        if isinstance(member, dict) and member.get(key) == name:
            return member
    return {}


def truth(value: object) -> bool | None:
    """Return a truth value, None for anything else."""
    return value if isinstance(value, bool) else None
