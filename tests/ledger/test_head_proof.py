"""That a log goes on from an earlier signed head, and how a head stands to those that were kept."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cases import note
from projection_cases import Log
from receipt_cases import OURS, THEIRS, signing_tools
from trial_ledger.anchoring import sign_head
from trial_ledger.errors import NotFoundError, VerificationError
from trial_ledger.head_proof import (
    CheckedHeads,
    HeadProof,
    check_heads,
    decode_head_proof,
    encode_head_proof,
    prove_heads,
)
from trial_ledger.heads import (
    PublicKey,
    SignedHead,
    head_text,
    origin_of,
    parse_public_key,
    signed_note,
    verified_head,
)
from trial_ledger.kept_heads import standings
from trial_ledger.merkle import root_at
from trial_ledger.proof import format_consistency, parse_consistency


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A ledger with a key."""
    made = Log(tmp_path, world=signing_tools(tmp_path))
    yield made
    made.ledger.close()


def keys_of(log: Log) -> list[PublicKey]:
    """Return the keys of a ledger."""
    return [parse_public_key(text) for text in log.ledger.registry().keys]


def proven(log: Log, old: str) -> HeadProof:
    """Return the proof that the newest head goes on from an earlier one."""
    return prove_heads(log.ledger, old, keys=log.ledger.registry().keys)


def grown(log: Log, count: int = 3) -> str:
    """Append some events, and return the note of the log as it is then."""
    for number in range(count):
        log.ledger.append(note(f"{log.ledger.head().size} {number}"))
    return sign_head(log.ledger)


def test_every_later_head_goes_on_from_every_earlier_one(log: Log) -> None:
    """Written and read again, each proof holds; equal heads have an empty one."""
    notes = [sign_head(log.ledger), *(grown(log, count) for count in (1, 2, 3, 4))]
    for old in notes:
        proof = decode_head_proof(encode_head_proof(proven(log, old)))
        found = check_heads(proof, keys_of(log))
        assert found.old == verified_head(old, keys_of(log), origin=None)
        assert found.head == verified_head(notes[-1], keys_of(log), origin=None)
    assert parse_consistency(proven(log, notes[-1]).proof).path == ()


def test_a_head_of_another_history_is_not_gone_on_from(log: Log) -> None:
    """Signed by the ledger's own key, and still refused: longer, empty, or with another root."""
    sign_head(log.ledger)
    size, origin = log.ledger.head().size, origin_of(log.ledger.id)
    for forged, words in (
        ((size + 5, b"x" * 32), f"the log has {size} events, the earlier head {size + 5}"),
        ((0, sha256(b"").digest()), f"the log has {size} events, the earlier head 0"),
        ((size - 1, b"x" * 32), f"does not go on from that head of {size - 1} events"),
    ):
        old = signed_note(head_text(origin, *forged), OURS, name=origin)
        with pytest.raises(VerificationError, match=words) as caught:
            proven(log, old)
        assert caught.value.hint == "ledger verify"


def test_a_note_of_somebody_else_proves_nothing(log: Log) -> None:
    """Another ledger's, another key's, or no note at all."""
    sign_head(log.ledger)
    origin = origin_of(log.ledger.id)
    elsewhere = origin_of("ab" * 16)
    theirs = signed_note(head_text(origin, 1, b"x" * 32), THEIRS, name=origin)
    other = signed_note(head_text(elsewhere, 1, b"x" * 32), OURS, name=elsewhere)
    for text, words in ((theirs, "known key"), (other, "is about"), ("x", "not a signed head")):
        with pytest.raises(VerificationError, match=words):
            proven(log, text)


def test_a_later_head_is_needed(log: Log) -> None:
    """A note of a head that the ledger lost, or none at all: sign first."""
    newest = sign_head(log.ledger)
    log.ledger.append(note("after"))
    size, origin = log.ledger.head().size, origin_of(log.ledger.id)
    root = root_at(size, log.ledger.store.node)
    ahead = signed_note(head_text(origin, size, root), OURS, name=origin)
    with pytest.raises(NotFoundError, match=f"no signed head here is of {size} events") as caught:
        proven(log, ahead)
    assert caught.value.hint == "ledger head --sign"
    assert newest != sign_head(log.ledger)
    assert check_heads(proven(log, ahead), keys_of(log)).old.size == size


def test_without_any_signed_head_there_is_no_proof(tmp_path: Path) -> None:
    """A note that the key signed elsewhere, and a ledger that was never signed itself."""
    log = Log(tmp_path, world=signing_tools(tmp_path))
    origin = origin_of(log.ledger.id)
    old = signed_note(head_text(origin, 2, root_at(2, log.ledger.store.node)), OURS, name=origin)
    object.__setattr__(log.ledger.store, "heads", NoHeads())
    with pytest.raises(NotFoundError, match="no signed head here is of 2 events or more"):
        proven(log, old)
    log.ledger.close()


class NoHeads:
    """A table without a head."""

    def newest(self) -> None:
        """Return that there is none."""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("old 5", "old 4", 1), "is from 4 events, the earlier head has"),
        (lambda text: text.replace("old 5", "old 05", 1), "begin with the size of an old"),
        (lambda text: text.replace("old 5", "new 5", 1), "does not begin with the size"),
        (lambda text: text.partition("\n\n")[0], "with the size of an old head"),
        (lambda text: text.replace("old 5\n", "old 5\n" + "A" * 43 + "=\n", 1), "too long|lead"),
        (lambda text: text.replace("old 5\n", "old 5\n*\n", 1), "a hash in it is none"),
        (
            lambda text: text.replace("old 5\n", "old 5\n" + ("A" * 43 + "=\n") * 70, 1),
            "too many hashes",
        ),
        (lambda text: "old 5\n\n" + text.partition("\n\n")[2], "the consistency proof is too sh"),
        (lambda text: text.split("\n", 2)[0] + "\n" + text.split("\n", 2)[2], "too short|lead"),
    ],
)
def test_any_other_proof_is_refused(log: Log, change: Callable[[str], str], words: str) -> None:
    """Another size, a hash more or less, other spellings."""
    proof = proven(log, sign_head(log.ledger))
    assert grown(log)
    proof = proven(log, proof.old)
    assert proof.proof.startswith("old 5\n")
    with pytest.raises(VerificationError, match=words):
        check_heads(msgspec.structs.replace(proof, proof=change(proof.proof)), keys_of(log))


@pytest.mark.parametrize("content", [b"", b"[]", b'{"schema":"ledger.consistency/2"}', b"\xff"])
def test_what_is_no_proof_between_heads_is_refused(content: bytes) -> None:
    """Other JSON, no JSON, another schema."""
    with pytest.raises(VerificationError, match="not a proof between heads"):
        decode_head_proof(content)


def head_of(size: int, *, history: int = 0, origin: str = "log") -> SignedHead:
    """Return a head that somebody verified."""
    root = sha256(f"{history} {size}".encode()).digest()
    return SignedHead(origin=origin, size=size, root=root, signers=(), unknown=())


def leads(old: SignedHead, new: SignedHead) -> CheckedHeads:
    """Return a proof that was checked."""
    return CheckedHeads(old=old, head=new)


def relations(
    head: SignedHead, *kept: SignedHead, proofs: tuple[CheckedHeads, ...] = ()
) -> list[str]:
    """Return how a head stands to others."""
    return [standing.relation for standing in standings(head, kept, proofs)]


def test_a_head_stands_to_kept_ones_as_proofs_say() -> None:
    """Equal, going on over one or several proofs, part of a longer one, or not compared."""
    first, second, third, fourth = (head_of(size) for size in (3, 5, 8, 13))
    assert relations(third) == []
    assert relations(third, third, first) == ["same", "not compared"]
    assert relations(third, first, proofs=(leads(first, third),)) == ["goes on"]
    chain = (leads(first, second), leads(second, third))
    assert relations(third, first, proofs=chain) == ["goes on"]
    both = (leads(second, fourth), leads(third, fourth))
    assert relations(second, third, proofs=both) == ["part of"]
    assert relations(third, second, proofs=both) == ["goes on"]


def test_a_proof_from_one_head_to_two_others_says_nothing_of_these() -> None:
    """They may be two histories that begin alike."""
    first, second, third = head_of(3), head_of(5), head_of(8, history=1)
    fork = (leads(first, second), leads(first, third))
    assert relations(third, second, proofs=fork) == ["not compared"]
    with pytest.raises(VerificationError, match="an older head, of 5 events: the one that you"):
        relations(second, third, proofs=fork)


def test_whatever_contradicts_a_kept_head_is_refused() -> None:
    """Another ledger, a fork at one size wherever it shows, a longer one without a proof."""
    third = head_of(8)
    for kept, words in (
        (head_of(8, origin="other"), "it is of log, the head that you kept of other"),
        (head_of(8, history=1), "two histories: heads of 8 events with different roots"),
        (head_of(13), "an older head, of 8 events: the one that you kept has 13"),
    ):
        with pytest.raises(VerificationError, match=words):
            relations(third, kept)
    proof = leads(head_of(5), head_of(8, history=1))
    with pytest.raises(VerificationError, match="two histories: heads of 8 events"):
        relations(third, head_of(5), proofs=(proof,))


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), max_size=8), st.data())
def test_proofs_in_any_order_say_the_same(
    pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Whatever leads where, the order in which proofs are given does not matter."""
    proofs = tuple(leads(head_of(size), head_of(size + more)) for size, more in pairs)
    shuffled = tuple(data.draw(st.permutations(proofs)))
    head, kept = head_of(6), head_of(data.draw(st.integers(1, 6)))
    assert relations(head, kept, proofs=proofs) == relations(head, kept, proofs=shuffled)


def test_a_consistency_proof_is_written_as_c2sp_says() -> None:
    """`old N`, hashes, an empty line, the note; read back it is the same."""
    path = [sha256(bytes([number])).digest() for number in range(3)]
    text = format_consistency(4, path, "origin\n9\nroot\n\n— origin signature\n")
    found = parse_consistency(text)
    assert (found.old_size, list(found.path)) == (4, path)
    assert format_consistency(found.old_size, found.path, found.note) == text
