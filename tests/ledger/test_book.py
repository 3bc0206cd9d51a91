"""`Ledger`: open, append once, all or none, one group a commit, and nothing after a fork."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import (
    HARNESS,
    RUN,
    copied,
    empty_ledger,
    event_id,
    full_ledger,
    note,
    opened,
    run_submissions,
    sample_run,
    small_dataset,
    small_ledger,
    started,
    tools,
    trial,
)
from trial_ledger.batch import Entry
from trial_ledger.book import Ledger
from trial_ledger.building import Acknowledgement
from trial_ledger.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    RuleError,
    StorageError,
)
from trial_ledger.events import Actor
from trial_ledger.goldfile import gold_path
from trial_ledger.identifiers import TrialKey
from trial_ledger.submission import NewText, Submission


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents and no run."""
    with small_ledger(tmp_path) as made:
        yield made


# Appending once


def test_an_append_is_acknowledged_with_its_place(ledger: Ledger) -> None:
    """The acknowledgement names seq, id and hash of what is stored."""
    done = ledger.append(note("words"))
    stored = ledger.read(done.seq)
    assert (done.seq, done.status) == (5, "appended")
    assert (stored.event.id, stored.hash) == (done.id, done.hash)


def test_the_same_event_again_is_the_first_acknowledgement(ledger: Ledger) -> None:
    """Same id and content: the same place and hash, and nothing new in the log."""
    first = sample_run(ledger)
    again = sample_run(ledger)
    assert {done.status for done in first} == {"appended"}
    assert again == [msgspec.structs.replace(done, status="exists") for done in first]
    assert ledger.head().size == 4 + len(first)
    assert ledger.verify().is_intact


def test_the_same_event_twice_in_one_input(ledger: Ledger) -> None:
    """An id that was collected but not yet written is found as well."""
    item = msgspec.structs.replace(note("words"), id=event_id("x"))
    one, other, third = ledger.append_many([item, note("between"), item])
    assert (one.status, third.status) == ("appended", "exists")
    assert (one.seq, one.hash) == (third.seq, third.hash)
    assert other.seq == one.seq + 1


def test_the_same_text_stored_before_does_not_disturb_a_repetition(ledger: Ledger) -> None:
    """A text whose bytes are in the file already is still compared with its own."""
    ledger.append(note("the same words"))
    item = msgspec.structs.replace(note("the same words"), id=event_id("x"))
    statuses = [done.status for done in ledger.append_many([item, item])]
    assert statuses == ["appended", "exists"]


def test_what_the_ledger_fills_may_be_left_out_the_second_time(ledger: Ledger) -> None:
    """Configuration, time and filled fields are not part of what is compared."""
    ledger.append(msgspec.structs.replace(opened(), id=event_id("open")))
    key = trial("q1")
    first = ledger.append(msgspec.structs.replace(started(RUN, key), id=event_id("s")))
    bare = TrialKey(question="q1", configuration="(the run's)", repetition=1)
    again = ledger.append(msgspec.structs.replace(started(RUN, bare), id=event_id("s")))
    assert (again.seq, again.status) == (first.seq, "exists")
    again = ledger.append(msgspec.structs.replace(opened(), id=event_id("open")))
    assert again.status == "exists"


CALL = Submission(
    kind="call.finished",
    run=RUN,
    trial=trial("q1"),
    data={
        "call": "c1",
        "status": "ok",
        "response": NewText.of("result", media="text/html"),
        "delivered": True,
        "duration_us": 5,
        "usage": {"input_tokens": 1, "units": {"requests": 2}},
        "cost": {"amount": "0.1", "currency": "USD", "basis": "reported"},
        "served": {"model": "m"},
    },
    id=event_id("call"),
    at="2026-10-01T12:00:00.000000Z",
    actor=HARNESS,
)

DIFFERENCES: dict[str, Submission] = {
    "kind": msgspec.structs.replace(
        CALL, kind="answer.submitted", data={"answer": "a"}
    ),
    "trial": msgspec.structs.replace(CALL, trial=trial("q2")),
    "no trial": msgspec.structs.replace(CALL, kind="note.added", trial=None,
                                        data={"about": "a", "text": "b"}),
    "actor": msgspec.structs.replace(CALL, actor=Actor(role="harness", name="other")),
    "at": msgspec.structs.replace(CALL, at="2026-10-01T12:00:00.000001Z"),
    "at unknown": msgspec.structs.replace(CALL, at=None, at_unknown=True),
    **{
        f"{field} = {value!r}": msgspec.structs.replace(CALL, data={**CALL.data, field: value})
        for field, value in (
            ("call", "c2"),
            ("status", "empty"),
            ("response", "Result"),
            ("response", NewText.of("resulT", media="text/html")),
            ("response", NewText.of("result", media="text/plain")),
            ("response", None),
            ("delivered", None),
            ("delivered", False),
            ("duration_us", None),
            ("duration_us", 6),
            ("usage", {"input_tokens": 1, "units": {"requests": 3}}),
            ("usage", None),
            ("cost", {"amount": "0.10", "currency": "USD", "basis": "reported"}),
            ("cost", {"amount": "0.1", "currency": "EUR", "basis": "reported"}),
            ("cost", None),
            ("served", {"model": "m", "endpoint": "e"}),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("other", DIFFERENCES.values(), ids=DIFFERENCES)
def test_the_same_id_with_other_content_is_a_conflict(ledger: Ledger, other: Submission) -> None:
    """Whatever differs from what the id stands for is exit 3 with its field; nothing is written."""
    ledger.append(opened())
    for question in ("q1", "q2"):
        ledger.append(started(RUN, trial(question)))
        call = {"call": "c1", "purpose": "model", "endpoint": "model"}
        ledger.append(Submission(kind="call.started", run=RUN, trial=trial(question), data=call))
    first = ledger.append(CALL)
    size = ledger.head().size
    with pytest.raises(ConflictError, match=f"exists as seq {first.seq} with another") as caught:
        ledger.append(other)
    assert caught.value.exit_code == 3
    assert caught.value.field
    assert caught.value.hint == f"ledger show {first.seq}; a new event needs a new id"
    assert ledger.append(CALL).status == "exists"
    assert ledger.head().size == size


def test_two_events_that_say_the_same_stay_two(ledger: Ledger) -> None:
    """Without an id, or under two ids, repeated occurrences are kept apart."""
    one, other = ledger.append(note("again")), ledger.append(note("again"))
    assert other.seq == one.seq + 1
    assert one.id != other.id


# Refusals


def test_a_refused_event_leaves_no_trace(ledger: Ledger) -> None:
    """Neither log nor blobs know of what was refused."""
    before = ledger.head(), ledger.store.blobs.totals()
    for wrong, kind in (
        (Submission(kind="no.such"), InvalidInputError),
        (note("x", extra=1), InvalidInputError),
        (started("nowhere", trial("q1")), NotFoundError),
        (opened(manifest="unknown"), RuleError),
    ):
        with pytest.raises(kind):
            ledger.append(wrong)
    assert (ledger.head(), ledger.store.blobs.totals()) == before


def test_a_refused_event_does_not_sink_its_neighbours(ledger: Ledger) -> None:
    """In a group each event gets its own result, in the order they came."""
    results = ledger.append_group(
        Entry(submission=item)
        for item in (note("a"), Submission(kind="no.such"), started("x", trial("q1")), note("b"))
    )
    assert [type(result) for result in results] == [
        Acknowledgement, InvalidInputError, NotFoundError, Acknowledgement,
    ]  # fmt: skip
    assert ledger.head().size == 6
    assert ledger.append_group([]) == []
    wrong = InvalidInputError.single("no JSON")
    assert ledger.append_group([Entry(submission=wrong)]) == [wrong]


def test_an_input_goes_in_as_a_whole_or_not_at_all(ledger: Ledger) -> None:
    """One refused event of many keeps all out; every refusal is reported with its line."""
    items = [
        opened(),
        started(RUN, trial("q1")),
        started(RUN, trial("q1")),
        started(RUN, trial("q99")),
    ]
    with pytest.raises(RefusedError) as caught:
        ledger.append_many(items, what="in.jsonl")
    assert [problem.line for problem in caught.value.problems] == [3, 4]
    assert caught.value.message == "in.jsonl: 2 events refused, nothing written"
    assert ledger.head().size == 4
    assert len(ledger.append_many(items[:2])) == 2


def test_what_follows_a_refusal_in_the_same_trial_is_left_unchecked(ledger: Ledger) -> None:
    """Faults that would only echo the first are counted; faults of form are reported as such."""
    items = [
        opened(),
        started(RUN, trial("q99")),
        Submission(kind="answer.submitted", run=RUN, trial=trial("q99"), data={"answer": "a"}),
        Submission(kind="no.such"),
    ]
    with pytest.raises(InvalidInputError) as caught:
        ledger.append_many(items)
    assert [problem.line for problem in caught.value.problems] == [2, 4]
    assert "not checked: 1 later event of the same trials" in (caught.value.hint or "")
    assert ledger.head().size == 4


def test_a_dry_run_writes_nothing(ledger: Ledger) -> None:
    """Acknowledgements tell what would be; the log stays as it is."""
    before = ledger.head()
    done = ledger.append_all(
        (Entry(submission=item) for item in run_submissions(RUN)), dry_run=True
    )
    assert done[0].seq == 5
    assert ledger.head() == before
    with Ledger.open(ledger.store.path, tools=ledger.tools) as reader:
        assert reader.store.blobs.totals() == ledger.store.blobs.totals()
    sample_run(ledger)


def test_an_input_that_breaks_off_writes_nothing(ledger: Ledger) -> None:
    """An error of the reader in the middle of an input rolls everything back."""

    def items() -> object:
        yield Entry(submission=note("a"))
        message = "the pipe broke"
        raise OSError(message)

    with pytest.raises(OSError, match="the pipe broke"):
        ledger.append_all(items())  # type: ignore[arg-type]
    assert ledger.head().size == 4
    assert ledger.append(note("b")).seq == 5


def test_freezing_goes_in_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    """A document that is refused keeps the others of the same call out."""
    with empty_ledger(tmp_path) as ledger:
        with pytest.raises(RuleError):
            ledger.freeze([small_dataset(), small_dataset(canary="another canary")])
        assert ledger.head().size == 1
        done = ledger.register(small_dataset())
        assert (done.seq, done.status) == (2, "appended")
        assert ledger.register(small_dataset()).status == "exists"


# Two ledgers of one file


def test_a_writer_sees_what_another_appended(ledger: Ledger, tmp_path: Path) -> None:
    """Documents, runs, trials and links written by another process count in the next guard."""
    ledger.append(opened())
    with Ledger.open(ledger.store.path, write=True, tools=tools(tmp_path, seed=8)) as other:
        other.append(started(RUN, trial("q1")))
        with pytest.raises(RuleError, match="exists"):
            ledger.append(started(RUN, trial("q1")))
        ledger.append(started(RUN, trial("q2")))
        with pytest.raises(RuleError, match="exists"):
            other.append(started(RUN, trial("q2")))
        assert ledger.verify().is_intact
        assert other.head() == ledger.head()


def test_without_the_gold_file_gold_is_refused(tmp_path: Path) -> None:
    """Where the gold file is missing, what belongs in it is not put elsewhere (C2)."""
    full_ledger(tmp_path).close()
    alone = copied(tmp_path / "trials.ledger", tmp_path / "alone")
    gold_path(alone).unlink()
    text = NewText(content=b"Samarkand", class_="gold")
    gold = Submission(kind="note.added", data={"about": "x", "text": text})
    with Ledger.open(alone, write=True, tools=tools(tmp_path / "alone", seed=8)) as ledger:
        assert ledger.append(note("plain words")).seq == 129
        with pytest.raises(StorageError, match="gold file, which is missing"):
            ledger.append(gold)
        with pytest.raises(StorageError, match="gold file, which is missing"):
            ledger.freeze([small_dataset(version="2")])
        assert ledger.head().size == 129
        end = Submission(
            kind="trial.finished", run="second", trial=trial("q1"), data={"outcome": "errored"}
        )
        close = Submission(kind="run.closed", run="second", data={"status": "complete"})
        ledger.append_many([opened("second"), started("second", trial("q1")), end, close])
        assert ledger.verify().is_intact
