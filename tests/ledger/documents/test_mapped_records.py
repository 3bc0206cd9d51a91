"""Existing datasets are read as they are: real gold sets, and what can go wrong in a file."""

from collections import Counter

import msgspec
import pytest

from document_cases import Table, problems_of, real_data
from trial_ledger.documents.dataset import Dataset, parse_dataset, parse_field_map
from trial_ledger.errors import Problem

FRESHQA = b"""
format = "csv"
skip_lines = 2
id = "id"
question = "question"
task_shape = {const = "fact"}
as_of = {const = "2024-10-28"}
split = {path = "split", map = {TEST = "test", DEV = "dev"}}
[gold]
answer = "answer_0"
alternatives = ["answer_1", "answer_2", "answer_3", "answer_4", "answer_5", "answer_6", "answer_7",
  "answer_8", "answer_9"]
evidence = {path = "source", split = "\\n", wrap = "url"}
[extra]
false_premise = {path = "false_premise", map = {TRUE = true, FALSE = false}}
next_review = "next_review"
"""

FANOUTQA = b"""
format = "json"
id = "id"
question = "question"
[task_shape]
path = "answer"
types = {object = "structured", array = "list", text = "fact", integer = "fact", boolean = "fact"}
[gold.structured]
records = {path = "answer", entries = ["item", "value"]}
fields = {const = {item = {type = "text"}, value = {type = "text"}}}
[gold.structured.evidence]
path = "decomposition[*].evidence"
each = {url = "url", revision = "revid", title = "title"}
[gold.list]
items = "answer"
exhaustive = {const = true}
[gold.fact]
answer = "answer"
"""

SROIE = b"""
format = "jsonl"
id = "id"
question = {const = "Which company issued the receipt, when, where, and over which total?"}
task_shape = {const = "structured"}
context = {receipt = "id"}
[gold]
records = ["record"]
[gold.fields.const]
company = {type = "text"}
date = {type = "date"}
address = {type = "text", missing = "allowed"}
total = {type = "decimal"}
"""

BFCL = b"""
format = "jsonl"
id = "id"
question = {const = "asked in another file"}
task_shape = {const = "fact"}
[gold]
answer = "ground_truth[0]"
alternatives = "ground_truth"
evidence = {path = "source[*].source", wrap = "url"}
[extra]
hops = "num_hops"
subquestions = "source[*].subquestion"
"""


def read(data: bytes, field_map: bytes, *, reconstructed: bool = False) -> Dataset:
    """Return the dataset of a file under a map."""
    return parse_dataset(
        data,
        source="file",
        name="n",
        version="1",
        field_map=parse_field_map(field_map, source="map.toml"),
        reconstructed=reconstructed,
    )


def gold_of(dataset: Dataset, question: str) -> Table:
    """Return the gold record of a question."""
    record: Table = msgspec.json.decode(dataset.gold[question])
    return record


def mapped(record: object, rule: str) -> object:
    """Return what a rule for the context gives for one record."""
    data = msgspec.json.encode({"id": "q", "x": record})
    field_map = f'format = "jsonl"\nid = "id"\ncontext = {rule}\n'.encode()
    return read(data, field_map, reconstructed=True).questions[0].context


def test_c01_freshqa_is_read_as_it_is() -> None:
    """600 facts from a CSV file with two lines before its header, false premises kept apart."""
    dataset = read(real_data("gold-freshqa/FreshQA_v10282024.csv"), FRESHQA)
    assert dataset.counts_by_split() == {"test": 500, "dev": 100}
    assert dataset.counts_by_shape() == {"fact": 600}
    records = [gold_of(dataset, question.id) for question in dataset.questions]
    assert sum(record["extra"]["false_premise"] for record in records) == 148
    assert sum(bool(record["gold"]["alternatives"]) for record in records) == 288
    first = records[0]["gold"]
    assert first["answer"] == "No animal has ever landed on the moon yet."
    assert first["alternatives"] == ["Since humans are animals, one could say Neil Armstrong."]
    assert [piece["url"].partition("#")[0] for piece in first["evidence"]] == [
        "https://en.wikipedia.org/wiki/Animals_in_space",
        "https://en.wikipedia.org/wiki/Neil_Armstrong",
    ]
    assert all(question.as_of == "2024-10-28" for question in dataset.questions)


def test_c01_both_versions_of_fanoutqa_are_read_as_they_are() -> None:
    """310 questions of three shapes; 82 gold answers differ between the versions."""
    names = ("fanout-final-dev-nov23.json", "fanout-final-dev.json")
    old, new = (read(real_data(f"gold-fanoutqa-dev/{name}"), FANOUTQA) for name in names)
    assert new.counts_by_shape() == {"structured": 274, "list": 12, "fact": 24}
    assert set(old.gold) == set(new.gold)
    first = gold_of(new, "7dcbbbdc7f1120cd")["gold"]
    assert first["records"][0] == {"item": "Pat Burrell", "value": "Right"}
    assert first["evidence"][0]["revision"] == 1172527864
    texts = [gold_of(new, question)["gold"] for question in new.gold]
    assert any(
        isinstance(record["value"], str) and record["value"].replace(".", "").isdigit()
        for gold in texts
        for record in gold.get("records", ())
    )

    def answers(dataset: Dataset, question: str) -> list[object]:
        gold = gold_of(dataset, question)["gold"]
        records = sorted(gold.get("records", ()), key=lambda record: str(record["item"]))
        return [gold.get("answer"), gold.get("items"), records]

    assert sum(answers(old, name) != answers(new, name) for name in new.gold) == 82


def test_c01_sroie_is_read_as_it_is() -> None:
    """626 receipts; an empty field and a missing field stay different things."""
    dataset = read(real_data("gold-sroie-records/sroie_keys.jsonl"), SROIE)
    assert dataset.counts_by_shape() == {"structured": 626}
    assert gold_of(dataset, "033")["gold"]["records"][0]["total"] == ""
    assert "address" not in gold_of(dataset, "104")["gold"]["records"][0]
    assert dataset.questions[33].context == {"receipt": "033"}


def test_c01_bfcl_web_search_is_read_as_it_is() -> None:
    """100 facts with accepted alternatives and the sources of every hop."""
    name = "gold-bfcl/possible_answer/BFCL_v4_web_search.json"
    dataset = read(real_data(name), BFCL)
    assert len(dataset.gold) == 100
    record = gold_of(dataset, "web_search_0")
    assert record["gold"]["answer"] == "Zhang Yiming"
    assert len(record["gold"]["evidence"]) == record["extra"]["hops"] == 3


@pytest.mark.parametrize(
    ("record", "rule", "value"),
    [
        ({"a": [1, {"b": 2}]}, "'x.a[1].b'", 2),
        ({"a": [1]}, "'x.a[1].b'", None),
        ("text", "'x[0]'", None),
        ("text", "'x.a'", None),
        ("text", "'x[*]'", []),
        ([{"a": 1}, {}, {"a": None}, {"a": 3}], "'x[*].a'", [1, 3]),
        ([{"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 3}]}], "'x[*].a[*].b'", [1, 2, 3]),
        ([[1], [2]], "'x[*]'", [[1], [2]]),
        ('{"a": [0.10]}', "{path = 'x', json = true}", {"a": ["0.10"]}),
        ({"a": 1}, "{path = 'x', json = true}", {"a": 1}),
        (" a ;b;; ", "{path = 'x', split = ';'}", ["a", "b"]),
        (3, "{path = 'x', split = ';'}", 3),
        ({"a": 1, "b": 2}, "{path = 'x', take = 'keys'}", ["a", "b"]),
        ({"a": 1, "b": 2}, "{path = 'x', take = 'values'}", [1, 2]),
        ({"a": 1}, "{path = 'x', entries = ['k', 'v']}", [{"k": "a", "v": 1}]),
        ({"a": 1}, "{path = 'x', text = true}", {"a": "1"}),
        (
            [1, True, False, None, "x"],
            "{path = 'x', text = true}",
            ["1", "true", "false", None, "x"],
        ),
        (True, "{path = 'x', map = {true = 'yes', false = 'no'}}", "yes"),
        (7, "{path = 'x', map = {7 = 'seven'}}", "seven"),
        (None, "{path = 'x', map = {null = 'nothing'}}", "nothing"),
        (None, "{path = 'x', map = {a = 1}}", None),
        (None, "{path = 'x', types = {null = 'none', text = 'some'}}", "none"),
        ("a", "{path = 'x', types = {text = 'some'}, map = {some = 1}}", 1),
        ("", "'x'", ""),
        ("u", "{path = 'x', wrap = 'url'}", [{"url": "u"}]),
        (["u", "v"], "{path = 'x', wrap = 'url'}", [{"url": "u"}, {"url": "v"}]),
        ([{"a": 1}, {}], "{path = 'x', each = {b = 'a'}}", [{"b": 1}, None]),
        ({"a": 1}, "{path = 'x', each = 'a'}", [1]),
        (1, "['x', 'y', {const = 2}]", [1, 2]),
        (1, "{a = 'x', b = 'y'}", {"a": 1}),
        (1, "{a = 'y'}", None),
    ],
)
def test_rules_move_split_and_name_values(record: object, rule: str, value: object) -> None:
    """Each step does one thing, and what leads nowhere gives nothing."""
    assert mapped(record, rule) == value


def test_gold_goes_by_the_shape_that_was_found() -> None:
    """Each shape has a rule of its own; lines before a header are passed over."""
    field_map = b"""
    format = "csv"
    skip_lines = 1
    id = "id"
    question = "q"
    task_shape = "shape"
    [gold.fact]
    answer = "gold"
    [gold.list]
    items = {path = "gold", split = ";"}
    """
    data = b"made by hand\nid,q,shape,gold\na,x,fact,A;B\nb,x,list,A;B\n"
    dataset = read(data, field_map)
    assert gold_of(dataset, "a")["gold"]["answer"] == "A;B"
    assert gold_of(dataset, "b")["gold"]["items"] == ["A", "B"]
    same = b'format="jsonl"\nid="id"\nquestion="id"\ntask_shape={const="fact"}\ngold={answer="a"}'
    assert gold_of(read(b'{"id":"q","a":"A"}', same), "q")["gold"]["answer"] == "A"


def test_the_record_itself_can_be_kept() -> None:
    """A dot stands for everything that the source has."""
    data = b'{"id":"q","more":[1]}'
    dataset = read(data, b'format="jsonl"\nid="id"\nextra="."\n', reconstructed=True)
    assert gold_of(dataset, "q")["extra"] == {"id": "q", "more": [1]}


def failures(data: bytes, field_map: str, fmt: str = "jsonl") -> list[Problem]:
    """Return the faults of a file under a map."""
    text = f'format = "{fmt}"\nid = "id"\n{field_map}\n'
    return list(problems_of(lambda: read(data, text.encode(), reconstructed=True)))


def test_values_without_a_rule_are_faults_of_their_record() -> None:
    """An untranslated value, an unforeseen type and broken JSON are told with line and field."""
    data = b'{"id":"a","x":"A"}\n{"id":"b","x":"B"}\n{"id":"c","x":["C"]}\n'
    problems = failures(data, 'split = {path = "x", types = {text = "t"}}')
    assert [(p.line, p.field, p.found, p.expected) for p in problems] == [
        (3, "split", "'array'", "text")
    ]
    problems = failures(data[:38], 'split = {path = "x", map = {A = "a"}}')
    assert [(p.line, p.field, p.found, p.expected) for p in problems] == [(2, "split", "'B'", "A")]
    data = b'{"id":"a","x":"{"}\n{"id":"b","x":"{\\"k\\":NaN}"}\n'
    problems = failures(data, 'context = {path = "x", json = true}')
    assert [(p.line, p.field) for p in problems] == [(1, "context"), (2, "context.k")]


def test_records_of_a_json_document_are_named_by_their_path() -> None:
    """Where a format has no lines the place is the path of the record."""
    data = b'{"data":[{"qas":[{"id":"a","x":"A"},3]}]}'
    problems = failures(data, 'records = "data[0].qas"\nsplit = {path="x", map={B="b"}}', "json")
    assert [(p.line, p.field) for p in problems] == [
        (None, "data[0].qas[0].split"),
        (None, "data[0].qas[1]"),
    ]
    problems = failures(b'{"data":{}}', 'records = "data"', "json")
    assert [(p.field, p.found) for p in problems] == [("records", "a table")]
    problems = failures(b'[{"id":"a"},{"id":"a"}]', 'records = "."', "json")
    assert [p.message for p in problems] == ["question id stands twice, first on record [0]"]
    data = b'{"a":[[{"id":1}],[{"id":2}]]}'
    every = b'format="json"\nid="id"\nrecords="a[*][*]"\n'
    assert len(read(data, every, reconstructed=True).questions) == 2
    assert [p.field for p in failures(b'{"a":[[3]]}', 'records = "a[*][*]"', "json")] == [
        'a."*"."*"[0]'
    ]


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"id,x\na,1,2\n", "more cells than the header has", 2),
        (b"id,x,x\na,1,2\n", "columns stand twice: 'x'", 1),
        (b'id,x\na,"1\n', "not CSV: unexpected end of data", 2),
        (b'id,x\na,"1"2\n', "not CSV: ',' expected after '\"'", 2),
        (b"", "holds no question", None),
        (b"id,x\n", "holds no question", None),
    ],
)
def test_csv_files_that_cannot_be_read_name_the_line(
    data: bytes, message: str, line: int | None
) -> None:
    """A broken row is a fault of its line."""
    problems = failures(data, 'context = "x"', "csv")
    assert [(p.message, p.line) for p in problems] == [(message, line)]


def test_csv_rows_may_span_lines_and_be_short() -> None:
    """The line of a row is where it begins; missing cells are no value, blank lines no row."""
    data = b'id,x,y\na,"1\n2",\n\nb\nc,,"3"\nc,4,5\n'
    problems = failures(data, 'context = ["x", "y"]', "csv")
    assert [(p.line, p.message) for p in problems] == [
        (7, "question id stands twice, first on line 6")
    ]
    field_map = b'format = "csv"\nid = "id"\ncontext = ["x", "y"]\n'
    dataset = read(data.replace(b"c,4,5\n", b""), field_map, reconstructed=True)
    assert [question.context for question in dataset.questions] == [["1\n2"], [], ["3"]]


def test_other_delimiters_and_encodings() -> None:
    """A tab separates as declared; bytes that are no UTF-8 are refused with their line."""
    field_map = b'format = "csv"\ndelimiter = "\\t"\nid = "id"\nsplit = "s"\n'
    dataset = read(b"\xef\xbb\xbfid\ts\na\tx\n", field_map, reconstructed=True)
    assert Counter(q.split for q in dataset.questions) == {"x": 1}
    (problem,) = problems_of(lambda: read(b"id\ts\n\xff\tx\n", field_map))
    assert problem.line == 2
