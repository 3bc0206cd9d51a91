"""Replay: incremental and from scratch are the same bytes; whatever else is stored is rebuilt."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_cases import RUN, full_ledger, small_ledger, tools
from policy_cases import (
    CONFIGURATIONS,
    METRICS,
    QUESTIONS,
    REPETITIONS,
    RUBRICS,
    policy_ledger,
)
from projection_cases import Log
from run_cases import Session, Writer, runs
from trial_ledger.book import Ledger
from trial_ledger.errors import VerificationError
from trial_ledger.keyed_file import KeyedFile, projections_path
from trial_ledger.sqlite import sqlite3
from trial_projections import fold, replay
from trial_projections.fold import state_digest
from trial_projections.reading import ReadModel
from trial_projections.replay import PROJECTIONS, bring_up_to_date

NAMES = [projection.name for projection in PROJECTIONS]
RUN_NUMBERS = itertools.count()
ROOT_USER = 0


def stored_digest(ledger: Ledger) -> str:
    """Return the digest of the states after they were brought up to date."""
    states = bring_up_to_date(ledger)
    digest = state_digest(states.file, states.by_name)
    states.close()
    return digest


def fresh_digest(ledger: Ledger) -> str:
    """Return the digest of a fold of the whole log that stores nothing."""
    return replay.digest_at(ledger, ledger.store.size())


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Ledger]:
    """The sample run and what people did about it."""
    with full_ledger(tmp_path) as ledger:
        yield ledger


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger to which every example appends a run of its own."""
    with policy_ledger(tmp_path_factory.mktemp("shared")) as ledger:
        yield ledger


CONFIGURATION = "odd-first-unless-retryable-all"
RunPlan = dict[tuple[str, int], list[Session]]
PLANS = runs(QUESTIONS["all"], REPETITIONS, tuple(METRICS))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=PLANS, cuts=st.lists(st.integers(1, 30), max_size=4), records=st.integers(1, 40))
def test_c33_incremental_states_are_those_of_a_fold_in_one_go(
    shared: Ledger, plan: RunPlan, cuts: list[int], records: int
) -> None:
    """Wherever the log was cut, and however little memory there was: bit by bit the same."""
    name = f"run-{next(RUN_NUMBERS)}"
    metrics = RUBRICS[CONFIGURATIONS[CONFIGURATION][0]]["metrics"]
    events = list(Writer(name, CONFIGURATION, metrics).events(plan))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "CACHE_RECORDS", records)
        for size in cuts:
            chunk, events = events[:size], events[size:]
            shared.append_many(chunk)
            stored_digest(shared)
        shared.append_many(events)
        incremental = stored_digest(shared)
    assert incremental == fresh_digest(shared)


@pytest.mark.parametrize("planted", [False, True])
def test_c33_a_fault_that_only_resuming_shows_is_found(
    log: Log, monkeypatch: pytest.MonkeyPatch, planted: bool
) -> None:
    """The comparison has teeth: a record changed in memory alone makes the bytes differ."""
    if planted:
        monkeypatch.setattr(
            fold.State, "get", lambda state, key: state.cache.get(key) or state.read(key)
        )
    log.act("trial.started", "q1", input="which?")
    log.act("call.started", "q1", call="c1", purpose="model", endpoint="model")
    stored_digest(log.ledger)
    log.act("call.finished", "q1", call="c1", status="ok")
    assert (stored_digest(log.ledger) != fresh_digest(log.ledger)) is planted


def test_c33_deleted_and_rebuilt_projections_are_the_same_bytes(full: Ledger) -> None:
    """`replay` gives the digest that reading gave, whether or not anything was stored."""
    path = projections_path(full.store.path)
    before = stored_digest(full)
    path.unlink()
    rebuilt = replay.replay(full)
    assert (rebuilt.digest, rebuilt.stored_size, rebuilt.matches) == (before, None, None)
    assert rebuilt.root == full.head().root
    assert rebuilt.projections == {"runs": 3, "trials": 4, "failures": 1, "costs": 2}
    again = replay.replay(full)
    assert (again.digest, again.stored_digest) == (before, before)
    assert again.stored_size == full.store.size()


def test_c33_a_check_writes_nothing_and_compares(full: Ledger) -> None:
    """Nothing stored is nothing to compare with; what is stored is compared at its own size."""
    path = projections_path(full.store.path)
    unstored = replay.replay(full, check=True)
    assert (unstored.matches, path.exists()) == (None, False)
    stored_digest(full)
    written = path.read_bytes()
    assert replay.replay(full, check=True).matches is True
    assert path.read_bytes() == written


def test_c33_a_check_compares_states_that_are_behind(log: Log) -> None:
    """Older states are right as of their size; they are not behind for having been there first."""
    stored_digest(log.ledger)
    size = log.ledger.store.size()
    log.trial("q1")
    checked = replay.replay(log.ledger, check=True)
    assert (checked.stored_size, checked.matches) == (size, True)
    assert checked.size == size + 3
    tamper(log.ledger, "UPDATE state SET value = zeroblob(3) WHERE projection = 'runs'")
    assert replay.replay(log.ledger, check=True).matches is False


def test_replay_up_to_a_seq_stores_nothing(full: Ledger) -> None:
    """It says how the states were then, and leaves the file alone."""
    path = projections_path(full.store.path)
    part = replay.replay(full, upto=20)
    assert (part.size, path.exists()) == (20, False)
    assert part.digest == replay.digest_at(full, 20)
    assert replay.replay(full, upto=10**9).size == full.store.size()


def tamper(ledger: Ledger, statement: str, *values: str) -> None:
    """Change the projections file behind its back."""
    connection = sqlite3.connect(projections_path(ledger.store.path))
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def test_c33_a_tampered_row_is_found(full: Ledger) -> None:
    """The check differs, whatever row was changed; a replay puts it right."""
    expected = stored_digest(full)
    for projection in NAMES:
        tamper(full, "UPDATE state SET value = zeroblob(9) WHERE projection = ?", projection)
        assert replay.replay(full, check=True).matches is False
        assert replay.replay(full).digest == expected
        assert replay.replay(full, check=True).matches is True


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tag SET ledger = 'another'",
        "UPDATE tag SET root = 'another'",
        "UPDATE tag SET version = version - 1 WHERE projection = 'trials'",
        "UPDATE tag SET size = size - 1 WHERE projection = 'trials'",
        "UPDATE tag SET size = size + 1",
        "UPDATE tag SET size = 0",
        "DELETE FROM tag WHERE projection = 'costs'",
        "DELETE FROM tag",
        "INSERT INTO tag VALUES ('gone', 1, 'x', 1, 'x')",
    ],
)
def test_states_of_anything_else_are_rebuilt(full: Ledger, statement: str) -> None:
    """Of another ledger, another past, another version, several sizes, more than there is."""
    expected = stored_digest(full)
    tamper(full, "INSERT INTO state VALUES ('trials', 'planted', x'80')")
    tamper(full, "INSERT INTO state VALUES ('gone', 'planted', x'80')")
    tamper(full, statement)
    assert replay.replay(full, check=True).stored_size is None
    assert stored_digest(full) == expected


def test_states_of_another_ledger_are_rebuilt(tmp_path: Path) -> None:
    """A projections file that was copied beside another ledger is not believed."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    with (
        full_ledger(folders[0]) as one,
        small_ledger(folders[1], world=tools(folders[1], seed=8)) as two,
    ):
        stored_digest(one)
        shutil.copy(projections_path(one.store.path), projections_path(two.store.path))
        assert stored_digest(two) == fresh_digest(two)


def test_nothing_is_folded_where_nothing_is_new(
    full: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States at the size of the log are used as they are."""
    stored_digest(full)
    monkeypatch.setattr(replay, "fold_into", pytest.fail)
    stored_digest(full)


def test_a_fold_that_fails_leaves_the_old_states(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """States and tags are saved together or not at all, and the file is closed."""
    before = stored_digest(log.ledger)
    log.trial("q1")

    def break_off(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(replay, "root_at", break_off)
        with pytest.raises(KeyboardInterrupt):
            bring_up_to_date(log.ledger)
        with pytest.raises(KeyboardInterrupt):
            replay.replay(log.ledger)
    file = KeyedFile.open(projections_path(log.ledger.store.path))
    assert state_digest(file, NAMES) == before
    file.close()


def test_replay_stops_at_an_event_that_is_not_what_was_written(full: Ledger) -> None:
    """What is folded is verified first, and nothing is stored of a log that is not."""
    path = full.store.path
    full.close()
    connection = sqlite3.connect(path)
    triggers = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall()
    for (name,) in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE event SET doc = replace(doc, 'clean', 'leak') WHERE seq = 6")
    connection.commit()
    connection.close()
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        with pytest.raises(VerificationError):
            replay.replay(ledger)
        assert stored_tags(path) == {}


def test_a_damaged_tree_is_no_root_to_compare_with(full: Ledger) -> None:
    """States cannot be told to be those of a log whose tree is damaged; replay says where."""
    path = full.store.path
    stored_digest(full)
    full.close()
    connection = sqlite3.connect(path)
    triggers = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
    ).fetchall()
    for (name,) in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE event SET nodes = zeroblob(0)")
    connection.commit()
    connection.close()
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        for use in (bring_up_to_date, replay.replay):
            with pytest.raises(VerificationError, match="tree node"):
                use(ledger)


def stored_tags(path: Path) -> dict[str, object]:
    """Return what the stored states of a ledger were folded from."""
    file = KeyedFile.open(projections_path(path))
    try:
        return dict(file.tags())
    finally:
        file.close()


def test_c33_as_of_before_an_override_gives_the_earlier_number(log: Log) -> None:
    """The prefix of the log is all that counts, whatever is stored."""
    log.trial("q1")
    log.judge("q1", "judged", "incorrect")
    before = log.ledger.store.size()
    log.act(
        "judgment.overridden", "q1", judgment="o1", replaces="j1", verdict="correct", reason="it is"
    )
    assert log.value("judged") == "1 of 10"
    earlier = log.score("judged", as_of=before).headline
    assert earlier is not None
    assert (earlier.low.sum, earlier.low.count) == ("0", 10)
    assert log.value("judged") == "1 of 10"
    with log.model(as_of=10**9) as model:
        assert model.size == log.ledger.store.size()


def test_reading_twice_gives_the_same_model(full: Ledger) -> None:
    """The second reading resumes from the file and says the same."""
    sizes = []
    for _ in range(2):
        model = ReadModel.open(full)
        sizes.append((model.size, model.run(RUN)))
        model.close()
    assert sizes[0] == sizes[1]
