"""Suggest a row map for a file nobody has described yet, with everything undecided commented out.

Invariant: what is printed is TOML whatever the file holds; a line that stands is one that the file
supports, and what could not be decided is said and stands behind a `#`. It is a proposal: nothing
is imported before a person has named it with `--map`.
"""

from collections.abc import Iterator
from pathlib import Path

from trial_ledger.importing.rows_source import MAX_SOURCE_BYTES, unfold
from trial_ledger.importing.rows_suggest_columns import Column, Sample, sample_of
from trial_ledger.importing.rows_suggest_keys import key_lines
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
    quoted,
    remark,
    rows_text,
    rule,
    unused,
)
from trial_ledger.importing.rows_values import decimal_of
from trial_ledger.importing.source import SourceFile

__all__ = ["suggest_map"]

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
        step = f'unit = "{unit}"'
        yield f"duration = {rule(column, step)}{note}"


def time_rule(column: Column) -> str:
    """Return the rule of a time."""
    first = decimal_of(next(iter(column.distinct)))
    if first is None:
        return rule(column)
    return rule(column, f'unit = "{"ms" if first > MILLISECONDS_FROM else "s"}"')


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
