"""`ledger scores FILE`: a number for somebody's log at once, and nothing left behind."""

import json
from pathlib import Path

import pytest

from cli_cases import Here, full
from inspect_cases import Archive, Logs, header, sample
from ledger_cases import RUN
from lm_eval_cases import Evaluation, line
from read_cases import too_long
from trial_ledger.errors import InvalidInputError, NotFoundError
from trial_ledger.importing.recognising import recognise

REPORTED = {
    "scores": [
        {
            "name": "match",
            "scorer": "match",
            "params": {},
            "metrics": {
                "accuracy": {"name": "accuracy", "value": 1, "params": {}},
                "stderr": {"name": "stderr", "value": 0.123, "params": {}},
            },
        }
    ]
}
ROWS = "question,answer,right\nWhich?,this,yes\nWhat?,that,no\n"
MAP = """\
format = "csv"
name = "mine"
configuration = {const = "my-agent"}
question = "question"
answer = "answer"

[metrics.right]
verdict = {path = "right", map = {yes = "correct", no = "incorrect"}}
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    """A log of two questions, one of which ended in an error that its source left out."""
    failed = sample(2, scores=..., error={"message": "no", "traceback": "", "traceback_ansi": ""})
    return Logs(tmp_path).json([sample(1), failed], results=REPORTED)


def test_c20_a_log_is_scored_at_once_and_the_source_is_explained(
    here: Here, log_file: Path, scratch: Path
) -> None:
    """Its number and ours differ by what it left out, which is said; nothing is kept."""
    before = sorted(here.folder.rglob("*"))
    done = here("scores", log_file.name)
    assert (done.code, done.err) == (0, "")
    flat = " ".join(done.out.split())
    assert "match 50.0 % 1/2 all 2 decided, 1 by rule" in flat
    assert "says accuracy 1: rule errors_excluded leaves errored trials out" in flat
    assert "left out: trial_errored 1; ours 50.0 % (1 of 2)" in flat
    assert "says stderr 0.123: no named rule gives that" in flat
    assert "nothing was kept" in flat
    assert done.out.endswith(f"ledger init | ledger import inspect {log_file.name}\n")
    assert "ledger explain" not in done.out
    assert too_long(done.out) == []
    assert sorted(here.folder.rglob("*")) == before
    assert list(scratch.iterdir()) == []


def test_the_numbers_are_those_of_import_and_scores(here: Here, log_file: Path) -> None:
    """A look and a kept run have the same metrics, reported numbers and explanations."""
    look = here("scores", log_file.name, "--json").json
    assert (look["schema"], look["format"]) == ("ledger.first-look/1", "inspect")
    here("init")
    run = here("import", "inspect", log_file.name, "--json").json["files"][0]["run"]
    kept = here("scores", run, "--json").json
    (seen,) = look["runs"]
    for part in ("metrics", "reported", "explained", "failures", "accounts", "trust", "primary"):
        assert seen[part] == kept[part], part
    assert seen["losses"] != []
    assert here("scores", log_file.name, "--format", "csv").out.startswith("run,metric,low,")


def test_every_format_is_told_from_its_bytes(here: Here, log_file: Path, scratch: Path) -> None:
    """A ZIP is an Inspect log whatever it is called; harness results go by name or by folder."""
    archive = Archive()
    archive.add("header.json", json.dumps(header()).encode())
    archive.add("samples/q1_epoch_1.json", json.dumps(sample(1)).encode())
    Logs(here.folder).archived(archive, name="renamed.dat")
    assert here("scores", "renamed.dat").code == 0
    folder = here.folder / "lm"
    folder.mkdir()
    results = Evaluation(folder).write([line(0), line(1)])
    assert recognise(folder) == recognise(results) == "lm-eval"
    named = here("scores", str(results.relative_to(here.folder)))
    assert here("scores", "lm").out.splitlines()[:-2] == named.out.splitlines()[:-3]
    assert recognise(log_file) == "inspect"
    assert list(scratch.iterdir()) == []


def test_rows_need_a_map_and_the_error_says_how_to_get_one(here: Here, scratch: Path) -> None:
    """Without one nothing is guessed; with one they are scored like any other log."""
    (here.folder / "rows.csv").write_text(ROWS)
    (here.folder / "map.toml").write_text(MAP)
    refused = here("scores", "rows.csv")
    assert refused.code == 2
    assert "rows.csv: rows need a map" in refused.err
    assert (
        "hint: ledger import rows rows.csv --suggest > map.toml;"
        " ledger scores rows.csv --map map.toml" in refused.err
    )
    done = here("scores", "rows.csv", "--map", "map.toml")
    assert (done.code, done.err) == (0, "")
    assert "1/2" in done.out
    assert done.out.endswith("ledger import rows rows.csv --map map.toml\n")
    assert list(scratch.iterdir()) == []


def test_five_bad_files(here: Here, scratch: Path) -> None:
    """Each is refused in one clause that names it, and nothing stays behind."""
    (here.folder / "empty").mkdir()
    (here.folder / "cut.eval").write_bytes(b"PK\x03\x04 and no more")
    (here.folder / "log.json").write_text('{"version": 2, "status": "success", "eval": 7}')
    (here.folder / "rows.csv").write_text(ROWS)
    cases = {
        ("empty",): (6, "empty is a folder without results"),
        ("cut.eval",): (2, "cut.eval"),
        ("log.json",): (2, "log.json"),
        ("rows.csv", "--map", "none.toml"): (6, "none.toml"),
        ("nowhere.csv", "--map", "none.toml"): (6, "none.toml"),
        ("rows.csv", "--as-of", "3"): (2, "a file has no earlier state"),
    }
    for arguments, (code, words) in cases.items():
        done = here("scores", *arguments)
        assert (done.code, words in done.err, done.out) == (code, True, ""), done.err
    assert list(scratch.iterdir()) == []


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """A folder in the place of a file's parent, or a name that is too long, is told as it is."""
    with pytest.raises(NotFoundError, match="no file"):
        recognise(tmp_path / "none")
    with pytest.raises(InvalidInputError) as refused:
        recognise(tmp_path / ("n" * 300))
    assert refused.value.problems[0].message == "cannot be read: File name too long"


def test_a_run_of_the_ledger_comes_before_a_file_of_its_name(here: Here) -> None:
    """Whoever has both meant the run; `./NAME` means the file."""
    full(here.folder)
    (here.folder / RUN).write_text(ROWS)
    assert here("scores", RUN).out.startswith(f"{RUN}  FINAL")
    assert "rows need a map" in here("scores", f"./{RUN}").err


def test_gates_hold_for_files_too(here: Here, log_file: Path) -> None:
    """`--require` exits with 5 after the numbers were shown."""
    done = here("scores", log_file.name, "--require", "verified")
    assert (done.code, "does not meet: verified" in done.err) == (5, True)
    done = here("scores", log_file.name, "--require", "live")
    assert done.code == 5
    assert "does not meet: live" in done.err
    assert "50.0 %" in done.out
