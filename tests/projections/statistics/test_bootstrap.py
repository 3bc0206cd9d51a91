"""The bootstrap's stream, its replicates, and the share of replicates on a frontier."""

from fractions import Fraction
from itertools import islice

from blake3 import blake3

from trial_projections.statistics.bootstrap import (
    bootstrap_interval,
    bootstrap_places,
    pooled_mean,
    replicate_of,
    replicates,
)
from trial_projections.statistics.result import known, undefined


def test_places_are_the_stream_read_by_hand() -> None:
    """The first words of the extended output, without those beyond the last multiple."""
    stream = blake3(b"seed\0boot\0" + b"12").digest(4000)
    words = [int.from_bytes(stream[at : at + 8], "little") for at in range(0, 4000, 8)]
    count = (1 << 63) + 1
    expected = [word for word in words if word < count]
    assert 200 < len(expected) < 300, "half of all words are skipped"
    assert list(islice(bootstrap_places("seed", 12, count), 200)) == expected[:200]
    assert list(islice(bootstrap_places("seed", 12, 7), 400)) == [word % 7 for word in words[:400]]


def test_a_replicate_does_not_depend_on_the_ones_before() -> None:
    """Made alone it is the same; each draws as many questions as there are."""
    found = list(replicates("abcde", "s", 4))
    assert found[3] == replicate_of("abcde", "s", 3)
    assert {len(drawn) for drawn in found} == {5}
    assert found[0] != found[1]


def test_limits_are_values_of_replicates() -> None:
    """Between the least and the greatest, the estimate between them; of nothing there are none."""
    rows = [[1, 1, 0], [0, 0], [1], [1, 0, 0, 0]]
    low, high = bootstrap_interval(rows, pooled_mean, seed="s", times=200)
    seen = {pooled_mean(drawn) for drawn in replicates(rows, "s", 200)}
    assert {low.value, high.value} <= seen
    assert low.value is not None
    assert high.value is not None
    assert low.value < pooled_mean(rows) < high.value
    nothing = bootstrap_interval([], pooled_mean, seed="s", times=10)
    assert nothing == (undefined("there is no question to draw"),) * 2
    alike = bootstrap_interval([[1], [1]], pooled_mean, seed="s", times=10)
    assert alike == (known(Fraction(1)), known(Fraction(1)))
