"""Suggest a row map for a file nobody has described yet, with everything undecided commented out.

Invariant: what is printed is TOML whatever the file holds; a line that stands is one that the file
supports, and what could not be decided is said and stands behind a `#`. It is a proposal: nothing
is imported before a person has named it with `--map`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from trial_ledger.documents.canonical_form import Json
from trial_ledger.importing.rows_source import MAX_SOURCE_BYTES, Row, unfold
from trial_ledger.importing.rows_structs import ANY_KEY
from trial_ledger.importing.rows_suggest_columns import Column, Sample, sample_of
from trial_ledger.importing.rows_suggest_results import (
    failure_lines,
    metric_lines,
    reported_lines,
    spend_lines,
)
from trial_ledger.importing.rows_suggest_roles import Roles, roles_of
from trial_ledger.importing.rows_suggest_text import (
    SHOWN,
    path,
    path_text,
    quoted,
    remark,
    rows_text,
    unused,
)
from trial_ledger.importing.rows_values import decimal_of
from trial_ledger.importing.source import SourceFile

__all__ = ["suggest_map"]

MODEL_KEYS = ("model", "model_name", "agent_model", "researcher_model")
SYSTEM_KEYS = ("configuration", "system", "agent", "agent_name")
"""Where a document names its model, and the system under test."""
OLDEST_TIME = 10**8
MILLISECONDS_FROM = 10**11
"""A time since 1970 that is larger is no number of seconds."""


def suggest_map(path: Path) -> str:
    """Return a commented row map for a file, to be looked through and completed by a person.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it holds no rows that could be read.
    """
    source = SourceFile.read(path, limit=MAX_SOURCE_BYTES)
    sample = sample_of(unfold(source.content, source=source.label), source=source.label)
    roles = roles_of(sample)
    lines = [
        *head_lines(sample),
        *key_lines(sample, roles),
        *trial_lines(roles),
        *gold_lines(roles),
        *metric_lines(sample, roles),
        *spend_lines(roles),
        *failure_lines(roles),
        *reported_lines(sample, roles),
        *rest_lines(sample, roles),
    ]
    return "\n".join(lines) + "\n"


def head_lines(sample: Sample) -> Iterator[str]:
    """Yield what the file is."""
    several = f"{len(sample.rows)} rows"
    yield f"# A suggestion, made from {several}. Look through it, change what is wrong, then:"
    yield "#   ledger import rows FILE --map THIS.toml"
    yield "# Every key is described in docs/reference/row-map.md."
    for fault in sample.faults[:SHOWN]:
        yield f"# THE FILE HAS A FAULT, import will refuse it: {quoted(fault)}"
    yield ""
    yield f'format = "{sample.format}"'
    if sample.delimiter is not None:
        yield f"delimiter = {quoted(sample.delimiter)}"
    if sample.encoding != "utf-8":
        yield f'encoding = "{sample.encoding}"  # if letters with accents are wrong: "latin-1"'
    if not sample.quotes:
        yield "quotes = false  # quotation marks are part of the text here"
    if sample.path:
        yield f"rows = {quoted(rows_text(sample.path))}"
    yield 'name = "my-evaluation"  # the names of the runs begin with it'
    yield '# unknown = ["agent cost", "tool calls"]  # what nobody recorded'
    yield '# phase = "final"  # or "pilot": trying out and measuring are never mixed'


def key_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield what names configuration, question and repetition."""
    yield ""
    yield from configuration_lines(sample, roles)
    if "id" in roles and is_uneven(sample, roles):
        yield "# questions stand a different number of times: is there a column that tells their"
        yield "# rows apart, a configuration or a repetition? Until then a row is a question:"
        yield f"id = [{path(roles['id'])}, {{row = true}}]"
    elif "id" in roles:
        yield f"id = {path(roles['id'])}"
    elif sample.path and sample.path[-1] == ANY_KEY:
        yield f'id = "{matched(sample)}"  # the key of each row'
    elif "question" in roles:
        yield "# no column of question ids: a hash of the question is the id"
    else:
        yield remark("which column names the question? One of these", unused(sample, roles))
        yield '# id = "…"'
    if "question" in roles:
        yield f"question = {path(roles['question'])}"
    yield from repetition_lines(sample, roles)


def matched(sample: Sample) -> str:
    """Return how a map names the last matched key."""
    count = sum(key == ANY_KEY for key in sample.path)
    return f"*{count}" if count > 1 else "*"


def configuration_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield the name of the system under test, and its model."""
    column = roles.get("configuration")
    is_row_key = bool(sample.path) and sample.path[-1] == ANY_KEY
    first = sample.rows[0]
    document = None if first.document is first.values else first.document
    system = next(named_places(document, SYSTEM_KEYS), None)
    if ANY_KEY in sample.path[:-1] or (is_row_key and "id" in roles):
        yield 'configuration = "*"  # the key that the * of rows matched'
    elif column is not None:
        yield f"configuration = {path(column)}  # one run for each value"
    elif system is not None:
        yield f"configuration = {quoted(system)}"
    else:
        yield 'configuration = {const = "my-agent"}  # name the system that was evaluated'
    model = next(named_places(document, MODEL_KEYS), None)
    if model is not None:
        yield f"system = {{model = {quoted(model)}}}"


def named_places(document: Json, names: Sequence[str]) -> Iterator[str]:
    """Yield where a document has a text under one of some names, at most one object deep."""
    if not isinstance(document, dict):
        return
    for key, value in document.items():
        if key in names and isinstance(value, str):
            yield f"$.{path_text([key])}"
        elif isinstance(value, dict):
            for inner in names:
                if isinstance(value.get(inner), str):
                    yield f"$.{path_text([key, inner])}"


def repetition_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield how repetitions of a question are told apart."""
    column = roles.get("repetition")
    if column is not None:
        first = min((int(text) for text in column.distinct), default=1)
        if first == 0:
            yield f"repetition = {{path = {path(column)}, from = 0}}"
        else:
            yield f"repetition = {path(column)}"
    elif max(times(sample, roles), default=1) > 1 and not is_uneven(sample, roles):
        yield "repetition = {count = true}  # questions stand several times: numbered in file order"


def times(sample: Sample, roles: Roles) -> Sequence[int]:
    """Return how often each question stands for one configuration."""
    named = roles.get("id") or roles.get("question")
    if named is None:
        return ()
    group = roles.get("configuration")
    return tuple(
        Counter(
            str((row.keys, value_at(row, named), group and value_at(row, group)))
            for row in sample.rows
        ).values()
    )


def is_uneven(sample: Sample, roles: Roles) -> bool:
    """Return whether questions repeat, some more often than others, and nothing says why."""
    return "repetition" not in roles and len(set(times(sample, roles))) > 1


def value_at(row: Row, column: Column) -> Json:
    """Return the value of a column in a row."""
    value: Json = dict(row.values)
    for key in column.path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def trial_lines(roles: Roles) -> Iterator[str]:
    """Yield what a trial was."""
    yield ""
    for role in ("answer", "citations"):
        if role in roles:
            yield f"{role} = {path(roles[role])}"
    for role in ("started", "ended"):
        if role in roles:
            yield f"{role} = {time_rule(roles[role])}"
    if "duration" in roles:
        column = roles["duration"]
        unit, sure = unit_of(column)
        zeros = sum(count for text, count in column.distinct.items() if decimal_of(text) == 0)
        note = "" if sure else "  # seconds? ms and us can be said too"
        if zeros:
            yield f'# rows of exactly 0: {zeros}; add unknown = ["0"] if that means not measured'
        yield f'duration = {{path = {path(column)}, unit = "{unit}"}}{note}'


def time_rule(column: Column) -> str:
    """Return the rule of a time."""
    first = decimal_of(next(iter(column.distinct))) if column.is_number else None
    if first is None or first < OLDEST_TIME:
        return path(column)
    unit = "ms" if first > MILLISECONDS_FROM else "s"
    return f'{{path = {path(column)}, unit = "{unit}"}}'


def unit_of(column: Column) -> tuple[str, bool]:
    """Return the unit of a length of time, and whether its name says so."""
    words = column.name.split("_")
    for unit, names in (
        ("ms", {"ms", "millis", "milliseconds"}),
        ("us", {"us", "micros", "microseconds"}),
        ("s", {"s", "sec", "secs", "seconds"}),
    ):
        if names & set(words):
            return unit, True
    return "s", False


def gold_lines(roles: Roles) -> Iterator[str]:
    """Yield the right answer."""
    column = roles.get("gold")
    if column is None:
        return
    yield ""
    yield "[gold]  # goes to the gold file, which agents never see"
    parts = [text for text in column.distinct if " | " in text]
    if parts and not column.lists:
        yield f'answer = {{path = {path(column)}, split = "|"}}  # the first; the others count too'
    else:
        yield f"answer = {path(column)}"


def rest_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield what was left over."""
    left = unused(sample, roles)
    if left:
        yield ""
        yield remark("not used; the source file is kept whole anyway", left)
