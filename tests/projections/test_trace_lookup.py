"""What a name means to `trace`: one occurrence, trial or call, or a refusal with every address."""

from pathlib import Path

import pytest

from ledger_cases import RUN
from trace_cases import Story
from trial_ledger.errors import AmbiguousError, NotFoundError
from trial_projections.trace_lookup import Target, find_target

OCCURRENCE, CALL = "failure.occurred", "call.started"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Two runs; ids that are unique, that repeat in a trial, in a run and in the ledger."""
    made = Story(tmp_path)
    for question, occurrence in (("q1", "f-2c91"), ("q2", "f-77")):
        made.start(question)
        made.tell(None, CALL, question, call="c1", purpose="search", endpoint="search")
        made.tell(None, OCCURRENCE, question, occurrence=occurrence, class_="timeout", call="c1")
    made.tell(None, OCCURRENCE, None, occurrence="outage", class_="connect")
    made.open("other")
    made.start("q1")
    made.start("q2")
    made.tell(None, "trial.started", "q2", session="s2", input="which?")
    made.tell(None, OCCURRENCE, "q2", occurrence="deep/er/f", class_="timeout")
    made.tell(None, CALL, "q2", call="f-77", purpose="tool")
    return made


def found(story: Story, name: str, run: str | None = None) -> Target:
    """Return what a name means."""
    with story.model() as model:
        return find_target(model, name, run=run)


@pytest.mark.parametrize(
    ("name", "address", "subject"),
    [
        ("f-2c91", f"{RUN}/q1#1@s1/f-2c91", "occurrence"),
        ("f-2", f"{RUN}/q1#1@s1/f-2c91", "occurrence"),
        ("out", f"{RUN}/outage", "occurrence"),
        (f"{RUN}/outage", f"{RUN}/outage", "occurrence"),
        ("deep/er/f", "other/q2#1@s1/deep/er/f", "occurrence"),
        ("other/deep", "other/q2#1@s1/deep/er/f", "occurrence"),
        (f"{RUN}/q1#1@s1/c1", f"{RUN}/q1#1@s1/c1", "call"),
        (f"{RUN}/q1#1/c1", f"{RUN}/q1#1@s1/c1", "call"),
        (f"{RUN}/q1#1/c", f"{RUN}/q1#1@s1/c1", "call"),
        ("q1#1/c1", f"{RUN}/q1#1@s1/c1", "call"),
        (f"{RUN}/q2#1/f-77", f"{RUN}/q2#1@s1/f-77", "occurrence"),
        ("other/f-77", "other/q2#1@s1/f-77", "call"),
        ("fast/q1#1", f"{RUN}/q1#1@s1", "trial"),
        ("other/q2#1@s2", "other/q2#1@s2", "trial"),
        ("q2#1@s2", "other/q2#1@s2", "trial"),
    ],
)
def test_a_name_that_means_one_thing(story: Story, name: str, address: str, subject: str) -> None:
    """Ids, beginnings of ids, addresses with or without run and session; the address comes back."""
    target = found(story, name)
    assert (target.address, target.subject) == (address, subject)
    assert found(story, target.address) == target


@pytest.mark.parametrize(
    ("name", "run", "candidates"),
    [
        ("c1", None, f"{RUN}/q1#1@s1/c1, {RUN}/q2#1@s1/c1"),
        ("f-", None, f"{RUN}/q1#1@s1/f-2c91, {RUN}/q2#1@s1/f-77, other/q2#1@s1/f-77"),
        ("f-77", None, f"{RUN}/q2#1@s1/f-77, other/q2#1@s1/f-77"),
        ("q1#1", None, f"{RUN}/q1#1@s1, other/q1#1@s1"),
        ("q2#1", "other", "other/q2#1@s1, other/q2#1@s2"),
    ],
)
def test_a_name_that_means_several_lists_their_addresses(
    story: Story, name: str, run: str | None, candidates: str
) -> None:
    """Each of which means one thing."""
    with pytest.raises(AmbiguousError) as caught:
        found(story, name, run)
    assert caught.value.message == f"name {name!r} is ambiguous: {candidates}"
    assert "RUN/TRIAL/ID" in str(caught.value.hint)
    for address in candidates.split(", "):
        assert found(story, address).address == address


def test_a_run_that_is_named_is_the_only_one_looked_at(story: Story) -> None:
    """By `--run`; its own addresses are understood there too."""
    assert found(story, "f-77", "other").subject == "call"
    assert found(story, "q1#1", "oth").address == "other/q1#1@s1"
    assert found(story, "other/q1#1", "other").address == "other/q1#1@s1"
    for name in ("f-2c91", f"{RUN}/q1#1"):
        with pytest.raises(NotFoundError):
            found(story, name, "other")


def test_an_event_stands_for_what_it_is_of(story: Story) -> None:
    """By seq, by hash, by id or the beginning of either: its occurrence, call or trial."""
    story.tell(None, "failure.recovered", "q2", occurrence="deep/er/f", by="repair")
    story.tell(None, "call.finished", "q2", call="f-77", status="ok")
    story.tell(None, "trial.finished", "q2", outcome="answered")
    story.tell(None, "query.inspected", "q2", verdict="adequate", reason="they name it")
    for stored in list(story.ledger.events(run="other"))[1:]:
        data, seq = stored.event.data, stored.event.seq
        target = found(story, str(seq))
        named = getattr(data, "occurrence", None) or getattr(data, "call", None)
        assert (target.run, target.trial) == ("other", str(stored.event.trial))
        assert target.id == named
        for name in (stored.hash, stored.hash[:20], stored.event.id, stored.event.id[:20]):
            assert found(story, name) == target


def test_a_failed_judgment_stands_for_its_failure(story: Story) -> None:
    """And one that its source lost stands for the trial."""
    story.tell(None, "call.finished", "q2", call="f-77", status="ok")
    story.tell(None, "trial.finished", "q2", outcome="answered")
    story.tell(None, OCCURRENCE, "q2", occurrence="g1", class_="judge_error", fault="judge")
    given = {"metric": "judged", "reason": "judge_failed", "occurrence": "g1"}
    seq = story.tell(None, "judgment.failed", "q2", judgment="j1", **given)
    assert found(story, str(seq)).id == "g1"
    given = {"metric": "exact", "reason": "lost_in_source"}
    seq = story.tell(None, "judgment.failed", "q2", judgment="j2", **given)
    assert found(story, str(seq)).subject == "trial"


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("nope", "nothing called 'nope' can be traced", "ledger failures RUN"),
        ("", "nothing called '' can be traced", "ledger failures RUN"),
        ("/", "nothing called '/' can be traced", "ledger failures RUN"),
        ("other/", "nothing called 'other/' can be traced", "ledger failures RUN"),
        ("q9#1", "nothing called 'q9#1' can be traced", "ledger trials RUN"),
        ("q1#0", "nothing called 'q1#0' can be traced", "ledger trials RUN"),
        ("q1#1@s9", "nothing called 'q1#1@s9' can be traced", "ledger trials RUN"),
        (f"{RUN}/q1#1/gone", "can be traced", "ledger failures RUN"),
        ("0", "no event 0: the log is seen up to seq ", "ledger log"),
        ("9999", "no event 9999: the log is seen up to seq ", "ledger log"),
        ("1", "event 1 (ledger.opened) is of no trial and no failure", "ledger show 1"),
        ("5", "event 5 (run.opened) is of no trial and no failure", "ledger show 5"),
        ("feedfeed", "nothing called 'feedfeed' can be traced", "ledger failures RUN"),
    ],
)
def test_a_name_that_means_nothing(story: Story, name: str, message: str, hint: str) -> None:
    """One clause with the name, and where to look."""
    with pytest.raises(NotFoundError) as caught:
        found(story, name)
    assert message in caught.value.message
    assert hint in str(caught.value.hint)


def test_the_hash_of_what_cannot_be_traced_means_nothing(story: Story) -> None:
    """As that of a document, of the opening of a run, or of an event of a run not looked at."""
    for stored in list(story.ledger.events())[:6]:
        if stored.event.trial is None:
            with pytest.raises(NotFoundError, match="nothing called"):
                found(story, stored.hash)
    first = next(stored for stored in story.ledger.events() if stored.event.trial is not None)
    for name in (first.hash, str(first.event.seq)):
        with pytest.raises(NotFoundError):
            found(story, name, "other")


def test_a_derived_run_has_the_trials_of_its_parent(story: Story) -> None:
    """Named in it, they are seen in its numbers; named alone, they are the parent's."""
    story.open("again", derived_from={"run": RUN, "link": 5}, reason="another rubric")
    target = found(story, "again/q1#1/f-2c91")
    assert (target.run, target.source, target.id) == ("again", RUN, "f-2c91")
    assert found(story, "f-2c91", "again") == target
    assert found(story, "f-2c91").run == RUN
    seq = next(
        stored.event.seq
        for stored in story.ledger.events(run=RUN)
        if stored.event.kind == OCCURRENCE
    )
    assert found(story, str(seq), "again") == target
