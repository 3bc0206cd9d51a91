"""Quantiles of the normal distribution and of Student's, and its tail: no mathematics library.

Invariant: they are right to 50 digits and the same on every machine, since they come from
constants, finite sums and decimal series alone.
"""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from trial_projections.statistics.decimals import rounded, solve, wide, wide_ratio
from trial_projections.statistics.result import LEVEL, level_named

__all__ = ["normal_quantile", "student_quantile", "student_tail"]

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
"""The circle's number, to 80 places."""
Z_95 = Decimal("1.9599639845400542355245944305205515279555500778695")
"""The 97.5 % point of the normal distribution, on which nearly every interval here rests."""
TINY = Decimal(10) ** -75
ONE, TWO, HALF = Decimal(1), Decimal(2), Decimal("0.5")
FARTHEST = Decimal(100)
"""Standard deviations beyond which no level that can be written down lies."""
SMALL_ANGLE = Decimal("0.05")


def normal_quantile(level: Fraction = LEVEL) -> Decimal:
    """Return z such that a standard normal number lies within ±z with a probability.

    For a level of 19/20 that is a constant, 1.95996…; else the solution of the series
    `P(|Z| <= z) = 2 φ(z) (z + z³/3 + z⁵/15 + …)` (Abramowitz & Stegun 26.2.11).

    Args:
        level: the two-sided probability, between 0 and 1.

    Returns:
        To 50 significant digits.
    """
    return Z_95 if level == LEVEL else normal_solution(level_named(level))


@lru_cache(maxsize=64)
def normal_solution(level: Fraction) -> Decimal:
    """Return the quantile by its series."""
    with wide():
        target, scale = wide_ratio(level), (TWO / PI).sqrt()

        def curve(z: Decimal) -> tuple[Decimal, Decimal]:
            density = scale * (-z * z / 2).exp()
            term, total, odd = z, z, 1
            while term > TINY * total:
                odd += 2
                term *= z * z / odd
                total += term
            return density * total, density

        return rounded(solve(curve, target, Decimal(0), FARTHEST, ONE))


def student_quantile(df: int, level: Fraction = LEVEL) -> Decimal:
    """Return t such that Student's t lies within ±t with a probability.

    The finite series for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4), solved
    for the sine of the angle `atan(t/√df)`.

    Args:
        df: degrees of freedom, at least 1.
        level: the two-sided probability, between 0 and 1.

    Returns:
        To 50 significant digits; the time grows with the degrees of freedom.
    """
    assert df >= 1, "a spread needs a degree of freedom"
    return student_solution(df, level_named(level))


@lru_cache(maxsize=1024)
def student_solution(df: int, level: Fraction) -> Decimal:
    """Return the quantile of Student's distribution by its series."""
    with wide():
        target = wide_ratio(level)
        ratios, constant = student_ratios(df)

        def curve(sine: Decimal) -> tuple[Decimal, Decimal]:
            cosine = (1 - sine * sine).sqrt()
            return student_within(sine, cosine, ratios, df), 2 * constant * cosine ** (df - 2)

        first = student_start(df, normal_quantile(level))
        start = first / (df + first * first).sqrt()
        sine = solve(curve, target, Decimal(0), ONE, start)
        return rounded(sine * (Decimal(df) / (1 - sine * sine)).sqrt())


def student_tail(t: Decimal, df: int) -> Decimal:
    """Return the probability that Student's t lies beyond ±t, the two-sided p-value.

    By the same series as the quantile, of which it is the inverse.

    Args:
        t: the statistic, not below 0.
        df: degrees of freedom, at least 1.

    Returns:
        To 50 significant digits, unless it is below 10^-40; the time grows with the degrees.
    """
    assert df >= 1, "a spread needs a degree of freedom"
    with wide():
        whole = df + t * t
        sine, cosine = t / whole.sqrt(), (df / whole).sqrt()
        ratios, _ = student_ratios(df)
        return rounded(max(Decimal(0), 1 - student_within(sine, cosine, ratios, df)))


def student_within(sine: Decimal, cosine: Decimal, ratios: list[Decimal], df: int) -> Decimal:
    """Return how probable it is to lie within ±t, of which sine and cosine of the angle are."""
    square, total = cosine * cosine, Decimal(0)
    for ratio in ratios:  # Horner: 1 + r1 c² (1 + r2 c² (1 + …)).
        total = 1 + ratio * square * total
    if df % 2 == 0:
        return sine * total
    return 2 / PI * (arc_sine(sine) + (sine * cosine * total if df > 1 else 0))


def student_ratios(df: int) -> tuple[list[Decimal], Decimal]:
    """Return the ratios of the series' neighbouring terms, last first, and the density's constant.

    The constant is `Γ((df+1)/2) / (√π Γ(df/2))`: the density of the angle is twice it times
    `cos(angle)^(df-1)`.
    """
    odd = df % 2
    terms = (df - odd) // 2
    ratios: list[Decimal] = []
    constant = 1 / PI if odd else HALF
    for k in range(1, terms):
        ratio = Decimal(2 * k - 1 + odd) / (2 * k + odd)
        constant *= ratio
        ratios.append(ratio)
    # The innermost factor of Horner's rule multiplies the nothing that stands below it.
    ratios = [Decimal(0), *reversed(ratios)] if terms else []
    return ratios, constant * (df - 1 if df > 1 else 1)


def student_start(df: int, z: Decimal) -> Decimal:
    """Return a first guess of the quantile (Abramowitz & Stegun 26.7.5, two terms)."""
    cube = z * z * z
    return z + (cube + z) / (4 * df) + (5 * cube * z * z + 16 * cube + 3 * z) / (96 * df * df)


def arc_sine(sine: Decimal) -> Decimal:
    """Return the angle of a sine between 0 and 1, in the context of the caller."""
    tangent, doublings = sine / (1 + (1 - sine * sine).sqrt()), 1
    # tan(a/2) = tan(a) / (1 + √(1 + tan²(a))), until the series is short.
    while tangent > SMALL_ANGLE:
        tangent /= 1 + (1 + tangent * tangent).sqrt()
        doublings += 1
    square, power, total, odd = tangent * tangent, tangent, tangent, 1
    while abs(power) > TINY * total:
        odd += 2
        power = -power * square
        total += power / odd
    return total * (1 << doublings)
