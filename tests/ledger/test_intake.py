"""Intake: whatever comes in becomes a typed draft or every fault of it, never another error."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_cases import fields_of, problems_of
from event_cases import EVENTS
from trial_ledger.amounts import Cost
from trial_ledger.errors import InvalidInputError
from trial_ledger.events import KINDS, TEXT_CLASSES, Actor, Event
from trial_ledger.identifiers import MAX_INTEGER, TrialKey
from trial_ledger.intake import COMMAND_KINDS, FILL_CONFIGURATION, draft, parse_record
from trial_ledger.submission import NewText, Submission

ENVELOPE = ("kind", "run", "trial", "data", "id", "at", "actor")
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
FIELD_NAMES = sorted({field for kind in KINDS.values() for field in kind.__struct_encode_fields__})
NEAR_RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(sorted(KINDS)) | JSON,
        "run": st.just("r1") | JSON,
        "trial": st.sampled_from(["q1#1", "q1#1@s2", "q%00#1", "q#0", "#1", "q1#9" + "9" * 5000])
        | JSON
        | st.dictionaries(st.sampled_from(["question", "repetition", "session", "x"]), JSON),
        "data": st.dictionaries(st.sampled_from(FIELD_NAMES) | st.text(), JSON) | JSON,
        "id": st.just("a" * 32) | JSON,
        "at": st.just("2026-10-01T12:00:00.000000Z") | JSON,
        "actor": st.fixed_dictionaries({"role": st.just("human") | JSON, "name": JSON}) | JSON,
        "seq": JSON,
    },
)
"""Records that have the right keys and anything for values."""


def record(**fields: object) -> dict[str, object]:
    """Return a good record with these fields changed."""
    return {"kind": "note.added", "data": {"about": "x", "text": "y"}, **fields}


def submitted(**fields: object) -> Submission:
    """Return the submission of a good record with these fields changed."""
    return parse_record(record(**fields), source=None, line=None)


def faults(value: object) -> set[tuple[str | None, str]]:
    """Return field and message of everything wrong with a record, its data included."""

    def both() -> object:
        return draft(parse_record(value, source=None, line=None))

    return {(problem.field, problem.message) for problem in problems_of(both)}


@given(NEAR_RECORDS | JSON)
def test_any_json_parses_or_is_invalid_input(value: object) -> None:
    """No JSON value makes intake raise anything but InvalidInputError, with a place and a hint."""
    try:
        found = draft(parse_record(value, source="in.jsonl", line=7))
    except InvalidInputError as error:
        lines = [str(problem) for problem in error.problems]
    else:
        assert found.kind in KINDS
        return
    assert lines
    assert all(line.isprintable() for line in lines)


@given(EVENTS)
def test_what_is_of_its_kind_is_taken_as_it_is(event: Event) -> None:
    """Every event of every kind, its texts as strings, comes out with the same data and texts."""
    data = msgspec.to_builtins(event.data)
    names = TEXT_CLASSES[event.kind]
    texts = {name: f"text of {name}" for name in names if data[name] is not None}
    if event.kind == "failure.occurred":
        data["detail_class"] = "as it said"
    made = draft(
        Submission(
            kind=event.kind,
            run=event.run,
            trial=event.trial,
            data={**data, **texts},
            id=event.id,
            at=event.at,
            actor=event.actor,
        )
    )
    plain = msgspec.to_builtins(made.data)
    assert {name: plain[name] for name in plain if name not in names} == {
        name: data[name] for name in data if name not in names
    }
    assert {name: text.content.decode() for name, text in made.texts.items()} == texts
    assert (made.run, made.trial, made.id, made.at) == (event.run, event.trial, event.id, event.at)
    assert made.actor == event.actor


@given(EVENTS.filter(lambda event: event.kind not in COMMAND_KINDS))
def test_a_record_means_its_submission(event: Event) -> None:
    """What is written as a JSON record is read back as the submission it stands for."""
    value = {
        "kind": event.kind,
        "run": event.run,
        "trial": msgspec.to_builtins(event.trial),
        "id": event.id,
        "at": event.at,
        "actor": msgspec.to_builtins(event.actor),
        "data": {},
    }
    found = parse_record(json.loads(json.dumps(value)), source=None, line=None)
    assert (found.kind, found.run, found.trial) == (event.kind, event.run, event.trial)
    assert (found.id, found.at, found.actor) == (event.id, event.at, event.actor)
    assert found.at_unknown == (event.at is None)


def test_every_fault_of_a_record_is_reported_at_once() -> None:
    """Envelope, trial and data are all looked at, whatever is wrong with the others."""
    value = {
        "kind": "call.finished",
        "runs": "x",
        "seq": 3,
        "run": "R 1",
        "trial": {"question": "q", "repetition": 0, "sesion": "s1"},
        "id": "no",
        "at": "yesterday",
        "actor": {"role": "boss"},
        "data": {"status": "fine", "usage": {"input_tokens": -1, "tokens": 1}, "response": 5},
    }
    assert faults(value) == {
        ("runs", "unknown field"),
        ("seq", "only the ledger fills this field"),
        ("run", "not acceptable"),
        ("trial.sesion", "unknown field"),
        ("trial.repetition", "not acceptable"),
        ("id", "not acceptable"),
        ("at", "not acceptable"),
        ("actor.role", "not acceptable"),
        ("data.response", "not a text"),
        ("data.call", "missing"),
        ("data.status", "not acceptable"),
        ("data.usage.input_tokens", "not acceptable"),
        ("data.usage.tokens", "unknown field"),
    }


def test_faults_carry_the_place_of_the_record() -> None:
    """Source and line of the record stand in every fault, with the help topic as the hint."""
    with pytest.raises(InvalidInputError) as caught:
        parse_record({"kind": "x", "data": []}, source="in.jsonl", line=7)
    assert {(problem.source, problem.line) for problem in caught.value.problems} == {
        ("in.jsonl", 7)
    }
    assert caught.value.hint == "ledger help append"


@pytest.mark.parametrize("key", ["ledger", "seq", "prev", "link", "recorded_at", "v"])
def test_what_the_ledger_fills_may_not_be_given(key: str) -> None:
    """No submission says what only the ledger knows."""
    assert faults(record(**{key: 1})) == {(key, "only the ledger fills this field")}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (None, "missing"),
        ("trial.begun", "unknown kind"),
        (["trial.started"], "unknown kind"),
        ("ledger.opened", "this kind is written by a command"),
        ("key.rotated", "this kind is written by a command"),
    ],
)
def test_kinds_that_a_writer_cannot_append(kind: object, message: str) -> None:
    """A kind is a known tag that no command keeps for itself."""
    problems = problems_of(
        lambda: parse_record({"kind": kind, "data": None}, source=None, line=None)
    )
    assert [(problem.field, problem.message) for problem in problems] == [("kind", message)]


def test_commands_that_kinds_name_exist() -> None:
    """What a fault of the kind tells to run is a command of this version."""
    assert set(COMMAND_KINDS.values()) == {
        "ledger init",
        "ledger freeze dataset",
        "ledger freeze rubric",
        "ledger freeze manifest",
        "ledger redact",
        "ledger key rotate",
    }


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (None, None),
        ("q%23#2", TrialKey(question="q#", configuration=FILL_CONFIGURATION, repetition=2)),
        (
            {"question": "q", "repetition": 1},
            TrialKey(question="q", configuration=FILL_CONFIGURATION, repetition=1),
        ),
        (
            {"question": "q", "configuration": "c", "repetition": 1, "session": "s9"},
            TrialKey(question="q", configuration="c", repetition=1, session="s9"),
        ),
    ],
)
def test_the_forms_of_a_trial(value: object, key: TrialKey | None) -> None:
    """A trial is an object or its text; configuration and session may be left out."""
    assert submitted(trial=value).trial == key


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("q1", "trial"),
        ("q1#0", "trial"),
        ("q1#1234567890123456789", "trial"),
        ("q%0A#1", "trial"),
        (5, "trial"),
        ({"question": "q"}, "trial.repetition"),
        ({"question": "q\n", "repetition": 1}, "trial.question"),
        ({"question": "q", "repetition": 1, "session": None}, "trial.session"),
    ],
)
def test_what_is_no_trial(value: object, field: str) -> None:
    """A trial of another form is refused at its place."""
    assert {place for place, _ in faults(record(trial=value))} == {field}


@pytest.mark.parametrize(
    ("given_at", "defaulted", "unknown"),
    [({}, True, False), ({"at": None}, False, True)],
)
def test_a_time_left_out_is_now_and_null_is_unknown(
    given_at: dict[str, object], *, defaulted: bool, unknown: bool
) -> None:
    """The ledger fills a missing time; a null one stays unknown."""
    submission = submitted(**given_at)
    assert submission.at_unknown is unknown
    assert draft(submission).at_defaulted is defaulted


def test_an_event_without_actor_is_by_a_harness() -> None:
    """Nobody named is an unnamed harness."""
    assert draft(submitted()).actor == Actor(role="harness")


def test_other_needs_the_word_of_the_source() -> None:
    """A failure of class other says in the source's own word which."""
    data = {"occurrence": "f", "class": "other"}
    assert faults(record(kind="failure.occurred", data=data)) == {("data.detail_class", "missing")}
    named = draft(submitted(kind="failure.occurred", data={**data, "detail_class": "E17"}))
    assert getattr(named.data, "detail_class", None) == "E17"


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"usage": {"units": {"caf\u00e9": 1}}}, "data.usage.units"),
        ({"usage": {"units": {"a\nb": 1}}}, "data.usage.units"),
        ({"usage": {"units": {"": 1}}}, "data.usage.units"),
        ({"served": {"model": "a\nb"}}, "data.served.model"),
    ],
)
def test_keys_and_names_inside_have_their_form(data: dict[str, object], field: str) -> None:
    """Keys of a mapping are printable ASCII, since readers sort others differently."""
    call = {"call": "c", "status": "ok", **data}
    assert field in {place for place, _ in faults(record(kind="call.finished", data=call))}


def test_members_of_a_list_have_their_form() -> None:
    """A name in a list is refused at its place."""
    data = {"judgment": "j", "metric": "m", "by": "code", "grader": {"name": "g"}}
    calls = {**data, "calls": ["c1", "c\x002"]}
    assert faults(record(kind="judgment.recorded", data=calls)) == {
        ("data.calls[1]", "not acceptable")
    }


@pytest.mark.parametrize(
    ("submission", "fields"),
    [
        (Submission(kind="trial.begun"), {"kind"}),
        (Submission(kind="note.added", run="R 1", data={"about": "x", "text": "y"}), {"run"}),
        (Submission(kind="note.added", id="x", data={"about": "x", "text": "y"}), {"id"}),
        (
            Submission(
                kind="note.added",
                trial=TrialKey(question="q", configuration="c", repetition=0),
                data={"about": "x", "text": "y"},
            ),
            {"trial.repetition"},
        ),
        (
            Submission(
                kind="note.added",
                trial=TrialKey(question="\x00", configuration="c", repetition=1),
                data={"about": "x", "text": "y"},
            ),
            {"trial.question"},
        ),
        (
            Submission(
                kind="call.finished",
                data={
                    "call": "c",
                    "status": "ok",
                    "cost": Cost(amount="1e5", currency="USD", basis="reported"),
                },
            ),
            {"data.cost.amount"},
        ),
        (Submission(kind="note.added", data={"about": object(), "text": "y"}), {"data"}),
        (
            Submission(
                kind="note.added",
                data={"about": "x", "text": NewText(content=b"y", media="a\nb")},
            ),
            {"data.text.media"},
        ),
    ],
)
def test_what_a_program_builds_is_checked_as_well(submission: Submission, fields: set[str]) -> None:
    """A submission built in Python passes the same checks as a line of JSON."""
    assert fields_of(lambda: draft(submission)) == fields
