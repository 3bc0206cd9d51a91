"""Suggested maps: accepted by the file they were made from, and silent about what is undecided."""

import gzip
import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rows_cases import data, lines, write
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.rows import read_rows
from trial_ledger.importing.rows_suggest import suggest_map
from trial_ledger.importing.rows_suggest_text import path_text, quoted
from trial_ledger.importing.source import ImportedRun


def suggested(folder: Path, content: str | bytes | object, name: str = "rows.txt") -> str:
    """Return the map that is suggested for a file."""
    file, _ = write(folder, content, "")
    return suggest_map(file.rename(folder / name))


def taken(folder: Path, content: str | bytes | object, name: str = "rows.txt") -> list[ImportedRun]:
    """Return the runs of a file under the map that is suggested for it."""
    text = suggested(folder, content, name)
    (folder / "map.toml").write_text(text)
    return read_rows(folder / name, folder / "map.toml")


def standing(text: str) -> dict[str, object]:
    """Return what a map says without its comments."""
    return tomllib.loads(text)


def marks(runs: list[ImportedRun]) -> list[list[object]]:
    """Return the verdicts or scores of each run."""
    return [
        [one.get("verdict") or one.get("score") for one in data(run, "judgment.recorded")]
        for run in runs
    ]


HOME_MADE = """\
Task ID,Prompt,Model output,Gold answers,Acceptable?,Latency (ms),total_tokens
1,where?,here,here | there,Yes,120,5
2,when?,now,then,No,80,7
"""
SEMICOLONS = """\
nr;query;response;score;explanation;started_at;ended_at
1;a?;b;4.5;good;2026-10-01T12:00:00Z;2026-10-01T12:00:05Z
2;c?;d;2;bad;2026-10-01T12:01:00Z;2026-10-01T12:01:05Z
"""
ATTEMPTS = """\
question_id,attempt,model,verdict,failure_mode,input_tokens,output_tokens,cost,duration
q1,0,big,C,unset,10,0,0.1,0
q1,1,big,I,agent_timeout,10,5,0.2,3
q1,0,small,P,rate limited,0,5,0.3,4
q1,1,small,N,unset,10,5,0.4,5
"""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (HOME_MADE, [["correct", "incorrect"]]),
        (HOME_MADE.replace(",", "\t"), [["correct", "incorrect"]]),
        (SEMICOLONS, [["9/2", "2"]]),
        ("id,attempt,rating\n1,1,0.5\n1,2,\n", [["1/2"]]),
        (ATTEMPTS, [["correct", "incorrect"], ["partial", "abstained"]]),
        ("id,passed\n1,true\n2,\n", [["correct"]]),
        ("question,answer,correct\na?,b,1\na?,c,0\n", [["correct", "incorrect"]]),
        (
            "id,question,answer,ok\n1,a?,b,1\n1,a?,c,0\n2,d?,e,1\n",
            [["correct", "incorrect", "correct"]],
        ),
        ('id\tanswer\tgrade\n1\t"a" or b\tcorrect\n', [["correct"]]),
    ],
)
def test_a_map_suggested_for_a_table_is_accepted_by_it(
    tmp_path: Path, content: str, expected: list[list[str]]
) -> None:
    """Key, verdict or score of a table are found, whatever the columns are called."""
    assert marks(taken(tmp_path, content)) == expected


ARENA = {
    "run_metadata": {"model": "m-1", "seed": 4},
    "accuracy": 0.75,
    "systems": {
        "a": {
            "summary": {"correct_rate": 0.5, "note": "x"},
            "records": [{"question": "a?", "prediction": "b", "grade": "CORRECT"}],
        },
        "b": {
            "summary": {"correct_rate": 1},
            "records": [{"question": "a?", "prediction": "c", "grade": "NOT_ATTEMPTED"}],
        },
    },
}
REWARDS = [{"task_id": 1, "reward": "NaN"}, {"task_id": 2, "reward": 1}]
BY_ID = {
    "q1": {"info": {"instruction": "do"}, "reward": 0.0, "usage": {"prompt_tokens": 4}},
    "q2": {"info": {"instruction": "go"}, "reward": 1.0, "usage": {"prompt_tokens": 5}},
}
BY_MODEL = {
    "models": {
        "x": {"q1": {"correct": True, "q": 1}, "q2": {"correct": False, "q": 2}},
        "y": {"q1": {"correct": True, "q": 1}, "q2": {"correct": True, "q": 2}},
    }
}
BY_AGENT = {"agents": {"x": {"id": 7, "success": True}, "y": {"id": 7, "success": False}}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (ARENA, [["correct"], ["abstained"]]),
        (BY_ID, [["0", "1"]]),
        (BY_MODEL, [["correct", "incorrect"], ["correct", "correct"]]),
        (BY_AGENT, [["correct"], ["incorrect"]]),
        (
            {"tools": [{"kind": "a"}] * 9, "x": 1, "tests": [{"id": 1, "passed": True}]},
            [["correct"]],
        ),
        ([{"id": 1, "is_resolved": None}, {"id": 2, "is_resolved": True}], [["correct"]]),
        ({"results": [{"id": 1, "score": 1}], "other": [1, 2], "empty": []}, [["1"]]),
        ({"id": 1, "correct": True}, [["correct"]]),
        ({"one": {"two": {"results": REWARDS}}}, [["1"]]),
        ({"model": "m", "rows": [{"id": 1, "Geprüft: correct": True}]}, [["correct"]]),
    ],
)
def test_a_map_suggested_for_a_document_is_accepted_by_it(
    tmp_path: Path, document: object, expected: list[list[str]]
) -> None:
    """The rows of a document are found, in lists and under keys."""
    assert marks(taken(tmp_path, document)) == expected


def test_lines_and_their_inner_lists_are_found(tmp_path: Path) -> None:
    """JSON lines are rows; a line that is called so and holds a list of them is too."""
    rows = lines({"id": 1, "correct": True, "m": 0.5}, {"id": 2, "correct": False, "m": 0.7})
    assert marks(taken(tmp_path, rows)) == [["correct", "incorrect"]]
    graded = {"query": "a?", "evaluation_grade": "CORRECT"}
    one = lines({"run_metadata": {"model": "m"}, "results": [graded]})
    assert marks(taken(tmp_path, one, "one.jsonl")) == [["correct"]]
    assert 'format = "jsonl"' in suggested(tmp_path, one, "one.jsonl")
    assert 'format = "json"' in suggested(tmp_path, one, "one.txt")
    packed = gzip.compress(rows.encode())
    assert marks(taken(tmp_path, packed, "rows.jsonl.gz")) == [["correct", "incorrect"]]
    chat = {"sample_id": 1, "input": [{"role": "user", "content": "a?"}], "score": 1}
    assert marks(taken(tmp_path, lines(chat, {**chat, "sample_id": 2}))) == [["1", "1"]]
    alike = lines({"a": {"x": 1, "correct": True}, "b": {"x": 2, "correct": True}})
    assert marks(taken(tmp_path, alike, "alike.jsonl")) == [["correct", "correct"]]


def test_what_is_found_is_said_with_its_reasons(tmp_path: Path) -> None:
    """Units, zeros, words of failures, numbers of the source: each line stands or is a question."""
    text = suggested(tmp_path, ATTEMPTS)
    found = standing(text)
    assert found["repetition"] == {"path": "attempt", "from": 0}
    assert found["configuration"] == "model"
    assert found["duration"] == {"path": "duration", "unit": "s"}
    assert found["failures"] == [{"value": "failure_mode", "none": ["unset"]}]
    for line in (
        "# seconds? ms and us can be said too",
        '# rows of exactly 0: 1; add unknown = ["0"] if that means not measured',
        '# classes.agent_timeout = {class = "agent_timeout", fault = "…"}',
        '# classes."rate limited" = {class = "rate_limited", fault = "…"}',
        'currency = "USD"  # is it?',
    ):
        assert line in text
    text = suggested(tmp_path, ARENA)
    assert standing(text)["system"] == {"model": "$.run_metadata.model"}
    reported = standing(text)["reported"]
    assert isinstance(reported, list)
    assert [one["value"] for one in reported] == ["^.summary.correct_rate", "^^^.accuracy"]
    assert standing(suggested(tmp_path, SEMICOLONS))["metrics"] == {
        "score": {"score": "score", "scale": ["0", "5"], "reasoning": "explanation"}
    }
    assert 'answer = {path = "Gold answers", split = "|"}' in suggested(tmp_path, HOME_MADE)
    assert '# "sure"' not in suggested(tmp_path, "id,correct,cost_usd\n1,1,0.5\n")


def test_words_of_failures_are_asked_about_only_where_they_are_few(tmp_path: Path) -> None:
    """Nothing is asked where no row failed, nor where every row failed in its own words."""
    never = suggested(tmp_path, "id,correct,error\n1,yes,none\n2,no,OK\n")
    assert standing(never)["failures"] == [{"value": "error", "none": ["none", "OK"]}]
    assert "whose failure" not in never
    rows = "".join(f"{n},yes,odd {n}\n" for n in range(1100))
    often = suggested(tmp_path, "id,correct,error\n" + rows)
    assert standing(often)["failures"] == [{"value": "error"}]
    assert "whose failure" not in often
    strange = suggested(tmp_path, 'id,correct,error\n1,yes,"say ""hi"""\n')
    assert '# classes.\'say "hi"\' = {class = "other", fault = "…"}' in strange


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ("-2,3", ["-2", "5"]),
        ("0.5,1", None),
        ("50,80", ["0", "100"]),
        ("0.5,5000.5", ["0", "5001"]),
    ],
)
def test_a_scale_is_one_that_people_use(
    tmp_path: Path, values: str, scale: list[str] | None
) -> None:
    """The ends of a scale are suggested from the values, rounded outwards."""
    content = "id,rating\n" + "".join(f"{n},{v}\n" for n, v in enumerate(values.split(",")))
    metrics = standing(suggested(tmp_path, content))["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["rating"].get("scale") == scale


def test_times_are_told_by_their_size(tmp_path: Path) -> None:
    """Numbers since 1970 are seconds or milliseconds; small ones and other texts are no times."""
    for value, rule in (
        ("1790000000", {"path": "timestamp", "unit": "s"}),
        ("1790000000000", {"path": "timestamp", "unit": "ms"}),
        ("2026-10-01T12:00:00Z", "timestamp"),
        ("12", None),
        ("at noon", None),
    ):
        text = suggested(tmp_path, f"id,correct,timestamp\n1,yes,{value}\n")
        assert standing(text).get("started") == rule


def test_an_empty_text_in_json_is_no_number_and_no_verdict(tmp_path: Path) -> None:
    """Where an empty text is a value, the map says that it means unknown."""
    row = {"id": 1, "correct": "yes", "latency_s": 1.5, "cost_usd": "$0.1", "started_at": 1.79e9}
    other = {"id": 2, "correct": "", "latency_s": "", "cost_usd": "", "started_at": ""}
    assert marks(taken(tmp_path, [row, other])) == [["correct"]]
    assert marks(taken(tmp_path, [{**row, "correct": "C"}, other])) == [["correct"]]
    scored = [{"id": 1, "score": 1}, {"id": 2, "score": ""}, {"id": 3, "score": "NaN"}]
    assert marks(taken(tmp_path, scored[:2])) == [["1"]]
    assert marks(taken(tmp_path, scored)) == [["1"]]


def test_the_suggested_key_tells_all_rows_apart(tmp_path: Path) -> None:
    """A repetition that does not, or an id with two texts or two right answers, is not believed."""
    text = suggested(tmp_path, "id,attempt,correct\n1,1,yes\n1,1,no\n")
    assert standing(text)["repetition"] == {"count": True}
    content = "id,question,target,correct\n1,a?,x,yes\n1,b?,x,no\n"
    assert standing(suggested(tmp_path, content))["id"] == ["id", {"row": True}]
    assert marks(taken(tmp_path, content.replace("b?,x", "a?,y"))) == [["correct", "incorrect"]]
    assert standing(suggested(tmp_path, "correct\nyes\nno\n"))["id"] == {"row": True}
    rows = [{"question": "a?", "correct": True}, {"question": None, "correct": False}]
    assert marks(taken(tmp_path, rows)) == [["correct", "incorrect"]]
    groups = {"systems": {"a": {"rows": [{"id": 1, "model": "x", "correct": True}] * 2}}}
    assert marks(taken(tmp_path, groups)) == [["correct", "correct"]]
    long = {"id": 1, "correct": True, "duration": 10**12}
    assert "duration" not in standing(suggested(tmp_path, [long]))


def test_what_cannot_be_decided_is_commented_out(tmp_path: Path) -> None:
    """Without a verdict, or an id, the map says what is open and names the columns left."""
    text = suggested(tmp_path, "thing,note,share\na,b,0.25\nc,d,0.5\n")
    assert "# which column names the question? One of these" in text
    assert "# What was judged could not be told." in text
    assert '# [metrics."share"]  # could be a score; remove the # if it is' in text
    assert "metrics" not in standing(text)
    text = suggested(
        tmp_path, lines({"id": 1, "question": "a?", "answer": ["x"], "prediction": "x"})
    )
    assert standing(text)["gold"] == {"answer": "answer"}
    assert "# columns that are left" in text
    many = {"id": 1, **{f"c{number}": "x" for number in range(300)}}
    assert "and 191 more" in suggested(tmp_path, lines(many))


def test_a_verdict_and_a_score_of_one_name_are_two_metrics(tmp_path: Path) -> None:
    """Columns whose last words are the same do not become one table."""
    row = {"id": 1, "a": {"grade": "CORRECT"}, "b": {"grade": 0.5}}
    other = {"id": 2, "a": {"grade": "INCORRECT"}, "b": {"grade": 0.25}}
    metrics = standing(suggested(tmp_path, [row, other]))["metrics"]
    assert isinstance(metrics, dict)
    assert set(metrics) == {"grade", "grade_score"}


def test_faults_of_the_file_are_said_in_the_map(tmp_path: Path) -> None:
    """A file that import would refuse says so before anybody imports it."""
    text = suggested(tmp_path, "id,correct\n1,yes\n2\n")
    assert "# THE FILE HAS A FAULT, import will refuse it" in text
    assert "rows.txt:3: another number of cells than the header has" in text


@pytest.mark.parametrize("content", ["", "id,correct\n", '{"id": ', "[]", "a,b\nc\n"])
def test_a_file_without_rows_is_refused(tmp_path: Path, content: str) -> None:
    """Nothing can be suggested where there is nothing."""
    with pytest.raises(InvalidInputError) as caught:
        suggested(tmp_path, content)
    assert caught.value.hint == "ledger help formats says which forms are read"


def test_signs_of_currencies_are_cut_off(tmp_path: Path) -> None:
    """`$0.10` is an amount of dollars, as long as every amount is one."""
    (run,) = taken(tmp_path, "id,correct,cost\n1,yes,€0.10\n2,yes,\n")
    costs = [one.get("cost") for one in data(run, "call.finished")]
    assert costs == [{"amount": "0.1", "currency": "EUR", "basis": "reported"}, None]
    mixed = suggested(tmp_path, "id,correct,cost\n1,yes,$0.10\n2,yes,cheap\n")
    assert "spend" not in standing(mixed)


def test_the_document_names_system_and_model(tmp_path: Path) -> None:
    """What was evaluated may stand beside the rows, at the top or one object deep."""
    document = {"agent": "bot", "meta": {"model": "m"}, "rows": [{"id": 1, "passed": True}]}
    (run,) = taken(tmp_path, document)
    assert run.manifest.configuration.startswith("bot-")
    assert run.manifest.models["main"].name == "m"


def test_an_encoding_is_found(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are taken for those of Western Windows, unless they are no text."""
    content = "id,question,correct\n1,wo ist Köln?,yes\n".encode("cp1252")
    assert standing(suggested(tmp_path, content))["encoding"] == "cp1252"
    assert marks(taken(tmp_path, content)) == [["correct"]]
    assert marks(taken(tmp_path, content.decode("cp1252").encode("utf-16"))) == [["correct"]]
    with pytest.raises(InvalidInputError):
        suggested(tmp_path, b"id\n\x00\xff\n")


def test_deep_documents_end_somewhere(tmp_path: Path) -> None:
    """Rows are looked for in the outer objects only."""
    document: object = [{"id": 1, "correct": True}]
    for _ in range(9):
        document = {"inner": document}
    assert "rows" not in standing(suggested(tmp_path, document))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.text())
def test_every_name_and_value_is_quoted_so_that_toml_reads_it_back(
    keys: list[str], value: str
) -> None:
    """No name of a column and no value can become a line of the map."""
    written = quoted(value)
    if not any("\ud800" <= char <= "\udfff" for char in value):
        assert tomllib.loads(f"x = {written}") == {"x": value}
    assert "\n" not in quoted(path_text(keys))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ROWS = st.dictionaries(TEXTS, TEXTS | st.none() | st.booleans() | st.integers(-9, 9), max_size=5)


@given(ROWS)
def test_a_suggestion_is_toml_whatever_the_file_holds(
    tmp_path_factory: pytest.TempPathFactory, row: dict[str, object]
) -> None:
    """Hostile names of columns and hostile values stay inside of strings and comments."""
    folder = tmp_path_factory.mktemp("hostile", numbered=True)
    text = suggested(folder, json.dumps([row, {**row, "correct": True}]))
    assert tomllib.loads(text)["format"] == "json"
