"""One event that is in a signed log, shown to somebody who has not got the log."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from ledger_cases import note
from projection_cases import Log
from receipt_cases import THEIRS, signing_tools
from trial_ledger.anchoring import sign_head
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.event_proof import (
    EventProof,
    check_event,
    decode_event_proof,
    encode_event_proof,
    prove_event,
)
from trial_ledger.heads import PublicKey, origin_of, parse_public_key
from trial_ledger.proof import parse_inclusion


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A ledger with a key, some events and a signed head."""
    made = Log(tmp_path, world=signing_tools(tmp_path))
    made.trial("q1")
    sign_head(made.ledger)
    yield made
    made.ledger.close()


def proven(log: Log, seq: int) -> EventProof:
    """Return the proof of an event."""
    return prove_event(log.ledger, seq, keys=log.ledger.registry().keys)


def own_keys(proof: EventProof) -> list[PublicKey]:
    """Return the keys that a proof names."""
    return [parse_public_key(text) for text in proof.keys]


def test_every_event_has_a_proof_that_holds(log: Log) -> None:
    """From the first to the last that the head covers; document, hash and head come back."""
    size = log.ledger.head().size
    for seq in range(1, size + 1):
        proof = decode_event_proof(encode_event_proof(proven(log, seq)))
        found = check_event(proof, own_keys(proof))
        stored = log.ledger.read(seq)
        assert (found.event, found.hash) == (stored.event, stored.hash)
        assert (found.head.size, found.head.root.hex()) == (size, log.ledger.head().root)


def test_a_proof_shows_no_other_event(log: Log) -> None:
    """Only hashes of the rest of the log are in it."""
    shown = encode_event_proof(proven(log, 6)).decode()
    for seq in (1, 2, 5, 7):
        assert log.ledger.read(seq).event.id not in shown


def test_what_no_signed_head_covers_cannot_be_proven(log: Log, tmp_path: Path) -> None:
    """The newest head is older, there is none, or there is no such event."""
    log.ledger.append(note("after"))
    size = log.ledger.head().size
    with pytest.raises(NotFoundError, match=f"covers seq {size}: the newest is of {size - 1}"):
        proven(log, size)
    with pytest.raises(NotFoundError, match="no event 99"):
        proven(log, 99)
    folder = tmp_path / "unsigned"
    folder.mkdir()
    unsigned = Log(folder)
    with pytest.raises(NotFoundError, match="no signed head covers seq 1") as caught:
        proven(unsigned, 1)
    assert caught.value.hint == "ledger head --sign"
    unsigned.ledger.close()


def swapped(proof: EventProof, before: str, after: str) -> EventProof:
    """Return a proof with its document changed."""
    assert before in proof.document
    return msgspec.structs.replace(proof, document=proof.document.replace(before, after, 1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda proof: swapped(proof, '"seq":7', '"seq":8'), "is for place 6, the event says 7"),
        (lambda proof: swapped(proof, '"abstained":false', '"abstained":true'), "another root"),
        (lambda proof: swapped(proof, '"v":1', '"v": 1'), "not in canonical form"),
        (lambda proof: swapped(proof, '"kind":"answer', '"kind":"answers'), "does not know"),
        (lambda proof: swapped(proof, '"seq"', '"sequence"'), "not an event"),
        (lambda proof: msgspec.structs.replace(proof, document="x" * 65_536), "longer than any"),
        (lambda proof: msgspec.structs.replace(proof, proof="x"), "does not begin with"),
    ],
)
def test_anything_else_is_refused(
    log: Log, change: Callable[[EventProof], EventProof], words: str
) -> None:
    """Another place, content, spelling, kind: each with what is wrong."""
    proof = proven(log, 7)
    assert '"kind":"answer.submitted"' in proof.document
    with pytest.raises(VerificationError, match=words):
        check_event(change(proof), own_keys(proof))


def test_a_place_beyond_the_head_is_refused(log: Log) -> None:
    """The size comes from the verified note, so an event after it has no place there."""
    proof = proven(log, 7)
    size = log.ledger.head().size
    later = swapped(proof, '"seq":7', f'"seq":{size + 1}')
    later = msgspec.structs.replace(later, proof=proof.proof.replace("index 6", f"index {size}"))
    with pytest.raises(VerificationError, match=f"leaf {size} lies outside a log of {size}"):
        check_event(later, own_keys(proof))


def test_another_key_or_another_ledger_is_refused(log: Log) -> None:
    """A stranger's key signs nothing here; an event of another ledger is not of this head."""
    proof = proven(log, 7)
    stranger = PublicKey(name=origin_of(log.ledger.id), key=THEIRS.key)
    with pytest.raises(VerificationError, match="no signature of a known key"):
        check_event(proof, [stranger])
    other = swapped(proof, log.ledger.id, "ab" * 16)
    with pytest.raises(VerificationError, match="of another ledger than the signed head"):
        check_event(other, own_keys(proof))


def test_the_index_of_a_proof_is_compared_and_not_used(log: Log) -> None:
    """An honest proof fits other pairs of index and size; the document says where it stands."""
    proof = proven(log, 7)
    moved = msgspec.structs.replace(proof, proof=proof.proof.replace("index 6", "index 5"))
    assert parse_inclusion(moved.proof).index == 5
    with pytest.raises(VerificationError, match="is for place 5, the event says 6"):
        check_event(moved, own_keys(proof))


@pytest.mark.parametrize("content", [b"", b"[]", b'{"schema":"ledger.proof/2"}', b"\xff"])
def test_what_is_no_proof_is_refused(content: bytes) -> None:
    """Other JSON, no JSON, another schema."""
    with pytest.raises(VerificationError, match="not a proof"):
        decode_event_proof(content)
