"""Row maps: what they can say, and every fault of one at once."""

from pathlib import Path

import pytest

from rows_cases import CSV, JSONL, VERDICT, faults
from trial_ledger.errors import InvalidInputError
from trial_ledger.importing.rows_map import parse_row_map
from trial_ledger.importing.rows_structs import ANY_KEY, RowMap, Value

WHOLE = b"""
format = "jsonl"
rows = "systems.*.records[*].\\"a.b\\"[0]"
rows_are = "trials"
only = {path = "status", is = ["done", 1, true], not = "x", starts = "d"}
name = "n"
phase = "pilot"
run = "^^.batch"
configuration = "*2"
system = {model = "$.meta.model"}
id = ["task", {row = true}]
question = "q"
repetition = {path = "try", from = 0}
session = "s"
input = "given"
answer = {path = "cell", json = true, at = "a[0]", parts = [[".", -2], ["-of-", 0]]}
citations = "c"
outcome = {path = "end", map = {ok = "answered"}}
started = {path = "t0", unit = "ms"}
ended = {path = "t1", offset = "+00:00"}
duration = {path = "d", unknown = [0], when = {path = "^.x", is = [""]}, optional = true}
unknown = ["agent cost"]
primary = "points"
gold = {answer = "g", alternatives = {path = "gs", split = ";"}}
planned = {repetitions = 3, questions = {path = "$.ids"}, missing = "not_started"}

[metrics.correct]
verdict = {path = "ok", map = {y = "correct"}}
by = "human"
grader = "who"
cost = "jc"
currency = "cur"
criteria = {rows = "parts", name = "n", label = "l"}
[metrics.points]
score = {path = "points", map = {NaN = "judge_failed", top = "0.5"}}
scale = [-1, "10/2"]
direction = "lower"
aggregate = "trial-mean"

[[failures]]
value = "error"
none = ["unset"]
fault = "agent"
[failures.classes]
boom = {class = "timeout", fault = "harness", outcome = "limit"}

[spend.agent]
purpose = "search"
model = "m"
input_tokens = "i"
units = {requests = "r"}

[calls]
rows = "calls"
purpose = {path = "role", map = {tool = "tool", user = "none"}}
[[calls.failures]]
when = {path = "x", starts = "Error"}
class = "tool_error"

[[reported]]
metric = "points"
name = "mean"
value = "^.summary.mean"
rule = "mean"
"""


def parsed(text: bytes) -> RowMap:
    """Return the map of a text."""
    return parse_row_map(text, source="map.toml")


def wrong(text: str) -> list[str]:
    """Return the faults of a map."""
    with pytest.raises(InvalidInputError) as caught:
        parsed(text.encode())
    assert caught.value.hint == "ledger import rows FILE --suggest prints a map to start from"
    return [str(problem) for problem in caught.value.problems]


def test_a_map_says_all_of_it() -> None:
    """Every key of a map arrives in what is made of it."""
    found = parsed(WHOLE)
    assert found.rows == ("systems", ANY_KEY, "records", None, "a.b", 0)
    assert found.only is not None
    assert found.only.values == ("done", "1", "true")
    assert (found.only.others, found.only.prefix) == (("x",), "d")
    assert found.run is not None
    assert found.run.where is not None
    assert (found.run.where.origin, found.run.where.level) == ("enclosing", 2)
    assert found.configuration.where is not None
    assert (found.configuration.where.origin, found.configuration.where.level) == ("key", 2)
    assert found.system["model"].where is not None
    assert found.system["model"].where.path == ("meta", "model")
    assert [value.where and value.where.origin for value in found.id] == ["row", "number"]
    assert found.answer is not None
    assert (found.answer.json, found.answer.at) == (True, ("a", 0))
    assert found.answer.parts == ((".", -2), ("-of-", 0))
    assert found.repetition is not None
    assert found.repetition.first == 0
    assert found.duration is not None
    assert (found.duration.unknown, found.duration.optional) == (("0",), True)
    assert found.metrics["points"].scale == ("-1", "5")
    assert found.metrics["correct"].criteria is not None
    assert found.metrics["correct"].criteria.rows == ("parts",)
    assert found.failures[0].classes["boom"].outcome == "limit"
    assert found.failures[0].otherwise.fault == "agent"
    assert set(found.spend["agent"].usage) == {"input_tokens", "units.requests"}
    assert found.calls is not None
    assert found.calls.failures[0].otherwise.class_ == "tool_error"
    assert isinstance(found.planned.questions, Value)
    assert found.reported[0].rule == "mean"
    assert (found.primary, found.unknown, found.empty) == ("points", ("agent cost",), "keep")


def test_the_digest_is_of_what_a_map_says() -> None:
    """Comments, order and layout change nothing; a changed word does."""
    one = parsed((CSV + VERDICT).encode())
    same = parsed(
        b'# hello\nid   = "id"\nconfiguration.const = "agent-a"\nformat = "csv"\n'
        b"metrics.correct = {verdict = 'ok'}\n"
    )
    other = parsed((CSV + VERDICT).replace("agent-a", "agent-b").encode())
    assert one.digest == same.digest
    assert one.digest != other.digest
    assert one.document == same.document


def test_all_faults_of_a_map_come_at_once_with_the_nearest_word() -> None:
    """A map full of mistakes is refused once, each with its line and what was meant."""
    found = wrong(
        'format = "csw"\nconfig = "x"\nid = "a..b"\nphase = "finale"\n'
        'duration = {path = "s", unit = "sec"}\n[metrics.c]\nverdict = "ok"\nscore = "ok"\n'
        'scle = ["0", "1"]\n[[failures]]\nvalue = "e"\nclasses.x = {class = "timeot"}\n'
    )
    assert found == [
        "map.toml:1: format: wrong value, found 'csw', expected csv",
        "map.toml: configuration: missing",
        "map.toml:4: phase: wrong value, found 'finale', expected final",
        (
            "map.toml:3: id: wrong value, found 'a..b', expected a path such as answer,"
            ' "a key".part, $.in_the_document, ^.around_the_row or *'
        ),
        "map.toml:5: duration.unit: wrong value, found 'sec', expected one of s, ms, us",
        "map.toml:6: metrics.c: a metric takes a verdict or a score, found both, expected one",
        "map.toml:9: metrics.c.scle: unknown key, expected scale",
        "map.toml:12: failures[0].classes.x.class: wrong value, found 'timeot', expected timeout",
        "map.toml:2: config: unknown key, expected configuration",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('format = "json"\ndelimiter = ";"\n', "delimiter: wrong value, found ';', expected none"),
        ('format = "json"\nquotes = false\n', "quotes: wrong value"),
        ('format = "csv"\ndelimiter = ";;"\n', "expected one ASCII character"),
        ('format = "csv"\nrows = "a"\n', "rows: wrong value, found 'a', expected none"),
        ('format = "json"\nrows = "a..b"\n', "expected a path such as systems.*.records"),
        ("answer = 7\n", 'found 7, expected a path, or a table such as {const = "x"}'),
        ("answer = {}\n", "answer: says where a value stands once, found none"),
        ('answer = {path = "a", const = 1}\n', "found path, const"),
        ('answer = {path = "a", at = "x..y"}\n', "answer.at: wrong value"),
        ('answer = {path = "a", offset = "GMT"}\n', "answer.offset: wrong value"),
        ('answer = {path = "a", split = ""}\n', "answer.split: wrong value"),
        ('answer = {path = "a", parts = [".", "x"]}\n', "answer.parts: wrong value"),
        ('answer = {path = "a", parts = [[".", 1], ["", 1]]}\n', "answer.parts: wrong value"),
        ('answer = {path = "a", parts = [[".", 1], [1, true]]}\n', "answer.parts: wrong value"),
        ('answer = {path = "a", parts = [[".", true], "x"]}\n', "answer.parts: wrong value"),
        ('answer = {path = "a", unknown = [[1]]}\n', "expected a text, a number or a truth"),
        ('only = {path = "a"}\n', "only: says nothing, expected is, not or starts"),
        ('only = {is = ["a"]}\n', "only.path: missing"),
        ('only = {path = "a", starts = 1}\n', "only.starts: wrong value"),
        ("only = 1\n", "only: wrong value, found 1, expected a table"),
        ('id = ["a", 1]\n', "id[1]: wrong value, found 1"),
        ("repetition = {count = 1}\n", "repetition.count: wrong value"),
        ('outcome = {path = "o", map = {x = "answerd"}}\n', "expected answered"),
        ('primary = "other"\n', "primary: wrong value, found 'other', expected one of correct"),
        ("planned = {repetitions = 0}\n", "expected an integer from 1"),
        ('planned = {questions = "all"}\n', "expected one of run, file"),
        ("planned = {questions = {path = 1}}\n", "planned.questions.path: wrong value"),
        ("gold = {target = 'x'}\n", "gold.target: unknown key"),
        ("system = 1\n", "system: wrong value"),
    ],
)
def test_a_wrong_value_is_named(text: str, expected: str) -> None:
    """Each key tells what it takes."""
    start = "" if text.startswith("format") else 'format = "jsonl"\n'
    rest = 'configuration = {const = "a"}\n'
    rest += "" if text.startswith("id") else 'id = "i"\n'
    found = wrong(start + rest + text + VERDICT)
    assert any(expected in fault for fault in found), found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[metrics.m]\nscore = "s"\nscale = ["1", "0"]\n', "expected the lower end first"),
        ('[metrics.m]\nscore = "s"\nscale = ["0"]\n', "expected two numbers such as"),
        ('[metrics.m]\nscore = "s"\nscale = ["0", true]\n', "expected two numbers such as"),
        ('[metrics.m]\nscore = "s"\nscale = ["0", "x"]\n', "expected two numbers such as"),
        ('[metrics.m]\nscore = "s"\nscale = 1\n', "expected two numbers such as"),
        ('[metrics.m]\nscore = "s"\ncriteria = {rows = "r"}\n', "criteria.label: missing"),
        ('[metrics.m]\nscore = {path = "s", map = {x = "lots"}}\n', "metrics.m.score.map.x: wrong"),
        ('[metrics.m]\nverdict = {path = "s", map = {x = "correkt"}}\n', "expected correct"),
        ('[metrics.m]\nverdict = {const = "right"}\n', "metrics.m.verdict.const: wrong value"),
        ('[metrics.m]\nverdict = "v"\ncost = "c"\n', "metrics.m.currency: missing"),
        ("[spend.a]\n", "spend.a: says nothing, expected cost, or a count of tokens"),
        ("[[failures]]\nnone = ['x']\n", "failures[0]: says nothing, expected value or when"),
        ("[[failures]]\nvalue = 'e'\nclasses.x = {}\n", "failures[0].classes.x.class: missing"),
        ("[calls]\nrows = 'r'\n", "calls.purpose: missing"),
        ("[calls]\npurpose = 'tool'\n", "calls.rows: missing"),
        (
            "[calls]\nrows = 'r'\npurpose = {path = 'p', map = {x = 'tol'}}\n",
            "calls.purpose.map.x: wrong value, found 'tol', expected tool",
        ),
        ("[calls]\nrows = 'a..b'\npurpose = 'tool'\n", "calls.rows: wrong value"),
        (
            "[[reported]]\nmetric = 'corect'\nname = 'n'\nvalue = 'v'\n",
            "reported[0].metric: no such metric, found 'corect', expected correct",
        ),
        ("[[reported]]\n", "reported[0].metric: missing"),
    ],
)
def test_a_wrong_table_is_named(text: str, expected: str) -> None:
    """Each table tells what it lacks, and each translation what it can give."""
    found = wrong(JSONL + VERDICT + text)
    assert any(expected in fault for fault in found), found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('rows_are = "calls"\n' + VERDICT, "calls: missing, expected [calls]"),
        (
            'rows_are = "calls"\n' + VERDICT + "[calls]\nrows = 'r'\npurpose = 'tool'\n",
            'calls.rows: wrong value, expected none, since each row is a call; or rows_are = "tr',
        ),
        (
            'rows_are = "calls"\nrepetition = {count = true}\n'
            + VERDICT
            + "[calls]\npurpose = 'tool'\n",
            "repetition: wrong value",
        ),
        ("", "metrics: nothing to import, expected [metrics.NAME] with verdict or score"),
    ],
)
def test_what_does_not_fit_together_is_named(text: str, expected: str) -> None:
    """Calls that stand nowhere or twice, and a map of nothing, are faults."""
    found = wrong(JSONL + text)
    assert any(expected in fault for fault in found), found


def test_a_map_needs_a_key() -> None:
    """Without an id and a question there is nothing to know a trial by."""
    text = 'format = "csv"\nconfiguration = {const = "a"}\n' + VERDICT
    assert wrong(text) == [
        "map.toml: id: no key, expected id, or question, whose hash is the key then"
    ]


def test_a_map_that_is_no_toml_is_told(tmp_path: Path) -> None:
    """The fault of a broken map stands at its line."""
    (fault,) = faults(tmp_path, "id\n1\n", "format = \n")
    assert fault.startswith("map.toml:1: not TOML")
