"""Score values of Inspect as verdicts and exact scores, and the metrics they belong to.

Invariant: a value means the same number here as under Inspect's own rule (C 1, P 1/2, I and N 0,
yes and true 1, no and false 0, a number itself), exactly; what has no number under a rule that
deserves the name (a free label, a nested value, NaN) is undecided here, never 0.

A scorer with one value gives one metric of its name; a scorer with a dictionary or a list of
values gives one metric for each key. A metric counts verdicts as long as all its values are
letters or truth values, and scores as soon as one of them is a number.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

import msgspec

from trial_ledger.errors import InvalidInputError
from trial_ledger.exact import parse_decimal, parse_rational, rational_text
from trial_ledger.importing.lenient_json import JsonObject, list_at, mapping_at, whole_text
from trial_ledger.importing.source import safe_name

__all__ = [
    "UNCHANGED",
    "Decision",
    "Metrics",
    "ScoredMetric",
    "decide",
    "scored_values",
    "unscored_reason",
]

UNCHANGED = "UNCHANGED"
"""How an edit says that it leaves a field as it was."""

VERDICTS = {
    "c": "correct",
    "p": "partial",
    "i": "incorrect",
    "n": "abstained",
    "yes": "correct",
    "true": "correct",
    "no": "incorrect",
    "false": "incorrect",
}
"""Values that are a verdict. The four letters count in upper case only."""
LETTERS = frozenset("CPIN")
WEIGHTS = {"correct": "1", "partial": "1/2", "incorrect": "0", "abstained": "0"}
RATIONAL_LENGTH = 100
"""Longest number, written as a rational; it may become an end of the metric's scale."""
MAX_METRICS = 1000
LABEL_LENGTH = 200


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What one score value means for one metric."""

    verdict: str | None
    """The label; None where a number counts or where nothing was decided."""
    score: str | None
    """The number, rational text; None where the verdict counts."""
    label: str
    """The value as the source wrote it, shortened to a label."""
    unscored: bool
    """Whether the source itself says that there is no value (NaN)."""


class ScoredMetric(msgspec.Struct, kw_only=True):
    """One metric of the reconstructed rubric, as it emerges from the samples."""

    name: str
    """Name of the metric."""
    scorer: str
    """Name of the scorer."""
    key: str | None
    """Key of its value; None where the scorer gives one value."""
    seen: bool = False
    """Whether any sample has such a value."""
    numeric: bool = False
    """Whether any of its values is a number."""
    low: Fraction = Fraction(0)
    """Lowest number seen, at most 0."""
    high: Fraction = Fraction(1)
    """Highest number seen, at least 1."""

    @property
    def measure(self) -> str:
        """`score` where numbers count, else `verdict`."""
        return "score" if self.numeric else "verdict"

    def see(self, value: object) -> None:
        """Take one value into account."""
        self.seen = True
        number = number_of(value)
        if number is not None:
            self.numeric = True
            self.low = min(self.low, number)
            self.high = max(self.high, number)


class Metrics:
    """The metrics of a log, by scorer and key, each with a name of its own."""

    def __init__(self) -> None:
        self.by_origin: dict[tuple[str, str | None], ScoredMetric] = {}
        self.names: set[str] = set()

    def of(self, scorer: str, key: str | None) -> ScoredMetric:
        """Return the metric of a scorer's value, a new one at its first use.

        Raises:
            InvalidInputError: more metrics than any rubric has.
        """
        found = self.by_origin.get((scorer, key))
        if found is not None:
            return found
        if len(self.names) >= MAX_METRICS:
            raise InvalidInputError.single(
                "too many kinds of scores", what="Inspect log", expected=f"<= {MAX_METRICS}"
            )
        plain = scorer if key is None else f"{scorer}.{key}"
        name, number = safe_name(plain), 1
        while name in self.names:
            number += 1
            name = safe_name(f"{plain}~{number}")
        self.names.add(name)
        metric = ScoredMetric(name=name, scorer=scorer, key=key)
        self.by_origin[scorer, key] = metric
        return metric

    def see_sample(self, scores: JsonObject) -> None:
        """Take every value of one sample into account, former values included."""
        for scorer, score in scores.items():
            if not isinstance(score, dict):
                continue
            for value in former_values(score):
                for key, single in scored_values(value):
                    self.of(scorer, key).see(single)

    def settle(self, declared: Iterable[str]) -> None:
        """Give every declared scorer a metric, and forget reported ones that turned out otherwise.

        A scorer with a dictionary of values may be reported under its own name; where samples
        show its keys, nothing but the keys is a metric.
        """
        scorers = {metric.scorer for metric in self.by_origin.values() if metric.seen}
        for origin, metric in list(self.by_origin.items()):
            if not metric.seen and metric.scorer in scorers:
                del self.by_origin[origin]
        known = {metric.scorer for metric in self.by_origin.values()}
        for scorer in declared:
            if scorer not in known:
                self.of(scorer, None)

    def __iter__(self) -> Iterator[ScoredMetric]:
        """Yield the metrics in the order in which they appeared."""
        return iter(self.by_origin.values())

    def __len__(self) -> int:
        """Return how many metrics there are."""
        return len(self.by_origin)


def former_values(score: JsonObject) -> Iterator[object]:
    """Yield every value that a score had, the last one twice where its history repeats it.

    An edit that leaves the value unchanged has the value before it, and None where it is the first.
    """
    history = [edit for edit in list_at(score, "history") if isinstance(edit, dict)]
    value: object = None
    for edit in history:
        if edit.get("value", UNCHANGED) != UNCHANGED:
            value = edit["value"]
        yield value
    if score.get("value") != UNCHANGED or not history:
        yield score.get("value")


def scored_values(value: object) -> list[tuple[str | None, object]]:
    """Return the single values in a score's value, each with its key; None for the only one."""
    if isinstance(value, dict):
        return [(str(key), member) for key, member in value.items()]
    if isinstance(value, list):
        return [(str(index), member) for index, member in enumerate(value)]
    return [(None, value)]


def number_of(value: object) -> Fraction | None:
    """Return the number that a value is, exactly; None where it is a letter, a label or NaN."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    try:
        number = Fraction(parse_decimal(str(value).strip()))
    except ValueError:
        return None
    return number if len(rational_text(number)) <= RATIONAL_LENGTH else None


def verdict_of(value: object) -> str | None:
    """Return the verdict that a value is, None where it is none."""
    if isinstance(value, bool):
        return "correct" if value else "incorrect"
    if not isinstance(value, str):
        return None
    if len(value) == 1 and value not in LETTERS:
        return None
    return VERDICTS.get(value.lower())


def decide(metric: ScoredMetric, value: object) -> Decision:
    """Return what a value means for its metric."""
    label = safe_name((whole_text(value) or "null")[:LABEL_LENGTH])
    unscored = value is None or (isinstance(value, Decimal) and not value.is_finite())
    verdict = verdict_of(value)
    if not metric.numeric:
        return Decision(
            verdict=verdict or "not_gradable", score=None, label=label, unscored=unscored
        )
    number = number_of(value)
    if number is None and verdict is not None:
        number = parse_rational(WEIGHTS[verdict])
    if number is None:
        return Decision(verdict="not_gradable", score=None, label=label, unscored=unscored)
    return Decision(verdict=None, score=rational_text(number), label=label, unscored=unscored)


def unscored_reason(score: Mapping[str, object]) -> str | None:
    """Return the source's own word for why a score has no value, None where it gives none."""
    reason = score.get("reason")
    if not isinstance(reason, str) or not reason:
        reason = mapping_at(score, "metadata").get("unscored_reason")
    return safe_name(reason[:LABEL_LENGTH]) if isinstance(reason, str) and reason else None
