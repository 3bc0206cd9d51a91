"""`ledger prove`: one event, or two heads, shown to somebody who has not got the log."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, Result, environment, full, ledger
from ledger_cases import note
from proof_cases import EVENT, FORK, HEADS, NEW, OLD, made, reopened, signed
from trial_ledger.book import Ledger
from trial_ledger.event_proof import decode_event_proof

TOOLS = ("b3sum", "jq", "openssl", "sha256sum", "sqlite3", "xxd")
"""What RECHECK.txt needs beside the shell's own."""


@pytest.fixture
def folder(here: Here) -> Path:
    """The folder of the commands with a signed ledger."""
    signed(here.folder)
    return here.folder


def test_an_event_is_proven_by_the_real_program(tmp_path: Path) -> None:
    """What is printed is the file that check takes, and nothing else."""
    signed(tmp_path)
    done = ledger(tmp_path, "prove", "6")
    assert done == (0, made()[EVENT].decode(), "")


def test_an_event_is_named_by_seq_id_or_hash(here: Here, folder: Path) -> None:
    """Prefixes of four digits will do where only one event begins so."""
    with Ledger.open(folder / LEDGER) as book:
        stored = book.read(6)
    expected = made()[EVENT].decode()
    for name in ("6", stored.event.id, stored.hash, stored.hash[:12], stored.event.id[:12]):
        assert here("prove", name).out == expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ffffffffffff", "no event 'ffffffffffff'"),
        ("99999", "no event 99999: the log has 131"),
        ("1" * 40, "no event '1111"),
        ("six", "no event 'six'"),
        ("0", "no event 0"),
        ("\x1b[2J", "no event '\\x1b[2J'"),
    ],
)
def test_what_names_no_event_is_not_found(here: Here, folder: Path, name: str, words: str) -> None:
    """Exit code 6, and where events are listed."""
    assert folder == here.folder
    done = here("prove", name)
    assert done.code == 6
    assert words in done.err
    assert "hint: ledger log" in done.err


def test_a_prefix_of_several_events_is_ambiguous(
    here: Here, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are listed by seq."""
    assert folder == here.folder
    monkeypatch.setattr("trial_cli.prove.HEX", __import__("re").compile("[0-9a-f]"))
    done = here("prove", "a")
    assert done.code == 6
    assert "event 'a' is ambiguous: seq " in done.err
    assert "hint: name it by its seq" in done.err


def test_what_no_signed_head_covers_cannot_be_proven(here: Here, folder: Path) -> None:
    """An event after the newest head; a ledger without a head."""
    with reopened(folder) as book:
        book.append(note("after"))
    done = here("prove", "132")
    assert done.code == 6
    assert done.err == (
        "Error: no signed head covers seq 132: the newest is of 131 events\n"
        "hint: ledger head --sign\n"
    )
    other = folder / "unsigned"
    other.mkdir()
    full(other)
    assert here("prove", "1", "--ledger", f"unsigned/{LEDGER}").code == 6


def test_a_folder_to_hand_out_has_every_part(here: Here, folder: Path) -> None:
    """The document as it is stored, the proof as C2SP writes it, note, key, and how to recheck."""
    done = here("prove", "6", "-o", "six")
    assert done.out == (
        "proof     six: RECHECK.txt, event.json, event.tlog-proof, head.note, signer.txt,\n"
        "          proof.json\n"
        "next      ledger check six/proof.json, or as six/RECHECK.txt says\n"
    )
    parts = folder / "six"
    with Ledger.open(folder / LEDGER) as book:
        assert (parts / "event.json").read_bytes() == book.read(6).document
    assert (parts / "head.note").read_bytes() == made()[NEW]
    assert (parts / "proof.json").read_bytes() == made()[EVENT]
    proof = decode_event_proof(made()[EVENT])
    assert (parts / "event.tlog-proof").read_text() == proof.proof
    assert (parts / "signer.txt").read_text() == proof.keys[0] + "\n"


def recheck(folder: Path, **variables: str) -> Result:
    """Run the shell lines of a folder."""
    done = subprocess.run(
        ["sh", "RECHECK.txt"],
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(
    any(shutil.which(name) is None for name in TOOLS),
    reason=f"the public tools are not all here: {', '.join(TOOLS)}",
)
@pytest.mark.parametrize("seq", [1, 6, 64, 128, 131])
def test_public_tools_come_to_the_same_conclusion(here: Here, folder: Path, seq: int) -> None:
    """The lines of RECHECK.txt, run as they stand; a changed document, note or row is noticed."""
    assert here("prove", str(seq), "-o", "parts").code == 0
    parts = folder / "parts"
    done = recheck(parts, LEDGER=str(folder / LEDGER))
    with Ledger.open(folder / LEDGER) as book:
        digest = book.read(seq).hash
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"{digest}  -",
        "the event is in the log",
        "Signature Verified Successfully",
        "no ledger here, or it holds the event",
    ]
    assert recheck(parts).out == done.out
    document = (parts / "event.json").read_bytes()
    (parts / "event.json").write_bytes(document.replace(b'"v":1', b'"v":2'))
    forged = recheck(parts, LEDGER=str(folder / LEDGER))
    assert "the event is in the log" not in forged.out
    assert "it holds the event" not in forged.out
    (parts / "event.json").write_bytes(document)
    text = (parts / "head.note").read_text()
    (parts / "head.note").write_text(text.replace("\n131\n", "\n132\n"))
    assert "Signature Verified Successfully" not in recheck(parts).out


def test_a_ledger_with_a_hostile_name_harms_no_shell(here: Here, folder: Path) -> None:
    """Its name stands in the lines to recheck, quoted."""
    name = "a'; touch harm; '.ledger"
    (folder / LEDGER).rename(folder / name)
    assert here("prove", "6", "-o", "parts", "--ledger", name).code == 0
    recheck(folder / "parts")
    assert not (folder / "parts" / "harm").exists()


def test_two_heads_are_proven_to_be_of_one_log(here: Here, folder: Path) -> None:
    """Printed, or as a folder with both notes and the body of an add-checkpoint request."""
    assert here("prove", "--from", OLD).out == made()[HEADS].decode()
    done = here("prove", "--from", OLD, "-o", "parts")
    assert done.out == (
        "proof     parts: add-checkpoint.txt, head.note, old.note, signer.txt, proof.json\n"
        "next      ledger check parts/proof.json\n"
    )
    parts = folder / "parts"
    assert (parts / "old.note").read_bytes() == made()[OLD]
    assert (parts / "head.note").read_bytes() == made()[NEW]
    body = (parts / "add-checkpoint.txt").read_text()
    assert body.startswith("old 128\n")
    assert body.endswith("\n\n" + made()[NEW].decode())
    assert json.loads((parts / "proof.json").read_bytes())["proof"] == body
    assert here("check", "parts/proof.json").code == 0


def test_a_log_that_does_not_go_on_from_a_head_says_so(here: Here, folder: Path) -> None:
    """A head of another history, no note, no file, a folder."""
    (folder / "rubbish").write_text("x")
    for name, code, words in (
        (FORK, 4, "the log does not go on from that head of 131 events"),
        ("rubbish", 4, "not a signed head"),
        ("nowhere", 6, "no file nowhere"),
        (".", 7, "cannot read .: Is a directory"),
    ):
        done = here("prove", "--from", name)
        assert (done.code, done.out) == (code, "")
        assert words in done.err


@pytest.mark.parametrize("arguments", [(), ("6", "--from", OLD)])
def test_either_an_event_or_a_head(here: Here, folder: Path, arguments: tuple[str, ...]) -> None:
    """Not both, and not none."""
    assert folder == here.folder
    done = here("prove", *arguments)
    assert done.code == 2
    assert "one of EVENT and --from NOTE is needed" in done.err


def test_a_folder_that_is_there_is_left_alone(here: Here, folder: Path) -> None:
    """Proofs are never written over anything; what cannot be made is a fault of the storage."""
    (folder / "there").mkdir()
    done = here("prove", "6", "-o", "there")
    assert (done.code, done.err) == (
        7, "Error: there exists\nhint: name another folder with -o FOLDER\n",
    )  # fmt: skip
    assert list((folder / "there").iterdir()) == []
    done = here("prove", "6", "-o", f"{LEDGER}/below")
    assert (done.code, "cannot write" in done.err) == (7, True)
