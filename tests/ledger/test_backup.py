"""A backup is a whole copy that verified, made while others write; nothing is overwritten."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from attack_cases import checked, document_of, put_document, tampering
from ledger_cases import copied, full_ledger, note, tools
from process_cases import append_some, running, world
from process_cases import started as process
from redact_cases import files_with, noted, redacted, stored_traces, writing
from trial_ledger import backup as module
from trial_ledger.backup import Backup, backup, note_path
from trial_ledger.book import Ledger
from trial_ledger.errors import StorageError, VerificationError
from trial_ledger.goldfile import gold_path
from trial_ledger.heads import parse_note
from trial_ledger.keys import create_key
from trial_ledger.verification import Verification, verify

SOAK = os.environ.get("LEDGER_SOAK") == "1"
EVENTS, COPIES = (5_000, 50) if SOAK else (80, 3)


def backed_up(path: Path, target: Path, *, with_gold: bool = True) -> Backup:
    """Back up a closed ledger."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        return backup(ledger, target, with_gold=with_gold)


def test_a_copy_is_the_same_and_verifies(honest: Path, tmp_path: Path) -> None:
    """Size, root, gold and every text are those of the ledger; the gold is for its owner only."""
    target = tmp_path / "copy.ledger"
    done = backed_up(honest, target)
    found = checked(target)
    assert (found.is_intact, found.size, found.root) == (True, done.head.size, done.head.root)
    assert (done.gold, done.signed, done.redacted, found.gold) == ("copied", None, 0, "checked")
    assert done.files == {path.name: path.stat().st_size for path in (target, gold_path(target))}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(done.files)
    assert stat.S_IMODE(gold_path(target).stat().st_mode) == 0o600
    with writing(target) as ledger:
        assert ledger.append(note("goes on")).seq == done.head.size + 1


def test_c02_a_copy_without_gold_has_none(honest: Path, tmp_path: Path) -> None:
    """For sharing: no gold text and no gold record stands in any byte of it."""
    done = backed_up(honest, tmp_path / "copy.ledger", with_gold=False)
    assert (done.gold, [*done.files]) == ("left out", ["copy.ledger"])
    assert files_with(tmp_path, {b"compared with gold", b"https://example.org/q1"}) == []


def test_a_ledger_whose_gold_is_elsewhere_is_copied_without(victim: Path, tmp_path: Path) -> None:
    """What is not here is said to be absent."""
    gold_path(victim).unlink()
    assert backed_up(victim, tmp_path / "copy.ledger").gold == "absent"


def test_the_newest_signed_head_lies_beside_the_copy(tmp_path: Path) -> None:
    """Its note is of a beginning of the copied log."""
    folder = tmp_path / "own"
    folder.mkdir()
    signer = create_key(tmp_path / "keys" / "a.key")
    signing = msgspec.structs.replace(tools(folder, pins=False), signer=lambda: signer)
    with full_ledger(folder, world=signing) as ledger:
        ledger.append(note("after the head"))
        done = backup(ledger, tmp_path / "copy.ledger")
        newest = ledger.store.heads.newest()
    text = note_path(tmp_path / "copy.ledger").read_text("utf-8")
    assert text == newest
    assert done.signed == parse_note(text)[1].size < done.head.size
    assert set(done.files) == {"copy.ledger", "copy.ledger.gold", "copy.ledger.note"}


@pytest.mark.parametrize("name", [lambda path: path, gold_path, note_path])
def test_nothing_is_overwritten(honest: Path, tmp_path: Path, name: Callable[[Path], Path]) -> None:
    """Whatever has one of the names of the copy stays, and no copy is made."""
    target = tmp_path / "copy.ledger"
    name(target).write_bytes(b"mine")
    with pytest.raises(StorageError, match="exists"):
        backed_up(honest, target)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [
        (name(target).name, b"mine")
    ]


def test_what_appears_meanwhile_is_not_overwritten_either(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names are looked at again after the check."""
    target = tmp_path / "copy.ledger"

    def slow(ledger: Ledger) -> Verification:
        target.write_bytes(b"mine")
        return verify(ledger)

    monkeypatch.setattr(module, "verify", slow)
    with pytest.raises(StorageError, match="exists"):
        backed_up(honest, target)
    assert [path.name for path in tmp_path.iterdir()] == ["copy.ledger"]
    assert target.read_bytes() == b"mine"


def test_a_damaged_ledger_gives_no_copy(victim: Path, tmp_path: Path) -> None:
    """What does not verify never bears the copy's name, and nothing of it stays."""
    with tampering(victim) as connection:
        put_document(connection, 60, document_of(connection, 61))
    with pytest.raises(VerificationError, match="the copy does not verify: seq 60"):
        backed_up(victim, tmp_path / "folder.ledger")
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]


def test_a_copy_of_another_end_is_refused(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that lost its tail verifies by itself, and is held to the head that was copied."""

    def short(ledger: Ledger) -> Verification:
        found = verify(ledger)
        found.size -= 1
        return found

    monkeypatch.setattr(module, "verify", short)
    with pytest.raises(VerificationError, match="the copy has 127 events"):
        backed_up(honest, tmp_path / "copy.ledger")


def test_a_folder_that_is_not_there(honest: Path, tmp_path: Path) -> None:
    """A copy needs a folder; the error names the file."""
    with pytest.raises(StorageError, match=r"none.*cannot be opened"):
        backed_up(honest, tmp_path / "none" / "copy.ledger")


def test_a_copy_that_cannot_be_put_in_place(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file system refuses at the end is told, and the hidden files go."""

    def refuse(_: Path) -> None:
        message = "no"
        raise OSError(5, message)

    monkeypatch.setattr(module, "sync_folder", refuse)
    with pytest.raises(StorageError, match="cannot put the copy at"):
        backed_up(honest, tmp_path / "copy.ledger")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_c11_a_copy_holds_nothing_that_was_redacted_before(victim: Path, tmp_path: Path) -> None:
    """Pages are copied as they are, and erased text is in none of them."""
    with writing(victim) as ledger:
        reference = noted(ledger, b"Ada Example, 12 Sample Street " * 9)
    pieces = stored_traces(victim, reference)
    with writing(victim) as ledger:
        redacted(ledger, reference)
    folder = tmp_path / "copies"
    folder.mkdir()
    done = backed_up(victim, folder / "copy.ledger")
    assert done.redacted == 1
    assert files_with(folder, pieces) == []


def test_a_copy_made_while_others_write(honest: Path, tmp_path: Path) -> None:
    """Copies during a writer's appends verify, each further on, and no append fails."""
    path = copied(honest, tmp_path / "busy")
    acknowledged = tmp_path / "acknowledged"
    writer = process(append_some, path, tmp_path / "state", "w", EVENTS, acknowledged, pause=0)
    with running(writer), Ledger.open(path, tools=world(tmp_path / "none")) as ledger:
        while not acknowledged.exists():
            os.sched_yield()
        sizes = [backup(ledger, tmp_path / f"copy{number}").head.size for number in range(COPIES)]
        writer.join()
        assert writer.exitcode == 0
    assert sizes == sorted(sizes)
    assert len(acknowledged.read_text("utf-8").splitlines()) == EVENTS
    for number in range(COPIES):
        assert checked(tmp_path / f"copy{number}").size == sizes[number]
    assert checked(path).size == 128 + EVENTS
