"""Dataset: all records good or none, gold apart from questions, warnings without gold."""

import json
import random
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_cases import Table, fields_of, problems_of, question_record
from trial_ledger.documents.canonical_form import canonical_json
from trial_ledger.documents.dataset import (
    AGENT_FIELDS,
    Dataset,
    Question,
    agent_view,
    build_dataset,
    decode_questions,
    parse_dataset,
    parse_meta,
)
from trial_ledger.documents.templates import read_template

LIST: Table = {
    "task_shape": "list",
    "context": {"candidates": ["A", "B"], "conditions": ["is open"]},
    "gold": {
        "items": ["A"],
        "inclusion_conditions": ["is open"],
        "exhaustive": True,
        "evidence": [{"url": "https://example.org/a", "verified_at": "2026-10-01"}],
    },
}


def lines(*records: Table) -> bytes:
    """Return records as JSONL."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def parsed(*records: Table, **meta: object) -> Dataset:
    """Return the dataset of these records."""
    return parse_dataset(lines(*records), source="d.jsonl", name="n", version="1", meta=meta)  # type: ignore[arg-type]


def refused(*records: Table, **meta: object) -> Callable[[], Dataset]:
    """Return the call that reads these records."""
    return lambda: parsed(*records, **meta)


def test_c01_a_good_dataset_keeps_order_and_counts() -> None:
    """Questions stay in the order of the file and are counted by shape and split."""
    dataset = parsed(
        question_record(id="b", split="holdout"),
        question_record(id="a", **LIST),
        question_record(id=3, split="holdout"),
    )
    assert [question.id for question in dataset.questions] == ["b", "a", "3"]
    assert dataset.counts_by_shape() == {"fact": 2, "list": 1}
    assert dataset.counts_by_split() == {"holdout": 2, "none": 1}
    assert dataset.reference == "n@1"
    assert decode_questions(dataset.questions_json()) == dataset.questions


def test_c01_all_faults_of_all_lines_come_at_once() -> None:
    """Each bad record is named by file, line and field; blank lines are none."""
    data = (
        lines(question_record(id="a"), question_record(id="b", task_shape="fcat"))
        + b"\n{broken\n[1]\n"
        + lines(question_record(id="a", gold={"anser": "x"}), question_record(id="c", extra=None))
        + b'{"id":"d","question":"x","task_shape":"fact","context":NaN}\n'
    )
    problems = problems_of(lambda: parse_dataset(data, source="d.jsonl", name="n", version="1"))
    places = {(p.source, p.line, p.field): p.expected for p in problems}
    assert set(places) == {
        ("d.jsonl", 2, "task_shape"),
        ("d.jsonl", 4, None),
        ("d.jsonl", 5, None),
        ("d.jsonl", 6, "id"),
        ("d.jsonl", 6, "gold.answer"),
        ("d.jsonl", 6, "gold.anser"),
        ("d.jsonl", 8, "context"),
    }
    assert places["d.jsonl", 6, "gold.anser"] == "answer"
    assert places["d.jsonl", 2, "task_shape"] == "fact"


def test_c01_duplicate_ids_name_both_lines_and_integers_collide_with_text() -> None:
    """The integer 1 is the id `1`, and meets the text `1`."""
    (problem,) = problems_of(refused(question_record(id=1), question_record(id="1")))
    assert problem.line == 2
    assert problem.message == "question id stands twice, first on line 1"
    records = [question_record(id="x"), question_record(id="x")]
    (problem,) = problems_of(
        lambda: build_dataset(records, name="n", version="1", reconstructed=False)
    )
    assert (problem.field, problem.message) == (
        "[1].id",
        "question id stands twice, first on record [0]",
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"id": None}, "id"),
        ({"id": True}, "id"),
        ({"id": "a\n"}, "id"),
        ({"id": ["a"]}, "id"),
        ({"question": None}, "question"),
        ({"question": " "}, "question"),
        ({"task_shape": None}, "task_shape"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"as_of": "2026-10-32"}, "as_of"),
        ({"split": 3}, "split"),
        ({"gold": "x"}, "gold"),
        ({"golden": {}}, "golden"),
    ],
)
def test_c01_each_field_is_checked(changes: Table, field: str) -> None:
    """A wrong, missing or unknown field is named."""
    assert field in fields_of(refused(question_record(**changes)))


@pytest.mark.parametrize("as_of", ["2026", "2026-10", "2026-10-01", "2026-10-01T12:00:00Z"])
def test_dates_may_be_as_precise_as_they_are_known(as_of: str) -> None:
    """A year, a month, a day or a time of day is kept as written."""
    assert parsed(question_record(as_of=as_of)).questions[0].as_of == as_of


def test_an_empty_file_holds_no_question() -> None:
    """Nothing is registered from nothing."""
    (problem,) = problems_of(refused())
    assert problem.message == "holds no question"


def test_a_byte_order_mark_is_dropped() -> None:
    """Files from other systems may begin with one."""
    data = b"\xef\xbb\xbf" + lines(question_record())
    assert parse_dataset(data, source=None, name="n", version="1").questions[0].id == "q1"


@pytest.mark.parametrize(("name", "version"), [("a@b", "1"), ("", "1"), ("a", "1\n"), ("a", "@")])
def test_name_and_version_make_a_reference(name: str, version: str) -> None:
    """Neither may hold the sign that separates them, nor a control character."""
    problems = problems_of(
        lambda: parse_dataset(lines(question_record()), source=None, name=name, version=version)
    )
    assert len(problems) == 1


def test_decimals_are_kept_as_their_text() -> None:
    """Integers stay integers, a decimal is the text that stood there; no binary in between."""
    data = b'{"id":"a","question":"x","task_shape":"fact","context":[1,0.10],"gold":{"answer":0.1}}'
    dataset = parse_dataset(data, source=None, name="n", version="1")
    assert dataset.questions[0].context == [1, "0.10"]
    assert msgspec.json.decode(dataset.gold["a"])["gold"]["answer"] == "0.1"


def test_c02_gold_and_extra_go_to_the_gold_record_only() -> None:
    """Questions hold neither; the record is canonical and has every key of the shape."""
    dataset = parsed(
        question_record(id="a", extra={"note": "secret note"}),
        question_record(id="b", gold=None),
        question_record(id="c", gold=None, extra=[1]),
    )
    assert b"Samarkand" not in dataset.questions_json()
    assert b"secret" not in dataset.questions_json()
    assert set(dataset.gold) == {"a", "c"}
    assert dataset.gold["c"] == b'{"extra":[1],"gold":null,"id":"c"}'
    record = msgspec.json.decode(dataset.gold["a"])
    assert canonical_json(record) == dataset.gold["a"]
    assert record["gold"] == {
        "answer": "Samarkand",
        "alternatives": [],
        "evidence": [{"url": "https://example.org/a", "verified_at": "2026-10-02"}],
        "reviewed_by": None,
        "provenance": None,
    }


def test_c02_an_agent_sees_four_fields_by_allow_list() -> None:
    """A new field of a question is not shown to an agent unless somebody lists it."""
    question = parsed(question_record(**LIST, split="holdout")).questions[0]
    assert question.exhaustive is True
    assert agent_view(question) == {
        "id": "q1",
        "question": "Which town is meant?",
        "as_of": "2026-10-01",
        "context": LIST["context"],
    }
    fields = {field.name for field in msgspec.structs.fields(Question)}
    assert fields - set(AGENT_FIELDS) == {"task_shape", "split", "exhaustive"}


def test_c05_warnings_travel_with_the_dataset() -> None:
    """A dataset with doubtful gold is registered, and says what is doubtful."""
    gold = {"answer": "Samarkand"}
    dataset = parsed(question_record(gold=gold), question_record(id="q2"))
    assert [(w.question, w.clause) for w in dataset.warnings] == [("q1", "C5")]
    text = dataset.warnings_json()
    assert text is not None
    assert b"Samarkand" not in text
    assert parsed(question_record()).warnings_json() is None


def test_meta_data_of_the_whole_dataset() -> None:
    """Cutoff, canary, leak length, provenance and the allowed splits come beside the records."""
    meta: Table = {
        "cutoff": "2026-10-01",
        "canary": "canary 1234",
        "leak_min_length": 6,
        "provenance": "made for a test",
        "splits": ["holdout"],
    }
    dataset = parsed(question_record(split="holdout"), **meta)
    assert (dataset.cutoff, dataset.canary, dataset.leak_min_length, dataset.provenance) == (
        "2026-10-01",
        "canary 1234",
        6,
        "made for a test",
    )
    assert parsed(question_record()).leak_min_length == 4
    (problem,) = problems_of(refused(question_record(split="holdot"), **meta))
    assert (problem.field, problem.expected) == ("split", "holdout")


@pytest.mark.parametrize(
    ("meta", "field"),
    [
        ({"cutoff": "soon"}, "cutoff"),
        ({"canary": "short"}, "canary"),
        ({"leak_min_length": 0}, "leak_min_length"),
        ({"spilts": []}, "spilts"),
    ],
)
def test_bad_meta_data_is_refused(meta: Table, field: str) -> None:
    """Its faults are reported with those of the records, and by the reader of the file."""
    assert fields_of(refused(question_record(), **meta)) == {f"meta.{field}"}
    text = json.dumps(meta).encode()
    assert fields_of(lambda: parse_meta(text, source="meta.json")) == {field}


def test_meta_data_may_be_toml() -> None:
    """The file is read like every other document."""
    assert parse_meta(b'cutoff = "2026"\n', source="meta.toml") == {"cutoff": "2026"}
    assert fields_of(lambda: parse_meta(b"cutoff = 2026-10-01\n", source="m")) == {"cutoff"}


def test_a_reconstructed_dataset_needs_only_ids() -> None:
    """What the source does not say is null; gold of unknown shape is kept as it is."""
    dataset = build_dataset(
        [{"id": "a"}, {"id": 2, "gold": {"target": ["x"]}}, {"id": "f", "task_shape": "fact"}],
        name="log",
        version="1",
        reconstructed=True,
        provenance="a log",
    )
    assert dataset.reconstructed
    assert dataset.questions[0] == Question(id="a")
    assert dataset.gold == {"2": b'{"extra":null,"gold":{"target":["x"]},"id":"2"}'}
    assert dataset.counts_by_shape() == {"unknown": 2, "fact": 1}
    assert (dataset.warnings, dataset.provenance) == ((), "a log")


def test_gold_of_a_known_shape_may_lack_parts_in_a_reconstructed_dataset() -> None:
    """Missing parts are null or empty; wrong ones are refused all the same."""
    record = {"id": "a", "task_shape": "list", "gold": {}}
    dataset = build_dataset([record], name="n", version="1", reconstructed=True)
    gold = msgspec.json.decode(dataset.gold["a"])["gold"]
    assert (gold["items"], gold["exhaustive"], dataset.questions[0].exhaustive) == ([], None, None)
    wrong = {**record, "gold": {"items": "x"}}
    assert fields_of(lambda: build_dataset([wrong], name="n", version="1", reconstructed=True)) == {
        "[0].gold.items"
    }


def test_records_of_a_program_are_held_to_the_profile() -> None:
    """A float that an importer let through is reported with its place."""
    record = question_record(context={"x": 0.5})
    assert fields_of(
        lambda: build_dataset([record], name="n", version="1", reconstructed=True)
    ) == {"[0].context.x"}


@given(st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_nothing(generator: random.Random) -> None:
    """Records whose keys were shuffled give the same questions and the same gold."""
    records = []
    for line in read_template("dataset.jsonl").splitlines():
        members = list(json.loads(line).items())
        generator.shuffle(members)
        records.append(dict(members))
    original = parse_dataset(read_template("dataset.jsonl"), source=None, name="n", version="1")
    assert parsed(*records) == original
    again = decode_questions(original.questions_json())
    assert canonical_json(msgspec.to_builtins(again)) == original.questions_json()
