"""`ledger key` and `ledger head`: making, showing and handing over keys; the end of the log."""

import os
import stat
from pathlib import Path

import pytest

from cli_cases import LEDGER, Here, ledger, opening, ready, write
from signing_cases import kept_heads, notes_of
from trial_ledger.heads import parse_note, parse_public_key

KEY = Path("config") / "trial-ledger" / "key.pem"
REMARK = {"kind": "note.added", "data": {"about": "x", "text": "y"}}


def flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


@pytest.fixture
def signed(tmp_path: Path, here: Here) -> Path:
    """Make a key and a ledger that bears it; return the ledger."""
    assert here("key", "new").code == 0
    assert here("init").code == 0
    return tmp_path / LEDGER


def freeze(here: Here) -> None:
    """Freeze the template documents, which signs a head of 4 events."""
    here("init", "--template")
    here("freeze", "dataset", "dataset.jsonl", "--name", "example", "--version", "1")
    here("freeze", "rubric", "rubric.toml")
    assert here("freeze", "manifest", "manifest.toml").code == 0


def test_a_new_key(tmp_path: Path, here: Here) -> None:
    """It lies in the user's configuration, for its owner only; its private part is not shown."""
    found = here("key", "new", "--json")
    assert found.code == 0
    path = tmp_path / KEY
    assert found.json["file"] == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = path.read_text("ascii").splitlines()[1]
    shown = here("key", "new", "--key", "other.pem")
    assert "made, for your eyes only: never put it beside a ledger" in shown.out
    assert secret not in found.out + shown.out
    again = here("key", "new")
    assert again.code == 7
    assert "key.pem exists" in again.err


def test_init_says_that_heads_are_signed(signed: Path, here: Here) -> None:
    """A new ledger bears the public key where there is one, and the key is shown to hand out."""
    found = here("key", "show", "--json").json
    assert parse_public_key(found["key"]).name == f"trial-ledger/{found['ledger']}"
    assert found["mine"] == found["key"]
    assert f"{KEY}: this key" in here("key", "show").out.replace("\n          ", "")
    assert signed.exists()


def test_a_ledger_without_a_key(tmp_path: Path, here: Here) -> None:
    """Nothing is signed, and what to do is said."""
    ready(tmp_path)
    shown = here("key", "show").out
    assert "none: heads are not signed" in shown
    assert "not there (ledger key new)" in " ".join(shown.split())
    assert "nothing: 4 events without a signed head" in here("head").out
    assert "none: ledger key new, then ledger key rotate" in here("head").out
    refused = here("head", "--sign")
    assert (refused.code, refused.out) == (6, "")
    assert "this ledger has no key" in refused.err


def test_a_first_key_for_an_old_ledger(tmp_path: Path, here: Here) -> None:
    """It comes by ledger key rotate, signs its coming, and heads are signed from then on."""
    path = ready(tmp_path)
    here("key", "new")
    assert "another key; ledger key rotate would hand over to it" in flat(here("key", "show").out)
    found = here("key", "rotate", "--actor", "Ada")
    assert found.code == 0
    assert found.out.startswith("key.rotated  seq 5  ")
    assert "none: heads were not signed" in found.out
    assert list(kept_heads(path)) == [5]
    assert '"name": "Ada"' in here("show", "5").out


def test_handing_over(signed: Path, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old key signs the handing over; afterwards only the new one is the ledger's."""
    freeze(here)
    here("key", "new", "--key", "keys/next.pem")
    found = here("key", "rotate", "--key", "keys/next.pem", "--json")
    assert (found.code, found.json["seq"]) == (0, 5)
    assert list(kept_heads(signed)) == [4, 5]
    assert "another key; ledger key rotate" in flat(here("key", "show").out)
    here("append", write(signed.parent, [REMARK]))
    refused = here("head", "--sign")
    assert refused.code == 6
    assert "the key of this ledger is not at hand" in refused.err
    monkeypatch.setenv("LEDGER_KEY", "keys/next.pem")
    assert here("head", "--sign").code == 0
    assert here("verify").code == 0
    again = here("key", "rotate", "--key", "keys/next.pem")
    assert again.code == 3
    assert "one that this ledger had before" in again.err


@pytest.mark.parametrize("arguments", [("key", "rotate", "--key", "key.pem"), ("init",)])
def test_a_key_beside_the_ledger_is_refused(
    here: Here, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """Whoever copies the folder would have both."""
    if arguments != ("init",):
        here("init")
    here("key", "new", "--key", "key.pem")
    monkeypatch.setenv("LEDGER_KEY", "key.pem")
    found = here(*arguments)
    assert found.code == 7
    assert "lies in the folder of the ledger" in found.err


def test_the_end_of_the_log(signed: Path, here: Here) -> None:
    """How long it is, what is signed, what is not; every form says the same."""
    freeze(here)
    assert "1 signed head, the last of 4 events; nothing after it" in here("head").out
    here("append", write(signed.parent, [REMARK]))
    assert "1 signed head, the last of 4 events; an unsigned tail of 1 events" in here("head").out
    found = here("head", "--json").json
    assert (found["size"], found["signed"], found["unsigned_tail"]) == (5, 4, 1)
    note = here("head", "--sign")
    assert note.out == kept_heads(signed)[5] == notes_of(signed)[-1].read_text("utf-8")
    assert parse_note(note.out)[1].size == 5
    assert here("head", "--sign").out == note.out
    assert "2 signed heads, the last of 5 events" in here("head").out


def test_a_key_file_with_open_rights_is_told(signed: Path, here: Here) -> None:
    """Recording goes on; showing the key does not hide the reason."""
    (signed.parent / KEY).chmod(0o644)
    frozen = here("append", write(signed.parent, [REMARK]))
    assert frozen.code == 0
    shown = here("key", "show")
    assert shown.code == 7
    assert "chmod 600" in shown.err
    refused = here("head", "--sign")
    assert refused.code == 6
    assert "heads stay unsigned" in refused.err


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The whole way in real processes, with the key where $LEDGER_KEY says."""
    keys = tmp_path / "keys"
    folder = tmp_path / "work"
    folder.mkdir()
    variables = {"LEDGER_KEY": os.fspath(keys / "mine.pem")}
    for arguments in (("key", "new"), ("init",), ("head", "--sign")):
        done = ledger(folder, *arguments, variables=variables)
        assert done.code == 0, done.err
    found = ledger(folder, "verify", variables=variables)
    assert "heads     1 signed head, the last of 1 events; nothing after it" in found.out
    assert opening()["kind"] == "run.opened"
