"""No changed bit of a receipt or of a proof is read: every one in soak, a sample otherwise."""

import os
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ledger_cases import RUN, note
from projection_cases import Log
from receipt_cases import signing_tools
from trial_ledger.anchoring import sign_head
from trial_ledger.errors import VerificationError
from trial_ledger.event_proof import (
    check_event,
    decode_event_proof,
    encode_event_proof,
    prove_event,
)
from trial_ledger.head_proof import check_heads, decode_head_proof, encode_head_proof, prove_heads
from trial_ledger.heads import parse_public_key
from trial_projections import receipt_check
from trial_projections.receipt import make_receipt
from trial_projections.receipt_check import check_receipt
from trial_projections.receipt_structs import decode_receipt, encode_receipt

SOAK = os.environ.get("LEDGER_SOAK") == "1"

SAMPLE = 2_000
"""Bits of a receipt in `make test`."""

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A small receipt with opened texts, a proof of an event, and a proof between heads."""
    folder = tmp_path_factory.mktemp("bits")
    log = Log(folder, world=signing_tools(folder))
    old = sign_head(log.ledger)
    log.trial("q1")
    log.judge("q1", "judged", "correct")
    log.ledger.append(note("between"))
    log.act("run.closed", status="complete")
    log.ledger.append(note("after"))
    sign_head(log.ledger)
    keys = log.ledger.registry().keys
    receipt = make_receipt(log.ledger, RUN, "judged", reveal=["gold", "answers"])
    assert receipt.proof
    found = {
        "receipt": encode_receipt(receipt),
        "event": encode_event_proof(prove_event(log.ledger, 7, keys=keys)),
        "heads": encode_head_proof(prove_heads(log.ledger, old, keys=keys)),
    }
    log.ledger.close()
    return found


def read_receipt(content: bytes) -> object:
    """Check a receipt."""
    return check_receipt(decode_receipt(content))


def read_event(content: bytes) -> object:
    """Check a proof of an event."""
    proof = decode_event_proof(content)
    return check_event(proof, [parse_public_key(text) for text in proof.keys])


def read_heads(content: bytes) -> object:
    """Check a proof between heads."""
    proof = decode_head_proof(content)
    return check_heads(proof, [parse_public_key(text) for text in proof.keys])


READERS: dict[str, Callable[[bytes], object]] = {
    "receipt": read_receipt,
    "event": read_event,
    "heads": read_heads,
}


def believed(name: str, content: bytes, bits: Iterable[int]) -> list[int]:
    """Return the bits that can be flipped and the file is believed all the same."""
    read = READERS[name]
    read(content)
    found: list[int] = []
    for bit in bits:
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            read(bytes(flipped))
        except VerificationError:
            continue
        found.append(bit)
    return found


def test_no_sampled_bit_of_a_receipt_is_believed(files: Files) -> None:
    """Each part of it is bound to the signed head, to a hash, or to what is computed anew."""
    content = files["receipt"]
    bits = random.Random(4).sample(range(8 * len(content)), SAMPLE)  # noqa: S311 - repeatable
    assert believed("receipt", content, bits) == []


@pytest.mark.parametrize("name", ["event", "heads"])
def test_no_bit_of_a_proof_is_believed(files: Files, name: str) -> None:
    """Every bit of document, path, note and key."""
    content = files[name]
    assert believed(name, content, range(8 * len(content))) == []


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="every bit takes a minute: make soak")
def test_no_bit_of_a_receipt_is_believed(files: Files) -> None:
    """Every bit of a whole receipt."""
    content = files["receipt"]
    assert believed("receipt", content, range(8 * len(content))) == []
    print(f"{8 * len(content)} bits of a receipt, none believed")  # noqa: T201 - figures of a soak


@pytest.mark.parametrize(
    ("part", "loosened"),
    [
        (b'"decided":', ("compared", lambda _, claim: claim)),
        (b'"note":"', ("verified_head", lambda *_args, **_options: HEAD[0])),
    ],
)
def test_a_check_that_looks_less_closely_is_caught(
    files: Files, part: bytes, loosened: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without comparing the claim, or verifying the note, flipped bits there are believed."""
    content = files["receipt"]
    HEAD[:] = [check_receipt(decode_receipt(content)).head]
    start = 8 * content.index(part)
    bits = range(start, start + 8 * 24)
    assert believed("receipt", content, bits) == []
    monkeypatch.setattr(receipt_check, *loosened)
    assert believed("receipt", content, bits) != []


HEAD: list[Any] = []
"""The head that a check believes which does not look at signatures."""


def test_another_form_of_the_same_value_is_refused(files: Files) -> None:
    """White space, a field twice, an unknown field, no line end: nobody reads another."""
    for name, read in READERS.items():
        content = files[name]
        for other in (
            content.replace(b":", b": ", 1),
            content[:-1],
            content + b"\n",
            content.replace(b"{", b'{"keys":[],', 1),
            content.replace(b"{", b'{"more":1,', 1),
            content.replace(b'/1"', b'/2"', 1),
            content.replace(b"trial-ledger", b"trial\\u002dledger", 1),
            content[: len(content) // 2],
            b"\xff" + content,
        ):
            assert other != content
            with pytest.raises(VerificationError, match=r"not a (receipt|proof)"):
                read(other)
