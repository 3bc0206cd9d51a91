"""How many questions a comparison needs, and what difference so many questions can show.

Invariant: variances are given, and by whoever plans from the pilot alone; numbers of questions are
rounded up.
"""

from decimal import Decimal
from fractions import Fraction
from math import ceil

import msgspec

from trial_projections.statistics.decimals import rounded, wide, wide_ratio
from trial_projections.statistics.distributions import normal_quantile
from trial_projections.statistics.result import LEVEL, Number, Result, known, undefined

__all__ = [
    "POWER",
    "Needed",
    "PairedVariance",
    "detectable_difference",
    "questions_needed",
    "questions_needed_once",
]

POWER = Fraction(4, 5)
"""Probability of finding the difference, where nothing else is asked for."""
NO_DIFFERENCE = "no number of questions shows a difference of 0"
NO_QUESTION = "there is no question"


class PairedVariance(msgspec.Struct, frozen=True, kw_only=True):
    """What the difference of two configurations over the same questions varies by."""

    questions: Number
    """Variance over questions of the true differences, ω²."""
    first: Number
    """Mean variance between repetitions under the first configuration, s²_A."""
    second: Number
    """The same under the second, s²_B."""
    first_repetitions: int
    """Repetitions under the first, K_A."""
    second_repetitions: int
    """Repetitions under the second, K_B."""

    @property
    def total(self) -> Fraction:
        """Return the variance of the difference seen on one question."""
        first = Fraction(self.first) / self.first_repetitions
        return self.questions + first + Fraction(self.second) / self.second_repetitions


class Needed(msgspec.Struct, frozen=True):
    """A number of questions."""

    exact: Decimal
    """As the formula gives it."""
    count: int
    """Rounded up."""


def quantiles(level: Fraction, power: Fraction) -> tuple[Decimal, Decimal]:
    """Return the normal quantiles of a two-sided level and of a power above one half."""
    assert Fraction(1, 2) < power < 1, "a power above one half"
    return normal_quantile(level), normal_quantile(2 * power - 1)


def questions_needed(
    difference: Number,
    variance: PairedVariance,
    *,
    level: Fraction = LEVEL,
    power: Fraction = POWER,
) -> Result[Needed]:
    """Return how many questions show a difference.

    Miller 2024 (arXiv 2411.00640), section 5: n = (z_a + z_b)² V / δ², where V is
    the variance ω² + s_A²/K_A + s_B²/K_B of the difference on one question.

    Args:
        difference: δ, on the scale of the scores.
        variance: what the pilot says.
        level: two-sided confidence.
        power: probability of finding the difference, above one half.
    """
    if not difference:
        return undefined(NO_DIFFERENCE)
    alpha, beta = quantiles(level, power)
    with wide():
        return known(needed((alpha + beta) ** 2 * wide_ratio(variance.total / difference**2)))


def needed(exact: Decimal) -> Needed:
    """Return a number of questions, rounded up."""
    return Needed(rounded(exact), ceil(exact))


def detectable_difference(
    count: int,
    variance: PairedVariance,
    *,
    level: Fraction = LEVEL,
    power: Fraction = POWER,
) -> Result[Decimal]:
    """Return the least difference that so many questions show: the same formula, for δ.

    Args:
        count: questions.
        variance: what the pilot says.
        level: two-sided confidence.
        power: probability of finding the difference, above one half.
    """
    if not count:
        return undefined(NO_QUESTION)
    alpha, beta = quantiles(level, power)
    with wide():
        return known(rounded((alpha + beta) * wide_ratio(variance.total / count).sqrt()))


def questions_needed_once(
    discordant: Number,
    difference: Number,
    *,
    level: Fraction = LEVEL,
    power: Fraction = POWER,
) -> Result[Needed]:
    """Return how many questions McNemar's test needs where each is asked once.

    Connor 1987 (Biometrics 43:207): n = (z_a √ψ + z_b √(ψ - δ²))² / δ².

    Args:
        discordant: ψ, the share of questions on which the two differ; at least δ².
        difference: δ, the difference of the shares.
        level: two-sided confidence.
        power: probability of finding the difference, above one half.
    """
    if not difference:
        return undefined(NO_DIFFERENCE)
    square = Fraction(difference) ** 2
    alpha, beta = quantiles(level, power)
    with wide():
        root = alpha * wide_ratio(discordant).sqrt() + beta * wide_ratio(discordant - square).sqrt()
        return known(needed(root * root / wide_ratio(square)))
