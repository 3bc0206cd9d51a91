"""Read numbers as people and programs write them, by rules that somebody declared.

Invariant: a number is read exactly or not at all; a separator, unit or percent sign that nobody
declared makes it no number.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import msgspec

from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.grader_options import Settings
from trial_ledger.exact import parse_rational

__all__ = [
    "PLAIN",
    "NumberLiteral",
    "NumberRules",
    "Tolerance",
    "find_numbers",
    "gold_number",
    "is_close",
    "read_number",
    "rules_of",
    "tolerance_of",
    "value_number",
]

GROUPS: Mapping[str, str] = {
    "none": "",
    "comma": ",",
    "point": r"\.",
    "blank": "[ \u00a0\u2009\u202f]",
    "apostrophe": "['\u2019]",
}
POINT: Mapping[str, str] = {"point": r"\.", "comma": ","}
"""What stands before the fraction."""

SIGN = "[+\\-\N{MINUS SIGN}]"
"""Signs; the typeset minus is what language models often write."""

LONGEST_NUMBER = 400
"""Digits before or behind the point, and the exponent, of the largest number that is read."""


class NumberRules(msgspec.Struct, frozen=True, kw_only=True):
    """How numbers are written."""

    decimal: str = "point"
    """What stands before the fraction: `point` or `comma`."""
    thousands: str = "none"
    """What sets groups of three digits apart: a key of `GROUPS`."""
    percent: str = "refused"
    """What `%` means: `hundredth` divides by 100, `unit` is left out, `refused` is no number."""
    units: tuple[str, ...] = ()
    """Texts that may stand before or after a number and are left out."""


PLAIN = NumberRules()
"""Digits, a point, an exponent: as programs write."""


class NumberLiteral(str):
    """A number of an answer that is kept as the text of its JSON literal."""

    __slots__ = ()


class Tolerance(msgspec.Struct, frozen=True, kw_only=True):
    """How far a number may be from the right one; either of the two suffices."""

    absolute: Fraction
    """Greatest distance."""
    relative: Fraction
    """Greatest distance as a share of the right number's size."""


def rules_of(settings: Settings) -> NumberRules:
    """Return the notation that a metric declares."""
    return NumberRules(
        decimal=settings.text("decimal"),
        thousands=settings.text("thousands"),
        percent=settings.text("percent"),
        units=settings.names("units"),
    )


def tolerance_of(settings: Settings) -> Tolerance:
    """Return the tolerance that a metric declares."""
    return Tolerance(
        absolute=parse_rational(settings.text("absolute")),
        relative=parse_rational(settings.text("relative")),
    )


def is_close(found: Fraction, right: Fraction, tolerance: Tolerance) -> bool:
    """Return whether a number is the right one within a tolerance, computed exactly."""
    distance = abs(found - right)
    return distance <= max(tolerance.absolute, tolerance.relative * abs(right))


def value_number(value: Json, rules: NumberRules) -> Fraction | None:
    """Return the number that a JSON value of an answer is; None where it is none under the rules.

    A JSON number has the notation of JSON, whatever the rules say about texts.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, int):
        return Fraction(value)
    return read_number(value, PLAIN if isinstance(value, NumberLiteral) else rules)


def gold_number(value: Json, rules: NumberRules) -> Fraction | None:
    """Return the number that a gold value is; None where it is none, or could be two.

    Datasets keep a decimal as the text of its JSON literal, so that a text of gold may be in plain
    notation or in the declared one. `1.500` is two numbers where a point sets thousands apart.
    """
    if not isinstance(value, str):
        return value_number(value, rules)
    readings = {read_number(value, notation) for notation in (PLAIN, rules)} - {None}
    return readings.pop() if len(readings) == 1 else None


def read_number(text: str, rules: NumberRules) -> Fraction | None:
    """Return the number that a whole text is; None where it is none under the rules.

    A fraction of two integers, as `3/4`, is a number too.
    """
    stripped = text.strip()
    match = patterns(rules)[0].fullmatch(stripped)
    if match is not None:
        return value_of(match, rules)
    if len(stripped) > LONGEST_NUMBER:
        return None
    try:
        return parse_rational(stripped)
    except ValueError:
        return None


def find_numbers(text: str, rules: NumberRules) -> list[Fraction | None]:
    """Return every number in a text, in order; None for one that the rules do not read.

    What begins with a digit counts as a number, so that `5%`, `1,234` or `2nd` are not passed over
    where nobody declared how to read them. Digits within a word (`B12`) are none.
    """
    return [
        value_of(match, rules) if match["loose"] is None else None
        for match in patterns(rules)[1].finditer(text)
    ]


@cache
def patterns(rules: NumberRules) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what matches a text that is a number, and what finds numbers in a text.

    Quantifiers are possessive, so that no text makes the match go back and try again.
    """
    group = GROUPS[rules.thousands]
    grouped = f"[0-9]{{1,3}}(?:{group}[0-9]{{3}})++|" if group else ""
    point = POINT[rules.decimal]
    number = (
        f"(?:(?P<whole>{grouped}[0-9]++)(?:{point}(?P<part>[0-9]++))?+|{point}(?P<only>[0-9]++))"
        "(?:[eE](?P<exponent>[+-]?[0-9]++))?+"
    )
    units = sorted(rules.units, key=len, reverse=True)
    before = f"(?:(?:{'|'.join(map(re.escape, units))})\\s?+)?+" if units else ""
    percent = [] if rules.percent == "refused" else ["(?P<percent>%)"]
    # A unit that ends in a letter ends there: `m` is not the beginning of `miles`.
    ended = [re.escape(unit) + ("(?![0-9A-Za-z_])" if unit[-1].isalnum() else "") for unit in units]
    behind = "|".join((*percent, *ended))
    after = f"(?:\\s?+(?:{behind}))?+" if behind else ""
    strict = f"(?P<outer>{SIGN})?+{before}(?P<inner>{SIGN})?+{number}{after}"
    start = r"(?<![0-9A-Za-z_])(?<![0-9][.,'\u2019])"
    end = r"(?![0-9A-Za-z_%])(?![.,'\u2019][0-9])"
    loose = r"(?P<loose>[0-9][0-9A-Za-z_.,'\u2019%]*+)"
    return re.compile(strict), re.compile(f"{start}(?:{strict}{end}|{loose})")


def value_of(match: re.Match[str], rules: NumberRules) -> Fraction | None:
    """Return the value of a matched number; None where it is too large, or has two signs."""
    if match["outer"] and match["inner"]:
        return None
    whole = re.sub("[^0-9]", "", match["whole"] or "")
    part = match["part"] or match["only"] or ""
    exponent = match["exponent"] or "0"
    if max(len(whole), len(part)) > LONGEST_NUMBER or len(exponent) > len(str(-LONGEST_NUMBER)):
        return None
    if abs(int(exponent)) > LONGEST_NUMBER:
        return None
    value = Fraction(int(whole + part)) * Fraction(10) ** (int(exponent) - len(part))
    if rules.percent == "hundredth" and match["percent"]:
        value /= 100
    return value if (match["outer"] or match["inner"] or "+") == "+" else -value
