"""The second verifier itself: its mathematics by published vectors, and what it sees."""

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import blake3 as fast_blake3
import pytest
import zstandard

import documented_events
import plain_crypto
import plain_notes
import second_verifier
from attack_cases import content_of
from ledger_cases import copied, every_kind_ledger
from plain_crypto import blake3, ed25519_verifies
from second_verifier import second_look
from trial_ledger.events import KINDS, LINKED_KINDS

GOLDEN = Path(__file__).parent / "golden"
KEY = bytes(range(32))
OWN_MODULES = {"documented_events", "plain_crypto", "plain_notes", "second_verifier"}

RFC_8032 = (
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e"
            "39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f"
            "3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
)
"""Public key, message, signature of the first two tests of RFC 8032, section 7.1."""


def test_blake3_is_blake3() -> None:
    """The published hash of nothing; and at every edge of blocks and chunks the fast library's."""
    assert blake3(b"").hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    for length in (1, 63, 64, 65, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 4097, 7169):
        data = bytes(place % 251 for place in range(length))
        assert blake3(data) == fast_blake3.blake3(data).digest(), length
        assert blake3(data, KEY) == fast_blake3.blake3(data, key=KEY).digest(), length


@pytest.mark.parametrize(("key", "message", "signature"), RFC_8032)
def test_ed25519_is_that_of_the_rfc(key: str, message: str, signature: str) -> None:
    """The vectors hold, and no other message, key or signature does."""
    parts = [bytes.fromhex(part) for part in (key, message, signature)]
    assert ed25519_verifies(*parts)
    assert not ed25519_verifies(parts[0], parts[1] + b"!", parts[2])
    assert not ed25519_verifies(parts[0], parts[1], parts[2][:-1])
    for place in range(0, 64, 7):
        changed = bytearray(parts[2])
        changed[place] ^= 1
        assert not ed25519_verifies(parts[0], parts[1], bytes(changed))
    assert not ed25519_verifies(b"\xff" * 32, parts[1], parts[2])


def test_the_page_of_events_names_every_kind_and_link() -> None:
    """What an auditor reads and what the program has are the same kinds, linked or not."""
    kinds = documented_events.kinds()
    assert set(kinds) == set(KINDS)
    assert {name for name, kind in kinds.items() if kind.is_linked} == set(LINKED_KINDS)


def test_it_shares_nothing_with_the_first() -> None:
    """Its modules import the standard library and one another, and nothing else."""
    for module in (second_verifier, plain_crypto, plain_notes, documented_events):
        names = {
            line.split()[1].partition(".")[0]
            for line in Path(module.__file__ or "").read_text("utf-8").splitlines()
            if line.startswith(("import ", "from "))
        }
        assert names <= set(sys.stdlib_module_names) | OWN_MODULES, module.__name__


def unpacked(content: bytes) -> bytes:
    """Return what Zstandard packed."""
    return zstandard.ZstdDecompressor().decompress(content)


def test_every_kind_of_event_stands_its_look(tmp_path: Path) -> None:
    """A ledger with every kind is what was written, but for a redaction that was only announced."""
    with every_kind_ledger(tmp_path) as ledger:
        path = ledger.store.path
    assert second_look(path, decompress=unpacked) == []
    assert content_of(path)


def test_the_schema_is_that_of_the_first_format(tmp_path: Path) -> None:
    """The frozen list of tables and triggers is the golden ledger's own."""
    frozen = json.loads((GOLDEN / "format-1-schema.json").read_text("utf-8"))
    for name, packed in (("ledger", "format-1.zst"), ("gold", "format-1-gold.zst")):
        path = tmp_path / name
        path.write_bytes(zstandard.decompress((GOLDEN / packed).read_bytes()))
        connection = sqlite3.connect(path)
        rows = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
        ).fetchall()
        connection.close()
        assert frozen[name] == [[*row] for row in rows]


def test_without_a_decompressor_it_says_that_it_cannot(honest: Path) -> None:
    """A compressed text that was not looked at is never called fine."""
    with pytest.raises(NotImplementedError, match="no decompressor"):
        second_look(honest)


OTHER_LEDGER = """UPDATE event SET doc = replace(doc, '"ledger":"', '"ledger":"0') WHERE seq = 9"""
CONTROLS = {
    "a ledger id": (OTHER_LEDGER, "seq 9"),
    "another program": ("PRAGMA application_id = 7", "is no ledger file"),
    "another format": ("PRAGMA user_version = 2", "is no ledger file"),
}


@pytest.mark.parametrize(("statement", "said"), CONTROLS.values(), ids=CONTROLS)
def test_it_sees_what_it_should(honest: Path, tmp_path: Path, statement: str, said: str) -> None:
    """A look that never finds anything would agree with much."""
    path = copied(honest, tmp_path / "victim")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DROP TRIGGER event_no_update")
    connection.execute(statement)
    connection.close()
    assert any(said in fault for fault in second_look(path, decompress=unpacked))


NO_NOTES: dict[str, Callable[[str], str]] = {
    "no text": lambda _: "",
    "a line more": lambda note: note.replace("\n\n", "\nmore\n\n"),
    "no size": lambda note: note.replace("\n7\n", "\nseven\n"),
    "a zero in front": lambda note: note.replace("\n7\n", "\n07\n"),
    "no end of line": lambda note: note[:-1],
    "a hyphen for the dash": lambda note: note.replace("\u2014", "-"),
    "a plus in the name": lambda note: note.replace("\u2014 n", "\u2014 n+"),
    "bad base64": lambda note: note.replace("AAAA", "AA=A"),
}


@pytest.mark.parametrize("change", NO_NOTES.values(), ids=NO_NOTES)
def test_what_is_no_note_is_none(change: Callable[[str], str]) -> None:
    """The form of a note is kept to the letter."""
    note = f"origin\n7\n{'AAAA' * 10}AAA=\n\n\u2014 n {'AAAA' * 20}\n"
    assert plain_notes.read_head(note.encode(), None, []) is not None
    assert plain_notes.read_head(change(note).encode(), None, []) is None
    assert plain_notes.read_head(b"\xff" + note.encode(), None, []) is None
