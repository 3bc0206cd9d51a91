"""`ledger init`: a new ledger, or documents to start from; nothing is overwritten."""

import stat
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, head, ledger
from trial_ledger.documents.templates import TEMPLATES, read_template
from trial_ledger.goldfile import gold_path


def test_a_new_ledger_and_its_gold_file(tmp_path: Path, here: Here) -> None:
    """Both files are made, the gold file for its owner only, and the first event stands."""
    made = here("init")
    assert made.code == 0
    first, second = made.out.splitlines()
    path = tmp_path / LEDGER
    assert first == f"{LEDGER}  ledger {head(path).ledger}"
    assert second.startswith(f"{LEDGER}.gold  gold records: for the grader only")
    assert "next: ledger init --template" in made.err
    assert head(path).size == 1
    assert stat.S_IMODE(gold_path(path).stat().st_mode) == 0o600
    assert here("verify").code == 0


@pytest.mark.parametrize("name", [LEDGER, f"{LEDGER}.gold"])
def test_an_existing_file_is_not_overwritten(name: str, tmp_path: Path, here: Here) -> None:
    """Where ledger or gold file exists, nothing is made and nothing changed."""
    (tmp_path / name).write_bytes(b"mine")
    refused = here("init")
    assert (refused.code, refused.out) == (7, "")
    assert f"Error: {name} exists" in refused.err
    assert "hint: choose another name with --ledger PATH" in refused.err
    assert (tmp_path / name).read_bytes() == b"mine"
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_folder_that_is_not_there_is_said(here: Here) -> None:
    """No folder is made for a ledger."""
    refused = here("init", "--ledger", "nowhere/trials.ledger")
    assert refused.code == 7
    assert "nowhere/trials.ledger.lock: No such file or directory" in refused.err


def test_templates_are_a_complete_set(tmp_path: Path, here: Here) -> None:
    """The documents are written as they are in the package, and freeze as the notes say."""
    made = here("init", "--template")
    assert made.out.split() == list(TEMPLATES)
    assert all((tmp_path / name).read_bytes() == read_template(name) for name in TEMPLATES)
    commands = [line.split()[1:] for line in made.err.removeprefix("next:").splitlines()]
    assert len(commands) == 4
    for command in commands:
        assert here(*command).code == 0, command
    assert head(tmp_path / LEDGER).size == 4


def test_templates_go_into_a_folder(tmp_path: Path, here: Here) -> None:
    """A folder may be named, and is made."""
    assert here("init", "--template", "a/b").code == 0
    assert (tmp_path / "a" / "b" / "rubric.toml").exists()
    assert not (tmp_path / LEDGER).exists()


def test_existing_documents_are_not_overwritten(tmp_path: Path, here: Here) -> None:
    """Where one of the documents exists, none is written."""
    (tmp_path / "rubric.toml").write_bytes(b"mine")
    refused = here("init", "--template")
    assert refused.code == 7
    assert "Error: rubric.toml exists" in refused.err
    assert "hint: name another folder: ledger init --template FOLDER" in refused.err
    assert [file.name for file in tmp_path.iterdir()] == ["rubric.toml"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, here: Here) -> None:
    """A file in the place of the folder is an error of storage, not of the program."""
    (tmp_path / "taken").write_bytes(b"")
    refused = here("init", "--template", "taken/inside")
    assert refused.code == 7
    assert "Error: cannot write to taken/inside: " in refused.err


def test_names_of_files_are_shown_harmless(tmp_path: Path) -> None:
    """A path with escape sequences does not reach the terminal as such."""
    made = ledger(tmp_path, "init", "--ledger", "a\x1b[31m\u202e.ledger")
    assert made.code == 0
    assert "\x1b" not in made.out
    assert "\u202e" not in made.out
    assert (tmp_path / "a\x1b[31m\u202e.ledger").exists()
