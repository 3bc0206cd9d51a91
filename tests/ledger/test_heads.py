"""Signed heads: C2SP notes under Ed25519, ours and those of others."""

import base64
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from trial_ledger.errors import VerificationError
from trial_ledger.heads import (
    PublicKey,
    Signer,
    head_text,
    is_signed,
    origin_of,
    parse_note,
    parse_public_key,
    parse_signature,
    signed_note,
    verified_head,
)

SPEC_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
SPEC_TEXT = "This is an example message.\n"
SPEC_LINE = (
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuw"
    "HjG1Yu72IneyaQM="
)
"""The example of c2sp.org/signed-note."""
ORIGIN = origin_of("ab" * 16)
ROOT = bytes(range(32))


def signer(seed: int) -> Signer:
    """Return the key of a seed."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    public = private.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    return Signer(key=public, sign=private.sign)


OURS, THEIRS = signer(1), signer(2)
KEY = PublicKey(name=ORIGIN, key=OURS.key)
WITNESS = PublicKey(name="witness.example", key=THEIRS.key)
NOTE = signed_note(head_text(ORIGIN, 17, ROOT), OURS, name=ORIGIN)


def refused(check: Callable[[], object], words: str) -> None:
    """Check that something is refused, with these words."""
    with pytest.raises(VerificationError, match=words):
        check()


def test_the_example_of_the_standard_verifies_here() -> None:
    """Key, key id and signature of c2sp.org/signed-note are read and hold; a changed text not."""
    key = parse_public_key(SPEC_KEY)
    signature = parse_signature(SPEC_LINE)
    assert (key.name, key.key_id.hex(), str(key)) == ("example.com/foo", "530d903a", SPEC_KEY)
    assert (signature.name, signature.key_id) == (key.name, key.key_id)
    assert is_signed(key, SPEC_TEXT, signature.signature)
    assert not is_signed(key, SPEC_TEXT.upper(), signature.signature)
    assert not is_signed(key, SPEC_TEXT, signature.signature[:-1])


def test_a_head_is_read_as_it_was_signed() -> None:
    """Origin, size, root and signer come back; every spelling is the one right one."""
    found = verified_head(NOTE, [WITNESS, KEY], origin=ORIGIN)
    assert (found.origin, found.size, found.root) == (ORIGIN, 17, ROOT)
    assert (found.signers, found.unknown) == ((KEY,), ())
    assert verified_head(NOTE, [KEY], origin=None) == found


def test_other_signatures_neither_help_nor_harm() -> None:
    """A witness beside us is named where it is known; an unknown one is told and not believed."""
    extra = signed_note(head_text(ORIGIN, 17, ROOT), THEIRS, name=WITNESS.name)
    both = NOTE + extra.rpartition("\n\n")[2]
    assert verified_head(both, [KEY], origin=ORIGIN).unknown == (WITNESS.name,)
    assert verified_head(both, [KEY, WITNESS], origin=ORIGIN).signers == (KEY, WITNESS)
    refused(lambda: verified_head(extra, [KEY], origin=ORIGIN), "no signature of a known key")
    forged = NOTE.replace("\n\n", "\n\n" + extra.rpartition("\n\n")[2], 1)
    bad = PublicKey(name=WITNESS.name, key=THEIRS.key)
    assert verified_head(forged, [bad], origin=None).signers == (bad,)


def test_a_bad_signature_of_a_known_key_is_refused_beside_a_good_one() -> None:
    """Nobody signs twice, once wrongly: something was changed."""
    other = signed_note(head_text(ORIGIN, 18, ROOT), THEIRS, name=WITNESS.name)
    both = NOTE + other.rpartition("\n\n")[2]
    refused(lambda: verified_head(both, [KEY, WITNESS], origin=ORIGIN), "is not its own")


def test_no_flipped_bit_of_a_note_is_read() -> None:
    """Every single changed bit of a note is refused, or leaves no signature of ours."""
    content = NOTE.encode()
    for place in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        text = bytes(flipped).decode("utf-8", errors="replace")
        with pytest.raises(VerificationError):
            verified_head(text, [KEY], origin=ORIGIN)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("\n17\n", "\n017\n", "size or root"),
        ("\n17\n", "\n-17\n", "size or root"),
        ("\n17\n", "\n17\nextension\n", "origin, size and root"),
        (f"{ORIGIN}\n17", "\n17", "size or root"),
        ("\n\n", "\n", "no signature after an empty line"),
        ("— ", "- ", "a line is no signature"),
        ("=\n\n", "\n\n", "size or root"),
        ("\n— ", "\n—  ", "a line is no signature"),
    ],
)
def test_nothing_else_is_a_signed_head(before: str, after: str, words: str) -> None:
    """Other digits, extension lines, missing parts: each is refused with what is wrong."""
    assert before in NOTE
    refused(lambda: parse_note(NOTE.replace(before, after, 1)), words)


def test_limits_of_hostile_notes() -> None:
    """Too long, too many signatures, no line end: refused before anything is computed."""
    refused(lambda: parse_note("x" * 1_000_001), "too long")
    line = NOTE.rpartition("\n\n")[2]
    refused(lambda: parse_note(NOTE + line * 100), "too many signatures")
    refused(lambda: parse_note(NOTE[:-1]), "no signature")


def test_a_head_of_another_log_is_refused() -> None:
    """The origin is bound: a head of one ledger says nothing about another."""
    other = origin_of("cd" * 16)
    refused(lambda: verified_head(NOTE, [KEY], origin=other), "is about")
    transplanted = signed_note(head_text(other, 17, ROOT), OURS, name=ORIGIN)
    refused(lambda: verified_head(transplanted, [KEY], origin=ORIGIN), "is about")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not an Ed25519 key"),
        ("name", "not an Ed25519 key"),
        ("a b+00000000+AA==", "not an Ed25519 key"),
        (str(KEY).replace("+A", "+B", 1), "not an Ed25519 key"),
        (str(KEY)[:-2], "not an Ed25519 key"),
        (f"{KEY.name}+00000000+{str(KEY).split('+', 2)[2]}", "has id"),
        (f"x{KEY}", "has id"),
    ],
)
def test_nothing_else_is_a_public_key(text: str, words: str) -> None:
    """Another type, another id, another name: a key is bound to what it is called."""
    refused(lambda: parse_public_key(text), words)


def test_openssl_verifies_our_note(tmp_path: Path) -> None:
    """A stranger needs no program of ours to check a signature."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not here")
    text, _, rest = NOTE.partition("\n\n")
    signature = base64.b64decode(rest.split(" ")[-1])[4:]
    prefix = bytes.fromhex("302a300506032b6570032100")
    (tmp_path / "key.der").write_bytes(prefix + OURS.key)
    (tmp_path / "text").write_text(text + "\n")
    (tmp_path / "signature").write_bytes(signature)
    convert = [openssl, "pkey", "-pubin", "-inform", "DER", "-in", "key.der", "-out", "key.pem"]
    subprocess.run(convert, cwd=tmp_path, check=True)
    verify = [
        openssl, "pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-rawin",
        "-in", "text", "-sigfile", "signature",
    ]  # fmt: skip
    done = subprocess.run(verify, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, "Successfully" in done.stdout) == (0, True)
    (tmp_path / "text").write_text(text + " \n")
    assert subprocess.run(verify, cwd=tmp_path, check=False, capture_output=True).returncode != 0
