"""Parse a row map: the TOML document that says how somebody's own records are read (C1).

Invariant: a map is returned only if it has no fault; its digest depends on what it says and not on
its comments, order or layout.
"""

import re
from typing import cast, get_args

from trial_ledger.documents.canonical_form import canonical_json, document_hash
from trial_ledger.documents.reading import Table, given
from trial_ledger.documents.toml_form import parse_table
from trial_ledger.exact import fraction_from_decimal_text, parse_rational, rational_text
from trial_ledger.importing.rows_map_checks import check_map
from trial_ledger.importing.rows_map_values import (
    read_condition,
    read_rows_path,
    read_value,
    read_values,
    words,
)
from trial_ledger.importing.rows_structs import (
    CallsMap,
    CriteriaMap,
    FailureClassMap,
    FailureMap,
    GoldMap,
    MetricMap,
    PlannedMap,
    ReportedMap,
    RowMap,
    SpendMap,
    Value,
)
from trial_ledger.kinds.base import FailureClass, Fault, Outcome, Purpose

__all__ = ["HINT", "USAGE_PARTS", "parse_row_map"]

WHAT = "row map"
HINT = "ledger import rows FILE --suggest prints a map to start from"
ENCODINGS = ("utf-8", "cp1252", "latin-1")
FORMATS = ("json", "jsonl", "csv", "tsv")
USAGE_PARTS = (
    "input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens",
    "reasoning_tokens",
)  # fmt: skip
"""Parts of a consumption that a map can name; other billed units stand under `units`."""
UNITS = "units."
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
SINGLE = (
    "configuration", "run", "question", "session", "input", "answer", "citations", "outcome",
    "started", "ended", "duration",
)  # fmt: skip
"""Keys of the map that are one value."""
JUDGING = ("grader", "version", "model", "reasoning", "shown", "raw", "message")


def parse_row_map(data: bytes, *, source: str | None) -> RowMap:
    """Return the row map of a TOML document.

    Raises:
        InvalidInputError: with every fault found.
    """
    values, faults = parse_table(data, source=source, what=WHAT)
    faults.hint = HINT
    table = Table(values, faults)
    fields = {
        **read_form(table),
        **read_keys(table),
        "gold": read_gold(table),
        "metrics": {name: read_metric(inner) for name, inner in table.tables("metrics").items()},
        "failures": tuple(read_failure(inner) for inner in table.listed("failures")),
        "spend": {name: read_spend(inner) for name, inner in table.tables("spend").items()},
        "calls": read_calls(table),
        "planned": read_planned(table),
        "reported": tuple(read_reported(inner) for inner in table.listed("reported")),
    }
    table.finish()
    check_map(table, fields)
    faults.stop()
    document = canonical_json(values)
    return RowMap(digest=document_hash(document), document=document, **given(**fields))  # type: ignore[arg-type] # read by name


def read_form(table: Table) -> dict[str, object]:
    """Return what the file is and where its rows stand."""
    table.require("format")
    form = table.choice("format", FORMATS)
    delimiter = table.text("delimiter")
    if delimiter is not None and not re.fullmatch(r"[\t -~]", delimiter):
        table.wrong("delimiter", "one ASCII character")
    is_csv = form in {"csv", "tsv"}
    for key in ("delimiter", "skip_lines", "quotes"):
        if table.has(key) and not is_csv:
            table.wrong(key, "none, since only CSV has it")
    if table.has("rows") and is_csv:
        table.wrong("rows", "none, since every line of CSV is a row")
    return {
        "format": "csv" if form == "tsv" else form,
        "encoding": table.choice("encoding", ENCODINGS),
        "rows": read_rows_path(table, "rows"),
        "rows_are": table.choice("rows_are", ("trials", "calls")),
        "only": read_condition(table, "only"),
        "delimiter": delimiter or ("\t" if form == "tsv" else None),
        "skip_lines": table.integer("skip_lines"),
        "quotes": table.boolean("quotes"),
        "empty": table.choice("empty", ("null", "keep")) or ("null" if is_csv else "keep"),
    }


def read_keys(table: Table) -> dict[str, object]:
    """Return what names a run and its trials, and what a trial was."""
    table.require("configuration")
    fields: dict[str, object] = {
        "name": table.name("name"),
        "phase": table.choice("phase", ("pilot", "final")),
        "primary": table.name("primary"),
        "unknown": table.names("unknown"),
        "id": read_values(table, "id"),
        "system": read_named(table, "system"),
    }
    fields |= {key: read_value(table, key) for key in SINGLE}
    repetition = table.values.get("repetition")
    if isinstance(repetition, dict) and "count" in repetition:
        inner = table.table("repetition")
        assert inner is not None, "a dictionary reads as a table"
        fields["count_repetitions"] = inner.boolean("count")
        inner.finish()
    else:
        fields["repetition"] = read_value(table, "repetition")
    return fields


def read_named(table: Table, key: str) -> dict[str, Value]:
    """Return the values of a table with free keys."""
    inner = table.table(key)
    if inner is None:
        return {}
    found = {name: read_value(inner, name) for name in inner.values}
    return {name: value for name, value in found.items() if value is not None}


def read_gold(table: Table) -> GoldMap | None:
    inner = table.table("gold")
    if inner is None:
        return None
    gold = GoldMap(
        answer=read_value(inner, "answer"), alternatives=read_value(inner, "alternatives")
    )
    inner.finish()
    return gold


def read_metric(table: Table) -> MetricMap:
    """Return one metric."""
    if table.has("verdict") == table.has("score"):
        found = "both" if table.has("score") else "neither"
        table.faults.add(
            "a metric takes a verdict or a score", field=table.path, found=found, expected="one"
        )
    fields: dict[str, object] = {
        "verdict": read_value(table, "verdict"),
        "score": read_value(table, "score"),
        "scale": read_scale(table),
        "direction": table.choice("direction", ("higher", "lower")),
        "aggregate": table.choice("aggregate", ("question-mean", "trial-mean")),
        "by": table.choice("by", ("code", "model", "human")),
        "criteria": read_criteria(table),
        **{key: read_value(table, key) for key in JUDGING},
        **read_amounts(table),
    }
    table.finish()
    return MetricMap(**given(**fields))  # type: ignore[arg-type] # read by name


def read_criteria(table: Table) -> CriteriaMap | None:
    """Return where the parts of a judgment stand."""
    inner = table.table("criteria")
    if inner is None:
        return None
    inner.require("rows", "label")
    found = CriteriaMap(
        rows=read_rows_path(inner, "rows"),
        name=read_value(inner, "name"),
        label=read_value(inner, "label") or Value(field=inner.at("label")),
    )
    inner.finish()
    return found


def read_scale(table: Table) -> tuple[str, str] | None:
    """Return the ends of a scale as rationals, reporting one that is none."""
    value = table.raw("scale")
    if value is None:
        return None
    ends = [rational(member) for member in value] if isinstance(value, list) else []
    low, high = (*ends, None, None)[:2]
    if len(ends) != len(("low", "high")) or low is None or high is None:
        table.wrong("scale", 'two numbers such as ["0", "1"]')
        return None
    if parse_rational(low) >= parse_rational(high):
        table.wrong("scale", "the lower end first")
        return None
    return low, high


def rational(value: object) -> str | None:
    """Return a number as a rational, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    for parse in (parse_rational, fraction_from_decimal_text):
        try:
            return rational_text(parse(text))
        except ValueError:
            continue
    return None


def read_amounts(table: Table) -> dict[str, object]:
    """Return cost, currency and consumption."""
    if table.has("cost"):
        table.require("currency")
    currency = table.values.get("currency")
    if isinstance(currency, str) and re.fullmatch(r"[A-Z]{3}", currency):
        # The one constant that everybody writes; no column is called USD.
        table.raw("currency")
        of: Value | None = Value(field=table.at("currency"), const=currency)
    else:
        of = read_value(table, "currency")
    usage = {part: read_value(table, part) for part in USAGE_PARTS}
    usage |= {f"{UNITS}{name}": value for name, value in read_named(table, "units").items()}
    return {
        "cost": read_value(table, "cost"),
        "currency": of,
        "usage": {part: value for part, value in usage.items() if value is not None},
    }


def read_spend(table: Table) -> SpendMap:
    """Return one account of what trials consumed."""
    fields: dict[str, object] = {
        "purpose": table.choice("purpose", PURPOSES),
        "model": read_value(table, "model"),
        **read_amounts(table),
    }
    if not fields["usage"] and fields["cost"] is None and not table.has("cost"):
        table.faults.add("says nothing", field=table.path, expected="cost, or a count of tokens")
    table.finish()
    return SpendMap(**given(**fields))  # type: ignore[arg-type] # read by name


def read_failure(table: Table) -> FailureMap:
    """Return how a row says that something went wrong."""
    if not table.has("value") and not table.has("when"):
        table.faults.add("says nothing", field=table.path, expected="value or when")
    found = FailureMap(
        field=str(table.path),
        value=read_value(table, "value"),
        when=read_condition(table, "when"),
        none=words(table, "none") or (),
        classes={
            word: read_class(inner, needed=True) for word, inner in table.tables("classes").items()
        },
        otherwise=read_class(table, needed=False),
        message=read_value(table, "message"),
        detail=read_value(table, "detail"),
    )
    table.finish()
    return found


def read_class(table: Table, *, needed: bool) -> FailureClassMap:
    """Return class, fault and outcome of a failure; of a table of its own when `needed`."""
    if needed:
        table.require("class")
    found = FailureClassMap(
        class_=cast("FailureClass | None", table.choice("class", get_args(FailureClass))),
        fault=cast("Fault | None", table.choice("fault", get_args(Fault))),
        outcome=cast("Outcome | None", table.choice("outcome", get_args(Outcome))),
    )
    if needed:
        table.finish()
    return found


def read_calls(table: Table) -> CallsMap | None:
    """Return how calls are read; None where the source shows none."""
    inner = table.table("calls")
    if inner is None:
        return None
    inner.require("purpose")
    keys = ("name", "request", "response", "attempt", "started", "ended", "duration")
    purpose = inner.values.get("purpose")
    if isinstance(purpose, str) and purpose in PURPOSES:
        inner.raw("purpose")
        of: Value | None = Value(field=inner.at("purpose"), const=purpose)
    else:
        of = read_value(inner, "purpose")
    fields: dict[str, object] = {
        "rows": read_rows_path(inner, "rows"),
        "only": read_condition(inner, "only"),
        "purpose": of or Value(field=inner.at("purpose")),
        **{key: read_value(inner, key) for key in keys},
        **read_amounts(inner),
        "failures": tuple(read_failure(member) for member in inner.listed("failures")),
    }
    inner.finish()
    return CallsMap(**given(**fields))  # type: ignore[arg-type] # read by name


def read_planned(table: Table) -> PlannedMap | None:
    """Return which slots were planned."""
    inner = table.table("planned")
    if inner is None:
        return None
    questions = inner.values.get("questions")
    of: object = read_value(inner, "questions") if isinstance(questions, dict) else None
    if questions is not None and of is None and not inner.reported("questions"):
        of = inner.choice("questions", ("run", "file"))
    fields = {
        "repetitions": inner.integer("repetitions", least=1),
        "questions": of,
        "missing": inner.choice("missing", ("lost", "not_started")),
    }
    inner.finish()
    return PlannedMap(**given(**fields))  # type: ignore[arg-type] # read by name


def read_reported(table: Table) -> ReportedMap:
    """Return a number that the source reports."""
    table.require("metric", "name", "value")
    found = ReportedMap(
        metric=table.name("metric") or "",
        name=table.name("name") or "",
        value=read_value(table, "value") or Value(field=table.at("value")),
        rule=table.name("rule"),
    )
    table.finish()
    return found
