"""`ledger check`: what somebody believes who has nothing but a file, and what is refused."""

import os
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, ledger
from ledger_cases import RUN, note
from proof_cases import (
    EVENT,
    FORK,
    HEADS,
    KEY,
    NEW,
    OLD,
    OTHER_KEY,
    RECEIPT,
    made,
    reopened,
    signed,
)
from trial_cli import check
from trial_ledger.anchoring import sign_head
from trial_projections.receipt_structs import decode_receipt

SCREEN = """\
holds         ORIGIN
number        judged of fast-01 = 6-7/10  60.0-70.0 %
!             still counting though invalidated after the end or verdict: 1
              trial
!             gate decided failed: judged
arithmetic    verified: computed anew from the documents of 10 trials
complete      as of link 68, seq 127 of 131; nothing later
decided       9 of 10, planned 10
overrides     1 by people, all of them here
grading       not re-run: judge is no code grader here
opened        gold 10 of 10, answers 0 of 8, reasoning 0 of 7; each what the log
              committed to
rubric        quality@1
              RUBRIC
manifest      local
              MANIFEST
gold          example@1
              GOLD
order         witnessed: recorded live; manifest frozen at seq 4, first trial at
              seq 6
key           NOT known to you: it is the file's own:
              KEY
anchor        none: nobody but the ledger's owner vouches for this head (--note)
not shown     that all of it was recorded; other runs and ledgers
"""


@pytest.fixture
def files(here: Here) -> Path:
    """The folder of the commands, with everything but the ledger."""
    signed(here.folder, *(name for name in made() if not name.startswith(LEDGER)))
    return here.folder


def told(text: str, label: str) -> str:
    """Return what stands behind a label, on one line."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith(label) or (found and line.startswith(" " * 14)):
            found.append(line[14:])
        elif found:
            break
    return " ".join(found)


def test_c36_a_receipt_is_checked_with_nothing_but_the_file(tmp_path: Path) -> None:
    """The whole screen, by the real program, where no ledger is; 80 columns wide."""
    signed(tmp_path, RECEIPT)
    done = ledger(tmp_path, "check", RECEIPT)
    receipt = decode_receipt(made()[RECEIPT])
    origin = receipt.note.split("\n")[0]
    expected = SCREEN.replace("ORIGIN", origin).replace(
        "KEY", receipt.keys[0].removeprefix(origin + "+")
    )
    about = ledger(tmp_path, "check", RECEIPT, "--json").json["about"]
    for word, name in (("RUBRIC", "rubric"), ("MANIFEST", "manifest"), ("GOLD", "dataset")):
        expected = expected.replace(word, about[name].split(" ")[1])
    assert (done.code, done.out.splitlines()) == (0, expected.splitlines())
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_other_forms_of_a_checked_receipt(here: Here, files: Path) -> None:
    """JSON has everything; a row is one line."""
    assert files == here.folder
    document = here("check", RECEIPT, "--key", KEY, "--note", NEW, "--json").json
    assert (document["schema"], document["what"], document["holds"]) == (
        "ledger.check/1", "receipt", True,
    )  # fmt: skip
    assert (document["claim"]["run"], document["key_is_known"]) == (RUN, True)
    assert document["anchors"] == [{"size": 131, "relation": "same"}]
    assert document["scale"] == ["0", "1"]
    assert document["texts"]["gold"] == {"named": 10, "opened": 10, "redacted": 0}
    assert document["regraded"]["reason"] == "judge is no code grader here"
    (row,) = here("check", RECEIPT, "--format", "jsonl").rows
    assert (row["what"], row["low"], row["high"], row["link"]) == ("receipt", "3/5", "7/10", 68)


def test_an_event_and_two_heads_are_checked_alike(here: Here, files: Path) -> None:
    """Each says what it shows, and what not."""
    assert files == here.folder
    event = here("check", EVENT)
    assert event.code == 0
    assert told(event.out, "event") == "seq 6, trial.started of run fast-01, trial q1#1@s1"
    assert told(event.out, "included") == "in the log of 131 events that was signed"
    assert told(event.out, "not shown").startswith("that no other event stands beside it")
    assert here("check", EVENT, "--json").json["seq"] == 6
    heads = here("check", HEADS, "--key", KEY)
    assert heads.code == 0
    assert told(heads.out, "goes on").startswith("the log of 131 events begins with the 128 of")
    assert told(heads.out, "key").startswith("known to you: ")
    assert here("check", HEADS, "--json").json["old_size"] == 128
    for done in (event, heads):
        assert max(map(len, done.out.splitlines())) <= 80


def test_an_event_of_no_run_is_checked_too(here: Here, tmp_path: Path) -> None:
    """The first event belongs to no run and no trial."""
    signed(tmp_path)
    here("prove", "1", "-o", "first")
    done = here("check", "first/proof.json")
    assert told(done.out, "event") == "seq 1, ledger.opened"


def test_what_is_known_of_the_key(here: Here, files: Path) -> None:
    """Given as text or in a file; another key signs nothing; a wrong one is refused at once."""
    key = (files / KEY).read_text().strip()
    for name in (KEY, key):
        done = here("check", RECEIPT, "--key", name)
        assert (done.code, told(done.out, "key")[:13]) == (0, "known to you:")
    wrong = here("check", RECEIPT, "--key", OTHER_KEY)
    assert wrong.code == 4
    assert "no signature of a known key on the head" in wrong.err
    assert here("check", RECEIPT, "--key", OTHER_KEY, "--key", KEY).code == 0


def test_c11_a_key_file_with_rubbish_lists_every_line_and_shows_none(
    here: Here, files: Path
) -> None:
    """It may be somebody's private key; the place is enough to find it."""
    (files / "rubbish").write_text("-----BEGIN PRIVATE KEY-----\n\nsecret+words+here\n\x1b[2J\n")
    (files / "empty").write_bytes(b"\n")
    done = here("check", RECEIPT, "--key", "rubbish", "--key", "a+b+c", "--key", "empty")
    assert done.code == 2
    assert done.err.splitlines() == [
        "rubbish:1: not an Ed25519 key of the form NAME+ID+KEY",
        "rubbish:3: not an Ed25519 key of the form NAME+ID+KEY",
        "rubbish:4: not an Ed25519 key of the form NAME+ID+KEY",
        "--key: not an Ed25519 key of the form NAME+ID+KEY",
        "empty: no public key in it",
        "Error: --key not acceptable: 5 faults",
        "hint: ledger key show prints the public key of a ledger",
    ]


def test_a_kept_note_makes_an_anchor(here: Here, files: Path) -> None:
    """The same head; an earlier one with the proof between them, and without; in any order."""
    assert files == here.folder
    same = here("check", RECEIPT, "--note", NEW)
    assert told(same.out, "anchor") == "the head is the one that you kept, of 131 events"
    unproven = here("check", RECEIPT, "--note", OLD)
    assert unproven.code == 0
    assert told(unproven.out, "anchor").startswith("your note of 128 events was NOT compared: ")
    proven = here("check", RECEIPT, "--note", OLD, "--note", NEW, "--proof", HEADS)
    assert told(proven.out, "anchor") == (
        "the head goes on from the one of 128 events that you kept"
        " the head is the one that you kept, of 131 events"
    )
    heads = here("check", HEADS, "--note", OLD)
    assert told(heads.out, "anchor") == "the head goes on from the one of 128 events that you kept"
    event = here("check", EVENT, "--note", NEW)
    assert told(event.out, "anchor") == "the head is the one that you kept, of 131 events"


def test_an_older_head_than_the_kept_one_needs_a_proof(here: Here, tmp_path: Path) -> None:
    """What came later may change the number; with the proof it is told how much came."""
    signed(tmp_path)
    with reopened(tmp_path) as book:
        book.append(note("later"))
        (tmp_path / "later.note").write_text(sign_head(book))
    refused = here("check", RECEIPT, "--note", "later.note")
    assert refused.code == 4
    assert refused.err == (
        "Error: an older head, of 131 events: the one that you kept has 132\n"
        "hint: ask for a newer one, or for what ledger prove --from NOTE gives\n"
    )
    (tmp_path / "goes-on.json").write_text(here("prove", "--from", NEW).out)
    found = here("check", RECEIPT, "--note", "later.note", "--proof", "goes-on.json")
    assert told(found.out, "anchor") == (
        "part of the log whose head of 132 events you kept; 1 came later"
    )


def test_two_histories_are_refused(here: Here, files: Path) -> None:
    """Two heads of one size, both signed with the ledger's key: somebody shows two logs."""
    assert files == here.folder
    done = here("check", RECEIPT, "--note", FORK)
    assert done.code == 4
    assert "two histories: heads of 131 events with different roots" in done.err


def test_a_note_or_proof_that_does_not_hold_is_named(here: Here, files: Path) -> None:
    """Which of the files it was is said first."""
    (files / "bad.note").write_text("x\n")
    (files / "bad.json").write_bytes((files / HEADS).read_bytes().replace(b"old 128", b"old 127"))
    for options, words in (
        (("--note", "bad.note"), "Error: bad.note: not a signed head"),
        (("--proof", "bad.json"), "Error: bad.json: the proof is from 127 events"),
        (("--proof", RECEIPT), "Error: receipt.json: not a proof between heads"),
    ):
        done = here("check", RECEIPT, *options)
        assert done.code == 4
        assert done.err.startswith(words)


def test_a_bare_proof_needs_its_document_and_a_key(here: Here, tmp_path: Path) -> None:
    """The document lies beside it under the same name, or is named; a key is always named."""
    signed(tmp_path)
    here("prove", "6", "-o", "folder")
    bare = "folder/event.tlog-proof"
    found = here("check", bare, "--key", KEY)
    assert told(found.out, "event").startswith("seq 6, trial.started")
    moved = tmp_path / "elsewhere"
    (tmp_path / "folder" / "event.json").rename(moved)
    assert here("check", bare, "--key", KEY, "--document", str(moved)).code == 0
    missing = here("check", bare, "--key", KEY)
    assert (missing.code, "no file folder/event.json" in missing.err) == (6, True)
    keyless = here("check", bare, "--document", str(moved))
    assert keyless.code == 2
    assert "--key: a bare proof names no key" in keyless.err
    changed = here("check", bare, "--key", KEY, "--document", KEY)
    assert changed.code == 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "neither a receipt nor a proof: Input data was truncated"),
        (b"hello", "neither a receipt nor a proof: JSON is malformed"),
        (b"\xff\xfe", "neither a receipt nor a proof"),
        (b"[" * 100_000, "neither a receipt nor a proof"),
        (b"{}", "neither a receipt nor a proof of this version\n"),
        (b'{"schema":"ledger.receipt/2"}', "its schema is 'ledger.receipt/2'"),
        (b'{"schema":"\\u001b[2J"}', "its schema is '\\x1b[2J'"),
        (b'{"schema":"ledger.receipt/1"}', "not a receipt: Object missing required field"),
        (b'{"schema":"ledger.proof/1"}', "not a proof: Object missing required field"),
        (b'{"schema":"ledger.consistency/1"}', "not a proof between heads: Object missing"),
        (b"c2sp.org/tlog-proof@v1\n", "a bare proof names no key"),
    ],
)
def test_what_is_neither_receipt_nor_proof_is_refused(
    here: Here, content: bytes, words: str
) -> None:
    """Said in a line, with exit code 4; a bare proof lacks a key first."""
    (here.folder / "file").write_bytes(content)
    done = here("check", "file")
    assert done.code == (2 if content.startswith(b"c2sp") else 4)
    assert words in done.err
    assert "\x1b" not in done.err


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 0.999])
def test_a_truncated_receipt_is_refused(here: Here, files: Path, share: float) -> None:
    """Wherever a download ended."""
    content = (files / RECEIPT).read_bytes()
    (files / "part").write_bytes(content[: int(len(content) * share)])
    done = here("check", "part")
    assert (done.code, "neither a receipt nor a proof" in done.err) == (4, True)


def test_each_kind_of_file_can_be_wrong_inside(here: Here, files: Path) -> None:
    """A changed document, claim or key in any of the three: exit code 4, and what is wrong."""
    for name, before, after in (
        (RECEIPT, b'"decided":9', b'"decided":8'),
        (EVENT, b"q1", b"q2"),
        (HEADS, b"old 128", b"old 127"),
    ):
        content = (files / name).read_bytes()
        assert before in content
        (files / "changed").write_bytes(content.replace(before, after, 1))
        done = here("check", "changed")
        assert done.code == 4
        assert done.err.startswith("Error: ")


def test_names_of_files_are_harmless_on_the_screen(here: Here) -> None:
    """A file's name may hold anything."""
    name = "\x1b[31mred\u202e"
    done = here("check", name)
    assert (done.code, "\x1b" in done.err, "\u202e" in done.err) == (6, False, False)
    (here.folder / name).write_bytes(b"{}")
    again = here("check", name)
    assert (again.code, "\x1b" in again.err) == (4, False)


def test_what_cannot_be_read_is_a_fault_of_the_storage(here: Here, files: Path) -> None:
    """A folder in place of a file; a file without the right to read it."""
    (files / "folder").mkdir()
    done = here("check", "folder")
    assert (done.code, "cannot read folder: Is a directory" in done.err) == (7, True)
    assert here("check", RECEIPT, "--note", "folder").code == 7
    assert here("check", RECEIPT, "--key", "folder").code == 7
    assert here("check", RECEIPT, "--key", "nowhere").code == 6
    if os.geteuid() != 0:
        (files / RECEIPT).chmod(0)
        assert here("check", RECEIPT).code == 7


def test_a_gibibyte_is_not_read(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of a file is known beforehand; of what comes through a pipe no more is taken."""
    path = here.folder / "large"
    with path.open("wb") as stream:
        stream.truncate((1 << 30) + 1)
    done = here("check", "large")
    assert (done.code, "large is larger than any receipt" in done.err) == (4, True)
    monkeypatch.setattr(check, "LARGEST", 3)
    reader, writer = os.pipe()
    os.write(writer, b"{   }")
    os.close(writer)
    done = here("check", f"/dev/fd/{reader}")
    os.close(reader)
    assert (done.code, "is larger than any receipt" in done.err) == (4, True)
