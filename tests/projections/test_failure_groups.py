"""Failures by class, fault, endpoint and minute: groups that add up to the list (C26)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_cases import Story
from trial_projections.failure_groups import GROUP_KEYS, FailureGroup, group_failures
from trial_projections.records import Mark, OccurrenceRecord, SessionRecord, TrialRecord


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Three trials: one recovered, one lost by its second failure, one lost by none."""
    made = Story(tmp_path)
    made.start("q1")
    made.fail("12:00:59.999999", "f1", None, class_="timeout", endpoint="search", fault="agent")
    made.tell(None, "failure.recovered", "q1", occurrence="f1", by="retry")
    made.start("q2")
    for second, name in (("12:01:00.000000", "f2"), (None, "f3")):
        made.tell(
            second, "failure.occurred", "q2", occurrence=name, class_="timeout",
            endpoint="search", impact="trial_failed",
        )  # fmt: skip
    made.tell(None, "trial.finished", "q2", outcome="errored")
    made.start("q3")
    made.tell("12:01:30.000000", "failure.occurred", "q3", occurrence="f4", class_="auth")
    made.tell(None, "trial.finished", "q3", outcome="errored")
    return made


def groups(story: Story, *by: str) -> list[FailureGroup]:
    """Return the groups of the run."""
    with story.model() as model:
        trials = model.own_records(story.run, TrialRecord)
        return group_failures(model.occurrences(story.run), trials, by)


def shown(found: list[FailureGroup]) -> list[tuple[object, ...]]:
    """Return key, counts and references of every group."""
    return [
        (
            tuple(group.key.values()), group.count, group.recovered, group.unrecovered,
            group.trials_lost, group.first.occurrence, group.last.occurrence,
        )
        for group in found
    ]  # fmt: skip


def test_c26_failures_by_class(story: Story) -> None:
    """Most first; a lost trial is counted where the failure is that ended it."""
    assert shown(groups(story, "class")) == [
        (("timeout",), 3, 1, 2, 1, "f1", "f3"),
        (("auth",), 1, 0, 1, 0, "f4", "f4"),
    ]


def test_c26_what_is_unknown_is_a_group(story: Story) -> None:
    """Of fault, endpoint and time; none is dropped."""
    assert shown(groups(story, "fault", "endpoint")) == [
        ((None, "search"), 2, 0, 2, 1, "f2", "f3"),
        (("agent", "search"), 1, 1, 0, 0, "f1", "f1"),
        ((None, None), 1, 0, 1, 0, "f4", "f4"),
    ]


def test_c26_minutes_come_in_order_and_an_unknown_one_last(story: Story) -> None:
    """Whatever the counts are."""
    assert [group.key["minute"] for group in groups(story, "class", "minute")] == [
        "2026-10-01T12:00",
        "2026-10-01T12:01",
        "2026-10-01T12:01",
        None,
    ]


def test_c26_references_name_place_and_hash(story: Story) -> None:
    """So that `ledger trace` and `ledger show` find them."""
    for group in groups(story, "endpoint"):
        for reference in (group.first, group.last):
            stored = story.ledger.read(reference.seq)
            assert stored.hash == reference.hash
            assert str(stored.event.trial) == reference.trial


def occurrence_records() -> st.SearchStrategy[list[OccurrenceRecord]]:
    """Return random occurrences in the order of a log."""
    some = st.builds(
        OccurrenceRecord,
        id=st.just("f"),
        trial=st.none(),
        mark=st.just(Mark(1, "")),
        at=st.sampled_from((None, "2026-10-01T12:00:01.000000Z", "2026-10-01T12:01:01.000000Z")),
        class_=st.sampled_from(("timeout", "auth")),
        detail_class=st.none(),
        fault=st.sampled_from((None, "agent", "judge")),
        call=st.none(),
        purpose=st.none(),
        attempt=st.none(),
        endpoint=st.sampled_from((None, "search", "unknown")),
        message=st.none(),
        impact=st.just("unknown"),
        recovered=st.sampled_from((None, Mark(9, ""))),
    )
    return st.lists(some, max_size=12)


@given(found=occurrence_records(), by=st.lists(st.sampled_from(sorted(GROUP_KEYS)), unique=True))
def test_groups_add_up_to_the_list(found: list[OccurrenceRecord], by: list[str]) -> None:
    """Every occurrence is in exactly one group, whatever it is grouped by."""
    made = group_failures(found, list[SessionRecord](), by)
    assert sum(group.count for group in made) == len(found)
    assert sum(group.recovered + group.unrecovered for group in made) == len(found)
    keys = [tuple(group.key.values()) for group in made]
    assert len(set(keys)) == len(keys)
    for group in made:
        members = [
            one for one in found if all(GROUP_KEYS[name](one) == group.key[name] for name in by)
        ]
        assert group.count == len(members)
