"""Tallies: counted once, found again while nothing changes, and never trusted beyond their link."""

from pathlib import Path

import pytest

from ledger_cases import RUN
from projection_cases import Log
from trial_ledger.keyed_file import KeyedFile, projections_path
from trial_projections import reading
from trial_projections.fold import key_of
from trial_projections.reading import ReadModel
from trial_projections.replay import replay
from trial_projections.scores import score_metric
from trial_projections.summary import summarise
from trial_projections.tallies import TALLIES, VERSION


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tallies of small runs too."""
    monkeypatch.setattr(reading, "LEAST_SLOTS", 1)


@pytest.fixture
def judged(log: Log) -> Log:
    """A run with one right answer."""
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    return log


def stored(log: Log, metric: str = "judged") -> bytes | None:
    """Return what is kept of a metric."""
    file = KeyedFile.open(projections_path(log.path))
    try:
        return file.get(TALLIES, key_of(RUN, metric))
    finally:
        file.close()


def kept(log: Log, metric: str = "judged") -> bool:
    """Return whether a tally is there and of the run's last link."""
    with log.model() as model:
        return model.kept_tally(model.run(RUN), metric) is not None


def test_scores_keep_what_they_counted(judged: Log) -> None:
    """The next command finds the tally of every metric, and it is what counting gives."""
    assert not kept(judged)
    judged.summary()
    assert kept(judged, "judged")
    assert kept(judged, "exact")
    with judged.model() as model:
        run = model.run(RUN)
        found = model.tally(run, "judged")
        source = model.score_input(run)
        score_metric(source, "judged")
        assert found == source.tallies["judged"]
        assert found.total() == 10


def test_a_tally_of_another_link_is_not_used(judged: Log) -> None:
    """Whatever is appended to the run that may change a score makes it old."""
    judged.summary()
    judged.trial("q2")
    assert not kept(judged)
    judged.summary()
    assert kept(judged)


def test_what_changes_no_score_leaves_it_as_it_is(judged: Log) -> None:
    """A note, and a run of another name, are no links of this one."""
    judged.summary()
    before = stored(judged)
    judged.act("note.added", about="run", text="looked at")
    judged.open("fast-02")
    judged.summary(RUN)
    assert stored(judged) == before


@pytest.mark.parametrize("damage", [b"\x00", b"\xc1", None], ids=["no map", "no value", "version"])
def test_what_cannot_be_read_is_counted_anew(judged: Log, damage: bytes | None) -> None:
    """Another version's tally, or bytes that are none, stand for nothing."""
    judged.summary()
    value = stored(judged)
    assert value is not None
    if damage is None:
        damage = value.replace(b"\xa7version" + bytes([VERSION]), b"\xa7version\x7f")
        assert damage != value
    file = KeyedFile.open(projections_path(judged.path))
    file.put_many(TALLIES, [(key_of(RUN, "judged"), damage)])
    file.close()
    assert not kept(judged)
    judged.summary()
    assert stored(judged) == value


def test_nobody_waits_for_a_tally(judged: Log) -> None:
    """While another process reads the projections, what was counted is not kept, and no more."""
    with judged.model() as other:
        model = ReadModel.open(judged.ledger)
        summarise(model, model.run(RUN))
        model.close()
        assert other.size == judged.ledger.store.size()
    assert stored(judged) is None
    judged.summary()
    assert kept(judged)


def test_an_earlier_state_keeps_nothing(judged: Log) -> None:
    """What was is not what the next command asks for."""
    judged.score("judged", as_of=judged.ledger.store.size() - 1)
    assert stored(judged) is None


def test_small_runs_are_counted_anew(judged: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting a few trials is faster than writing a tally of them."""
    monkeypatch.setattr(reading, "LEAST_SLOTS", 11)
    judged.summary()
    assert stored(judged) is None


def test_replay_forgets_tallies(judged: Log, tmp_path: Path) -> None:
    """What is made anew from the log is made anew as a whole; what is compared is left alone."""
    judged.summary()
    assert replay(judged.ledger, check=True).matches
    assert kept(judged)
    replay(judged.ledger)
    assert stored(judged) is None
    assert projections_path(judged.path).parent == tmp_path
