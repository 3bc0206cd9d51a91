"""What commands ask of a ledger: runs by name, trials, derived runs, times."""

from pathlib import Path

import pytest

from ledger_cases import RUN, full_ledger, small_rubric
from projection_cases import Log
from trial_ledger.errors import AmbiguousError, NotFoundError
from trial_projections.reading import ReadModel, sessions_by_slot, size_at_time
from trial_projections.records import SessionRecord


def test_a_run_is_found_by_name_or_by_a_prefix_that_only_it_has(log: Log) -> None:
    """An exact name wins over a longer one; two that begin alike are ambiguous."""
    log.open("fast-011")
    log.open("slow-01")
    with log.model() as model:
        assert model.run("slow").name == "slow-01"
        assert model.run(RUN).name == RUN
        assert [run.name for run in model.runs()] == [RUN, "fast-011", "slow-01"]
        with pytest.raises(AmbiguousError, match="run 'fast' is ambiguous: fast-01, fast-011"):
            model.run("fast")


@pytest.mark.parametrize("name", ["gone", ""])
def test_an_unknown_run_is_told_with_what_there_is(log: Log, name: str) -> None:
    """The hint names the command that lists runs, and some of them."""
    with log.model() as model, pytest.raises(NotFoundError, match=f"no run '{name}'") as caught:
        model.run(name)
    assert caught.value.hint == f"ledger runs; there is {RUN}"


def test_a_log_without_runs_says_so(tmp_path: Path) -> None:
    """There is none yet."""
    log = Log(tmp_path, entry=None)
    with log.model() as model, pytest.raises(NotFoundError) as caught:
        model.run("any")
    assert caught.value.hint == "ledger runs; there is none yet"
    log.ledger.close()


def test_the_time_of_recording_decides_what_was_there(tmp_path: Path) -> None:
    """The prefix before the first event that was recorded later."""
    with full_ledger(tmp_path) as ledger:
        times = [stored.event.recorded_at for stored in ledger.events()]
        assert size_at_time(ledger, "1999-01-01T00:00:00.000000Z") == 0
        assert size_at_time(ledger, "2999-01-01T00:00:00.000000Z") == len(times)
        middle = times[10]
        assert size_at_time(ledger, middle) == sum(time <= middle for time in times)
        model = ReadModel.open(ledger, as_of=1)
        assert (model.size, model.runs()) == (1, [])
        model.close()


def test_sessions_stand_in_the_order_of_their_start(log: Log) -> None:
    """Whatever their names: the first started is the first."""
    for session in ("z", "a", "m"):
        log.trial("q1", session=session)
    log.trial("q2")
    with log.model() as model:
        slots = sessions_by_slot(model.records_of(model.run(RUN), SessionRecord))
    assert [session.session for session in slots["q1", 1]] == ["z", "a", "m"]
    assert [session.session for session in slots["q2", 1]] == ["s1"]


def derived(log: Log, link: int, run: str = "again", **data: object) -> None:
    """Open a derived run under a second rubric, in which partial answers score nothing."""
    second = small_rubric(version="2")
    log.ledger.freeze([second])
    data = {"rubric": "quality@2", "reason": "a stricter rubric", **data}
    log.open(run, derived_from={"run": RUN, "link": link}, **data)


def test_c14_a_derived_run_has_the_trials_of_its_parent_and_its_own_verdicts(log: Log) -> None:
    """Answers come from the parent; the parent's judgments and overrides are not inherited."""
    log.trial("q1")
    log.judge("q1", "judged", "incorrect")
    log.act(
        "judgment.overridden", "q1", judgment="o1", replaces="j1", verdict="partial", reason="half"
    )
    derived(log, 6)
    assert log.score("judged").undecided == {"unjudged": 1}
    log.judge("q1", "judged", "correct")
    assert log.value("judged") == "1 of 10"
    assert log.value("judged", RUN) == "1/2 of 10"
    with log.model() as model:
        run = model.run("again")
        assert [trial.started is not None for trial in model.trials(run)] == [True]
        assert [trial.started for trial in model.own_records("again", SessionRecord)] == [None]


def test_c14_what_comes_after_the_cited_link_does_not_enter(log: Log) -> None:
    """Later trials, retries, ends, overrides and invalidations of the parent change nothing."""
    log.trial("q1")
    log.trial("q2", outcome=None, answer=None)
    derived(log, 5)
    log.judge("q1", "judged", "correct")
    before = log.score("judged")
    assert before.outcomes == {"correct": 1, "unfinished": 1, "not_started": 8}
    log.run = RUN
    log.act("trial.finished", "q2", outcome="answered")
    log.trial("q2", session="s2")
    log.trial("q3")
    log.judge("q1", "judged", "incorrect")
    log.act(
        "judgment.overridden", "q1", judgment="o1", replaces="j1", verdict="partial", reason="half"
    )
    log.act("trial.invalidated", "q1", reason="the wrong page")
    assert log.score("judged", "again") == before
    assert log.score("judged", "again", as_of=log.ledger.store.size()) == before


def test_c12_an_early_invalidation_is_part_of_what_was_derived(log: Log) -> None:
    """A trial that left the parent's denominator before the link is not in the derived one."""
    log.act("trial.started", "q1", input="which?")
    log.act("trial.invalidated", "q1", reason="the page was down")
    derived(log, 3)
    assert log.score("judged").denominator == 9
