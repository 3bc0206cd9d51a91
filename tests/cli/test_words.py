"""Numbers and states in the words that screens use."""

import pytest

from trial_cli.words import (
    counts_text,
    duration_text,
    money_text,
    percent_range,
    range_text,
    share_text,
    time_text,
)
from trial_projections.aggregate import Range, Share


def share(total: str, count: int, value: str | None) -> Share:
    """Return a share of trials."""
    return Share(sum=total, count=count, unit="trials", value=value)


def between(low: str, high: str, count: int = 10) -> Range:
    """Return a range of sums over a count."""
    return Range(low=share(low, count, low), high=share(high, count, high))


@pytest.mark.parametrize(
    ("found", "scale", "expected"),
    [
        (between("1/2", "1/2"), ("0", "1"), "50.0 %"),
        (between("1/2", "2/3"), ("0", "1"), "50.0-66.7 %"),
        (between("1/3", "1/3"), ("-1", "1"), "0.333"),
        (between("-1/3", "1/3"), ("-1", "1"), "-0.333 to 0.333"),
        (Range(low=share("0", 0, None), high=share("0", 0, None)), ("0", "1"), "undefined"),
    ],
)
def test_a_range_in_percent_or_as_decimals(
    found: Range, scale: tuple[str, str], expected: str
) -> None:
    """Shares are percentages, other scales decimals; without a count there is no number."""
    assert percent_range(found, scale) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (between("6", "6"), "6/10"),
        (between("5", "6"), "5-6/10"),
        (between("-1", "6"), "-1 to 6/10"),
        (between("1/3", "1/3"), "0.333/10"),
        (between("-7/2", "-7/2"), "-3.5/10"),
    ],
)
def test_a_range_as_sums_over_a_count(found: Range, expected: str) -> None:
    """Integers as they are, other sums as decimals."""
    assert range_text(found) == expected


def test_a_share_is_never_reduced() -> None:
    """6/10 is not 3/5."""
    assert share_text(share("6", 10, "3/5")) == "6/10"


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [
        (None, "unknown"),
        (0, "0 ms"),
        (999_999, "999 ms"),
        (1_500_000, "1.500 s"),
        (59_999_000, "59.999 s"),
        (60_000_000, "1 min 0 s"),
        (3_725_000_000, "62 min 5 s"),
    ],
)
def test_a_duration_in_a_unit_that_a_person_reads(microseconds: int | None, expected: str) -> None:
    """What nobody measured is unknown, never 0."""
    assert duration_text(microseconds) == expected


def test_other_words() -> None:
    """Counts, money by currency, times to the second."""
    assert counts_text({"judge_failed": 2, "correct": 1}) == "judge failed 2  correct 1"
    assert money_text({"USD": "1.5", "CHF": "2", "GBP": "3"}) == "CHF 2 + £3 + $1.5"
    assert time_text(None) == "unknown"
    assert time_text("2026-10-01T12:00:00.123456Z") == "2026-10-01 12:00:00"
