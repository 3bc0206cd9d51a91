"""Heads are signed when they are due, with the ledger's own key, never against an earlier one."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from attack_cases import rewrite, tampering
from ledger_cases import (
    PERSON,
    empty_ledger,
    note,
    opened,
    sample_run,
    small_ledger,
    small_manifest,
    small_rubric,
    tools,
)
from signing_cases import (
    OWNER,
    STRANGER,
    SUCCESSOR,
    checked_against,
    copied_with_heads,
    kept_heads,
    key_of,
    lines,
    notes_of,
    put_head,
    signed_anew,
    signed_ledger,
    signing_tools,
)
from trial_ledger import signing
from trial_ledger.anchoring import rotate_key, sign_head
from trial_ledger.book import Ledger
from trial_ledger.errors import NotFoundError, RuleError, VerificationError
from trial_ledger.heads import PublicKey, Signer, origin_of, parse_note, verified_head
from trial_ledger.merkle import root_at
from trial_ledger.signing import HeadSigner, heads_folder
from trial_ledger.submission import Submission
from trial_ledger.tools import system_signer, system_tools

Writer = Callable[[Path], Ledger]


def own_key(ledger: Ledger, signer: Signer = OWNER) -> PublicKey:
    """Return a key as a ledger's notes name it."""
    return PublicKey(name=origin_of(ledger.id), key=signer.key)


def sizes(ledger: Ledger) -> list[int]:
    """Return how many events each kept head is of."""
    return [size for size, _ in ledger.store.heads.all()]


def test_a_new_ledger_bears_the_public_key(tmp_path: Path) -> None:
    """With a key at hand the first event names it; without one nothing is named or signed."""
    with empty_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        assert ledger.registry().keys == [str(own_key(ledger))]
        assert tools(tmp_path).signer() is None
        assert ledger.store.heads.newest() is None
    with small_ledger(tmp_path, name="other.ledger") as other:
        assert (other.registry().current_key, sizes(other)) == (None, [])
    assert not heads_folder(tmp_path / "a").exists()


def test_heads_are_signed_before_the_first_trial_and_when_a_run_closes(tmp_path: Path) -> None:
    """A frozen manifest and a closed run are anchored in the transaction that made them so."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        assert sizes(ledger) == [4]
        ledger.append(opened())
        ledger.append(note("nothing is due"))
        assert sizes(ledger) == [4]
        ledger.append(
            Submission(kind="run.closed", run="fast-01", data={"status": "failed", "reason": "x"})
        )
        assert sizes(ledger) == [4, 7]
        head = verified_head(
            ledger.store.heads.newest() or "", [own_key(ledger)], origin=origin_of(ledger.id)
        )
        assert head.root == root_at(7, ledger.store.node)
        path = ledger.store.path
    names = [file.name for file in notes_of(path)]
    assert names == [f"{ledger.id[:8]}-000000000004.note", f"{ledger.id[:8]}-000000000007.note"]
    assert [file.read_text("utf-8") for file in notes_of(path)] == list(kept_heads(path).values())


def test_a_refused_event_leaves_no_head_due(tmp_path: Path) -> None:
    """A transaction that was given up signs nothing later."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        with pytest.raises(RuleError):
            ledger.freeze([small_manifest(repetitions=2), small_rubric(primary="judged")])
        ledger.append(note("goes on"))
        assert sizes(ledger) == [4]
        ledger.append_all((), documents=[small_manifest(repetitions=2)], dry_run=True)
        ledger.append(note("goes on"))
        assert sizes(ledger) == [4]


@pytest.mark.parametrize("signer", [None, STRANGER], ids=["no key", "another key"])
def test_without_its_key_a_ledger_goes_on_unsigned(tmp_path: Path, signer: Signer | None) -> None:
    """Recording never waits for a key; what stays unsigned is a state that verify names."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        path = ledger.store.path
    world = signing_tools(tmp_path, signer, seed=8)
    with Ledger.open(path, write=True, tools=world) as ledger:
        sample_run(ledger)
        assert sizes(ledger) == [4]
        with pytest.raises(NotFoundError, match="the key of this ledger is not at hand") as caught:
            sign_head(ledger)
        assert caught.value.hint == "name its file with LEDGER_KEY"
    found = checked_against(path)
    assert (found.is_intact, found.heads.signed, found.heads.unsigned_tail) == (True, 4, 111)


def test_a_head_on_demand(tmp_path: Path) -> None:
    """The log is signed as it is; asked again, the same note comes, and lies in heads/ again."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        ledger.append(note("one"))
        first = sign_head(ledger)
        assert parse_note(first)[1].size == 5
        (old, new) = notes_of(ledger.store.path)
        new.unlink()
        assert sign_head(ledger) == first
        assert new.read_text("utf-8") == first
        cosigned = first + "— witness.example AAAABBBB\n"
        new.write_text(cosigned, encoding="utf-8")
        assert sign_head(ledger) == first
        assert new.read_text("utf-8") == cosigned
        assert old.exists()


def test_a_ledger_without_a_key_is_not_signed(tmp_path: Path) -> None:
    """There is nothing to sign with until a key is made."""
    with (
        small_ledger(tmp_path) as ledger,
        pytest.raises(NotFoundError, match="this ledger has no key") as caught,
    ):
        sign_head(ledger)
    assert caught.value.hint == "ledger key new; ledger key rotate"


def test_a_key_is_looked_for_once(tmp_path: Path) -> None:
    """The key file is read when it is first needed, and not for every event."""
    asked: list[None] = []

    def find() -> Signer | None:
        asked.append(None)
        return OWNER

    with empty_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        path, current = ledger.store.path, ledger.registry().current_key
    world = msgspec.structs.replace(tools(tmp_path, seed=8, pins=False), signer=find)
    with Ledger.open(path, write=True, tools=world) as ledger:
        ledger.append(note("no need"))
        assert asked == []
        assert ledger.writer.head_signer.signer_of(None) is None
        assert ledger.writer.head_signer.signer_of(current) == OWNER
        sign_head(ledger)
        sign_head(ledger)
    assert len(asked) == 1


# Never against an earlier one


def stripped(path: Path) -> None:
    """Take the signature of the newest head away and put a stranger's in its place."""
    put_head(path, 115, signed_anew(path, 115, STRANGER))


def foreign(path: Path) -> None:
    """Put the head of another origin in."""
    put_head(path, 115, signed_anew(path, 115, OWNER, name="elsewhere"))


def beyond(path: Path) -> None:
    """Cut the log behind its newest head."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM event WHERE seq > 100")


def other(path: Path) -> None:
    """Write another history of the same length."""

    def renamed(documents: list[dict[str, object]]) -> list[dict[str, object]]:
        documents[1]["actor"] = {"role": "human", "name": "Eve", "version": None}
        return documents

    rewrite(path, renamed)


def no_note(path: Path) -> None:
    """Keep something that is no note."""
    put_head(path, 115, "nothing")


@pytest.mark.parametrize(
    ("attack", "what"),
    [
        (stripped, "no signature of a known key on the head"),
        (foreign, "no signature of a known key on the head"),
        (beyond, "the log does not go on from its signed head of 115 events"),
        (other, "the log does not go on from its signed head of 115 events"),
        (no_note, "not a signed head"),
    ],
)
@pytest.mark.parametrize("more", [0, 1])
def test_nothing_is_signed_against_an_earlier_head(
    tmp_path: Path, attack: Callable[[Path], None], what: str, more: int
) -> None:
    """One key never signs two histories: a log that does not go on from its head stays unsigned."""
    path = signed_ledger(tmp_path, pins=False)
    with tampering(path) as connection:
        connection.execute("DELETE FROM event WHERE seq > 115")
    attack(path)
    with Ledger.open(path, write=True, tools=signing_tools(tmp_path, seed=9)) as ledger:
        for number in range(more):
            ledger.append(note(f"{number}"))
        with pytest.raises(VerificationError, match=what):
            sign_head(ledger)
        assert sizes(ledger) == [4, 115]


def test_an_older_copy_is_not_signed_over_its_own_trace(tmp_path: Path) -> None:
    """A copy that nobody pinned signs another history; the old note stays and tells."""
    path = signed_ledger(tmp_path, pins=False)
    old = copied_with_heads(path, tmp_path / "old")
    for folder in (path, old):
        with Ledger.open(folder, write=True, tools=signing_tools(tmp_path, seed=8)) as ledger:
            ledger.append(note(str(folder)))
            sign_head(ledger)
    kept = notes_of(path)[-1].read_text("utf-8")
    copied_with_heads(old, tmp_path / "new")
    trace = notes_of(tmp_path / "new" / path.name)[-1]
    trace.write_text(kept, encoding="utf-8")
    with tampering(tmp_path / "new" / path.name) as connection:
        connection.execute("DELETE FROM head WHERE size = 129")
    world = signing_tools(tmp_path, seed=10)
    with Ledger.open(tmp_path / "new" / path.name, write=True, tools=world) as ledger:
        sign_head(ledger)
    assert trace.read_text("utf-8") == kept
    assert lines(checked_against(tmp_path / "new" / path.name)) == [
        f"heads/{trace.name}: another history of 129 events was signed too: forked or written anew"
    ]


def test_a_folder_that_takes_no_note_is_a_warning(tmp_path: Path) -> None:
    """The ledger keeps the head whatever becomes of its file, and says so."""
    told: list[str] = []
    (tmp_path / "heads").write_bytes(b"")
    world = msgspec.structs.replace(signing_tools(tmp_path), warn=told.append)
    with small_ledger(tmp_path, world=world) as ledger:
        assert sizes(ledger) == [4]
    assert told == ["the signed head of 4 events is in the ledger only: File exists"]


# Handing over


def rotated(ledger: Ledger, new: Signer) -> int:
    """Hand over and return the seq."""
    return rotate_key(ledger, new, actor=PERSON).seq


def test_a_handing_over_is_signed_by_the_old_key(tmp_path: Path) -> None:
    """The head that holds key.rotated is the old key's; those after it are the new one's."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        path = ledger.store.path
        assert rotated(ledger, SUCCESSOR) == 5
        assert ledger.registry().current_key == str(own_key(ledger, SUCCESSOR))
        old = ledger.store.heads.newest() or ""
        assert verified_head(old, [own_key(ledger)], origin=None).size == 5
        with pytest.raises(NotFoundError, match="is not at hand"):
            sign_head(ledger)
    world = signing_tools(tmp_path, SUCCESSOR, seed=8)
    with Ledger.open(path, write=True, tools=world) as ledger:
        ledger.append(note("on"))
        new = sign_head(ledger)
        assert verified_head(new, [own_key(ledger, SUCCESSOR)], origin=None).size == 6
    found = checked_against(path)
    assert (lines(found), found.heads.unvouched, found.heads.signed) == ([], [], 6)


def test_a_first_key_signs_its_own_coming(tmp_path: Path) -> None:
    """A ledger that was made without a key gets one; there is nobody before it to sign."""
    with small_ledger(tmp_path) as ledger:
        path = ledger.store.path
        rotated(ledger, OWNER)
        assert sizes(ledger) == [5]
    found = checked_against(path)
    assert (lines(found), found.heads.unvouched) == ([], [])


def test_a_lost_key_is_replaced_and_that_is_said(tmp_path: Path) -> None:
    """Where the old key is lost the new one signs: verify names the place, a policy decides."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        path = ledger.store.path
    world = signing_tools(tmp_path, None, seed=8)
    with Ledger.open(path, write=True, tools=world) as ledger:
        rotated(ledger, SUCCESSOR)
    found = checked_against(path)
    assert (lines(found), found.heads.unvouched, found.heads.signed) == ([], [5], 5)


def test_who_may_hand_over_what(tmp_path: Path) -> None:
    """Only the present key hands over, and no key comes back."""
    with small_ledger(tmp_path, world=signing_tools(tmp_path)) as ledger:
        with pytest.raises(RuleError, match="one that this ledger had before") as caught:
            rotated(ledger, OWNER)
        assert (caught.value.field, caught.value.hint) == ("data.new_public_key", "ledger key new")
        rotated(ledger, SUCCESSOR)
        with pytest.raises(RuleError, match="one that this ledger had before"):
            rotated(ledger, OWNER)
        data = {"old_public_key": str(own_key(ledger)), "new_public_key": "k"}
        with pytest.raises(RuleError, match="is not the ledger's present key") as caught:
            ledger.append(Submission(kind="key.rotated", data=data, actor=PERSON))
        assert (caught.value.field, caught.value.hint) == ("data.old_public_key", "ledger key show")
        assert sizes(ledger) == [4, 5]
        ledger.append(note("goes on"))
        assert ledger.store.size() == 6


# The world


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the place of this user's key."""
    monkeypatch.delenv("LEDGER_KEY", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "trial-ledger" / "key.pem"


def test_the_real_world_has_a_key_where_somebody_made_one(config: Path) -> None:
    """No file, no signature, and no word about it."""
    from trial_ledger.keys import create_key  # noqa: PLC0415 - after the folder is set

    assert system_signer() is None
    made = create_key(config)
    found = system_tools().signer()
    assert found is not None
    assert found.key == made.key


@pytest.mark.parametrize("fault", ["mode", "content"])
def test_a_key_that_cannot_be_used_is_told_and_stops_nobody(
    config: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    """Recording goes on without a signature; standard error says why."""
    config.parent.mkdir()
    config.write_bytes(b"nonsense")
    config.chmod(0o644 if fault == "mode" else 0o600)
    assert system_signer() is None
    assert capsys.readouterr().err.startswith("note: heads stay unsigned: ")


def test_a_signer_without_a_store_keeps_its_origin() -> None:
    """A signer is of one ledger: its keys bear the ledger's origin."""
    signer = HeadSigner("ab" * 16, lambda: OWNER)
    assert signer.public_key(key_of(3)).name == f"trial-ledger/{'ab' * 16}"
    assert os.sep not in signer.ledger


def test_without_its_check_two_histories_would_be_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison with the newest head is what refuses: blinded, the key signs a fork."""
    path = signed_ledger(tmp_path, pins=False)
    honest = root_of(path, 115)
    other(path)
    monkeypatch.setattr(signing, "root_at", lambda size, _: honest if size == 115 else b"")
    with Ledger.open(path, write=True, tools=signing_tools(tmp_path, seed=9)) as ledger:
        assert parse_note(sign_head(ledger))[1].size == 128
    found = "\n".join(lines(checked_against(path)))
    assert "head 115: the first 115 events are not those that were signed" in found


def root_of(path: Path, size: int) -> bytes:
    """Return the root over the first events of a ledger."""
    with Ledger.open(path, tools=tools(path.parent, pins=False)) as ledger:
        return root_at(size, ledger.store.node)
