"""`ledger import`: other tools' logs into the ledger, each whole or not at all."""

import json
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, head
from inspect_cases import Archive, Logs, header, sample
from ledger_cases import PERSON
from lm_eval_cases import RESULTS, SAMPLES, TASK, Evaluation, Stated, config, line, results
from redact_cases import writing
from trial_ledger.mentions import mentions
from trial_ledger.redaction import redact


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    """Return a place for logs beside the ledger."""
    (tmp_path / "logs").mkdir()
    return Logs(tmp_path / "logs")


@pytest.fixture(autouse=True)
def ledger(here: Here) -> Here:
    """Make an empty ledger."""
    assert here("init").code == 0
    return here


def test_a_log_is_imported_and_named(logs: Logs, here: Here, tmp_path: Path) -> None:
    """What came in is said, with what the source had lost and what to look at next."""
    logs.json([sample()])
    found = here("import", "inspect", "logs/log.json")
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert "  from log.json" in lines[0]
    assert lines[-2].startswith("1 of 1 files, ")
    run = lines[0].split()[0]
    assert lines[-1] == f"next: ledger scores {run}"
    assert here("scores", run).code in {0, 5}
    assert max(map(len, lines)) <= 100
    assert head(tmp_path / LEDGER).size > 5


def test_importing_again_appends_nothing(logs: Logs, here: Here, tmp_path: Path) -> None:
    """The same bytes again are there already."""
    logs.json([sample()])
    here("import", "inspect", "logs")
    size = head(tmp_path / LEDGER).size
    again = here("import", "inspect", "logs", "--json").json
    (row,) = again["files"]
    assert (again["schema"], row["appended"]) == ("ledger.import/1", 0)
    assert row["existed"] > 0
    assert "was imported already" in here("import", "inspect", "logs").out
    assert head(tmp_path / LEDGER).size == size


def test_folders_are_searched_for_logs(logs: Logs, here: Here, tmp_path: Path) -> None:
    """Every log below a folder comes in, in the order of its path; other files are passed over."""
    logs.json([sample()], name="b.json")
    archive = Archive()
    other = header(eval={**header()["eval"], "eval_id": "another", "task": "other"})
    archive.add("header.json", json.dumps(other).encode())
    archive.add("samples/1_epoch_1.json", json.dumps(sample()).encode())
    (tmp_path / "logs" / "inner").mkdir()
    (tmp_path / "logs" / "inner" / "a.eval").write_bytes(archive.content())
    (tmp_path / "logs" / "notes.txt").write_text("none")
    found = here("import", "inspect", "logs", "--json")
    assert [Path(row["file"]).name for row in found.json["files"]] == ["b.json", "a.eval"]
    assert found.code == 0, found.err


def test_a_bad_log_does_not_keep_the_good_ones_out(logs: Logs, here: Here) -> None:
    """A file that cannot be imported is told, the others come in, and the code says so."""
    logs.json([sample()], name="a.json")
    (logs.folder / "b.json").write_bytes(b'{"version": 2, "eval": ')
    logs.json([sample(2)], name="c.json")
    found = here("import", "inspect", "logs")
    assert found.code == 2
    assert "logs/b.json: not imported" in found.err
    assert "b.json: refused" in found.out
    assert "2 of 3 files, " in found.out
    rows = here("import", "inspect", "logs/b.json", "--format", "jsonl").rows
    assert [(row["run"], row["appended"]) for row in rows] == [(None, 0)]
    alone = here("import", "inspect", "logs/b.json")
    assert "next:" not in alone.out


def test_what_is_not_there_is_said(logs: Logs, here: Here) -> None:
    """A missing file, and a folder without logs, end with 6."""
    missing = here("import", "inspect", "none.eval")
    assert missing.code == 6
    assert "Error: no file none.eval\nhint: name .eval or .json files" in missing.err
    empty = here("import", "inspect", str(logs.folder))
    assert empty.code == 6
    assert "no .eval or .json file under" in empty.err


def test_names_of_files_are_shown_harmless(logs: Logs, here: Here) -> None:
    """A file whose name holds escape sequences shows none of them."""
    logs.json([sample()], name="a\x1b[31m\u202e.json")
    (logs.folder / "b\x1b[2J.json").write_bytes(b"{")
    for form in ("text", "json", "csv", "md"):
        found = here("import", "inspect", "logs", "--format", form)
        assert found.code == 2
        assert "\x1b" not in found.out + found.err
        assert "\u202e" not in found.out + found.err


def test_an_evaluation_is_imported_once_however_it_is_named(here: Here, tmp_path: Path) -> None:
    """By its folder, its results or its samples: one run, and nothing twice."""
    (tmp_path / "logs").mkdir()
    Evaluation(tmp_path / "logs").write([line(0), line(1)])
    named = ("logs", f"logs/{RESULTS}", f"logs/{SAMPLES}")
    first = here("import", "lm-eval", *named)
    assert first.code == 0, first.err
    head_line, source, *lost, total, following = first.out.splitlines()
    assert head_line.startswith(f"{TASK}-")
    assert head_line.endswith("21 events, 2 losses")
    assert source == f"  from {RESULTS}"
    assert " ".join(lost).count("lost: ") == 2
    assert total == "1 of 1 files, 21 events appended"
    assert max(map(len, first.out.splitlines())) <= 80
    assert here(*following.removeprefix("next: ledger ").split()).code == 0
    size = head(tmp_path / LEDGER).size
    for name in named:
        (row,) = here("import", "lm-eval", name, "--json").json["files"]
        assert (row["appended"], row["existed"]) == (0, 21)
    assert head(tmp_path / LEDGER).size == size


def test_a_file_with_several_runs_has_a_row_for_each(here: Here, tmp_path: Path) -> None:
    """The tasks of one results file come in together, or not at all."""
    (tmp_path / "logs").mkdir()
    logs = Evaluation(tmp_path / "logs")
    tasks = {name: Stated(config(task=name), {"exact_match,none": 0.5}) for name in ("one", "two")}
    logs.results(RESULTS, results(tasks))
    logs.samples(SAMPLES.replace(TASK, "one"), [line(0)])
    refused = here("import", "lm-eval", "logs")
    assert refused.code == 2
    assert f"logs/{RESULTS}: results.two: results without samples" in refused.err
    assert "hint: `lm_eval --log_samples` writes both files; then: ledger import" in refused.err
    assert "0 of 1 files, 0 events appended" in refused.out
    assert head(tmp_path / LEDGER).size == 1
    logs.samples(SAMPLES.replace(TASK, "two"), [line(1)])
    found = here("import", "lm-eval", "logs")
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert [each.partition("-")[0] for each in lines if " events, " in each][:2] == ["one", "two"]
    assert lines[-2].startswith("1 of 1 files with 2 runs, ")
    assert lines[-1].startswith("next: ledger scores two-")


def test_five_bad_evaluations_leave_the_ledger_alone(here: Here, tmp_path: Path) -> None:
    """Each is told with file, line and field; the good one beside them comes in."""
    for name in ("alone", "cut", "good", "lonely", "twice", "wrong"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        Evaluation(tmp_path / "logs" / name).write([line(0), line(1, resps=[[name]])])
    logs = tmp_path / "logs"
    (logs / "alone" / SAMPLES).unlink()
    (logs / "lonely" / RESULTS).unlink()
    cut = (logs / "cut" / SAMPLES).read_bytes()
    (logs / "cut" / SAMPLES).write_bytes(cut[:-9])
    Evaluation(logs / "twice").samples(SAMPLES, [line(0), line(0)])
    Evaluation(logs / "wrong").samples(SAMPLES, [line(0), line(1, resps=None)])
    found = here("import", "lm-eval", "logs")
    assert found.code == 2
    said = {
        f"logs/alone/{RESULTS}: results.{TASK}: results without samples",
        f"logs/cut/{SAMPLES}:2: the file is cut off in this line",
        f"logs/lonely/{SAMPLES}: samples without results",
        f"logs/twice/{SAMPLES}:2: doc_id: a document stands twice under one filter",
        f"logs/wrong/{SAMPLES}:2: resps: wrong value, found no such field",
    }
    assert {part for part in said if part not in found.err} == set()
    assert found.err.count("nothing written") == 5
    assert "1 of 6 files, 21 events appended" in found.out


def test_a_folder_without_an_evaluation_is_said(here: Here, tmp_path: Path) -> None:
    """Other files in it are none."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "notes.json").write_text("{}")
    found = here("import", "lm-eval", "logs")
    assert (found.code, "no results_*.json or samples_*.jsonl file under logs" in found.err) == (
        6,
        True,
    )


def test_c11_importing_again_after_a_redaction_brings_nothing_back(
    logs: Logs, here: Here, tmp_path: Path
) -> None:
    """With every text redacted, the same bytes are there already; lost losses are said."""
    logs.json([sample()])
    here("import", "inspect", "logs")
    with writing(tmp_path / LEDGER) as book:
        texts = [
            one
            for one in mentions(book, book.events())
            if one.class_ != "plain" and one.bytes is not None
        ]
        for one in texts:
            redact(book, one.blob, reason="all of it", authority="owner", actor=PERSON)
        size = book.head().size
    assert {"content", "losses"} <= {one.field for one in texts}
    (row,) = here("import", "inspect", "logs", "--json").json["files"]
    assert row["appended"] == 0
    assert row["losses"] == ["a list of losses, which was redacted"]
    assert head(tmp_path / LEDGER).size == size
    assert f"{len(texts)} redacted" in here("verify").out
    assert here("scores", row["run"]).code in {0, 5}
