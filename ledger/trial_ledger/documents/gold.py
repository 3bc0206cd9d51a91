"""Check gold by the shape of its question, and say what about it is doubtful (C4, C5, C6).

Invariant: gold that passed has every key of its shape, absent ones as null or empty, so that a
grader never guesses; a warning about gold never shows it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import cast

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.dataset_structs import DatasetWarning, Question
from trial_ledger.documents.leaks import normalise, visible_texts
from trial_ledger.documents.outcomes import read_rational
from trial_ledger.documents.reading import Table, kind_or_value
from trial_ledger.exact import parse_rational
from trial_ledger.strict_json import join_path, shorten

__all__ = [
    "COMPARATORS",
    "CRITERION_KINDS",
    "FIELD_TYPES",
    "gold_warnings",
    "read_day",
    "read_gold",
]

FIELD_TYPES: dict[str, str] = {
    "text": "normalised",
    "integer": "numeric",
    "decimal": "numeric",
    "boolean": "exact",
    "date": "date",
    "list": "unordered",
}
"""Every type of a structured field, with the comparator that it takes where none is named."""

COMPARATORS = ("exact", "normalised", "numeric", "date", "any_of", "unordered", "ordered")
"""How a field is compared; with `any_of` the gold value is the list of accepted values."""

LIST_COMPARATORS = frozenset({"any_of", "unordered", "ordered"})
CRITERION_KINDS = ("coverage", "correctness", "sourcing")
DAY = re.compile(
    r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])"
    r"(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?)?)?",
    re.ASCII,
)


def read_day(table: Table, key: str) -> str | None:
    """Return an ISO 8601 date as written: a year, a month, a day or a time of day."""
    value = table.text(key)
    if value is not None and not DAY.fullmatch(value):
        table.wrong(key, 'a date such as "2026-10-01"')
        return None
    return value


def read_gold(table: Table, shape: str | None) -> dict[str, Json]:
    """Return the gold of one question with every key of its shape written out.

    Without a shape, in a reconstructed dataset, gold is kept as it is.
    """
    if shape is None:
        table.known.update(table.values)
        return dict(table.values)
    gold = READERS[shape](table)
    gold["evidence"] = read_evidence(table)
    gold["reviewed_by"] = table.text("reviewed_by")
    gold["provenance"] = table.text("provenance")
    table.finish()
    return gold


def is_scalar(value: Json) -> bool:
    return isinstance(value, bool | int) or (isinstance(value, str) and value.strip() != "")


def read_scalar(table: Table, key: str) -> Json:
    value = table.raw(key)
    if value is not None and not is_scalar(value):
        table.wrong(key, "a text, an integer or a truth value")
        return None
    return value


def read_scalars(table: Table, key: str) -> list[Json]:
    value = table.raw(key)
    if value is None:
        return []
    if not isinstance(value, list):
        table.wrong(key, "a list")
        return []
    for index, member in enumerate(value):
        if not is_scalar(member):
            table.faults.add(
                "wrong value",
                field=join_path(table.at(key), index),
                found=kind_or_value(member),
                expected="a text, an integer or a truth value",
            )
    return value


def read_fact(table: Table) -> dict[str, Json]:
    table.want("answer", clause="C4")
    return {
        "answer": read_scalar(table, "answer"),
        "alternatives": read_scalars(table, "alternatives"),
    }


def read_list(table: Table) -> dict[str, Json]:
    table.want("items", clause="C4")
    items = read_scalars(table, "items")
    return {
        "items": items,
        "aliases": read_aliases(table, items),
        "inclusion_conditions": read_scalars(table, "inclusion_conditions"),
        "exhaustive": table.boolean("exhaustive"),
    }


def read_aliases(table: Table, items: list[Json]) -> dict[str, Json]:
    aliases = table.table("aliases")
    if aliases is None:
        return {}
    names = {str(item) for item in items}
    for name in aliases.values:
        if name not in names:
            table.faults.add("alias of no item", field=aliases.at(name), clause="C4")
    return {name: list(read_scalars(aliases, name)) for name in aliases.values}


def read_structured(table: Table) -> dict[str, Json]:
    table.want("records", "fields", clause="C4")
    fields: dict[str, Json] = {
        name: read_field(inner) for name, inner in table.tables("fields").items()
    }
    records: list[Json] = []
    for record in table.listed("records"):
        for name, value in record.values.items():
            check_record_value(record, name, value, fields)
        records.append(dict(record.values))
    return {"records": records, "fields": fields}


def read_field(table: Table) -> Json:
    kind = table.choice("type", FIELD_TYPES) or "text"
    comparator = table.choice("comparator", COMPARATORS) or FIELD_TYPES[kind]
    missing = table.choice("missing", ("allowed", "wrong")) or "wrong"
    table.finish()
    return {"type": kind, "comparator": comparator, "missing": missing}


def check_record_value(record: Table, name: str, value: Json, fields: Mapping[str, Json]) -> None:
    field = fields.get(name)
    if not isinstance(field, dict):
        if not record.faults.lenient:
            record.faults.add("field is not declared in gold.fields", field=record.at(name))
        return
    if value is None:
        return
    listed = field["comparator"] in LIST_COMPARATORS
    if listed != isinstance(value, list) or isinstance(value, dict):
        record.wrong(name, "a list" if listed else f"a single value ({field['comparator']})")


def read_research(table: Table) -> dict[str, Json]:
    table.want("criteria", clause="C4")
    criteria = [read_criterion(inner) for inner in table.listed("criteria")]
    if table.values.get("criteria") == [] and not table.faults.lenient:
        table.wrong("criteria", "at least one criterion", clause="C4")
    report_repeated(table, "criteria", criteria)
    report_parents(table, criteria)
    claims = read_claims(table)
    report_repeated(table, "claims", claims)
    return {"criteria": cast("Json", criteria), "claims": cast("Json", claims)}


def read_criterion(table: Table) -> dict[str, Json]:
    table.want("id", "text", "kind", clause="C4")
    weight = read_rational(table, "weight") or "1"
    if parse_rational(weight) < 0:
        table.wrong("weight", "a weight from 0")
    found: dict[str, Json] = {
        "id": table.name("id"),
        "text": table.text("text"),
        "kind": table.choice("kind", CRITERION_KINDS),
        "weight": weight,
    }
    parent = table.name("parent")
    if parent is not None:
        # Written only where there is one: a list without a tree keeps its commitment.
        found["parent"] = parent
    table.finish()
    return found


def report_parents(table: Table, criteria: list[dict[str, Json]]) -> None:
    """Report parents that are no criteria, and criteria that no root is above."""
    parents = {str(criterion["id"]): criterion.get("parent") for criterion in criteria}
    rooted: set[Json] = {None}
    circling: set[Json] = set()
    for name in parents:
        path: dict[str, None] = {}
        step: Json = name
        while isinstance(step, str) and not any(
            step in known for known in (rooted, circling, path)
        ):
            path[step] = None
            step = parents.get(step)
        (rooted if step in rooted else circling).update(path)
    for index, criterion in enumerate(criteria):
        parent = criterion.get("parent")
        field = f"{table.at('criteria')}[{index}].parent"
        if isinstance(parent, str) and parent not in parents:
            table.faults.add("parent is no criterion", field=field, found=shorten(parent))
        elif str(criterion["id"]) in circling:
            table.faults.add("stands below itself", field=field, found=shorten(str(parent)))


def read_claims(table: Table) -> list[dict[str, Json]]:
    value = table.raw("claims")
    if value is None:
        return []
    if not isinstance(value, list):
        table.wrong("claims", "a list of claims")
        return []
    claims: list[dict[str, Json]] = []
    for number, member in enumerate(value, 1):
        written: Json = {"text": member} if isinstance(member, str) else member
        path = join_path(table.at("claims"), number - 1)
        if not isinstance(written, dict):
            table.faults.add("wrong value", field=path, expected="a text or a table with text")
            continue
        inner = Table(written, table.faults, path=path)
        inner.require("text", clause="C4")
        claims.append(
            {
                "id": inner.name("id") or str(number),
                "text": inner.text("text"),
                "evidence": read_evidence(inner),
            }
        )
        inner.finish()
    return claims


def report_repeated(table: Table, key: str, parts: list[dict[str, Json]]) -> None:
    seen: set[str] = set()
    for index, part in enumerate(parts):
        name = part["id"]
        if isinstance(name, str) and name in seen:
            field = f"{table.at(key)}[{index}].id"
            table.faults.add("id stands twice", field=field, found=shorten(name))
        seen.add(str(name))


def read_evidence(table: Table) -> list[Json]:
    evidence: list[Json] = []
    for inner in table.listed("evidence"):
        inner.require("url", clause="C4")
        piece: dict[str, Json] = {
            "url": inner.text("url"),
            "verified_at": read_day(inner, "verified_at"),
        }
        for key in ("title", "revision", "note"):
            if inner.has(key):
                piece[key] = read_scalar(inner, key)
        inner.known.update(("title", "revision", "note"))
        inner.finish()
        evidence.append(piece)
    return evidence


READERS: Mapping[str, Callable[[Table], dict[str, Json]]] = {
    "fact": read_fact,
    "list": read_list,
    "structured": read_structured,
    "research": read_research,
}


def gold_warnings(question: Question, gold: Mapping[str, Json] | None) -> Iterator[DatasetWarning]:
    """Yield what is doubtful about the gold of one question, without showing any of it."""
    if gold is None:
        yield warning(question, "C4", "no gold: no code grader can judge it")
        return
    yield from condition_warnings(question, gold)
    if question.task_shape == "list" and gold.get("exhaustive") is None:
        yield warning(
            question, "C6", "not stated whether gold is exhaustive: recall is unavailable"
        )
    yield from evidence_warnings(question, gold)


def warning(question: Question, clause: str, message: str) -> DatasetWarning:
    return DatasetWarning(question=question.id, clause=clause, message=message)


def condition_warnings(question: Question, gold: Mapping[str, Json]) -> Iterator[DatasetWarning]:
    conditions = gold.get("inclusion_conditions")
    if not isinstance(conditions, list):
        return
    visible = visible_texts(question)
    for number, condition in enumerate(conditions, 1):
        wanted = normalise(str(condition))
        if not any(wanted in text for text in visible):
            message = (
                f"inclusion condition {number} of {len(conditions)} appears nowhere outside gold"
            )
            yield warning(question, "C4", message)


def evidence_warnings(question: Question, gold: Mapping[str, Json]) -> Iterator[DatasetWarning]:
    evidence = gold.get("evidence")
    if not isinstance(evidence, list) or not evidence:
        yield warning(question, "C5", "gold has no evidence")
        return
    days = [piece.get("verified_at") if isinstance(piece, dict) else None for piece in evidence]
    undated = sum(day is None for day in days)
    if undated:
        message = f"{undated} of {len(days)} pieces of evidence do not say when they were verified"
        yield warning(question, "C5", message)
    as_of = question.as_of
    stale = [day for day in days if isinstance(day, str) and as_of and is_before(day, as_of)]
    if stale:
        message = (
            f"{len(stale)} of {len(days)} pieces of evidence were verified before {as_of}, "
            f"the earliest {min(stale)}: gold may be stale"
        )
        yield warning(question, "C5", message)


def is_before(day: str, other: str) -> bool:
    """Return whether a date is certainly before another, as far as both are precise, by day."""
    length = min(len(day), len(other), len("2026-10-01"))
    return day[:length] < other[:length]
