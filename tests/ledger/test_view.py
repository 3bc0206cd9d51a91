"""Reading: events by place and run, texts by reference, the end of the log; the world outside."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from attack_cases import tampering
from ledger_cases import RUN, copied, full_ledger, tools, trial
from trial_ledger import store
from trial_ledger.book import Ledger
from trial_ledger.errors import NotFoundError, StorageError, VerificationError
from trial_ledger.events import (
    AnswerSubmitted,
    DatasetRegistered,
    JudgmentRecorded,
    ManifestFrozen,
    TrialStarted,
)
from trial_ledger.forms import fits
from trial_ledger.goldfile import gold_path
from trial_ledger.loading import read_plain
from trial_ledger.merkle import EMPTY_ROOT
from trial_ledger.store import Store
from trial_ledger.tools import now_text, system_tools


@pytest.fixture
def ledger(honest: Path) -> Iterator[Ledger]:
    """Return the honest ledger, open for reading."""
    with Ledger.open(honest, tools=tools(honest.parent, pins=False)) as opened:
        yield opened


@pytest.mark.parametrize("chunk", [1, 7, 128, 500])
def test_events_come_in_order_whatever_the_chunk(
    ledger: Ledger, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading in short transactions gives the same as reading at once."""
    monkeypatch.setattr(store, "READ_CHUNK", chunk)
    assert [stored.event.seq for stored in ledger.events()] == list(range(1, 129))
    assert [stored.event.seq for stored in ledger.events(after=120)] == list(range(121, 129))
    assert [stored.event.seq for stored in ledger.events(after=3, upto=5)] == [4, 5]
    assert [stored.event.seq for stored in ledger.events(upto=0)] == []


def test_the_events_of_a_run_come_in_order(ledger: Ledger) -> None:
    """Only the run's own events, from any place on; an unknown run has none."""
    whole = [stored.event.seq for stored in ledger.events(run=RUN)]
    assert whole == [stored.event.seq for stored in ledger.events() if stored.event.run == RUN]
    assert [stored.event.seq for stored in ledger.events(run=RUN, after=100, upto=110)] == [
        seq for seq in whole if 100 < seq <= 110
    ]
    assert list(ledger.events(run="nowhere")) == []


def test_one_event_by_its_place(ledger: Ledger) -> None:
    """A place beyond the log is exit 6 and says how long the log is."""
    assert ledger.read(5).event.kind == "run.opened"
    for seq in (0, -1, 129):
        with pytest.raises(NotFoundError, match=f"no event {seq}: the log has 128"):
            ledger.read(seq)


def test_texts_are_read_from_their_file(ledger: Ledger) -> None:
    """Inputs and answers lie in the ledger, reasoning in the gold file."""
    texts = {}
    for stored in ledger.events(run=RUN):
        data = stored.event.data
        if isinstance(data, AnswerSubmitted) and stored.event.trial == trial("q9"):
            assert data.answer is not None
            texts["answer"] = ledger.blob(data.answer)
        if isinstance(data, TrialStarted) and stored.event.trial == trial("q9"):
            assert data.input is not None
            texts["input"] = ledger.blob(data.input)
        if isinstance(data, JudgmentRecorded) and data.reasoning is not None:
            texts["reasoning"] = ledger.blob(data.reasoning)
    assert texts == {
        "answer": b"Babylon",
        "input": b"Which town is meant by riddle q9?",
        "reasoning": b"compared with gold",
    }


def test_c02_gold_is_not_there_without_its_file(honest: Path, tmp_path: Path) -> None:
    """Without the gold file a gold text cannot be read, and the hint says what to do."""
    alone = copied(honest, tmp_path / "alone")
    gold_path(alone).unlink()
    with Ledger.open(alone, tools=tools(tmp_path, pins=False)) as ledger:
        judged = next(
            stored.event.data
            for stored in ledger.events()
            if isinstance(stored.event.data, JudgmentRecorded) and stored.event.data.reasoning
        )
        assert judged.reasoning is not None
        with pytest.raises(NotFoundError, match="is gold, and the gold file is not here") as found:
            ledger.blob(judged.reasoning)
    assert found.value.hint == "put the .gold file beside the ledger"


def test_documents_are_known_by_name(ledger: Ledger) -> None:
    """The registry has the frozen documents, decoded from their stored bytes."""
    registry = ledger.registry()
    assert list(registry.datasets) == ["example@1"]
    assert list(registry.rubrics) == ["quality@1"]
    assert list(registry.questions("example@1")) == [f"q{number}" for number in range(1, 11)]
    manifest = ledger.read(4).event.data
    assert isinstance(manifest, ManifestFrozen)
    assert registry.manifest("local").manifest_hash == manifest.manifest_hash


def test_an_erased_document_is_damage(victim: Path) -> None:
    """A frozen document has to be there: what needs it says that it was erased."""
    with tampering(victim) as connection:
        connection.execute("UPDATE blob SET salt = NULL, content = NULL WHERE salt IS NULL")
    with Ledger.open(victim, tools=tools(victim.parent, pins=False)) as ledger:
        registered = ledger.read(2).event.data
        assert isinstance(registered, DatasetRegistered)
        for act in (
            lambda: ledger.registry().questions("example@1"),
            lambda: read_plain(ledger.store, registered.questions),
        ):
            with pytest.raises(VerificationError, match=r"document [0-9a-f]{64} was erased"):
                act()
        assert "was erased" in str(ledger.verify().findings[0])


def test_the_head_of_an_empty_log_is_that_of_rfc_6962(tmp_path: Path) -> None:
    """A file without events has size 0 and the empty root."""
    made = Store.create(tmp_path / "a")
    view = Ledger(made, None, tools(tmp_path, pins=False), "0" * 32)
    assert (view.head().size, view.head().root) == (0, EMPTY_ROOT.hex())
    view.close()


def test_reading_a_closed_ledger_is_an_error_of_storage(tmp_path: Path) -> None:
    """Whatever method is used, SQLite's error becomes ours."""
    ledger = full_ledger(tmp_path)
    ledger.close()
    rows = ledger.store
    for act in (
        lambda: list(ledger.events()), lambda: list(ledger.events(run=RUN)),
        lambda: ledger.read(1), ledger.head, ledger.registry, rows.size,
        lambda: rows.document_by_id(b""), lambda: rows.last_link(RUN),
        lambda: rows.seq_of_link(RUN, 1), lambda: rows.first_of_kind(RUN, "trial.started"),
        lambda: rows.unbalanced_trials(RUN), lambda: rows.scope(RUN, None), rows.begin,
    ):  # fmt: skip
        with pytest.raises(StorageError, match="closed database"):
            act()


def test_the_first_event_of_a_kind(ledger: Ledger) -> None:
    """Look-ups by kind, by link and by trial use the indexes and agree with the log."""
    rows = ledger.store
    assert rows.first_of_kind(RUN, "trial.started") == 6
    assert rows.first_of_kind(RUN, "run.resumed") is None
    assert rows.first_of_kind(RUN, "call.started") is None
    assert rows.seq_of_link(RUN, 1) == 5
    assert rows.unbalanced_trials(RUN) == []
    assert rows.run_names("fast") == [RUN]
    assert rows.run_names("slow") == []
    assert len(rows.scope(RUN, "q1#1@s1")) == 7
    assert len(rows.scope(RUN, "q1#1@s1", after=6, upto=8)) == 2
    assert len(rows.scope(None, None)) == 4


def test_rows_out_of_order_end_the_reading(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a damaged file, going on from a smaller seq would never end."""

    class Rows:
        """A cursor whose rows do not ascend."""

        def fetchall(self) -> list[tuple[object, ...]]:
            """Return one row that was read before."""
            return [(1, b"", "k", None, None, None, b"", b"")]

    class Broken:
        """A connection to a damaged file."""

        def execute(self, *_: object) -> Rows:
            """Return the same rows for ever."""
            return Rows()

    monkeypatch.setattr(ledger.store, "connection", Broken())
    with pytest.raises(VerificationError, match="events are out of order: seq 1 follows 3"):
        list(ledger.store.rows(after=3, upto=9))
    monkeypatch.undo()


# The world outside


def test_the_real_clock_tells_utc_with_six_digits() -> None:
    """Times sort as text."""
    one, other = now_text(), now_text()
    assert fits("time", one)
    assert one <= other


def test_the_real_world(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Randomness, environment and state folder are the system's; a warning is one line."""
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    world = system_tools()
    assert world.random_bytes is os.urandom
    assert world.environ is os.environ
    assert world.state_directory == Path("/state/trial-ledger")
    world.warn("something to know")
    assert capsys.readouterr().err == "note: something to know\n"
