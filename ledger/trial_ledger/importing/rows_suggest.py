"""Suggest a row map for a file nobody has described yet, with everything undecided commented out.

Invariant: what is printed is TOML whatever the file holds; a line that stands is one that the file
supports, and what could not be decided is said and stands behind a `#`. It is a proposal: nothing
is imported before a person has named it with `--map`.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from trial_ledger.documents.canonical_form import Json
from trial_ledger.importing.rows_judgments import WORDS
from trial_ledger.importing.rows_source import MAX_SOURCE_BYTES, Row, unfold
from trial_ledger.importing.rows_structs import ANY_KEY, RowsPath
from trial_ledger.importing.rows_suggest_columns import Column, Sample, sample_of
from trial_ledger.importing.rows_suggest_roles import (
    NO_FAILURE,
    VERDICT_WORDS,
    Roles,
    roles_of,
)
from trial_ledger.importing.rows_values import decimal_of
from trial_ledger.importing.source import SourceFile

__all__ = ["suggest_map"]

PLAIN_KEY = re.compile(r"[^.\[\]\"'\\$^*]+")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
SHOWN = 8
WORD_LENGTH = 40
SCALES = (1, 5, 10, 100, 1000)
"""Ends of scales that people use."""
MODEL_KEYS = ("model", "model_name", "agent_model", "researcher_model", "agent_name", "agent")
SUMMARIES = ("summary", "aggregate", "aggregates", "aggregate_metrics", "metrics", "stats")
REPORTED = re.compile(r"accuracy|rate|f1|score|mean|pass|resolved|success|reward")
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


def quoted(text: str) -> str:
    """Return a text as a TOML string of one line, whatever is in it."""
    if "'" not in text and ('"' in text or "\\" in text) and text.isprintable():
        return f"'{text}'"
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(
        f"\\U{ord(char):08X}" if unicodedata.category(char)[0] in "CZ" and char != " " else char
        for char in shown
    )


def path_text(keys: Sequence[str]) -> str:
    """Return the path of a value in a row, keys quoted where they need it."""
    return ".".join(
        key if PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False) for key in keys
    )


def path(column: Column) -> str:
    """Return the path of a column as a TOML value."""
    return quoted(path_text(column.path))


def remark(text: str, names: Sequence[str] = ()) -> str:
    """Return a comment of one line."""
    shown = ", ".join(quoted(name[:WORD_LENGTH]) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"# {text}{': ' if names else ''}{shown}{more}"


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
    if not sample.quotes:
        yield "quotes = false  # quotation marks are part of the text here"
    if sample.path:
        yield f"rows = {quoted(rows_text(sample.path))}"
    yield 'name = "my-evaluation"  # the names of the runs begin with it'
    yield '# phase = "final"  # or "pilot": trying out and measuring are never mixed'


def rows_text(steps: RowsPath) -> str:
    """Return the path to the rows."""
    return ".".join("*" if key == ANY_KEY else path_text([str(key)]) for key in steps)


def key_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield what names configuration, question and repetition."""
    yield ""
    yield from configuration_lines(sample, roles)
    if "id" in roles and is_uneven(sample, roles):
        yield "# questions stand a different number of times: is there a column that tells their"
        yield "# rows apart, a configuration or a repetition? Until then a row is a question:"
        yield f"id = [{path(roles['id'])}, {path(roles['answer'])}]"
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
    if ANY_KEY in sample.path[:-1] or (is_row_key and "id" in roles):
        yield 'configuration = "*"  # the key that the * of rows matched'
    elif column is not None:
        yield f"configuration = {path(column)}  # one run for each value"
    else:
        yield 'configuration = {const = "my-agent"}  # name the system that was evaluated'
    found = next(iter(model_places(sample.rows[0].document)), None)
    if found is not None and sample.rows[0].document is not sample.rows[0].values:
        yield f"system = {{model = {quoted(f'$.{found}')}}}"


def model_places(document: Json) -> Iterator[str]:
    """Yield where a document says which model was used."""
    if not isinstance(document, dict):
        return
    for key, value in document.items():
        if key in MODEL_KEYS and isinstance(value, str):
            yield path_text([key])
        elif isinstance(value, dict):
            for inner in MODEL_KEYS:
                if isinstance(value.get(inner), str):
                    yield path_text([key, inner])


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
    """Return whether questions repeat irregularly, and their answers tell their rows apart."""
    if "repetition" in roles or "answer" not in roles or "id" not in roles:
        return False
    if len(set(times(sample, roles))) <= 1:
        return False
    keys = [
        str((row.keys, *(value_at(row, roles[role]) for role in ("id", "answer"))))
        for row in sample.rows
    ]
    return roles["answer"].empty == 0 and len(set(keys)) == len(keys)


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


def metric_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield the metrics, and columns that could be some."""
    found = False
    for role in ("verdict", "score"):
        if role in roles:
            found = True
            yield ""
            yield f"[metrics.{metric_key(roles[role])}]"
            yield from verdict_lines(roles[role]) if role == "verdict" else score_lines(roles[role])
            if "reasoning" in roles:
                yield f"reasoning = {path(roles['reasoning'])}"
            yield '# by = "model"  # what decided: code, model or human; and grader = {const = "…"}'
    others = [
        column
        for column in sample.columns
        if column not in roles.values() and column.is_number and not looks_whole(column)
    ]
    for column in others[:SHOWN]:
        yield ""
        yield f"# [metrics.{json.dumps(column.name)}]  # could be a score; remove the # if it is"
        yield from (f"# {line}" for line in score_lines(column))
    if not found:
        yield ""
        yield "# What was judged could not be told. Name the column and say what its values mean:"
        yield "# [metrics.correct]"
        yield '# verdict = {path = "…", map = {good = "correct", bad = "incorrect"}}'
        yield remark("columns that are left", unused(sample, roles))


def looks_whole(column: Column) -> bool:
    """Return whether all values are integers, as counts and numbers of rows are."""
    return all(text.isdigit() for text in column.distinct)


def metric_key(column: Column) -> str:
    """Return a metric's name as a TOML key."""
    name = column.path[-1]
    if BARE_KEY.fullmatch(name):
        return name
    name = column.name
    return name if BARE_KEY.fullmatch(name) else "metric"


def verdict_lines(column: Column) -> Iterator[str]:
    """Yield the rule of a verdict."""
    words = {text: VERDICT_WORDS[text.strip().lower()] for text in column.distinct}
    if column.empty:
        yield f"# rows without a value: {column.empty}; their trials stay undecided, not wrong"
    if all(text.strip().lower() in WORDS for text in words):
        yield f"verdict = {path(column)}"
        return
    entries = ", ".join(f"{quoted(text)} = {quoted(word)}" for text, word in words.items())
    yield f"verdict = {{path = {path(column)}, map = {{{entries}}}}}"


def score_lines(column: Column) -> Iterator[str]:
    """Yield the rule of a score."""
    numbers = [number for text in column.distinct if (number := decimal_of(text)) is not None]
    low, high = min(numbers, default=Decimal(0)), max(numbers, default=Decimal(1))
    if column.empty:
        yield f"# rows without a value: {column.empty}; their trials stay undecided, not 0"
    others = [text for text in column.distinct if decimal_of(text) is None]
    if others:
        entries = ", ".join(f'{quoted(text)} = "lost_in_source"' for text in others)
        yield "# why there is no number decides: judge_failed, lost_in_source or unjudged"
        yield f"score = {{path = {path(column)}, map = {{{entries}}}}}"
    else:
        yield f"score = {path(column)}"
    end = next((end for end in SCALES if high <= end), None)
    start = 0 if low >= 0 else low.to_integral_value(rounding="ROUND_FLOOR")
    if start != 0 or end != 1:
        top = end if end is not None else high.to_integral_value(rounding="ROUND_CEILING")
        yield f'scale = ["{start}", "{top}"]  # lowest and highest possible score'


def spend_lines(roles: Roles) -> Iterator[str]:
    """Yield what a trial consumed."""
    roles_here = [role for role in ("input_tokens", "output_tokens", "cost") if role in roles]
    if not roles_here:
        yield ""
        yield "# no column of tokens or cost: both stay unknown, not 0"
        return
    yield ""
    yield "[spend.agent]  # one account: purpose is model, search, tool or judge"
    for role in roles_here:
        column = roles[role]
        zeros = sum(count for text, count in column.distinct.items() if decimal_of(text) == 0)
        if zeros:
            yield f'# rows of exactly 0: {zeros}; add unknown = ["0"] if that means not measured'
        yield f"{role} = {path(column)}"
    if "cost" in roles:
        sure = {"usd", "dollars"} & set(roles["cost"].name.split("_"))
        yield 'currency = "USD"' + ("" if sure else "  # is it?")


def failure_lines(roles: Roles) -> Iterator[str]:
    """Yield how a row says that something went wrong."""
    column = roles.get("error")
    if column is None:
        return
    none = [text for text in column.distinct if text.strip().lower() in NO_FAILURE]
    yield ""
    yield "[[failures]]  # a row with one and without an answer is an errored trial: scored 0, kept"
    yield f"value = {path(column)}"
    if none:
        yield f"none = [{', '.join(quoted(text) for text in none)}]"
    words = [text for text in column.distinct if text not in none and len(text) <= WORD_LENGTH]
    if 0 < len(words) <= SHOWN:
        yield "# say whose failure each word is: agent, harness, search_provider, model_provider, …"
        for word in words:
            key = word if BARE_KEY.fullmatch(word) else quoted(word).replace("'", '"')
            yield f'# classes.{key} = {{class = "{class_guess(word)}", fault = "…"}}'


def class_guess(word: str) -> str:
    """Return the failure class that a word looks like."""
    lower = word.lower()
    for part, class_ in (
        ("agent_timeout", "agent_timeout"),
        ("timeout", "timeout"),
        ("timed out", "timeout"),
        ("rate", "rate_limited"),
        ("pars", "harness_error"),
        ("agent", "agent_error"),
        ("limit", "limit"),
        ("connect", "connect"),
    ):
        if part in lower:
            return class_
    return "other"


def reported_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield the numbers that the file itself reports, to stand beside ours."""
    metric = roles.get("verdict") or roles.get("score")
    if metric is None:
        return
    for place, name in dict.fromkeys(summary_places(sample.rows[0])):
        yield ""
        yield "[[reported]]"
        yield f"metric = {quoted(metric_key(metric))}"
        yield f"name = {quoted(name)}"
        yield f"value = {quoted(place)}"


def summary_places(row: Row) -> Iterator[tuple[str, str]]:
    """Yield where the objects around a row hold numbers that look like results, and their names."""
    for level, around in enumerate(row.enclosing, 1):
        start = "^" * level
        for key, value in around.items():
            if isinstance(value, dict) and key in SUMMARIES:
                for name, number in value.items():
                    if REPORTED.search(name.lower()) and decimal_of(number) is not None:
                        yield f"{start}.{path_text([key, name])}", name
            elif REPORTED.search(key.lower()) and decimal_of(value) is not None:
                yield f"{start}.{path_text([key])}", key


def unused(sample: Sample, roles: Roles) -> list[str]:
    """Return the columns that have no role."""
    return [path_text(one.path) for one in sample.columns if one not in roles.values()]


def rest_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield what was left over."""
    left = unused(sample, roles)
    if left:
        yield ""
        yield remark("not used; the source file is kept whole anyway", left)
    yield ""
    yield '# unknown = ["agent cost", "tool calls"]  # (above the first table) what nobody recorded'
