"""Rows of JSON, JSON lines and CSV: where they stand, what surrounds them, what cannot be read."""

import gzip
import json
from pathlib import Path

import pytest

from rows_cases import CSV, JSON, JSONL, VERDICT, data, faults, lines, only, runs
from trial_ledger.errors import InvalidInputError, NotFoundError
from trial_ledger.importing import rows_source
from trial_ledger.importing.rows import read_rows
from trial_ledger.importing.rows_faults import KEPT, RowFaults

NESTED = {
    "meta": {"model": "m-1", "note": "not rows"},
    "systems": {
        "a": {"share": "0.5", "records": [{"id": 1, "ok": True}, {"id": 2, "ok": False}]},
        "b": {"share": "1", "records": [{"id": 1, "ok": True}]},
    },
}


def test_a_star_matches_every_key_and_names_the_configuration(tmp_path: Path) -> None:
    """Each object under `*` is a run of its own; `$` and `^` reach what is around the rows."""
    text = (
        'format = "json"\nrows = "systems.*.records"\nconfiguration = "*"\nid = "id"\n'
        'system = {model = "$.meta.model"}\n'
        + VERDICT
        + '[[reported]]\nmetric = "correct"\nname = "share"\nvalue = "^.share"\nrule = "mean"\n'
    )
    first, second = runs(tmp_path, NESTED, text)
    assert [run.manifest.configuration.rpartition("-")[0] for run in (first, second)] == ["a", "b"]
    assert first.name.startswith("rows-a-")
    assert [len(data(run, "trial.started")) for run in (first, second)] == [2, 1]
    assert first.manifest.models["main"].name == "m-1"
    (imported,) = data(second, "source.imported")
    assert json.loads(imported["reported"].content) == [
        {
            "score": "correct",
            "scorer": None,
            "metric": "share",
            "reducer": None,
            "rule": "mean",
            "value": "1",
        }
    ]


def test_objects_by_key_are_rows_and_other_members_are_not(tmp_path: Path) -> None:
    """A `*` at the end makes each object a row, whose key can be its id; texts are passed over."""
    document = {"when": "now", "q1": {"ok": True}, "q2": {"ok": False}}
    run = only(
        tmp_path,
        document,
        'format = "json"\nrows = "*"\nid = "*"\nconfiguration = {const = "a"}\n' + VERDICT,
    )
    assert list(run.manifest.questions or ()) == ["q1", "q2"]


@pytest.mark.parametrize(
    ("path", "count"),
    [("runs[1].rows", 1), ("runs[*].rows", 3), ("runs.rows", 3), ("runs[0].rows[1]", 1)],
)
def test_members_of_lists_are_reached_by_number_or_all(
    tmp_path: Path, path: str, count: int
) -> None:
    """An index takes one member, `[*]` or nothing takes all."""
    document = {"runs": [{"rows": [{"id": 1}, {"id": 2}]}, {"rows": [{"id": 3}]}]}
    text = JSON + f'rows = "{path}"\nanswer = {{const = "x"}}\n'
    assert len(data(only(tmp_path, document, text), "trial.started")) == count


def test_an_object_is_one_row(tmp_path: Path) -> None:
    """A document, or a line, that is an object without a path is a row."""
    text = VERDICT
    assert len(data(only(tmp_path, {"id": 1, "ok": True}, JSON + text), "trial.started")) == 1
    found = only(tmp_path, lines({"id": 1, "ok": True}, {"id": 2, "ok": 0}) + "\n", JSONL + text)
    assert len(data(found, "trial.started")) == 2


def test_gzip_and_marks_of_encodings_are_understood(tmp_path: Path) -> None:
    """Compressed bytes, a UTF-8 mark and UTF-16 give the same trials; the digest is the file's."""
    content = "id,ok\nä,yes\n"
    plain = only(tmp_path, content, CSV + VERDICT)
    for encoded in (
        gzip.compress(content.encode()),
        content.encode("utf-8-sig"),
        content.encode("utf-16"),
    ):
        run = only(tmp_path, encoded, CSV + VERDICT)
        assert run.manifest.questions == plain.manifest.questions == ("ä",)
        assert run.name != plain.name
        (imported,) = data(run, "source.imported")
        assert imported["files"][0]["bytes"] == len(encoded)
        assert imported["content"].content == encoded


def test_damaged_gzip_is_told(tmp_path: Path) -> None:
    """Half a compressed file is a fault of the file."""
    packed = gzip.compress(b"id,ok\n" * 100)
    (fault,) = faults(tmp_path, packed[: len(packed) // 2], CSV + VERDICT)
    assert fault.startswith("rows.txt: damaged gzip")


def test_what_unfolds_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file that would become a large one is refused before its rows are read."""
    monkeypatch.setattr(rows_source, "MAX_UNFOLDED_BYTES", 1000)
    (fault,) = faults(tmp_path, gzip.compress(b"id,ok\n" * 1000), CSV + VERDICT)
    assert fault == "rows.txt: unfolds to too much, expected <= 1000 bytes"


def test_too_many_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of rows has a limit."""
    monkeypatch.setattr(rows_source, "MAX_ROWS", 2)
    assert faults(tmp_path, "id,ok\n1,yes\n2,yes\n", CSV + VERDICT) == []
    (fault,) = faults(tmp_path, "id,ok\n1,yes\n2,yes\n3,no\n", CSV + VERDICT)
    assert fault == "rows.txt: too many rows, expected <= 2"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\x00", "not UTF-16 at byte"),
        (b"id\n\xe4\n", "rows.txt:2: not UTF-8 at byte 3"),
        (b"PK\x03\x04\x00", "rows.txt: no text but a ZIP file, as spreadsheets are, expected"),
        (b"PAR1\x00", "rows.txt: no text but a Parquet file, expected JSON or CSV"),
    ],
)
def test_another_encoding_is_told(tmp_path: Path, content: bytes, expected: str) -> None:
    """Bytes that are no Unicode text are a fault with their line."""
    (fault,) = faults(tmp_path, content, CSV + VERDICT)
    assert expected in fault


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    """Old spreadsheets write other bytes for letters with accents; the map says which."""
    content = "id,ok\nä,yes\n".encode("cp1252")
    text = CSV + 'encoding = "cp1252"\n' + VERDICT
    assert only(tmp_path, content, text).manifest.questions == ("ä",)
    (fault,) = faults(tmp_path, b"id,ok\n\x81,yes\n", text)
    assert fault.startswith("rows.txt:2: not CP1252 at byte 6")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,ok\n1,yes,more\n", "rows.txt:2: another number of cells than the header has, found 3"),
        ("id,ok\n1\n", "rows.txt:2: another number of cells than the header has, found 1"),
        ("id,id\n1,2\n", "rows.txt:1: two columns of one name, found 'id'"),
        ("id;ok\n1;2\n", "rows.txt:1: one column only, and ';' in its name"),
        ('id,ok\n"a"b,yes\n', "rows.txt:2: not CSV"),
        ("id,ok\n", "rows.txt: holds no row, expected at least one"),
        ("", "rows.txt: holds no row, expected at least one"),
    ],
)
def test_bad_csv_is_told_by_line(tmp_path: Path, content: str, expected: str) -> None:
    """What is wrong with a table of text stands at its line."""
    (fault,) = faults(tmp_path, content, CSV + VERDICT)
    assert fault.startswith(expected)


def test_csv_can_have_one_column_lines_before_and_quotation_marks(tmp_path: Path) -> None:
    """One column is no fault, nor is a blank line; what is text is not unquoted."""
    text = CSV + "skip_lines = 1\n" + 'answer = {const = "x"}\n'
    assert only(tmp_path, "a title\nid\n1\n\n2\n", text).manifest.questions == ("1", "2")
    text = CSV + 'quotes = false\ndelimiter = "\\t"\nanswer = "answer"\n'
    run = only(tmp_path, 'id\tanswer\n1\t"a" or b\n', text)
    assert data(run, "answer.submitted")[0]["answer"].content == b'"a" or b'
    text = text.replace('"csv"', '"tsv"').replace('delimiter = "\\t"\n', "")
    assert only(tmp_path, 'id\tanswer\n1\t"a" or b\n', text).dataset == run.dataset


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"id": 1,', "rows.txt:1: not JSON"),
        ("[" * 200 + "]" * 200, "rows.txt: nested deeper than 100 levels"),
        ("[" * 100_000 + "]" * 100_000, "rows.txt: nested deeper than 100 levels"),
        ('[{"id": 1, "id": 2, "ok": true}]', "rows.txt: id: key stands twice in one object"),
        (
            '{"results": "none", "runs": []}',
            'rows.txt: results.a: no rows here, expected rows = "path.to.the.rows"',
        ),
        ("[]", 'rows.txt: no rows here, expected rows = "path.to.the.rows"'),
        ("[1, 2]", "rows.txt: [0]: not an object, found 1, expected a row"),
        (
            '{"a": 1, "runs": [{"id": 1}]}',
            (
                "rows.txt: results: no rows here, expected rows = "
                '"runs", where there is a list of objects'
            ),
        ),
    ],
)
def test_bad_json_is_told(tmp_path: Path, content: str, expected: str) -> None:
    """What is wrong with a document stands at its line or path, with where rows may be."""
    path = 'rows = "results.a"\n' if "none" in content else ""
    path = path or ('rows = "results"\n' if "runs" in content else "")
    assert faults(tmp_path, content, JSON + path + VERDICT)[0].startswith(expected)


def test_places_without_rows_are_shown_as_they_were_written(tmp_path: Path) -> None:
    """The path that leads nowhere is shown, stars and all."""
    text = JSON + 'rows = "*.a[*].b"\n' + VERDICT
    assert faults(tmp_path, {"x": {"a": []}}, text)[0].startswith(
        "rows.txt: *.a[*].b: no rows here"
    )


def test_bad_lines_do_not_hide_each_other(tmp_path: Path) -> None:
    """Every line that is no JSON is told, the good ones are still looked at."""
    content = '{"id": 1}\n{"id": \nnull\n{"id": 4, "ok": "perhaps"}\n'
    found = faults(tmp_path, content, JSONL + VERDICT)
    assert [fault.split(":")[1] for fault in found] == ["2", "3", "4"]


def test_numbers_keep_their_digits_and_texts_their_form(tmp_path: Path) -> None:
    """No number goes through a binary float; NaN and huge integers are the texts they are."""
    content = (
        '{"id": "a", "ok": 0.10000000000000000001, "x": [NaN, 12345678901234567890, "\\ud800"]}'
    )
    text = JSONL + 'answer = "x"\n[metrics.points]\nscore = "ok"\n'
    run = only(tmp_path, content, text)
    assert (
        data(run, "judgment.recorded")[0]["score"] == "10000000000000000001/100000000000000000000"
    )
    assert data(run, "answer.submitted")[0]["answer"].content == (
        '["NaN","12345678901234567890","\ufffd"]'.encode()
    )
    plain = only(tmp_path, '{"id": "a", "ok": 1, "x": {"k": "\\ud83d\\ude00"}}', text)
    assert data(plain, "answer.submitted")[0]["answer"].content == '{"k":"😀"}'.encode()


def test_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    """A missing file of rows, or a missing map, is not found."""
    with pytest.raises(NotFoundError):
        read_rows(tmp_path / "none.csv", tmp_path / "none.toml")
    (tmp_path / "map.toml").write_text(CSV + VERDICT)
    with pytest.raises(NotFoundError):
        read_rows(tmp_path / "none.csv", tmp_path / "map.toml")


def test_faults_of_one_kind_are_counted_after_the_first_ones(tmp_path: Path) -> None:
    """A thousand equal faults are a few lines and a number."""
    content = "id,ok\n" + "".join(f"{number},perhaps\n" for number in range(1000))
    found = faults(tmp_path, content, CSV + VERDICT)
    assert len(found) == KEPT + 1
    assert found[-1].endswith(
        f"wrong value for metrics.correct.verdict: {1000 - KEPT} more rows like this"
    )


def test_no_fault_raises_nothing() -> None:
    """Without a fault reading goes on."""
    RowFaults(source="x").stop()
    with pytest.raises(InvalidInputError, match="rows not acceptable: 1 fault"):
        failing()


def failing() -> None:
    """Raise the fault of a file."""
    faults_of_file = RowFaults(source="x")
    faults_of_file.add("wrong")
    faults_of_file.stop()
