"""The lines of a suggested map about what came of the trials: metrics, spend, failures, reports.

Invariant: a column gets a line that stands only if all of its values fit it; otherwise the line is
a comment that says what is open.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal

from trial_ledger.importing.rows_judgments import WORDS
from trial_ledger.importing.rows_source import Row
from trial_ledger.importing.rows_suggest_columns import Column, Sample
from trial_ledger.importing.rows_suggest_names import NO_FAILURE, VERDICT_WORDS
from trial_ledger.importing.rows_suggest_roles import SIGNS, Roles, currency_sign
from trial_ledger.importing.rows_suggest_text import (
    BARE_KEY,
    SHOWN,
    WORD_LENGTH,
    path,
    path_text,
    quoted,
    remark,
    rule,
    unused,
)
from trial_ledger.importing.rows_values import decimal_of

__all__ = ["failure_lines", "metric_lines", "reported_lines", "spend_lines"]

SCALES = (1, 5, 10, 100, 1000)
"""Ends of scales that people use."""
SUMMARIES = ("summary", "aggregate", "aggregates", "aggregate_metrics", "metrics", "stats")
REPORTED = re.compile(r"accuracy|rate|f1|score|mean|pass|resolved|success|reward")


def metric_lines(sample: Sample, roles: Roles) -> Iterator[str]:
    """Yield the metrics, and columns that could be some."""
    names = {role: metric_key(roles[role]) for role in ("verdict", "score") if role in roles}
    if len(set(names.values())) < len(names):
        names["score"] = f"{names['score']}_score"
    for role, name in names.items():
        column = roles[role]
        yield ""
        yield f"[metrics.{name}]"
        yield from verdict_lines(column) if role == "verdict" else score_lines(column)
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
    if not names:
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
        yield f"verdict = {rule(column)}"
        return
    entries = ", ".join(f"{quoted(text)} = {quoted(word)}" for text, word in words.items())
    yield f"verdict = {rule(column, f'map = {{{entries}}}')}"


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
        yield f"score = {rule(column, f'map = {{{entries}}}')}"
    else:
        yield f"score = {rule(column)}"
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
        sign = currency_sign(column)
        steps = () if sign is None else (f'parts = ["{sign}", 1]',)
        yield f"{role} = {rule(column, *steps)}"
    if "cost" in roles:
        sign = currency_sign(roles["cost"])
        sure = sign is not None or {"usd", "dollars"} & set(roles["cost"].name.split("_"))
        currency = "USD" if sign is None else SIGNS[sign]
        yield f'currency = "{currency}"' + ("" if sure else "  # is it?")


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
            key = word if BARE_KEY.fullmatch(word) else quoted(word)
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
