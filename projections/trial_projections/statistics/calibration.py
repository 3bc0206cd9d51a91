"""How far stated confidences are from the share that was right, in bins of equal size.

Invariant: every answer is in one bin; those of equal confidence keep the order in which they came.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from trial_projections.statistics.decimals import root_of
from trial_projections.statistics.result import Number, Result, known, total_of, undefined

__all__ = ["BIN", "calibration_error", "calibration_error_published"]

BIN = 100
"""Answers in a bin."""
NO_ANSWER = "there is no answer"


def squared_gaps(bins: Sequence[Sequence[tuple[Fraction, Fraction]]], count: int) -> Fraction:
    """Return the sum over bins of the squared gap of confidence and share right, by size."""
    total = Fraction(0)
    for members in bins:
        gap = total_of(confidence - right for confidence, right in members)
        total += gap * gap / len(members) / count
    return total


def binned(
    confidences: Sequence[Number], right: Sequence[Number], size: int
) -> list[list[tuple[Fraction, Fraction]]]:
    """Return the answers in bins by rising confidence; the last bin takes the rest."""
    pairs = sorted(
        ((Fraction(c), Fraction(r)) for c, r in zip(confidences, right, strict=True)),
        key=lambda pair: pair[0],
    )
    starts = [size * i for i in range(max(len(pairs) // size, 1))]
    ends = [*starts[1:], len(pairs)]
    return [pairs[start:end] for start, end in zip(starts, ends, strict=True)]


def calibration_error(
    confidences: Sequence[Number], right: Sequence[Number], size: int = BIN
) -> Result[Decimal]:
    """Return the root mean square of the gaps between confidence and share right.

    Hendrycks et al. 2019 (arXiv 1812.04606), section 4.3, over all bins.

    Args:
        confidences: of every answer, from 0 to 1.
        right: of the same, 1 for right and 0 for wrong.
        size: answers in a bin.

    Returns:
        From 0 to 1.
    """
    if not confidences:
        return undefined(NO_ANSWER)
    return known(root_of(squared_gaps(binned(confidences, right, size), len(confidences))))


def calibration_error_published(
    confidences: Sequence[Number], right: Sequence[Number], size: int = BIN
) -> Result[Decimal]:
    """Return the same as published code has it, which leaves the last bin out.

    `calib_err` of Humanity's Last Exam and BrowseComp-Plus (texttron/BrowseComp-Plus@97c637c): with
    one bin it is 0, whatever was answered, and with fewer answers than a bin it fails.

    Args:
        confidences: of every answer, from 0 to 1.
        right: of the same, 1 for right and 0 for wrong.
        size: answers in a bin.
    """
    count = len(confidences)
    if count < size:
        return undefined(f"fewer than {size} answers")
    return known(root_of(squared_gaps(binned(confidences, right, size)[:-1], count)))
