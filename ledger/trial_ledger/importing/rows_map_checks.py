"""Check a row map as a whole: that its parts fit together, and what its translations can give.

Invariant: what is reported here is not reported a second time because of a fault elsewhere.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import cast, get_args

from trial_ledger.documents.reading import Table, nearest
from trial_ledger.importing.rows_judgments import SPECIAL, VERDICTS
from trial_ledger.importing.rows_map_values import text_of
from trial_ledger.importing.rows_structs import CallsMap, MetricMap, ReportedMap, Value
from trial_ledger.importing.rows_values import number_of
from trial_ledger.kinds.base import Outcome, Purpose
from trial_ledger.strict_json import join_path, shorten

__all__ = ["check_map"]

Fields = Mapping[str, object]
"""What was read of a map, by field; None where nothing was."""


def check_map(table: Table, fields: Fields) -> None:
    """Report what does not fit together in a map whose parts were read."""
    metrics = cast("Mapping[str, MetricMap]", fields["metrics"])
    check_key(table, fields, metrics)
    check_names(table, fields, metrics)
    check_calls(table, fields)
    for value, words, numbers in translations(fields, metrics):
        check_words(table, value, words, numbers=numbers)


def check_key(table: Table, fields: Fields, metrics: Mapping[str, MetricMap]) -> None:
    """Report a map that names no key, or nothing to import."""
    if not (table.has("id") or table.has("question")):
        expected = "id, or question, whose hash is the key then"
        table.faults.add("no key", field="id", expected=expected)
    if not metrics and not table.has("metrics") and fields["answer"] is None:
        expected = "[metrics.NAME] with verdict or score"
        table.faults.add("nothing to import", field="metrics", expected=expected)


def check_names(table: Table, fields: Fields, metrics: Mapping[str, MetricMap]) -> None:
    """Report names of metrics that the map does not have."""
    known = ", ".join(metrics) or "the metrics, of which there is none"
    if fields["primary"] is not None and fields["primary"] not in metrics:
        table.wrong("primary", f"one of {known}")
    for index, reported in enumerate(cast("tuple[ReportedMap, ...]", fields["reported"])):
        if reported.metric and reported.metric not in metrics:
            table.faults.add(
                "no such metric",
                field=f"reported[{index}].metric",
                found=shorten(reported.metric),
                expected=nearest(reported.metric, metrics) or f"one of {known}",
            )


def check_calls(table: Table, fields: Fields) -> None:
    """Report calls that stand nowhere, or in two places."""
    calls = cast("CallsMap | None", fields["calls"])
    faults = table.faults
    if fields["rows_are"] == "calls":
        if calls is None:
            faults.add("missing", field="calls", expected="[calls], since the rows are calls")
        elif calls.rows:
            expected = 'none, since each row is a call; or rows_are = "trials"'
            faults.add("wrong value", field="calls.rows", expected=expected)
        if fields.get("count_repetitions"):
            table.wrong("repetition", "a path, since several rows are one trial")
    elif calls is not None and not table.reported("calls.rows") and not calls.rows:
        expected = 'a path in the row, or rows_are = "calls"'
        faults.add("missing", field="calls.rows", expected=expected)


Translation = tuple[Value | None, Collection[str], bool]
"""A value, the words that it can be translated to, and whether numbers are some too."""


def translations(fields: Fields, metrics: Mapping[str, MetricMap]) -> Iterator[Translation]:
    """Yield every value of which only some words mean anything."""
    yield cast("Value | None", fields["outcome"]), get_args(Outcome), False
    calls = cast("CallsMap | None", fields["calls"])
    if calls is not None:
        yield calls.purpose, (*get_args(Purpose), "none"), False
    for metric in metrics.values():
        yield metric.verdict, (*VERDICTS, *SPECIAL), False
        yield metric.score, (*SPECIAL, "not_gradable"), True


def check_words(
    table: Table, value: Value | None, words: Collection[str], *, numbers: bool
) -> None:
    """Report every translation, or constant, to a word that means nothing."""
    if value is None:
        return
    entries = dict(value.translate or {})
    if value.where is None and value.const is not None and not entries:
        entries = {"const": value.const}
    for key, member in entries.items():
        text = text_of(member)  # type: ignore[arg-type] # read from a document
        if text in words or (numbers and number_of(text) is not None):
            continue
        field = join_path(f"{value.field}.map" if value.translate else value.field, key)
        table.faults.add(
            "wrong value",
            field=field,
            found=shorten(member),
            expected=nearest(text, words) or f"one of {', '.join(words)}",
        )
