"""A log against signed heads: its own, those in heads/, those kept elsewhere, and a policy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from attack_cases import rewrite, tampering, without_types
from attack_table import moved_head, rotated_in_the_past
from ledger_cases import PERSON, note, small_ledger, tools
from signing_cases import (
    OWNER,
    STRANGER,
    SUCCESSOR,
    WITNESS,
    WITNESS_KEY,
    checked_against,
    copied_with_heads,
    kept_heads,
    lines,
    notes_of,
    origin_at,
    policy_of,
    put_head,
    signed_anew,
    signed_ledger,
    signing_tools,
    vkey,
)
from trial_ledger import signed_heads, verification
from trial_ledger.anchoring import rotate_key, sign_head
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError, NotFoundError, VerificationError
from trial_ledger.head_policy import HeadPolicy, parse_policy
from trial_ledger.heads import head_text, parse_note, signed_note
from trial_ledger.note_files import kept_notes, notes_in
from trial_ledger.signed_heads import HeadCheck, KeysInForce
from trial_ledger.verification import verify


@pytest.fixture(scope="session")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger of 128 events whose heads of 4 and 115 are signed."""
    return signed_ledger(tmp_path_factory.mktemp("signed"))


@pytest.fixture
def book(signed: Path, tmp_path: Path) -> Path:
    """Return a copy to do something to."""
    return copied_with_heads(signed, tmp_path / "book")


def elsewhere(book: Path, name: str, text: str) -> Path:
    """Keep a note in another folder."""
    folder = book.parent.parent / "elsewhere"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_what_signed_heads_say_is_a_state(book: Path) -> None:
    """How many there are, what they cover, how many lie beside the ledger: no fault in any."""
    heads = checked_against(book).heads
    assert (heads.count, heads.signed, heads.unsigned_tail, heads.in_folder) == (2, 115, 13, 2)
    assert (heads.notes, heads.policy, heads.accepted, heads.unvouched) == ([], "none", 0, [])


def test_an_unsigned_ledger_is_intact(honest: Path) -> None:
    """Without a key everything is unsigned, which is a state too."""
    found = checked_against(honest)
    assert (found.is_intact, found.heads.signed, found.heads.unsigned_tail) == (True, 0, 128)


def test_notes_kept_elsewhere_match(book: Path) -> None:
    """Files and folders are taken; each note has its own line in the report."""
    one, two = notes_of(book)
    folder = elsewhere(book, "a.note", one.read_text("utf-8")).parent
    elsewhere(book, "readme.txt", "no note")
    found = checked_against(book, folder, two)
    assert found.is_intact
    assert [(state.size, state.state) for state in found.heads.notes] == [
        (4, "matches"),
        (115, "matches"),
    ]
    assert found.heads.notes[1].source == str(two)


def test_a_folder_may_hold_notes_of_other_ledgers(book: Path, tmp_path: Path) -> None:
    """They are passed over and counted; if all are others', this is not what was signed."""
    (tmp_path / "second").mkdir()
    with small_ledger(tmp_path / "second", world=signing_tools(tmp_path, seed=20)) as other:
        theirs = other.store.heads.newest() or ""
    folder = elsewhere(book, "theirs.note", theirs).parent
    alone = checked_against(book, folder)
    assert lines(alone) == [
        f"{folder}: none of these notes is about this ledger: it is not the one that was signed"
    ]
    named = checked_against(book, folder / "theirs.note")
    assert "is about trial-ledger/" in lines(named)[0]
    elsewhere(book, "ours.note", notes_of(book)[0].read_text("utf-8"))
    both = checked_against(book, folder)
    assert both.is_intact
    assert [state.state for state in both.heads.notes] == ["matches", "other ledger"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "not a signed head"),
        ("a\n1\nb\n\n— c AAAAAAAA\n", "its size or root is none"),
    ],
)
def test_a_file_that_is_no_note_is_a_finding(book: Path, text: str, what: str) -> None:
    """What was given as a note and is none is said, with its file."""
    file = elsewhere(book, "bad.note", text)
    found = checked_against(book, file)
    assert what in lines(found)[0]
    assert found.heads.notes[0].size is None


def test_a_file_that_cannot_be_read_is_a_finding(book: Path) -> None:
    """Bytes that are no text, and a folder in the place of a note, are told apart."""
    file = elsewhere(book, "bad.note", "")
    file.write_bytes(b"\xff\xfe")
    assert lines(checked_against(book, file)) == [f"{file}: is no text"]
    broken = notes_of(book)[0]
    broken.unlink()
    broken.mkdir()
    assert lines(checked_against(book)) == [f"heads/{broken.name}: cannot be read: Is a directory"]


def test_a_note_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    """A wrong path and a folder without notes are errors, not a check that was passed."""
    with pytest.raises(NotFoundError, match="no note"):
        kept_notes([tmp_path / "gone.note"])
    with pytest.raises(NotFoundError, match=r"no file \*\.note in"):
        kept_notes([tmp_path])
    (tmp_path / "a.note").mkdir()
    with pytest.raises(NotFoundError, match=r"no file \*\.note in"):
        kept_notes([tmp_path])
    assert notes_in(tmp_path / "gone", "") == []


def test_an_unknown_signature_proves_nothing(book: Path) -> None:
    """A note that only a stranger signed is a finding, whether its root fits or not."""
    file = elsewhere(book, "a.note", signed_anew(book, 100, STRANGER))
    assert "no signature of a known key" in lines(checked_against(book, file))[0]
    witness = signed_anew(book, 100, WITNESS, name=WITNESS_KEY.name)
    file = elsewhere(book, "b.note", witness)
    assert "no signature of a known key" in lines(checked_against(book, file))[0]
    found = checked_against(book, file, policy=policy_of(WITNESS_KEY))
    assert (lines(found), found.heads.accepted, found.heads.policy) == ([], 100, "met")


def test_a_longer_note_of_any_key_of_the_log_says_that_the_tail_is_gone(tmp_path: Path) -> None:
    """Which key is in force beyond the end nobody knows: any that the log names may have signed."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        path = ledger.store.path
    old = copied_with_heads(path, tmp_path / "old")
    with Ledger.open(path, write=True, tools=signing_tools(tmp_path, seed=8)) as ledger:
        ledger.append(note("one"))
        file = elsewhere(path, "a.note", sign_head(ledger))
    (state,) = checked_against(old, file).heads.notes
    assert state.state == (
        "speaks of 5 events, the log has 4: the tail was cut or an older copy put back"
    )


def cosigned(note_: str, book: Path) -> str:
    """Return a note that the witness has signed too."""
    text = note_.partition("\n\n")[0] + "\n"
    both = signed_note(text, WITNESS, name=WITNESS_KEY.name)
    assert parse_note(both)[1].origin == origin_at(book)
    return note_ + both.partition("\n\n")[2]


def test_how_many_must_have_signed(book: Path) -> None:
    """With two keys required a head counts only where both signed it."""
    both = policy_of(vkey(book), WITNESS_KEY, required=2)
    found = checked_against(book, policy=both)
    assert lines(found) == [
        "policy: no head of this log bears good signatures of 2 of the 2 keys named"
    ]
    file = notes_of(book)[0]
    file.write_text(cosigned(file.read_text("utf-8"), book), encoding="utf-8")
    found = checked_against(book, policy=both)
    assert (lines(found), found.heads.accepted, found.heads.signed) == ([], 4, 115)


def test_how_old_the_newest_head_may_be(book: Path) -> None:
    """As many events may follow it as the policy says."""
    assert checked_against(book, policy=policy_of(vkey(book), newest_within=13)).is_intact
    found = checked_against(book, policy=policy_of(vkey(book), newest_within=12))
    assert found.heads.policy == (
        "13 events follow the newest head that 1 of the 1 keys named signed, that of 115: at most"
        " 12 may"
    )
    assert not found.is_intact


def test_a_policy_for_another_ledger(book: Path) -> None:
    """A policy that names a ledger is for that one."""
    found = checked_against(book, policy=policy_of(vkey(book), ledger="ab" * 16))
    assert lines(found)[0].startswith(f"policy: is for ledger {'ab' * 16}, this is ")


def test_a_bad_signature_of_a_key_asked_for_is_a_finding(book: Path) -> None:
    """A line in the name of a key that the checker knows must be that key's own."""
    forged = cosigned(notes_of(book)[0].read_text("utf-8"), book)
    other = signed_note(head_text(origin_at(book), 9, bytes(32)), WITNESS, name=WITNESS_KEY.name)
    forged = forged.rpartition("— ")[0] + other.partition("\n\n")[2]
    notes_of(book)[0].write_text(forged, encoding="utf-8")
    assert checked_against(book).is_intact
    found = checked_against(book, policy=policy_of(vkey(book), WITNESS_KEY))
    assert "is not its own" in lines(found)[0]


def test_a_head_of_the_witness_alone_is_not_the_ledgers_own(book: Path) -> None:
    """What a policy asks for does not replace the key that the log names."""
    put_head(book, 100, signed_anew(book, 100, WITNESS, name=WITNESS_KEY.name))
    found = checked_against(book, policy=policy_of(WITNESS_KEY))
    assert lines(found)[0] == "head 100: no signature of the key that the log names for that size"


# Keys that are handed over


def rotated(path: Path, signer: object) -> None:
    """Hand a ledger over to the successor, with some key at hand."""
    world = signing_tools(path.parent, signer, seed=8)  # type: ignore[arg-type]
    with Ledger.open(path, write=True, tools=world) as ledger:
        rotate_key(ledger, SUCCESSOR, actor=PERSON)
        ledger.append(note("on"))


@pytest.mark.parametrize(
    ("size", "signer", "what"),
    [
        (120, OWNER, None),
        (120, SUCCESSOR, "no signature of a known key"),
        (129, OWNER, None),
        (129, SUCCESSOR, None),
        (130, SUCCESSOR, None),
        (130, OWNER, "no signature of a known key"),
    ],
)
def test_each_head_is_of_the_key_of_its_time(
    book: Path, size: int, signer: object, what: str | None
) -> None:
    """Before the handing over the old key signs, after it the new one, at it either."""
    rotated(book, OWNER)
    put_head(book, size, signed_anew(book, size, signer))  # type: ignore[arg-type]
    for file in notes_of(book):
        file.unlink()
    found = lines(checked_against(book))
    assert found == [] if what is None else what in found[0]


def test_a_policy_of_the_old_key_does_not_follow_an_unsigned_handing_over(book: Path) -> None:
    """Who trusts the old key only is not led to a new one that it did not name."""
    old = policy_of(vkey(book), newest_within=14)
    signed_over = copied_with_heads(book, book.parent.parent / "signed")
    rotated(signed_over, OWNER)
    assert checked_against(signed_over, policy=old).heads.accepted == 129
    rotated(book, None)
    found = checked_against(book, policy=old)
    assert (found.heads.unvouched, found.heads.accepted) == ([129], 115)
    assert not found.is_intact


def test_keys_in_force() -> None:
    """A list of who may sign when, from the events that say so."""
    keys = KeysInForce()
    assert keys.at(9) == []
    keys.since = [(1, "a"), (1, "b"), (5, "c"), (9, "d")]
    assert [keys.at(size) for size in (1, 2, 4, 5, 6, 9, 10)] == [
        ["a", "b"], ["b"], ["b"], ["b", "c"], ["c"], ["c", "d"], ["d"],
    ]  # fmt: skip
    assert keys.rotations() == [(5, "b"), (9, "c")]


# While somebody writes


def test_what_is_signed_during_a_check_is_left_to_the_next(book: Path) -> None:
    """A head and a note of events that came after the check began are no fault of the file."""
    with Ledger.open(book, tools=tools(book.parent, pins=False)) as reader:
        keys = KeysInForce()
        for stored in reader.events():
            keys.take(stored)
        with Ledger.open(book, write=True, tools=signing_tools(book.parent, seed=9)) as writer:
            writer.append(note("while it is checked"))
            newer = sign_head(writer)
        check = HeadCheck(reader.id, reader.store, 128, keys, None)
        file = elsewhere(book, "a.note", newer)
        state = check.run(kept_notes([file]))
        assert check.findings == []
        assert (state.count, state.signed, state.notes[0].state) == (3, 115, "matches")
    assert checked_against(book).heads.signed == 129


def test_a_table_that_cannot_be_read_stops_no_other_check(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found before is kept; the rest of the file is checked."""

    def unreadable(check: HeadCheck, _: object) -> None:
        check.add("head 4", "was looked at")
        raise VerificationError("the rest cannot be read")

    monkeypatch.setattr(HeadCheck, "run", unreadable)
    assert lines(checked_against(book)) == [
        "head 4: was looked at",
        "heads: the rest cannot be read",
    ]


# Each check bites


def another_past(path: Path) -> None:
    """Write another history and leave the heads."""

    def renamed(documents: list[dict[str, object]]) -> list[dict[str, object]]:
        documents[60]["actor"] = {"role": "human", "name": "Eve", "version": None}
        return documents

    rewrite(path, renamed)


def no_row(path: Path) -> None:
    """Take a head out of the file and leave its note."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM head WHERE size = 115")


HEADS: dict[int, str] = {}


def unchecked_head(note_: str, keys: list[object], origin: str | None) -> object:
    """Return a head as if its first known key had signed it."""
    from trial_ledger.heads import PublicKey, SignedHead  # noqa: PLC0415 - only for the control

    head = parse_note(note_)[1]
    known = tuple(key for key in keys[:1] if isinstance(key, PublicKey))
    assert origin == head.origin
    return SignedHead(origin=head.origin, size=head.size, root=head.root, signers=known, unknown=())


CONTROLS = {
    "the root is not compared": (
        another_past, signed_heads, "root_at",
        lambda size, _: next(parse_note(n)[1].root for s, n in HEADS.items() if s == size),
    ),
    "the folder is not looked at": (no_row, signed_heads, "notes_in", lambda *_: []),
    "no signature is checked": (
        lambda path: put_head(path, 115, signed_anew(path, 115, STRANGER)),
        signed_heads, "verified_head", unchecked_head,
    ),
    "heads are not checked at all": (
        lambda path: put_head(path, 115, "nothing"), verification, "check_heads",
        lambda *_, **__: None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROLS)
def test_without_its_check_an_attack_goes_unnoticed(
    book: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each check is the one that finds its attack: with it taken out, nothing is found."""
    attack, module, function, blind = CONTROLS[name]
    HEADS.update(kept_heads(book))
    attack(book)
    assert not checked_against(book).is_intact
    with monkeypatch.context() as patched:
        patched.setattr(module, function, blind)
        with Ledger.open(book, tools=tools(book.parent, pins=False)) as ledger:
            assert verify(ledger).is_intact


@pytest.mark.parametrize(
    ("attack", "what"),
    [
        (moved_head, "head 100: is kept as the head of 100 events and says 115"),
        (rotated_in_the_past, "seq 129: hands over from a key that is not the present one"),
    ],
)
def test_heads_and_keys_in_the_wrong_place(
    book: Path, attack: Callable[[Path], None], what: str
) -> None:
    """A good head under another size, and a handing over by somebody else, are named."""
    attack(book)
    assert what in lines(checked_against(book))


def test_two_notes_that_differ(book: Path) -> None:
    """Two signed heads of one size with different roots are two histories, whichever is true."""
    other = signed_note(head_text(origin_at(book), 115, bytes(32)), OWNER, name=origin_at(book))
    file = elsewhere(book, "a.note", other)
    what = "another history of 115 events was signed too: forked or written anew"
    assert lines(checked_against(book, file)) == [f"{file}: {what}"]


# Policies


def policy(text: str) -> HeadPolicy:
    """Return the policy of a text."""
    return parse_policy(text.encode(), source="policy.toml")


def test_a_policy_is_read(book: Path) -> None:
    """Keys, how many of them, how old a head may be, which ledger."""
    key = vkey(book)
    full = policy(
        f'signers = ["{key}", "{WITNESS_KEY}"]\nrequired = 1\nnewest_within = 0\n'
        f'ledger = "{"ab" * 16}"\n'
    )
    assert full == HeadPolicy(
        signers=(key, WITNESS_KEY), required=1, newest_within=0, ledger="ab" * 16
    )
    assert policy(f'signers = ["{key}", "{WITNESS_KEY}"]').required == 2


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", ["policy.toml: signers: missing"]),
        ("signers = []", ["signers: wrong value"]),
        ('signers = ["a"]', ["signers[0]: not an Ed25519 key", "as ledger key show has it"]),
        ('signers = "a"', ["signers: wrong value"]),
        (f'signers = ["{WITNESS_KEY}"]\nrequired = 2', ["policy.toml:2: required: wrong value"]),
        (f'signers = ["{WITNESS_KEY}"]\nrequired = 0', ["required: wrong value"]),
        (f'signers = ["{WITNESS_KEY}"]\nnewest_within = -1', ["newest_within: wrong value"]),
        (f'signers = ["{WITNESS_KEY}"]\nledger = "ab"', ["ledger: wrong value"]),
        (f'signers = ["{WITNESS_KEY}"]\nledger = "{"AB" * 16}"', ["ledger: wrong value"]),
        (f'signers = ["{WITNESS_KEY}"]\nsigner = 1', ["signer: unknown key", "expected signers"]),
        ("required = 1\nmore = 1", ["signers: missing", "more: unknown key"]),
    ],
)
def test_every_fault_of_a_policy_is_told(text: str, faults: list[str]) -> None:
    """A policy that is half right would ask for less than its writer thinks."""
    with pytest.raises(InvalidInputError) as caught:
        policy(text)
    said = "\n".join(map(str, caught.value.problems))
    assert [fault for fault in faults if fault not in said] == [], said


def test_a_document_that_is_nothing_at_all(book: Path) -> None:
    """A row without a document, as a damaged page can have it, stops no check of the heads."""
    with without_types(book) as connection:
        connection.execute("UPDATE event SET doc = NULL WHERE seq = 115")
    found = lines(checked_against(book))
    assert "seq 115: stored document is not an event: Input data was truncated" in found
    assert any(line.startswith("head 115: the first 115 events are not those") for line in found)
