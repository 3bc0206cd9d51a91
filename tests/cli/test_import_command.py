"""`ledger import`: other tools' logs into the ledger, each whole or not at all."""

import json
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, head
from inspect_cases import Archive, Logs, header, sample


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
