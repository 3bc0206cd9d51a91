"""`ledger verify` with signed heads: notes kept elsewhere, a policy, the two short looks."""

from pathlib import Path

import pytest

from attack_cases import tampering
from cli_cases import LEDGER, Here
from signing_cases import (
    copied_with_heads,
    notes_of,
    policy_of,
    signed_ledger,
    vkey,
)
from trial_cli.verify import lines_of
from trial_ledger.head_policy import HeadPolicy
from trial_ledger.signed_heads import HeadState, NoteState
from trial_ledger.verification import Verification


@pytest.fixture(scope="session")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger whose head of 115 of 128 is signed."""
    return signed_ledger(tmp_path_factory.mktemp("owned"), pins=False)


@pytest.fixture
def book(owned: Path, tmp_path: Path) -> Path:
    """Return a copy in the folder that commands run in, and notes in another."""
    path = copied_with_heads(owned, tmp_path)
    assert path.name == LEDGER
    kept = tmp_path / "kept"
    kept.mkdir()
    for note in notes_of(path):
        (kept / note.name).write_bytes(note.read_bytes())
    return path


def policy_file(book: Path, text: str = "") -> str:
    """Write a policy that asks for the owner's signature; return its name."""
    (book.parent / "policy.toml").write_text(f'signers = ["{vkey(book)}"]\n{text}', "utf-8")
    return "policy.toml"


def test_states_of_their_own(book: Path, here: Here) -> None:
    """Signed heads, the unsigned tail, notes and policy have their lines; nothing is a fault."""
    found = here("verify", "--against", "kept", "--policy", policy_file(book))
    assert found.code == 0
    lines = found.out.splitlines()
    assert "heads     2 signed heads, the last of 115 events; an unsigned tail of 13" in found.out
    assert "notes     2 of 2 given match" in lines
    assert "policy    met by the signed head of 115 events" in lines
    assert "not seen  what was cut or rewritten after event 115" in found.out


def test_a_cut_tail_is_told_with_exit_code_4(book: Path, here: Here) -> None:
    """In text and in JSON; a note may be named as a file or with its folder, more than once."""
    with tampering(book) as connection:
        connection.execute("DELETE FROM event WHERE seq > 100")
        connection.execute("DELETE FROM head WHERE size > 100")
    notes_of(book)[1].unlink()
    assert here("verify").code == 0
    one, two = sorted((book.parent / "kept").iterdir())
    found = here("verify", "--against", str(one), "--against", str(two))
    assert found.code == 4
    assert "speaks of 115 events, the log has 100: the tail was cut" in found.out
    assert "notes     1 of 2 given match" in found.out
    data = here("verify", "--against", "kept", "--json")
    assert data.code == 4
    states = data.json["verification"]["heads"]["notes"]
    assert [state["state"][:9] for state in states] == ["matches", "speaks of"]
    (row,) = here("verify", "--against", "kept", "--format", "jsonl").rows
    assert (row["signed"], row["unsigned_tail"], row["notes"], row["policy"]) == (4, 96, 1, "none")


def test_a_policy_that_is_not_met(book: Path, here: Here) -> None:
    """The file may be what was written and still not be accepted: the words say which it is."""
    found = here("verify", "--policy", policy_file(book, "newest_within = 5\n"))
    assert found.code == 4
    assert found.out.startswith("POLICY NOT MET: 1 finding, the first at policy\n")
    assert "policy    not met: 13 events follow the newest head" in found.out


def test_the_short_looks(book: Path, here: Here) -> None:
    """Each says what it looked at and what it left out."""
    quick = here("verify", "--quick")
    assert quick.code == 0
    assert quick.out.startswith("intact    the last of 128 events, and the schema\n")
    assert "not done  the 127 events before, texts, signed heads: ledger verify" in quick.out
    assert "heads" not in quick.out.splitlines()[2]
    since = here("verify", "--since-head", "--policy", policy_file(book))
    assert since.code == 0
    assert since.out.startswith(
        "intact    13 events after the first 115: bytes, chain, links, tree, texts\n"
    )
    assert "taken     the first 115 events and their texts, on the word of the policy" in since.out
    assert "not seen  a cut tail" in since.out
    with_notes = here("verify", "--since-head", "--policy", "policy.toml", "--against", "kept")
    assert "not seen  what was cut or rewritten after event 115" in with_notes.out
    assert here("verify", "--since-head").code == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fast", "--quick"), "exclude one another"),
        (("--since-head", "--fast"), "exclude one another"),
        (("--quick", "--against", "kept"), "--quick looks at no signed head"),
        (("--quick", "--policy", "policy.toml"), "--quick looks at no signed head"),
    ],
)
@pytest.mark.usefixtures("book")
def test_what_does_not_go_together(here: Here, arguments: tuple[str, ...], said: str) -> None:
    """Options that contradict one another are refused."""
    found = here("verify", *arguments)
    assert found.code == 2
    assert said in found.err


def test_files_that_are_not_there_or_are_none(book: Path, here: Here) -> None:
    """A policy and a note are read before anything is checked."""
    missing = here("verify", "--policy", "gone.toml")
    assert (missing.code, "no policy gone.toml" in missing.err) == (6, True)
    folder = here("verify", "--policy", "kept")
    assert (folder.code, "cannot read kept" in folder.err) == (7, True)
    (book.parent / "policy.toml").write_text("signer = 1", "utf-8")
    wrong = here("verify", "--policy", "policy.toml")
    assert wrong.code == 2
    assert "signers: missing" in wrong.err
    assert "signer: unknown key" in wrong.err
    assert here("verify", "--against", "gone.note").code == 6


def shown(**heads: object) -> str:
    """Return the screen of a check with these signed heads."""
    state = HeadState(**heads)  # type: ignore[arg-type]
    report = Verification(ledger="a", size=9, root="b", findings=[], heads=state)
    return "\n".join(lines_of(report))


def test_words_for_rare_states() -> None:
    """A handing over that nobody vouched for, notes of other ledgers, nobody's word."""
    assert "keys      handed over at seq 5, 7 without a signature of the key before" in shown(
        count=1, signed=9, unvouched=[5, 7]
    )
    notes = [
        NoteState(source="a", state="matches", size=9),
        NoteState(source="b", state="other ledger", size=3),
    ]
    assert "notes     1 of 2 given match, 1 of other ledgers" in shown(notes=notes)
    nobody = Verification(ledger="a", size=9, root="b", findings=[], level="since head")
    text = "\n".join(lines_of(nobody))
    assert "on the word of" not in text
    assert "not done  calls and trials that never end" in text


def test_a_policy_is_its_own_value(book: Path) -> None:
    """What the command reads is what a program would write."""
    assert policy_of(vkey(book)) == HeadPolicy(signers=(vkey(book),), required=1)
