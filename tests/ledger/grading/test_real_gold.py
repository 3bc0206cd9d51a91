"""Real gold sets: graded against itself gold is perfect, and planted faults are told apart."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from document_cases import real_data
from grading_cases import count, graded, part, ratio
from trial_ledger.documents.dataset import Dataset, parse_dataset, parse_field_map
from trial_ledger.grading.grader import Grade, gold_of

FRESHQA = b"""
format = "csv"
skip_lines = 2
id = "id"
question = "question"
task_shape = {const = "fact"}
[gold]
answer = "answer_0"
alternatives = ["answer_1", "answer_2", "answer_3", "answer_4", "answer_5", "answer_6", "answer_7",
  "answer_8", "answer_9"]
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
[gold]
records = ["record"]
[gold.fields.const]
company = {type = "text"}
date = {type = "date"}
address = {type = "text", missing = "allowed"}
total = {type = "decimal"}
"""

BFCL_FACTS = b"""
format = "jsonl"
id = "id"
question = {const = "asked in another file"}
task_shape = {const = "fact"}
[gold]
answer = "ground_truth[0]"
alternatives = "ground_truth"
"""

FIELDS, RECORDS = "structured.field_accuracy", "structured.record_accuracy"
Gold = dict[str, Any]


def gold_in(data: bytes, field_map: bytes | None) -> dict[str, Gold]:
    """Return the gold of every question, as a grader gets it."""
    mapped = None if field_map is None else parse_field_map(field_map, source="map.toml")
    dataset: Dataset = parse_dataset(
        data, source="file", name="n", version="1", field_map=mapped, reconstructed=True
    )
    found = {name: gold_of(record) for name, record in dataset.gold.items()}
    return {name: gold for name, gold in found.items() if gold is not None}


def fanoutqa(name: str) -> dict[str, Gold]:
    """Return the gold of one version of FanOutQA."""
    return gold_in(real_data(f"gold-fanoutqa-dev/{name}"), FANOUTQA)


def score(gold: Gold, answer: Gold) -> str | None:
    """Return the score of gold as an answer, by the measure of its shape."""
    if "records" in gold:
        text = json.dumps(answer["records"][::-1])
        return graded("record-match@1", gold, text, FIELDS, key=["item"]).score
    if "items" in gold:
        return graded("list-match@1", gold, json.dumps(answer["items"][::-1]), "list.f1").score
    return graded("normalised-match@1", gold, str(answer["answer"]), "fact.correctness").score


def test_freshqa_is_right_by_each_of_its_accepted_answers() -> None:
    """600 facts with up to ten accepted answers; the answer to another question is not right."""
    gold = gold_in(real_data("gold-freshqa/FreshQA_v10282024.csv"), FRESHQA)
    assert len(gold) == 600
    answers = [[known["answer"], *known["alternatives"]] for known in gold.values()]
    for number, known in enumerate(gold.values()):
        for place, text in enumerate(answers[number]):
            for grader in ("normalised-match@1", "includes@1"):
                found = graded(grader, known, text)
                assert found.verdict == "correct", text
            if text not in answers[number][:place]:
                label = f"alternative {place}" if place else "answer"
                whole = graded("normalised-match@1", known, text, normaliser="none")
                assert part(whole, "match") == label
        other = answers[number - 1][0]
        if other not in answers[number]:
            whole = graded("normalised-match@1", known, other, normaliser="none")
            assert whole.verdict == "incorrect"


@pytest.mark.parametrize("name", ["fanout-final-dev-nov23.json", "fanout-final-dev.json"])
def test_fanoutqa_graded_against_itself_is_perfect(name: str) -> None:
    """310 questions of three shapes, in another order than gold has."""
    assert Counter(score(gold, gold) for gold in fanoutqa(name).values()) == {"1": 310}


def test_fanoutqa_of_another_version_is_not_perfect_where_gold_changed() -> None:
    """Of 82 corrected answers the old ones are wrong now, but for two that mean the same."""
    old, new = fanoutqa("fanout-final-dev-nov23.json"), fanoutqa("fanout-final-dev.json")
    changed = {name for name in new if not same_answer(old[name], new[name])}
    lost = {name for name in new if score(new[name], old[name]) != "1"}
    assert lost < changed
    assert (len(changed), len(lost)) == (82, 80)


def same_answer(one: Gold, other: Gold) -> bool:
    """Return whether two gold versions say the same, in whatever order."""
    parts = [
        [
            gold.get("answer"),
            sorted(map(json.dumps, gold.get("items") or gold.get("records") or [])),
        ]
        for gold in (one, other)
    ]
    return parts[0] == parts[1]


def test_planted_faults_in_fanoutqa_are_told_apart() -> None:
    """A wrong value, a null, a gap; a missing, an extra and a repeated record."""
    for gold in fanoutqa("fanout-final-dev.json").values():
        if len(gold.get("records", ())) < 4:
            continue
        records = [dict(record) for record in gold["records"]]
        size = len(records)
        records[0]["value"] = "certainly not this"
        records[1]["value"] = None
        del records[2]["value"]
        repeated = {**records[0], "value": gold["records"][0]["value"]}
        answer = [*records[:-1], {"item": "nobody asked for this"}, repeated]
        found = graded("record-match@1", gold, json.dumps(answer), FIELDS, key=["item"])
        fields = ("wrong", "false_null", "missing", "missing_record_field")
        planted = (*fields, "missing_records", "extra_records", "duplicate_records")
        assert {name: count(found, name) for name in planted} == dict.fromkeys(planted, 1)
        assert ratio(found, "fields") == (size - 4, size)


def receipts() -> Mapping[str, Gold]:
    """Return the gold of the receipts."""
    return gold_in(real_data("gold-sroie-records/sroie_keys.jsonl"), SROIE)


NOTATION: dict[str, Any] = {"units": ["RM", "$"], "thousands": "comma", "dates": "day-first"}


def receipt(gold: Gold, record: Gold, measure: str = FIELDS, **settings: str) -> Grade:
    """Return the judgment on one receipt."""
    options = {**NOTATION, **settings}
    return graded("record-match@1", gold, json.dumps(record), measure, **options)


def test_receipts_graded_against_themselves_are_perfect() -> None:
    """626 receipts with dates in 30 notations and totals in several currencies."""
    for name, gold in receipts().items():
        (record,) = gold["records"]
        for measure in (FIELDS, RECORDS):
            assert receipt(gold, record, measure).score == "1", name
            assert receipt(gold, record, measure, dates="iso", thousands="none").score == "1"


def test_planted_faults_in_receipts_come_out_as_the_table_says() -> None:
    """Each field of each receipt made wrong, null and absent in turn."""
    outcomes: Counter[str] = Counter()
    for gold in receipts().values():
        (record,) = gold["records"]
        for field in record:
            for planted, value in (("wrong", "-1"), ("false_null", None), ("missing", "")):
                answer = {**record, field: value}
                if planted == "missing":
                    del answer[field]
                found = receipt(gold, answer)
                named = [name for name in (planted, "undecided") if count(found, name)]
                assert len(named) == 1
                outcomes[f"{planted}: {named[0]}"] += 1
                right, total = ratio(found, "fields")
                assert (right, total) == (len(record) - 1, len(record))
    fields = 626 * 4 - 1
    # What nobody can say: dates with a month in words or a year of two digits, a total of "".
    assert outcomes["wrong: undecided"] + outcomes["wrong: wrong"] == fields
    assert 150 < outcomes["wrong: undecided"] < 250
    assert outcomes["false_null: false_null"] == outcomes["missing: missing"] == fields


def test_an_empty_and_an_absent_field_of_a_receipt_are_different_things() -> None:
    """033 has the total "", which may be null; 104 has no address, so that none is graded."""
    gold = receipts()
    (empty,) = gold["033"]["records"]
    assert empty["total"] == ""
    without = {**empty, "total": None}
    assert part(receipt(gold["033"], without), "false_null") == 1
    assert part(receipt(gold["033"], without, empty_text="null"), "correct_null") == 1
    made_up = {**empty, "total": "9.00"}
    assert part(receipt(gold["033"], made_up, empty_text="null"), "spurious") == 1
    (absent,) = gold["104"]["records"]
    found = receipt(gold["104"], {**absent, "address": "anything"})
    assert (found.score, part(found, "ungraded"), part(found, "fields")) == ("1", 1, (3, 3))


def calls(name: str) -> dict[str, Gold]:
    """Return the gold of function calls: each parameter with its accepted values."""
    lines = []
    for line in real_data(f"gold-bfcl/possible_answer/{name}").splitlines():
        record = json.loads(line)
        ((_, parameters),) = record["ground_truth"][0].items()
        fields = {
            parameter: {"type": kind(values), "comparator": "any_of", "missing": "allowed"}
            for parameter, values in parameters.items()
        }
        gold = {"records": [parameters], "fields": fields}
        question = {"id": record["id"], "question": "?", "task_shape": "structured", "gold": gold}
        lines.append(json.dumps(question))
    return gold_in("\n".join(lines).encode(), None)


def kind(values: list[object]) -> str:
    """Return the type of a parameter by its accepted values, of which "" means that it may lack."""
    named = [value for value in values if value != ""]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in named)
    return "decimal" if named and numbers else "text"


@pytest.mark.parametrize(
    ("name", "size"), [("BFCL_v4_live_simple.json", 258), ("BFCL_v4_simple_python.json", 400)]
)
def test_function_calls_may_lack_what_is_optional_and_nothing_else(name: str, size: int) -> None:
    """Every accepted value is right, "" among them makes a parameter optional, others are wrong."""
    gold = calls(name)
    assert len(gold) == size
    whole = {question: known for question, known in gold.items() if is_whole(known)}
    assert set(gold) - set(whole) <= {"live_simple_106-63-0", "live_simple_112-68-0"}
    for known in whole.values():
        (accepted,) = known["records"]
        full = {
            parameter: next((value for value in values if value != ""), "")
            for parameter, values in accepted.items()
        }
        required = {name: value for name, value in full.items() if "" not in accepted[name]}
        for answer in (full, required):
            found = called(known, answer)
            assert found.score == ("1" if accepted else None)
        assert count(called(known, required), "correct_omission") == len(full) - len(required)
        for parameter, values in accepted.items():
            for value in values:
                assert called(known, {**full, parameter: value}).score == "1"
            wrong = called(known, {**full, parameter: {"certainly": "wrong"}})
            nothing = all(value is None or value == "" for value in values)
            assert part(wrong, "spurious" if nothing else "wrong") == 1
            lacking = {name: value for name, value in full.items() if name != parameter}
            outcome = "correct_omission" if "" in values else "missing"
            assert count(called(known, lacking), outcome) >= 1


def is_whole(gold: Gold) -> bool:
    """Return whether every parameter of a call has an accepted value; two calls have not."""
    (accepted,) = gold["records"]
    full = {parameter: values[0] for parameter, values in accepted.items() if values}
    found = called(gold, full)
    nothing = len(accepted) - len(full)
    assert count(found, "undecided") == nothing
    assert (found.verdict == "not_gradable") == (nothing > 0 or not accepted)
    return nothing == 0


def called(gold: Gold, answer: Gold) -> Grade:
    """Return the judgment on the parameters of a call."""
    return graded("record-match@1", gold, json.dumps(answer), FIELDS, empty_text="null")


def test_function_call_facts_are_right_by_each_accepted_answer() -> None:
    """100 facts with accepted alternatives."""
    gold = gold_in(real_data("gold-bfcl/possible_answer/BFCL_v4_web_search.json"), BFCL_FACTS)
    assert len(gold) == 100
    for known in gold.values():
        for text in known["alternatives"]:
            assert graded("normalised-match@1", known, text).verdict == "correct"
