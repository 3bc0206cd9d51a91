"""Identity: the same id and content append once; the same id and anything else is a conflict."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import (
    HARNESS,
    PERSON,
    RUN,
    event_id,
    note,
    numbered,
    opened,
    run_submissions,
    sample_run,
    small_ledger,
    started,
    trial,
)
from trial_ledger import writer
from trial_ledger.book import Ledger
from trial_ledger.documents.manifest import prices_hash
from trial_ledger.errors import ConflictError
from trial_ledger.events import Actor, CallFinished, JudgmentRecorded, RunOpened
from trial_ledger.identifiers import TrialKey
from trial_ledger.intake import FILL_CONFIGURATION, draft
from trial_ledger.submission import NewText, Submission

SOURCE = {"format": "x", "files": [], "importer": "y"}

replaced = msgspec.structs.replace


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger with frozen documents."""
    with small_ledger(tmp_path) as ledger:
        yield ledger


def named(submission: Submission, **changes: object) -> Submission:
    """Return a submission under the one id of these tests, with changes."""
    return replaced(submission, id=event_id("one"), **changes)


def field_of_conflict(book: Ledger, first: Submission, second: Submission) -> str | None:
    """Return the field for which the second of two submissions of one id is refused."""
    book.append(first)
    with pytest.raises(ConflictError) as caught:
        book.append(second)
    return caught.value.field


def test_the_same_run_again_adds_nothing(book: Ledger) -> None:
    """Every kind of event, appended twice under its id, gives the first acknowledgement again."""
    first = sample_run(book)
    size = book.head().size
    again = sample_run(book)
    assert book.head().size == size
    assert [replaced(one, status="exists") for one in first] == again


def test_fields_that_the_ledger_filled_may_be_left_out_or_given(book: Ledger) -> None:
    """A writer that gives what the ledger filled, or leaves it out again, says the same."""
    book.append(named(opened()))
    filled = book.read(book.head().size).event.data
    assert isinstance(filled, RunOpened)
    assert book.append(named(opened())).status == "exists"
    for name in ("rubric", "rubric_hash", "dataset", "planned"):
        again = named(opened(**{name: getattr(filled, name)}))
        assert book.append(again).status == "exists"
    slots = NewText(content=book.blob(filled.slots) or b"", media="application/json")  # type: ignore[arg-type]
    assert book.append(named(opened(slots=slots))).status == "exists"


@pytest.mark.parametrize("length", [4, 64])
def test_a_manifest_may_be_named_in_every_way(length: int, book: Ledger) -> None:
    """Hash, prefix, configuration and both together mean the same manifest."""
    book.append(named(opened()))
    digest = next(iter(book.registry().manifests))
    for reference in (digest[:length], f"local@{digest[:length]}", "local"):
        assert book.append(named(opened(manifest=reference))).status == "exists"


@pytest.mark.parametrize("reference", ["other", "other@", "local@zzz"])
def test_another_manifest_is_a_conflict(reference: str, book: Ledger) -> None:
    """A reference that does not mean the stored manifest says something else."""
    found = field_of_conflict(book, named(opened()), named(opened(manifest=reference)))
    assert found == "data.manifest"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (
            {"kind": "source.imported", "data": {"format": "x", "files": [], "importer": "y"}},
            "kind",
        ),
        ({"actor": PERSON}, "actor"),
        ({"at": "2026-10-01T00:00:00.000000Z"}, "at"),
        ({"at_unknown": True}, "at"),
        ({"data": {"about": "other", "text": "x"}}, "data.about"),
        ({"data": {"about": "ledger", "text": "y"}}, "data.text"),
        ({"data": {"about": "ledger", "text": "xx"}}, "data.text"),
        ({"data": {"about": "ledger", "text": {"text": "x", "media": "text/html"}}}, "data.text"),
    ],
)
def test_anything_else_under_an_id_is_a_conflict(
    changes: dict[str, object], field: str, book: Ledger
) -> None:
    """The first field that differs is named, with where the stored event stands."""
    assert field_of_conflict(book, named(note("x")), named(note("x"), **changes)) == field


def test_a_conflict_names_the_place_and_what_to_try(book: Ledger) -> None:
    """The refusal names seq and field; looking at the event and a new id are the ways on."""
    acknowledged = book.append(named(note("x")))
    with pytest.raises(ConflictError) as caught:
        book.append(named(note("y")))
    assert caught.value.message == (
        f"event {event_id('one')} exists as seq {acknowledged.seq} with another data.text"
    )
    assert caught.value.hint == f"ledger show {acknowledged.seq}; a new event needs a new id"


def test_the_same_event_twice_in_one_group(book: Ledger) -> None:
    """An id used twice before anything is committed is found as it would be afterwards."""
    first, same = book.append_many([named(note("x")), named(note("x"))])
    assert (first.seq, first.status, same.seq, same.status) == (5, "appended", 5, "exists")


def test_trial_and_configuration(book: Ledger) -> None:
    """A configuration left out is the run's; another session or none is another trial."""
    book.append(opened())
    given = started(RUN, trial("q1"))
    first = book.append(named(given))
    left_out = named(given, trial=replaced(trial("q1"), configuration=FILL_CONFIGURATION))
    assert book.append(left_out).seq == first.seq
    for other in (trial("q1", session="s2"), None):
        with pytest.raises(ConflictError) as caught:
            book.append(named(given, trial=other))
        assert caught.value.field == "trial"


def test_a_run_is_part_of_the_content(book: Ledger) -> None:
    """The same note of a run and of the ledger are two things."""
    book.append(opened())
    assert field_of_conflict(book, named(note("x")), named(note("x"), run=RUN)) == "run"


def call_events(**cost: object) -> list[Submission]:
    """Return a run with one call of a computed cost."""
    key = trial("q1")
    call = {"call": "c1", "purpose": "model", "endpoint": "model"}
    money = {"amount": "0.1", "currency": "USD", "basis": "computed", **cost}
    finished = {"call": "c1", "status": "ok", "cost": money}
    return [
        opened(),
        started(RUN, key),
        Submission(kind="call.started", run=RUN, trial=key, data=call, actor=HARNESS),
        Submission(kind="call.finished", run=RUN, trial=key, data=finished, actor=HARNESS),
    ]


def test_the_price_table_behind_a_cost_is_filled(book: Ledger) -> None:
    """A computed cost names the manifest's price table; leaving it out again says the same."""
    book.append_many(numbered("run", iter(call_events())))
    stored = book.read(book.head().size).event.data
    assert isinstance(stored, CallFinished)
    assert stored.cost is not None
    (manifest,) = book.registry().manifests.values()
    assert stored.cost.prices == prices_hash(book.registry().manifest_document(manifest))
    again = book.append_many(numbered("run", iter(call_events())))
    assert {one.status for one in again} == {"exists"}
    last = list(numbered("run", iter(call_events(amount="0.2"))))[-1]
    with pytest.raises(ConflictError) as caught:
        book.append(last)
    assert caught.value.field == "data.cost"


def test_gold_is_compared_by_its_bytes(book: Ledger) -> None:
    """A text in the gold file is part of the content as any other; without the file it differs."""
    events = list(numbered(RUN, run_submissions(RUN)))
    sample_run(book)
    judgment = next(
        item
        for item in events
        if item.kind == "judgment.recorded" and dict(item.data).get("reasoning")
    )
    assert book.append(judgment).status == "exists"
    data = {**judgment.data, "reasoning": "compared without gold"}
    with pytest.raises(ConflictError) as caught:
        book.append(replaced(judgment, data=data))
    assert caught.value.field == "data.reasoning"


def test_a_planted_fault_shows_that_the_check_matters(
    book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the comparison taken out, other content passes as if it had been appended."""
    book.append(named(note("x")))
    monkeypatch.setattr(writer, "difference", lambda *_, **__: None)
    assert book.append(named(note("something else"))).status == "exists"


def test_names_of_trials_are_compared_whole(book: Ledger) -> None:
    """Two trials whose text is alike but whose configuration differs are not the same."""
    book.append(opened())
    book.append(named(started(RUN, trial("q1"))))
    foreign = TrialKey(question="q1", configuration="other", repetition=1)
    with pytest.raises(ConflictError) as caught:
        book.append(named(started(RUN, trial("q1")), trial=foreign))
    assert caught.value.field == "trial"


def test_a_judgment_s_filled_fields(book: Ledger) -> None:
    """Rubric and gold commitment of a judgment are filled, and may be given again."""
    sample_run(book)
    stored = next(
        found.event
        for found in book.events(run=RUN)
        if isinstance(found.event.data, JudgmentRecorded)
    )
    assert isinstance(stored.data, JudgmentRecorded)
    assert stored.data.rubric is not None
    assert stored.data.gold is not None
    again = Submission(
        kind=stored.kind, run=RUN, trial=stored.trial, id=stored.id, at=stored.at,
        actor=Actor(role="grader", name="normalised-match"),
        data={
            name: value
            for name, value in msgspec.to_builtins(stored.data).items()
            if name not in {"reasoning", "shown", "raw"}
        },
    )  # fmt: skip
    assert draft(again).data == stored.data
    assert book.append(again).status == "exists"
