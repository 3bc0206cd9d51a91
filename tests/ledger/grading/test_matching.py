"""Pairing: never fewer pairs than there can be."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.grading.matching import maximum_matching

Fits = dict[str, list[int]]

GRAPHS = st.dictionaries(
    st.sampled_from("abcde"), st.lists(st.integers(0, 4), unique=True), max_size=5
)


def most(fits: Fits) -> int:
    """Return the greatest number of pairs, by trying every order of both sides."""
    sides = sorted({other for others in fits.values() for other in others})
    sides += [-1] * len(fits)
    return max(
        sum(other in fits[member] for member, other in zip(fits, order, strict=False))
        for order in permutations(sides, len(fits))
    )


@given(fits=GRAPHS)
def test_c07_as_many_are_paired_as_can_be(fits: Fits) -> None:
    """The number of pairs is that of the best of all pairings, and each pair fits."""
    pairs = maximum_matching(fits)
    assert all(other in fits[member] for member, other in pairs.items())
    assert len(set(pairs.values())) == len(pairs) == most(fits)


@given(fits=GRAPHS, data=st.data())
def test_c07_no_order_gives_fewer_pairs(fits: Fits, data: st.DataObject) -> None:
    """Neither the order of the members nor that of what they fit matters."""
    members = data.draw(st.permutations(list(fits)))
    shuffled = {member: data.draw(st.permutations(fits[member])) for member in members}
    assert len(maximum_matching(shuffled)) == len(maximum_matching(fits))


def test_a_long_path_is_turned_over_without_recursion() -> None:
    """Each of 3,000 members has to move by one to make room for the last."""
    size = 3_000
    fits = {f"m{n}": [n, n + 1] for n in range(size)}
    fits["last"] = [0]
    assert len(maximum_matching(fits)) == size + 1
