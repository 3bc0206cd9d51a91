"""The order of a run, the waits between attempts, and seeds: random, and the same again."""

from hypothesis import given, settings
from hypothesis import strategies as st

from trial_ledger.documents.manifest_structs import Retry
from trial_ledger.identifiers import TrialKey
from trial_ledger.running.retrying import is_retried, wait_us
from trial_ledger.running.schedule import Slot, ordered, trial_seed


def slots(runs: tuple[str, ...] = ("a", "b"), questions: int = 20) -> list[Slot]:
    """Return the slots of some runs over the same questions, two repetitions each."""
    return [
        Slot(
            run=run,
            key=TrialKey(
                question=f"q{number}", configuration=run, repetition=repetition, session="s1"
            ),
        )
        for run in runs
        for number in range(questions)
        for repetition in (1, 2)
    ]


def test_c16_the_order_follows_from_the_seed() -> None:
    """The same seed gives the same order whatever order it is given; another seed another one."""
    planned = slots()
    first = ordered(planned, 7)
    assert ordered(reversed(planned), 7) == first
    assert ordered(planned, 8) != first
    assert sorted(first, key=str) == sorted(planned, key=str)
    assert first != planned


def test_manifests_stand_side_by_side() -> None:
    """Each question is asked in all runs in a row, and no run is always first."""
    planned = ordered(slots(("a", "b", "c")), 7)
    groups = [planned[start : start + 3] for start in range(0, len(planned), 3)]
    assert all(len({(s.key.question, s.key.repetition) for s in group}) == 1 for group in groups)
    assert {group[0].run for group in groups} == {"a", "b", "c"}


@settings(max_examples=30, deadline=None)
@given(kept=st.sets(st.integers(0, 79)), seed=st.integers(0, 2**53))
def test_what_is_left_keeps_its_order(kept: set[int], seed: int) -> None:
    """A resumed run asks the rest in the order in which it would have been asked."""
    planned = slots()
    rest = [planned[number] for number in kept]
    assert list(ordered(rest, seed)) == [slot for slot in ordered(planned, seed) if slot in rest]


def test_every_repetition_has_its_own_seed() -> None:
    """A session of the same slot has the same one; without a seed there is none."""
    key = TrialKey(question="q1", configuration="a", repetition=1, session="s1")
    again = TrialKey(question="q1", configuration="a", repetition=1, session="s2")
    other = TrialKey(question="q1", configuration="a", repetition=2, session="s1")
    assert trial_seed(None, key) is None
    assert trial_seed(7, key) == trial_seed(7, again)
    assert trial_seed(7, key) != trial_seed(7, other)
    assert 0 <= (trial_seed(7, key) or 0) < 2**31


def test_c10_only_what_the_manifest_lists_is_tried_again() -> None:
    """The class has to be listed, and an attempt left."""
    retry = Retry(attempts=3, on=("timeout",))
    assert is_retried(retry, "timeout", 2)
    assert not is_retried(retry, "timeout", 3)
    assert not is_retried(retry, "response_lost", 1)
    assert not is_retried(Retry(), "timeout", 1)


@settings(max_examples=60, deadline=None)
@given(
    wait_ms=st.integers(0, 10_000),
    most_ms=st.integers(0, 100_000),
    attempt=st.integers(1, 10_000),
    asked_ms=st.none() | st.integers(0, 10**9),
    chance=st.text(max_size=5),
)
def test_waits_are_bounded_and_repeatable(
    wait_ms: int, most_ms: int, attempt: int, asked_ms: int | None, chance: str
) -> None:
    """Never longer than the manifest allows, never shorter than asked as far as it allows."""
    retry = Retry(wait_ms=wait_ms, wait_most_ms=most_ms)
    wait = wait_us(retry, attempt, asked_ms, chance)
    assert wait == wait_us(retry, attempt, asked_ms, chance)
    assert 0 <= wait <= most_ms * 1_000
    assert wait >= min(asked_ms or 0, most_ms) * 1_000
    assert wait >= min(wait_ms * 1_000 * 2 ** min(attempt - 1, 40), most_ms * 1_000) // 2


def test_waits_double_and_differ() -> None:
    """Trials that failed together do not come back together."""
    retry = Retry(wait_ms=100, wait_most_ms=60_000)
    assert len({wait_us(retry, 1, None, f"q{number}") for number in range(20)}) > 10
    assert 50_000 <= wait_us(retry, 1, None, "q") <= 100_000
    assert 200_000 <= wait_us(retry, 3, None, "q") <= 400_000
