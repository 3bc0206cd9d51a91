"""Rules about what a run took: time of its trials, tokens of its calls.

Invariant: what nobody measured is counted apart; only a rule that says so takes it for 0.
"""

from collections.abc import Callable
from fractions import Fraction

from trial_projections.source_rules.computed import Computed, Rule, number, undefined
from trial_projections.source_rules.facts import RunFacts

__all__ = ["RESOURCE_RULES"]

MICROSECONDS = 1_000_000
NOTHING_MEASURED = "no trial's duration is known"
UNKNOWN = "duration unknown"
AS_ZERO = "unknown duration as 0"


def average(known: list[int]) -> Fraction:
    """Return the mean in seconds."""
    return Fraction(sum(known), MICROSECONDS * len(known))


def upper_median(known: list[int]) -> Fraction:
    """Return the value at place N // 2 of the sorted ones, from 0, in seconds."""
    return Fraction(sorted(known)[len(known) // 2], MICROSECONDS)


def latency(
    statistic: Callable[[list[int]], Fraction], *, as_zero: bool
) -> Callable[[RunFacts, str], Computed]:
    """Return the computation of a rule about the durations of trials."""

    def compute(facts: RunFacts, argument: str) -> Computed:
        del argument
        durations = facts.durations_us()
        known = [duration for duration in durations if duration is not None]
        unknown = len(durations) - len(known)
        if as_zero:
            known += [0] * unknown
        if not known:
            return undefined(NOTHING_MEASURED)
        told = {AS_ZERO if as_zero else UNKNOWN: unknown}
        return number(
            statistic(known),
            count=len(known),
            unit="s",
            left_out={} if as_zero else told,
            assumed=told if as_zero else {},
        )

    return compute


def usage(*, whole: bool) -> Callable[[RunFacts, str], Computed]:
    """Return the computation of a rule about one part of the consumption of the agent's calls."""

    def compute(facts: RunFacts, argument: str) -> Computed:
        accounts = facts.model.accounts(facts.run.name)
        account = next((known for known in accounts if known.name == "inference"), None)
        if account is None or argument not in account.usage:
            return undefined(f"no call tells its {argument}")
        unknown = account.calls - account.usage_calls[argument]
        if whole and unknown:
            return undefined(f"{unknown} of {account.calls} calls do not tell their {argument}")
        return number(
            account.usage[argument],
            unit="tokens",
            count=account.usage_calls[argument],
            left_out={f"{argument} unknown": unknown},
        )

    return compute


def usage_parts(facts: RunFacts) -> list[str]:
    """Return which parts of the consumption some call tells."""
    accounts = facts.model.accounts(facts.run.name)
    return sorted({part for known in accounts if known.name == "inference" for part in known.usage})


MEAN_NAMES = ("avg latency", "avg latency seconds", "mean latency", "latency", "latency seconds")
MEDIAN_NAMES = ("p50", "p50 latency seconds", "median latency")
USAGE_NAMES = ("{}", "agent {}", "total {}")

RESOURCE_RULES: tuple[Rule, ...] = (
    Rule(
        name="mean_latency",
        says="averages the durations that are known",
        compute=latency(average, as_zero=False),
        known_as=MEAN_NAMES,
        instead="mean_latency",
    ),
    Rule(
        name="mean_latency_unknown_as_zero",
        says="averages unknown durations in as 0 s",
        compute=latency(average, as_zero=True),
        known_as=MEAN_NAMES,
        instead="mean_latency",
    ),
    Rule(
        name="upper_median_latency",
        says="takes place N // 2 of the sorted durations that are known",
        compute=latency(upper_median, as_zero=False),
        known_as=MEDIAN_NAMES,
        instead="upper_median_latency",
    ),
    Rule(
        name="upper_median_latency_unknown_as_zero",
        says="takes place N // 2 of the sorted durations, unknown ones as 0 s",
        compute=latency(upper_median, as_zero=True),
        known_as=MEDIAN_NAMES,
        instead="upper_median_latency",
    ),
    Rule(
        name="usage",
        says="adds the consumption of all model calls",
        compute=usage(whole=True),
        arguments=usage_parts,
        known_as=USAGE_NAMES,
        instead="usage",
    ),
    Rule(
        name="usage_known",
        says="adds the consumption of the model calls that tell it",
        compute=usage(whole=False),
        arguments=usage_parts,
        known_as=USAGE_NAMES,
        instead="usage",
    ),
)
"""Ours first."""
