"""How long trials and their calls took: quantiles with intervals, time-outs as what they are (C17).

Invariant: a time that nobody measured is counted as unknown and never 0; what was cut off took at
least so long; what ended early for another reason has no latency, and is counted apart.

Quantiles are observed values (Hyndman & Fan's type 1), their intervals lie between two observations
and take trials as independent: with several repetitions of a question they are a little too narrow.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

import msgspec

from trial_ledger.documents.manifest_structs import Limits
from trial_ledger.exact import rational_text
from trial_projections.cells import ending_occurrence
from trial_projections.costs import TIMEOUTS
from trial_projections.reading import ReadModel
from trial_projections.records import CallTime, RunRecord, TrialRecord
from trial_projections.statistics.decimals import shown_result
from trial_projections.statistics.order_statistics import censored_quantile

__all__ = [
    "QUANTILES",
    "Ended",
    "Latency",
    "Quantile",
    "Times",
    "ended",
    "latency_of",
    "times_of_trials",
]

QUANTILES = (Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(99, 100))
"""Which quantiles are shown."""
MILLISECOND_US = 1_000
Kind = Literal["trials", "calls"]
PURPOSES = ("model", "search", "tool", "judge")


class Quantile(msgspec.Struct, frozen=True, kw_only=True):
    """A quantile of times, in microseconds."""

    p: str
    """Which one, rational text."""
    value_us: int | None
    """The observation; None where it may be beyond a time-out, or nothing was timed."""
    at_least_us: int | None
    """The least that it can be."""
    low_us: int | None
    """Lower end of its 95 % interval; None where there are too few."""
    high_us: int | None
    """Upper end; None where there are too few, or it may be beyond a time-out."""
    coverage: str | None
    """Probability with which the interval holds it, decimal text."""
    reason: str | None
    """Why it has no value; None where it has one."""
    open_end: str | None
    """Why the interval has no upper end; None where it has one."""


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """How long things of one kind took. All of them are in exactly one of the counts."""

    of: Kind
    """What they are."""
    purpose: str | None
    """Of calls, their purpose."""
    endpoint: str | None
    """Of calls, their endpoint; None where a tool has none."""
    count: int
    """How many there are."""
    timed: int
    """How many came to an end of their own at a known time."""
    cut_off: int
    """How many were cut off at a known time: they would have taken longer."""
    ended_early: int
    """How many failed, were lost, cancelled or have not ended: they have no latency."""
    unknown: int
    """How many came to an end of their own or were cut off, and nobody says when."""
    quantiles: list[Quantile]
    """Of those that were timed or cut off."""


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """How long the trials of a run and their calls took."""

    trials: Times
    """Its started trials, every session."""
    calls: list[Times]
    """Their calls by purpose and endpoint."""


def latency_of(model: ReadModel, run: RunRecord) -> Latency:
    """Return how long the trials of a run and their calls took.

    A derived run has those of its parent as of the cited link.

    Args:
        model: the read side.
        run: the run.
    """
    limits = model.manifest(run).limits or Limits()
    _, spent = model.spending(run)
    groups: dict[tuple[str, str | None], list[CallTime]] = {}
    for trial in spent.values():
        still_open = (CallTime(*begun, "lost", None) for begun in trial.open.values())
        for call in (*trial.calls, *still_open):
            groups.setdefault((call.purpose, call.endpoint), []).append(call)
    order = sorted(groups, key=lambda key: (PURPOSES.index(key[0]), key[1] or ""))
    return Latency(
        trials=times_of_trials(model.records_of(run, TrialRecord), limits),
        calls=[times_of_calls(*key, groups[key], limits) for key in order],
    )


class Watch:
    """Sorts times by how they ended."""

    def __init__(self) -> None:
        self.timed: list[int] = []
        self.limits: list[int] = []
        self.early = 0
        self.unknown = 0

    def take(self, end: str, duration: int | None, limit: int | None) -> None:
        """Take one of them.

        Args:
            end: answered, timeout, or anything else.
            duration: how long it took, where that is known.
            limit: where it would have been cut off, in microseconds.
        """
        if end not in {"answered", "timeout"}:
            self.early += 1
        elif end == "answered" and duration is not None:
            self.timed.append(duration)
        elif end == "timeout" and (cut := limit if duration is None else duration) is not None:
            self.limits.append(cut)
        else:
            self.unknown += 1

    def times(self, of: Kind, purpose: str | None = None, endpoint: str | None = None) -> Times:
        """Return what was taken."""
        timed, cut_off = len(self.timed), len(self.limits)
        return Times(
            of=of,
            purpose=purpose,
            endpoint=endpoint,
            count=timed + cut_off + self.early + self.unknown,
            timed=timed,
            cut_off=cut_off,
            ended_early=self.early,
            unknown=self.unknown,
            quantiles=[self.quantile(p) for p in QUANTILES] if timed or cut_off else [],
        )

    def quantile(self, p: Fraction) -> Quantile:
        """Return one quantile."""
        found = censored_quantile(self.timed, self.limits, p)
        return Quantile(
            p=rational_text(p),
            value_us=found.value.value,
            at_least_us=found.at_least,
            low_us=found.low.value,
            high_us=found.high.value,
            coverage=shown_result(found.coverage),
            reason=found.value.reason,
            open_end=found.high.reason,
        )


def times_of_trials(trials: Iterable[TrialRecord], limits: Limits) -> Times:
    """Return how long trials took that were started.

    Args:
        trials: their records.
        limits: say when a trial is cut off.
    """
    watch = Watch()
    for trial in trials:
        if trial.started is not None:
            watch.take(end_of(trial), trial.duration_us, limit_of(trial, limits))
    return watch.times("trials")


Ended = tuple[int, int | None]
"""The least and the most that a trial took, in microseconds; None for no bound."""


def ended(trial: TrialRecord, limits: Limits) -> Ended | None:
    """Return between what the time of a trial lies; None where it has no latency.

    Args:
        trial: a trial that was started.
        limits: say when a trial is cut off.
    """
    end, took = end_of(trial), trial.duration_us
    if end == "failed":
        return None
    if end == "answered" and took is not None:
        return took, took
    least = limit_of(trial, limits) if took is None else took
    # Nothing takes less than no time: a bound, and no value.
    return least or 0, None


def limit_of(trial: TrialRecord, limits: Limits) -> int | None:
    """Return how long a trial took at least because its own time-out ended it.

    A limit of calls or tokens, and the time-out of one of its calls, say nothing of its length.
    """
    fatal = ending_occurrence(trial) if trial.outcome == "errored" else None
    if fatal is None or fatal.class_ != "agent_timeout":
        return None
    return microseconds(limits.trial_timeout_ms)


def end_of(trial: TrialRecord) -> str:
    """Return how a trial ended, as far as its time depends on it."""
    if trial.outcome == "errored":
        fatal = ending_occurrence(trial)
        return "timeout" if fatal is not None and fatal.class_ in TIMEOUTS else "failed"
    if trial.outcome in {None, "cancelled"}:
        return "failed"
    # A limit of calls or tokens ends a trial before it would have ended by itself.
    return "timeout" if trial.outcome == "limit" else "answered"


def times_of_calls(
    purpose: str, endpoint: str | None, calls: Iterable[CallTime], limits: Limits
) -> Times:
    """Return how long calls took; the limits of a manifest are not those of judges."""
    watch = Watch()
    limit = None if purpose == "judge" else microseconds(limits.timeout_ms)
    for call in calls:
        watch.take(call.end, call.duration_us, limit)
    return watch.times("calls", purpose, endpoint)


def microseconds(milliseconds: int | None) -> int | None:
    """Return milliseconds as microseconds."""
    return None if milliseconds is None else milliseconds * MILLISECOND_US
