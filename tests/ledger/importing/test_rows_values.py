"""Values of rows: steps in their order, unknowns, and exact numbers and times."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rows_cases import CSV, JSON, JSONL, VERDICT, data, faults, lines, losses, only
from trial_ledger.documents.canonical_form import Json
from trial_ledger.documents.records import Place
from trial_ledger.importing.rows_faults import RowFaults
from trial_ledger.importing.rows_source import Row
from trial_ledger.importing.rows_structs import Condition, Value, Where
from trial_ledger.importing.rows_values import RowReader

ANSWER = "[metrics.m]\nverdict = {const = 'correct'}\n"


def row_of(value: Json, **others: Json) -> Row:
    """Return a row with one value, under `x`."""
    values = {"x": value, **others}
    return Row(Place(1, None), values, values, (), ())


def value_with(**steps: object) -> Value:
    """Return the value at `x` after some steps."""
    return Value(field="x", where=Where(origin="row", path=("x",), text="x"), **steps)  # type: ignore[arg-type] # steps by name


def reader() -> RowReader:
    """Return a reader of a file without faults so far."""
    return RowReader(RowFaults(source="f"), empty_is_null=False)


def answers(folder: Path, value: Json, rule: str, start: str = JSON) -> list[str]:
    """Return the answers that a rule gives for a value at `x`."""
    run = only(folder, [{"id": 1, "x": value}], f"{start}answer = {rule}\n{ANSWER}")
    return [one["answer"].content.decode() for one in data(run, "answer.submitted")]


@pytest.mark.parametrize(
    ("value", "rule", "expected"),
    [
        ("a", '"x"', ["a"]),
        (0, '"x"', ["0"]),
        (False, '"x"', ["false"]),
        ("", '"x"', [""]),
        (None, '"x"', []),
        ({"a": [1, "b"]}, '"x"', ['{"a":[1,"b"]}']),
        ({"a": [1, "b"]}, '"x.a[1]"', ["b"]),
        ('{"a": [1, "b"]}', '{path = "x", json = true, at = "a[1]"}', ["b"]),
        (" ", '{path = "x", json = true}', [" "]),
        ({"a": {"b": 7}}, '{path = "x", at = "a.b"}', ["7"]),
        ("n/a", '{path = "x", unknown = ["n/a"]}', []),
        ("0.0", '{path = "x", unknown = [0]}', []),
        ("n/a", '{path = "x", unknown = [0]}', ["n/a"]),
        ("t.1-of-3.end", '{path = "x", parts = [[".", -2], ["-of-", 0]]}', ["1"]),
        ("t.1-of-3.end", '{path = "x", parts = [".", 2]}', ["end"]),
        ("y", '{path = "x", map = {y = "yes"}}', ["yes"]),
        (True, '{path = "x", map = {true = "yes"}}', ["yes"]),
        (2, '{path = "x", map = {"2.0" = "two"}}', ["two"]),
        (3, '{path = "x", map = {"2" = "two"}}', ["3"]),
        (None, '{path = "x", map = {null = "nothing"}}', ["nothing"]),
        (None, '{path = "x", map = {y = "yes"}}', []),
        ("k.y", '{path = "x", parts = [".", 1], map = {y = "yes"}}', ["yes"]),
        ("a; b;; c", '{path = "x", split = ";"}', ['["a","b","c"]']),
        (7, '{path = "x", split = ";"}', ["7"]),
        ("a", '{const = "fixed"}', ["fixed"]),
        ("a", "{row = true}", ["1"]),
        ("a", '"$[0].x"', ["a"]),
        ("a", '"$"', ['[{"id":1,"x":"a"}]']),
        ("a", '{path = "^.x", optional = true}', []),
        ("a", '{path = "*", optional = true}', []),
    ],
)
def test_steps_are_taken_in_their_order(
    tmp_path: Path, value: Json, rule: str, expected: list[str]
) -> None:
    """Each step does what it says, and what is unknown gives nothing."""
    assert answers(tmp_path, value, rule) == expected


def test_an_empty_cell_is_unknown_unless_the_map_keeps_it(tmp_path: Path) -> None:
    """In CSV an empty cell is no answer; kept, it is an empty answer; 0 is a value in both."""
    content = "id,x\n1,\n2,0\n"
    text = CSV + 'answer = "x"\n' + ANSWER
    assert len(data(only(tmp_path, content, text), "answer.submitted")) == 1
    kept = text.replace('id = "id"', 'id = "id"\nempty = "keep"')
    assert len(data(only(tmp_path, content, kept), "answer.submitted")) == 2
    mapped = text.replace('"x"', '{path = "x", map = {"" = "none", "0" = "zero"}}')
    run = only(tmp_path, content, mapped)
    assert [one["answer"].content for one in data(run, "answer.submitted")] == [b"none", b"zero"]
    lenient = text.replace('"x"', '{path = "x", map = {"7" = "seven"}}')
    assert len(data(only(tmp_path, content, lenient), "answer.submitted")) == 1


def test_unknown_holds_only_in_the_rows_that_a_condition_names(tmp_path: Path) -> None:
    """0 is unknown where nothing was answered, and a measured 0 elsewhere; both are counted."""
    rows = lines(
        {"id": 1, "s": 0, "a": ""}, {"id": 2, "s": 0, "a": "b"}, {"id": 3, "s": 5, "a": ""}
    )
    rule = 'duration = {path = "s", unknown = [0], when = {path = "a", is = [""]}}\n'
    run = only(tmp_path, rows, JSONL + 'answer = "a"\n' + rule + ANSWER)
    assert [one.get("duration_us") for one in data(run, "trial.finished")] == [None, 0, 5_000_000]
    assert "Values that the map declares unknown, duration: 1 in the file." in losses(run)
    rule = 'duration = {path = "s", when = {path = "a", not = [""]}}\n'
    run = only(tmp_path, rows, JSONL + 'answer = "a"\n' + rule + ANSWER)
    assert [one.get("duration_us") for one in data(run, "trial.finished")] == [0, None, 5_000_000]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('{path = "k", is = ["a"]}', ["1"]),
        ('{path = "k", not = ["a"]}', ["2", "3", "4"]),
        ('{path = "k", starts = "a"}', ["1", "2"]),
        ('{path = "k", is = ["null"]}', ["4"]),
        ('{path = "k", is = ["7.0"]}', ["3"]),
        ('{path = "k", not = ["a"], starts = "a"}', ["2"]),
    ],
)
def test_only_some_rows_count(tmp_path: Path, condition: str, expected: list[str]) -> None:
    """A condition chooses rows by equality, inequality and beginning; missing is null."""
    rows = lines({"id": 1, "k": "a"}, {"id": 2, "k": "ab"}, {"id": 3, "k": 7}, {"id": 4})
    run = only(tmp_path, rows, JSONL + f"only = {condition}\n" + ANSWER)
    assert list(run.manifest.questions or ()) == expected


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ("duration", "fast", "wrong value for duration, found 'fast', expected a number such as"),
        ("duration", "-1", "expected a length of time from 0"),
        ("duration", "1e12", "expected a length of time from 0"),
        ("duration", True, "expected a number"),
        ("repetition", 0, "expected an integer from 1; from = 0 if the source counts from 0"),
        ("repetition", 1.5, "expected an integer from 0"),
        ("repetition", -1, "expected an integer from 0"),
        ("repetition", None, "no value for repetition, expected an integer"),
        ("started", "yesterday", 'expected an ISO 8601 time, or unit = "s"'),
        ("started", "0001-01-01T00:00:00+10:00", "expected a time between the years 1 and 9999"),
        ("outcome", "done", "expected one of answered, abstained"),
        ('answer = {path = "x", parts = [".", 3]}', "a.b", "expected a part 3 at '.'"),
        ('answer = {path = "x", map = {good = "yes"}}', "god", "expected good, as answer.map kn"),
        ('answer = {path = "x", map = {good = "yes"}}', "z", "expected good, as answer.map knows"),
        ('started = {path = "x", unit = "s"}', "soon", "expected a number of s since 1970"),
        ('started = {path = "x", unit = "s"}', -5, "expected a number of s since 1970"),
        ('started = {path = "x", unit = "s"}', 10**12, "expected a number of s since 1970"),
        ('answer = {path = "x", json = true}', "{", "not JSON"),
    ],
)
def test_another_form_than_expected_is_told(
    tmp_path: Path, rule: str, value: Json, expected: str
) -> None:
    """A value of another form is a fault with its row and what would do."""
    text = JSONL + (rule if "=" in rule else f'{rule} = "x"') + "\n" + ANSWER
    found = faults(tmp_path, lines({"id": 1, "x": value}), text)
    assert len(found) == 1, found
    assert found[0].startswith("rows.txt:1:")
    assert expected in found[0]


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ('"x"', "2026-10-01T12:00:00+02:00", "2026-10-01T10:00:00.000000Z"),
        ('"x"', "2026-10-01 12:00:00Z", "2026-10-01T12:00:00.000000Z"),
        ('"x"', "2026-10-01T12:00:00", None),
        ('{path = "x", offset = "+02:00"}', "2026-10-01T12:00:00", "2026-10-01T10:00:00.000000Z"),
        ('{path = "x", unit = "s"}', 1.5, "1970-01-01T00:00:01.500000Z"),
        ('{path = "x", unit = "ms"}', "1000", "1970-01-01T00:00:01.000000Z"),
        ('{path = "x", unit = "us"}', 7, "1970-01-01T00:00:00.000007Z"),
        ('"x"', "0101-10-01T12:00:00Z", "0101-10-01T12:00:00.000000Z"),
    ],
)
def test_times_are_read_in_their_own_form(
    tmp_path: Path, rule: str, value: Json, expected: str | None
) -> None:
    """ISO times and numbers since 1970 become UTC; a time without an offset is unknown."""
    text = JSONL + f"started = {rule}\n" + ANSWER
    run = only(tmp_path, lines({"id": 1, "x": value}), text)
    (started,) = [one for one in run.submissions("0" * 64) if one.kind == "trial.started"]
    assert (started.at, started.at_unknown) == (expected, expected is None)
    unknown = "Times without an offset from UTC, so unknown, started: 1 in the file."
    assert (unknown in losses(run)) == (expected is None)


@given(st.integers(0, 10**15), st.sampled_from(["s", "ms", "us"]))
def test_a_duration_keeps_every_microsecond(microseconds: int, unit: str) -> None:
    """A length of time written in any unit is the same number of microseconds, exactly."""
    factor = {"s": 10**6, "ms": 1000, "us": 1}[unit]
    text = format(Decimal(microseconds) / factor, "f")
    assert reader().duration(value_with(unit=unit), row_of(text)) == microseconds


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis wants them so
    st.integers(-14, 14),
)
def test_a_time_is_the_same_instant_in_every_form(moment: datetime, hours: int) -> None:
    """An ISO text in any zone, and a number since 1970, are the instant that was written."""
    since = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert reader().moment(value_with(unit="us"), row_of(str(since))) == moment
    there = moment.timestamp() > 86_400 * 15 and moment.year < 9999
    if there:
        local = moment.isoformat() if hours == 0 else shifted(moment, hours)
        assert reader().moment(value_with(), row_of(local)) == moment


def shifted(moment: datetime, hours: int) -> str:
    """Return a time as a clock some hours away shows it."""
    sign = "-" if hours < 0 else "+"
    naive = (moment + timedelta(hours=hours)).replace(tzinfo=None)
    return f"{naive.isoformat()}{sign}{abs(hours):02d}:00"


@given(st.integers(0, 2**53 - 1), st.integers(0, 5))
def test_counts_and_positions_are_exact(number: int, first: int) -> None:
    """An integer is itself, written as `12.0` too; a position counts from the source's first."""
    assert reader().count(value_with(), row_of(number)) == number
    assert reader().count(value_with(), row_of(f"{number}.0")) == number
    position = reader().position(value_with(first=first), row_of(number))
    assert position == (number - first + 1 if number >= first else None)


def test_a_count_beyond_the_profile_is_a_fault() -> None:
    """2^53 is no integer that every reader of JSON sees alike."""
    found = reader()
    assert found.count(value_with(), row_of(str(2**53))) is None
    assert len(found.faults.problems) == 1


@pytest.mark.parametrize("text", ["-1", "1" * 31, "0." + "1" * 31])
def test_an_amount_that_no_event_can_hold_is_a_fault(text: str) -> None:
    """Money is not negative and has at most 30 digits on each side."""
    found = reader()
    assert found.cost(value_with(), row_of(text)) is None
    assert "expected an amount from 0" in str(found.faults.problems[0])
    assert reader().cost(value_with(), row_of("1e-7")) == "0.0000001"


def test_nothing_is_asked_of_a_value_that_the_map_does_not_name() -> None:
    """Every reading of no value is unknown."""
    found, row = reader(), row_of("1")
    assert found.raw(None, row) is None
    assert found.text(None, row) is None
    assert found.texts(None, row) is None
    assert found.decimal(None, row) is None
    assert found.count(None, row) is None
    assert found.position(None, row) is None
    assert found.cost(None, row) is None
    assert found.duration(None, row) is None
    assert found.moment(None, row) is None


def test_a_condition_without_a_value_is_of_null() -> None:
    """Where a path leads nowhere the condition looks at null."""
    where = Where(origin="row", path=("y", "z"), text="y.z")
    found = reader()
    assert found.holds(Condition(where=where, values=("null",)), row_of("1"))
    assert not found.holds(Condition(where=where, prefix="a"), row_of("1"))
    assert "y.z" not in found.found


def test_a_null_is_there_and_a_missing_key_is_not(tmp_path: Path) -> None:
    """A place that only ever holds null is no typing mistake; one that is never there is."""
    text = JSONL + 'answer = "x"\n' + VERDICT
    assert faults(tmp_path, lines({"id": 1, "x": None, "ok": True}), text) == []
    listed = text.replace('"x"', '"x[0]"')
    assert faults(tmp_path, lines({"id": 1, "x": [], "ok": True}), listed) == []
    (fault,) = faults(tmp_path, lines({"id": 1, "xx": 1, "ok": True}), text)
    assert fault == (
        "rows.txt: the map names a place that no row has, found 'x', expected xx;"
        " optional = true allows it"
    )
    (fault,) = faults(tmp_path, lines({"id": 1, "ok": True}), text.replace('"x"', '"$.run.x"'))
    assert "expected a place in the file" in fault
    (fault,) = faults(tmp_path, lines({"id": 1, "ok": True}), text.replace('"x"', '"[0]"'))
    assert "expected one of id, ok" in fault


def test_a_mistyped_id_is_told_once(tmp_path: Path) -> None:
    """That no row has an id follows from the mistyped name, and is not told row by row."""
    content = "idd,ok\n1,yes\n2,yes\n"
    (fault,) = faults(tmp_path, content, CSV + VERDICT)
    assert "found 'id', expected idd" in fault
    content = "id,ok\n1,yes\n,yes\n"
    assert faults(tmp_path, content, CSV + VERDICT) == [
        "rows.txt:3: id: no value for id, expected a question id"
    ]
    both = CSV.replace('"id"', '["id", "part"]').replace('{const = "agent-a"}', '"who"') + VERDICT
    found = faults(tmp_path, "idd,part,who,ok\n1,a,,yes\n2,b,x,yes\n", both)
    assert [fault.partition(", found")[0] for fault in found] == [
        "rows.txt:2: who: no value for configuration, expected the name of the system under test",
        "rows.txt: the map names a place that no row has",
    ]
    many = "qid,ok\n" + "".join(f"{number},yes\n" for number in range(30))
    assert len(faults(tmp_path, many, CSV + VERDICT)) == 1
