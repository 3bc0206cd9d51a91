"""Which column of a file is most likely what, by its name and its values.

Invariant: a role is given only where the values of the column fit it; what is left over is named as
left over, never given a role by exclusion.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from trial_ledger.identifiers import MAX_INTEGER
from trial_ledger.importing.rows_suggest_columns import Column, Sample
from trial_ledger.importing.rows_suggest_names import NAMES, VERDICT_WORDS
from trial_ledger.importing.rows_values import decimal_of

__all__ = ["SIGNS", "Roles", "currency_sign", "roles_of"]

Roles = Mapping[str, Column]
"""Role → its column."""

SUREST_LENGTH = 4
"""A name that is as long says enough as the end of another: `evaluation_grade`."""
BY_ENDING = frozenset({"verdict", "score", "question", "answer", "gold", "reasoning", "duration"})
"""Roles that such an ending gives; not cost, whose account it would not tell."""
LONGEST = 10**9
"""A larger number is no length of time."""
OLDEST_TIME = 10**8
LATEST_TIME = 10**14
"""Numbers between them may be seconds or milliseconds since 1970."""
SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
"""Sign of a currency → its code."""
FEW = 30
"""Columns of verdicts and of systems have at most so many different values."""


def is_text(column: Column) -> bool:
    return column.known > 0 and column.truths == 0


def is_key(column: Column) -> bool:
    return column.is_whole and column.lists == 0 and column.truths == 0


def is_verdict(column: Column) -> bool:
    words = {text.strip().lower() for text in column.distinct}
    return 0 < len(words) <= FEW and words <= set(VERDICT_WORDS) and words != {"null"}


def is_score(column: Column) -> bool:
    return column.known > 0 and column.numbers >= column.known - nan_count(column)


def nan_count(column: Column) -> int:
    return sum(count for text, count in column.distinct.items() if text.lower() == "nan")


def is_amount(column: Column) -> bool:
    return column.is_number and not any(text.startswith("-") for text in column.distinct)


def is_length(column: Column) -> bool:
    numbers = (decimal_of(text) for text in column.distinct)
    return is_amount(column) and all(number is None or number <= LONGEST for number in numbers)


def currency_sign(column: Column) -> str | None:
    """Return the sign that all amounts of a column begin with; None where there is none."""
    first = next(iter(column.distinct), "")[:1]
    amounts = [decimal_of(text[1:]) for text in column.distinct if text.startswith(first)]
    are_amounts = len(amounts) == len(column.distinct) and None not in amounts
    return first if first in SIGNS and are_amounts else None


def is_price(column: Column) -> bool:
    return is_amount(column) or currency_sign(column) is not None


def is_count(column: Column) -> bool:
    numbers = [decimal_of(text) for text in column.distinct]
    return column.known > 0 and all(
        number is not None and 0 <= number <= MAX_INTEGER and number == int(number)
        for number in numbers
    )


def is_position(column: Column) -> bool:
    return column.is_whole and is_count(column) and all(map(str.isdigit, column.distinct))


def is_group(column: Column) -> bool:
    return column.is_whole and column.lists == 0 and len(column.distinct) <= FEW


def is_time(column: Column) -> bool:
    return column.known > 0 and all(map(is_moment, column.distinct))


def is_moment(text: str) -> bool:
    """Return whether a text is an ISO time, or a number of seconds or parts of them since 1970."""
    number = decimal_of(text)
    if number is not None:
        return OLDEST_TIME <= number <= LATEST_TIME
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def is_anything(column: Column) -> bool:
    return column.known > 0


FITS: Mapping[str, Callable[[Column], bool]] = {
    "id": is_key,
    "question": is_text,
    "answer": is_text,
    "gold": is_anything,
    "verdict": is_verdict,
    "score": is_score,
    "reasoning": is_text,
    "error": is_anything,
    "repetition": is_position,
    "configuration": is_group,
    "started": is_time,
    "ended": is_time,
    "duration": is_length,
    "input_tokens": is_count,
    "output_tokens": is_count,
    "cost": is_price,
    "citations": is_anything,
}
"""Role → whether the values of a column fit it."""

ORDER = (
    "duration", "input_tokens", "output_tokens", "cost", "error", "started", "ended", "id",
    "repetition", "verdict", "score", "reasoning", "question", "answer", "gold", "citations",
    "configuration",
)  # fmt: skip
"""In which order roles choose, since a column has one role."""


def roles_of(sample: Sample) -> Roles:
    """Return the role of every column that has one."""
    taken: dict[str, Column] = {}
    for role in ORDER:
        for column in ranked(role, sample.columns):
            if column not in taken.values() and FITS[role](column):
                taken[role] = column
                break
    if "verdict" in taken and "score" not in taken and taken["verdict"].name == "score":
        taken["score"] = taken.pop("verdict")
    return taken


def ranked(role: str, columns: Sequence[Column]) -> Iterator[Column]:
    """Yield the columns whose name is one of a role's, the surest first."""
    leaves = [(column, Column(path=column.path[-1:]).name) for column in columns]
    for name in NAMES[role]:
        yield from (column for column, _ in leaves if column.name == name)
        yield from (column for column, leaf in leaves if leaf == name)
    for name in NAMES[role] if role in BY_ENDING else ():
        yield from (
            column
            for column, leaf in leaves
            if len(column.path) == 1 and leaf.endswith(f"_{name}") and len(name) >= SUREST_LENGTH
        )
