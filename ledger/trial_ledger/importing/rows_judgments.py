"""Verdicts and scores as rows state them.

Invariant: a value without a meaning in the map is a fault; one that the source does not know gives
no judgment, so that the trial is undecided and never wrong.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.exact import parse_rational, rational_text
from trial_ledger.importing.rows_calls import Amounts, CallReader, objects_in
from trial_ledger.importing.rows_map_values import text_of
from trial_ledger.importing.rows_source import Row
from trial_ledger.importing.rows_structs import MetricMap, RowMap, Value
from trial_ledger.importing.rows_values import MISSING, RowReader, number_of
from trial_ledger.importing.source import safe_name

__all__ = ["SPECIAL", "VERDICTS", "WORDS", "JudgmentFacts", "JudgmentReader"]

VERDICTS = ("correct", "partial", "incorrect", "abstained", "not_gradable")
SPECIAL = ("judge_failed", "lost_in_source", "unjudged")
"""What a value can mean instead of a verdict or a score."""
UNNAMED = "unnamed in the source"
SOURCE = "source"
NUMBER_LENGTH = 100
LABEL_LENGTH = 200

WORDS: Mapping[str, str] = {
    **{verdict: verdict for verdict in (*VERDICTS, *SPECIAL)},
    "true": "correct",
    "yes": "correct",
    "1": "correct",
    "pass": "correct",
    "passed": "correct",
    "right": "correct",
    "false": "incorrect",
    "no": "incorrect",
    "0": "incorrect",
    "fail": "incorrect",
    "failed": "incorrect",
    "wrong": "incorrect",
    "not_attempted": "abstained",
}
"""What a verdict means where the map does not translate it, whatever its case."""


class JudgmentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One judgment, or why there is none."""

    metric: str
    """Metric of the map."""
    state: Literal["recorded", "judge_failed", "lost_in_source"]
    """What became of it."""
    verdict: str | None = None
    """The label."""
    score: str | None = None
    """The number, rational text."""
    parts: Sequence[tuple[str, str]] = ()
    """What it is made of, each with its label; the value as the source writes it, where that is
    all that there is."""
    by: str
    """code, model or human."""
    grader: str
    """Name of the grader."""
    version: str | None = None
    """Its version."""
    model: str | None = None
    """Judge model."""
    reasoning: str | None = None
    """Why."""
    shown: str | None = None
    """What the judge was shown."""
    raw: str | None = None
    """What it replied."""
    message: str | None = None
    """Why it failed."""
    amounts: Amounts
    """What it consumed and cost."""


class JudgmentReader:
    """Reads the judgments of rows."""

    def __init__(self, row_map: RowMap, reader: RowReader) -> None:
        self.metrics = row_map.metrics
        self.reader = reader
        self.calls = CallReader(None, reader)

    def read(self, row: Row) -> list[JudgmentFacts]:
        """Return what a row says under each metric."""
        found = (self.judgment(name, metric, row) for name, metric in self.metrics.items())
        return [judgment for judgment in found if judgment is not None]

    def judgment(self, name: str, metric: MetricMap, row: Row) -> JudgmentFacts | None:
        """Return what a row says under one metric; None where it says nothing."""
        word: str | None
        score = None
        if metric.verdict is not None:
            value = metric.verdict
            word = self.verdict(value, row)
        else:
            assert metric.score is not None, "a metric has one of the two"
            value = metric.score
            word, score = self.score(metric, value, row)
        if (word is None and score is None) or word == "unjudged":
            return None
        reader = self.reader
        grader = reader.text(metric.grader, row)
        model = reader.text(metric.model, row)
        version = reader.text(metric.version, row)
        return JudgmentFacts(
            metric=name,
            state=word if word in {"judge_failed", "lost_in_source"} else "recorded",  # type: ignore[arg-type] # one of them
            verdict=word if word in VERDICTS else None,
            score=score,
            parts=self.criteria(metric, row) or self.label(value, row),
            by=metric.by,
            grader=safe_name(grader or (UNNAMED if metric.by == "human" else SOURCE)),
            version=None if not version else safe_name(version),
            model=None if not model else safe_name(model),
            reasoning=reader.text(metric.reasoning, row),
            shown=reader.text(metric.shown, row),
            raw=reader.text(metric.raw, row),
            message=reader.text(metric.message, row),
            amounts=self.calls.amounts(metric, row),
        )

    def verdict(self, value: Value, row: Row) -> str | None:
        """Return the verdict of a row, or a special word; None where it is unknown."""
        found = self.reader.raw(value, row)
        if found is None:
            return None
        word = WORDS.get(text_of(found).strip().lower())
        if word is None:
            expected = f"one of {', '.join(VERDICTS)}; {value.field}.map translates other words"
            self.reader.wrong(value, row, found, expected)
        return word

    def score(self, metric: MetricMap, value: Value, row: Row) -> tuple[str | None, str | None]:
        """Return a special word or a score; neither where it is unknown."""
        found = self.reader.raw(value, row)
        if found is None or isinstance(found, bool | list | dict):
            if found is not None:
                self.reader.wrong(value, row, found, "a number; verdict takes true and false")
            return None, None
        text = text_of(found).strip()
        if text in (*SPECIAL, "not_gradable"):
            return text, None
        number = number_of(text)
        if number is None or len(rational_text(number)) > NUMBER_LENGTH:
            self.reader.wrong(
                value,
                row,
                found,
                f"a number; {value.field}.map can say that a word is judge_failed",
            )
            return None, None
        low, high = (parse_rational(end) for end in metric.scale)
        if not low <= number <= high:
            expected = f'{metric.scale[0]} to {metric.scale[1]}; scale = ["0", "100"] widens it'
            self.reader.wrong(value, row, found, expected)
            return None, None
        return None, rational_text(number)

    def criteria(self, metric: MetricMap, row: Row) -> list[tuple[str, str]]:
        """Return the parts that a judgment is made of; those without a label are left out."""
        criteria = metric.criteria
        if criteria is None:
            return []
        parts: list[tuple[str, str]] = []
        for number, member in enumerate(objects_in(row, criteria.rows, self.reader.faults), 1):
            label = self.reader.text(criteria.label, member)
            name = self.reader.text(criteria.name, member)
            if label:
                parts.append((safe_name(name or str(number)), safe_name(label)))
        return parts

    def label(self, value: Value, row: Row) -> list[tuple[str, str]]:
        """Return the value as the source writes it, as the one part of a judgment."""
        if value.where is None:
            return []
        found = self.reader.look(value.where, row)
        shown: Json = None if found is MISSING else found  # type: ignore[assignment] # not the marker
        return [("value", safe_name(text_of(shown)[:LABEL_LENGTH] or "empty"))]
