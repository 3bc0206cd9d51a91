"""What a row map says: where each value of a trial stands in somebody's own records (C1).

Invariant: data only; a map moves, names and translates values and computes nothing, so that what is
imported can be checked against the source by eye.
"""

from typing import Literal, TypeAlias

import msgspec

from trial_ledger.documents.field_map import Path
from trial_ledger.kinds.base import FailureClass, Fault, Outcome

__all__ = [
    "ANY_KEY",
    "CallsMap",
    "Condition",
    "CriteriaMap",
    "FailureClassMap",
    "FailureMap",
    "GoldMap",
    "MetricMap",
    "PlannedMap",
    "ReportedMap",
    "RowMap",
    "RowsPath",
    "SpendMap",
    "Unit",
    "Value",
    "Where",
]

RowsPath: TypeAlias = tuple[str | int | None, ...]
"""Steps to the rows of a JSON document: a key, an index, None for every member of a list, and
`ANY_KEY` for every key of an object."""

ANY_KEY = ""
"""The step `*`. No key of a path is empty."""

Unit: TypeAlias = Literal["s", "ms", "us"]


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """A place that is looked up for each row."""

    origin: Literal["row", "document", "enclosing", "key", "number"]
    """The row, `$` the whole document, `^` an object around the row, `*` a matched key; or the
    number of the row in the file, from 1."""
    level: int = 1
    """For `^`: how many objects outwards. For `*`: which of the matched keys, from the left."""
    path: Path = ()
    """Steps from there."""
    text: str
    """As the map writes it, for messages."""


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a row is one of some rows."""

    where: Where
    """What is looked at."""
    values: tuple[str, ...] | None = None
    """It is one of these."""
    others: tuple[str, ...] | None = None
    """It is none of these."""
    prefix: str | None = None
    """It is a text that begins with this."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Where one value comes from and what is done with it, in this order."""

    field: str
    """Key of the map, for messages."""
    where: Where | None = None
    """Where it stands; None takes `const`."""
    const: object = None
    """A fixed value."""
    json: bool = False
    """The text is JSON: take its value."""
    at: Path | None = None
    """Steps into that value."""
    unknown: tuple[str, ...] | None = None
    """These values say that the source does not know it."""
    when: Condition | None = None
    """They do so only in these rows; without `unknown`, every value in these rows."""
    parts: tuple[tuple[str, int], ...] = ()
    """Cut the text at a separator and take one part, from 0 or from the end; one cut after another.
    """
    split: str | None = None
    """The text is a list: take the stripped parts between this separator, without empty ones."""
    translate: dict[str, object] | None = None
    """Take what stands here under the text of the value."""
    unit: Unit | None = None
    """Unit of a duration, or of a time as a number since 1970."""
    offset: str | None = None
    """Offset from UTC of times that state none, as `+00:00`."""
    first: int = 1
    """The number that the source's first repetition or attempt has."""
    optional: bool = False
    """Whether no row at all may have it."""


class GoldMap(msgspec.Struct, frozen=True, kw_only=True):
    """The right answer; it goes to the gold file."""

    answer: Value | None = None
    """The answer; of a list the first member, the others are alternatives."""
    alternatives: Value | None = None
    """Other right answers: a list, or a text to be split."""


class CriteriaMap(msgspec.Struct, frozen=True, kw_only=True):
    """Parts that a judgment is made of, from a list in each row."""

    rows: RowsPath
    """Where the list stands in a row."""
    name: Value | None = None
    """What was looked at; None numbers them."""
    label: Value
    """What was found: any word; correct, partial and missing are pooled by a named rule."""


class MetricMap(msgspec.Struct, frozen=True, kw_only=True):
    """One metric: verdicts or scores that the source gives."""

    verdict: Value | None = None
    """A label."""
    score: Value | None = None
    """A number; exactly one of the two."""
    scale: tuple[str, str] = ("0", "1")
    """Lowest and highest score, rational text."""
    direction: Literal["higher", "lower"] = "higher"
    """Which way is better."""
    aggregate: Literal["question-mean", "trial-mean"] = "question-mean"
    """How trials become one value."""
    by: Literal["code", "model", "human"] = "code"
    """What decided."""
    criteria: CriteriaMap | None = None
    """What the value is made of."""
    grader: Value | None = None
    """Name of the grader; of a person where `by` is human."""
    version: Value | None = None
    """Version of the grader."""
    model: Value | None = None
    """Judge model."""
    reasoning: Value | None = None
    """Why."""
    shown: Value | None = None
    """What the judge was shown."""
    raw: Value | None = None
    """The judge's raw reply."""
    message: Value | None = None
    """Why the judge failed."""
    cost: Value | None = None
    """What the judgment cost."""
    currency: Value | None = None
    """Of which currency."""
    usage: dict[str, Value] = {}
    """What it consumed, by name of the part."""


class FailureClassMap(msgspec.Struct, frozen=True, kw_only=True):
    """What one word of the source for a failure means."""

    class_: FailureClass | None
    """Failure class; None takes one from the name of an exception, else `other`."""
    fault: Fault | None = None
    """Whose failure; None where unknown."""
    outcome: Outcome | None = None
    """How a trial with it ended; None follows from whether there is an answer."""


class FailureMap(msgspec.Struct, frozen=True, kw_only=True):
    """How a row says that something went wrong."""

    field: str
    """Key of the map, for messages."""
    value: Value | None = None
    """The source's word or message; unknown means that nothing went wrong."""
    when: Condition | None = None
    """Or: rows in which it did. At least one of the two."""
    none: tuple[str, ...] = ()
    """Words that mean that nothing went wrong."""
    classes: dict[str, FailureClassMap] = {}
    """What words mean."""
    otherwise: FailureClassMap
    """What every other word means."""
    message: Value | None = None
    """What was reported; the word itself where none is given."""
    detail: Value | None = None
    """More of it, as a traceback."""


class SpendMap(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial consumed as a whole, in one account (C19)."""

    purpose: Literal["model", "search", "tool", "judge"] = "model"
    """Whose account it belongs to."""
    model: Value | None = None
    """Model or tool that was paid for."""
    usage: dict[str, Value] = {}
    """Consumption by name of the part."""
    cost: Value | None = None
    """Cost."""
    currency: Value | None = None
    """Of which currency."""


class CallsMap(msgspec.Struct, frozen=True, kw_only=True):
    """How calls are read: from a list in each row, or from rows that are calls."""

    rows: RowsPath = ()
    """Where the list of calls stands in a row."""
    only: Condition | None = None
    """Members that are calls; None takes all."""
    purpose: Value
    """model, search, tool or judge; `none` is no call."""
    name: Value | None = None
    """Model or tool."""
    request: Value | None = None
    """What was sent."""
    response: Value | None = None
    """What came back."""
    attempt: Value | None = None
    """Which try, from 1."""
    started: Value | None = None
    """When it began."""
    ended: Value | None = None
    """When it ended."""
    duration: Value | None = None
    """How long it took."""
    usage: dict[str, Value] = {}
    """Consumption by name of the part."""
    cost: Value | None = None
    """Cost."""
    currency: Value | None = None
    """Of which currency."""
    failures: tuple[FailureMap, ...] = ()
    """How a call says that it failed."""


class PlannedMap(msgspec.Struct, frozen=True, kw_only=True):
    """Which slots were planned."""

    repetitions: int | None = None
    """How many of each question; None takes the highest there is."""
    questions: Literal["run", "file"] | Value = "run"
    """Questions of the run's own rows, of all rows of the file, or a list in the file."""
    missing: Literal["lost", "not_started"] = "lost"
    """What a planned slot without a row is: lost by the source (undecided), or never started."""


class ReportedMap(msgspec.Struct, frozen=True, kw_only=True):
    """A number that the source itself reports."""

    metric: str
    """Our metric that it is about."""
    name: str
    """The source's name of the number."""
    value: Value
    """The number."""
    rule: str | None = None
    """Name of the rule that the source follows."""


class RowMap(msgspec.Struct, frozen=True, kw_only=True):
    """How to read somebody's records as runs."""

    digest: str
    """Hash of `document`."""
    document: bytes
    """What the map says as canonical JSON, whatever its comments, order and layout."""
    format: Literal["json", "jsonl", "csv"]
    """Form of the file."""
    encoding: str = "utf-8"
    """How its text is written as bytes."""
    rows: RowsPath = ()
    """Where the rows stand in a JSON document, or in each line of JSON lines."""
    rows_are: Literal["trials", "calls"] = "trials"
    """What one row is."""
    only: Condition | None = None
    """Rows that count; None takes all."""
    delimiter: str = ","
    """What separates the cells of a CSV file."""
    quotes: bool = True
    """Whether a quotation mark encloses a cell of a CSV file; else it is part of the text."""
    skip_lines: int = 0
    """Lines before the header of a CSV file."""
    empty: Literal["null", "keep"] = "keep"
    """Whether an empty text means that nothing is known; `null` is the default for CSV."""
    name: str = "rows"
    """Name of the evaluation; names of runs begin with it."""
    phase: Literal["pilot", "final"] | None = None
    """Pilot or final; None where the source does not say."""
    run: Value | None = None
    """What tells the runs in one file apart, beside the configuration."""
    configuration: Value
    """Name of the system under test."""
    system: dict[str, Value] = {}
    """What else is known of it; `model` names its model."""
    id: tuple[Value, ...] = ()
    """Question id, of one part or several; empty takes a hash of the question."""
    question: Value | None = None
    """Text of the question."""
    repetition: Value | None = None
    """Which repetition, from 1."""
    count_repetitions: bool = False
    """Whether equal keys are numbered in the order of the rows."""
    session: Value | None = None
    """Session id; None makes every trial the first session."""
    input: Value | None = None
    """Exactly what the agent was given."""
    answer: Value | None = None
    """Its final answer."""
    citations: Value | None = None
    """Its citations."""
    outcome: Value | None = None
    """How the trial ended."""
    started: Value | None = None
    """When it began."""
    ended: Value | None = None
    """When it ended."""
    duration: Value | None = None
    """How long it took."""
    gold: GoldMap = GoldMap()
    """The right answer."""
    metrics: dict[str, MetricMap]
    """Metrics by name; empty only where the source judges nothing."""
    primary: str | None = None
    """The headline metric; None takes the first."""
    failures: tuple[FailureMap, ...] = ()
    """How a row says that something went wrong."""
    spend: dict[str, SpendMap] = {}
    """What trials consumed, by a name for each account."""
    calls: CallsMap | None = None
    """How calls are read."""
    planned: PlannedMap = PlannedMap()
    """Which slots were planned."""
    reported: tuple[ReportedMap, ...] = ()
    """The source's own numbers."""
    unknown: tuple[str, ...] = ()
    """What the source does not record, in words."""
