"""`ledger import rows`: from a file at home to scores, by a map that the program suggests."""

import gzip
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, head, ledger

TABLE = """\
id,question,answer,expected,correct,error,seconds,cost_usd
q1,What is the capital of France?,Paris,Paris,yes,,1.5,0.0021
q2,Which river flows through Vienna?,Rhine,Danube,no,,2.0,0.0019
q3,How many moons has Mars?,,2,,TimeoutError: none,30,
"""


@pytest.fixture(autouse=True)
def table(here: Here, tmp_path: Path) -> Here:
    """Make an empty ledger and a file of rows."""
    assert here("init").code == 0
    (tmp_path / "results.csv").write_text(TABLE)
    return here


def suggested(here: Here, folder: Path, name: str = "results.csv") -> None:
    """Save the map that is suggested for a file."""
    found = here("import", "rows", name, "--suggest")
    assert found.code == 0, found.err
    (folder / "map.toml").write_text(found.out)


def test_from_a_table_to_scores_in_three_commands(tmp_path: Path) -> None:
    """The real program: suggest, import, scores; and the file again appends nothing."""
    suggestion = ledger(tmp_path, "import", "rows", "results.csv", "--suggest")
    (tmp_path / "map.toml").write_text(suggestion.out)
    done = ledger(tmp_path, "import", "rows", "results.csv", "--map", "map.toml")
    assert done.code == 0, done.err
    run = done.out.split()[0]
    assert done.out.splitlines()[-1] == f"next: ledger scores {run}"
    assert "  lost: Calls are not shown" in done.out
    scores = ledger(tmp_path, "scores", run)
    assert "correct               33.3 %        1/3" in scores.out
    assert "order not witnessed" in scores.out
    assert "$0.004 + 1 call" in scores.out
    size = head(tmp_path / LEDGER).size
    again = ledger(tmp_path, "import", "rows", "results.csv", "--map", "map.toml")
    assert "was imported already" in again.out
    assert head(tmp_path / LEDGER).size == size


def test_folders_and_several_files_are_taken(here: Here, tmp_path: Path) -> None:
    """Every file of rows below a folder comes in; other files are passed over."""
    suggested(here, tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.csv").write_text(TABLE.replace("Rhine", "Elbe"))
    (tmp_path / "more" / "a.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    (tmp_path / "more" / "notes.txt").write_text("none")
    found = here("import", "rows", "more", "--map", "map.toml", "--json")
    assert found.code == 0, found.err
    assert [Path(row["file"]).name for row in found.json["files"]] == ["a.csv.gz", "b.csv"]
    both = here("import", "rows", "more/b.csv", "results.csv", "--suggest")
    assert "from more/b.csv alone; the map may fit the others too" in both.err


def test_everything_that_is_wrong_is_said_and_nothing_written(here: Here, tmp_path: Path) -> None:
    """Bad values end with 2, name file, line and field, and leave the ledger as it was."""
    suggested(here, tmp_path)
    bad = TABLE.replace(",yes,", ",perhaps,").replace("2.0", "fast")
    (tmp_path / "bad.csv").write_text(bad)
    size = head(tmp_path / LEDGER).size
    found = here("import", "rows", "bad.csv", "results.csv", "--map", "map.toml")
    assert found.code == 2
    assert "bad.csv:2: correct: wrong value for metrics.correct.verdict" in found.err
    assert "bad.csv:3: seconds: wrong value for duration" in found.err
    assert "Error: rows not acceptable: 2 faults, nothing written" in found.err
    assert "bad.csv: refused" in found.out
    assert "1 of 2 files, " in found.out
    alone = here("import", "rows", "bad.csv", "--map", "map.toml")
    assert "0 of 1 files, 0 events appended" in alone.out
    assert head(tmp_path / LEDGER).size > size


def test_a_bad_map_is_told_once_for_all_files(here: Here, tmp_path: Path) -> None:
    """The map is read before any file, with all of its faults and the next command."""
    (tmp_path / "map.toml").write_text('format = "csw"\nid = "id"\n')
    found = here("import", "rows", "results.csv", "results.csv", "--map", "map.toml")
    assert (found.code, found.out) == (2, "")
    assert "map.toml:1: format: wrong value, found 'csw', expected csv" in found.err
    assert "hint: ledger import rows FILE --suggest prints a map to start from" in found.err


def test_one_of_map_and_suggest_is_asked_for(here: Here) -> None:
    """Neither and both are mistakes of use."""
    for options in ((), ("--map", "map.toml", "--suggest")):
        found = here("import", "rows", "results.csv", *options)
        assert found.code == 2
        assert "give one of --map MAP.toml and --suggest" in found.err


def test_what_is_not_there_is_said(here: Here, tmp_path: Path) -> None:
    """A missing file, map or row of files ends with 6."""
    (tmp_path / "none").mkdir()
    for arguments in (
        ("none.csv", "--suggest"),
        ("none", "--suggest"),
        ("results.csv", "--map", "none.toml"),
    ):
        assert here("import", "rows", *arguments).code == 6


def test_hostile_names_of_columns_are_shown_harmless(here: Here, tmp_path: Path) -> None:
    """A column whose name holds escape sequences reaches no terminal, in map or message."""
    (tmp_path / "odd.csv").write_text("id,correct,a\x1b[2J\u202e\n1,maybe,x\n")
    for found in (
        here("import", "rows", "odd.csv", "--suggest"),
        here("import", "rows", "results.csv", "--suggest"),
    ):
        assert "\x1b" not in found.out + found.err
        assert "\u202e" not in found.out + found.err
