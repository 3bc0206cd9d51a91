"""The write transaction: chain, links and tree; derived runs; what looks beyond one run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledger_cases import (
    HARNESS,
    PERSON,
    RUN,
    empty_ledger,
    event_id,
    note,
    opened,
    sample_run,
    small_ledger,
    small_rubric,
    started,
    tools,
    trial,
)
from trial_ledger import known, store, writer
from trial_ledger.book import Ledger
from trial_ledger.building import ACTOR
from trial_ledger.canonical import ZERO_HASH, event_hash
from trial_ledger.errors import (
    NotFoundError,
    RuleError,
    StorageError,
    VerificationError,
)
from trial_ledger.events import RunOpened
from trial_ledger.identifiers import TrialKey
from trial_ledger.merkle import Frontier, leaf_hash
from trial_ledger.submission import NewText, Submission

DERIVED = "fast-01-again"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents and no run."""
    with small_ledger(tmp_path) as made:
        yield made


def act(kind: str, run: str | None = RUN, key: TrialKey | None = None, **data: Any) -> Submission:  # noqa: ANN401 - JSON
    """Return an event by a named person."""
    return Submission(kind=kind, run=run, trial=key, data=data, actor=PERSON)


def derived(**fields: object) -> Submission:
    """Return the opening of a run that judges the sample run again."""
    values: dict[str, object] = {
        "rubric": "quality@2",
        "derived_from": {"run": RUN, "link": 2},
        "reason": "a stricter rubric",
    }
    return opened(DERIVED, **{**values, **fields})


# Chain, links, tree


def test_every_event_follows_the_one_before_it(ledger: Ledger) -> None:
    """Places have no gap, prev is the hash before, and all belong to one ledger."""
    sample_run(ledger)
    previous = ZERO_HASH
    for place, stored in enumerate(ledger.events(), 1):
        assert (stored.event.seq, stored.event.prev) == (place, previous)
        assert stored.event.ledger == ledger.id
        previous = event_hash(stored.document)


def test_the_links_of_each_run_are_chained_apart(ledger: Ledger) -> None:
    """Two runs interleaved have their links 1 to n each, without gaps."""
    ledger.append_many([opened("one"), opened("two")])
    for question in ("q1", "q2", "q3"):
        for run in ("one", "two"):
            ledger.append(started(run, trial(question)))
            ledger.append(act("note.added", run, about="x", text="between"))
    for run in ("one", "two"):
        number, previous = 0, ZERO_HASH
        for stored in ledger.events(run=run):
            link = stored.event.link
            if link is not None:
                assert (link.n, link.prev) == (number + 1, previous)
                number, previous = link.n, stored.hash
        assert number == 4
        assert ledger.store.seq_of_link(run, 4) is not None
        assert ledger.store.seq_of_link(run, 5) is None
        assert ledger.store.last_link(run) is not None
    assert ledger.store.last_link("three") is None


def test_the_head_is_the_root_over_all_documents(ledger: Ledger) -> None:
    """The tree is that of the stored documents, in the order of the log."""
    sample_run(ledger)
    frontier = Frontier(0, [])
    for stored in ledger.events():
        frontier.append(leaf_hash(stored.document))
    assert ledger.head().root == frontier.root().hex()
    assert ledger.head().size == frontier.size


def test_a_tree_node_that_is_missing_is_damage(ledger: Ledger) -> None:
    """A node that was never finished is not there; asking for it is no crash."""
    assert len(ledger.store.node(0, 0)) == 32
    assert len(ledger.store.node(2, 0)) == 32
    for level, position in ((0, 99), (3, 0), (1, 7)):
        with pytest.raises(VerificationError, match=f"tree node {level}/{position} is missing"):
            ledger.store.node(level, position)


@pytest.mark.parametrize("trials", [0, 1, 400], ids="forget {}".format)
@pytest.mark.parametrize(("events", "size"), [(1, 10**9), (3, 10**9), (256, 1), (256, 500)])
def test_collected_rows_are_written_in_parts(
    tmp_path: Path, events: int, size: int, trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often rows are written and trials read again, the log is the same."""
    (tmp_path / "whole").mkdir()
    with small_ledger(tmp_path / "whole") as ledger:
        sample_run(ledger)
        whole = ledger.head()
    monkeypatch.setattr(writer, "FLUSH_EVENTS", events)
    monkeypatch.setattr(writer, "FLUSH_BYTES", size)
    monkeypatch.setattr(known, "MAX_TRIALS", trials)
    with small_ledger(tmp_path) as ledger:
        sample_run(ledger)
        assert ledger.head() == whole
        assert ledger.verify().is_intact


def test_trials_are_forgotten_when_there_are_many(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States are dropped between transactions and loaded again when they are touched."""
    monkeypatch.setattr(known, "MAX_TRIALS", 2)
    ledger.append(opened())
    for question in ("q1", "q2", "q3"):
        ledger.append(started(RUN, trial(question)))
    assert ledger.writer.known.trials == {}
    with pytest.raises(RuleError, match="exists"):
        ledger.append(started(RUN, trial("q1")))


# Names of runs, trials, and what has to be there


def test_an_event_of_a_run_that_was_never_opened(ledger: Ledger) -> None:
    """The missing opening is named, with how to make one."""
    with pytest.raises(NotFoundError, match="run nowhere was never opened") as caught:
        ledger.append(started("nowhere", trial("q1")))
    assert "run.opened" in (caught.value.hint or "")


def test_c16_a_trial_of_another_configuration(ledger: Ledger) -> None:
    """A run has the trials of its own configuration only."""
    ledger.append(opened())
    key = TrialKey(question="q1", configuration="other", repetition=1)
    with pytest.raises(RuleError, match="is of configuration other") as caught:
        ledger.append(started(RUN, key))
    assert (caught.value.clause, caught.value.field) == ("C16", "trial.configuration")


def test_there_is_one_first_event(ledger: Ledger) -> None:
    """A second ledger.opened is refused."""
    first = ledger.read(1).event.data
    data = msgspec.to_builtins(first)
    with pytest.raises(RuleError, match="there is one"):
        ledger.append(Submission(kind="ledger.opened", data=data, actor=ACTOR))


def test_c12_other_runs_that_are_named_must_exist(ledger: Ledger) -> None:
    """Superseding, relating and replacing point at runs that were opened."""
    ledger.append(opened())
    for wrong in (
        opened("second", supersedes="nowhere", reason="better"),
        Submission(kind="run.related", run=RUN, data={"run": "nowhere", "how": "x"}),
        act("run.invalidated", reason="wrong", superseded_by="nowhere"),
    ):
        with pytest.raises(RuleError, match="run nowhere was never opened") as caught:
            ledger.append(wrong)
        assert caught.value.clause == "C12"
    ledger.append(opened("second", supersedes=RUN, reason="better"))
    ledger.append(act("run.invalidated", reason="wrong", superseded_by="second"))
    ledger.append(Submission(kind="run.related", run=RUN, data={"run": "second", "how": "x"}))


def test_a_run_is_complete_when_everything_ended(ledger: Ledger) -> None:
    """Closing as complete is refused while a trial or a call is open, and says which."""
    key = trial("q1")
    call = {"call": "c1", "purpose": "model", "endpoint": "model"}
    close = Submission(kind="run.closed", run=RUN, data={"status": "complete"}, actor=HARNESS)
    ledger.append_many(
        [
            opened(),
            started(RUN, key),
            Submission(kind="call.started", run=RUN, trial=key, data=call),
        ]
    )
    with pytest.raises(RuleError, match="run fast-01 is not complete: 2 open, as trial q1#1@s1"):
        ledger.append(close)
    done = {"call": "c1", "status": "ok"}
    ledger.append(Submission(kind="call.finished", run=RUN, trial=key, data=done))
    with pytest.raises(RuleError, match="1 open, as trial") as caught:
        ledger.append(close)
    assert caught.value.field == "data.status"
    end = Submission(kind="trial.finished", run=RUN, trial=key, data={"outcome": "errored"})
    assert len(ledger.append_many([end, close])) == 2
    judge = {"call": "j1", "purpose": "judge", "endpoint": "judge"}
    ledger.append(Submission(kind="call.started", run=RUN, trial=key, data=judge))
    found = ledger.verify()
    assert found.is_intact
    assert found.open_trials == ["call j1 of trial q1#1@s1 of run fast-01"]


def test_a_judge_call_counts_as_well_when_a_run_is_called_complete(ledger: Ledger) -> None:
    """A call that is open after its trial ended keeps the run from being complete."""
    key = trial("q1")
    judge = {"call": "j1", "purpose": "judge", "endpoint": "judge"}
    ledger.append_many(
        [
            opened(),
            started(RUN, key),
            Submission(kind="trial.finished", run=RUN, trial=key, data={"outcome": "errored"}),
            Submission(kind="call.started", run=RUN, trial=key, data=judge),
        ]
    )
    with pytest.raises(RuleError, match="1 open, as call j1 of trial q1#1@s1"):
        ledger.append(Submission(kind="run.closed", run=RUN, data={"status": "complete"}))


def test_what_is_open_in_one_run_is_nothing_to_another(ledger: Ledger) -> None:
    """A run may be called complete while a trial of another run is open."""
    ledger.append_many(
        [
            opened("one"),
            opened("two"),
            started("one", trial("q1")),
            Submission(kind="run.closed", run="two", data={"status": "complete"}),
        ]
    )
    found = ledger.verify()
    assert (found.is_intact, found.open_trials) == (True, ["trial q1#1@s1 of run one"])


def test_another_writer_knows_how_a_run_stands(ledger: Ledger, tmp_path: Path) -> None:
    """Closed and invalidated runs are so for whoever opens the file next."""
    ledger.append_many(
        [
            opened(),
            Submission(kind="run.closed", run=RUN, data={"status": "failed", "reason": "no key"}),
            act("run.invalidated", reason="wrong"),
        ]
    )
    with Ledger.open(ledger.store.path, write=True, tools=tools(tmp_path, seed=8)) as other:
        with pytest.raises(RuleError, match="run fast-01 is closed"):
            other.append(started(RUN, trial("q1")))
        with pytest.raises(RuleError, match="already invalidated"):
            other.append(act("run.invalidated", reason="wrong"))
        other.append(act("run.reinstated", reason="right"))


def test_a_closed_run_can_be_resumed_and_closed_again(ledger: Ledger) -> None:
    """Only what is open when a run is called complete counts against it."""
    ledger.append_many(
        [
            opened(),
            Submission(kind="run.closed", run=RUN, data={"status": "interrupted", "reason": "^C"}),
            Submission(kind="run.resumed", run=RUN),
            started(RUN, trial("q1")),
        ]
    )
    found = ledger.verify()
    assert (found.is_intact, found.open_trials) == (True, ["trial q1#1@s1 of run fast-01"])


# Derived runs


def test_a_derived_run_judges_the_trials_of_its_parent(ledger: Ledger, tmp_path: Path) -> None:
    """Judgments under another rubric use the parent's trials up to the cited link."""
    sample_run(ledger)
    ledger.freeze([small_rubric(version="2")])
    late = next(stored.event for stored in ledger.events() if stored.event.trial == trial("q10"))
    assert late.link is not None
    child = derived(derived_from={"run": RUN, "link": late.link.n - 1})
    verdict = Submission(
        kind="judgment.recorded", run=DERIVED, trial=trial("q3"),
        data={"judgment": "again", "metric": "exact", "by": "code", "score": "0",
              "grader": {"name": "g", "version": "2"}, "parts": [{"name": "equal"}]},
    )  # fmt: skip
    ledger.append_many([child, verdict])
    loaded = ledger.read(ledger.head().size - 1).event.data
    assert isinstance(loaded, RunOpened)
    assert loaded.rubric == "quality@2"
    with Ledger.open(ledger.store.path, write=True, tools=tools(tmp_path, seed=8)) as other:
        with pytest.raises(RuleError, match="judgment again exists"):
            other.append(verdict)
        with pytest.raises(RuleError, match="never started"):
            other.append(msgspec.structs.replace(verdict, trial=trial("q10")))
    assert ledger.verify().is_intact


def test_a_derived_run_may_be_opened_with_its_parent_in_one_input(ledger: Ledger) -> None:
    """What the parent collected is written before its links are looked up."""
    ledger.freeze([small_rubric(version="2")])
    assert len(ledger.append_many([opened(), started(RUN, trial("q1")), derived()])) == 3


# Rolling back


def test_a_rollback_that_fails_still_frees_the_lock(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error upon an error lets the next writer in all the same."""

    def fail() -> None:
        message = "gone"
        raise StorageError(message)

    gold = ledger.gold
    assert gold is not None
    with monkeypatch.context() as patch:
        patch.setattr(gold, "rollback", fail)
        patch.setattr(ledger.store, "commit", fail)
        with pytest.raises(StorageError, match="gone"):
            ledger.append(note("x"))
    with Ledger.open(ledger.store.path, write=True, tools=tools(tmp_path, seed=8)) as other:
        assert other.append(note("y")).seq == 5
    assert ledger.append(note("z")).seq == 6


def test_a_file_that_cannot_be_read_at_the_start_frees_the_lock(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the end of the log cannot be read, nothing is begun."""

    def fail(_: object) -> int:
        message = "gone"
        raise StorageError(message)

    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "size", fail)
        with pytest.raises(StorageError, match="gone"):
            ledger.append(note("x"))
    with monkeypatch.context() as patch:
        patch.setattr(known.Known, "reload", fail)
        ledger.writer.size = -1
        with pytest.raises(StorageError, match="gone"):
            ledger.append(note("x"))
    assert ledger.append(note("x")).seq == 5


def test_a_text_of_a_gold_class_goes_to_the_gold_file(tmp_path: Path) -> None:
    """Gold is written and committed before the event that names it (C2)."""
    with empty_ledger(tmp_path) as ledger:
        assert ledger.gold is not None
        text = NewText(content=b"Samarkand", class_="gold")
        item = Submission(kind="note.added", data={"about": "x", "text": text}, id=event_id("g"))
        assert ledger.append(item).status == "appended"
        assert ledger.append(item).status == "exists"
        assert ledger.gold.blobs.totals().blobs == 1
        assert ledger.store.blobs.totals().blobs == 0
        assert b"Samarkand" not in ledger.store.path.read_bytes()


def test_one_transaction_remembers_few_trials(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An input of any length is read in bounded memory, though nothing of it is committed yet."""
    monkeypatch.setattr(known, "MAX_TRIALS", 3)
    monkeypatch.setattr(writer, "FLUSH_EVENTS", 2)
    most = 0

    def watched() -> Iterator[Submission]:
        nonlocal most
        yield opened()
        for place in range(30):
            yield started(RUN, trial(f"q{place % 10 + 1}", session=f"s{place}"))
            most = max(most, len(ledger.writer.known.trials))

    ledger.append_many(watched())
    assert 0 < most <= 5
    assert ledger.verify().is_intact
