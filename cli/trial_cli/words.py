"""Numbers and states in the words that screens use.

Invariant: an unknown quantity is written `unknown`, never 0 and never left out.
"""

import textwrap
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from trial_cli.output import WIDTH, clean
from trial_ledger.exact import (
    fraction_from_decimal_text,
    parse_rational,
    percent_text,
    rational_text,
)

if TYPE_CHECKING:
    from trial_projections.accounts import Account
    from trial_projections.aggregate import Range, Share
    from trial_projections.intervals import ScoreInterval
    from trial_projections.records import RunRecord
    from trial_projections.spending import Spending
    from trial_projections.trust import TrustMark

__all__ = [
    "account_text",
    "bounded_text",
    "bounds_text",
    "counts_text",
    "decimal_of",
    "duration_text",
    "ends_text",
    "interval_text",
    "interval_words",
    "money_text",
    "next_lines",
    "per_right_text",
    "percent_range",
    "percentile_name",
    "range_text",
    "rounded_money",
    "run_title",
    "share_text",
    "signed_words",
    "time_text",
    "trust_lines",
    "wrapped",
]

SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
LEAST_SHOWN = 100
"""Units of the last place that an amount is shown with at least."""
MILLISECOND_US = 1_000
SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US


def is_share(scale: tuple[str, str]) -> bool:
    """Return whether a scale is that of a share, which is shown in percent."""
    return scale == ("0", "1")


def value_text(text: str, *, percent: bool) -> str:
    """Return one value: in percent without the sign, or as a decimal of three digits."""
    value = parse_rational(text)
    return percent_text(value) if percent else decimal_of(value)


def decimal_of(value: Fraction, digits: int = 3) -> str:
    """Return a rational rounded half up to some digits."""
    return percent_text(value / 100, digits)


def percent_range(found: "Range", scale: tuple[str, str]) -> str:
    """Return a range as `68.1 %`, `68.1-69.5 %`, or `0.250` on other scales than 0 to 1."""
    if found.low.value is None or found.high.value is None:
        return "undefined"
    return ends_text(found.low.value, found.high.value, scale)


def ends_text(low: str, high: str, scale: tuple[str, str]) -> str:
    """Return the ends of a range, rational text, as `percent_range` does."""
    percent = is_share(scale)
    shown = [value_text(end, percent=percent) for end in (low, high)]
    if percent:
        return (shown[0] if low == high else "-".join(shown)) + " %"
    return shown[0] if low == high else " to ".join(shown)


def share_text(share: "Share") -> str:
    """Return a sum over its count, as `143/210`; sums that are no integer as decimals."""
    total = parse_rational(share.sum)
    shown = str(total) if total.denominator == 1 else decimal_of(total).rstrip("0")
    return f"{shown}/{share.count}"


def range_text(found: "Range") -> str:
    """Return a range as `143/210`, `143-146/210`, or `-1 to 1/5` below zero."""
    if found.is_point:
        return share_text(found.low)
    low, high = (share_text(end) for end in (found.low, found.high))
    low = low.rpartition("/")[0]
    return f"{low} to {high}" if low.startswith("-") else f"{low}-{high}"


def interval_text(interval: "ScoreInterval", scale: tuple[str, str]) -> str:
    """Return an interval as `60.6-75.9 %`, or `0.2 to 0.4` on other scales; else `unavailable`."""
    if interval.low is None or interval.high is None:
        return "unavailable"
    percent = is_share(scale)
    low, high = (
        value_text(rational_text(fraction_from_decimal_text(end)), percent=percent)
        for end in (interval.low, interval.high)
    )
    return f"{low}-{high} %" if percent else f"{low} to {high}"


def interval_words(interval: "ScoreInterval") -> str:
    """Return how an interval is made, or why there is none: `cluster-wilson, 70 clusters`."""
    if interval.unavailable is not None:
        return interval.unavailable
    ends = ", both ends" if interval.of == "range" else ""
    return f"{interval.method}, {interval.clusters} clusters{ends}"


def counts_text(counts: Mapping[str, int]) -> str:
    """Return counts as `correct 143  incorrect 41`, with dashes instead of underscores."""
    return "  ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())


def money_text(known: Mapping[str, str]) -> str:
    """Return known sums, as `$4.8120` or `$1 + €2`."""
    return " + ".join(
        f"{SIGNS.get(currency, currency + ' ')}{amount}"
        for currency, amount in sorted(known.items())
    )


def account_text(account: "Account") -> str:
    """Return the total of an account, as `$4.812 + 3 calls unknown`."""
    parts: list[str] = []
    if account.known_count:
        parts.append(money_text(account.known))
    if account.unknown_count:
        calls = "call" if account.unknown_count == 1 else "calls"
        parts.append(f"{account.unknown_count} {calls} unknown")
    return " + ".join(parts) or "no calls"


def bounded_text(value: str | None, at_least: str | None) -> str:
    """Return a quantity, or `>= 3 s` where only a bound is known, or `unknown`."""
    if value is not None:
        return value
    return "unknown" if at_least is None else f">= {at_least}"


def bounds_text(low: str | None, high: str | None, words: Callable[[str], str]) -> str:
    """Return a value that lies between two bounds: `3 s`, `2 s to 3 s`, `>= 2 s`, `unknown`."""
    if low is None or high is None:
        known = low or high
        return "unknown" if known is None else f"{'<=' if low is None else '>='} {words(known)}"
    return words(low) if low == high else f"{words(low)} to {words(high)}"


def percentile_name(p: str) -> str:
    """Return the name of a quantile that is given as rational text: `p95` of 19/20."""
    return f"p{decimal_of(parse_rational(p) * 100, 1).removesuffix('.0')}"


def per_right_text(spending: "Spending") -> str:
    """Return what a right trial cost: `$0.04`, `$0.04 to $0.05`, or a bound and why not more."""
    per = spending.per_right
    currency = spending.currency or ""
    low, high = (
        None if end is None else rounded_money(currency, fraction_from_decimal_text(end))
        for end in (per.low, per.high)
    )
    if low is None:
        return f"unknown: {per.no_low}" if high is None else f"<= {high} ({per.no_low})"
    if high is None:
        return f">= {low}, no upper bound ({per.no_high})"
    return low if per.low == per.high else f"{low} to {high}"


def rounded_money(currency: str, value: Fraction) -> str:
    """Return an amount to four places, or to as many as show three of its digits."""
    places = 4 if value else 0
    while value and value * 10**places < LEAST_SHOWN:
        places += 1
    return money_text({currency: decimal_of(value, places)})


def duration_text(duration_us: int | None) -> str:
    """Return a duration in a unit a person reads, or `unknown`."""
    if duration_us is None:
        return "unknown"
    if 0 < duration_us < MILLISECOND_US:
        return f"{duration_us} us"
    if duration_us < SECOND_US:
        return f"{duration_us // MILLISECOND_US} ms"
    if duration_us < MINUTE_US:
        return f"{decimal_of(Fraction(duration_us, SECOND_US))} s"
    minutes, rest = divmod(duration_us, MINUTE_US)
    return f"{minutes} min {rest // SECOND_US} s"


def time_text(at: str | None) -> str:
    """Return a time to the second, or `unknown`."""
    return "unknown" if at is None else at[:19].replace("T", " ")


def run_title(run: "RunRecord") -> str:
    """Return a run by name, marked where it does not count (C12)."""
    return run.name if run.is_valid else f"{run.name}  INVALID"


def wrapped(label: str, text: str, *, indent: int = 10) -> list[str]:
    """Return a labelled text on as many lines as it needs."""
    return textwrap.wrap(
        clean(text),
        WIDTH,
        initial_indent=f"{label:<{indent}}",
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )


def signed_words(count: int, signed: int, size: int) -> str:
    """Return how much of a log its own signed heads cover."""
    if not count:
        return f"nothing: {size} events without a signed head"
    heads = "1 signed head" if count == 1 else f"{count} signed heads"
    tail = "nothing after it" if signed >= size else f"an unsigned tail of {size - signed} events"
    return f"{heads}, the last of {signed} events; {tail}"


def next_lines(*commands: str) -> list[str]:
    """Return what to type next, as many commands on a line as fit; none is ever broken."""
    lines = [f"{'next':<10}{commands[0]}"]
    for command in commands[1:]:
        line = f"{lines[-1]} | {command}"
        if len(line) <= WIDTH:
            lines[-1] = line
        else:
            lines.append(f"{'':<10}{command}")
    return lines


def trust_lines(marks: "Iterable[TrustMark]") -> list[str]:
    """Return what supports a number and what weakens it, each wrapped under its own text."""
    lines: list[str] = []
    for mark in marks:
        label = "trust" if not lines else ""
        lines += wrapped(f"{label:<10}{mark.level}", mark.text, indent=14)
    return lines
