"""A signed ledger of this format verifies for ever: heads, a redaction, a derived run, two keys.

The files `golden/format-1-signed*` were written once, with a fixed clock, ids, salts and keys. See
`test_golden.py` for what a failing test means; neither files nor constants are ever made anew.
"""

import json
from pathlib import Path

import pytest
import zstandard

from ledger_cases import RUN, note, tools
from second_verifier import second_look
from signing_cases import (
    OWNER,
    SUCCESSOR,
    checked_against,
    kept_heads,
    lines,
    notes_of,
    policy_of,
    signing_tools,
    vkey,
)
from trial_ledger.anchoring import sign_head
from trial_ledger.book import Ledger
from trial_ledger.events import JudgmentRecorded, KeyRotated
from trial_ledger.goldfile import gold_path
from trial_ledger.merkle import root_at

GOLDEN = Path(__file__).parent / "golden"

SIZE = 151
ROOT = "34476fe3952bf0496a5d38cf87312ffd9a80839a910deacbe18b01e9ad13cb70"
HASHES = {
    1: "f3c914e349d66e1599ee503e335bb534859a721fba1981d9934d2569433b4722",
    115: "8baf629696122d5a927b466b2743eb81d41faa7eb9d77e6fbc3f80eedc632ba1",
    128: "ec8ebdb6febc9bb1755d18c5d1eca441cdd10230cb4b3658df6f746c88e0b0cc",
    151: "8bcc42bc021b24749e4217282a02cb40075eebeaf89c4cfc31dd21132b8319e5",
}
SIGNED = [4, 115, 147, 149, 150]
DERIVED = "fast-01.rubric-2"


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Return the ledger with its gold file and notes, unpacked."""
    path = tmp_path / "a.ledger"
    packed = (GOLDEN / "format-1-signed.zst", GOLDEN / "format-1-signed-gold.zst")
    for file, source in zip((path, gold_path(path)), packed, strict=True):
        file.write_bytes(zstandard.decompress(source.read_bytes()))
    (tmp_path / "heads").mkdir()
    notes = json.loads((GOLDEN / "format-1-signed-heads.json").read_text("utf-8"))
    for name, text in notes.items():
        (tmp_path / "heads" / name).write_text(text, encoding="utf-8")
    return path


def test_it_verifies_for_ever(golden: Path) -> None:
    """Everything is as it was written, and as it was signed, under both keys."""
    policy = policy_of(vkey(golden, OWNER), vkey(golden, SUCCESSOR), newest_within=1)
    found = checked_against(golden, *notes_of(golden), policy=policy)
    assert lines(found) == []
    assert (found.size, found.root, found.redacted) == (SIZE, ROOT, 1)
    heads = found.heads
    assert (heads.signed, heads.unsigned_tail, heads.unvouched) == (150, 1, [])
    assert [state.state for state in heads.notes] == ["matches"] * 5
    assert list(kept_heads(golden)) == SIGNED


def test_the_second_verifier_agrees(golden: Path) -> None:
    """What was written from the pages alone says the same."""
    found = second_look(
        golden,
        notes=[note_.read_bytes() for note_ in notes_of(golden)],
        decompress=zstandard.ZstdDecompressor().decompress,
    )
    assert found == []


def test_hashes_roots_and_notes_are_the_frozen_ones(golden: Path) -> None:
    """Each head that was signed then would be signed with the same bytes now."""
    with Ledger.open(golden, tools=tools(golden.parent, pins=False)) as ledger:
        assert {seq: ledger.read(seq).hash for seq in HASHES} == HASHES
        for size, text in kept_heads(golden).items():
            assert f"\n{size}\n" in text
            assert root_at(size, ledger.store.node)
    kept = [note_.read_text("utf-8") for note_ in notes_of(golden)]
    assert kept == list(kept_heads(golden).values())


def test_what_it_holds(golden: Path) -> None:
    """A derived run carries its parent's verdicts; the key was handed over."""
    with Ledger.open(golden, tools=tools(golden.parent, pins=False)) as ledger:
        carried = [
            stored.event.data.carried_from
            for stored in ledger.events(run=DERIVED)
            if isinstance(stored.event.data, JudgmentRecorded)
            and isinstance(stored.event.data.carried_from, str)
        ]
        handed_over = [
            stored.event.seq
            for stored in ledger.events()
            if isinstance(stored.event.data, KeyRotated)
        ]
        assert ledger.run_opened(DERIVED).derived_from is not None
        assert ledger.store.run_names("") == [RUN, DERIVED]
    assert carried == ["j2"] * 7
    assert handed_over == [149]


def test_it_goes_on_and_is_signed_further(golden: Path) -> None:
    """The present key signs what comes next."""
    world = signing_tools(golden.parent, SUCCESSOR, seed=9)
    with Ledger.open(golden, write=True, tools=world) as ledger:
        ledger.append(note("still growing"))
        sign_head(ledger)
    found = checked_against(golden)
    assert (lines(found), found.heads.signed) == ([], SIZE + 1)
