"""The cluster bootstrap with a stream of numbers that any language can make again.

Invariant: a replicate depends on the seed, its number and the number of questions alone: not on the
machine, the version of Python, or the replicates before it.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import TypeVar

from blake3 import blake3

from trial_projections.statistics.order_statistics import quantile
from trial_projections.statistics.result import LEVEL, Number, Result, level_named, undefined

__all__ = ["bootstrap_interval", "bootstrap_places", "pooled_mean", "replicate_of", "replicates"]

Value = TypeVar("Value")

WORD = 8
RANGE = 1 << (8 * WORD)
BLOCK = 1024
"""Bytes taken from the stream at once; whatever their number, the stream is the same."""
NO_CLUSTER = "there is no question to draw"


def bootstrap_places(seed: str, replicate: int, count: int) -> Iterator[int]:
    """Yield places drawn with replacement, without end.

    The extended output of BLAKE3 over `seed`, a zero byte, `boot`, a zero byte and the replicate's
    number in decimal digits, read as unsigned 64-bit numbers, least byte first. A number at or
    above the largest multiple of `count` is skipped; the others are taken modulo `count`.

    Args:
        seed: the seed that the manifest names.
        replicate: number of the replicate, from 0.
        count: of how many is drawn, at least 1.
    """
    assert count >= 1, "of nothing nothing is drawn"
    stream = blake3(b"\0".join((seed.encode("utf-8"), b"boot", b"%d" % replicate)))
    limit, start = RANGE - RANGE % count, 0
    while True:
        block = stream.digest(BLOCK, seek=start)
        start += BLOCK
        for place in range(0, BLOCK, WORD):
            word = int.from_bytes(block[place : place + WORD], "little")
            if word < limit:
                yield word % count


def replicate_of(clusters: Sequence[Value], seed: str, replicate: int) -> list[Value]:
    """Return one replicate: as many questions as there are, each with all that belongs to it.

    Args:
        clusters: what belongs to every question, in planned order, at least one.
        seed: the seed.
        replicate: its number, from 0.
    """
    places = bootstrap_places(seed, replicate, len(clusters))
    return [clusters[place] for place in islice(places, len(clusters))]


def replicates(clusters: Sequence[Value], seed: str, times: int) -> Iterator[list[Value]]:
    """Yield the replicates of a seed, in order."""
    for replicate in range(times):
        yield replicate_of(clusters, seed, replicate)


def pooled_mean(clusters: Sequence[Sequence[Number]]) -> Fraction:
    """Return the mean of all scores of some questions, of which at least one has one."""
    count = sum(len(scores) for scores in clusters)
    return Fraction(sum(sum(scores) for scores in clusters)) / count


def bootstrap_interval(
    clusters: Sequence[Value],
    statistic: Callable[[Sequence[Value]], Number],
    *,
    seed: str,
    times: int,
    level: Fraction = LEVEL,
) -> tuple[Result[Fraction], Result[Fraction]]:
    """Return the limits of the percentile interval of any statistic of questions.

    Efron 1979; clusters are drawn whole (Davison & Hinkley 1997, section 3.8). Limits are quantiles
    of type 1 of the replicates: values that one of them has.

    Args:
        clusters: what belongs to every question, in planned order.
        statistic: makes a number of a replicate.
        seed: the seed that the manifest names.
        times: how many replicates, at least 1.
        level: two-sided confidence.
    """
    if not clusters:
        return undefined(NO_CLUSTER), undefined(NO_CLUSTER)
    tail = (1 - level_named(level)) / 2
    found = sorted(statistic(drawn) for drawn in replicates(clusters, seed, times))
    return quantile(found, tail), quantile(found, 1 - tail)
