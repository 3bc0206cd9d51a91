"""Whether a number is the one that somebody published, to the digits that were published.

Invariant: a published number stands for every value that rounds to it, ties either way; a binary
float printed in full stands for what is within 10^-12 of it, since its last digits are noise.
"""

from fractions import Fraction

import msgspec

from trial_ledger.exact import fraction_from_decimal_text

__all__ = ["Published", "parse_published"]

FLOAT_DIGITS = 15
"""Significant digits from which a text is a binary float in full, and not a rounding."""
FLOAT_NOISE = Fraction(1, 10**12)
SHARE_PLACES = 2
"""Places of a share at least: tools print 0.70 as 0.7, and nobody rounds one to a tenth."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A published number."""

    text: str
    """As it was written."""
    value: Fraction
    """What it says; a percentage as a share of 1."""
    tolerance: Fraction
    """How far a value may be that rounds to it."""

    def agrees(self, value: Fraction) -> bool:
        """Return whether a value rounds to it."""
        return abs(value - self.value) <= self.tolerance


def parse_published(text: str) -> Published | None:
    """Return the number that a text says, as `0.767`, `71.2 %` or `12`; None where it is none."""
    stripped = text.strip()
    percent = stripped.endswith("%")
    digits = stripped.removesuffix("%").strip()
    try:
        value = fraction_from_decimal_text(digits)
    except ValueError:
        return None  # The text of another tool, which owes us no number.
    scale = Fraction(1, 100) if percent else Fraction(1)
    least = 0 if percent else SHARE_PLACES if abs(value) <= 1 else 1
    return Published(
        text=text,
        value=value * scale,
        tolerance=half_unit(digits, least=least) * scale,
    )


def half_unit(digits: str, *, least: int) -> Fraction:
    """Return half a unit of the last place of a decimal text; 0 for a whole number as a count.

    Args:
        digits: the text.
        least: places that stand there at least; 0 only where whole numbers are rounded too.
    """
    mantissa, _, exponent = digits.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    if len(mantissa.lstrip("+-0.").replace(".", "")) >= FLOAT_DIGITS:
        return FLOAT_NOISE
    if least and not places:
        return Fraction(0)
    return Fraction(1, 2) * Fraction(10) ** (int(exponent or 0) - max(places, least))
