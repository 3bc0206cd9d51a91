"""`ledger backup`: the screen of a copy, and what is refused."""

from pathlib import Path

import msgspec

from cli_cases import LEDGER, Here, full, head, ledger
from ledger_cases import PERSON
from redact_cases import noted, writing
from trial_cli.backup import lines_of
from trial_ledger.backup import Backup
from trial_ledger.view import Head


def test_a_copy_is_made_and_said(tmp_path: Path, here: Here) -> None:
    """Files, end and root are shown; the copy is a ledger of its own name."""
    path = full(tmp_path)
    done = here("backup", "copy.ledger")
    assert done.code == 0
    assert done.out.startswith("copied    128 events, and verified: every byte of the copy\n")
    assert f"root      {head(path).root}\ngold      copied\nsigned    none\n" in done.out
    assert "bytes  copy.ledger.gold" in done.out
    assert here("--ledger", "copy.ledger", "verify").out.startswith("intact    128 events")
    assert here("--ledger", "copy.ledger", "scores", "fast-01").code == 0
    again = here("backup", "copy.ledger")
    assert again.code == 7
    assert "copy.ledger exists" in again.err


def test_the_real_command_leaves_gold_out(tmp_path: Path) -> None:
    """Through a process: JSON names the files and the head."""
    full(tmp_path)
    done = ledger(tmp_path, "backup", "shared.ledger", "--without-gold", "--json")
    assert done.code == 0, done.err
    assert (done.json["schema"], done.json["gold"]) == ("ledger.backup/1", "left out")
    assert [*done.json["files"]] == ["shared.ledger"]
    assert not (tmp_path / "shared.ledger.gold").exists()
    assert ledger(tmp_path, "--ledger", "shared.ledger", "verify").code == 0


def test_a_damaged_ledger_is_not_copied(tmp_path: Path, here: Here) -> None:
    """Exit code 4, and no file."""
    path = full(tmp_path)
    content = path.read_bytes().replace(b'"kind":"answer.submitted"', b'"kind":"answer.sabmitted"')
    path.write_bytes(content)
    found = here("backup", "copy.ledger")
    assert found.code == 4
    assert "the copy does not verify" in found.err
    assert not (tmp_path / "copy.ledger").exists()


def test_c11_a_copy_keeps_what_is_redacted_later(tmp_path: Path, here: Here) -> None:
    """The screen says so, and it is so."""
    path = full(tmp_path)
    with writing(path) as book:
        reference = noted(book, b"a text of some length, to be redacted")
    assert "what is redacted later stays in this copy" in " ".join(
        here("backup", "copy.ledger").out.split()
    )
    here("redact", reference.blob, "--reason", "x", "--actor", PERSON.name or "")
    assert "to be redacted" in here("--ledger", "copy.ledger", "show", reference.blob).out
    assert ": redacted" in here("show", reference.blob).out
    rows = here("backup", "second.ledger", "--format", "jsonl").rows
    assert [row["file"] for row in rows] == ["second.ledger", "second.ledger.gold"]
    assert LEDGER in {file.name for file in tmp_path.iterdir()}


def test_a_signed_head_is_said() -> None:
    """With its size, since what comes after it is not signed."""
    done = Backup(
        head=Head(ledger="a", size=9, root="b"),
        files={"c": 1},
        gold="copied",
        signed=7,
        redacted=2,
    )
    text = "\n".join(lines_of(done))
    assert "signed    of 7 events, as a note beside it" in text
    assert "2 texts are redacted in it" in text
    assert msgspec.to_builtins(done)["signed"] == 7
